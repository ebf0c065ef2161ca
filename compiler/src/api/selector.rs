//! Selectors of clusters and of apps: one form everywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::labels::LabelRequirement;
use crate::base::{SmolStr, Spanned};
use std::collections::BTreeMap;

/// Which clusters. All parts that are stated must hold; `{}` is all clusters, absent inherits, `names: []` is an error.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ClusterSelector {
    /// Labels that must be present with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<SmolStr, SmolStr>,
    /// Label expressions (In, NotIn, Exists, DoesNotExist) that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Spanned<LabelRequirement>>,
    /// Only these clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<Spanned<SmolStr>>>,
    /// Never these clusters, whatever else matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Spanned<SmolStr>>,
    /// Only clusters of these providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub providers: Option<Vec<Spanned<SmolStr>>>,
    /// Only clusters in these regions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<Spanned<SmolStr>>>,
    /// Only clusters with at least one of these zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<Spanned<SmolStr>>>,
}

/// Which apps. All parts that are stated must hold; `{}` is all apps.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AppSelector {
    /// Labels that must be present with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<SmolStr, SmolStr>,
    /// Label expressions (In, NotIn, Exists, DoesNotExist) that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Spanned<LabelRequirement>>,
    /// Only these apps: `team/app`, or `app` for that name in any team the policy reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<Spanned<SmolStr>>>,
    /// Only apps of these teams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teams: Option<Vec<Spanned<SmolStr>>>,
}
