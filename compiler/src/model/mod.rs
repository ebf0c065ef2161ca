//! The fleet as the compiler works on it: valid, resolved, dense.
//!
//! Invariants: every name in it was resolved to an id or reported; clusters ascend by name, teams by name, apps by
//! (team, app), objects by key, so that ids order as names do; no spans but those that messages need.
//! A new kind of the API is lowered in a file of its own below `lower`; a new rule over the whole fleet is a check of its
//! own below `check`.

mod app_selector;
pub mod check;
mod cluster_set;
mod custom_kind;
pub mod lower;
mod rule;
mod selector;
mod tide;
pub mod tides;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Capacity, Lifecycle, Plaintext, Strategy};
use crate::base::labels::Labels;
use crate::base::taint::{Taint, Toleration};
use crate::base::{AppId, ClusterId, Digest, FileId, Resources, SmolStr, Span, Spanned, TeamId};
use crate::parse::{Facts, ObjKey, Template};

pub use crate::kinds::replicas::WorkloadKind;
pub use app_selector::{AppSelector, Rank, Specificity};
pub use cluster_set::ClusterSet;
pub use custom_kind::{CustomKind, HealthRules};
pub use rule::{OverrideRule, RuleLayer, Target};
pub use selector::{Mismatch, Selector};
pub use tide::{Phase, Tide};

/// A valid fleet.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Settings of the repository.
    pub settings: Settings,
    /// Clusters, ascending by name. At most 65,535.
    pub clusters: Vec<Arc<Cluster>>,
    /// Teams, ascending by name.
    pub teams: Vec<Arc<Team>>,
    /// Apps, ascending by (team, app).
    pub apps: Vec<Arc<App>>,
    /// Tides, ascending by name.
    pub tides: Vec<Arc<Tide>>,
    /// What WorkloadKinds teach, ascending by (group, kind).
    pub kinds: Vec<Arc<CustomKind>>,
}

impl Fleet {
    /// The cluster of that name.
    #[must_use]
    pub fn cluster_id(&self, name: &str) -> Option<ClusterId> {
        let index = self.clusters.binary_search_by(|c| c.name.as_str().cmp(name)).ok()?;
        u16::try_from(index).ok().map(ClusterId)
    }

    /// All cluster ids, ascending.
    pub fn cluster_ids(&self) -> impl Iterator<Item = ClusterId> + use<> {
        (0..u16::try_from(self.clusters.len()).unwrap_or(u16::MAX)).map(ClusterId)
    }

    /// The app of that team and name.
    #[must_use]
    pub fn app_id(&self, team: &str, app: &str) -> Option<AppId> {
        let key = |a: &Arc<App>| (self.team(a.team).name.as_str().cmp(team)).then(a.name.as_str().cmp(app));
        let index = self.apps.binary_search_by(key).ok()?;
        u32::try_from(index).ok().map(AppId)
    }

    /// All app ids, ascending.
    pub fn app_ids(&self) -> impl Iterator<Item = AppId> + use<> {
        (0..u32::try_from(self.apps.len()).unwrap_or(u32::MAX)).map(AppId)
    }

    /// A team.
    #[must_use]
    pub fn team(&self, id: TeamId) -> &Team {
        &self.teams[id.index()]
    }

    /// A cluster.
    #[must_use]
    pub fn cluster(&self, id: ClusterId) -> &Cluster {
        &self.clusters[id.index()]
    }

    /// An app.
    #[must_use]
    pub fn app(&self, id: AppId) -> &App {
        &self.apps[id.index()]
    }

    /// `team/app`.
    #[must_use]
    pub fn app_name(&self, id: AppId) -> String {
        let app = self.app(id);
        format!("{}/{}", self.team(app.team).name, app.name)
    }
}

/// Settings of the repository.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where the Fleet is written.
    pub file: Option<FileId>,
    /// The branch of the record. Default `live`.
    pub live_branch: SmolStr,
    /// People's branch. Default `main`.
    pub intents_branch: SmolStr,
    /// Whether Secrets may lie in the clear.
    pub plaintext: Plaintext,
    /// `${fleet.values.x}`.
    pub values: BTreeMap<SmolStr, SmolStr>,
}

/// A cluster as its file states it. What was observed of it is in the record.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// Who runs it.
    pub provider: Option<SmolStr>,
    /// Its region.
    pub region: Option<SmolStr>,
    /// Its zones, sorted.
    pub zones: Vec<SmolStr>,
    /// Its labels, the well-known ones filled in.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Its node pools; `None` where capacity is not stated.
    pub pools: Option<Vec<Pool>>,
    /// Factors on allocatable resources as (numerator, denominator).
    pub overcommit: BTreeMap<SmolStr, (u64, u64)>,
    /// Resources that are never booked.
    pub reserved: Resources,
    /// What it serves beyond Kubernetes' own kinds; `None`: everything.
    pub apis: Option<Vec<ServedApi>>,
    /// `${cluster.values.x}`.
    pub values: BTreeMap<SmolStr, SmolStr>,
    /// Whether it takes replicas, as its file says.
    pub lifecycle: Lifecycle,
}

/// One API group version of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedApi {
    /// The group; `""` is the core group.
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
    /// Its kinds; `None`: all.
    pub kinds: Option<Vec<SmolStr>>,
}

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: SmolStr,
    /// How many nodes there are.
    pub nodes: u32,
    /// Allocatable resources of one node.
    pub allocatable: Resources,
    /// Node labels.
    pub labels: Labels,
    /// Node taints.
    pub taints: Vec<Taint>,
    /// The node count an autoscaler can grow to.
    pub scalable_to: Option<u32>,
}

/// A team.
#[derive(Clone, Debug)]
pub struct Team {
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// The namespaces it may use.
    pub namespaces: Vec<NamespaceRule>,
    /// The clusters it may use.
    pub clusters: ClusterSet,
    /// Its quotas, in the order of its file.
    pub quota: Vec<Quota>,
    /// Kinds allowed beyond the default.
    pub allow: Vec<(SmolStr, SmolStr)>,
    /// Kinds denied.
    pub deny: Vec<(SmolStr, SmolStr)>,
}

/// Namespaces a team may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceRule {
    /// The name, or the prefix.
    pub text: SmolStr,
    /// Whether `text` is a prefix.
    pub prefix: bool,
    /// Labels of the generated Namespace.
    pub labels: Labels,
}

impl NamespaceRule {
    /// Whether it covers a namespace.
    #[must_use]
    pub fn covers(&self, namespace: &str) -> bool {
        if self.prefix { namespace.starts_with(self.text.as_str()) } else { namespace == self.text }
    }
}

/// A quota over some clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Where it is written, in the team's file.
    pub span: Span,
    /// The most that may be asked for, by name (`requests.cpu`, `limits.memory`, `pods`), in the unit of the resource.
    pub hard: BTreeMap<SmolStr, i128>,
    /// The clusters it counts in.
    pub clusters: ClusterSet,
}

/// An app, with its objects.
#[derive(Clone, Debug)]
pub struct App {
    /// Its team.
    pub team: TeamId,
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// Set on its objects of namespaced kinds that name none.
    pub namespace: Option<Spanned<SmolStr>>,
    /// Its labels.
    pub labels: Labels,
    /// Its priority: higher is placed first.
    pub priority: i32,
    /// Where it runs.
    pub placement: Placement,
    /// Its objects, ascending by key.
    pub objects: Vec<Object>,
    /// Its workloads, ascending by (kind, name, namespace).
    pub workloads: Vec<Workload>,
    /// Its images, then the overrides of the fleet, the team and the app, then enforced ones: the order of application.
    pub overrides: Vec<Arc<OverrideRule>>,
}

/// An object of an app.
#[derive(Clone, Debug)]
pub struct Object {
    /// Group, version, kind, namespace (resolved), name.
    pub key: ObjKey,
    /// Whether its kind lies in namespaces.
    pub namespaced: bool,
    /// Where it is written.
    pub file: FileId,
    /// The document in that file.
    pub doc: u16,
    /// Where the object lies in its document, for items of a List.
    pub item: Option<u32>,
    /// What was read of it without keeping its tree.
    pub facts: Facts,
    /// Its text.
    pub template: Arc<Template>,
    /// Only on these of the app's clusters, where a rule says so.
    pub only: Option<ClusterSet>,
}

/// How a workload takes part in division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// Its replicas are divided by the strategy.
    Divided,
    /// It runs as a whole in one of the selected clusters.
    Whole,
    /// It runs as it is in every selected cluster (DaemonSets; everything under Duplicated).
    Everywhere,
}

/// A workload of an app.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Which of the app's objects it is.
    pub object: usize,
    /// Its kind.
    pub kind: WorkloadKind,
    /// `apps/Deployment/checkout`, with the namespace before the name where it is not the app's.
    pub key: SmolStr,
    /// How it takes part in division.
    pub share: Share,
    /// Replicas to place: of the manifest, or `total`. For a Job min(parallelism, completions).
    pub replicas: u32,
    /// A Job's completions, divided by the same shares.
    pub completions: Option<u32>,
    /// How its replicas are divided.
    pub policy: Replicas,
}

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
