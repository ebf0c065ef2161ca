//! What the API server drops: empty values that mean the same as none, and fields that it writes itself.

use serde_json::Value;

use super::fields::field_shape;
use crate::kinds::native::{Shape, type_def};

/// Fields of `metadata` that the API server writes.
const SERVER_METADATA: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];
/// What `kubectl apply` keeps of the manifest, in the clear even for a Secret.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Types that are part of what holds them, not behind a pointer: in Go an empty one is the same as none. (An empty
/// `emptyDir` or `podSelector` is not.) An empty `securityContext` of a pod is what the API server puts there itself.
const EMPTY_IS_NONE: [&str; 7] = [
    "apps.v1.DaemonSetUpdateStrategy",
    "apps.v1.DeploymentStrategy",
    "apps.v1.StatefulSetUpdateStrategy",
    "core.v1.PodSecurityContext",
    "core.v1.ResourceRequirements",
    "core.v1.VolumeResourceRequirements",
    "meta.v1.ObjectMeta",
];

/// Whether a value means the same as none: `null`, an empty map or list of a field, an empty struct that is no pointer.
/// Of a custom resource nothing is known, so there only what is not written is absent.
pub(super) fn is_absent(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Any, _) => false,
        (_, Value::Null) => true,
        (Shape::Map(_), Value::Object(map)) => map.is_empty(),
        (Shape::List(..), Value::Array(items)) => items.is_empty(),
        (Shape::Struct(id), Value::Object(map)) => {
            EMPTY_IS_NONE.contains(&type_def(*id).name.as_str())
                && map.iter().all(|(key, value)| is_absent(field_shape(shape, key), value))
        }
        _ => false,
    }
}

/// Takes out what a person does not declare: `status`, the server's part of `metadata`, the annotation of `kubectl apply`.
pub(super) fn drop_undeclared(object: &mut Value) {
    let Some(object) = object.as_object_mut() else { return };
    object.remove("status");
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    metadata.retain(|key, _| !SERVER_METADATA.contains(&key.as_str()));
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}
