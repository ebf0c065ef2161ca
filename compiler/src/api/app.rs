//! `kind: App`: a team's intent. The file lies in the team's folder and is wholly the team's.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AppTide, ClusterSelector, Duration, OverrideSpec, PlacementSpec, PurgeMode, ReplicasSpec};
use crate::base::{SmolStr, Spanned};

/// An app: manifests, where they run and how they differ between clusters.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AppSpec {
    /// Set on objects of namespaced kinds that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Spanned<SmolStr>>,
    /// Globs below the team's folder, relative to the App file's folder. Default: that folder and all below, less folders
    /// that hold an App of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Vec<Spanned<SmolStr>>>,
    /// Helm charts and Kustomize folders, rendered by `fleetwright vendor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Spanned<Vec<SourceSpec>>>,
    /// Image names, tags and digests to set, in Kustomize's shape so that update bots can write it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Spanned<ImageSpec>>,
    /// The priority class that orders scheduling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<Spanned<SmolStr>>,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSpec>,
    /// Rules for single workloads or objects; the first that matches counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Spanned<ObjectRule>>,
    /// Differences between clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Spanned<OverrideSpec>>,
    /// Apps (`team/app`, or `app` of the same team) that must be Current in a cluster before this one is applied there. What is
    /// applied already is not held back. Where one of them does not go, this one is not applied (FW1145).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// What happens when a cluster is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Spanned<FailoverSpec>>,
    /// What must not leave it short. Default: what the Team states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survive: Option<Spanned<Survive>>,
    /// How traffic follows replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Spanned<serde_json::Value>>,
    /// How a change rolls over clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Spanned<serde_json::Value>>,
    /// Freeze it as it is: its counts and clusters stay, and nothing of it is deleted. What its manifests say is still
    /// applied. `fleetwright suspend` does the same without a change of this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Spanned<bool>>,
    /// Whether its objects are deleted when they leave the repository or a cluster. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<Spanned<bool>>,
    /// Never two running copies: it goes to one cluster at a time, and starts in another only after its pods were seen
    /// gone from the first, or a person confirmed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<Spanned<bool>>,
    /// Names it had before (`team/app`, or `app` of the same team), the last one first. What is recorded of the first of
    /// them that is recorded is its own: a rename, or a move from team to team, moves no replica and deletes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_names: Option<Spanned<Vec<Spanned<SmolStr>>>>,
    /// `Ignore`: no tide moves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tide: Option<Spanned<AppTide>>,
}

/// The loss that must leave every replica of an app a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub enum Survive {
    /// The loss of any one cluster.
    #[serde(rename = "any-cluster")]
    AnyCluster,
    /// The loss of all clusters of any one region.
    #[serde(rename = "any-region")]
    AnyRegion,
}

/// A Helm chart or a Kustomize folder.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SourceSpec {
    /// A Helm chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmSource>,
    /// A Kustomize folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kustomize: Option<KustomizeSource>,
    /// Different values for some clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantSpec>,
}

/// A Helm chart.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HelmSource {
    /// Where it is.
    pub chart: SmolStr,
    /// Its version.
    pub version: SmolStr,
    /// Values files beside the App.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<SmolStr>,
}

/// A Kustomize folder.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KustomizeSource {
    /// Its path, relative to the App file's folder.
    pub path: SmolStr,
}

/// Different values for some clusters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct VariantSpec {
    /// Its name.
    pub name: SmolStr,
    /// Its clusters.
    pub clusters: ClusterSelector,
    /// Further values files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<SmolStr>,
}

/// One image to rewrite.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ImageSpec {
    /// The image as manifests name it, without tag or digest.
    pub name: Spanned<SmolStr>,
    /// Another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_name: Option<SmolStr>,
    /// Another tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<SmolStr>,
    /// A digest, `sha256:…`; replaces the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<SmolStr>,
}

/// A rule for single workloads or objects.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ObjectRule {
    /// Which objects of the app.
    #[serde(rename = "match")]
    pub match_: ObjectMatch,
    /// How their replicas are divided, field by field in place of the app's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<ReplicasSpec>>,
    /// Only on those of the app's clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Spanned<ClusterSelector>>,
    /// `false` keeps a workload whole: it runs in one of the selected clusters. Default: Deployments, ReplicaSets,
    /// ReplicationControllers and Jobs with `completions` are divided, others are kept whole. `true` divides a StatefulSet
    /// too, where overrides of `spec.ordinals.start` give its pods numbers that no two clusters share (else FW1139).
    /// What cannot be divided is refused: a CronJob, a Pod, and a Job that is Indexed or states no `completions` (FW1138).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divide: Option<Spanned<bool>>,
}

/// Which objects of an app. All parts that are stated must hold.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ObjectMatch {
    /// The kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Spanned<SmolStr>>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<SmolStr>>,
    /// Labels that must be present with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<SmolStr, SmolStr>,
}

/// What happens when a cluster is lost.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FailoverSpec {
    /// How long a cluster must not answer before this app leaves it, where it tolerates nothing else. Default: what the
    /// Fleet says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Duration>,
    /// In which order copies go and come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_mode: Option<PurgeMode>,
    /// State to carry over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<PreserveRule>,
    /// Whether it goes back by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_back: Option<FailBack>,
}

/// State to carry over.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PreserveRule {
    /// A path in the object's status.
    pub path: SmolStr,
    /// The label it is injected as.
    pub label: SmolStr,
}

/// Whether an app goes back by itself.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FailBack {
    /// How long the returned cluster must have been Ready.
    pub soak: Duration,
}
