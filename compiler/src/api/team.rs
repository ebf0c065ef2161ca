//! `kind: Team`: the platform's file about a team. The team cannot edit it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClusterSelector, PlacementSpec, Survive};
use crate::base::quantity::Quantity;
use crate::base::{SmolStr, Spanned};

/// Rights, quota and defaults of a team.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TeamSpec {
    /// The namespaces its apps may use. Those they use are generated where they go, unless the fleet holds the Namespace
    /// itself; they are never pruned with an app.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<Spanned<NamespaceSpec>>,
    /// The clusters its apps may use. Absent or `{}`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Spanned<ClusterSelector>>,
    /// Resources that its apps may ask for, over the fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quota: Vec<Spanned<QuotaSpec>>,
    /// The kinds its apps may hold. The default denies cluster-scoped kinds and `rbac.authorization.k8s.io`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Spanned<KindsSpec>>,
    /// The priority classes that its apps may name. Where there are any, pods may name no other either, nor those of
    /// Kubernetes (`system-cluster-critical`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priority_class_names: Vec<Spanned<SmolStr>>,
    /// The service account that is impersonated when its objects are applied, as `namespace/name`: what it may not do in a
    /// cluster, no App of the team does there. Absent: the applier's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<Spanned<SmolStr>>,
    /// A layer of placement for its apps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSpec>,
    /// What must not leave its apps short, where they do not state it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survive: Option<Spanned<Survive>>,
    /// Who to ask: groups, channels, addresses. `why` names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owners: Option<Spanned<Vec<Spanned<SmolStr>>>>,
}

/// Namespaces a team may use: one name, or all with a prefix.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NamespaceSpec {
    /// One namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<SmolStr>>,
    /// All namespaces that begin so; `""` is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Spanned<SmolStr>>,
    /// Labels of the generated Namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<SmolStr, SmolStr>,
}

/// A quota over the fleet.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct QuotaSpec {
    /// The most that may be asked for, by the names of a Kubernetes ResourceQuota: `requests.<resource>`,
    /// `limits.<resource>`, `cpu`, `memory`, `pods`, `count/<plural>.<group>`, `services`, `services.loadbalancers`,
    /// `services.nodeports`, `persistentvolumeclaims`, `requests.storage`, and the last two of one class
    /// (`gold.storageclass.storage.k8s.io/requests.storage`). A claim counts under a class that it names.
    pub hard: BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>,
    /// The clusters it counts in. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterSelector>,
    /// Whether it holds for the sum or for each cluster. Default Total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Spanned<QuotaScope>>,
}

/// Whether a quota holds for the sum or for each cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum QuotaScope {
    /// For the sum over its clusters.
    Total,
    /// For each cluster by itself.
    PerCluster,
}

/// The kinds a team may use: what `allow` names, less what `deny` names.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KindsSpec {
    /// Allowed besides the namespaced kinds outside `rbac.authorization.k8s.io`, which always are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<GroupKind>,
    /// Denied, whatever is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<GroupKind>,
}

/// Kinds by group and kind; `*` is any. The core group is `""`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GroupKind {
    /// The API group.
    pub group: SmolStr,
    /// The kind.
    pub kind: SmolStr,
}
