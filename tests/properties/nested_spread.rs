//! One new app under spread constraints, from its files to its plan: as many replicas as the best of all sets of clusters
//! holds; and where no set satisfies the constraints, nothing is placed, and the plan says which constraint it is.

use fleetwright_compiler::diff::Shortfall;
use fleetwright_compiler::report::plan;
use fleetwright_tests::oracle::placement::{best, most_copies};
use fleetwright_tests::oracle::spread::Constraint;
use proptest::prelude::*;

use crate::cases;
use crate::crowded_fleet::{CrowdedFleet, Shape, crowded_fleet};
use crate::reading::{Seats, Turn, compiled};

/// A fleet of one app with one workload and one to four keys, each with a `min` or a `max` that can bind.
fn spread_app() -> impl Strategy<Value = CrowdedFleet> {
    let keys = proptest::sample::subsequence(vec!["provider", "region", "zone", "cluster"], 1..=4);
    let bounds = || (1_u32..4, proptest::option::weighted(0.6, 0_u32..2));
    let shape = Shape { apps: 1, pairs: false, quotas: false, groups: false };
    (crowded_fleet(shape), keys, [bounds(), bounds(), bounds(), bounds()]).prop_map(|(mut fleet, keys, bounds)| {
        let one = |(key, (min, more)): (&'static str, (u32, Option<u32>))| (key, min, more.map(|more| min + more));
        for wish in &mut fleet.wishes {
            wish.spread = keys.iter().copied().zip(bounds).map(one).collect();
            wish.tiers = None;
        }
        fleet
    })
}

proptest! {
    #![proptest_config(cases(100, 100_000))]

    #[test]
    fn the_best_set_of_all_is_found_or_none_exists(fleet in spread_app()) {
        let Some(wish) = fleet.wishes.first() else { return Ok(()) };
        let compiled = compiled(&fleet.build())?;
        let report = plan(&compiled);
        let seats = Seats::of(&report);
        let turn = Turn { fleet: &fleet, seats: &seats, who: (0, 0), placed: &|_, _| false, open: &|_| true };
        let (wanted, sites, constraints) = (turn.wanted(), turn.sites(&|_| 0), wish.constraints());
        if wanted == 0 {
            prop_assert_eq!(seats.total(0, 0), 0);
            return Ok(());
        }
        let places = seats.by_cluster(0, 0);
        let shown = format!("{places:?} of {sites:?}: {:?}", report.shortfalls);
        let free = vec![Constraint { min: 1, max: None }; constraints.len()];
        let (placed, of_any) = if wish.is_copied() {
            let copies = most_copies(&sites, &constraints, wanted);
            prop_assert_eq!(places.len(), copies.unwrap_or(0), "{}", shown);
            prop_assert!(places.values().all(|n| *n == wanted), "{}", shown);
            (copies.map(|_| wanted), most_copies(&sites, &free, wanted).is_some())
        } else {
            let placed = best(&sites, &constraints, wanted).map(|(placed, _)| placed);
            let whole = placed.filter(|placed| *placed == wanted || wish.capacity() != "Require");
            prop_assert_eq!(seats.total(0, 0), whole.unwrap_or(0), "{}", shown);
            (placed, best(&sites, &free, wanted).is_some())
        };
        // What is missing is said, and why: a constraint only where it is one.
        let spread = report.shortfalls.iter().any(|short| matches!(short.shortfall, Shortfall::Spread { .. }));
        let unplaced = report.shortfalls.iter().find_map(|short| match short.shortfall {
            Shortfall::Unplaced { replicas, wanted: of, .. } => Some((replicas, of)),
            _ => None,
        });
        match placed {
            None if of_any => prop_assert!(spread, "{}", shown),
            None => prop_assert!(spread || unplaced == Some((wanted, wanted)) || !report.shortfalls.is_empty(), "{}", shown),
            Some(placed) => {
                prop_assert!(!spread, "{}", shown);
                let short = if wish.capacity() == "Require" && placed < wanted { wanted } else { wanted - placed };
                prop_assert_eq!(unplaced, (short > 0).then_some((short, wanted)), "{}", shown);
            }
        }
    }
}
