//! Whatever the kinds of workloads and whatever the record says: a schedule passes its check, and is settled.

use std::collections::BTreeMap;

use fleetwright_compiler::api::AutoscaledRoom;
use fleetwright_compiler::{CompileError, Compiled};
use fleetwright_tests::fleet::FleetBuilder;
use proptest::prelude::*;

use crate::varied_fleet::varied_fleet;
use crate::{cases, compile_fresh, tree};

/// A compile, or the rejection of a case whose fleet is refused.
fn compiled(fleet: &FleetBuilder) -> Result<Compiled, TestCaseError> {
    compile_fresh(&tree(fleet)).map_err(|error| match error {
        CompileError::Refused(refusal) => TestCaseError::reject(format!("{:?}", refusal.diagnostics)),
        error => TestCaseError::fail(error.to_string()),
    })
}

fn placements(compiled: &Compiled) -> Vec<(String, String)> {
    let fleet = FleetBuilder::new().placed(compiled);
    let lock = fleet.texts().iter().filter(|(path, _)| path.starts_with("placements/"));
    lock.map(|(path, text)| (path.clone(), text.clone())).collect()
}

/// The target becomes the record, and nothing changes.
fn assert_settled(fleet: &FleetBuilder, first: &Compiled) -> Result<(), TestCaseError> {
    let again = compiled(&fleet.clone().placed(first))?;
    let (before, after) = (placements(first), placements(&again));
    for ((path, before), (_, after)) in before.iter().zip(&after) {
        prop_assert_eq!(before, after, "{}", path);
    }
    prop_assert_eq!(before.len(), after.len());
    let moves: Vec<_> = again.plan.apps.iter().flat_map(|app| &app.moves).collect();
    prop_assert!(moves.is_empty(), "{:?}", moves);
    Ok(())
}

proptest! {
    #![proptest_config(cases(80, 100_000))]

    #[test]
    fn a_new_fleet_settles(fleet in varied_fleet()) {
        let fleet = fleet.observing(fleet.build());
        let first = compiled(&fleet)?;
        assert_settled(&fleet, &first)?;
    }

    /// Where everything is at rest, what autoscalers are seen to run keeps new replicas away and takes none.
    #[test]
    fn what_is_observed_displaces_nothing(fleet in varied_fleet()) {
        let unseen = fleet.build();
        let first = compiled(&unseen)?;
        assert_settled(&unseen, &first)?;
        let seen = fleet.observing(unseen.placed(&first));
        let target = compiled(&seen)?;
        let moves = target.plan.apps.iter().flat_map(|app| &app.moves);
        let lowered: Vec<_> = moves.filter(|step| step.after < step.before).collect();
        prop_assert!(lowered.is_empty(), "{:?}", lowered);
        assert_settled(&seen, &target)?;
    }

    #[test]
    fn a_fleet_that_changed_settles(
        before in varied_fleet(),
        other in varied_fleet(),
        take in proptest::collection::vec(any::<bool>(), 11),
    ) {
        let ran = compiled(&before.build())?;
        let after = before.mixed(&other, &take);
        let fleet = after.observing(after.suspending(after.build().placed(&ran)));
        let target = compiled(&fleet).map_err(|why| match why {
            TestCaseError::Fail(why) => TestCaseError::fail(format!("{why}; {:#?}", placements(&ran))),
            other => other,
        })?;
        assert_settled(&fleet, &target)?;
        // and changed back
        let fleet = before.observing(before.build().placed(&target));
        let target = compiled(&fleet)?;
        assert_settled(&fleet, &target)?;
    }
}

/// What these properties prove depends on what is in the fleets.
#[test]
fn varied_fleets_hold_everything_that_matters() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut refused = Vec::new();
    for _ in 0..400 {
        let fleet = varied_fleet().new_tree(&mut runner).expect("a fleet can be drawn").current();
        let mut note = |what: &str| *seen.entry(what.to_owned()).or_default() += 1;
        let compiled = match compiled(&fleet.observing(fleet.build())) {
            Ok(compiled) => compiled,
            Err(why) => {
                refused.push(why.to_string());
                continue;
            }
        };
        note("compiles");
        let seen = compiled.record.observed.values().flatten().flat_map(|(_, clusters)| clusters.values());
        if seen.into_iter().next().is_some() {
            note("observed");
        }
        for (app, target) in compiled.fleet.apps.iter().zip(&compiled.target.apps) {
            for (number, workload) in app.workloads.iter().enumerate() {
                let seats = target.seats.iter().filter(|seat| usize::from(seat.workload) == number).count();
                let kind =
                    format!("{:?}{}", workload.kind, if workload.autoscaled.is_some() { " autoscaled" } else { "" });
                let observes = workload.autoscaled.is_some_and(|of| of.policy.room == AutoscaledRoom::Observed);
                let has = |seat: &&fleetwright_compiler::schedule::Seat| usize::from(seat.workload) == number;
                if observes && target.seats.iter().any(|seat| has(&seat)) {
                    note("booked as observed");
                }
                note(&format!("{kind} {}", if seats > 1 { "in several" } else { "in one or none" }));
            }
            for deficit in &target.deficits {
                let text = format!("{deficit:?}");
                note(text.split([' ', '{']).next().unwrap_or_default());
            }
        }
    }
    assert!(seen.get("compiles").copied() > Some(360), "{refused:#?}");
    let kinds = ["Deployment", "Deployment autoscaled", "StatefulSet", "DaemonSet", "Job", "CronJob", "Custom(Part)"];
    let places =
        kinds.iter().flat_map(|kind| ["in several", "in one or none"].map(|where_| format!("{kind} {where_}")));
    for what in places.chain(["Unplaced", "Spread", "Quota", "observed", "booked as observed"].map(str::to_owned)) {
        assert!(seen.get(&what).copied() > Some(3), "{what}: {seen:?}");
    }
}
