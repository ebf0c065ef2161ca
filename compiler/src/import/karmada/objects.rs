//! Karmada's own kinds, as far as an import reads them: `policy.karmada.io/v1alpha1`, `cluster.karmada.io/v1alpha1`,
//! `apps.karmada.io/v1alpha1`, `config.karmada.io/v1alpha1`.
//!
//! Source: the API of Karmada at commit f8fdd02 (its 1.19 line). A field that is not here lands in `rest`, and is said.

mod clusters;
mod overrides;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::base::SmolStr;
use crate::base::taint::Toleration;

pub(super) use clusters::{ApiEnablement, ClusterSpec, ClusterStatus, KarmadaCluster};
pub(super) use overrides::{
    FieldOverrider, ImageComponent, ImageOverrider, ListOverrider, MetadataOverrider, Operator, OverrideRule,
    OverrideSpec, Overriders, Plaintext, SubPatch,
};

/// Fields that are not known here.
pub(super) type Rest = Map<String, Value>;

/// `spec` of a PropagationPolicy and of a ClusterPropagationPolicy.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PropagationSpec {
    #[serde(default)]
    pub resource_selectors: Vec<ResourceSelector>,
    /// The older name of `propagateDeps`.
    #[serde(default)]
    pub association: bool,
    #[serde(default)]
    pub propagate_deps: bool,
    #[serde(default)]
    pub placement: Placement,
    #[serde(default)]
    pub priority: i32,
    #[serde(default)]
    pub preemption: Preemption,
    #[serde(default)]
    pub dependent_overrides: Vec<SmolStr>,
    #[serde(default)]
    pub scheduler_name: SmolStr,
    #[serde(default)]
    pub failover: Option<Failover>,
    #[serde(default)]
    pub conflict_resolution: SmolStr,
    #[serde(default)]
    pub activation_preference: SmolStr,
    #[serde(default)]
    pub suspension: Suspension,
    #[serde(default)]
    pub preserve_resources_on_deletion: bool,
    #[serde(default)]
    pub schedule_priority: Option<SchedulePriority>,
    #[serde(flatten)]
    pub rest: Rest,
}

/// Whether a policy takes templates from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Preemption {
    #[default]
    Never,
    Always,
}

/// Which templates.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSelector {
    /// `group/version`.
    pub api_version: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// Empty is any.
    #[serde(default)]
    pub namespace: SmolStr,
    /// Empty is any.
    #[serde(default)]
    pub name: SmolStr,
    /// Read when it is asked: one that is no selector matches nothing.
    #[serde(default)]
    pub label_selector: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Placement {
    #[serde(default)]
    pub cluster_affinity: Option<AffinityTerm>,
    #[serde(default)]
    pub cluster_affinities: Vec<AffinityTerm>,
    #[serde(default)]
    pub cluster_tolerations: Vec<Toleration>,
    #[serde(default)]
    pub spread_constraints: Vec<SpreadConstraint>,
    #[serde(default)]
    pub replica_scheduling: Option<ReplicaScheduling>,
    #[serde(default)]
    pub workload_affinity: WorkloadAffinity,
    #[serde(flatten)]
    pub rest: Rest,
}

/// A group of clusters, in the list with a name, and where replicas go that it cannot hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AffinityTerm {
    #[serde(default)]
    pub affinity_name: SmolStr,
    #[serde(default)]
    pub overflow_affinities: Vec<AffinityTerm>,
    #[serde(flatten)]
    pub affinity: Affinity,
}

/// Which clusters; all parts must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Affinity {
    #[serde(default)]
    pub label_selector: Option<Value>,
    #[serde(default)]
    pub field_selector: FieldSelector,
    #[serde(default)]
    pub cluster_names: Vec<SmolStr>,
    #[serde(default)]
    pub exclude: Vec<SmolStr>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FieldSelector {
    #[serde(default)]
    pub match_expressions: Vec<FieldExpression>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct FieldExpression {
    pub key: SmolStr,
    pub operator: SmolStr,
    #[serde(default)]
    pub values: Vec<SmolStr>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpreadConstraint {
    #[serde(default)]
    pub spread_by_field: SmolStr,
    #[serde(default)]
    pub spread_by_label: SmolStr,
    #[serde(default)]
    pub min_groups: Option<u32>,
    #[serde(default)]
    pub max_groups: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplicaScheduling {
    /// Absent is Divided: the webhook's default.
    #[serde(default)]
    pub replica_scheduling_type: SmolStr,
    #[serde(default)]
    pub replica_division_preference: SmolStr,
    #[serde(default)]
    pub weight_preference: Option<WeightPreference>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WeightPreference {
    #[serde(default)]
    pub static_weight_list: Vec<StaticWeight>,
    #[serde(default)]
    pub dynamic_weight: SmolStr,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StaticWeight {
    #[serde(default)]
    pub target_cluster: Affinity,
    pub weight: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkloadAffinity {
    #[serde(default)]
    pub affinity: Option<GroupBy>,
    #[serde(default)]
    pub anti_affinity: Option<GroupBy>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupBy {
    pub group_by_label_key: SmolStr,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failover {
    #[serde(default)]
    pub application: Option<ApplicationFailover>,
    #[serde(default)]
    pub cluster: Option<ClusterFailover>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplicationFailover {
    #[serde(default)]
    pub decision_conditions: DecisionConditions,
    #[serde(default)]
    pub purge_mode: SmolStr,
    #[serde(default)]
    pub grace_period_seconds: Option<u64>,
    #[serde(default)]
    pub state_preservation: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DecisionConditions {
    #[serde(default)]
    pub toleration_seconds: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterFailover {
    #[serde(default)]
    pub purge_mode: SmolStr,
    #[serde(default)]
    pub state_preservation: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Suspension {
    #[serde(default)]
    pub dispatching: bool,
    #[serde(default)]
    pub dispatching_on_clusters: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SchedulePriority {
    pub priority_class_name: SmolStr,
}

/// `spec` of a FederatedResourceQuota.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FederatedQuota {
    /// Amounts are read one by one: one that is none leaves the others.
    #[serde(default)]
    pub overall: BTreeMap<SmolStr, Value>,
    #[serde(default)]
    pub static_assignments: Vec<StaticAssignment>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StaticAssignment {
    pub cluster_name: SmolStr,
    #[serde(default)]
    pub hard: BTreeMap<SmolStr, Value>,
}

/// `spec` of a WorkloadRebalancer.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Rebalancer {
    #[serde(default)]
    pub workloads: Vec<RebalancedObject>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct RebalancedObject {
    pub kind: SmolStr,
    #[serde(default)]
    pub namespace: SmolStr,
    pub name: SmolStr,
}

/// `spec` of a ResourceInterpreterCustomization.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Customization {
    pub target: CustomizedKind,
    #[serde(default)]
    pub customizations: BTreeMap<SmolStr, Script>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CustomizedKind {
    pub api_version: SmolStr,
    pub kind: SmolStr,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Script {
    #[serde(default)]
    pub lua_script: SmolStr,
}
