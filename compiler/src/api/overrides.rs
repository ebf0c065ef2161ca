//! Overrides: how objects differ between clusters.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ClusterSelector;
use crate::base::{SmolStr, Spanned};

/// One override rule: a target, some clusters, and operations, applied in the order of the fields here.
/// Values may use `${cluster.name}`, `${cluster.region}`, `${cluster.provider}`, `${cluster.labels.x}`,
/// `${cluster.values.x}` and `${fleet.values.x}`; `$${` stands for `${`.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverrideSpec {
    /// Which objects. Absent: all of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Spanned<OverrideTarget>>,
    /// Which clusters. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Spanned<ClusterSelector>>,
    /// A part of the object to merge in. Lists of Kubernetes' own kinds merge by their merge keys; in custom resources a
    /// list is replaced. `null` removes a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Spanned<serde_json::Value>>,
    /// Values to set, by JSON pointer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<Spanned<SmolStr>, Spanned<serde_json::Value>>,
    /// JSON pointers to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<Spanned<SmolStr>>,
    /// RFC 6902 operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json_patch: Vec<Spanned<serde_json::Value>>,
    /// Images to rewrite; `newRegistry` without a name is for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Spanned<OverrideImage>>,
    /// Environment variables of the target container to set, or with `null` to remove.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<Spanned<SmolStr>, Option<EnvValue>>,
    /// The target container's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Spanned<Vec<SmolStr>>>,
    /// The target container's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Spanned<Vec<SmolStr>>>,
    /// Labels of the object to set, or with `null` to remove; never of selectors or pod templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Spanned<SmolStr>, Option<SmolStr>>,
    /// Annotations of the object to set, or with `null` to remove.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<Spanned<SmolStr>, Option<SmolStr>>,
}

/// The value of an environment variable.
pub type EnvValue = SmolStr;

/// Which objects an override is for. All parts that are stated must hold; a target that matches nothing is an error.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverrideTarget {
    /// The API group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<SmolStr>,
    /// The kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Spanned<SmolStr>>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<SmolStr>>,
    /// The namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<SmolStr>,
    /// Labels that must be present with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<SmolStr, SmolStr>,
    /// The container that `env`, `args` and `command` are for. Absent: every container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Spanned<SmolStr>>,
}

/// One image to rewrite.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverrideImage {
    /// The image as manifests name it, without tag or digest. Absent: every image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<SmolStr>>,
    /// Another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_name: Option<SmolStr>,
    /// Another registry; the rest of the name stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_registry: Option<SmolStr>,
    /// Another tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<SmolStr>,
    /// A digest, `sha256:…`; replaces the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<SmolStr>,
}
