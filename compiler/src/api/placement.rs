//! `placement`: where an app runs and how its replicas are divided.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{ClusterSelector, Duration, IntOrPercent, Weights};
use crate::base::labels::LabelRequirement;
use crate::base::taint::Toleration;
use crate::base::{SmolStr, Spanned};
use std::collections::BTreeMap;

/// Where an app runs. Each top-level field comes whole from the most specific layer that sets it (App, PlacementPolicy,
/// Team, Fleet); tolerations of all layers add up.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacementSpec {
    /// Which clusters are candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Spanned<PlacementClusters>>,
    /// Cluster taints that are tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Spanned<Toleration>>,
    /// Spread over clusters, regions, zones, providers or the values of any cluster label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spanned<Vec<Spanned<SpreadSpec>>>>,
    /// How replicas are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<ReplicasSpec>>,
    /// Apps of one team with the same value of this label share their clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Spanned<GroupBy>>,
    /// Apps of one team with the same value of this label never share a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anti_affinity: Option<Spanned<GroupBy>>,
    /// How replicas move between clusters.
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    pub move_: Option<Spanned<MoveSpec>>,
}

/// A cluster selector, with tiers.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacementClusters {
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
    /// Ordered groups of the clusters above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers: Option<Spanned<TiersSpec>>,
}

impl PlacementClusters {
    /// The selector without the tiers.
    #[must_use]
    pub fn selector(&self) -> ClusterSelector {
        let Self { match_labels, match_expressions, names, exclude, providers, regions, zones, tiers: _ } = self;
        ClusterSelector {
            match_labels: match_labels.clone(),
            match_expressions: match_expressions.clone(),
            names: names.clone(),
            exclude: exclude.clone(),
            providers: providers.clone(),
            regions: regions.clone(),
            zones: zones.clone(),
        }
    }
}

/// Ordered groups of clusters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TiersSpec {
    /// Whether one group is used at a time or later groups take what does not fit.
    pub mode: TierMode,
    /// The groups, first choice first.
    pub groups: Vec<TierGroup>,
}

/// How tiers are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum TierMode {
    /// The first group that holds all replicas.
    FirstFit,
    /// Later groups take what the earlier ones cannot.
    Overflow,
}

/// One tier.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TierGroup {
    /// Its name, recorded in `placements/`.
    pub name: Spanned<SmolStr>,
    /// Its clusters.
    pub clusters: ClusterSelector,
}

/// One spread constraint.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SpreadSpec {
    /// `cluster`, `region`, `zone`, `provider`, or a cluster label.
    pub topology_key: Spanned<SmolStr>,
    /// At least this many groups hold a replica after division. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Spanned<u32>>,
    /// At most this many groups are used. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Spanned<u32>>,
}

/// A count that Kubernetes takes as replicas, whose type there is a signed one of 32 bits.
fn replica_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Spanned<u32>>, D::Error> {
    /// Refused where it is read, so that the place is the value's.
    struct Count(u32);
    impl<'de> Deserialize<'de> for Count {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let count = u32::deserialize(deserializer)?;
            match i32::try_from(count) {
                Ok(_) => Ok(Self(count)),
                Err(_) => Err(D::Error::custom(format!("must be at most {}", i32::MAX))),
            }
        }
    }
    let count = Option::<Spanned<Count>>::deserialize(deserializer)?;
    Ok(count.map(|count| Spanned::new(count.value.0, count.span)))
}

/// How the replicas of each divisible workload are divided over the selected clusters.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ReplicasSpec {
    /// The rule of division. Must be stated in some layer as soon as more than one cluster is selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Spanned<Strategy>>,
    /// Replaces the manifest's replicas before dividing. At most 2147483647, as Kubernetes' own.
    #[serde(default, deserialize_with = "replica_count", skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2_147_483_647))]
    pub total: Option<Spanned<u32>>,
    /// Static weights; a cluster takes the largest of the rules that match it, and one that no rule matches takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    /// What a dynamic weight is: `Available` (room for replicas), or the name of an estimator in `state/estimates/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weigh_by: Option<Spanned<SmolStr>>,
    /// What happens when room is short. Default: Cap for StaticWeight, Require for DynamicWeight and Aggregated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Spanned<Capacity>>,
    /// Bounds for each cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_cluster: Option<Spanned<PerCluster>>,
    /// How autoscaled workloads are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaled: Option<Spanned<AutoscaledReplicas>>,
}

/// The rule of division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub enum Strategy {
    /// Every selected cluster runs all replicas.
    Duplicated,
    /// By the stated weights.
    StaticWeight,
    /// By the room that each cluster has.
    DynamicWeight,
    /// On as few clusters as hold them.
    Aggregated,
}

/// What happens when room is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub enum Capacity {
    /// What fits runs, the rest is reported as unplaced.
    Cap,
    /// Room is not looked at.
    Ignore,
    /// Nothing is added unless everything fits; what is placed stays.
    Require,
}

/// One weight rule.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WeightRule {
    /// The clusters it is for; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterSelector>,
    /// The weight; 0 drains.
    pub weight: Spanned<u32>,
    /// At least this many replicas in each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Spanned<u32>>,
    /// At most this many replicas in each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Spanned<u32>>,
}

/// Bounds for each cluster.
#[derive(Clone, Copy, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PerCluster {
    /// At least this many replicas in each cluster that is used. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Spanned<u32>>,
    /// At most this many replicas in each cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Spanned<u32>>,
}

/// How autoscaled workloads are counted.
#[derive(Clone, Copy, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AutoscaledReplicas {
    /// What is booked as room. Default Min.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<AutoscaledRoom>,
    /// What is counted against quota. Default Max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaCount>,
}

/// Which count of an autoscaled workload is booked as room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum AutoscaledRoom {
    /// The minimum: each cluster's share of it.
    Min,
    /// The count that the controller saw last in each cluster (`state/apps/`), not less than its share of the minimum and not
    /// more than its share of the maximum; the share of the minimum where nothing was seen. What is above the minimum only
    /// keeps new replicas away: it displaces nothing that runs.
    Observed,
    /// The maximum: each cluster's share of it.
    Max,
}

/// Which count of an autoscaled workload is held against quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum QuotaCount {
    /// The maximum.
    Max,
    /// The minimum.
    Min,
}

/// Groups apps by the value of one of their labels.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GroupBy {
    /// The label key.
    pub group_by: Spanned<SmolStr>,
}

/// How replicas move between clusters.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MoveSpec {
    /// The largest step, for each workload that is divided: a share of its total (`20%`, rounded up) or a count of replicas.
    /// Each step raises where they go, waits, and lowers where they come from. Absent: all of them move at once. Failovers
    /// always do, and so do workloads that are never divided, Jobs and sets of several parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Spanned<IntOrPercent>>,
    /// The least time from the begin of one step to that of the next. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Spanned<Duration>>,
    /// No cluster is lowered while fewer would be ready, of each workload, than this part of what is wanted in all clusters
    /// (`80%`, rounded up), or than so many replicas (`3`; all, where fewer are wanted). Default 80%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_available: Option<Spanned<IntOrPercent>>,
    /// What a step waits for before it lowers anything. Default: Current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Spanned<MoveWait>>,
    /// After this long from the begin of a move, a step that is not Current is reported as one that somebody must look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Spanned<Duration>>,
}

/// What a step of a move waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum MoveWait {
    /// All replicas of the raised clusters are ready, of the current generation.
    Current,
}
