//! Division, growth and shrinkage of one app: facts of the problem cases and of the specification.

use crate::api::{Capacity, Strategy};
use crate::base::SmolStr;
use crate::placements::Estimates;
use crate::schedule::Deficit;
use crate::schedule::fixture::{FleetFixture, taint};

/// (weights, replicas, result) over clusters a, b, c, d with nothing running.
#[test]
fn static_weights_follow_webster() {
    let facts = [
        ("a=3 b=2 c=1", 12, "a=6 b=4 c=2"),
        ("a=3 b=2 c=1", 13, "a=7 b=4 c=2"),
        ("a=3 b=2 c=1", 14, "a=7 b=5 c=2"),
        ("a=2 b=1", 1, "a=1"),
        ("a=2 b=1", 2, "a=1 b=1"),
        ("a=2 b=1", 3, "a=2 b=1"),
        ("a=170 b=110 c=60", 5, "a=2 b=2 c=1"),
        ("a=17 b=11 c=6", 6, "a=3 b=2 c=1"),
        ("a=2 b=1 c=1 d=1", 8, "a=3 b=2 c=2 d=1"),
        // division-04: c gets nothing by rounding
        ("a=3 b=1 c=1", 2, "a=1 b=1"),
    ];
    for (weights, replicas, expected) in facts {
        let mut fleet = FleetFixture::new(&["a", "b", "c", "d"]);
        let app = fleet.app("web", Strategy::StaticWeight).deployment(replicas).weights(&fleet, weights);
        fleet.add(app);
        assert_eq!(fleet.placed("web"), expected, "{weights} {replicas}");
    }
}

#[test]
fn division_10_bounds_and_room_leave_replicas_unplaced() {
    for (nodes, expected, missing) in [(10, "c1=1 c2=7", 0), (5, "c1=1 c2=5", 2)] {
        let mut fleet = FleetFixture::new(&["c1", "c2"]);
        fleet.pool("c1", "p", 10, "cpu=1000");
        fleet.pool("c2", "p", nodes, "cpu=1000");
        let mut app =
            fleet.app("web", Strategy::StaticWeight).deployment_of(8, "cpu=1000").weights(&fleet, "c1=1 c2=10");
        app = app.with(|policy| {
            let rules = policy.weights.as_mut().unwrap();
            (rules[0].min, rules[0].max) = (Some(1), Some(1));
            (rules[1].min, rules[1].max) = (Some(1), Some(7));
        });
        fleet.add(app);
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), expected);
        let unplaced = Deficit::Unplaced { workload: 0, replicas: missing, wanted: 8, displaced: 0 };
        assert_eq!(target.apps[0].deficits, if missing > 0 { vec![unplaced] } else { vec![] });
    }
}

#[test]
fn totals_change_and_little_moves() {
    // (strategy, running, replicas, result)
    let facts = [
        // division-11
        (Strategy::StaticWeight, "a=8 b=40", 16, "a=8 b=8"),
        (Strategy::StaticWeight, "a=6 b=6", 14, "a=7 b=7"),
        (Strategy::Aggregated, "a=4 b=8", 8, "b=8"),
        (Strategy::DynamicWeight, "a=4 b=8", 6, "a=2 b=4"),
        // What runs is settled, however uneven.
        (Strategy::StaticWeight, "a=11 b=1", 12, "a=11 b=1"),
        (Strategy::DynamicWeight, "a=11 b=1", 12, "a=11 b=1"),
        (Strategy::Aggregated, "a=11 b=1", 12, "a=11 b=1"),
        (Strategy::Duplicated, "a=2 b=2", 3, "a=3 b=3"),
    ];
    for (strategy, running, replicas, expected) in facts {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        for cluster in ["a", "b"] {
            fleet.pool(cluster, "p", 100, "cpu=1000");
        }
        let app = fleet.app("web", strategy).deployment_of(replicas, "cpu=1000");
        fleet.add(app).runs("web", running);
        assert_eq!(fleet.placed("web"), expected, "{strategy:?} {running} -> {replicas}");
    }
}

#[test]
fn changed_weights_divide_anew() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(12).weights(&fleet, "a=1 b=1 c=2");
    fleet.add(app).runs("web", "a=6 b=6");
    assert_eq!(fleet.placed("web"), "a=6 b=6", "the rules are those of the last division");
    fleet.divided_otherwise("web");
    assert_eq!(fleet.placed("web"), "a=3 b=3 c=6");
    let placed = fleet.record.apps.values_mut().next().unwrap();
    placed.workloads.values_mut().for_each(|w| w.weights = "v2:something".into());
    assert_eq!(fleet.placed("web"), "a=6 b=6", "an unknown digest never moves a replica");
}

#[test]
fn division_15_aggregated_needs_room_for_all() {
    for (replicas, expected) in [(10, ""), (7, "a=4 b=3")] {
        let mut fleet = FleetFixture::new(&["a", "b", "c"]);
        for (cluster, nodes) in [("a", 5), ("b", 3), ("c", 1)] {
            fleet.pool(cluster, "p", nodes, "cpu=1000");
        }
        let app = fleet.app("web", Strategy::Aggregated).deployment_of(replicas, "cpu=1000");
        fleet.add(app);
        assert_eq!(fleet.placed("web"), expected);
    }
}

#[test]
fn unlimited_where_capacity_is_not_stated() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("web", Strategy::DynamicWeight).deployment(4);
    fleet.add(app);
    assert_eq!(fleet.placed("web"), "a=2 b=2");
    let app = fleet.app("web", Strategy::StaticWeight).deployment(4).with(|p| p.capacity = Capacity::Require);
    fleet.add(app);
    assert_eq!(fleet.placed("web"), "a=2 b=2");
}

/// What an estimator says weighs; what fits is still a matter of room, and what runs stays.
#[test]
fn estimates_weigh_and_do_not_bound() {
    let fleet = |estimates: &[(&str, Option<&str>, u64)]| {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 10, "cpu=1000");
        fleet.pool("b", "p", 10, "cpu=1000");
        fleet.pool("b", "gpu", 2, "cpu=1000").taints = vec![taint("gpu:NoSchedule")];
        let app = fleet.app("web", Strategy::DynamicWeight).deployment_of(8, "cpu=1000");
        fleet.add(app.weigh_by("told"));
        let mut of = Estimates::new();
        for (cluster, pool, room) in estimates {
            let rows = of.entry(("team".into(), (*cluster).into())).or_default();
            rows.insert(pool.map(SmolStr::from), *room);
        }
        fleet.record.estimates.insert("told".into(), of);
        fleet
    };
    for (estimates, expected) in [
        (vec![("a", None, 30), ("b", None, 10)], "a=6 b=2"),
        (vec![("a", None, 10)], "a=8"),
        // pools that the app may not use do not count
        (vec![("a", None, 10), ("b", Some("p"), 10), ("b", Some("gpu"), 90)], "a=4 b=4"),
        // more is said than fits
        (vec![("a", None, 1000), ("b", None, 1)], "a=8"),
    ] {
        assert_eq!(fleet(&estimates).placed("web"), expected, "{estimates:?}");
    }
    // nothing is said at all: by room
    let mut silent = fleet(&[]);
    silent.record.estimates.clear();
    assert_eq!(silent.placed("web"), "a=4 b=4");
    // what runs stays, whatever is said, and growth follows what is said
    let mut runs = fleet(&[("a", None, 1), ("b", None, 0)]);
    runs.runs("web", "b=6");
    assert_eq!(runs.placed("web"), "a=2 b=6");
}

/// Where fewer fit than the floor of a cluster, what is there stays, and nothing comes.
#[test]
fn a_cluster_without_room_for_its_floor_takes_nothing_new() {
    for (runs, expected) in [("a=2 b=1", "a=3 b=1"), ("a=2", "a=3"), ("b=1", "a=3 b=1"), ("a=3 b=2", "a=3 b=2")] {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 10, "cpu=4000");
        fleet.pool("b", "p", 1, "cpu=4000");
        let app = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=1500");
        fleet.add(app.with(|policy| (policy.min, policy.max) = (3, Some(3)))).runs("web", runs);
        let target = fleet.schedule();
        assert_eq!((fleet.seats(&target, "web").as_str(), fleet.violations(&target)), (expected, vec![]), "{runs}");
    }
}

/// An estimator that begins to be asked and sees nothing stops nothing that has no place elsewhere.
#[test]
fn what_runs_stays_when_an_estimator_begins_to_be_asked() {
    let of = |cluster: &str, room: u64| (("team".into(), cluster.into()), [(None, room)].into());
    for (told, expected) in [(vec![of("a", 0), of("b", 3)], "a=3 b=1"), (vec![], "a=4")] {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 4, "cpu=1000");
        fleet.pool("b", "p", 1, "cpu=1000");
        let web = fleet.app("web", Strategy::DynamicWeight).deployment_of(4, "cpu=1000").weigh_by("told");
        fleet.add(web.with(|policy| policy.capacity = Capacity::Cap)).runs("web", "a=4").divided_otherwise("web");
        fleet.record.estimates.insert("told".into(), told.into_iter().collect());
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), expected);
        fleet.record_target(&target);
        assert_eq!(fleet.placed("web"), expected);
    }
}

/// `perCluster.max` holds where no estimator sees room, too.
#[test]
fn what_is_too_much_for_its_cluster_leaves_it_whatever_is_estimated() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let web = fleet.app("web", Strategy::DynamicWeight).deployment_of(4, "cpu=500").weigh_by("told");
    fleet.add(web.with(|policy| policy.max = Some(1))).runs("web", "a=2 b=2").divided_otherwise("web");
    let of = |cluster: &str, room: u64| (("team".into(), cluster.into()), [(None, room)].into());
    fleet.record.estimates.insert("told".into(), [of("a", 0), of("b", 3)].into());
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=1 b=1");
    fleet.record_target(&target);
    assert_eq!(fleet.placed("web"), "a=1 b=1");
}

#[test]
fn what_runs_where_no_estimator_sees_room_stays_and_does_not_grow() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p0", 1, "cpu=4000");
    fleet.pool("a", "p1", 3, "cpu=4000");
    fleet.pool("b", "p0", 0, "cpu=4000");
    let job = fleet.app("job", Strategy::Duplicated).deployment_of(1, "cpu=1500").clusters(fleet.set(&["a"]));
    let fill = fleet.app("fill", Strategy::Duplicated).deployment_of(6, "cpu=1000").clusters(fleet.set(&["a"]));
    let web = fleet.app("web", Strategy::DynamicWeight).deployment_of(3, "cpu=3000").weigh_by("told");
    fleet.add(job).add(fill).add(web);
    fleet.runs("job", "a/p0=1").runs("fill", "a/p0=2 a/p1=4").runs("web", "a/p0=1").divided_otherwise("web");
    let of = |cluster: &str, room: u64| (("team".into(), cluster.into()), [(None, room)].into());
    fleet.record.estimates.insert("told".into(), [of("a", 0), of("b", 3)].into());
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=1");
    fleet.record_target(&target);
    assert_eq!(fleet.placed("web"), "a=1");
}
