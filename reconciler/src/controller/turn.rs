//! One turn for one cluster: probe it, bring it nearer to its order, and say what is seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::model::CustomKind;
use serde_json::Value;

use super::order::ClusterOrder;
use crate::apply::live::Assess;
use crate::apply::run::{Applier, PassError, Report};
use crate::cluster::{ClusterApi, ClusterError, GroupKind, Key, Watch};
use crate::health::assess_by;
use crate::observation::{Answers, ClusterSeen, PoolSeen};
use crate::observe::answering::Answering;
use crate::observe::{apps, capacity};
use crate::ports::CommitId;

/// Nodes and pods are listed so often: a decision about capacity is made every 10 minutes at most.
const CAPACITY_EVERY_SECS: i64 = 300;
/// The same where they could not be read: a cluster that was just reached may not have answered every question yet.
const CAPACITY_AGAIN_SECS: i64 = 20;

/// What is remembered of a cluster from turn to turn. It can be lost at any time.
#[derive(Debug, Default)]
pub struct ClusterTurn {
    number: u64,
    applier: Applier,
    /// The rules that health was judged by.
    kinds: Option<Arc<[Arc<CustomKind>]>>,
    answering: Answering,
    uid: Option<SmolStr>,
    clock_ahead_secs: Option<i64>,
    capacity: Option<Vec<PoolSeen>>,
    capacity_secs: Option<i64>,
    /// The pools by which nodes were counted.
    capacity_pools: Vec<(SmolStr, Labels)>,
    applied: Option<CommitId>,
    is_complete: bool,
    runs_only_copies: bool,
    apps: BTreeMap<(SmolStr, SmolStr), crate::observation::AppSeen>,
}

/// What came of a turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Which one of its cluster it is, from 1.
    pub number: u64,
    /// What is seen.
    pub seen: ClusterSeen,
    /// What was done; an error says why nothing was.
    pub outcome: Result<Report, PassError>,
    /// Whether something was written, or the health of an app changed: more is to be seen soon.
    pub is_moving: bool,
    /// Objects that would be deleted if no budget stood in the way, for the budget over all clusters.
    pub doomed: Vec<Key>,
    /// How many objects the inventories list.
    pub applied_objects: usize,
}

/// What a turn saw of the apps of its cluster.
#[derive(Clone, Copy)]
enum View {
    /// What is there now.
    New,
    /// Nothing, and the cluster may only be slow to answer: what was seen holds until it counts as lost.
    Old,
    /// Nothing, of a cluster that goes on answering for as long as it answers probes, or of another one: what was seen must
    /// not count for ever.
    None,
}

impl View {
    fn after(outcome: &Result<Report, PassError>) -> Self {
        match outcome {
            // It is looked at before it is asked how old the order is.
            Ok(_) | Err(PassError::NotFetched(_)) => Self::New,
            Err(PassError::Probe(ClusterError::Transient(_) | ClusterError::NotConnected(_))) => Self::Old,
            Err(
                PassError::Probe(ClusterError::NotServed(_) | ClusterError::Denied(_))
                | PassError::Cluster(_)
                | PassError::OtherCluster { .. }
                | PassError::Superseded { .. }
                | PassError::NotForward { .. }
                | PassError::OtherFleet { .. }
                | PassError::Inventory(_),
            ) => Self::None,
        }
    }
}

impl ClusterTurn {
    /// Takes a turn: brings the cluster nearer to its order, and says what is seen.
    pub fn turn(&mut self, api: &mut dyn ClusterApi, order: &ClusterOrder, now_secs: i64) -> Turn {
        self.take(api, order, now_secs, true)
    }

    /// Says what is seen and what a turn would do, and writes nothing.
    pub fn look(&mut self, api: &mut dyn ClusterApi, order: &ClusterOrder, now_secs: i64) -> Turn {
        self.take(api, order, now_secs, false)
    }

    fn take(&mut self, api: &mut dyn ClusterApi, order: &ClusterOrder, now_secs: i64, writes: bool) -> Turn {
        if self.kinds.as_ref() != Some(&order.kinds) {
            // What is healthy is said anew: all that was seen is judged again.
            self.applier = Applier::default();
            self.kinds = Some(Arc::clone(&order.kinds));
        }
        let assess: Assess<'_> = &|object| assess_by(object, &order.kinds);
        let is_ancestor = |commit: &CommitId| order.ancestors.contains(&commit.0);
        let pass_order = order.as_order(&is_ancestor, assess);
        let outcome = if writes {
            self.applier.pass(api, &pass_order, now_secs)
        } else {
            self.applier.inspect(api, &pass_order, now_secs)
        };
        let dark = api.went_dark();
        let answers_now = match (&outcome, &dark) {
            (Err(PassError::Probe(error @ ClusterError::Transient(_))), _) => {
                self.answering.probed(Err(error.to_string()), now_secs);
                false
            }
            // It was not even asked: nothing is known of it any more, which is not the same as lost.
            (Err(PassError::Probe(ClusterError::NotConnected(_))), _) => {
                self.answering = Answering::default();
                false
            }
            // It answered the probe of this turn, and not the one that was sent once nothing came any more.
            (Ok(_) | Err(_), Some(dark)) => {
                self.answering.probed(Ok(()), now_secs);
                self.answering.probed(Err(dark.why.clone()), now_secs.saturating_add(dark.after_secs));
                false
            }
            // Whoever refuses, answers; and so does whoever answers the probe and is late with something else.
            (Ok(_) | Err(_), None) => {
                self.answering.probed(Ok(()), now_secs);
                true
            }
        };
        self.runs_only_copies = outcome.as_ref().is_ok_and(Report::lacks_replacements);
        self.is_complete = answers_now && outcome.is_ok() && self.applier.sees_all();
        if let Ok(report) = &outcome {
            self.uid = Some(report.identity.uid.clone());
            self.clock_ahead_secs = report.identity.server_secs.map(|theirs| theirs.saturating_sub(now_secs));
            // One that comes back is clean when what was moved away is gone, not when its deletion began.
            let is_done = if order.rules.quarantined { report.is_cleaned() } else { report.is_applied() };
            if is_done {
                self.applied = Some(order.live_commit.clone());
            }
        }
        let every = if self.capacity.is_some() { CAPACITY_EVERY_SECS } else { CAPACITY_AGAIN_SECS };
        let due = self.capacity_secs.is_none_or(|at| now_secs.saturating_sub(at) >= every || at > now_secs);
        // The nodes of another cluster under this name are none of the one whose capacity is recorded.
        let is_other = matches!(outcome, Err(PassError::OtherCluster { .. }));
        if is_other {
            self.capacity = None;
        } else if answers_now && (due || self.capacity_pools != order.pools) {
            self.capacity = self.look_at_nodes(api, order);
            self.capacity_pools.clone_from(&order.pools);
            self.capacity_secs = Some(now_secs);
        }
        let mut is_moving = outcome.as_ref().is_ok_and(|report| report.writes > 0);
        match (View::after(&outcome), self.applier.book()) {
            (View::New, Some(book)) => {
                let live = self.applier.live();
                let apps = apps::apps(&order.desired, book, live, &order.workload_keys, &self.apps, now_secs);
                is_moving |= apps != self.apps;
                self.apps = apps;
            }
            (View::New, None) | (View::Old, _) => {}
            (View::None, _) => is_moving |= apps::unseen(&mut self.apps, now_secs),
        }
        let doomed = self.uid.as_deref().map(|uid| self.applier.doomed(&pass_order, uid, now_secs)).unwrap_or_default();
        let book = self.applier.book().into_iter().flat_map(BTreeMap::values);
        let applied_objects = book.map(|stored| stored.inventory.objects.len()).sum();
        self.number += 1;
        Turn { number: self.number, seen: self.seen(), outcome, is_moving, doomed, applied_objects }
    }

    fn seen(&self) -> ClusterSeen {
        ClusterSeen {
            answers: self.answering.answers().clone(),
            uid: self.uid.clone(),
            clock_ahead_secs: self.clock_ahead_secs,
            capacity: self.capacity.clone(),
            applied: self.applied.clone(),
            is_complete: self.is_complete,
            runs_only_copies: self.runs_only_copies,
            // A cluster that does not answer shows nothing: its replicas count for nobody.
            apps: if matches!(self.answering.answers(), Answers::No { .. }) {
                BTreeMap::new()
            } else {
                self.apps.clone()
            },
        }
    }

    fn look_at_nodes(&self, api: &mut dyn ClusterApi, order: &ClusterOrder) -> Option<Vec<PoolSeen>> {
        let list = |api: &mut dyn ClusterApi, kind: &str| -> Option<Vec<Arc<Value>>> {
            let watch = Watch { kind: GroupKind::new("", kind), selector: None, metadata_only: false };
            api.list(&watch, None).ok()
        };
        let book = self.applier.book()?;
        let (nodes, pods) = (list(api, "Node")?, list(api, "Pod")?);
        let is_ours = |owner: &Key| book.values().any(|stored| stored.inventory.objects.contains_key(owner));
        Some(capacity::pools(&order.pools, &nodes, &pods, &is_ours))
    }
}
