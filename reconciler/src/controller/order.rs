//! What is ordered for one cluster, as data that threads can share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::model::CustomKind;

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
    /// What the fleet teaches about custom kinds.
    pub kinds: Arc<[Arc<CustomKind>]>,
    /// Names of workloads as in `placements/`.
    pub workload_keys: Arc<BTreeMap<Key, SmolStr>>,
    /// Pools of the Cluster file, in its order, with the labels of their nodes.
    pub pools: Vec<(SmolStr, Labels)>,
}

impl ClusterOrder {
    /// Whether it asks for the same as another, however long ago either was fetched.
    #[must_use]
    pub fn asks_the_same(&self, other: &Self) -> bool {
        let Self {
            fleet,
            recorded_uid,
            live_commit,
            ancestors: _, // a property of the commit, as the rest is of what it was compiled from
            term,
            fetched_secs: _,
            desired,
            intents: _,
            floors,
            approvals,
            rules,
            kinds,
            workload_keys: _,
            pools,
        } = self;
        (fleet, recorded_uid, live_commit, term, desired.digest())
            == (&other.fleet, &other.recorded_uid, &other.live_commit, &other.term, other.desired.digest())
            && (floors, approvals, rules, kinds, pools)
                == (&other.floors, &other.approvals, &other.rules, &other.kinds, &other.pools)
    }

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
