//! The order of objects in a file: what others need comes first, as `kubectl apply` of the file would want it.

use crate::parse::ObjKey;

/// Rank of a kind: CustomResourceDefinitions and Namespaces, then what workloads refer to, workloads, what points at
/// workloads, and webhooks last.
#[must_use]
pub(super) fn rank(key: &ObjKey) -> u8 {
    match (key.group.as_str(), key.kind.as_str()) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 0,
        ("", "Namespace") => 1,
        ("", "ResourceQuota" | "LimitRange") => 2,
        ("scheduling.k8s.io" | "storage.k8s.io", _) => 3,
        ("", "ServiceAccount") => 4,
        ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => 5,
        ("rbac.authorization.k8s.io", _) => 6,
        ("", "ConfigMap" | "Secret") => 7,
        ("", "PersistentVolume" | "PersistentVolumeClaim") => 8,
        ("", "Service") => 9,
        ("apps" | "batch", _) | ("", "Pod" | "ReplicationController") => 10,
        ("autoscaling" | "policy" | "networking.k8s.io", _) => 11,
        ("admissionregistration.k8s.io", _) => 13,
        _ => 12,
    }
}
