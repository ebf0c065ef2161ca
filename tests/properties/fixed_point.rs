//! The target, taken as what runs, changes nothing: whatever the fleet, and whatever ran before.

use fleetwright_compiler::diff::diff;
use fleetwright_compiler::{CompileError, Compiled};
use fleetwright_tests::fleet::FleetBuilder;
use proptest::prelude::*;

use crate::small_fleet::small_fleet;
use crate::{cases, compile_fresh, tree};

/// Where everything runs, as the lock would say it.
fn placements(compiled: &Compiled) -> Vec<(String, String)> {
    let fleet = FleetBuilder::new().placed(compiled);
    let lock = fleet.texts().iter().filter(|(path, _)| path.starts_with("placements/"));
    lock.map(|(path, text)| (path.clone(), text.clone())).collect()
}

fn compiled(fleet: &FleetBuilder) -> Result<Compiled, TestCaseError> {
    compile_fresh(&tree(fleet)).map_err(|error| match error {
        CompileError::Refused(refusal) => {
            TestCaseError::reject(format!("the fleet is refused: {:?}", refusal.diagnostics))
        }
        error => TestCaseError::fail(error.to_string()),
    })
}

/// The target becomes the record, and nothing changes.
fn assert_settled(fleet: &FleetBuilder, first: &Compiled) -> Result<(), TestCaseError> {
    let again = compiled(&fleet.clone().placed(first))?;
    prop_assert_eq!(placements(first), placements(&again));
    let moves: Vec<_> = again.plan.apps.iter().flat_map(|app| &app.moves).collect();
    prop_assert!(moves.is_empty(), "{:?}", moves);
    prop_assert_eq!(&again.plan.removals, &[]);
    Ok(())
}

proptest! {
    #![proptest_config(cases(150, 100_000))]

    #[test]
    fn of_a_new_fleet(fleet in small_fleet()) {
        let fleet = fleet.build();
        let first = compiled(&fleet)?;
        assert_settled(&fleet, &first)?;
    }

    /// Apps and clusters change between two compiles.
    #[test]
    fn of_a_fleet_that_changed(
        before in small_fleet(),
        other in small_fleet(),
        take in proptest::collection::vec(any::<bool>(), 5),
    ) {
        let after = before.mixed(&other, &take);
        let ran = compiled(&before.build())?;
        let fleet = after.build().placed(&ran);
        let target = compiled(&fleet)?;
        assert_settled(&fleet, &target)?;
    }

    /// They change, and change back: what the second compile could not place stays where the third one finds it.
    #[test]
    fn of_a_fleet_that_changed_back(
        before in small_fleet(),
        other in small_fleet(),
        take in proptest::collection::vec(any::<bool>(), 5),
    ) {
        let first = compiled(&before.build())?;
        let second = compiled(&before.mixed(&other, &take).build().placed(&first))?;
        let fleet = before.build().placed(&second);
        let third = compiled(&fleet)?;
        assert_settled(&fleet, &third)?;
    }

    /// Every app has another name, and the order of names is the reverse: nothing moves, and nothing is deleted.
    #[test]
    fn of_a_fleet_whose_apps_were_renamed(fleet in small_fleet()) {
        let first = compiled(&fleet.build())?;
        let ran = compiled(&fleet.build().placed(&first))?;
        let renamed = fleet.renamed().recorded_as(&fleet.build().placed(&ran));
        let after = compiled(&renamed)?;
        let moves: Vec<_> = after.plan.apps.iter().flat_map(|app| &app.moves).collect();
        prop_assert!(moves.is_empty(), "{:?}", moves);
        prop_assert_eq!(&after.plan.removals, &[]);
        prop_assert_eq!(after.record.transfers.len(), ran.target.apps.len());
        let deleted = diff(&ran, &after).objects.into_iter().filter(|object| object.change.deletes()).count();
        prop_assert_eq!(deleted, 0);
        assert_settled(&renamed, &after)?;
    }

    /// Only numbers change: replicas, weights, nodes.
    #[test]
    fn of_a_fleet_that_grew_or_shrank(before in small_fleet(), numbers in proptest::collection::vec(0_u32..14, 24)) {
        let mut after = before.clone();
        let mut numbers = numbers.into_iter().cycle();
        let mut next = || numbers.next().unwrap_or_default();
        for app in &mut after.apps {
            for (replicas, _) in &mut app.workloads {
                *replicas = next();
            }
            for weight in app.weights.iter_mut().flatten() {
                if next() % 3 == 0 {
                    *weight = next() % 5;
                }
            }
        }
        for (nodes, _) in after.clusters.iter_mut().flat_map(|cluster| cluster.pools.iter_mut().flatten()) {
            if next() % 3 == 0 {
                *nodes = next() % 4;
            }
        }
        let ran = compiled(&before.build())?;
        let fleet = after.build().placed(&ran);
        let target = compiled(&fleet)?;
        assert_settled(&fleet, &target)?;
    }
}

/// Two workloads share the set of clusters of their app, and one of them finds no room in a second region: whichever
/// cluster of it is chosen, the other workload fills it.
#[test]
fn of_a_fleet_that_once_did_not_settle() {
    use crate::small_fleet::{SmallApp, SmallCluster, SmallFleet};
    let cluster = |region, env, pools: Option<Vec<(u32, u32)>>| SmallCluster {
        region,
        env,
        pools,
        taint: None,
        lifecycle: "Active",
    };
    let app = |team,
               strategy,
               workloads: &[(u32, u32)],
               weights: Option<Vec<u32>>,
               spread: &[(&'static str, u32, Option<u32>)]| {
        SmallApp {
            team,
            strategy,
            capacity: None,
            workloads: workloads.to_vec(),
            weights,
            spread: spread.to_vec(),
            only_prod: false,
            per_cluster: None,
            tolerates: false,
        }
    };
    let small = |clusters, apps| SmallFleet { clusters, apps, quota_cpu: None };
    let before = small(
        vec![cluster(1, true, Some(vec![(5, 3)]))],
        vec![app(0, "Duplicated", &[], None, &[]), app(0, "DynamicWeight", &[(6, 100)], None, &[])],
    );
    let unknown = || cluster(0, false, None);
    let other = small(
        vec![unknown(), unknown(), unknown(), cluster(1, false, Some(vec![(5, 3)]))],
        vec![
            app(0, "Aggregated", &[(11, 700), (13, 1000)], None, &[("cluster", 2, None)]),
            app(0, "Duplicated", &[], None, &[]),
            app(1, "StaticWeight", &[(9, 700), (10, 700)], None, &[("cluster", 1, Some(1)), ("region", 2, None)]),
            app(0, "StaticWeight", &[(9, 100)], Some(vec![1, 0, 0, 1, 0, 0]), &[]),
        ],
    );
    let ran = compiled(&before.build()).expect("it compiles");
    let fleet = before.mixed(&other, &[false, true, false, false, false]).build().placed(&ran);
    let target = compiled(&fleet).expect("it settles");
    assert_settled(&fleet, &target).expect("it stays");
}
