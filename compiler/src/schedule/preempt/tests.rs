//! Who would have to give way, where, and who never does.

use super::{Preemption, preemptions};
use crate::api::{Capacity, Strategy};
use crate::model::TopologyKey;
use crate::placements::GaveWay;
use crate::schedule::Deficit;
use crate::schedule::fixture::{AppFixture, FleetFixture};

/// Two clusters of four CPUs each.
fn fleet() -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p", 4, "cpu=1000");
    fleet.pool("b", "p", 4, "cpu=1000");
    fleet
}

fn low(fleet: &FleetFixture, name: &str, replicas: u32, priority: i32) -> AppFixture {
    fleet.app(name, Strategy::StaticWeight).deployment_of(replicas, "cpu=1000").priority(priority)
}

fn proposals(fleet: &FleetFixture) -> Vec<Preemption> {
    let target = fleet.schedule();
    preemptions(&fleet.fleet, &fleet.variants, &fleet.record, &target)
}

/// `2 in a: low 1, rest 1`
fn text(fleet: &FleetFixture) -> Vec<String> {
    let of = |found: &Preemption| {
        let victims = found.victims.iter().map(|v| format!("{} {}", fleet.fleet.app(v.app).name, v.replicas));
        let victims: Vec<String> = victims.collect();
        format!("{} in {}: {}", found.replicas, fleet.fleet.cluster(found.cluster).name, victims.join(", "))
    };
    proposals(fleet).iter().map(of).collect()
}

/// An app of priority 10 that wants two replicas, and asks.
fn asks(fleet: &mut FleetFixture, replicas: u32) {
    let app = fleet.app("urgent", Strategy::StaticWeight).deployment_of(replicas, "cpu=1000").priority(10);
    fleet.add(app);
    fleet.app_mut("urgent").preempts = true;
}

#[test]
fn the_least_that_must_go_and_only_of_lower_priority() {
    // everything is full: who runs where, with which priority
    type Apps<'a> = &'a [(&'a str, u32, i32, &'a str)];
    let facts: [(Apps<'_>, u32, &[&str]); 7] = [
        // one cluster would do in either; the lower name
        (&[("low", 8, 0, "a=4 b=4")], 2, &["2 in a: low 2"]),
        // the lowest priority goes, wherever it is
        (&[("low", 4, 0, "b=4"), ("mid", 4, 5, "a=4")], 2, &["2 in b: low 2"]),
        // equal or higher priority never goes
        (&[("same", 8, 10, "a=4 b=4")], 2, &[]),
        (&[("high", 8, 11, "a=4 b=4")], 2, &[]),
        // of several in one cluster the lowest first
        (&[("low", 1, 0, "a=1"), ("mid", 3, 5, "a=3"), ("top", 4, 20, "b=4")], 3, &["3 in a: low 1, mid 2"]),
        // there is not enough of them
        (&[("low", 2, 0, "a=2"), ("top", 6, 20, "a=2 b=4")], 3, &[]),
        // there is room already
        (&[("low", 4, 0, "a=4")], 2, &[]),
    ];
    for (apps, wanted, expected) in facts {
        let mut fleet = fleet();
        for (name, replicas, priority, seats) in apps {
            let app = low(&fleet, name, *replicas, *priority);
            fleet.add(app).runs(name, seats);
        }
        asks(&mut fleet, wanted);
        assert_eq!(text(&fleet), expected, "{apps:?}");
    }
}

#[test]
fn floors_data_copies_and_frozen_apps_do_not_give_way() {
    type Change<'a> = &'a dyn Fn(&mut FleetFixture);
    let facts: [(Change<'_>, &[&str]); 5] = [
        (&|_| {}, &["2 in a: low 2"]),
        (
            &|fleet| {
                let app = low(fleet, "low", 8, 0).with(|policy| policy.min = 3);
                fleet.add(app).runs("low", "a=4 b=4");
            },
            &[],
        ),
        (
            &|fleet| {
                let app = low(fleet, "low", 8, 0).with(|policy| policy.capacity = Capacity::Ignore);
                fleet.add(app).runs("low", "a=4 b=4");
            },
            &[],
        ),
        (
            &|fleet| {
                let app = fleet.app("low", Strategy::Duplicated).deployment_of(4, "cpu=1000");
                fleet.add(app).runs("low", "a=4 b=4");
            },
            &[],
        ),
        (
            &|fleet| {
                fleet.record.suspended.insert(("team".into(), "low".into()));
            },
            &[],
        ),
    ];
    for (index, (change, expected)) in facts.iter().enumerate() {
        let mut fleet = fleet();
        let app = low(&fleet, "low", 8, 0);
        fleet.add(app).runs("low", "a=4 b=4");
        change(&mut fleet);
        asks(&mut fleet, 2);
        assert_eq!(text(&fleet), *expected, "{index}");
    }
}

#[test]
fn who_does_not_ask_gets_no_proposal_and_no_victim_can_be_left_out() {
    let mut fleet = fleet();
    // a large one and small ones: taking the small ones first would not be enough, and then they stay
    let large = fleet.app("large", Strategy::StaticWeight).deployment_of(1, "cpu=1000").priority(1);
    let small = fleet.app("small", Strategy::StaticWeight).deployment_of(7, "cpu=1000").priority(0);
    fleet.add(large).add(small).runs("large", "a=1").runs("small", "a=3 b=4");
    asks(&mut fleet, 4);
    // b alone holds four of the lowest; a would cost a replica of the large one
    assert_eq!(text(&fleet), ["4 in b: small 4"]);
    fleet.app_mut("urgent").preempts = false;
    assert_eq!(text(&fleet), Vec::<String>::new());
}

#[test]
fn accepted_it_places_the_app_and_holds() {
    let mut fleet = fleet();
    let app = low(&fleet, "low", 8, 0);
    fleet.add(app).runs("low", "a=4 b=4");
    asks(&mut fleet, 2);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "urgent"), "");
    let found = preemptions(&fleet.fleet, &fleet.variants, &fleet.record, &target);
    assert_eq!(found.len(), 1);
    fleet.record.apps.extend(found[0].placed.clone());
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "urgent"), fleet.seats(&target, "low")), ("a=2".into(), "a=2 b=4".into()));
    assert!(proposals(&fleet).is_empty());
    // The victim says for whom it is short; neither it nor anybody else moves in the next plan.
    let urgent = fleet.fleet.app_id("team", "urgent").unwrap();
    let gave_way = Deficit::GaveWay { workload: 0, to: urgent, cluster: fleet.id("a"), replicas: 2 };
    let unplaced = Deficit::Unplaced { workload: 0, replicas: 2, wanted: 8, displaced: 0 };
    assert_eq!(target.apps[0].deficits, [unplaced, gave_way.clone()]);
    assert!(target.displaced.is_empty() && target.overdrawn.is_empty());
    fleet.record_target(&target);
    let again = fleet.schedule();
    assert_eq!(again, target);
    // With new room it grows again as far as that goes, and says the rest.
    fleet.pool("b", "q", 1, "cpu=1000");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "low"), "a=2 b=5");
    let gave_way = Deficit::GaveWay { workload: 0, to: urgent, cluster: fleet.id("a"), replicas: 1 };
    assert!(target.apps[0].deficits.contains(&gave_way), "{:?}", target.apps[0].deficits);
    // Once the app that asked is gone, the place is free again, and nothing is said any more.
    fleet.record_target(&target);
    let app = fleet.app("urgent", Strategy::StaticWeight).deployment_of(0, "cpu=1000").priority(10);
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "low"), target.apps[0].deficits.as_slice()), ("a=3 b=5".into(), [].as_slice()));
}

/// What somebody wrote into `gaveWay` is said only where it may be so.
#[test]
fn what_gives_way_does_so_for_one_that_may_ask_for_it() {
    for (to, priority, preempts, said) in [
        ("urgent", 10, true, true),
        ("urgent", 10, false, false),
        ("urgent", 0, true, false),
        ("low", 10, true, false),
        ("nobody", 10, true, false),
    ] {
        let mut fleet = fleet();
        let app = low(&fleet, "low", 8, 0);
        fleet.add(app).runs("low", "a=2 b=4");
        asks(&mut fleet, 2);
        fleet.runs("urgent", "a=2");
        let urgent = fleet.app_mut("urgent");
        (urgent.priority, urgent.preempts) = (priority, preempts);
        let placed = fleet.record.apps.get_mut(&("team".into(), "low".into())).unwrap();
        let workload = placed.workloads.values_mut().next().unwrap();
        workload.gave_way = vec![GaveWay { to: ("team".into(), to.into()), cluster: "a".into(), replicas: 7 }];
        let target = fleet.schedule();
        let found =
            target.apps[0].deficits.iter().any(|deficit| matches!(deficit, Deficit::GaveWay { replicas: 2, .. }));
        assert_eq!(found, said, "{to} {priority} {preempts}: {:?}", target.apps[0].deficits);
    }
}

#[test]
fn a_floor_is_one_of_the_cluster_and_not_of_each_pool() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 2, "cpu=1000");
    fleet.pool("a", "q", 2, "cpu=1000");
    let app = low(&fleet, "low", 4, 0).with(|policy| policy.min = 2);
    fleet.add(app).runs("low", "a/p=2 a/q=2");
    asks(&mut fleet, 2);
    assert_eq!(text(&fleet), ["2 in a: low 2"]);
    asks(&mut fleet, 3);
    assert_eq!(text(&fleet), Vec::<String>::new());
}

#[test]
fn the_last_replica_of_a_group_that_a_spread_needs_stays() {
    let mut fleet = fleet();
    let app = low(&fleet, "low", 8, 0).spread(TopologyKey::Cluster, 2, None);
    fleet.add(app).runs("low", "a=4 b=4");
    asks(&mut fleet, 3);
    assert_eq!(text(&fleet), ["3 in a: low 3"]);
    asks(&mut fleet, 4);
    assert_eq!(text(&fleet), Vec::<String>::new());
}

#[test]
fn sets_give_way_whole_and_ask_whole() {
    let mut fleet = fleet();
    let parts = [("head", 1, "cpu=1000"), ("workers", 3, "cpu=1000")];
    let set = fleet.app("ray", Strategy::StaticWeight).parts("ray", &parts);
    let b = low(&fleet, "solid", 4, 20);
    fleet.add(set).add(b).runs("solid", "b=4");
    // what runs of a set is recorded by part
    let target = fleet.schedule();
    assert_eq!((fleet.seats_of(&target, "ray", 0), fleet.seats_of(&target, "ray", 1)), ("a=1".into(), "a=3".into()));
    fleet.record_target(&target);
    asks(&mut fleet, 1);
    // one replica is enough, and a set without a worker is none
    assert_eq!(text(&fleet), ["1 in a: ray 1, ray 3"]);
    // and a set that asks needs place for all of its parts at once
    let app = low(&fleet, "low", 4, 0);
    fleet.add(app).runs("low", "a=4");
    let set = fleet.app("ray", Strategy::StaticWeight).parts("ray", &parts).priority(10);
    fleet.add(set);
    fleet.record.apps.remove(&("team".into(), "ray".into()));
    fleet.app_mut("ray").preempts = true;
    fleet.app_mut("urgent").preempts = false;
    assert_eq!(text(&fleet), ["4 in a: low 4"]);
}

#[test]
fn where_all_must_fit_the_room_of_other_clusters_counts() {
    let mut fleet = fleet();
    let app = low(&fleet, "low", 5, 0);
    fleet.add(app).runs("low", "a=3 b=2");
    let app = fleet.app("urgent", Strategy::DynamicWeight).deployment_of(5, "cpu=1000").priority(10);
    fleet.add(app);
    fleet.app_mut("urgent").preempts = true;
    assert_eq!(fleet.placed("urgent"), "");
    let found = proposals(&fleet);
    assert_eq!(found.iter().map(|of| of.victims[0].replicas).collect::<Vec<_>>(), [2]);
}
