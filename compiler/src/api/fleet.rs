//! `kind: Fleet`: `fleet.yaml`, the settings of the whole repository.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Duration, IntOrPercent, PlacementSpec};
use crate::base::taint::Toleration;
use crate::base::{SmolStr, Spanned};

/// Settings of the whole repository.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FleetSpec {
    /// The version of fleetwright this repository is for; another one refuses, so that an upgrade is a reviewed change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<Spanned<SmolStr>>,
    /// What apps inherit that say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<DefaultsSpec>,
    /// The branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<BranchesSpec>,
    /// Budgets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Spanned<LimitsSpec>>,
    /// When lost clusters are failed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Spanned<FleetFailoverSpec>>,
    /// Field managers whose fields are taken over when an object that already runs is adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopt: Option<Spanned<AdoptSpec>>,
    /// What happens to changes made by hand in a cluster. Default Correct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Spanned<Drift>>,
    /// Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<SecretsSpec>,
    /// Values for overrides: `${fleet.values.x}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<SmolStr, SmolStr>,
}

/// What apps inherit that say nothing.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DefaultsSpec {
    /// The last layer of placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSpec>,
    /// Cluster taints that every app tolerates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Spanned<Toleration>>,
}

/// The branches of the repository.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BranchesSpec {
    /// People's branch. Default `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intents: Option<Spanned<SmolStr>>,
    /// The branch that clusters follow. Default `live`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Spanned<SmolStr>>,
    /// The branch that rendered manifests are written to. Absent: they are written to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Spanned<SmolStr>>,
}

/// Budgets of one commit.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LimitsSpec {
    /// The most objects that a change may delete in a cluster, and in the whole fleet, without an approval. Absent: 10
    /// objects, or 20 % of them where that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<Spanned<Budget>>,
    /// Moves above this wait for an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Spanned<Budget>>,
}

/// A budget: at least one of the two; of both the smaller holds.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Budget {
    /// A share of what there is (`10%`); always at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Spanned<IntOrPercent>>,
    /// An absolute count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// When lost clusters are failed over.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FleetFailoverSpec {
    /// More clusters than this lost at once: hold and alert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_clusters: Option<IntOrPercent>,
    /// How long a cluster must not answer before apps leave it that tolerate nothing else. Default 5m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Duration>,
    /// In which order copies go and come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_mode: Option<PurgeMode>,
}

/// In which order copies go and come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum PurgeMode {
    /// The new copy is Current before the old one goes.
    Gracefully,
    /// The old copy is gone before the new one starts.
    Directly,
}

/// Adoption of objects that already run.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AdoptSpec {
    /// The field managers, as `metadata.managedFields` names them (`kubectl-client-side-apply`, `helm`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<Spanned<SmolStr>>,
}

/// What happens to changes made by hand in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
pub enum Drift {
    /// They are put right.
    #[default]
    Correct,
    /// They are reported.
    Report,
}

/// Secrets.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SecretsSpec {
    /// Whether a Secret may lie in the repository in the clear. Default Deny.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plaintext: Option<Spanned<Plaintext>>,
    /// How encrypted documents are decrypted when applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Spanned<DecryptionSpec>>,
}

/// Whether a Secret may lie in the repository in the clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
pub enum Plaintext {
    /// It is an error.
    #[default]
    Deny,
    /// It is accepted.
    Allow,
}

/// How encrypted documents are decrypted.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DecryptionSpec {
    /// `sops`.
    pub provider: SmolStr,
}
