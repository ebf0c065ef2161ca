//! Where an app runs and how its replicas are divided, with every layer resolved.

use super::{Cluster, ClusterSet, Selector};
use crate::api::{Capacity, Strategy};
use crate::base::taint::Toleration;
use crate::base::{Digest, FileId, SmolStr, Span};

/// Where an app runs, with every layer resolved.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Clusters that match the selector and that the team may use.
    pub candidates: ClusterSet,
    /// The selector, for reasons; `None`: no layer states one.
    pub selector: Option<Selector>,
    /// Which layer each field came from, for `why`.
    pub layers: Vec<(PlacementField, Layer)>,
    /// Tolerations of all layers.
    pub tolerations: Vec<Toleration>,
    /// Spread constraints.
    pub spread: Vec<Spread>,
    /// How replicas are divided, before rules for single workloads.
    pub replicas: Replicas,
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

/// How replicas are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// The rule; `None` where no layer states one, which is an error once more than one cluster is selected.
    pub strategy: Option<Strategy>,
    /// Replaces the manifest's replicas.
    pub total: Option<u32>,
    /// Static weights; `None`: none stated, 1 each.
    pub weights: Option<Vec<WeightRule>>,
    /// What happens when room is short.
    pub capacity: Capacity,
    /// At least so many replicas in each cluster that is used.
    pub min: u32,
    /// At most so many replicas in each cluster.
    pub max: Option<u32>,
    /// Digest of strategy, weight rules and weighBy, as text: what the lock compares.
    pub digest: Digest,
}

/// One weight rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightRule {
    /// The clusters it is for.
    pub clusters: ClusterSet,
    /// The weight.
    pub weight: u32,
    /// At least so many replicas.
    pub min: Option<u32>,
    /// At most so many replicas.
    pub max: Option<u32>,
}
