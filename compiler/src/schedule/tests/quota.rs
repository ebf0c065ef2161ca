//! Team quota.

use crate::api::{Lifecycle, Strategy};
use crate::model::TopologyKey;
use crate::schedule::fixture::FleetFixture;
use crate::schedule::{Deficit, RefusedThere};

#[test]
fn quota_01_growth_of_copies_counts_in_every_cluster() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.quota("team", "cpu=10000");
    let app = fleet.app("web", Strategy::Duplicated).deployment_of(4, "cpu=1000");
    fleet.add(app).runs("web", "a=2 b=2 c=2");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=2 b=2 c=2");
    let refused = Deficit::Quota {
        resource: "cpu".into(),
        cluster: None,
        used: 6000,
        more: 6000,
        hard: 10_000,
        others: Vec::new(),
    };
    assert_eq!(target.apps[0].deficits, [refused]);
}

#[test]
fn quota_04_a_failover_is_not_refused_and_growth_is() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "requests.cpu=48000");
    fleet.pool("a", "p", 24, "cpu=1000");
    fleet.pool("b", "p", 72, "cpu=1000");
    let one = fleet.app("app1", Strategy::StaticWeight).deployment_of(24, "cpu=1000");
    let two = fleet.app("app2", Strategy::StaticWeight).deployment_of(25, "cpu=1000");
    fleet.add(one).add(two).runs("app1", "a=24").runs("app2", "b=24");
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "app1"), "b=24");
    assert_eq!(fleet.seats(&target, "app2"), "b=24");
    let refused = Deficit::Quota {
        resource: "requests.cpu".into(),
        cluster: None,
        used: 48_000,
        more: 1000,
        hard: 48_000,
        others: Vec::new(),
    };
    assert_eq!(target.apps[1].deficits, [refused]);
}

#[test]
fn equality_passes_and_order_is_by_priority() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.quota("team", "pods=5");
    for (name, replicas, priority) in [("a", 3, 0), ("b", 3, 9), ("c", 2, 1)] {
        let app = fleet.app(name, Strategy::StaticWeight).deployment(replicas).priority(priority);
        fleet.add(app);
    }
    let target = fleet.schedule();
    let seats: Vec<_> = ["a", "b", "c"].map(|app| fleet.seats(&target, app)).into();
    assert_eq!(seats, ["", "a=3", "a=2"]);
}

#[test]
fn an_app_that_grows_and_must_move_moves_and_does_not_grow() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "pods=8");
    let app = fleet.app("web", Strategy::StaticWeight).deployment(10);
    fleet.add(app).runs("web", "a=4 b=4");
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    assert_eq!(fleet.placed("web"), "b=8");
}

#[test]
fn what_runs_stays_when_the_quota_is_lowered_and_a_written_number_counts() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "pods=2");
    let app = fleet.app("web", Strategy::StaticWeight).deployment(4);
    fleet.add(app.clone()).runs("web", "a=2 b=2");
    assert_eq!(fleet.placed("web"), "a=2 b=2");
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "pods=10");
    fleet.add(app.writes(fleet.id("a"), 9));
    assert_eq!(fleet.placed("web"), "", "9 and 2 are more than 10");
}

#[test]
fn a_quota_of_each_cluster_caps_the_division() {
    let facts = [
        // quota of each cluster, replicas, where they are, what is refused
        ("requests.cpu=3000", 6, "a=3 b=3", None),
        ("requests.cpu=3000", 7, "a=3 b=3", Some(("requests.cpu", 3000, 1000, 3000))),
        ("pods=2", 6, "a=2 b=2", Some(("pods", 2, 2, 2))),
        ("limits.cpu=1000", 4, "a=2 b=2", None),
    ];
    for (quota, replicas, expected, refused) in facts {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.quota_per_cluster("team", quota);
        let app = fleet.app("web", Strategy::StaticWeight).deployment_of(replicas, "cpu=1000");
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), expected, "{quota} {replicas}");
        let quotas: Vec<&Deficit> =
            target.apps[0].deficits.iter().filter(|d| matches!(d, Deficit::Quota { .. })).collect();
        let expected = refused.map(|(resource, used, more, hard)| {
            let there = RefusedThere { cluster: fleet.id("b"), resource: resource.into(), used, more, hard };
            let cluster = Some(fleet.id("a"));
            Deficit::Quota { resource: resource.into(), cluster, used, more, hard, others: vec![there] }
        });
        assert_eq!(quotas, expected.iter().collect::<Vec<_>>(), "{quota} {replicas}");
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps[0].seats, target.apps[0].seats, "{quota} {replicas}: settled");
    }
}

#[test]
fn what_a_cluster_has_no_quota_for_goes_elsewhere() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota_per_cluster("team", "requests.cpu=5000");
    let first = fleet.app("first", Strategy::StaticWeight).deployment_of(4, "cpu=1000").weights(&fleet, "a=1");
    let second = fleet.app("second", Strategy::StaticWeight).deployment_of(4, "cpu=1000");
    fleet.add(first).add(second);
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "first"), fleet.seats(&target, "second")), ("a=4".into(), "a=1 b=3".into()));
    // A drain is stopped by the quota of where it goes: what has no place stays.
    fleet.record_target(&target);
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "second"), "b=4");
    assert_eq!(fleet.seats(&target, "first"), "a=4");
}

#[test]
fn copies_need_the_quota_of_their_cluster() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota_per_cluster("team", "requests.cpu=2000");
    let first = fleet.app("first", Strategy::StaticWeight).deployment_of(1, "cpu=1000").weights(&fleet, "a=1");
    let second = fleet.app("second", Strategy::Duplicated).deployment_of(2, "cpu=1000");
    fleet.add(first).add(second);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "second"), "b=2");
    let refused = Deficit::Quota {
        resource: "requests.cpu".into(),
        cluster: Some(fleet.id("a")),
        used: 1000,
        more: 2000,
        hard: 2000,
        others: Vec::new(),
    };
    assert_eq!(target.apps[1].deficits, [refused]);
}

#[test]
fn objects_are_counted_where_they_are() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "count/deployments.apps=3 count/widgets.example.com=2 services=9");
    for (name, clusters) in [("one", "a=1 b=1"), ("two", "a=1"), ("three", "b=1")] {
        let app = fleet.app(name, Strategy::StaticWeight).deployment(2).weights(&fleet, clusters);
        fleet.add(app.object("", "v1", "Service", "main"));
    }
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "one"), "a=1 b=1");
    // `three` comes before `two`
    assert_eq!((fleet.seats(&target, "three").as_str(), fleet.seats(&target, "two").as_str()), ("b=2", ""));
    let refused = Deficit::Quota {
        resource: "count/deployments.apps".into(),
        cluster: None,
        used: 3,
        more: 1,
        hard: 3,
        others: Vec::new(),
    };
    assert_eq!(target.apps[2].deficits, [refused]);
    // Objects alone count, too.
    let widgets = fleet.app("zz", Strategy::Duplicated).object("example.com", "v1", "Widget", "w");
    fleet.add(widgets.object("example.com", "v1", "Widget", "x"));
    let target = fleet.schedule();
    assert_eq!(target.apps[3].clusters.len(), 0);
    assert!(matches!(&target.apps[3].deficits[..], [Deficit::Quota { used: 0, more: 4, hard: 2, .. }]));
}

#[test]
fn what_may_not_ask_for_more_elsewhere_stays() {
    // In b an override writes four replicas, and the quota allows what runs in a.
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "requests.cpu=1000");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(2, "cpu=1000").writes(fleet.id("b"), 4);
    fleet.add(app.clusters(fleet.set(&["b"]))).runs("web", "a=1");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=1");
    let refused = Deficit::Quota {
        resource: "requests.cpu".into(),
        cluster: None,
        used: 1000,
        more: 3000,
        hard: 1000,
        others: Vec::new(),
    };
    assert!(target.apps[0].deficits.contains(&refused), "{:?}", target.apps[0].deficits);
}

/// What a quota refuses selects no cluster either: scaled to nothing later, it would be there with no replicas.
#[test]
fn an_app_that_is_refused_is_in_no_cluster() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "count/deployments.apps=0");
    fleet.add(fleet.app("web", Strategy::Duplicated).deployment_of(1, "cpu=1000"));
    for replicas in [1, 0, 1] {
        fleet.add(fleet.app("web", Strategy::Duplicated).deployment_of(replicas, "cpu=1000"));
        let target = fleet.schedule();
        assert!(target.apps[0].clusters.is_empty() && target.apps[0].seats.is_empty(), "{replicas}: {target:?}");
        assert_eq!(fleet.violations(&target), Vec::<String>::new());
        fleet.record_target(&target);
    }
}

/// What runs too often shrinks where it is, if the quota has no more objects for another cluster.
/// At most one in each cluster, and the quota allows no other cluster.
#[test]
fn what_is_too_much_for_its_cluster_leaves_it_whatever_the_quota() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "count/deployments.apps=0");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(4, "cpu=1000").with(|policy| policy.max = Some(1));
    fleet.add(app).runs("web", "a=4").divided_otherwise("web");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=1");
    fleet.record_target(&target);
    assert_eq!(fleet.placed("web"), "a=1");
}

#[test]
fn what_must_shrink_shrinks_where_it_may() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.quota("team", "count/deployments.apps=2");
    fleet.add(fleet.app("web", Strategy::StaticWeight).deployment_of(3, "cpu=1000")).runs("web", "b=5 c=5");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "b=2 c=1");
    assert_eq!(target.apps[0].deficits, [], "all of it is placed");
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
    fleet.record_target(&target);
    assert_eq!(fleet.seats(&fleet.schedule(), "web"), "b=2 c=1");
}

/// A move that asks for more than the team has is refused, though what runs is in more groups than its spread allows now.
#[test]
fn what_a_quota_refuses_stays_in_too_many_groups() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.quota("team", "requests.cpu=0");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(11, "cpu=1000");
    // in c an override writes 2, whatever the share is, so that whoever leaves it costs more elsewhere
    let app = app.writes(fleet.id("c"), 2).spread(TopologyKey::Cluster, 1, Some(2));
    fleet.add(app).runs("web", "a=4 b=4 c=3");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=4 b=4 c=3");
    assert!(matches!(target.apps[0].deficits.as_slice(), [Deficit::Quota { .. }]), "{:?}", target.apps[0].deficits);
}

/// What a quota refuses of an app keeps none of its copies larger than they are wanted.
#[test]
fn copies_shrink_where_a_quota_refuses_the_rest() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.quota("team", "count/deployments.apps=0");
    let app = fleet.app("web", Strategy::Duplicated).deployment(0);
    fleet.add(app).runs("web", "a=1");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "");
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}

/// The quota is free again after the turn of an app; what it let in first stays, though the cluster has no room for the floor.
#[test]
fn what_a_quota_let_in_first_may_be_less_than_a_floor() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.pool("b", "p", 1, "cpu=3500");
    fleet.pool("c", "p", 1, "cpu=4000");
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    fleet.quota("team", "requests.cpu=7500");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(4, "cpu=1500").priority(1);
    let web = web.with(|policy| (policy.min, policy.max) = (2, Some(2)));
    let copies = fleet.app("copies", Strategy::Duplicated).deployment_of(1, "cpu=500");
    let late = fleet.app("late", Strategy::StaticWeight).deployment_of(1, "cpu=1500").clusters(fleet.set(&["b"]));
    fleet.add(web).add(copies).add(late).runs("web", "a=1").runs("copies", "a=3 b=1 c=3");
    let target = fleet.schedule();
    assert_eq!(["web", "copies", "late"].map(|app| fleet.seats(&target, app)), ["b=1 c=2", "b=1 c=1", "b=1"]);
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}
