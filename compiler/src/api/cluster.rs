//! `kind: Cluster`: what a cluster is, what it has, and whether it takes replicas.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::quantity::Quantity;
use crate::base::taint::Taint;
use crate::base::{SmolStr, Spanned};

/// A cluster. The well-known labels `topology.kubernetes.io/region` and `/zone` are filled in from `region` and `zones`.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ClusterSpec {
    /// Who runs it (`aws`, `gcp`, `dc`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Spanned<SmolStr>>,
    /// Its region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Spanned<SmolStr>>,
    /// Its zones. For spread, the sorted list is one value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Spanned<SmolStr>>,
    /// Taints: an untolerated NoSchedule or NoExecute keeps new replicas away, NoExecute also lets go of placed ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Spanned<Taint>>,
    /// Kinds of nodes and how many of each. Absent: capacity is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_pools: Option<Vec<Spanned<NodePoolSpec>>>,
    /// Factors by which allocatable resources are multiplied before dividing (`cpu: "1.5"`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overcommit: BTreeMap<Spanned<SmolStr>, Spanned<SmolStr>>,
    /// Resources of the cluster that fleetwright never books.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved: BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>,
    /// The groups, versions and kinds that it serves beyond Kubernetes' own. Absent: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apis: Option<Vec<Spanned<ApiGroupSpec>>>,
    /// Values for overrides: `${cluster.values.x}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<SmolStr, SmolStr>,
    /// Whether it takes replicas. Default Active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Spanned<Lifecycle>>,
    /// Whether the applier writes to it. Default Apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Spanned<ClusterMode>>,
    /// How the reconciler reaches it. A name; credentials never live in the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Spanned<ConnectionSpec>>,
}

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodePoolSpec {
    /// Its name, unique in the cluster.
    pub name: Spanned<SmolStr>,
    /// How many nodes there are.
    pub nodes: Spanned<u32>,
    /// Allocatable resources of ONE node. `pods` absent means 110.
    pub allocatable: BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>,
    /// Node labels, for node selectors and affinity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<SmolStr, SmolStr>,
    /// Node taints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Spanned<Taint>>,
    /// The node count an autoscaler can grow to: that many nodes count as room, the real ones first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scalable_to: Option<Spanned<u32>>,
}

/// One API group version that a cluster serves.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ApiGroupSpec {
    /// `group/version`, or `v1` for the core group.
    pub group_version: Spanned<SmolStr>,
    /// The kinds served. Absent: all of that group version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<SmolStr>>,
}

/// Whether a cluster takes replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize, Serialize, JsonSchema)]
pub enum Lifecycle {
    /// Takes replicas.
    #[default]
    Active,
    /// Takes no new replicas; placed ones stay.
    Cordoned,
    /// Takes no new replicas; placed ones move away.
    Draining,
    /// Gone: holds nothing, and its file may be removed.
    Retired,
}

/// Whether the applier writes to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
pub enum ClusterMode {
    /// Objects are applied.
    #[default]
    Apply,
    /// Server-side dry run and reports; nothing is written.
    Observe,
    /// Nothing is written, and the server is not asked what would happen; what is there is still seen.
    Suspended,
}

/// How the reconciler reaches a cluster: exactly one of the two, and a name only.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ConnectionSpec {
    /// A context of the reconciler's kubeconfig.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Spanned<SmolStr>>,
    /// A Secret beside the reconciler that holds a kubeconfig.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<Spanned<SmolStr>>,
}
