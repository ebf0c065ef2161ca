//! What is in a folder: Karmada's own objects, decoded, and the templates.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bindings::Binding;
use super::objects::{Customization, FederatedQuota, KarmadaCluster, Rebalancer};
use super::{overrides, precedence};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::import::documents::{self, Object, title};
use crate::import::{About, Fate, Note, Unreadable};
use crate::kinds::native;

/// An object's spec, or all of it, with its name.
#[derive(Clone, Debug)]
pub(super) struct Named<S> {
    pub file: SmolStr,
    pub namespace: SmolStr,
    pub name: SmolStr,
    pub labels: Labels,
    pub spec: S,
}

impl<S> Named<S> {
    pub(super) fn title(&self, kind: &str) -> SmolStr {
        title(kind, &self.namespace, &self.name)
    }
}

/// A folder, sorted.
#[derive(Default)]
pub(super) struct Sorted {
    pub clusters: Vec<Named<KarmadaCluster>>,
    pub policies: Vec<precedence::Policy>,
    pub overrides: Vec<overrides::Policy>,
    pub quotas: Vec<Named<FederatedQuota>>,
    pub customizations: Vec<Named<Customization>>,
    pub bindings: Vec<Binding>,
    /// PriorityClasses by name.
    pub classes: BTreeMap<SmolStr, Object>,
    /// Labels of namespaces by name.
    pub namespaces: BTreeMap<SmolStr, Labels>,
    /// All others.
    pub templates: Vec<Object>,
}

/// Sorts objects. What is neither a template nor read here is said.
///
/// # Errors
/// Objects that are there twice and differ.
pub(super) fn sort(mut objects: Vec<Object>, notes: &mut Vec<Note>) -> Result<Sorted, Vec<Unreadable>> {
    let scopes = custom_scopes(&objects);
    for object in &mut objects {
        if object.namespace.is_empty() && is_namespaced(object, &scopes) {
            object.namespace = "default".into();
            object.value["metadata"]["namespace"] = "default".into();
        }
    }
    let mut sorted = Sorted::default();
    for object in documents::once(objects, notes)? {
        place(object, &mut sorted, notes);
    }
    Ok(sorted)
}

/// Scope of the kinds whose definition is among the objects, by group and kind.
fn custom_scopes(objects: &[Object]) -> BTreeMap<(SmolStr, SmolStr), bool> {
    let definitions = objects.iter().filter(|object| object.kind == "CustomResourceDefinition");
    let scope = |object: &Object| {
        let text = |pointer: &str| object.value.pointer(pointer).and_then(Value::as_str).map(SmolStr::from);
        Some(((text("/spec/group")?, text("/spec/names/kind")?), text("/spec/scope")? == "Namespaced"))
    };
    definitions.filter_map(scope).collect()
}

fn is_namespaced(object: &Object, scopes: &BTreeMap<(SmolStr, SmolStr), bool>) -> bool {
    match (native::lookup_api_version(&object.api_version, &object.kind), object.group.as_str()) {
        (Some(native), _) => native.is_namespaced(),
        (None, "policy.karmada.io") => {
            matches!(object.kind.as_str(), "PropagationPolicy" | "OverridePolicy" | "FederatedResourceQuota")
        }
        (None, _) => scopes.get(&(object.group.clone(), object.kind.clone())) == Some(&true),
    }
}

/// Namespaces whose objects Karmada never propagates: its own, and what `--skipped-propagating-namespaces` says by default.
fn is_reserved(namespace: &str) -> bool {
    matches!(namespace, "karmada-system" | "karmada-cluster")
        || namespace.starts_with("karmada-es-")
        || namespace.starts_with("kube-")
}

fn place(object: Object, sorted: &mut Sorted, notes: &mut Vec<Note>) {
    let mut about = About { file: object.file.clone(), object: object.title(), notes };
    match (object.group.as_str(), object.kind.as_str()) {
        ("policy.karmada.io", "PropagationPolicy" | "ClusterPropagationPolicy") => {
            let Some(spec) = decode(&object, "/spec", &mut about) else { return };
            let Object { file, namespace, name, .. } = object;
            sorted.policies.push(precedence::Policy { file, namespace, name, spec });
        }
        ("policy.karmada.io", "OverridePolicy" | "ClusterOverridePolicy") => {
            let Some(spec) = decode(&object, "/spec", &mut about) else { return };
            let Object { file, namespace, name, .. } = object;
            sorted.overrides.push(overrides::Policy { file, namespace, name, spec });
        }
        ("policy.karmada.io", "FederatedResourceQuota") => {
            sorted.quotas.extend(named(object, "/spec", &mut about));
        }
        ("cluster.karmada.io", "Cluster") => sorted.clusters.extend(named(object, "", &mut about)),
        ("config.karmada.io", "ResourceInterpreterCustomization") => {
            sorted.customizations.extend(named(object, "/spec", &mut about));
        }
        ("apps.karmada.io", "WorkloadRebalancer") => {
            let Some(Rebalancer { workloads }) = decode(&object, "/spec", &mut about) else { return };
            let names: Vec<String> =
                workloads.iter().map(|of| title(&of.kind, &of.namespace, &of.name).to_string()).collect();
            let text = "is a command, not a state: `fleetwright rebalance` places afresh. It was for";
            about.say(Fate::NoCounterpart, "", format!("{text} {}", names.join(", ")));
        }
        ("work.karmada.io", "ResourceBinding" | "ClusterResourceBinding") => {
            sorted.bindings.extend(decode::<Binding>(&object, "", &mut about));
        }
        ("work.karmada.io", _) => about.say(Fate::Skipped, "", "is what Karmada computes"),
        (group, kind) if group.ends_with("karmada.io") => about.say(Fate::NoCounterpart, "", instead(kind)),
        ("multicluster.x-k8s.io", kind) => about.say(Fate::NoCounterpart, "", instead(kind)),
        (_, _) if is_reserved(&object.namespace) => {
            about.say(Fate::Skipped, "", "lies in a namespace that Karmada never propagates");
        }
        ("", "Namespace") => {
            let foreign = |key: &SmolStr| key.contains("karmada.io/") || key == "kubernetes.io/metadata.name";
            let labels = object.labels.into_iter().filter(|(key, _)| !foreign(key)).collect();
            sorted.namespaces.insert(object.name, labels);
        }
        ("", "Secret") if has_data(&object) => {
            let text = "holds data in the clear, which does not belong into a repository: use an external secret store";
            about.say(Fate::NoCounterpart, "", text);
        }
        ("scheduling.k8s.io", "PriorityClass") => {
            sorted.classes.insert(object.name.clone(), object.clone());
            sorted.templates.push(object);
        }
        _ => sorted.templates.push(object),
    }
}

fn has_data(object: &Object) -> bool {
    let filled = |key: &str| object.value.get(key).and_then(Value::as_object).is_some_and(|data| !data.is_empty());
    filled("data") || filled("stringData")
}

/// What to use where there is no counterpart.
fn instead(kind: &str) -> String {
    match kind {
        "FederatedHPA" => "use a HorizontalPodAutoscaler in the app: its bounds are divided over the clusters",
        "CronFederatedHPA" => "use a Tide: its phases set weights, and `replicas` as a share of the total",
        "ClusterTaintPolicy" => "taints are written into Cluster files, or by `fleetwright cordon` and `drain`",
        "Remedy" | "MultiClusterService" | "MultiClusterIngress" | "ServiceExport" | "ServiceImport" => {
            "traffic between clusters is not steered"
        }
        "ResourceInterpreterWebhookConfiguration" => {
            "nothing is asked over the network: a WorkloadKind says what a kind means"
        }
        "SearchRegistry" | "ResourceRegistry" => "there is no cache of the clusters' objects to search in",
        _ => "there is no such kind",
    }
    .to_owned()
}

fn named<S: DeserializeOwned>(object: Object, pointer: &str, about: &mut About<'_>) -> Option<Named<S>> {
    let spec = decode(&object, pointer, about)?;
    let Object { file, namespace, name, labels, .. } = object;
    Some(Named { file, namespace, name, labels, spec })
}

/// A part of an object. What cannot be read is said, and the object is left out.
fn decode<S: DeserializeOwned>(object: &Object, pointer: &str, about: &mut About<'_>) -> Option<S> {
    let part = object.value.pointer(pointer).cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    match serde_json::from_value(part) {
        Ok(spec) => Some(spec),
        Err(error) => {
            about.say(Fate::NoCounterpart, "", format!("cannot be read, and is left out: {error}"));
            None
        }
    }
}
