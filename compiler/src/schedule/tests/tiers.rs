//! Tiers: one at a time, or one after the other.

use crate::api::{Strategy, TierMode};
use crate::model::{Tier, Tiers, WorkloadKind};
use crate::schedule::Verdict;
use crate::schedule::fixture::{AppFixture, FleetFixture};

/// Clusters a, b and c with room for this many replicas of one CPU each.
fn fleet(room: [u32; 3]) -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for (name, nodes) in ["a", "b", "c"].into_iter().zip(room) {
        fleet.pool(name, "p", nodes, "cpu=1000");
    }
    fleet
}

/// An app over tiers such as `own=a cloud=b,c`.
fn app(fleet: &FleetFixture, strategy: Strategy, replicas: u32, mode: TierMode, tiers: &str) -> AppFixture {
    let groups = tiers.split_whitespace().map(|tier| {
        let (name, clusters) = tier.split_once('=').unwrap();
        Tier { name: name.into(), clusters: fleet.set(&clusters.split(',').collect::<Vec<_>>()) }
    });
    let groups = groups.collect();
    fleet.app("web", strategy).deployment_of(replicas, "cpu=1000").tiers(Tiers { mode, groups })
}

#[test]
fn overflow_fills_in_order() {
    use Strategy::{Aggregated, DynamicWeight, StaticWeight};
    let facts = [
        // room of each, tiers, strategy, replicas, where they are
        ([2, 10, 0], "own=a cloud=b,c", DynamicWeight, 5, "a=2 b=3"),
        ([10, 10, 0], "own=a cloud=b,c", DynamicWeight, 5, "a=5"),
        ([2, 2, 0], "own=a cloud=b,c", DynamicWeight, 10, ""),
        ([2, 2, 0], "own=a cloud=b,c", StaticWeight, 10, "a=2 b=2"),
        ([4, 4, 4], "own=c cloud=a,b", StaticWeight, 8, "a=2 b=2 c=4"),
        ([4, 4, 4], "one=c two=b three=a", StaticWeight, 9, "a=1 b=4 c=4"),
        ([4, 4, 4], "own=b cloud=a,c", Aggregated, 6, "a=2 b=4"),
    ];
    for (room, tiers, strategy, replicas, expected) in facts {
        let mut fleet = fleet(room);
        let app = app(&fleet, strategy, replicas, TierMode::Overflow, tiers);
        fleet.add(app);
        assert_eq!(fleet.placed("web"), expected, "{room:?} {tiers} {strategy:?} {replicas}");
    }
}

#[test]
fn overflow_contracts_in_reverse_and_grows_where_it_is_cheapest() {
    let facts = [
        // what runs, replicas wanted, where they are
        ("a=4 b=3", 5, "a=4 b=1"),
        ("a=4 b=3", 3, "a=3"),
        ("a=4 b=3 c=2", 6, "a=4 b=2"),
        // the first tier has room again: growth goes there, what runs stays
        ("b=3", 5, "a=2 b=3"),
        ("b=3", 3, "b=3"),
    ];
    for (runs, replicas, expected) in facts {
        let mut fleet = fleet([4, 10, 10]);
        let app = app(&fleet, Strategy::StaticWeight, replicas, TierMode::Overflow, "own=a near=b far=c");
        fleet.add(app).runs("web", runs);
        assert_eq!(fleet.placed("web"), expected, "{runs} {replicas}");
    }
}

#[test]
fn first_fit_takes_the_first_tier_that_holds_all() {
    let facts = [
        ([4, 4, 4], "own=a cloud=b,c", 4, "a=4"),
        ([4, 4, 4], "own=a cloud=b,c", 6, "b=3 c=3"),
        // none holds all of it: the one that holds most
        ([4, 4, 4], "own=a cloud=b,c", 9, "b=4 c=4"),
        ([4, 2, 1], "own=a cloud=b,c", 9, "a=4"),
    ];
    for (room, tiers, replicas, expected) in facts {
        let mut fleet = fleet(room);
        let app = app(&fleet, Strategy::StaticWeight, replicas, TierMode::FirstFit, tiers);
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), expected, "{room:?} {tiers} {replicas}");
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps, target.apps, "{room:?} {tiers} {replicas}: settled");
    }
}

#[test]
fn first_fit_starts_where_it_is() {
    // It runs in the cloud; own has room again.
    let mut fleet = fleet([10, 4, 4]);
    let app4 = app(&fleet, Strategy::StaticWeight, 4, TierMode::FirstFit, "own=a cloud=b,c");
    fleet.add(app4).runs("web", "b=2 c=2").in_tier("web", "cloud");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "b=2 c=2");
    assert_eq!(target.apps[0].verdicts, [(Verdict::OtherTier("cloud".into()), fleet.set(&["a"]))]);
    // More than the cloud holds: all of it moves on.
    let app9 = app(&fleet, Strategy::StaticWeight, 9, TierMode::FirstFit, "own=a cloud=b,c");
    fleet.add(app9);
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "web").as_str(), target.apps[0].tier), ("a=9", Some(0)));
    // A tier that is not recorded is the one that holds most.
    fleet.runs("web", "a=1 b=2 c=1");
    let app4 = app(&fleet, Strategy::StaticWeight, 4, TierMode::FirstFit, "own=a cloud=b,c");
    fleet.add(app4);
    assert_eq!(fleet.placed("web"), "b=2 c=2");
}

#[test]
fn the_check_knows_tiers() {
    let mut fleet = fleet([10, 10, 10]);
    let app = app(&fleet, Strategy::StaticWeight, 4, TierMode::FirstFit, "own=a cloud=b,c");
    fleet.add(app);
    let mut target = fleet.schedule();
    target.apps[0].tier = Some(1);
    assert!(!fleet.violations(&target).is_empty(), "seats in another tier than the one in use");
    target.apps[0].tier = None;
    assert!(!fleet.violations(&target).is_empty(), "no tier");
    target.apps[0].tier = Some(7);
    assert!(!fleet.violations(&target).is_empty(), "no such tier");
}

/// What found no place in the tier in use, and stayed in another, may find it in a third or where it stayed.
#[test]
fn what_waits_outside_of_its_tier_is_a_reason_for_another() {
    let mut fleet = fleet([10, 3, 0]);
    let app = app(&fleet, Strategy::StaticWeight, 4, TierMode::FirstFit, "own=a other=b");
    fleet.add(app).runs("web", "a=1 b=3").in_tier("web", "other");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=4");
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}

/// An earlier pass put three beside one that ran in a tier that then proved too small: only that one may be left there.
#[test]
fn what_a_pass_added_to_a_tier_does_not_stay_behind() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.pool("a", "p", 2, "cpu=4000");
    for cluster in ["b", "c"] {
        let nodes = if cluster == "b" { 6 } else { 4 };
        fleet.pool(cluster, "p", nodes, "cpu=4000");
    }
    let agent = fleet.app("agent", Strategy::Duplicated).workload(WorkloadKind::DaemonSet, "main", 1, "cpu=1500");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(8, "cpu=3000").priority(1);
    let groups = [("own", ["a", "c"].as_slice()), ("other", ["b"].as_slice())];
    let groups = groups.map(|(name, clusters)| Tier { name: name.into(), clusters: fleet.set(clusters) });
    let web = web.tiers(Tiers { mode: TierMode::FirstFit, groups: groups.into() });
    fleet.add(agent.clusters(fleet.set(&["a"]))).add(web).runs("web", "a=2 c=1").in_tier("web", "own");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "b=6 c=1");
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}
