//! The result of scheduling.

use super::deficit::Deficit;
use super::stage::Stage;
use super::state::{Weights, by_cluster};
use super::verdict::{Shared, verdicts};
use crate::api::Lifecycle;
use crate::base::{AppId, ClusterId, PoolId, SmolStr, workload_numbers};
use crate::divide::share::divide_by_seats;
use crate::model::{ClusterSet, Mismatch, Share};

/// What should run, by app id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// By app id.
    pub apps: Vec<AppTarget>,
    /// Whether another pass would change nothing. The check refuses a target that is not.
    pub settled: bool,
    /// Replicas that ran and no longer fit where they were, whether they found another place or not; ascending.
    pub displaced: Vec<Displaced>,
    /// Pools in which more must run than their nodes hold, by (cluster, pool).
    pub overdrawn: Vec<Overdrawn>,
    /// Clusters that are full with less than what stated weights ask for; the rest runs elsewhere, or is unplaced. Ascending.
    pub below_weight: Vec<BelowWeight>,
    /// Pools whose autoscaler must add nodes for what runs there, by (cluster, pool).
    pub growing: Vec<Growing>,
}

/// A workload that a full cluster has less of than its weight asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BelowWeight {
    /// The app.
    pub app: AppId,
    /// Which of its workloads.
    pub workload: u16,
    /// Where.
    pub cluster: ClusterId,
    /// Replicas it has there.
    pub replicas: u32,
    /// Replicas that it would have if there were room.
    pub asked: u32,
}

/// A pool that needs more nodes than exist, and may have them (`scalableTo`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Growing {
    /// The cluster.
    pub cluster: ClusterId,
    /// The pool.
    pub pool: PoolId,
    /// How many more nodes; at least one.
    pub nodes: u64,
}

/// Replicas that ran in a pool which no longer holds them: nodes vanished, requests grew.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Displaced {
    /// The app.
    pub app: AppId,
    /// Which of its workloads.
    pub workload: u16,
    /// Where they were.
    pub cluster: ClusterId,
    /// The pool; `None` where it is no longer there.
    pub pool: Option<PoolId>,
    /// How many.
    pub replicas: u32,
    /// By how much all that ran in the pool exceeds its nodes, by resource.
    pub short: Vec<(SmolStr, i128)>,
}

/// A pool that holds less than what must run in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overdrawn {
    /// The cluster.
    pub cluster: ClusterId,
    /// The pool.
    pub pool: PoolId,
    /// By how much, by resource.
    pub short: Vec<(SmolStr, i128)>,
    /// What is booked there whatever fits: app, workload, replicas, and why.
    pub by: Vec<(AppId, u16, u32, InFull)>,
}

/// Why replicas are booked whatever fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InFull {
    /// It is on a move in steps, and its room is kept for it at both ends.
    Moving,
    /// A person froze the app.
    Suspended,
    /// `capacity: Ignore`.
    Ignored,
    /// Its data lies there.
    Bound,
    /// It never runs in two clusters.
    Exclusive,
    /// An override writes the number.
    Written,
}

/// Where one app should run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppTarget {
    /// The selected clusters. Objects without replicas follow the workloads; without workloads they go to all of these.
    pub clusters: ClusterSet,
    /// The tier in use, where one of several is used at a time: its position.
    pub tier: Option<u16>,
    /// Seats with at least one replica, ascending by (workload, cluster, pool).
    pub seats: Vec<Seat>,
    /// Why each other cluster was not selected, or gets nothing: classes of clusters, each with one verdict, ascending.
    pub verdicts: Vec<(Verdict, ClusterSet)>,
    /// What could not be done.
    pub deficits: Vec<Deficit>,
    /// Workloads whose changed strategy or weights could not be applied, with the digest they still follow.
    pub former_weights: Vec<(u16, SmolStr)>,
}

/// Replicas of a workload in a pool of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat {
    /// Which of the app's workloads.
    pub workload: u16,
    /// The cluster.
    pub cluster: ClusterId,
    /// The pool; `None` where only one is eligible, or capacity is unknown.
    pub pool: Option<PoolId>,
    /// How many, as divided: an override of replicas is not in it.
    pub replicas: u32,
    /// A Job's completions.
    pub completions: Option<u32>,
    /// Fewest and most replicas of what an autoscaler owns; `replicas` is one of the two.
    pub bounds: Option<(u32, u32)>,
}

/// Why a cluster is not selected, or gets nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The selector does not match.
    Mismatch(Mismatch),
    /// The team may not use it.
    Team,
    /// It is in no tier.
    NoTier,
    /// Another tier is in use: its name.
    OtherTier(SmolStr),
    /// The group that it shares its clusters with is not there: `key=value`.
    NotWithGroup(SmolStr),
    /// One of the group that it shares no cluster with is there: `key=value`.
    TakenByGroup(SmolStr),
    /// A taint that is not tolerated: `key=value:effect`.
    Taint(SmolStr),
    /// It serves no such kind: `group/version kind`.
    ApiNotServed(SmolStr),
    /// It takes no new replicas.
    Lifecycle(Lifecycle),
    /// It does not answer, or came back and is being cleaned.
    Unhealthy,
    /// The app is evicted from it.
    Evicted,
    /// One replica is larger than any of its nodes that may run it.
    LargerThanNode {
        /// The resource.
        resource: SmolStr,
        /// What a replica asks for.
        needed: i128,
        /// The largest node.
        largest: i128,
    },
    /// No pool's nodes may run it: node selector, affinity or node taints.
    NoEligiblePool,
    /// No room for one replica, or for all where all must fit.
    NoRoom {
        /// The resource that is short.
        resource: SmolStr,
        /// What is asked for.
        needed: i128,
        /// What is left.
        free: i128,
    },
    /// Not all pods of a set fit beside each other.
    NoRoomForSet {
        /// The part that is short.
        part: SmolStr,
        /// How many pods it has.
        pods: u32,
        /// How many of them fit beside the parts that were placed first.
        fits: u32,
        /// The resource that the next one is short of.
        resource: SmolStr,
        /// What it asks for.
        needed: i128,
        /// The largest piece that is left.
        free: i128,
    },
    /// A per-cluster bound leaves no place for it.
    Bound,
    /// No weight rule matches it, or its weight is 0.
    NoWeight,
    /// A rule of the app's `objects` keeps the workload out of it.
    ObjectRule,
    /// Its share rounds to zero.
    RoundedToZero,
    /// The spread allows no more groups, or fewer clusters suffice.
    NotChosen,
    /// The quota leaves nothing.
    Quota,
    /// Nothing is added unless all replicas find a place, and not all of them do.
    NotAll,
    /// Supposed to be lost.
    SupposedLost,
}

/// The target of a stage that has settled.
pub(super) fn target(stage: &mut Stage<'_, '_>) -> Target {
    let ids: Vec<AppId> = stage.view.fleet.app_ids().collect();
    let mut shared = Shared::default();
    let apps = ids.into_iter().map(|id| app_target(stage, &mut shared, id)).collect();
    Target {
        apps,
        settled: false,
        displaced: stage.what_was_displaced(),
        overdrawn: stage.what_is_overdrawn(),
        below_weight: stage.what_is_below_weight(),
        growing: stage.what_must_grow(),
    }
}

fn app_target<'a>(stage: &mut Stage<'_, 'a>, shared: &mut Shared<'a>, id: AppId) -> AppTarget {
    let state = &stage.apps[id.index()];
    let mut seats = Vec::new();
    let mut former_weights = Vec::new();
    for (index, workload) in workload_numbers().zip(&state.workloads) {
        if let Weights::Former(digest) = &workload.weights {
            former_weights.push((index, digest.clone()));
        }
        let seat = |row: &super::state::Row| Seat {
            workload: index,
            cluster: row.cluster,
            pool: row.pool,
            replicas: row.replicas,
            completions: None,
            bounds: None,
        };
        let from = seats.len();
        seats.extend(workload.rows.iter().map(seat));
        if stage.view.leads_to(id).is_some() {
            stage.view.recorded_counts(id, usize::from(index), &mut seats[from..]);
            continue;
        }
        complete(stage, id, usize::from(index), &mut seats[from..]);
        bound(stage, id, usize::from(index), &mut seats[from..]);
    }
    let mut deficits = std::mem::take(&mut stage.deficits[id.index()]);
    stage.look_around(id);
    deficits.extend(stage.broken_groups(id));
    deficits.extend(stage.what_gave_way(id, &deficits));
    deficits.sort();
    AppTarget {
        tier: stage.apps[id.index()].tier,
        clusters: stage.apps[id.index()].clusters.clone(),
        seats,
        verdicts: verdicts(stage, shared, id, &deficits),
        deficits,
        former_weights,
    }
}

/// Divides a Job's completions by its seats: over the clusters first, then over the pools of each.
fn complete(stage: &Stage<'_, '_>, id: AppId, workload: usize, seats: &mut [Seat]) {
    let w = stage.view.workload(id, workload);
    let Some(completions) = w.completions else { return };
    let copied = w.share == Share::Everywhere;
    let by_cluster: Vec<u32> = {
        let rows = &stage.apps[id.index()].workloads[workload].rows;
        by_cluster(rows).into_iter().map(|(_, replicas)| replicas).collect()
    };
    let parts = if copied { vec![completions; by_cluster.len()] } else { divide_by_seats(completions, &by_cluster) };
    for (seats, part) in seats.chunk_by_mut(|a, b| a.cluster == b.cluster).zip(parts) {
        let replicas: Vec<u32> = seats.iter().map(|seat| seat.replicas).collect();
        for (seat, part) in seats.iter_mut().zip(divide_by_seats(part, &replicas)) {
            seat.completions = Some(part);
        }
    }
}

/// Divides the bounds of an autoscaler by the seats: over the clusters first, then over the pools of each.
fn bound(stage: &Stage<'_, '_>, id: AppId, workload: usize, seats: &mut [Seat]) {
    let w = stage.view.workload(id, workload);
    let Some(autoscaled) = w.autoscaled else { return };
    let by_cluster: Vec<u32> =
        by_cluster(&stage.apps[id.index()].workloads[workload].rows).into_iter().map(|(_, n)| n).collect();
    let bounds = autoscaled.bounds(&by_cluster, w.share == Share::Everywhere);
    for (seats, (min, max)) in seats.chunk_by_mut(|a, b| a.cluster == b.cluster).zip(bounds) {
        let replicas: Vec<u32> = seats.iter().map(|seat| seat.replicas).collect();
        let parts = divide_by_seats(min, &replicas).into_iter().zip(divide_by_seats(max, &replicas));
        for (seat, part) in seats.iter_mut().zip(parts) {
            seat.bounds = Some(part);
        }
    }
}
