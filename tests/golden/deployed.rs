//! A fleet of one App with given manifests, Duplicated on three clusters, and what must be deployed from them: each object
//! as the Kubernetes reader has it, plus the namespace, the two labels of fleetwright and the counts that workload kinds
//! always state. Nothing else may differ.
//!
//! The text is read again twice: by the compiler's own reader and by `serde_yaml`, which knows nothing of ours.

use std::collections::BTreeSet;

use fleetwright_compiler::base::ClusterId;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::yaml::{self, Limits};
use fleetwright_compiler::{CompileError, Compiled, Session, compile};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// The clusters of the fleet.
const CLUSTERS: [&str; 3] = ["a", "b", "c"];
/// The namespace of the App.
const NAMESPACE: &str = "real";
/// Kubernetes' own kinds without a namespace, among those that are tested.
const CLUSTER_SCOPED: [&str; 15] = [
    "APIService",
    "ClusterRole",
    "ClusterRoleBinding",
    "CSIDriver",
    "CustomResourceDefinition",
    "IngressClass",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingWebhookConfiguration",
];

/// Compiles a fleet whose one App has these manifests: `(path below its folder, content)`.
pub fn compile_app<'f>(manifests: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Result<Compiled, CompileError> {
    let api = "apiVersion: fleetwright.io/v1alpha1\n";
    let mut files: Vec<(String, Vec<u8>)> = vec![
        (
            "fleet.yaml".to_owned(),
            format!("{api}kind: Fleet\nmetadata: {{name: real}}\nspec: {{secrets: {{plaintext: Allow}}}}\n").into(),
        ),
        (
            "teams/t.yaml".to_owned(),
            format!(
                "{api}kind: Team\nmetadata: {{name: t}}\nspec:\n  namespaces: [{{prefix: \"\"}}]\n  kinds: {{allow: [{{group: \
                 \"*\", kind: \"*\"}}]}}\n"
            )
            .into(),
        ),
        (
            "teams/t/app/app.yaml".to_owned(),
            format!(
                "{api}kind: App\nmetadata: {{name: app}}\nspec:\n  namespace: {NAMESPACE}\n  placement: {{replicas: \
                 {{strategy: Duplicated}}}}\n"
            )
            .into(),
        ),
    ];
    for name in CLUSTERS {
        let text = format!("{api}kind: Cluster\nmetadata: {{name: {name}}}\nspec: {{}}\n");
        files.push((format!("clusters/{name}.yaml"), text.into()));
    }
    files.extend(manifests.into_iter().map(|(path, bytes)| (format!("teams/t/app/base/{path}"), bytes.to_vec())));
    let tree = MemoryFiles::new(files).unwrap();
    compile(&Session::new(), &Overlay::without_record(&tree), &Scenario::default())
}

/// Asserts that exactly these objects are deployed to each cluster. `documents` are as the Kubernetes reader has them, any
/// `List` as a whole. Returns how many objects each cluster gets.
pub fn assert_deployed<'v>(compiled: &Compiled, documents: impl IntoIterator<Item = &'v Value>, what: &str) -> usize {
    let mut objects: Vec<Value> = documents.into_iter().flat_map(items).cloned().collect();
    let custom: BTreeSet<String> = objects
        .iter()
        .filter(|o| o["kind"] == "CustomResourceDefinition" && o["spec"]["scope"] == "Cluster")
        .map(|o| o["spec"]["names"]["kind"].as_str().unwrap().to_owned())
        .collect();
    for object in &mut objects {
        deploy(object, &custom);
    }
    let texts: Vec<String> = CLUSTERS.iter().map(|name| text(compiled, name)).collect();
    assert!(texts.iter().all(|t| *t == texts[0]), "{what}: clusters differ");
    for (reader, found) in [("fleetwright", read(&texts[0])), ("serde_yaml", read_elsewhere(&texts[0]))] {
        let mut found: Vec<&Value> = found.iter().collect();
        for expected in &objects {
            let name = identity(expected);
            let at = found.iter().position(|o| identity(o) == name);
            let at = at.unwrap_or_else(|| panic!("{what}: {name} is not deployed"));
            let object = found.swap_remove(at);
            let differences = differences(expected, object);
            assert!(differences.is_empty(), "{what}: {name} as {reader} reads it:\n{}", differences.join("\n"));
        }
        let more: Vec<String> = found.iter().map(|o| identity(o)).collect();
        assert!(more.is_empty(), "{what}: {reader} also finds {}", more.join(", "));
    }
    objects.len()
}

/// The text of the App in a cluster.
fn text(compiled: &Compiled, cluster: &str) -> String {
    let id = compiled.fleet.clusters.iter().position(|c| c.name == cluster).unwrap();
    let id = ClusterId(u16::try_from(id).unwrap());
    let mut text = String::new();
    for file in compiled.rendered.files(id).iter().filter(|f| f.app.is_some()) {
        file.write(&compiled.fleet, &mut text);
    }
    text
}

fn read(text: &str) -> Vec<Value> {
    let (documents, errors) = yaml::compose(text, &Limits { bytes: usize::MAX, ..Limits::default() });
    assert!(errors.is_empty(), "{errors:?}");
    assert!(documents.iter().all(|d| d.warnings.is_empty()), "what is written is never ambiguous");
    documents.iter().map(|d| d.root.as_ref().unwrap().to_json()).collect()
}

fn read_elsewhere(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text).map(|d| Value::deserialize(d).unwrap());
    documents.filter(|d| !d.is_null()).collect()
}

/// The objects of a document.
fn items(document: &Value) -> Vec<&Value> {
    let list = document["kind"].as_str().is_some_and(|k| k.ends_with("List"));
    match document["items"].as_array().filter(|_| list) {
        Some(items) => items.iter().collect(),
        None => vec![document],
    }
}

/// Sets what fleetwright sets, and nothing else.
fn deploy(object: &mut Value, custom: &BTreeSet<String>) {
    let kind = object["kind"].as_str().unwrap().to_owned();
    let metadata = object["metadata"].as_object_mut().unwrap();
    if CLUSTER_SCOPED.contains(&kind.as_str()) || custom.contains(&kind) {
        metadata.remove("namespace");
    } else if metadata.get("namespace").and_then(Value::as_str).is_none_or(str::is_empty) {
        metadata.insert("namespace".to_owned(), NAMESPACE.into());
    }
    let labels = metadata.entry("labels").or_insert_with(|| Value::Object(Map::new()));
    if labels.is_null() {
        *labels = Value::Object(Map::new());
    }
    labels["fleetwright.io/team"] = "t".into();
    labels["fleetwright.io/app"] = "app".into();
    // the counts of a Job that is not divided are left alone
    if matches!(kind.as_str(), "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet") {
        let replicas = &mut object["spec"]["replicas"];
        if replicas.is_null() {
            *replicas = 1.into();
        }
    }
}

fn identity(object: &Value) -> String {
    let field = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    [&object["apiVersion"], &object["kind"], &metadata["namespace"], &metadata["name"]].map(field).join(" ")
}

/// Every field that differs, with both values.
fn differences(expected: &Value, found: &Value) -> Vec<String> {
    fn visit(path: &str, expected: Option<&Value>, found: Option<&Value>, out: &mut Vec<String>) {
        match (expected, found) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                keys.iter().for_each(|k| visit(&format!("{path}/{k}"), a.get(*k), b.get(*k), out));
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                (0..a.len().max(b.len())).for_each(|i| visit(&format!("{path}/{i}"), a.get(i), b.get(i), out));
            }
            (a, b) if a == b => {}
            (a, b) => {
                let show = |v: Option<&Value>| v.map_or("absent".to_owned(), Value::to_string);
                out.push(format!("{path}: expected {}, found {}", show(a), show(b)));
            }
        }
    }
    let mut out = Vec::new();
    visit("", Some(expected), Some(found), &mut out);
    out
}
