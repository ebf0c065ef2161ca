//! Facts about operations: an object, an operation, and the object or the message that comes out.

mod containers;
mod json_patch;
mod merging;
mod places;
mod promises;

use serde_json::{Value, json};

use super::*;
use crate::kinds::native::lookup_api_version;

fn vars() -> Variables {
    let pairs = [("cluster.name", "eu-a"), ("cluster.region", "eu"), ("cluster.values.mirror", "mirror.example")];
    pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn subject(object: &Value) -> Subject {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    match lookup_api_version(text("apiVersion"), text("kind")) {
        Some(kind) => Subject::native(kind),
        None => Subject::default(),
    }
}

/// A Deployment with this pod spec.
fn deployment(pod_spec: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec}}})
}

fn in_pod_spec(patch: Value) -> Operation {
    Operation::Patch(json!({"spec": {"template": {"spec": patch}}}))
}

/// What the operation makes of the object, and its warnings.
fn run(object: &Value, op: &Operation) -> Result<(Value, Vec<String>), String> {
    let mut object = object.clone();
    let subject = subject(&object);
    let report = apply(op, &mut object, &subject, &vars()).map_err(|error| error.to_string())?;
    Ok((object, report.warnings.iter().map(ToString::to_string).collect()))
}

/// What the operation makes of the pod spec of a Deployment that has `before`.
fn pod_spec_after(before: Value, op: &Operation) -> Result<Value, String> {
    run(&deployment(before), op).map(|(object, _)| object["spec"]["template"]["spec"].clone())
}

fn text_map(pairs: &[(&str, &str)]) -> BTreeMap<SmolStr, String> {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect()
}

fn pointer(text: &str) -> Path {
    Path::parse(text).unwrap()
}
