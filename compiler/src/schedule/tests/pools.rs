//! Room, pools and bookings.

use serde_json::json;

use crate::api::{Capacity, Strategy};
use crate::base::{ClusterId, PoolId};
use crate::model::WorkloadKind;
use crate::placements::ObservedPool;
use crate::schedule::fixture::{AppFixture, FleetFixture, resources, taint};
use crate::schedule::{Deficit, Displaced, Growing, InFull};

#[test]
fn affinity_08_apps_of_one_compile_share_the_room() {
    let mut fleet = FleetFixture::new(&["m1", "m2"]);
    for cluster in ["m1", "m2"] {
        fleet.pool(cluster, "p", 1, "cpu=3000 memory=3221225472");
    }
    for i in 0..15 {
        let name = format!("app-{i:02}");
        let app = fleet.app(&name, Strategy::DynamicWeight).deployment_of(1, "cpu=1000 memory=1073741824");
        fleet.add(app);
    }
    let target = fleet.schedule();
    let placed: Vec<bool> = target.apps.iter().map(|app| !app.seats.is_empty()).collect();
    assert_eq!(placed, (0..15).map(|i| i < 6).collect::<Vec<_>>(), "by name, all alike otherwise");
    assert!(target.apps[6..].iter().all(|app| app.deficits.len() == 1));
}

#[test]
fn priority_04_the_order_of_files_does_not_matter_and_incumbents_stay() {
    let fleet = |high: bool, low_runs: bool| {
        let mut fleet = FleetFixture::new(&["a"]);
        fleet.pool("a", "p", 1, "cpu=4000");
        let low = fleet.app("low", Strategy::StaticWeight).deployment_of(1, "cpu=4000").priority(1);
        fleet.add(low);
        if high {
            let high = fleet.app("z-high", Strategy::StaticWeight).deployment_of(1, "cpu=4000").priority(100);
            fleet.add(high);
        }
        if low_runs {
            fleet.runs("low", "a=1");
        }
        fleet
    };
    let new = fleet(true, false);
    let target = new.schedule();
    assert_eq!((new.seats(&target, "low"), new.seats(&target, "z-high")), ("".into(), "a=1".into()));
    let incumbent = fleet(true, true);
    let target = incumbent.schedule();
    assert_eq!((incumbent.seats(&target, "low"), incumbent.seats(&target, "z-high")), ("a=1".into(), "".into()));
}

#[test]
fn division_05_ties_go_to_fewer_seats_then_more_room() {
    let mut fleet = FleetFixture::new(&["m1", "m2"]);
    for cluster in ["m1", "m2"] {
        fleet.pool(cluster, "p", 100, "cpu=1000");
    }
    for i in 0..100 {
        let app = fleet.app(&format!("app-{i:03}"), Strategy::StaticWeight).deployment_of(1, "cpu=100");
        fleet.add(app);
    }
    let target = fleet.schedule();
    let in_m1 = target.apps.iter().filter(|app| app.seats[0].cluster == fleet.id("m1")).count();
    assert_eq!(in_m1, 50);
}

#[test]
fn pods_go_to_pools_they_may_use_and_leave_special_ones_alone() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "general", 2, "cpu=2000");
    fleet.pool("a", "gpu", 1, "cpu=8000 nvidia.com/gpu=4").labels.insert("gpu".into(), "yes".into());
    fleet.pool("a", "spot", 4, "cpu=2000").taints = vec![taint("spot:NoSchedule")];
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=1000");
    let model = fleet
        .app("model", Strategy::StaticWeight)
        .deployment_of(2, "cpu=1000 nvidia.com/gpu=1")
        .pod(|pod| pod["nodeSelector"] = json!({"gpu": "yes"}));
    fleet.add(web).add(model);
    let target = fleet.schedule();
    let seats = |app: usize| -> Vec<_> { target.apps[app].seats.iter().map(|s| (s.pool, s.replicas)).collect() };
    assert_eq!(seats(0), [(None, 2)], "model: one pool is eligible");
    assert_eq!(seats(1), [(Some(PoolId(0)), 4), (Some(PoolId(1)), 2)], "web: general first");
}

#[test]
fn vanished_nodes_displace_in_order() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p", 10, "cpu=1000");
    fleet.pool("b", "p", 3, "cpu=1000");
    for (name, priority) in [("low", 1), ("top", 9)] {
        let app = fleet.app(name, Strategy::StaticWeight).deployment_of(5, "cpu=1000").priority(priority);
        fleet.add(app).runs(name, "a=5");
    }
    fleet.observed("a").capacity =
        Some(vec![ObservedPool { name: "p".into(), nodes: 6, allocatable: resources("cpu=1000"), others: vec![] }]);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "top"), "a=5");
    assert_eq!(fleet.seats(&target, "low"), "a=1 b=3");
    let lost = Deficit::Unplaced { workload: 0, replicas: 1, wanted: 5, displaced: 1 };
    assert_eq!(target.apps[0].deficits, [lost]);
    // All four are said to be displaced, those that moved, too, and by what the pool lacks.
    let displaced = Displaced {
        app: fleet.fleet.app_id("team", "low").unwrap(),
        workload: 0,
        cluster: fleet.id("a"),
        pool: Some(PoolId(0)),
        replicas: 4,
        short: vec![("cpu".into(), 4000)],
    };
    assert_eq!(target.displaced, [displaced]);
    assert_eq!(target.overdrawn, []);
    // It is said once: what was displaced no longer runs there.
    fleet.record_target(&target);
    assert_eq!(fleet.schedule().displaced, []);
}

/// What is booked whatever fits overdraws its pool, is not displaced, and is said with why.
#[test]
fn data_exclusive_apps_and_ignored_capacity_overdraw() {
    type Change<'a> = &'a dyn Fn(AppFixture, &FleetFixture) -> AppFixture;
    let claim = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    let facts: [(Change<'_>, Option<InFull>); 5] = [
        (&|app, _| app, None),
        (&|app, _| app.pod(|pod| pod["volumes"] = claim.clone()), Some(InFull::Bound)),
        (&|app, _| app.with(|policy| policy.capacity = Capacity::Ignore), Some(InFull::Ignored)),
        (&|app, _| app.exclusive(), Some(InFull::Exclusive)),
        (&|app, fleet| app.writes(fleet.id("a"), 4), Some(InFull::Written)),
    ];
    for (change, why) in facts {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 3, "cpu=1000");
        fleet.pool("b", "p", 9, "cpu=1000");
        let app = change(fleet.app("web", Strategy::StaticWeight).deployment_of(4, "cpu=1000"), &fleet);
        fleet.add(app).runs("web", "a=4");
        let target = fleet.schedule();
        let by = target.overdrawn.iter().flat_map(|of| &of.by).map(|(.., why)| *why).next();
        assert_eq!(by, why);
        assert_eq!(fleet.seats(&target, "web"), if why.is_some() { "a=4" } else { "a=3 b=1" }, "{why:?}");
        assert_eq!(target.displaced.len(), usize::from(why.is_none()), "{why:?}");
        let short: Vec<_> = target.overdrawn.iter().flat_map(|of| of.short.clone()).collect();
        assert_eq!(short, if why.is_some() { vec![("cpu".into(), 1000)] } else { vec![] });
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps, target.apps);
    }
}

/// What is booked whatever fits leaves all the same where its pods may no longer use their pool.
#[test]
fn what_may_not_use_its_pool_leaves_though_it_is_booked_in_full() {
    type Change<'a> = &'a dyn Fn(AppFixture, &FleetFixture) -> AppFixture;
    let facts: [(Change<'_>, &str); 3] = [
        (&|app, _| app, "b=1"),
        (&|app, _| app.exclusive(), "b=1"),
        (&|app, fleet| app.writes(fleet.id("a"), 4), "b=1"),
    ];
    for (change, expected) in facts {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 3, "cpu=1000");
        fleet.pool("b", "p", 9, "cpu=1000").labels.insert("gpu".into(), "yes".into());
        let app = fleet.app("web", Strategy::StaticWeight).deployment_of(1, "cpu=1000");
        let app = change(app.pod(|pod| pod["nodeSelector"] = json!({"gpu": "yes"})), &fleet);
        fleet.add(app).runs("web", "a=1");
        assert_eq!(fleet.seats(&fleet.schedule(), "web"), expected);
    }
}

/// Larger requests displace as vanished nodes do; a pool that is gone is said to be.
#[test]
fn grown_requests_and_lost_pools_displace() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 2, "cpu=4000");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(8, "cpu=2000");
    fleet.add(app).runs("web", "a=8");
    let target = fleet.schedule();
    let [displaced] = target.displaced.as_slice() else { panic!("{:?}", target.displaced) };
    assert_eq!((displaced.replicas, displaced.short.as_slice()), (4, [("cpu".into(), 8000)].as_slice()));
    fleet.runs("web", "a/gone=8");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(8, "cpu=1000");
    fleet.pool("a", "q", 1, "cpu=1000");
    fleet.pool("a", "p2", 1, "cpu=1000");
    fleet.add(app);
    assert_eq!(fleet.placed("web"), "a=8");
    fleet.cluster("a").pools.as_mut().unwrap()[0].nodes = 1;
    let target = fleet.schedule();
    let [displaced] = target.displaced.as_slice() else { panic!("{:?}", target.displaced) };
    assert_eq!((displaced.pool, displaced.replicas), (None, 2));
}

#[test]
fn ignored_room_displaces_nobody() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 5, "cpu=1000");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(4, "cpu=1000");
    let bold = fleet.app("bold", Strategy::StaticWeight).deployment_of(9, "cpu=1000").priority(9);
    let late = fleet.app("late", Strategy::StaticWeight).deployment_of(1, "cpu=1000");
    fleet.add(web).runs("web", "a=4").add(bold.with(|policy| policy.capacity = Capacity::Ignore)).add(late);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a=4");
    assert_eq!(fleet.seats(&target, "bold"), "a=9");
    assert_eq!(fleet.seats(&target, "late"), "", "the pool has room 0");
}

#[test]
fn observed_capacity_wins_and_usage_of_what_the_fleet_renders_is_not_counted_twice() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 100, "cpu=1000");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000");
    fleet.add(app);
    fleet.observed("a").capacity = Some(vec![ObservedPool {
        name: "p".into(),
        nodes: 8,
        allocatable: resources("cpu=1000"),
        others: vec![
            ("apps/Deployment/ns/main".into(), resources("cpu=5000")),
            ("apps/Deployment/kube-system/dns".into(), resources("cpu=2000")),
        ],
    }]);
    assert_eq!(fleet.placed("web"), "a=6");
}

#[test]
fn overcommit_reserve_and_virtual_nodes() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 4, "cpu=1000");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(30, "cpu=500");
    fleet.add(app);
    assert_eq!(fleet.placed("web"), "a=8");
    fleet.cluster("a").overcommit.insert("cpu".into(), (3, 2));
    assert_eq!(fleet.placed("web"), "a=12");
    fleet.cluster("a").reserved = resources("cpu=1000");
    assert_eq!(fleet.placed("web"), "a=10");
    fleet.cluster("a").pools.as_mut().unwrap()[0].scalable_to = Some(6);
    assert_eq!(fleet.placed("web"), "a=16");
    let growing = |fleet: &FleetFixture| fleet.schedule().growing;
    assert_eq!(growing(&fleet), [Growing { cluster: ClusterId(0), pool: PoolId(0), nodes: 2 }]);
    // 11 replicas and the reserve are 6500 of 1500 a node: five nodes
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(11, "cpu=500");
    fleet.add(app);
    assert_eq!(growing(&fleet), [Growing { cluster: ClusterId(0), pool: PoolId(0), nodes: 1 }]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(10, "cpu=500");
    fleet.add(app);
    assert_eq!(growing(&fleet), []);
}

#[test]
fn a_pool_that_may_no_longer_be_used_is_left_for_another() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "general", 4, "cpu=1000");
    fleet.pool("a", "fast", 4, "cpu=1000").labels.insert("disk".into(), "fast".into());
    fleet.pool("b", "fast", 1, "cpu=1000").labels.insert("disk".into(), "fast".into());
    let app = fleet.app("db", Strategy::StaticWeight).deployment_of(6, "cpu=1000");
    fleet.add(app.clone()).runs("db", "a/general=4 a/fast=2");
    assert_eq!(fleet.schedule().apps[0].seats.len(), 2, "settled");
    fleet.add(app.pod(|pod| pod["nodeSelector"] = json!({"disk": "fast"})));
    let target = fleet.schedule();
    // Four fit into the fast pools of a, one into that of b; the sixth has no place and is not stopped.
    let rows: Vec<_> = target.apps[0].seats.iter().map(|s| (s.cluster.0, s.replicas)).collect();
    assert_eq!(rows, [(0, 4), (0, 1), (1, 1)]);
    assert_eq!(target.apps[0].deficits.len(), 1);
}

#[test]
fn data_leaves_a_pool_that_a_person_took_it_out_of() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("b", "p", 0, "cpu=4000");
    let volumes = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(1, "cpu=1000").pod(|pod| {
        pod["volumes"] = volumes;
        pod["nodeSelector"] = json!({"gpu": "yes"});
    });
    fleet.add(app).runs("web", "b=1");
    assert_eq!(fleet.placed("web"), "a=1");
}

/// What lost its pool takes another one of the cluster, a DaemonSet comes, and what is least important is displaced.
#[test]
fn what_lost_its_pool_is_a_reason_for_what_it_displaced() {
    let mut fleet = FleetFixture::new(&["c"]);
    fleet.pool("c", "p", 4, "cpu=4000");
    let large = fleet.app("a-large", Strategy::Duplicated).deployment_of(4, "cpu=3000");
    let small = fleet.app("b-small", Strategy::StaticWeight).deployment_of(1, "cpu=500");
    let agent = fleet.app("c-agent", Strategy::Duplicated).workload(WorkloadKind::DaemonSet, "main", 1, "cpu=1000");
    fleet.add(large).add(small).add(agent).runs("a-large", "c/p=1 c/gone=3").runs("b-small", "c/p=1");
    let target = fleet.schedule();
    let seats = ["a-large", "b-small", "c-agent"].map(|app| fleet.seats(&target, app));
    assert_eq!(seats, ["c=4", "", "c=1"]);
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}
