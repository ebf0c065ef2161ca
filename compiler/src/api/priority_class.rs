//! `kind: PriorityClass`: Kubernetes' own (`scheduling.k8s.io/v1`), read from `policies/` to order scheduling.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Metadata;
use crate::base::{SmolStr, Spanned};

/// A priority. Apps with a higher value are placed first; nothing that runs is ever evicted for it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PriorityClass {
    /// `scheduling.k8s.io/v1`.
    pub api_version: Spanned<SmolStr>,
    /// `PriorityClass`.
    pub kind: Spanned<SmolStr>,
    /// Names and labels.
    pub metadata: Metadata,
    /// The priority: higher first.
    pub value: Spanned<i32>,
    /// Whether apps that name no class have this one. At most one class may say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_default: Option<Spanned<bool>>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<SmolStr>,
    /// Whether a plan says which replicas of lower priority would have to go, when an app of this class finds no room.
    /// Absent: Never. `fleetwright preempt` accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption_policy: Option<Spanned<PreemptionPolicy>>,
}

/// Whether a preemption is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum PreemptionPolicy {
    /// Never.
    Never,
    /// The plan proposes which lower-priority replicas to give up.
    PreemptLowerPriority,
}
