//! Moves in steps: from what runs to where it should run, a bounded number of replicas at a time.
//!
//! A step first raises clusters that gain, and once that is ready lowers those that lose. What is smaller in all goes down
//! at once, what is larger in all comes up at once; only what changes its place is bounded. Which step is due when is the
//! decider's business (it sees clusters and a clock); here is the arithmetic that it and every plan share.
//!
//! Invariants: integers only; a row never passes its target; between two steps no more than the total and one step run; the
//! last step is the target itself. A row is a cluster, or a pool of one where the record tells pools apart.

mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::base::SmolStr;
use crate::model::{App, Share, Steps, Workload, WorkloadKind};
use crate::placements::{PlacedApp, PlacedWorkload};

pub use rows::Row;
use rows::{lowered, raised};

/// How much of a row there is room for beside everything that runs: of at most so many more replicas, how many fit.
pub type Fits<'f> = dyn FnMut(&Row<'_>, u32) -> u32 + 'f;

/// Whether a workload moves in steps at all: one that is divided, and may be divided otherwise while it runs.
#[must_use]
pub fn is_stepped(workload: &Workload) -> bool {
    workload.share == Share::Divided && workload.kind != WorkloadKind::Job && workload.part.is_none()
}

/// Whether going from one placement to another moves replicas between clusters that should move in steps.
#[must_use]
pub fn needs_steps(app: &App, before: &PlacedApp, target: &PlacedApp) -> bool {
    let stepped = app.workloads.iter().filter(|workload| is_stepped(workload));
    stepped.into_iter().any(|workload| {
        let (before, target) = (by_cluster(before, &workload.key), by_cluster(target, &workload.key));
        let gains = target.iter().any(|(cluster, n)| *n > before.get(cluster).copied().unwrap_or(0));
        let loses = before.iter().any(|(cluster, n)| *n > target.get(cluster).copied().unwrap_or(0));
        gains && loses
    })
}

/// Replicas of a workload, by cluster.
#[must_use]
pub fn by_cluster<'a>(placed: &'a PlacedApp, workload: &SmolStr) -> BTreeMap<&'a SmolStr, u32> {
    let mut clusters: BTreeMap<&SmolStr, u32> = BTreeMap::new();
    for seat in placed.workloads.get(workload).map(|w| w.seats.as_slice()).unwrap_or_default() {
        let replicas = clusters.entry(&seat.cluster).or_default();
        *replicas = replicas.saturating_add(seat.replicas);
    }
    clusters
}

/// The clusters lowered to as many replicas in all as the target has. What was raised before must be ready.
#[must_use]
pub fn lower(app: &App, now: &PlacedApp, target: &PlacedApp) -> PlacedApp {
    between(app, now, target, &mut |_, now, target| lowered(now, target))
}

/// The next clusters raised, by one step of each workload and as far as there is room.
#[must_use]
pub fn raise(app: &App, steps: &Steps, now: &PlacedApp, target: &PlacedApp, fits: &mut Fits<'_>) -> PlacedApp {
    between(app, now, target, &mut |workload, now, target| {
        raised(&workload.key, steps.of(workload.replicas), now, target, fits)
    })
}

/// A placement with at least what another has in some clusters, of workloads that move in steps.
#[must_use]
pub fn with_all_of(app: &App, placed: &PlacedApp, other: &PlacedApp, keeps: &dyn Fn(&SmolStr) -> bool) -> PlacedApp {
    between(app, other, placed, &mut |_, other, placed| {
        let mut kept = placed.clone();
        for seat in other.seats.iter().filter(|seat| keeps(&seat.cluster)) {
            match kept.seats.iter_mut().find(|of| (&of.cluster, &of.pool) == (&seat.cluster, &seat.pool)) {
                Some(of) if of.replicas < seat.replicas => *of = seat.clone(),
                Some(_) => {}
                None => kept.seats.push(seat.clone()),
            }
        }
        kept.seats.sort();
        kept
    })
}

/// Whether more runs of a workload than its target has in all: something was raised, and nothing lowered for it yet.
#[must_use]
pub fn is_raised(app: &App, now: &PlacedApp, target: &PlacedApp) -> bool {
    let rows = |placed: &PlacedApp, workload: &Workload| {
        let seats = placed.workloads.get(&workload.key).map(|w| w.seats.as_slice()).unwrap_or_default();
        seats.iter().map(|seat| u64::from(seat.replicas)).sum::<u64>()
    };
    app.workloads.iter().filter(|w| is_stepped(w)).any(|w| rows(now, w) > rows(target, w))
}

/// Whether a placement is the target, wherever the two are written.
#[must_use]
pub fn is_there(now: &PlacedApp, target: &PlacedApp) -> bool {
    let seats = |placed: &PlacedApp| {
        let workloads = placed.workloads.iter().map(|(key, workload)| (key.clone(), workload.seats.clone()));
        workloads.filter(|(_, seats)| !seats.is_empty()).collect::<Vec<_>>()
    };
    seats(now) == seats(target)
}

/// How many steps lead from one placement to another where there is room for all of them: as often as something is raised.
#[must_use]
pub fn count(app: &App, steps: &Steps, before: &PlacedApp, target: &PlacedApp) -> u64 {
    let of = |workload: &Workload| {
        let (now, end) = (by_cluster_and_pool(before, &workload.key), by_cluster_and_pool(target, &workload.key));
        let sum = |rows: &Rows<'_>| rows.values().map(|n| u64::from(*n)).sum::<u64>();
        let gaps = end.iter().map(|(place, n)| u64::from(n.saturating_sub(now.get(place).copied().unwrap_or(0))));
        let gained: u64 = gaps.sum();
        // What is more in all comes with the first.
        let first = sum(&end).saturating_sub(sum(&now));
        let step = u64::from(steps.of(workload.replicas));
        gained.saturating_sub(first).div_ceil(step).max(u64::from(gained > 0))
    };
    app.workloads.iter().filter(|workload| is_stepped(workload)).map(of).max().unwrap_or(0)
}

type Rows<'a> = BTreeMap<(&'a SmolStr, Option<&'a SmolStr>), u32>;

fn by_cluster_and_pool<'a>(placed: &'a PlacedApp, workload: &SmolStr) -> Rows<'a> {
    let seats = placed.workloads.get(workload).map(|w| w.seats.as_slice()).unwrap_or_default();
    seats.iter().map(|seat| ((&seat.cluster, seat.pool.as_ref()), seat.replicas)).collect()
}

/// The placement with its stepped workloads changed. Everything else is as the target has it, except the digests of
/// workloads that are not there yet, so that what is recorded says which rules it was divided by.
fn between(
    app: &App,
    now: &PlacedApp,
    target: &PlacedApp,
    step: &mut dyn FnMut(&Workload, &PlacedWorkload, &PlacedWorkload) -> PlacedWorkload,
) -> PlacedApp {
    let mut next = PlacedApp { place: None, ..target.clone() };
    for workload in app.workloads.iter().filter(|workload| is_stepped(workload)) {
        if let (Some(now), Some(target)) = (now.workloads.get(&workload.key), target.workloads.get(&workload.key)) {
            let mut stepped = step(workload, now, target);
            if stepped.seats != target.seats {
                stepped.weights.clone_from(&now.weights);
            }
            next.workloads.insert(workload.key.clone(), stepped);
        }
    }
    // Until the last replica is gone, the clusters that it leaves are clusters of the app.
    let seats = next.workloads.values().flat_map(|w| &w.seats).map(|seat| seat.cluster.clone());
    next.clusters.extend(seats.collect::<Vec<_>>());
    if next.workloads.iter().any(|(key, w)| target.workloads.get(key).is_none_or(|t| t.seats != w.seats)) {
        next.clusters.extend(now.clusters.iter().cloned());
        next.tier.clone_from(&now.tier);
    }
    next.clusters.sort();
    next.clusters.dedup();
    next
}
