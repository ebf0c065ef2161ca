//! Workloads that run as a whole in one of the chosen clusters: StatefulSets, CronJobs, Pods, work-queue Jobs.

use std::cmp::Reverse;

use super::choose::{self, Choice};
use super::divided::capacity;
use super::{Placed, Task, seat};
use crate::api;
use crate::base::{AppId, ClusterId};
use crate::divide::{Candidate, Division, Start, Strategy, divide};
use crate::schedule::select::Failure;
use crate::schedule::stage::Stage;
use crate::schedule::state::{Weights, merged};
use crate::schedule::view::{bounds, is_static};

/// What a cluster has to offer; the greatest gets the workload.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    /// Replicas it holds.
    previous: u32,
    /// Whether all replicas fit.
    fits: bool,
    /// The earlier tier.
    tier: Reverse<u32>,
    /// Where weights are stated.
    weight: u64,
    /// Unknown room comes last.
    room: u64,
    cluster: Reverse<ClusterId>,
}

/// Finds the one cluster of a workload that is taken out of the ledger, and books it there.
///
/// It stays where it is. A new one goes where all of it fits: to the heaviest cluster where weights are stated, then to
/// the one with most room, then by name.
pub(super) fn place(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, choice: &Choice) -> Placed {
    let workload = stage.view.workload(id, task.workload);
    let frozen = choice.failure.is_some_and(|failure| failure != Failure::NoCandidates);
    let leaving = task.held.iter().map(|(_, held)| held.moves.saturating_add(held.unusable)).max().unwrap_or(0);
    let mut best: Option<(Claim, Candidate)> = None;
    for cluster in choose::usable(stage, id, task.workload, choice) {
        let bounds = bounds(workload, cluster);
        let fresh = stage.is_fresh(id, cluster) && !frozen;
        let room = seat::room(stage, id, task.workload, task.wanted, cluster);
        let room = task.shared_room(cluster, room);
        let previous = seat::previous(stage, id, task, cluster, room);
        let quota = task.left.cap(cluster, stage.pod(id, task.workload, cluster));
        let free = room.unwrap_or(u64::from(task.wanted)).min(bounds.max.map_or(u64::MAX, u64::from));
        let free = free.min(quota.map_or(u64::MAX, u64::from));
        let fits = fresh && free >= u64::from(task.wanted);
        let partly = fresh && free > 0 && leaving == 0 && workload.policy.capacity == api::Capacity::Cap;
        if bounds.weight == 0 || !(previous > 0 || fits || partly) {
            continue;
        }
        let weight = if fits && is_static(&workload.policy) { bounds.weight } else { 0 };
        let tier = Reverse(stage.view.fleet.app(id).placement.overflow_tier(cluster));
        let claim = Claim { previous, fits, tier, weight, room: room.unwrap_or(0), cluster: Reverse(cluster) };
        let candidate = Candidate {
            weight: 1,
            room,
            max: bounds.max,
            quota,
            floor: 0,
            witness: false,
            previous,
            vetoed: !fresh,
            tier: 0,
        };
        if best.as_ref().is_none_or(|(other, _)| claim > *other) {
            best = Some((claim, candidate));
        }
    }
    let mut rows = Vec::new();
    let mut placed = 0;
    if let Some((claim, candidate)) = best.filter(|_| task.wanted > 0) {
        let cluster = claim.cluster.0;
        let outcome = divide(&Division {
            strategy: Strategy::StaticWeight,
            capacity: capacity(workload.policy.capacity),
            start: Start::Steady,
            replicas: task.wanted,
            candidates: &[candidate],
        });
        placed = outcome.seats.first().copied().unwrap_or(0);
        rows.extend(seat::seat(stage, id, task, cluster, placed));
    }
    if placed == 0 && task.wanted > 0 {
        // It has no place as a whole: it stays in the cluster that holds most of it.
        let most = task.held.iter().filter(|(_, held)| held.moves.saturating_add(held.unusable) > 0);
        let most = most.max_by_key(|(cluster, held)| (held.all(), Reverse(*cluster))).map(|(cluster, _)| *cluster);
        let leaving = task.rows.iter().filter(|row| Some(row.cluster) == most).copied().collect();
        rows.extend(seat::keep(stage, id, task, leaving, task.wanted));
    }
    Placed { rows: merged(rows), placed, weights: Weights::Same, no_weight: false }
}
