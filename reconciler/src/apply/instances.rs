//! Whether a Namespace or a CustomResourceDefinition holds anything that is not going with it.
//!
//! Deleting either deletes what is in it. Objects that others made there are nobody's to delete.

use serde_json::Value;

use crate::cluster::{ClusterApi, ClusterError, GroupKind, Key, Served, Watch};

/// Looks for objects that are not going.
///
/// # Errors
/// The first of them, or why it could not be found out, as a clause.
pub fn nothing_else_lives_in(
    api: &mut dyn ClusterApi,
    served: &Served,
    key: &Key,
    object: &Value,
    going: &dyn Fn(&Key) -> bool,
) -> Result<(), String> {
    let (kinds, namespace): (Vec<GroupKind>, Option<&str>) = if key.kind.is("", "Namespace") {
        let listed = served.kinds.iter().filter(|(_, versions)| versions.iter().any(|v| v.namespaced && v.listable));
        (listed.map(|(kind, _)| kind.clone()).collect(), Some(&key.name))
    } else {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let (Some(group), Some(kind)) = (text("/spec/group"), text("/spec/names/kind")) else {
            return Err("it does not say which kind it defines".to_owned());
        };
        let kind = GroupKind::new(group, kind);
        (served.has(&kind).then_some(kind).into_iter().collect(), None)
    };
    for kind in kinds {
        let watch = Watch { kind, selector: None, metadata_only: true };
        let found = match api.list(&watch, namespace) {
            Ok(found) => found,
            // Gone since discovery, with its CustomResourceDefinition, and so are its objects.
            Err(ClusterError::NotServed(_)) => continue,
            Err(error) => return Err(format!("what lives in it is not known: {error}")),
        };
        for other in &found {
            let Some(other_key) = Key::of(other) else { continue };
            if !going(&other_key) && !is_made_by_kubernetes(&other_key, other) {
                return Err(format!("{other_key} lives in it and is not to be deleted"));
            }
        }
    }
    Ok(())
}

/// What comes with every namespace, or belongs to another object and goes with it.
fn is_made_by_kubernetes(key: &Key, object: &Value) -> bool {
    let owned = object.pointer("/metadata/ownerReferences").and_then(Value::as_array).is_some_and(|o| !o.is_empty());
    let terminating = object.pointer("/metadata/deletionTimestamp").is_some();
    owned
        || terminating
        || (key.kind.is("", "ConfigMap") && key.name == "kube-root-ca.crt")
        || (key.kind.is("", "ServiceAccount") && key.name == "default")
        || key.kind.is("", "Endpoints")
        || key.kind.is("", "Event")
        || key.kind.is("events.k8s.io", "Event")
        || key.kind.is("metrics.k8s.io", "PodMetrics")
}
