//! From one placement of an app to another: what moves, what it costs, and a part of it.

use std::collections::BTreeMap;

use crate::base::{AppId, SmolStr};
use crate::model::{App, Share};
use crate::placements::{PlacedApp, PlacedSeat, PlacedWorkload};

/// Replicas of a workload in a cluster, before and after.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Move {
    /// The app.
    pub app: AppId,
    /// The workload's key.
    pub workload: SmolStr,
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas before.
    pub before: u32,
    /// Replicas after.
    pub after: u32,
}

fn by_cluster(workload: Option<&PlacedWorkload>) -> BTreeMap<&SmolStr, u32> {
    let mut found: BTreeMap<&SmolStr, u32> = BTreeMap::new();
    for seat in workload.iter().flat_map(|workload| &workload.seats) {
        let here = found.entry(&seat.cluster).or_default();
        *here = here.saturating_add(seat.replicas);
    }
    found
}

/// What changes between two placements of an app, ascending.
#[must_use]
pub fn moves(app: AppId, before: &PlacedApp, after: &PlacedApp) -> Vec<Move> {
    let mut found = Vec::new();
    for key in before.workloads.keys().chain(after.workloads.keys().filter(|key| !before.workloads.contains_key(*key)))
    {
        let (old, new) = (by_cluster(before.workloads.get(key)), by_cluster(after.workloads.get(key)));
        for cluster in old.keys().chain(new.keys().filter(|cluster| !old.contains_key(*cluster))) {
            let count = |of: &BTreeMap<&SmolStr, u32>| of.get(cluster).copied().unwrap_or(0);
            let (before, after) = (count(&old), count(&new));
            if before != after {
                found.push(Move { app, workload: key.clone(), cluster: (*cluster).clone(), before, after });
            }
        }
    }
    found.sort();
    found
}

/// Replicas of an app.
pub(super) fn replicas(app: &PlacedApp) -> u64 {
    app.workloads.values().flat_map(|workload| &workload.seats).map(|seat| u64::from(seat.replicas)).sum()
}

/// Replicas that leave a cluster.
pub(super) fn cost(before: &PlacedApp, after: &PlacedApp) -> u64 {
    let lost = |change: Move| u64::from(change.before.saturating_sub(change.after));
    moves(AppId(0), before, after).into_iter().map(lost).sum()
}

/// Whether a workload has fewer replicas afterwards.
pub(super) fn has_fewer(before: &PlacedApp, after: &PlacedApp) -> bool {
    let all = |app: &PlacedApp, key: &SmolStr| -> u64 {
        by_cluster(app.workloads.get(key)).values().map(|replicas| u64::from(*replicas)).sum()
    };
    before.workloads.keys().any(|key| all(after, key) < all(before, key))
}

/// The way from one placement to another, as far as so many replicas go. `None` where nothing of it can be done alone: what
/// is kept whole, copied, owned by an autoscaler, or in another tier moves as a whole.
pub(super) fn part(app: &App, before: &PlacedApp, after: &PlacedApp, mut budget: u64) -> Option<PlacedApp> {
    if before.tier != after.tier || budget == 0 {
        return None;
    }
    let mut step = before.clone();
    for workload in &app.workloads {
        let (Some(old), Some(new)) = (before.workloads.get(&workload.key), after.workloads.get(&workload.key)) else {
            continue;
        };
        let counted =
            |of: &PlacedWorkload| of.seats.iter().all(|seat| seat.bounds.is_none() && seat.completions.is_none());
        if workload.share != Share::Divided || !counted(old) || !counted(new) || old.weights != new.weights {
            continue;
        }
        let seats = towards(&old.seats, &new.seats, &mut budget);
        step.workloads.insert(workload.key.clone(), PlacedWorkload { seats, ..old.clone() });
    }
    let in_use = |cluster: &SmolStr| {
        step.workloads.values().flat_map(|workload| &workload.seats).any(|seat| seat.cluster == *cluster)
    };
    let mut clusters: Vec<SmolStr> = before.clusters.iter().chain(&after.clusters).cloned().collect();
    clusters.sort();
    clusters.dedup();
    clusters
        .retain(|cluster| in_use(cluster) || (before.clusters.contains(cluster) && after.clusters.contains(cluster)));
    step.clusters = clusters;
    Some(step)
}

/// Seats on the way, with the largest changes first.
fn towards(old: &[PlacedSeat], new: &[PlacedSeat], budget: &mut u64) -> Vec<PlacedSeat> {
    type Places = BTreeMap<(SmolStr, Option<SmolStr>), (u32, u32)>;
    let mut places: Places = BTreeMap::new();
    for seat in old {
        places.entry((seat.cluster.clone(), seat.pool.clone())).or_default().0 += seat.replicas;
    }
    for seat in new {
        places.entry((seat.cluster.clone(), seat.pool.clone())).or_default().1 += seat.replicas;
    }
    let mut give: Vec<(u32, _)> = Vec::new();
    let mut take: Vec<(u32, _)> = Vec::new();
    for (place, (old, new)) in &places {
        if old > new {
            give.push((old - new, place.clone()));
        } else if new > old {
            take.push((new - old, place.clone()));
        }
    }
    for list in [&mut give, &mut take] {
        list.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    }
    let mut seats: BTreeMap<_, u32> = places.into_iter().map(|(place, (old, _))| (place, old)).collect();
    let mut takers = take.into_iter();
    let mut taker = takers.next();
    for (mut surplus, from) in give {
        while let Some((wants, to)) = taker.as_mut().filter(|_| surplus > 0 && *budget > 0) {
            let now = surplus.min(*wants).min(u32::try_from(*budget).unwrap_or(u32::MAX));
            if let Some(here) = seats.get_mut(&from) {
                *here = here.saturating_sub(now);
            }
            if let Some(there) = seats.get_mut(to) {
                *there = there.saturating_add(now);
            }
            // between two pools of one cluster nothing leaves the cluster, but pods do start anew
            *budget = budget.saturating_sub(u64::from(now));
            surplus -= now;
            *wants -= now;
            if *wants == 0 {
                taker = takers.next();
            }
        }
    }
    let seat = |((cluster, pool), replicas): ((SmolStr, Option<SmolStr>), u32)| PlacedSeat {
        cluster,
        pool,
        replicas,
        completions: None,
        bounds: None,
    };
    let mut seats: Vec<PlacedSeat> = seats.into_iter().filter(|(_, replicas)| *replicas > 0).map(seat).collect();
    seats.sort();
    seats
}
