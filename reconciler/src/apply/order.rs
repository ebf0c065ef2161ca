//! In which order objects of a cluster are applied and removed.
//!
//! Rounds follow each other inside an app: what others need first, workloads, what points at workloads, webhooks last. A
//! round waits until the one before it is *applied*. It waits for *health* only where an order without it would break:
//! after CustomResourceDefinitions and Namespaces, before webhooks, and where `config.kubernetes.io/depends-on` or
//! `dependsOn` says so. Waiting for the health of everything would never end: a PersistentVolumeClaim with
//! `WaitForFirstConsumer` is bound only once a pod of the next round uses it.
//! The next kind that others need is a line in [`Round::of`].

use crate::cluster::{GroupKind, Key};

/// When an object is applied; removal goes backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Round {
    /// CustomResourceDefinitions and Namespaces.
    Foundations,
    /// What workloads refer to.
    Needed,
    /// What runs pods, and custom resources.
    Workloads,
    /// What points at workloads.
    Pointing,
    /// Admission webhooks: one whose backend is not up refuses everything else.
    Webhooks,
}

impl Round {
    /// The round of a kind.
    #[must_use]
    pub fn of(kind: &GroupKind) -> Self {
        match (kind.group.as_str(), kind.kind.as_str()) {
            ("apiextensions.k8s.io", "CustomResourceDefinition") | ("", "Namespace") => Self::Foundations,
            ("scheduling.k8s.io" | "storage.k8s.io" | "rbac.authorization.k8s.io" | "node.k8s.io", _) => Self::Needed,
            (
                "",
                "ResourceQuota"
                | "LimitRange"
                | "ServiceAccount"
                | "ConfigMap"
                | "Secret"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "Service",
            ) => Self::Needed,
            ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
                Self::Webhooks
            }
            ("autoscaling" | "policy" | "networking.k8s.io" | "apiregistration.k8s.io", _) => Self::Pointing,
            _ => Self::Workloads,
        }
    }
}

/// Reads `config.kubernetes.io/depends-on`: `group/namespaces/NAMESPACE/Kind/NAME` or `group/Kind/NAME`, comma-separated,
/// the core group as an empty text (cli-utils, `pkg/object/dependson`).
///
/// # Errors
/// The part that is neither.
pub fn depends_on(text: &str) -> Result<Vec<Key>, String> {
    text.split(',')
        .map(str::trim)
        .map(|part| {
            let fields: Vec<&str> = part.split('/').collect();
            let key = match fields.as_slice() {
                [group, "namespaces", namespace, kind, name] => Key::new(group, kind, namespace, name),
                [group, kind, name] => Key::new(group, kind, "", name),
                _ => return Err(part.to_owned()),
            };
            if key.kind.kind.is_empty() || key.name.is_empty() { Err(part.to_owned()) } else { Ok(key) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_kinds() {
        for (group, kind, round) in [
            ("apiextensions.k8s.io", "CustomResourceDefinition", Round::Foundations),
            ("", "Namespace", Round::Foundations),
            ("", "ConfigMap", Round::Needed),
            ("rbac.authorization.k8s.io", "ClusterRoleBinding", Round::Needed),
            ("", "PersistentVolumeClaim", Round::Needed),
            ("apps", "Deployment", Round::Workloads),
            ("", "Pod", Round::Workloads),
            ("example.com", "Widget", Round::Workloads),
            ("autoscaling", "HorizontalPodAutoscaler", Round::Pointing),
            ("networking.k8s.io", "Ingress", Round::Pointing),
            ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", Round::Webhooks),
            ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Round::Workloads),
        ] {
            assert_eq!(Round::of(&GroupKind::new(group, kind)), round, "{group}/{kind}");
        }
    }

    #[test]
    fn depends_on_reads_both_forms() {
        assert_eq!(
            depends_on("apps/namespaces/shop/Deployment/db, /namespaces/shop/ConfigMap/c,example.com/Widget/w"),
            Ok(vec![
                Key::new("apps", "Deployment", "shop", "db"),
                Key::new("", "ConfigMap", "shop", "c"),
                Key::new("example.com", "Widget", "", "w"),
            ])
        );
        for wrong in ["", "apps/Deployment", "a/namespaces/b/c", "apps//x", "a/b/c,,"] {
            assert!(depends_on(wrong).is_err(), "{wrong}");
        }
    }
}
