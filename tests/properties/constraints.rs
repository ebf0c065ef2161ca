//! No plan breaks a constraint: judged from its numbers and those of the fleet, of new fleets and of fleets that changed.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::Compiled;
use fleetwright_tests::fleet::FleetBuilder;
use fleetwright_tests::oracle::room::holds;
use proptest::prelude::*;

use crate::cases;
use crate::crowded_fleet::{CrowdedFleet, Shape, Wish, crowded_fleet};
use crate::reading::{Seats, compiled, selected};

const SHAPE: Shape = Shape { apps: 5, pairs: true, quotas: true, groups: true };

/// What a plan breaks. `before` is what ran: it may stay where nothing new may come, and may be more than is allowed now.
fn broken(fleet: &CrowdedFleet, before: &Seats, now: &Compiled) -> Vec<String> {
    let after = &Seats::read(now);
    let mut broken = Vec::new();
    for (app, wish) in fleet.wishes.iter().enumerate() {
        for (workload, (wanted, _)) in wish.workloads.iter().enumerate() {
            let (had, has) = (before.by_cluster(app, workload), after.by_cluster(app, workload));
            let mut wrong =
                |what: &str| broken.push(format!("app {app}, workload {workload}: {what}: {had:?} -> {has:?}"));
            for (cluster, replicas) in &has {
                let ran = had.get(cluster).copied().unwrap_or(0);
                let more = *replicas > ran;
                if more && !fleet.may_come(wish, *cluster) {
                    wrong("new replicas where none may come");
                }
                if more && wish.is_copied() && replicas != wanted {
                    wrong("a new copy that is not whole");
                }
                if wish.per_cluster.is_some_and(|(_, max)| *replicas > max && more) {
                    wrong("more than perCluster.max");
                }
                // what a quota keeps at fewer replicas is divided by those
                let kept = wish.team == 0 && fleet.limits.are_any() && has.values().sum::<u32>() < *wanted;
                if !wish.is_copied()
                    && !kept
                    && ran == 0
                    && wish.per_cluster.is_some_and(|(min, _)| *replicas < min.min(*wanted))
                {
                    wrong("fewer than perCluster.min");
                }
            }
            if !wish.is_copied() && has.values().sum::<u32>() > *wanted {
                wrong("more than is wanted");
            }
            let gone = *wanted > 0 && !had.is_empty() && has.is_empty();
            if gone && !is_withdrawn(fleet, wish, &had) {
                wrong("nothing is left of it");
            }
        }
        spread(fleet, app, before, now, &mut broken);
    }
    groups(fleet, before, after, &mut broken);
    quotas(fleet, (before, now), after, &mut broken);
    rooms(fleet, after, &mut broken);
    broken
}

/// Whether intent takes what ran away, or room may: where capacity is unknown there is always some.
fn is_withdrawn(fleet: &CrowdedFleet, wish: &Wish, had: &BTreeMap<usize, u32>) -> bool {
    had.keys().all(|cluster| {
        let counted = fleet.sites.get(*cluster).is_none_or(|site| site.pools.is_some());
        counted || !wish.is_allowed(*cluster) || wish.weight(*cluster) == 0
    })
}

/// A `max` holds for the clusters that anything new came to; a `min` for what is new as a whole.
fn spread(fleet: &CrowdedFleet, app: usize, before: &Seats, now: &Compiled, broken: &mut Vec<String>) {
    let after = &Seats::read(now);
    let Some(wish) = fleet.wishes.get(app) else { return };
    for (at, (key, min, max)) in wish.spread.iter().enumerate() {
        let count = |clusters: &BTreeSet<usize>| {
            let groups: BTreeSet<Option<u32>> =
                clusters.iter().filter_map(|cluster| fleet.groups(wish, *cluster).get(at).copied()).collect();
            u32::try_from(groups.len()).unwrap_or(u32::MAX)
        };
        // what leaves the set, and has no place elsewhere, is none of the groups in use
        let set = selected(now, app);
        let (had, has) =
            (before.clusters(app), after.clusters(app).intersection(&set).copied().collect::<BTreeSet<_>>());
        if max.is_some_and(|max| count(&has) > max) && !has.is_subset(&had) {
            broken.push(format!("app {app}: {has:?} are too many {key}s, and were {had:?}"));
        }
        for (workload, (wanted, _)) in wish.workloads.iter().enumerate() {
            let has: BTreeSet<usize> = after.by_cluster(app, workload).into_keys().collect();
            let new = had.is_empty() && !has.is_empty() && wanted >= min;
            // of two workloads one may find no room in a group
            if new && wish.workloads.len() == 1 && count(&has) < *min {
                broken.push(format!("app {app}: {has:?} are too few {key}s"));
            }
        }
    }
}

/// Apps of a group that share no cluster, or share all.
fn groups(fleet: &CrowdedFleet, before: &Seats, after: &Seats, broken: &mut Vec<String>) {
    for (app, wish) in fleet.wishes.iter().enumerate() {
        let Some((anti, _)) = wish.group else { continue };
        for (other, its) in fleet.wishes.iter().enumerate().skip(app + 1) {
            if its.team != wish.team || its.group != wish.group {
                continue;
            }
            let (a, b) = (after.clusters(app), after.clusters(other));
            let new = |app: usize, now: &BTreeSet<usize>| {
                now.difference(&before.clusters(app)).copied().collect::<BTreeSet<_>>()
            };
            let fresh: BTreeSet<usize> = new(app, &a).union(&new(other, &b)).copied().collect();
            let shared = a.intersection(&b).any(|cluster| fresh.contains(cluster));
            if anti && shared {
                broken.push(format!("apps {app} and {other} share none, and are in {a:?} and {b:?}"));
            }
        }
    }
}

/// What a team asks for is no more than it may, or no more than it did.
fn quotas(fleet: &CrowdedFleet, (before, now): (&Seats, &Compiled), after: &Seats, broken: &mut Vec<String>) {
    let of_team = |app: usize, _: usize| fleet.wishes.get(app).is_some_and(|wish| wish.team == 0);
    let totals = [fleet.limits.cpus.map(|cpus| cpus * 1000), fleet.limits.pods, fleet.limits.deployments];
    let (mut had, has) = (before.asked(fleet, None, &of_team), after.asked(fleet, None, &of_team));
    had[2] = had[2].max(deployments_before(fleet, before, now));
    for (name, ((had, has), most)) in ["CPU", "pods", "Deployments"].iter().zip(had.iter().zip(has).zip(totals)) {
        if most.is_some_and(|most| has > most && has > *had) {
            broken.push(format!("team t0 asks for {has} of {name}, and may for {most:?}; it did for {had}"));
        }
    }
    for cluster in 0..fleet.sites.len() {
        let [had, ..] = before.asked(fleet, Some(cluster), &of_team);
        let [has, ..] = after.asked(fleet, Some(cluster), &of_team);
        if fleet.limits.cpus_each.is_some_and(|most| has > most * 1000 && has > had) {
            broken.push(format!(
                "team t0 asks for {has} in cluster {cluster}, and may for {:?} CPUs",
                fleet.limits.cpus_each
            ));
        }
    }
}

/// The Deployments of team t0 that were there as far as the record tells: those of no replicas where their app was selected.
/// An app may have others than it had, and no record says which.
fn deployments_before(fleet: &CrowdedFleet, before: &Seats, now: &Compiled) -> u32 {
    let mut found = 0;
    for (app, wish) in fleet.wishes.iter().enumerate().filter(|(_, wish)| wish.team == 0) {
        let placed = now.record.apps.get(&("t0".into(), format!("a{app}").into()));
        let selected = placed.map_or(0, |placed| placed.clusters.len()).max(before.clusters(app).len());
        for (workload, (replicas, _)) in wish.workloads.iter().enumerate() {
            found += if *replicas > 0 { before.by_cluster(app, workload).len() } else { selected };
        }
    }
    u32::try_from(found).unwrap_or(u32::MAX)
}

/// Nodes hold what is placed on them: what ignores room aside.
fn rooms(fleet: &CrowdedFleet, after: &Seats, broken: &mut Vec<String>) {
    let counts = |app: usize, _: usize| fleet.wishes.get(app).is_some_and(|wish| wish.capacity() != "Ignore");
    for (cluster, site) in fleet.sites.iter().enumerate() {
        for (pool, of) in site.pools.iter().flatten().enumerate() {
            let inside = after.in_pool(fleet, (cluster, pool), &counts);
            if !holds(of.nodes(), &inside) {
                broken.push(format!("pool {pool} of cluster {cluster} is promised {inside:?}"));
            }
        }
    }
}

/// The plan of a fleet, which scheduled again is the same.
fn settled(fleet: FleetBuilder, seats: &Seats) -> Result<Compiled, TestCaseError> {
    let now = compiled(&fleet)?;
    let again = compiled(&fleet.placed(&now))?;
    prop_assert_eq!(Seats::read(&now), Seats::read(&again), "scheduled again, from {:?}", seats);
    Ok(now)
}

proptest! {
    #![proptest_config(cases(60, 100_000))]

    #[test]
    fn of_a_new_fleet(fleet in crowded_fleet(SHAPE)) {
        let none = Seats::default();
        let now = settled(fleet.build(), &none)?;
        prop_assert_eq!(broken(&fleet, &none, &now), Vec::<String>::new());
    }

    /// Apps, clusters, quotas and sizes change between two compiles.
    #[test]
    fn of_a_fleet_that_changed(
        before in crowded_fleet(SHAPE),
        other in crowded_fleet(SHAPE),
        take in proptest::collection::vec(any::<bool>(), 12),
    ) {
        let ran = compiled(&before.build())?;
        let after = before.mixed(&other, &take);
        let had = Seats::read(&ran);
        let now = settled(after.build().placed(&ran), &had)?;
        prop_assert_eq!(broken(&after, &had, &now), Vec::<String>::new());
    }
}
