//! What is ordered for one cluster, as data that threads can share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::labels::Labels;

use crate::apply::budget::Approvals;
use crate::apply::desired::{Desired, Intents};
use crate::apply::floor::Floors;
use crate::apply::live::Assess;
use crate::apply::run::Order;
use crate::apply::view::Rules;
use crate::cluster::Key;
use crate::ports::CommitId;

/// What is ordered for one cluster.
#[derive(Clone, Debug)]
pub struct ClusterOrder {
    /// The fleet, as inventories name it.
    pub fleet: SmolStr,
    /// The cluster's UID as the record knows it.
    pub recorded_uid: Option<SmolStr>,
    /// The commit of `live`.
    pub live_commit: CommitId,
    /// It and its ancestors, as far as an inventory may name them.
    pub ancestors: Arc<BTreeSet<SmolStr>>,
    /// The term of the decider.
    pub term: u64,
    /// When the repository was fetched last, in seconds since 1970.
    pub fetched_secs: i64,
    /// What should be there.
    pub desired: Arc<Desired>,
    /// What people want at all.
    pub intents: Arc<Intents>,
    /// What must stay ready.
    pub floors: Floors,
    /// Approvals.
    pub approvals: Approvals,
    /// How the cluster is treated.
    pub rules: Rules,
    /// Names of workloads as in `placements/`.
    pub workload_keys: Arc<BTreeMap<Key, SmolStr>>,
    /// Pools of the Cluster file, in its order, with the labels of their nodes.
    pub pools: Vec<(SmolStr, Labels)>,
}

impl ClusterOrder {
    /// The order of one pass.
    #[must_use]
    pub fn as_order<'a>(&'a self, is_ancestor: &'a dyn Fn(&CommitId) -> bool, assess: Assess<'a>) -> Order<'a> {
        Order {
            fleet: &self.fleet,
            recorded_uid: self.recorded_uid.as_deref(),
            live_commit: &self.live_commit,
            term: self.term,
            fetched_secs: self.fetched_secs,
            desired: &self.desired,
            intents: &self.intents,
            floors: &self.floors,
            approvals: &self.approvals,
            rules: &self.rules,
            is_ancestor,
            assess,
        }
    }
}
