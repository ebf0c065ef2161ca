//! Where Kubernetes' own kinds keep their pods.

use super::NativeKind;

/// The keys from the root of an object to its pod template (a map with `metadata` and `spec`). For a Pod the path is
/// empty: it is its own template. `None` for kinds that make no pods.
#[must_use]
pub fn pod_template_path(kind: &NativeKind) -> Option<&'static [&'static str]> {
    Some(match (&*kind.group, &*kind.kind) {
        ("", "Pod") => &[],
        ("", "PodTemplate") => &["template"],
        ("", "ReplicationController")
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job") => &["spec", "template"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template"],
        _ => return None,
    })
}

/// The keys from the root of an object to its pod spec (a map with `containers`). `None` for kinds that make no pods.
#[must_use]
pub fn pod_spec_path(kind: &NativeKind) -> Option<&'static [&'static str]> {
    Some(match pod_template_path(kind)? {
        [] => &["spec"],
        ["template"] => &["template", "spec"],
        ["spec", "template"] => &["spec", "template", "spec"],
        _ => &["spec", "jobTemplate", "spec", "template", "spec"],
    })
}
