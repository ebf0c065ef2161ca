//! `kind: WorkloadKind`: what a custom resource means, in one file and without code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::{SmolStr, Spanned};

/// Teaches a kind of custom resource: when it is healthy, where its counts and pods stand, what it refers to. Lies in
/// `policies/`. Kubernetes' own workloads need none.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WorkloadKindSpec {
    /// The API group of the kind; one of Kubernetes' own is refused.
    pub group: Spanned<SmolStr>,
    /// The kind.
    pub kind: Spanned<SmolStr>,
    /// JSON pointers to its counts of replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// JSON pointers to its pod templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// Parts with counts and pods of their own, such as a job manager and its task managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<Spanned<Vec<Spanned<ComponentSpec>>>>,
    /// Whether its replicas may run in several clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dividable: Option<Spanned<bool>>,
    /// When an object is healthy. Absent: by the conditions that all kinds share (Reconciling, Stalled, Ready).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Spanned<HealthSpec>>,
    /// JSON pointers to names of objects it refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// JSON pointers to what a failover takes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_paths: Option<Spanned<Vec<Spanned<SmolStr>>>>,
}

/// Expressions in CEL (<https://cel.dev>) over an object as the API server returns it. They name its fields: `metadata`,
/// `spec`, `status`, `data`. Asked after deletion, the observed generation, Reconciling and Stalled, in the order failed,
/// inProgress, current; when none holds the object is InProgress. A field that is not there makes an expression not hold;
/// `has(status.phase)` asks for it.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HealthSpec {
    /// It is as it should be.
    pub current: Spanned<SmolStr>,
    /// It is on its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<Spanned<SmolStr>>,
    /// It will not get there by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Spanned<SmolStr>>,
}

/// A part of a custom resource.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ComponentSpec {
    /// Its name.
    pub name: Spanned<SmolStr>,
    /// JSON pointer to its count of replicas; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<SmolStr>>,
    /// JSON pointer to its pod template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Spanned<SmolStr>>,
    /// JSON pointer to what one of its pods requests, where there is no template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Spanned<SmolStr>>,
}
