//! Apps placed afresh: nobody loses, the budget holds, and a second run finds nothing to do.

use std::collections::BTreeMap;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::placements::PlacedApp;
use fleetwright_compiler::rebalance::{Budget, Rebalance};
use fleetwright_compiler::{CompileError, Compiled};
use fleetwright_reconciler::decide::orders::rebalance_of;
use fleetwright_tests::fleet::FleetBuilder;
use proptest::prelude::*;

use crate::small_fleet::small_fleet;
use crate::{cases, compile_fresh, tree};

type Placed = BTreeMap<(SmolStr, SmolStr), PlacedApp>;

fn compiled(fleet: &FleetBuilder) -> Result<Compiled, TestCaseError> {
    compile_fresh(&tree(fleet)).map_err(|error| match error {
        CompileError::Refused(refusal) => TestCaseError::reject(format!("{:?}", refusal.diagnostics)),
        error => TestCaseError::fail(error.to_string()),
    })
}

/// Rebalances everything, and records it as the command does.
fn run(fleet: &FleetBuilder, budget: Budget) -> Result<(FleetBuilder, Compiled, Rebalance), TestCaseError> {
    let before = compiled(fleet)?;
    let found = rebalance_of(&before, &before.fleet.app_ids().collect(), budget);
    let mut placed: Placed = before.record.apps.clone();
    placed.extend(found.placed.clone());
    let after = fleet.clone().recorded(&placed);
    Ok((after, before, found))
}

/// Replicas of each workload.
fn totals(placed: &Placed) -> BTreeMap<(SmolStr, SmolStr, SmolStr), u32> {
    let mut totals = BTreeMap::new();
    for ((team, app), placed) in placed {
        for (key, workload) in &placed.workloads {
            let all = workload.seats.iter().map(|seat| seat.replicas).sum();
            totals.insert((team.clone(), app.clone(), key.clone()), all);
        }
    }
    totals
}

proptest! {
    #![proptest_config(cases(60, 5_000))]

    #[test]
    fn a_second_run_is_nothing(
        before in small_fleet(),
        other in small_fleet(),
        take in proptest::collection::vec(any::<bool>(), 5),
        budget in 0_u64..12,
    ) {
        let ran = compiled(&before.build())?;
        // what changed settles first, so that only the rebalance is seen
        let changed = before.mixed(&other, &take).build().placed(&ran);
        let settled = changed.clone().placed(&compiled(&changed)?);

        let (_, _, some) = run(&settled, Budget::Replicas(budget))?;
        prop_assert!(some.moved <= budget, "{} of {budget}", some.moved);

        let (after, first, found) = run(&settled, Budget::Unlimited)?;
        let reached = compiled(&after)?;
        let placed = fleetwright_compiler::schedule::placed(&reached.fleet, &reached.target);
        for (app, placed_there) in &found.placed {
            prop_assert_eq!(placed.get(app), Some(placed_there), "it does not stay");
        }
        for (workload, replicas) in totals(&first.record.apps) {
            prop_assert!(totals(&placed).get(&workload).is_some_and(|now| *now >= replicas), "{workload:?} lost replicas");
        }
        let (_, _, second) = run(&after, Budget::Unlimited)?;
        prop_assert_eq!(second.moves, vec![], "first {:?}, left {:?}", found.moves, found.left);
    }
}
