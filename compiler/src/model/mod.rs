//! The fleet as the compiler works on it: valid, resolved, dense.
//!
//! Invariants: every name in it was resolved to an id or reported; clusters ascend by name, teams by name, apps by
//! (team, app), objects by key, so that ids order as names do; no spans but those that messages need.
//! A new kind of the API is lowered in a file of its own below `lower`; a new rule over the whole fleet is a check of its
//! own below `check`.

mod app;
mod app_selector;
pub mod check;
mod cluster;
mod cluster_set;
pub mod lower;
mod placement;
mod rule;
mod selector;
mod team;
mod tide;
pub mod tides;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{IntOrPercent, Plaintext};
use crate::base::{AppId, ClusterId, FileId, SmolStr, TeamId};

pub use crate::api::{ClusterMode, Drift};
pub use crate::kinds::custom::{CustomKind, HealthRules};
pub use crate::kinds::replicas::WorkloadKind;
pub use app::{App, MinAvailable, Object, Steps};
pub use app_selector::{AppSelector, Rank, Specificity};
pub use cluster::{Cluster, Connection, Pool, ServedApi};
pub use cluster_set::ClusterSet;
pub use placement::{Layer, LayerKind, Placement, PlacementField, Spread, Tier, Tiers, TopologyKey};
pub use rule::{OverrideRule, RuleLayer, Target};
pub use selector::{Mismatch, Selector};
pub use team::{NamespaceRule, Quota, ServiceAccount, Team};
pub use tide::{Phase, Tide};
pub use workload::{Autoscaled, AutoscaledPolicy, Bounds, Replicas, Share, WeightRule, Workload, bounds, is_static};

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
    /// What WorkloadKinds teach, shipped ones included, ascending by (group, kind).
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
    /// The name of the fleet, as inventories in clusters have it. Empty where there is no Fleet.
    pub name: SmolStr,
    /// Where the Fleet is written.
    pub file: Option<FileId>,
    /// The branch of the record. Default `live`.
    pub live_branch: SmolStr,
    /// People's branch. Default `main`.
    pub intents_branch: SmolStr,
    /// The branch that rendered manifests are written to, if they are.
    pub rendered_branch: Option<SmolStr>,
    /// What a change may do without an approval.
    pub limits: Limits,
    /// Field managers whose fields are taken over when an object that already runs is adopted, in the order of the file.
    pub adopt_managers: Vec<SmolStr>,
    /// What happens to changes made by hand in a cluster.
    pub drift: Drift,
    /// When lost clusters are failed over.
    pub failover: Failover,
    /// Whether Secrets may lie in the clear.
    pub plaintext: Plaintext,
    /// `${fleet.values.x}`.
    pub values: BTreeMap<SmolStr, SmolStr>,
}

/// What a change may do without an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How much it may delete; `None`: nobody stated it.
    pub deletions: Option<DeletionLimit>,
}

impl Limits {
    /// How many of so many objects may go without an approval. Where nobody stated it: 10, or a fifth of all where that is
    /// more; a stated share is always one object at least.
    #[must_use]
    pub fn allowed_deletions(self, of: u64) -> u64 {
        let share = |percent: u32| of.saturating_mul(u64::from(percent)) / 100;
        match self.deletions {
            None => share(20).max(10),
            Some(DeletionLimit { share_percent, count }) => {
                let by_share = share_percent.map_or(u64::MAX, |percent| share(percent).max(1));
                by_share.min(count.map_or(u64::MAX, u64::from))
            }
        }
    }
}

/// How much may be deleted in a cluster, and in the whole fleet: what is stated holds, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletionLimit {
    /// At most this share of the objects there are, in percent, 0 to 100.
    pub share_percent: Option<u32>,
    /// At most so many objects.
    pub count: Option<u32>,
}

/// When lost clusters are failed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    /// The most clusters that may look lost at once: more of them hold every failover.
    pub max_clusters: Option<IntOrPercent>,
    /// How long a cluster must not answer before apps leave it that tolerate nothing else.
    pub after_secs: u64,
}

impl Default for Failover {
    /// Kubernetes waits 300 s before it evicts pods from a node that does not answer
    /// (`DefaultTolerationSeconds`), and so does Karmada for clusters.
    fn default() -> Self {
        Self { max_clusters: None, after_secs: 300 }
    }
}
