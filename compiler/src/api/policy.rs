//! `kind: PlacementPolicy` and `kind: OverridePolicy`: rules for many apps, of the platform (`policies/`) or of one team
//! (its folder).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AppSelector, OverrideSpec, PlacementSpec};
use crate::base::Spanned;

/// A layer of placement for the apps it selects. Of several that set a field, the highest precedence counts; ties: a match
/// by name before one by label before one of all, then the lowest name.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacementPolicySpec {
    /// Which apps. `{}` is all that the policy reaches.
    pub apps: Spanned<AppSelector>,
    /// Higher counts first. Default 0.
    #[serde(default)]
    pub precedence: i32,
    /// The placement.
    pub placement: PlacementSpec,
}

/// Overrides for the apps it selects. Order: the fleet's, the team's, the app's, then enforced ones; within a layer by
/// precedence, then name; within a file by position. Later wins.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverridePolicySpec {
    /// Which apps. `{}` is all that the policy reaches.
    pub apps: Spanned<AppSelector>,
    /// Higher is applied later, and so wins. Default 0.
    #[serde(default)]
    pub precedence: i32,
    /// Applied last, so that a team cannot undo it. Only in `policies/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Spanned<bool>>,
    /// The rules.
    pub overrides: Vec<Spanned<OverrideSpec>>,
}
