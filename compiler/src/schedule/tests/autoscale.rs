//! Workloads whose replicas an autoscaler owns.

use crate::api::AutoscaledRoom::{self, Max, Min};
use crate::api::Strategy;
use crate::schedule::fixture::{AppFixture, FleetFixture};
use crate::schedule::{Deficit, Target};

fn fleet() -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for cluster in ["a", "b", "c"] {
        fleet.pool(cluster, "p", 10, "cpu=1000");
    }
    fleet
}

fn web(fleet: &FleetFixture, strategy: Strategy, min: u32, max: u32, room: AutoscaledRoom) -> AppFixture {
    fleet.app("web", strategy).deployment_of(99, "cpu=1000").autoscaled(min, max, room)
}

/// `a=booked:min..max` for each seat of the first app.
fn bounds(fleet: &FleetFixture, target: &Target) -> String {
    let each = target.apps[0].seats.iter().map(|seat| {
        let (min, max) = seat.bounds.unwrap();
        format!("{}={}:{min}..{max}", fleet.fleet.cluster(seat.cluster).name, seat.replicas)
    });
    each.collect::<Vec<_>>().join(" ")
}

#[test]
fn bounds_are_divided_in_equal_shares() {
    use Strategy::{DynamicWeight, StaticWeight};
    let facts = [
        (StaticWeight, 6, 12, Min, "a=2:2..4 b=2:2..4 c=2:2..4"),
        (StaticWeight, 5, 11, Min, "a=2:2..4 b=2:2..4 c=1:1..3"),
        (DynamicWeight, 6, 12, Min, "a=2:2..4 b=2:2..4 c=2:2..4"),
        // at most as many clusters as the fewest replicas
        (StaticWeight, 2, 10, Min, "a=1:1..5 b=1:1..5"),
        (StaticWeight, 1, 10, Min, "a=1:1..10"),
        // the most replicas are booked
        (StaticWeight, 6, 12, Max, "a=4:2..4 b=4:2..4 c=4:2..4"),
        (StaticWeight, 1, 10, Max, "a=10:1..10"),
        (StaticWeight, 2, 20, Max, "a=10:1..10 b=10:1..10"),
        (Strategy::Duplicated, 2, 5, Min, "a=2:2..5 b=2:2..5 c=2:2..5"),
    ];
    for (strategy, min, max, room, expected) in facts {
        let mut fleet = fleet();
        let app = web(&fleet, strategy, min, max, room);
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(bounds(&fleet, &target), expected, "{strategy:?} {min} {max} {room:?}");
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps, target.apps, "{strategy:?} {min} {max} {room:?}: settled");
    }
}

#[test]
fn weights_only_say_where_it_may_run() {
    let mut fleet = fleet();
    let app = fleet.app("web", Strategy::StaticWeight).deployment(1).weights(&fleet, "a=80 b=20").autoscaled(4, 9, Min);
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(bounds(&fleet, &target), "a=2:2..5 b=2:2..4");
}

#[test]
fn quota_counts_the_most_replicas() {
    let mut fleet = fleet();
    fleet.quota("team", "requests.cpu=10000");
    let app = web(&fleet, Strategy::StaticWeight, 2, 11, Min);
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(bounds(&fleet, &target), "");
    let refused = Deficit::Quota {
        resource: "requests.cpu".into(),
        cluster: None,
        used: 0,
        more: 11_000,
        hard: 10_000,
        others: Vec::new(),
    };
    assert_eq!(target.apps[0].deficits, [refused]);
    let app = web(&fleet, Strategy::StaticWeight, 2, 10, Min);
    fleet.add(app);
    assert_eq!(bounds(&fleet, &fleet.schedule()), "a=1:1..5 b=1:1..5");
}

#[test]
fn the_check_knows_autoscalers() {
    let mut fleet = fleet();
    let app = web(&fleet, Strategy::StaticWeight, 4, 8, Min);
    fleet.add(app);
    let target = fleet.schedule();
    for change in [
        (|seat| seat.bounds = None) as fn(&mut crate::schedule::Seat),
        |seat| seat.bounds = Some((1, 4)),
        |seat| seat.bounds = Some((2, 4)),
        |seat| seat.bounds = Some((2, 1)),
    ] {
        let mut target = target.clone();
        change(&mut target.apps[0].seats[0]);
        assert!(!fleet.violations(&target).is_empty(), "{:?}", target.apps[0].seats);
    }
}

/// Four replicas at most, all in one cluster: where a rule lets that have two, a cluster that ran one has two.
#[test]
fn a_cluster_has_no_more_than_it_may_of_the_most_replicas() {
    let mut fleet = fleet();
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(1, "cpu=1000").weights(&fleet, "a=1 b=1 c=1");
    let app = app.with(|policy| policy.weights.iter_mut().flatten().for_each(|rule| rule.max = Some(2)));
    fleet.add(app.autoscaled(1, 4, Max)).runs("web", "a=1 b=1 c=1");
    let target = fleet.schedule();
    assert_eq!(bounds(&fleet, &target), "a=2:1..2 b=1:1..1 c=1:1..1");
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}
