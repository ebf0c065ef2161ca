//! No pool is promised more than its nodes hold.

use std::collections::BTreeSet;

use super::facts::{AppFacts, Inputs};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId, PoolId};
use crate::kinds::pod::PodFacts;
use crate::room::{PoolRef, Rooms};

pub(super) fn check(inputs: &Inputs<'_>, apps: &[AppFacts<'_>], violations: &mut Vec<String>) {
    let mut rooms = with_daemons(inputs, apps, Daemons::ThatStay);
    for app in apps {
        for (index, facts) in app.workloads.iter().enumerate().filter(|(_, facts)| !facts.is_daemon()) {
            for seat in &facts.seats {
                book(inputs, &mut rooms, app, index, (seat.cluster, seat.pool, seat.replicas));
            }
        }
    }
    for overdraft in rooms.overdrawn() {
        violations.push(format!(
            "pool {} of cluster {} is promised {} of {} more than its nodes hold",
            rooms.pool_name(overdraft.pool),
            inputs.cluster(rooms.cluster_of(overdraft.pool)),
            overdraft.missing,
            overdraft.resource,
        ));
    }
}

/// Where what was recorded does not fit, so that some of it had to go: nodes vanished, requests grew, DaemonSets took more,
/// or the pods of an app may no longer use their pool.
pub(super) struct Displaced {
    /// Clusters with a pool that was promised more than it holds.
    overdrawn: BTreeSet<ClusterId>,
    /// Apps whose pods may not use the pool they were recorded in.
    unusable: BTreeSet<(AppId, ClusterId)>,
}

impl Displaced {
    pub(super) fn has(&self, app: AppId, cluster: ClusterId) -> bool {
        self.overdrawn.contains(&cluster) || self.unusable.contains(&(app, cluster))
    }
}

/// Books all that was recorded.
pub(super) fn displaced(inputs: &Inputs<'_>, all: &[AppFacts<'_>]) -> Displaced {
    let known: Vec<ClusterId> = inputs.fleet.cluster_ids().filter(|c| inputs.pools[c.index()].known).collect();
    let mut rooms = with_daemons(inputs, all, Daemons::ThatRanOrCome);
    let mut unusable = BTreeSet::new();
    for app in all {
        for (index, facts) in app.workloads.iter().enumerate().filter(|(_, facts)| !facts.is_daemon()) {
            for cluster in facts.before.keys().copied().filter(|c| known.binary_search(c).is_ok()) {
                let recorded = recorded(inputs, app, index, cluster);
                let mut adrift = 0_u32;
                for (pool, replicas) in &recorded {
                    if !book(inputs, &mut rooms, app, index, (cluster, *pool, *replicas)) {
                        unusable.insert((app.id, cluster));
                        adrift = adrift.saturating_add(*replicas);
                    }
                }
                // What lost its pool has another one of the cluster before anything new comes.
                for seat in facts.seats.iter().filter(|seat| seat.cluster == cluster) {
                    let ran = recorded.iter().find(|(pool, _)| *pool == seat.pool).map_or(0, |(_, replicas)| *replicas);
                    let came = seat.replicas.saturating_sub(ran).min(adrift);
                    adrift -= came;
                    book(inputs, &mut rooms, app, index, (cluster, seat.pool, came));
                }
            }
        }
    }
    let is_overdrawn = |c: &ClusterId| rooms.pools(*c).any(|pool| rooms.is_overdrawn(pool));
    let overdrawn = known.iter().copied().filter(is_overdrawn).collect();
    Displaced { overdrawn, unusable }
}

/// The recorded seats of a workload in a cluster. A pool that is no longer there is one its pods may not use.
fn recorded(inputs: &Inputs<'_>, app: &AppFacts<'_>, index: usize, cluster: ClusterId) -> Vec<(Option<PoolId>, u32)> {
    let name = inputs.cluster(cluster);
    let key = &app.app.workloads[index].key;
    let seats = app.placed.and_then(|placed| placed.workloads.get(key)).map(|w| w.seats.as_slice());
    let here = seats.unwrap_or_default().iter().filter(|seat| seat.cluster == *name);
    here.map(|seat| {
        let specs = &inputs.pools[cluster.index()].specs;
        let position = |pool| specs.iter().position(|spec| spec.name == pool).and_then(|at| u16::try_from(at).ok());
        let pool = seat.pool.as_ref().map(|pool| PoolId(position(pool.clone()).unwrap_or(u16::MAX)));
        (pool, seat.replicas)
    })
    .collect()
}

/// Which DaemonSets shrink the nodes.
#[derive(Clone, Copy)]
enum Daemons {
    /// Those of the target.
    ThatStay,
    /// Those that were recorded, too: where their app goes elsewhere, they are there until that is decided.
    ThatRanOrCome,
}

/// The rooms of the fleet with DaemonSets booked.
fn with_daemons(inputs: &Inputs<'_>, apps: &[AppFacts<'_>], which: Daemons) -> Rooms {
    let mut rooms = Rooms::new(inputs.pools.iter().map(|cluster| cluster.specs.clone()));
    for app in apps {
        for (index, facts) in app.workloads.iter().enumerate().filter(|(_, facts)| facts.is_daemon()) {
            let mut clusters: BTreeSet<ClusterId> = facts.after.keys().copied().collect();
            match which {
                Daemons::ThatStay => {}
                Daemons::ThatRanOrCome => clusters.extend(facts.before.keys()),
            }
            for cluster in &clusters {
                let Some(pod) = inputs.pod(app, index, *cluster) else { continue };
                let request = rooms.request(&pod.requests);
                for pool in usable(inputs, &rooms, pod, *cluster) {
                    rooms.book_daemon(pool, request);
                }
            }
        }
    }
    rooms
}

fn usable(inputs: &Inputs<'_>, rooms: &Rooms, pod: &PodFacts, cluster: ClusterId) -> Vec<PoolRef> {
    let pools = inputs.usable_pools(pod, cluster);
    pools.into_iter().filter_map(|pool| rooms.pool(cluster, PoolId(pool))).collect()
}

/// Books a seat; false where the pods may not use its pool: what they may use is no question of the room, also of what is
/// bound to its data or exclusive. What is promised whatever fits (room ignored, bound to data, a number a person wrote, an app
/// that is held or exclusive) is not booked.
fn book(
    inputs: &Inputs<'_>,
    rooms: &mut Rooms,
    app: &AppFacts<'_>,
    index: usize,
    (cluster, pool, replicas): (ClusterId, Option<PoolId>, u32),
) -> bool {
    let Some(pod) = inputs.pod(app, index, cluster).filter(|_| inputs.pools[cluster.index()].known) else {
        return true;
    };
    if app.held || app.app.workloads[index].policy.capacity == Capacity::Ignore {
        return true;
    }
    let usable = usable(inputs, rooms, pod, cluster);
    let pool = match (pool, usable.as_slice()) {
        (Some(pool), usable) => rooms.pool(cluster, pool).filter(|pool| usable.contains(pool)),
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    let Some(pool) = pool else { return false };
    let in_full = app.app.exclusive || inputs.written(app, index, cluster).is_some();
    if !in_full && !inputs.is_bound(app, &app.app.workloads[index]) {
        let request = rooms.request(&pod.requests);
        rooms.book(pool, request, replicas);
    }
    true
}
