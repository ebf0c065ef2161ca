//! Where an app runs, with every layer resolved.

use super::{Cluster, ClusterSet, Replicas, Selector};
use crate::api::TierMode;
use crate::base::taint::Toleration;
use crate::base::{ClusterId, FileId, SmolStr, Span};

/// Where an app runs, with every layer resolved.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Clusters that match the selector and that the team may use.
    pub candidates: ClusterSet,
    /// The selector, for reasons; `None`: no layer states one.
    pub selector: Option<Selector>,
    /// Ordered groups of the candidates; each candidate is in one.
    pub tiers: Option<Tiers>,
    /// Apps of the team with the same value of this label share their clusters.
    pub affinity: Option<SmolStr>,
    /// Apps of the team with the same value of this label share no cluster.
    pub anti_affinity: Option<SmolStr>,
    /// Which layer each field came from, for `why`.
    pub layers: Vec<(PlacementField, Layer)>,
    /// Tolerations of all layers.
    pub tolerations: Vec<Toleration>,
    /// Spread constraints.
    pub spread: Vec<Spread>,
    /// How replicas are divided, before rules for single workloads.
    pub replicas: Replicas,
}

/// Ordered groups of clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// Whether one group is used at a time, or later ones take what the earlier cannot.
    pub mode: TierMode,
    /// The groups, first choice first. A cluster is in the first that selects it.
    pub groups: Vec<Tier>,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Its name, as the lock records it.
    pub name: SmolStr,
    /// Its clusters; no cluster is in two.
    pub clusters: ClusterSet,
}

impl Placement {
    /// The groups, where one of them is used at a time.
    #[must_use]
    pub fn first_fit(&self) -> Option<&[Tier]> {
        self.tiers.as_ref().filter(|tiers| tiers.mode == TierMode::FirstFit).map(|tiers| tiers.groups.as_slice())
    }

    /// Which group a cluster fills with, where later groups take what the earlier cannot; 0 without such groups.
    #[must_use]
    pub fn overflow_tier(&self, cluster: ClusterId) -> u32 {
        let tiers = self.tiers.as_ref().filter(|tiers| tiers.mode == TierMode::Overflow);
        let position = tiers.and_then(|tiers| tiers.groups.iter().position(|tier| tier.clusters.contains(cluster)));
        position.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
    }
}

/// A top-level field of `placement`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlacementField {
    /// `clusters`
    Clusters,
    /// `tolerations`
    Tolerations,
    /// `spread`
    Spread,
    /// `replicas`
    Replicas,
    /// `affinity`
    Affinity,
    /// `antiAffinity`
    AntiAffinity,
    /// `move`
    Move,
}

/// Which file a field came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// What kind of file.
    pub kind: LayerKind,
    /// The name of what it defines.
    pub name: SmolStr,
    /// The file.
    pub file: FileId,
    /// Where the field is written.
    pub span: Span,
}

/// The layers of placement, most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The App itself.
    App,
    /// A PlacementPolicy.
    Policy,
    /// The Team.
    Team,
    /// The Fleet's defaults.
    Fleet,
}

/// One spread constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// What it spreads over.
    pub key: TopologyKey,
    /// At least so many groups hold a replica.
    pub min: u32,
    /// At most so many groups are used.
    pub max: Option<u32>,
}

/// What clusters are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopologyKey {
    /// Each cluster is a group.
    Cluster,
    /// By region.
    Region,
    /// By the sorted list of zones.
    Zone,
    /// By provider.
    Provider,
    /// By the value of a label.
    Label(SmolStr),
}

impl TopologyKey {
    /// The group a cluster is in; `None` where it has no value.
    #[must_use]
    pub fn group(&self, cluster: &Cluster) -> Option<SmolStr> {
        match self {
            Self::Cluster => Some(cluster.name.clone()),
            Self::Region => cluster.region.clone(),
            Self::Provider => cluster.provider.clone(),
            Self::Zone => (!cluster.zones.is_empty()).then(|| cluster.zones.join(",").into()),
            Self::Label(key) => cluster.labels.get(key).cloned(),
        }
    }

    /// As written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cluster => "cluster",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Provider => "provider",
            Self::Label(key) => key,
        }
    }
}
