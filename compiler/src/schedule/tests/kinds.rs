//! How kinds differ: Jobs, DaemonSets, what runs as a whole, replicas of zero, rules for single workloads.

use crate::api::{Capacity, Lifecycle, Strategy};
use crate::model::{Share, TopologyKey, WorkloadKind};
use crate::schedule::Deficit;
use crate::schedule::fixture::{FleetFixture, taint};

#[test]
fn division_16_completions_follow_the_seats() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    let app = fleet
        .app("batch", Strategy::StaticWeight)
        .workload(WorkloadKind::Job, "main", 12, "")
        .weights(&fleet, "a=3 b=2 c=1")
        .with_workload(|job| job.completions = Some(60));
    fleet.add(app);
    let target = fleet.schedule();
    let rows: Vec<_> = target.apps[0].seats.iter().map(|seat| (seat.replicas, seat.completions)).collect();
    assert_eq!(rows, [(6, Some(30)), (4, Some(20)), (2, Some(10))]);
}

#[test]
fn what_runs_as_a_whole_is_in_one_cluster_and_stays_there() {
    for kind in [WorkloadKind::StatefulSet, WorkloadKind::CronJob, WorkloadKind::Pod] {
        let replicas = if kind == WorkloadKind::StatefulSet { 3 } else { 1 };
        let mut fleet = FleetFixture::new(&["a", "b", "c"]);
        for (cluster, nodes) in [("a", 2), ("b", 8), ("c", 9)] {
            fleet.pool(cluster, "p", nodes, "cpu=1000");
        }
        let app = fleet.app("db", Strategy::StaticWeight).workload(kind, "main", replicas, "cpu=1000");
        fleet.add(app);
        assert_eq!(fleet.placed("db"), format!("c={replicas}"), "{kind:?}: most room");
        fleet.runs("db", &format!("b={replicas}"));
        assert_eq!(fleet.placed("db"), format!("b={replicas}"), "{kind:?}: where it is");
    }
}

#[test]
fn a_whole_that_fits_nowhere_is_not_split() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    for cluster in ["a", "b"] {
        fleet.pool(cluster, "p", 2, "cpu=1000");
    }
    let app = fleet.app("db", Strategy::StaticWeight).workload(WorkloadKind::StatefulSet, "main", 3, "cpu=1000");
    fleet.add(app.clone());
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "db"), "a=2", "Cap: what fits runs");
    assert_eq!(target.apps[0].deficits, [Deficit::Unplaced { workload: 0, replicas: 1, wanted: 3, displaced: 0 }]);
    fleet.add(app.with(|policy| policy.capacity = Capacity::Require));
    assert_eq!(fleet.placed("db"), "");
}

#[test]
fn division_21_daemon_sets_are_in_every_cluster_and_shrink_its_nodes_first() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    for cluster in ["a", "b"] {
        fleet.pool(cluster, "p", 3, "cpu=2000");
    }
    // Placed after the web pods by priority and by name, and still booked before them.
    let agent = fleet.app("zz-agent", Strategy::Duplicated).workload(WorkloadKind::DaemonSet, "main", 1, "cpu=500");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(12, "cpu=1000").priority(9);
    fleet.add(agent).add(web);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "zz-agent"), "a=1 b=1");
    assert_eq!(fleet.seats(&target, "web"), "a=3 b=3");
}

#[test]
fn division_07_zero_replicas_are_in_all_selected_clusters() {
    let mut fleet = FleetFixture::new(&["m1", "m2"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(0).weights(&fleet, "m1=2 m2=1");
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!((target.apps[0].seats.len(), &target.apps[0].deficits), (0, &vec![]));
    assert_eq!(target.apps[0].clusters, fleet.set(&["m1", "m2"]));
}

#[test]
fn rules_give_a_workload_its_own_clusters_and_strategy() {
    let mut fleet = FleetFixture::new(&["cpu", "gpu"]);
    let app = fleet
        .app("ai", Strategy::StaticWeight)
        .workload(WorkloadKind::Deployment, "front", 8, "")
        .weights(&fleet, "cpu=1")
        .workload(WorkloadKind::Deployment, "model", 2, "")
        .only(fleet.set(&["gpu"]))
        .workload(WorkloadKind::Deployment, "proxy", 1, "")
        .with(|policy| policy.strategy = Some(Strategy::Duplicated))
        .with_workload(|w| w.share = Share::Everywhere);
    fleet.add(app);
    let target = fleet.schedule();
    let of = |workload| fleet.seats_of(&target, "ai", workload);
    assert_eq!([of(0), of(1), of(2)], ["cpu=8", "gpu=2", "cpu=1 gpu=1"]);
}

#[test]
fn weights_that_match_nothing_are_said_and_clear_nothing() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(4).weights(&fleet, "a=0");
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "");
    assert!(target.apps[0].deficits.contains(&Deficit::NoWeightMatches { workload: 0 }));
    fleet.runs("web", "a=2 b=2");
    assert_eq!(fleet.placed("web"), "a=2 b=2");
}

#[test]
fn an_override_of_replicas_is_what_room_counts() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    for cluster in ["a", "b"] {
        fleet.pool(cluster, "p", 10, "cpu=1000");
    }
    // The share of a is 5, and 9 are written there: one more replica fits into a.
    let big = fleet.app("big", Strategy::StaticWeight).deployment_of(10, "cpu=1000").writes(fleet.id("a"), 9);
    let small = fleet.app("small", Strategy::StaticWeight).deployment_of(8, "cpu=1000");
    fleet.add(big).add(small);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "big"), "a=5 b=5");
    assert_eq!(fleet.seats(&target, "small"), "a=1 b=5");
}

/// A DaemonSet of an app that finds no place comes to no cluster that it was to be booked in, and takes no room there.
#[test]
fn a_daemon_set_without_a_place_takes_no_room() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for cluster in ["a", "b", "c"] {
        fleet.pool(cluster, "p", 2, "cpu=2000");
    }
    let job = fleet.app("job", Strategy::DynamicWeight).priority(9).exclusive();
    let job = job.workload(WorkloadKind::DaemonSet, "agent", 1, "cpu=1000").workload(
        WorkloadKind::Job,
        "main",
        2,
        "cpu=1000",
    );
    let job = job.spread(TopologyKey::Cluster, 1, Some(1));
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(2, "cpu=1500").clusters(fleet.set(&["a"]));
    let rest = fleet.app("rest", Strategy::StaticWeight).deployment_of(2, "cpu=1500").clusters(fleet.set(&["b"]));
    fleet.add(job).add(web).add(rest).runs("web", "a=2").runs("rest", "b=2").runs("job", "c=2");
    fleet.cluster("c").lifecycle = Lifecycle::Draining;
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "web").as_str(), fleet.seats(&target, "rest").as_str()), ("a=2", "b=2"));
}

/// What a DaemonSet took of the nodes of a cluster that it leaves is free at once: it waits for no place elsewhere.
#[test]
fn a_daemon_set_that_leaves_displaces_nobody() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("b", "p", 1, "cpu=4000");
    fleet.cluster("b").lifecycle = Lifecycle::Cordoned;
    fleet.cluster("b").taints = vec![taint("maintenance:NoExecute")];
    let agent = fleet.app("agent", Strategy::Duplicated).workload(WorkloadKind::DaemonSet, "main", 1, "cpu=500");
    let web = fleet.app("web", Strategy::Duplicated).deployment_of(4, "cpu=1000");
    fleet.add(agent).add(web.tolerates(serde_json::json!({ "operator": "Exists" })));
    fleet.runs("agent", "a=1 b=1").runs("web", "a=4 b=4");
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "agent").as_str(), fleet.seats(&target, "web").as_str()), ("a=1", "a=4 b=4"));
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}

/// Where the app of a DaemonSet goes elsewhere altogether, that is decided in its turn, and until then it takes its room.
#[test]
fn a_daemon_set_that_ran_is_a_reason_for_what_it_displaced() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("b", "p", 1, "cpu=4000");
    let agent = fleet.app("agent", Strategy::StaticWeight).workload(WorkloadKind::DaemonSet, "main", 1, "cpu=500");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=1000").priority(1);
    fleet.add(agent.exclusive().spread(TopologyKey::Cluster, 1, Some(1))).add(web);
    fleet.runs("agent", "a=1 b=1").runs("web", "a=2 b=4");
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "agent").as_str(), fleet.seats(&target, "web").as_str()), ("a=1", "a=3 b=3"));
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}
