//! What override policies are made of.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Affinity, ResourceSelector, Rest};
use crate::base::SmolStr;

/// `spec` of an OverridePolicy and of a ClusterOverridePolicy.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct OverrideSpec {
    /// None: every object.
    #[serde(default)]
    pub resource_selectors: Vec<ResourceSelector>,
    #[serde(default)]
    pub override_rules: Vec<OverrideRule>,
    /// The older form, read when there are no rules.
    #[serde(default)]
    pub target_cluster: Option<Affinity>,
    #[serde(default)]
    pub overriders: Option<Overriders>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct OverrideRule {
    #[serde(default)]
    pub target_cluster: Option<Affinity>,
    #[serde(default)]
    pub overriders: Overriders,
}

/// The operations of a rule, in the order in which they are applied.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct Overriders {
    #[serde(default)]
    pub image_overrider: Vec<ImageOverrider>,
    #[serde(default)]
    pub command_overrider: Vec<ListOverrider>,
    #[serde(default)]
    pub args_overrider: Vec<ListOverrider>,
    #[serde(default)]
    pub labels_overrider: Vec<MetadataOverrider>,
    #[serde(default)]
    pub annotations_overrider: Vec<MetadataOverrider>,
    #[serde(default)]
    pub field_overrider: Vec<FieldOverrider>,
    #[serde(default)]
    pub plaintext: Vec<Plaintext>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::import::karmada) enum Operator {
    Add,
    Remove,
    Replace,
}

#[derive(Clone, Debug, Deserialize)]
pub(in crate::import::karmada) struct ImageOverrider {
    #[serde(default)]
    pub predicate: Option<ImagePredicate>,
    pub component: ImageComponent,
    pub operator: Operator,
    #[serde(default)]
    pub value: SmolStr,
}

#[derive(Clone, Debug, Deserialize)]
pub(in crate::import::karmada) struct ImagePredicate {
    pub path: SmolStr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(in crate::import::karmada) enum ImageComponent {
    Registry,
    Repository,
    Tag,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct ListOverrider {
    pub container_name: SmolStr,
    pub operator: Operator,
    #[serde(default)]
    pub value: Vec<SmolStr>,
}

#[derive(Clone, Debug, Deserialize)]
pub(in crate::import::karmada) struct MetadataOverrider {
    pub operator: Operator,
    #[serde(default)]
    pub value: BTreeMap<SmolStr, SmolStr>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct FieldOverrider {
    pub field_path: SmolStr,
    #[serde(default)]
    pub json: Vec<SubPatch>,
    #[serde(default)]
    pub yaml: Vec<SubPatch>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::import::karmada) struct SubPatch {
    pub sub_path: SmolStr,
    pub operator: Operator,
    #[serde(default)]
    pub value: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub(in crate::import::karmada) struct Plaintext {
    pub path: SmolStr,
    pub operator: Operator,
    #[serde(default)]
    pub value: Option<Value>,
}
