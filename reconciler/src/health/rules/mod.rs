//! One rule per kind, as kstatus has them; for kinds it lacks, as Argo CD does.
//!
//! A rule is asked only when nothing generic decides, so the generation is observed where both numbers exist.

mod api_service;
mod custom_resource_definition;
mod daemon_set;
mod deployment;
mod horizontal_pod_autoscaler;
mod job;
mod namespace;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod pod_disruption_budget;
mod replica_set;
mod service;
mod stateful_set;

use super::object::{Malformed, Object, Verdict, current};

type Rule = fn(&Object<'_>) -> Result<Verdict, Malformed>;

/// Group, kind, rule. Any version.
const RULES: &[(&str, &str, Rule)] = &[
    ("", "ConfigMap", at_once),
    ("", "Namespace", namespace::judge),
    ("", "PersistentVolume", persistent_volume::judge),
    ("", "PersistentVolumeClaim", persistent_volume_claim::judge),
    ("", "Pod", pod::judge),
    ("", "Secret", at_once),
    ("", "Service", service::judge),
    ("apiextensions.k8s.io", "CustomResourceDefinition", custom_resource_definition::judge),
    ("apiregistration.k8s.io", "APIService", api_service::judge),
    ("apps", "DaemonSet", daemon_set::judge),
    ("apps", "Deployment", deployment::judge),
    ("apps", "ReplicaSet", replica_set::judge),
    ("apps", "StatefulSet", stateful_set::judge),
    ("autoscaling", "HorizontalPodAutoscaler", horizontal_pod_autoscaler::judge),
    ("batch", "CronJob", at_once),
    ("batch", "Job", job::judge),
    ("policy", "PodDisruptionBudget", pod_disruption_budget::judge),
];

/// What the rule of the kind says; `None` without one.
pub(super) fn judge(object: &Object<'_>) -> Option<Result<Verdict, Malformed>> {
    let (group, kind) = (object.group(), object.kind());
    let (.., rule) = RULES.iter().find(|row| (row.0, row.1) == (group, kind))?;
    Some(rule(object))
}

/// Kinds that are what they should be as soon as they are stored. A CronJob is: its Jobs are judged by themselves.
fn at_once(_: &Object<'_>) -> Result<Verdict, Malformed> {
    current("it is stored")
}
