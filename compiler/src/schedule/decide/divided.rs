//! Replicas divided over the chosen clusters.

use std::collections::BTreeMap;

use super::choose::{self, Choice};
use super::{Placed, Task, seat};
use crate::api;
use crate::base::{AppId, ClusterId};
use crate::divide::{Candidate, Capacity, Division, Start, Strategy, divide};
use crate::model::Replicas;
use crate::schedule::select::Failure;
use crate::schedule::stage::Stage;
use crate::schedule::state::{Row, Weights, by_cluster, merged, total};
use crate::schedule::view::{bounds, is_static};

/// Divides a workload that is taken out of the ledger, and books what it gets.
pub(super) fn place(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, choice: &Choice) -> Placed {
    let workload = stage.view.workload(id, task.workload);
    let clusters = choose::usable(stage, id, task.workload, choice);
    let witnesses = choose::witnesses(stage, id, task, choice);
    // Nothing is added to a set that breaks a constraint.
    let frozen = choice.failure.is_some_and(|failure| failure != Failure::NoCandidates);
    let mut candidates = Vec::with_capacity(clusters.len());
    for cluster in &clusters {
        let bounds = bounds(workload, *cluster);
        let usable = stage.usable_pools(id, task.workload, *cluster);
        let room = seat::room(stage, id, task.workload, task.wanted, *cluster);
        let room = task.shared_room(*cluster, room);
        // Where its floor has no room, nothing new comes; what is there stays.
        let floor = u64::from(bounds.min.min(task.wanted));
        let too_small = workload.policy.capacity != api::Capacity::Ignore && room.is_some_and(|room| room < floor);
        candidates.push(Candidate {
            weight: stage
                .view
                .estimate(id, task.workload, *cluster, |pool| usable.contains(pool))
                .unwrap_or(bounds.weight),
            room,
            max: bounds.max,
            quota: task.left.cap(*cluster, stage.pod(id, task.workload, *cluster)),
            floor: bounds.min,
            witness: witnesses.contains(cluster),
            previous: seat::previous(stage, id, task, *cluster, room),
            vetoed: frozen || too_small || !stage.is_fresh(id, *cluster),
            tier: stage.view.fleet.app(id).placement.overflow_tier(*cluster),
        });
    }
    let former = &stage.apps[id.index()].workloads[task.workload].weights;
    let start = if matches!(former, Weights::Former(_)) && !frozen { Start::Anew } else { Start::Steady };
    let division = |candidates: &[Candidate]| {
        divide(&Division {
            strategy: if stage.view.is_estimated(id, task.workload) {
                Strategy::EstimatedWeight
            } else {
                strategy(&workload.policy)
            },
            capacity: capacity(workload.policy.capacity),
            start,
            replicas: task.wanted,
            candidates,
        })
    };
    let mut outcome = division(&candidates);
    // Floors can take what a group of the spread needs; then, too, nothing is added.
    let missed = |candidate: &Candidate, seats: &u32| candidate.witness && candidate.floor > 1 && *seats == 0;
    if candidates.iter().zip(&outcome.seats).any(|(candidate, seats)| missed(candidate, seats)) {
        candidates.iter_mut().for_each(|candidate| candidate.vetoed = true);
        outcome = division(&candidates);
    }
    // A division that was refused stays to be done.
    let weights = match former {
        Weights::Former(_) if outcome.refused || frozen => former.clone(),
        Weights::New | Weights::Same | Weights::Former(_) => Weights::Same,
    };
    let no_weight = is_static(&workload.policy)
        && workload.policy.weights.is_some()
        && task.wanted > 0
        && stage.view.fleet.app(id).placement.candidates.iter().all(|cluster| bounds(workload, cluster).weight == 0);
    let mut rows = Vec::new();
    let mut placed = 0_u32;
    for (cluster, replicas) in clusters.iter().zip(&outcome.seats).filter(|(_, n)| **n > 0) {
        placed = placed.saturating_add(*replicas);
        rows.extend(seat::seat(stage, id, task, *cluster, *replicas));
    }
    // What a bound of its cluster takes is gone; what should go elsewhere and cannot stays.
    let mut leaving = Vec::new();
    for (cluster, held) in &task.held {
        let Ok(at) = clusters.binary_search(cluster) else {
            leaving.extend(task.rows.iter().filter(|row| row.cluster == *cluster));
            continue;
        };
        let (bounds, seats) = (bounds(workload, *cluster), outcome.seats.get(at).copied().unwrap_or(0));
        // Another workload may stay in a cluster that this one leaves.
        if bounds.weight == 0 || held.moves > 0 {
            leaving.extend(task.rows.iter().filter(|row| row.cluster == *cluster));
        } else if candidates.get(at).is_some_and(|candidate| candidate.weight == 0) {
            // An estimator that sees no room brings nothing new, and takes nothing away that has no place elsewhere.
            leaving.extend(seat::beyond(task, *cluster, seats, bounds.max));
        } else {
            leaving.extend(seat::adrift(stage, id, task, *cluster, seats));
        }
    }
    // What an earlier pass placed never ran where it is: of that stays only what came from elsewhere.
    let recorded: Vec<Row> = stage.recorded[id.index()].workloads[task.workload].rows.clone();
    let (leaving, passing) = by_whether_they_ran(leaving, &recorded);
    let stays = seat::keep(stage, id, task, leaving, task.wanted.saturating_sub(placed));
    let there = placed.saturating_add(total(&stays));
    rows.extend(stays);
    rows.extend(seat::keep(stage, id, task, passing, task.wanted.min(total(&recorded)).saturating_sub(there)));
    Placed { rows: merged(rows), placed, weights, no_weight }
}

/// Rows parted into as many replicas of each cluster as are recorded there, and those that an earlier pass added.
fn by_whether_they_ran(rows: Vec<Row>, recorded: &[Row]) -> (Vec<Row>, Vec<Row>) {
    let mut left: BTreeMap<ClusterId, u32> = by_cluster(recorded).into_iter().collect();
    let (mut ran, mut passing) = (Vec::new(), Vec::new());
    for row in rows {
        let left = left.entry(row.cluster).or_default();
        let there = row.replicas.min(*left);
        *left -= there;
        ran.extend((there > 0).then_some(Row { replicas: there, ..row }));
        passing.extend((row.replicas > there).then_some(Row { replicas: row.replicas - there, ..row }));
    }
    (ran, passing)
}

/// A strategy is not stated only where one cluster is selected.
pub(super) fn strategy(policy: &Replicas) -> Strategy {
    match policy.strategy {
        None | Some(api::Strategy::StaticWeight) => Strategy::StaticWeight,
        Some(api::Strategy::DynamicWeight) => Strategy::DynamicWeight,
        Some(api::Strategy::Aggregated) => Strategy::Aggregated,
        Some(api::Strategy::Duplicated) => Strategy::Duplicated,
    }
}

pub(super) fn capacity(capacity: api::Capacity) -> Capacity {
    match capacity {
        api::Capacity::Cap => Capacity::Cap,
        api::Capacity::Ignore => Capacity::Ignore,
        api::Capacity::Require => Capacity::Require,
    }
}
