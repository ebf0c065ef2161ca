//! Asking for more takes nothing away.

use fleetwright_tests::oracle::placement::{Site, best};
use proptest::prelude::*;

use crate::cases;
use crate::crowded_fleet::{CrowdedFleet, Shape, Wish, crowded_fleet};
use crate::reading::{Seats, Turn, compiled};

const CROWD: Shape = Shape { apps: 4, pairs: false, quotas: true, groups: false };
const ALONE: Shape = Shape { apps: 1, pairs: false, quotas: false, groups: false };

fn raised(fleet: &CrowdedFleet, app: usize, more: u32) -> CrowdedFleet {
    let mut fleet = fleet.clone();
    let workloads = fleet.wishes.get_mut(app).into_iter().flat_map(|wish| &mut wish.workloads);
    workloads.for_each(|(replicas, _)| *replicas += more);
    fleet
}

/// Fewest replicas in every cluster are no question of how many there are in all.
fn floors_fit(wish: &Wish, replicas: u32, clusters: usize) -> bool {
    let floor = wish.per_cluster.map_or(0, |(min, _)| min);
    floor <= 1 && wish.spread.is_empty() || floor * u32::try_from(clusters).unwrap_or(u32::MAX) <= replicas
}

proptest! {
    #![proptest_config(cases(60, 100_000))]

    /// No cluster gives anything up for an app that grows, where as many can be placed beside what it has.
    #[test]
    fn a_settled_app_that_grows_keeps_every_share(fleet in crowded_fleet(CROWD), app in 0_usize..4, more in 1_u32..6) {
        let app = app % fleet.wishes.len();
        let ran = compiled(&fleet.build())?;
        let after = raised(&fleet, app, more);
        let (before, now) = (Seats::read(&ran), Seats::read(&compiled(&after.build().placed(&ran))?));
        let Some(wish) = after.wishes.get(app) else { return Ok(()) };
        let (had, has) = (before.by_cluster(app, 0), now.by_cluster(app, 0));
        // It leaves a tier that does not hold all of it for one that does; and where every cluster of a larger set is owed
        // several replicas, those that have more give what the others lack.
        if wish.one_of_tiers().is_some() || wish.per_cluster.is_some_and(|(min, _)| min > 1) {
            return Ok(());
        }
        let lower = had.iter().any(|(cluster, n)| has.get(cluster).copied().unwrap_or(0) < *n);
        if !lower {
            return Ok(());
        }
        prop_assert!(!wish.is_copied(), "{had:?} -> {has:?}");
        let turn = Turn {
            fleet: &after,
            seats: &now,
            who: (app, 0),
            placed: &|other, _| other != app,
            open: &|_| true,
        };
        let keeps = |cluster: usize| had.get(&cluster).copied().unwrap_or(0);
        let sites: Vec<Site> = turn.sites(&keeps);
        let beside = best(&sites, &wish.constraints(), turn.wanted()).map_or(0, |(placed, _)| placed);
        prop_assert!(beside < now.total(app, 0), "{had:?} -> {has:?}, and {beside} fit beside what it has: {sites:?}");
    }

    /// One more replica of a new app is one more in one cluster, where the clusters stay the same.
    #[test]
    fn one_more_replica_is_one_more_share(fleet in crowded_fleet(ALONE)) {
        let Some(wish) = fleet.wishes.first().filter(|wish| !wish.is_copied()) else { return Ok(()) };
        let replicas = wish.workloads.first().map_or(0, |(replicas, _)| *replicas);
        // unknown room counts as all replicas, so where room is the weight, the weights change with them
        let unknown = wish.capacity() == "Ignore" || fleet.sites.iter().any(|site| site.pools.is_none());
        let by_room = wish.strategy != "StaticWeight" && unknown;
        if by_room || wish.one_of_tiers().is_some() || !floors_fit(wish, replicas, fleet.sites.len()) {
            return Ok(());
        }
        let one_more = raised(&fleet, 0, 1);
        let (fewer, more) = (compiled(&fleet.build())?, compiled(&one_more.build())?);
        let selected = |of: &fleetwright_compiler::Compiled| of.target.apps.first().map(|app| app.clusters.clone());
        let same = selected(&fewer) == selected(&more);
        let (fewer, more) = (Seats::read(&fewer), Seats::read(&more));
        let (had, has) = (fewer.by_cluster(0, 0), more.by_cluster(0, 0));
        // of an app that is placed as a whole or not at all, both must be
        let whole = fewer.total(0, 0) == replicas && more.total(0, 0) == replicas + 1;
        if !same || (wish.capacity() == "Require" && !whole) {
            return Ok(());
        }
        let grown: u32 = has.iter().map(|(cluster, n)| n.saturating_sub(had.get(cluster).copied().unwrap_or(0))).sum();
        prop_assert!(had.iter().all(|(cluster, n)| has.get(cluster).copied().unwrap_or(0) >= *n), "{had:?} -> {has:?}");
        prop_assert_eq!(grown, more.total(0, 0) - fewer.total(0, 0));
        prop_assert!(grown <= 1, "{had:?} -> {has:?}");
    }
}
