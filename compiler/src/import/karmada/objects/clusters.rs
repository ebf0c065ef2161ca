//! Clusters, as Karmada knows and sees them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Rest;
use crate::base::SmolStr;
use crate::base::taint::TaintEffect;

/// A Cluster.
#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::import::karmada) struct KarmadaCluster {
    #[serde(default)]
    pub spec: ClusterSpec,
    #[serde(default)]
    pub status: ClusterStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct ClusterSpec {
    #[serde(default)]
    pub provider: SmolStr,
    #[serde(default)]
    pub region: SmolStr,
    /// The older form of `zones`.
    #[serde(default)]
    pub zone: SmolStr,
    #[serde(default)]
    pub zones: Vec<SmolStr>,
    #[serde(default)]
    pub taints: Vec<ClusterTaint>,
    #[serde(default)]
    pub resource_models: Vec<Value>,
    /// How it is reached.
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct ClusterTaint {
    pub key: SmolStr,
    #[serde(default)]
    pub value: SmolStr,
    pub effect: TaintEffect,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct ClusterStatus {
    #[serde(default)]
    pub api_enablements: Vec<ApiEnablement>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
    #[serde(default)]
    pub node_summary: NodeSummary,
    #[serde(default)]
    pub resource_summary: ResourceSummary,
}

#[derive(Clone, Debug, Deserialize)]
pub(in crate::import::karmada) struct Condition {
    #[serde(rename = "type")]
    pub kind: SmolStr,
    pub status: SmolStr,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct ApiEnablement {
    pub group_version: SmolStr,
    #[serde(default)]
    pub resources: Vec<ApiResource>,
}

#[derive(Clone, Debug, Deserialize)]
pub(in crate::import::karmada) struct ApiResource {
    pub kind: SmolStr,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct NodeSummary {
    #[serde(default)]
    pub total_num: u32,
    #[serde(default)]
    pub ready_num: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::import::karmada) struct ResourceSummary {
    #[serde(default)]
    pub allocatable: BTreeMap<SmolStr, Value>,
}
