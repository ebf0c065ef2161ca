//! What a pod refers to, and so must follow it: ConfigMaps, Secrets, ServiceAccounts, claims.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::base::SmolStr;
use crate::import::documents::Object;
use crate::kinds::replicas::WorkloadKind;

/// Kind and name of an object in the namespace of whoever refers to it.
pub(super) type Reference = (&'static str, SmolStr);

/// What the pods of a workload refer to; nothing of other kinds. The claims of a StatefulSet's own templates are none.
pub(super) fn of(object: &Object) -> BTreeSet<Reference> {
    let mut found = BTreeSet::new();
    let Some(kind) = WorkloadKind::of(&object.group, &object.kind) else { return found };
    let spec = kind.pod_spec_keys().iter().try_fold(&object.value, |value, key| value.get(*key));
    let Some(spec) = spec else { return found };
    let mut add = |kind: &'static str, name: Option<&Value>| {
        found.extend(name.and_then(Value::as_str).filter(|name| !name.is_empty()).map(|name| (kind, name.into())));
    };
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    for volume in list(spec, "volumes") {
        add("ConfigMap", volume.pointer("/configMap/name"));
        add("Secret", volume.pointer("/secret/secretName"));
        add("PersistentVolumeClaim", volume.pointer("/persistentVolumeClaim/claimName"));
        for key in
            ["azureFile/secretName", "csi/nodePublishSecretRef/name", "cephfs/secretRef/name", "rbd/secretRef/name"]
        {
            add("Secret", volume.pointer(&format!("/{key}")));
        }
        for source in volume.get("projected").map(|projected| list(projected, "sources")).unwrap_or_default() {
            add("ConfigMap", source.pointer("/configMap/name"));
            add("Secret", source.pointer("/secret/name"));
        }
    }
    for containers in ["containers", "initContainers"] {
        for container in list(spec, containers) {
            for from in list(&container, "envFrom") {
                add("ConfigMap", from.pointer("/configMapRef/name"));
                add("Secret", from.pointer("/secretRef/name"));
            }
            for variable in list(&container, "env") {
                add("ConfigMap", variable.pointer("/valueFrom/configMapKeyRef/name"));
                add("Secret", variable.pointer("/valueFrom/secretKeyRef/name"));
            }
        }
    }
    for secret in list(spec, "imagePullSecrets") {
        add("Secret", secret.get("name"));
    }
    add("ServiceAccount", spec.get("serviceAccountName").or_else(|| spec.get("serviceAccount")));
    let own = object.value.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array).into_iter().flatten();
    for claim in own.filter_map(|claim| claim.pointer("/metadata/name")?.as_str()) {
        found.remove(&("PersistentVolumeClaim", claim.into()));
    }
    found
}
