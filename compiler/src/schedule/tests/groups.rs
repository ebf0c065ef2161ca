//! Apps that share their clusters, and apps that share none.

use crate::api::{Lifecycle, Strategy};
use crate::model::{TopologyKey, WorkloadKind};
use crate::schedule::fixture::{AppFixture, FleetFixture};
use crate::schedule::{Deficit, Verdict};

fn fleet(room: &[u32]) -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for (name, nodes) in ["a", "b", "c"].into_iter().zip(room) {
        fleet.pool(name, "p", *nodes, "cpu=1000");
    }
    fleet
}

/// An app of the group `set=one`.
fn app(fleet: &FleetFixture, name: &str, strategy: Strategy, replicas: u32) -> AppFixture {
    fleet.app(name, strategy).deployment_of(replicas, "cpu=1000").label("set", "one")
}

fn placed(fleet: &FleetFixture, apps: [&str; 2]) -> [String; 2] {
    let target = fleet.schedule();
    let mut settled = fleet.clone();
    settled.record_target(&target);
    assert_eq!(settled.schedule().apps, target.apps, "settled");
    apps.map(|app| fleet.seats(&target, app))
}

#[test]
fn a_group_goes_where_all_of_it_fits() {
    let facts = [
        // room, replicas of the two, where they are
        ([10, 10, 10], [3, 3], ["a=3", "a=3"]),
        // the first alone would go to a, which has no room for both
        ([4, 9, 0], [3, 3], ["b=3", "b=3"]),
        ([6, 3, 0], [3, 6], ["a=2 b=1", "a=4 b=2"]),
        // no set holds all of it: the first is not kept waiting for the others
        ([5, 4, 0], [3, 6], ["a=3", "a=2"]),
    ];
    for (room, [one, two], expected) in facts {
        let mut fleet = fleet(&room);
        let first = app(&fleet, "first", Strategy::Aggregated, one).together("set");
        let second = app(&fleet, "second", Strategy::StaticWeight, two).together("set");
        fleet.add(first).add(second);
        assert_eq!(placed(&fleet, ["first", "second"]), expected, "{room:?}");
    }
}

#[test]
fn others_follow_the_first() {
    let mut fleet = fleet(&[10, 10, 10]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 4).weights(&fleet, "b=1").together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 4).together("set");
    fleet.add(first).add(second).runs("second", "a=2 c=2");
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=4", "b=4"]);
    // Of two the one of higher priority is the first.
    fleet.app_mut("second").priority = 1;
    assert_eq!(placed(&fleet, ["first", "second"])[1], "a=2 c=2");
    // Apps without the label are in no group.
    let other = fleet.app("third", Strategy::StaticWeight).deployment_of(3, "cpu=1000").together("set");
    fleet.add(other);
    assert_eq!(placed(&fleet, ["third", "third"])[0], "a=1 b=1 c=1");
}

#[test]
fn what_has_no_place_with_its_group_stays_and_is_reported() {
    let mut fleet = fleet(&[10, 3, 10]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 3).weights(&fleet, "b=1").together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 4).together("set");
    fleet.add(first).add(second).runs("second", "a=4");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "second"), "a=4");
    let broken = Deficit::Group { group: "set=one".into(), anti: false, clusters: 1 };
    assert!(target.apps[1].deficits.contains(&broken), "{:?}", target.apps[1].deficits);
    assert!(target.apps[1].verdicts.contains(&(Verdict::NotWithGroup("set=one".into()), fleet.set(&["a", "c"]))));
}

#[test]
fn apart_shares_no_cluster() {
    let max = |app: AppFixture, max| app.spread(TopologyKey::Cluster, 1, Some(max));
    let mut fleet = fleet(&[10, 10, 10]);
    let first = max(app(&fleet, "first", Strategy::StaticWeight, 4), 2).apart("set");
    let second = max(app(&fleet, "second", Strategy::StaticWeight, 4), 2).apart("set");
    fleet.add(first).add(second);
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2 b=2", "c=4"]);
    // What runs is not moved for an earlier one that is new.
    fleet.runs("second", "a=4");
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=2 c=2", "a=4"]);
    // Where both run, the later leaves, and nothing else moves.
    fleet.runs("first", "a=2 b=2").runs("second", "b=2 c=2");
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2 b=2", "c=4"]);
    // Unless it has nowhere to go.
    fleet.cluster("c").lifecycle = Lifecycle::Cordoned;
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "second"), "b=2 c=2");
    let broken = Deficit::Group { group: "set=one".into(), anti: true, clusters: 1 };
    assert!(target.apps[1].deficits.contains(&broken), "{:?}", target.apps[1].deficits);
}

#[test]
fn copies_that_are_bounded_can_be_apart() {
    let mut fleet = fleet(&[10, 10, 10]);
    let copies = |fleet: &FleetFixture, name| {
        app(fleet, name, Strategy::Duplicated, 2).spread(TopologyKey::Cluster, 1, Some(2)).apart("set")
    };
    let (first, second) = (copies(&fleet, "first"), copies(&fleet, "second"));
    fleet.add(first).add(second);
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2 b=2", "c=2"]);
}

#[test]
fn the_check_knows_groups() {
    let mut fleet = fleet(&[10, 10, 10]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 4).weights(&fleet, "a=1").together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 4).together("set");
    fleet.add(first).add(second);
    let mut target = fleet.schedule();
    target.apps[1].seats[0].cluster = fleet.id("b");
    target.apps[1].clusters = fleet.set(&["a", "b"]);
    assert!(fleet.violations(&target).iter().any(|v| v.contains("without its group")));
}

#[test]
fn the_first_of_a_group_minds_the_daemon_sets_of_those_that_follow() {
    // Nodes of 4 CPU: with a DaemonSet of 2.1 on each, two of them hold four pods of 0.7, and none of 2.1.
    let facts = [(Strategy::Duplicated, 5, "cpu=700", ""), (Strategy::Duplicated, 4, "cpu=700", "a=4 b=4")];
    let whole = [(Strategy::StaticWeight, 1, "cpu=2100", ""), (Strategy::StaticWeight, 3, "cpu=700", "a=2 b=1")];
    for (strategy, replicas, requests, expected) in facts.into_iter().chain(whole) {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 2, "cpu=4000");
        fleet.pool("b", "p", 2, "cpu=4000");
        let first = fleet.app("first", strategy).deployment_of(replicas, requests);
        let agent = fleet.app("second", Strategy::StaticWeight);
        let agent = agent.workload(WorkloadKind::DaemonSet, "agent", 1, "cpu=2100");
        fleet.add(first.label("set", "one").together("set")).add(agent.label("set", "one").together("set"));
        assert_eq!(placed(&fleet, ["first", "second"])[0], expected, "{replicas} of {requests}");
    }
}

#[test]
fn the_first_of_a_group_is_not_short_for_the_sake_of_others() {
    // Room for four in each cluster, two of which the second app would want; the first wants two in one cluster.
    let mut fleet = fleet(&[0, 4, 4]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 3).with(|policy| policy.min = 3).together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 3).together("set");
    fleet.add(first).add(second);
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=3", "b=1"]);
}
