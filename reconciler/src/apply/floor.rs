//! No cluster is lowered blindly: before replicas go here, enough of them must be seen ready elsewhere.
//!
//! Invariant: what was not seen counts as zero ready.

use std::collections::BTreeMap;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::{AppId, ClusterId};
use fleetwright_compiler::model::MinAvailable;
use fleetwright_compiler::moves::is_stepped;
use fleetwright_compiler::plan::Fill;

use super::live::LiveObject;
use crate::cluster::Key;
use crate::observation::{Answers, Observation};

/// What must stay ready of one workload, and what is, outside this cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// Ready replicas of the current generation in other clusters; 0 for those that do not answer.
    pub ready_elsewhere: u32,
    /// At least so many must be ready in all: `minAvailable` of what the fleet wants.
    pub needed: u32,
}

/// Floors of the workloads of a cluster. One that is not here has nothing ready elsewhere, and is needed as a whole.
pub type Floors = BTreeMap<Key, Floor>;

/// Whether a workload may go from what runs to `replicas`; else how many would be ready, and how many must be.
///
/// # Errors
/// (ready afterwards, needed).
pub fn may_lower(floor: Option<&Floor>, live: &LiveObject, replicas: u32) -> Result<(), (u32, u32)> {
    let ready_here = live.ready_at_most;
    let stays = ready_here.min(replicas);
    // Pods that are not ready are the first to go, so nothing that serves is lost.
    if stays == ready_here {
        return Ok(());
    }
    let floor = floor.copied().unwrap_or(Floor { ready_elsewhere: 0, needed: ready_here });
    let ready_after = floor.ready_elsewhere.saturating_add(stays);
    if ready_after >= floor.needed { Ok(()) } else { Err((ready_after, floor.needed)) }
}

/// The part of what the fleet wants that stays ready where nobody states `move.minAvailable`.
pub const DEFAULT_MIN_AVAILABLE: MinAvailable = MinAvailable::of_percent(80);

/// The floors of all workloads of a fleet as one cluster sees them: what must be available of what is wanted in all
/// clusters, and what was seen ready in all others. Clusters that do not answer, and workloads that were not seen, have
/// nothing ready. A kind without a count (a DaemonSet, say) serves the nodes it runs on, and needs nothing elsewhere.
#[must_use]
pub fn floors(
    compiled: &Compiled,
    cluster: ClusterId,
    observation: &Observation,
    min_available: &dyn Fn(AppId) -> MinAvailable,
) -> Floors {
    let fleet = &compiled.fleet;
    let mut floors = Floors::new();
    for (id, plan) in fleet.app_ids().zip(&compiled.plan.apps) {
        let app = fleet.app(id);
        let name = (fleet.team(app.team).name.clone(), app.name.clone());
        for workload in &app.workloads {
            let Some(object) = app.objects.get(workload.object) else { continue };
            let wanted = plan.objects.iter().filter(|planned| planned.object as usize == workload.object);
            let wanted = wanted.filter_map(|planned| match planned.fill {
                Fill::Share { replicas, .. } => replicas,
                Fill::Owned { replicas } => Some(replicas),
                Fill::Bounds { .. } | Fill::AsIs => None,
            });
            let total = wanted.fold(0_u32, u32::saturating_add);
            // What a move runs twice for a step is wanted once.
            let twice = compiled.moving.contains(&id) && is_stepped(workload);
            let total = if twice { total.min(workload.replicas) } else { total };
            let elsewhere = observation.clusters.iter().filter(|(name, _)| **name != fleet.cluster(cluster).name);
            let answering = elsewhere.filter(|(_, seen)| matches!(seen.answers, Answers::Yes { .. }));
            let ready =
                answering.filter_map(|(_, seen)| Some(seen.apps.get(&name)?.workloads.get(&workload.key)?.ready));
            let floor = Floor {
                ready_elsewhere: ready.fold(0_u32, u32::saturating_add),
                needed: min_available(id).needed(total),
            };
            floors.insert(Key::from(&object.key), floor);
        }
    }
    floors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::health::Health;

    #[test]
    fn lowering_needs_ready_replicas_elsewhere() {
        let key = Key::new("apps", "Deployment", "n", "web");
        let live = |ready: u32| {
            let object = json!({"spec": {"replicas": 10}, "status": {"readyReplicas": ready}});
            LiveObject::of(&key, &object, &|_| (Health::Current, String::new()))
        };
        let floor = |ready_elsewhere, needed| Some(Floor { ready_elsewhere, needed });
        for (floor, ready, to, expected) in [
            // the receiver is ready: 80 % of 10 stay
            (floor(8, 8), 10, 0, Ok(())),
            (floor(7, 8), 10, 0, Err((7, 8))),
            (floor(4, 8), 10, 4, Ok(())),
            // nothing is ready here: nothing is lost
            (floor(0, 8), 0, 0, Ok(())),
            (floor(0, 8), 3, 3, Ok(())),
            (floor(0, 8), 3, 2, Err((2, 8))),
            // not seen elsewhere
            (None, 10, 0, Err((0, 10))),
            // a smaller total
            (floor(0, 4), 10, 5, Ok(())),
        ] {
            assert_eq!(may_lower(floor.as_ref(), &live(ready), to), expected, "{floor:?} {ready} -> {to}");
        }
    }

    #[test]
    fn shares_round_up_and_counts_are_no_more_than_there_are() {
        for (total, percent, count, needed) in [
            (10, 80, 0, 8),
            (3, 80, 0, 3),
            (1, 1, 0, 1),
            (0, 80, 3, 0),
            (u32::MAX, 100, 0, u32::MAX),
            (10, 0, 3, 3),
            (2, 0, 3, 2),
            (10, 80, 9, 9),
            (10, 80, 3, 8),
        ] {
            assert_eq!(MinAvailable { percent, count }.needed(total), needed, "{percent}% and {count} of {total}");
        }
    }
}
