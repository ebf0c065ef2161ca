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
    /// JSON pointers to its count of replicas: the first that an object has counts and is written, else the first of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// JSON pointers to its pod templates. Room is booked for the first that an object has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// Parts with counts and pods of their own, such as a head and its workers. An object with parts is a set: it runs as a
    /// whole in one cluster, where all of its pods fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<Spanned<Vec<Spanned<ComponentSpec>>>>,
    /// Parts as the operator of another kind derives them from its object, in place of `components`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components_as: Option<Spanned<DerivedComponents>>,
    /// Whether its replicas may run in several clusters. Default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dividable: Option<Spanned<bool>>,
    /// Whether it runs a pod on each node, as a DaemonSet does. Its count of replicas is then no more than a pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_node: Option<Spanned<bool>>,
    /// When an object is healthy. Absent: by the conditions that all kinds share (Reconciling, Stalled, Ready).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Spanned<HealthSpec>>,
    /// What it refers to in its own namespace, beside what its pods do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Spanned<Vec<Spanned<DependencySpec>>>>,
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

/// A part of a custom resource, or one for each item of a list.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ComponentSpec {
    /// Its name. `{index}` stands for the position in the list counted from 0, `{number}` counted from 1.
    pub name: Spanned<SmolStr>,
    /// JSON pointer to the part; there is no such part where an object does not have it. A step `*` is every item of a list.
    /// Absent: the object itself. The pointers below begin there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Spanned<SmolStr>>,
    /// JSON pointer to the name that a part states itself, before `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_from: Option<Spanned<SmolStr>>,
    /// JSON pointers to its count of replicas: the first that is stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// Its count where none is stated. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_replicas: Option<Spanned<u32>>,
    /// JSON pointer to its pod template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Spanned<SmolStr>>,
    /// JSON pointer to what one of its pods requests (a map of quantities), where there is no template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Spanned<SmolStr>>,
}

/// A kind whose operator derives parts from the rest of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum DerivedComponents {
    /// A job manager, and the task managers that the parallelism of the job needs.
    FlinkDeployment,
    /// A driver, and the executors that dynamic allocation starts with; memory with its overhead.
    SparkApplication,
}

/// What a custom resource refers to: `podSpec` alone, or `name` with `kind` or `kindFrom`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DependencySpec {
    /// JSON pointer to a pod spec, or to a map with some fields of one: all that it refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_spec: Option<Spanned<SmolStr>>,
    /// The `apiVersion` of what is named. Default: v1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<Spanned<SmolStr>>,
    /// The kind of what is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Spanned<SmolStr>>,
    /// JSON pointer to the place of a reference; a step `*` is every item of a list. Absent: the object itself. The pointers
    /// below begin there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Spanned<SmolStr>>,
    /// JSON pointer to the kind of what is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_from: Option<Spanned<SmolStr>>,
    /// JSON pointer to the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<SmolStr>>,
}
