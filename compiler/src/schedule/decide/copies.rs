//! Copies: all replicas in every chosen cluster, and DaemonSets.

use super::choose::{self, Choice};
use super::divided::capacity;
use super::{Mode, Placed, Task, seat};
use crate::base::{AppId, ClusterId};
use crate::divide::{Candidate, Division, Start, Strategy, divide};
use crate::schedule::select::Failure;
use crate::schedule::stage::Stage;
use crate::schedule::state::{Row, Weights, merged, total};
use crate::schedule::view::{bounds, is_daemon};

/// Copies a workload that is taken out of the ledger, and books what it gets.
pub(super) fn place(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, choice: &Choice, mode: Mode) -> Placed {
    let workload = stage.view.workload(id, task.workload);
    let clusters = choose::usable(stage, id, task.workload, choice);
    let frozen = choice.failure.is_some_and(|failure| failure != Failure::NoCandidates);
    let seats = if is_daemon(workload) {
        let comes = |cluster: &ClusterId| {
            let fresh = stage.is_fresh(id, *cluster) && mode == Mode::Full && !frozen;
            u32::from(fresh || task.held(*cluster).stays > 0)
        };
        clusters.iter().map(comes).collect()
    } else {
        let mut candidates = Vec::with_capacity(clusters.len());
        for cluster in &clusters {
            let room = seat::room(stage, id, task.workload, task.wanted, *cluster);
            let room = task.shared_room(*cluster, room);
            candidates.push(Candidate {
                weight: 1,
                room,
                max: bounds(workload, *cluster).max,
                quota: task.left.cap(*cluster, stage.pod(id, task.workload, *cluster)),
                floor: 0,
                witness: false,
                previous: seat::previous(stage, id, task, *cluster, room),
                vetoed: frozen || mode != Mode::Full || !stage.is_fresh(id, *cluster),
                tier: 0,
            });
        }
        let division = Division {
            strategy: Strategy::Duplicated,
            capacity: capacity(workload.policy.capacity),
            start: Start::Steady,
            replicas: task.wanted,
            candidates: &candidates,
        };
        divide(&division).seats
    };
    let mut rows = Vec::new();
    let mut placed = 0_u32;
    for (cluster, replicas) in clusters.iter().zip(seats).filter(|(_, n)| *n > 0) {
        placed = placed.saturating_add(replicas);
        if is_daemon(workload) {
            rows.push(Row { cluster: *cluster, pool: None, replicas });
            stage.book(id, task.workload, &[Row { cluster: *cluster, pool: None, replicas }]);
        } else {
            rows.extend(seat::seat(stage, id, task, *cluster, replicas));
        }
    }
    if placed == 0 && task.wanted > 0 {
        // No copy anywhere: what runs is not cleared for want of a place. A DaemonSet is in no cluster that it was only booked in
        // ahead.
        for old in task.rows.chunk_by(|a, b| a.cluster == b.cluster) {
            let (Some(first), all) = (old.first(), total(old)) else { continue };
            if task.held(first.cluster).all() == 0 {
                continue;
            }
            let stays = seat::whole_or_ran(stage, id, task, first.cluster, all);
            rows.extend(seat::keep(stage, id, task, old.to_vec(), stays));
        }
    }
    Placed { rows: merged(rows), placed, weights: Weights::Same, no_weight: false }
}
