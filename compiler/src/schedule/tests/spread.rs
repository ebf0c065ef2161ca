//! Spread constraints through the whole schedule.

use crate::api::{Lifecycle, Strategy};
use crate::model::{TopologyKey, WorkloadKind};
use crate::schedule::Deficit;
use crate::schedule::fixture::{FleetFixture, taint};

/// Clusters a1 a2 in region ra, b1 b2 in rb, c1 in rc, each with so many nodes for one pod.
fn regions(nodes: [u32; 5]) -> FleetFixture {
    let names = ["a1", "a2", "b1", "b2", "c1"];
    let mut fleet = FleetFixture::new(&names);
    for (name, nodes) in names.into_iter().zip(nodes) {
        fleet.cluster(name).region = Some(format!("r{}", &name[..1]).into());
        fleet.pool(name, "p", nodes, "cpu=1000");
    }
    fleet
}

#[test]
fn exact_where_greedy_fails() {
    // Region max 1, cluster max 2: {10, 1} has less room than {7, 7}.
    let mut fleet = regions([10, 1, 7, 7, 0]);
    let app = fleet.app("web", Strategy::DynamicWeight).deployment_of(14, "cpu=1000");
    let app = app.spread(TopologyKey::Region, 1, Some(1)).spread(TopologyKey::Cluster, 1, Some(2));
    fleet.add(app);
    assert_eq!(fleet.placed("web"), "b1=7 b2=7");
}

#[test]
fn min_counts_after_division() {
    let mut fleet = regions([9; 5]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(4, "cpu=1000").weights(&fleet, "a1=97 b1=1 c1=1");
    fleet.add(app.spread(TopologyKey::Region, 3, None));
    assert_eq!(fleet.placed("web"), "a1=2 b1=1 c1=1");
}

#[test]
fn spread_04_too_few_regions_is_said_and_others_are_placed() {
    let mut fleet = regions([9, 9, 9, 9, 0]);
    fleet.cluster("b1").taints = vec![taint("x:NoSchedule")];
    fleet.cluster("b2").taints = vec![taint("x:NoSchedule")];
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(4, "cpu=1000");
    let other = fleet.app("zz", Strategy::Aggregated).deployment_of(4, "cpu=1000");
    fleet.add(app.spread(TopologyKey::Region, 2, None)).add(other);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "");
    let unmet = Deficit::Spread { topology_key: "region".into(), have: 1, min: 2, greedy: false };
    assert_eq!(target.apps[0].deficits, [unmet]);
    assert_eq!(fleet.seats(&target, "zz"), "a1=4");
}

#[test]
fn spread_06_what_runs_is_not_withdrawn_when_a_region_is_lost() {
    let mut fleet = regions([9, 0, 9, 0, 9]);
    let app =
        fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000").spread(TopologyKey::Region, 3, None);
    fleet.add(app).runs("web", "a1=3 b1=3 c1=3");
    fleet.scenario.lose.insert("c1".into());
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "a1=3 b1=3");
    assert!(matches!(target.apps[0].deficits[..], [Deficit::Spread { have: 2, min: 3, .. }]));
}

#[test]
fn a_lowered_max_empties_the_smallest_groups() {
    let mut fleet = regions([9, 0, 9, 0, 9]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000");
    fleet.add(app.spread(TopologyKey::Region, 1, Some(2))).runs("web", "a1=3 b1=4 c1=2");
    assert_eq!(fleet.placed("web"), "a1=5 b1=4");
}

#[test]
fn copies_go_to_as_many_clusters_as_max_allows() {
    let mut fleet = regions([9, 9, 9, 9, 1]);
    let app = fleet.app("web", Strategy::Duplicated).deployment_of(2, "cpu=1000");
    fleet.add(app.clone().spread(TopologyKey::Region, 1, Some(1)));
    assert_eq!(fleet.placed("web"), "a1=2 a2=2");
    fleet.add(app);
    assert_eq!(fleet.placed("web"), "a1=2 a2=2 b1=2 b2=2", "c1 has no room for two");
}

#[test]
fn a_move_keeps_the_spread() {
    let mut fleet = regions([9, 0, 9, 9, 9]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=1000");
    fleet.add(app.spread(TopologyKey::Region, 2, Some(2))).runs("web", "a1=3 b1=3");
    fleet.cluster("b1").lifecycle = Lifecycle::Draining;
    let target = fleet.schedule();
    let regions: std::collections::BTreeSet<_> =
        target.apps[0].seats.iter().filter_map(|seat| fleet.fleet.cluster(seat.cluster).region.clone()).collect();
    assert_eq!(regions.len(), 2);
    assert_eq!(fleet.seats(&target, "web"), "a1=3 b2=3");
}

#[test]
fn a_cluster_without_the_key_gets_nothing_new_and_what_runs_there_stays_or_moves() {
    // what runs, the regions of a and b, where it runs then, and how many groups are short
    let facts = [
        ("a=2", [Some("ra"), Some("rb")], "a=2", None),
        ("a=2", [None, Some("rb")], "b=2", None),
        ("a=2", [None, None], "a=2", Some(0)),
        ("", [None, None], "", None),
        ("", [None, Some("rb")], "b=2", None),
    ];
    for (runs, regions, expected, have) in facts {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        for (name, region) in ["a", "b"].into_iter().zip(regions) {
            fleet.cluster(name).region = region.map(Into::into);
        }
        let app = fleet.app("web", Strategy::StaticWeight).deployment(2).spread(TopologyKey::Region, 1, None);
        fleet.add(app).runs("web", runs);
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), expected, "{runs} in {regions:?}");
        let unmet = target.apps[0].deficits.iter().find_map(|deficit| match deficit {
            Deficit::Spread { have, .. } => Some(*have),
            _ => None,
        });
        assert_eq!(unmet, have, "{runs} in {regions:?}");
    }
}

#[test]
fn copies_in_clusters_without_the_key_do_not_grow_and_mind_the_other_keys() {
    // copies of what runs, in three clusters of no region, of which one may be used
    for (runs, expected) in [("a=1 b=1 c=1", "a=1"), ("a=1 b=2 c=1", "b=2"), ("", "")] {
        let mut fleet = FleetFixture::new(&["a", "b", "c"]);
        let app = fleet.app("web", Strategy::Duplicated).deployment(2).spread(TopologyKey::Region, 1, None);
        fleet.add(app.spread(TopologyKey::Cluster, 1, Some(1))).runs("web", runs);
        assert_eq!(fleet.placed("web"), expected, "{runs}");
    }
}

#[test]
fn all_of_an_app_follows_what_was_displaced_where_one_group_is_allowed() {
    // Region ra loses nodes: three of five fit there, and all in b1.
    let mut fleet = regions([1, 2, 5, 0, 0]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(5, "cpu=1000");
    fleet.add(app.spread(TopologyKey::Region, 1, Some(1))).runs("web", "a1=3 a2=2");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "b1=5");
    assert_eq!(target.displaced.iter().map(|of| of.cluster).collect::<Vec<_>>(), [fleet.id("a1")]);
}

#[test]
fn all_of_an_app_follows_the_workload_that_grows_where_one_group_is_allowed() {
    // The DaemonSet runs in ra, which takes no new replicas; the Deployment beside it is new.
    let mut fleet = regions([9, 0, 9, 0, 0]);
    fleet.cluster("a1").lifecycle = Lifecycle::Cordoned;
    let app = fleet.app("web", Strategy::StaticWeight).workload(WorkloadKind::DaemonSet, "agent", 1, "");
    let app = app.deployment(1).clusters(fleet.set(&["a1", "b1"])).spread(TopologyKey::Region, 1, Some(1));
    fleet.add(app).runs("web", "a1=1");
    let placed = fleet.record.apps.values_mut().next().unwrap();
    placed.workloads.remove("apps/Deployment/main");
    let target = fleet.schedule();
    assert_eq!([0, 1].map(|workload| fleet.seats_of(&target, "web", workload)), ["b1=1", "b1=1"]);
}

/// A cluster was put into another zone, and no set has two regions in one zone: what runs stays, and it is said.
#[test]
fn what_runs_stays_where_constraints_contradict_each_other() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    for (name, region, zone) in [("a", "eu", "eu-1"), ("b", "us", "us-1")] {
        let cluster = fleet.cluster(name);
        cluster.region = Some(region.into());
        cluster.zones = vec![zone.into()];
    }
    let app = fleet.app("web", Strategy::Duplicated).deployment(1);
    let app = app.spread(TopologyKey::Region, 2, None).spread(TopologyKey::Zone, 1, Some(1));
    fleet.add(app).runs("web", "a=1 b=1");
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "web").as_str(), fleet.violations(&target)), ("a=1 b=1", vec![]));
    assert!(matches!(target.apps[0].deficits.as_slice(), [Deficit::Spread { .. }]), "{:?}", target.apps[0].deficits);
}

/// A new cluster is as good for the workload that leads as any; where another workload runs stays in the set before it.
#[test]
fn a_new_cluster_takes_no_place_of_another_workload() {
    let mut fleet = FleetFixture::new(&["a", "b", "c", "d", "e"]);
    fleet.pool("a", "p", 2, "cpu=5000");
    fleet.cluster("e").lifecycle = Lifecycle::Cordoned;
    let web = fleet.app("web", Strategy::Duplicated);
    let web = web.workload(WorkloadKind::Deployment, "one", 3, "cpu=100");
    let web = web.workload(WorkloadKind::Deployment, "two", 14, "cpu=700");
    fleet.add(web.spread(TopologyKey::Cluster, 3, Some(4)));
    let first = fleet.schedule();
    let seats = |target: &_| (fleet.seats_of(target, "web", 0), fleet.seats_of(target, "web", 1));
    let (one, two) = seats(&first);
    assert_eq!(two, "b=14 c=14 d=14", "two has no room in a");
    fleet.record_target(&first);
    fleet.cluster("e").lifecycle = Lifecycle::Active;
    let target = fleet.schedule();
    let seats = |target: &_| (fleet.seats_of(target, "web", 0), fleet.seats_of(target, "web", 1));
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
    assert_eq!(seats(&target), (one, two));
}

#[test]
fn copies_that_lost_their_room_take_the_app_along_where_its_clusters_are_limited() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.pool("b", "p", 5, "cpu=2000");
    fleet.cluster("c").lifecycle = Lifecycle::Cordoned;
    // in `b` the deployment takes one of the five nodes that the set needs
    let app = fleet.app("job", Strategy::Duplicated).deployment_of(1, "cpu=1500");
    let app = app.parts("main", &[("head", 1, "cpu=1500"), ("worker", 4, "cpu=1500")]);
    fleet.add(app.spread(TopologyKey::Cluster, 1, Some(2)));
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "job"), fleet.seats_of(&target, "job", 2)), ("a=1 b=1".into(), "a=4".into()));
    fleet.record_target(&target);
    fleet.pool("a", "p", 2, "cpu=2000");
    fleet.cluster("c").lifecycle = Lifecycle::Active;
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "job"), fleet.seats_of(&target, "job", 2)), ("a=1 c=1".into(), "c=4".into()));
    // no head without its workers
    assert_eq!(fleet.seats_of(&target, "job", 1), "c=1");
    fleet.record_target(&target);
    assert_eq!(fleet.schedule().apps, target.apps);
}

/// What is held outside of the one cluster of an app for want of a place there draws the rest to it once it may stay.
#[test]
fn what_runs_in_more_groups_than_allowed_gathers_in_one() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("b", "p", 2, "cpu=4000 gpu=2").labels.insert("gpu".into(), "yes".into());
    let mut app = fleet.app("web", Strategy::StaticWeight);
    for (name, replicas) in [("first", 2), ("second", 3)] {
        app = app.workload(WorkloadKind::StatefulSet, name, replicas, "cpu=500 gpu=1");
        app = app.pod(|pod| pod["nodeSelector"] = serde_json::json!({"gpu": "yes"}));
    }
    fleet.add(app.spread(TopologyKey::Cluster, 1, Some(1)));
    // what a cluster of unknown capacity takes; what one without such nodes keeps; and unknown again
    let unknown = fleet.fleet.clusters.clone();
    for (nodes, first, second) in [(false, "a=2", "a=3"), (true, "b=2", "a=3"), (false, "a=2", "a=3")] {
        fleet.fleet.clusters.clone_from(&unknown);
        if nodes {
            fleet.pool("a", "p", 0, "cpu=4000");
        }
        let target = fleet.schedule();
        assert_eq!(
            (fleet.seats_of(&target, "web", 0).as_str(), fleet.seats_of(&target, "web", 1).as_str()),
            (first, second)
        );
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps, target.apps);
    }
}

/// Neither cluster holds both workloads whole, and each looks the larger one from the other.
#[test]
fn an_app_does_not_go_where_no_more_of_it_fits() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("b", "p", 4, "cpu=4000");
    let app = fleet.app("web", Strategy::StaticWeight).workload(WorkloadKind::Deployment, "first", 1, "cpu=1500");
    let app = app.workload(WorkloadKind::Deployment, "second", 4, "cpu=3000").spread(TopologyKey::Cluster, 1, Some(1));
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "web").as_str(), fleet.seats_of(&target, "web", 1).as_str()), ("a=1", "a=4"));
    fleet.record_target(&target);
    fleet.pool("a", "p", 4, "cpu=3000");
    let target = fleet.schedule();
    assert!(target.settled);
    assert_eq!((fleet.seats(&target, "web").as_str(), fleet.seats_of(&target, "web", 1).as_str()), ("a=1", "a=3"));
    let short = Deficit::Unplaced { workload: 1, replicas: 1, wanted: 4, displaced: 1 };
    assert_eq!(target.apps[0].deficits, [short]);
    fleet.record_target(&target);
    let again = fleet.schedule();
    assert_eq!(again.apps[0].seats, target.apps[0].seats);
}

/// The one workload finds more room in `a`, the other finds none beside it.
#[test]
fn an_app_stays_where_most_of_it_fits() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p", 4, "cpu=4000 gpu=2");
    fleet.pool("b", "p", 3, "cpu=8000 gpu=2");
    let app = fleet.app("web", Strategy::StaticWeight);
    let app = app.workload(WorkloadKind::Deployment, "first", 4, "cpu=500 gpu=1");
    let app = app.workload(WorkloadKind::Deployment, "second", 5, "cpu=500 gpu=1");
    fleet.add(app.spread(TopologyKey::Cluster, 1, Some(1))).runs("web", "");
    let placed = fleet.record.apps.get_mut(&("team".into(), "web".into())).unwrap();
    placed.clusters = vec!["b".into()];
    placed.workloads.clear();
    let target = fleet.schedule();
    assert!(target.settled);
    assert_eq!(fleet.seats(&target, "web"), "a=4");
    fleet.record_target(&target);
    assert_eq!(fleet.schedule().apps[0].seats, target.apps[0].seats);
}

/// Some of a workload found no place where the rest went: another cluster that holds less of both is no better.
#[test]
fn replicas_that_stay_behind_pull_nobody_back() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p", 3, "cpu=6000 gpu=2");
    fleet.pool("b", "p", 4, "cpu=3625 gpu=2");
    let gpus = fleet.app("gpus", Strategy::StaticWeight).deployment_of(4, "cpu=1500 gpu=1");
    let gpus = gpus.workload(WorkloadKind::Deployment, "more", 5, "cpu=500 gpu=1");
    let other = fleet.app("other", Strategy::StaticWeight).deployment_of(3, "cpu=1500 gpu=1").priority(1);
    let web = fleet.app("web", Strategy::Duplicated).deployment_of(1, "cpu=1000");
    let web = web.workload(WorkloadKind::Deployment, "more", 6, "cpu=500");
    fleet.add(gpus.spread(TopologyKey::Cluster, 1, Some(1))).add(other).add(web);
    fleet.runs("gpus", "b=4").runs("other", "b=3").runs("web", "b=1");
    let recorded = &mut fleet.record.apps;
    recorded.get_mut(&("team".into(), "gpus".into())).unwrap().workloads.values_mut().nth(1).unwrap().seats[0]
        .replicas = 1;
    recorded.get_mut(&("team".into(), "web".into())).unwrap().workloads.values_mut().nth(1).unwrap().seats.clear();
    let target = fleet.schedule();
    let seats = |app: &str| (fleet.seats_of(&target, app, 0), fleet.seats_of(&target, app, 1));
    assert_eq!(seats("gpus"), ("a=4".to_owned(), "a=2 b=1".to_owned()));
    assert!(target.settled);
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}

/// One cluster for all of an app, and its data lies in one that drains: the rest has no place without it.
#[test]
fn data_follows_no_other_workload_to_another_cluster() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.cluster("a").lifecycle = Lifecycle::Draining;
    for strategy in [Strategy::Duplicated, Strategy::StaticWeight] {
        let app = fleet.app("db", strategy).workload(WorkloadKind::Job, "load", 1, "");
        let app = app.workload(WorkloadKind::StatefulSet, "main", 1, "");
        let app = app.pod(|pod| {
            pod["volumes"] = serde_json::json!([{ "name": "d", "persistentVolumeClaim": { "claimName": "d" } }])
        });
        fleet.add(app.spread(TopologyKey::Cluster, 1, Some(1))).runs("db", "a=1");
        let target = fleet.schedule();
        let seats = [0, 1].map(|workload| fleet.seats_of(&target, "db", workload));
        assert_eq!(seats, ["a=1", "a=1"], "{strategy:?}");
        assert_eq!(fleet.violations(&target), Vec::<String>::new(), "{strategy:?}");
    }
}

/// One cluster is to have all, and may have five of each: the rest stays where it ran, and nothing where it was on the way.
#[test]
fn nothing_is_left_where_it_never_ran() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.pool("a", "p", 2, "cpu=4000");
    fleet.cluster("c").lifecycle = Lifecycle::Draining;
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=1000");
    let app = app.with(|policy| (policy.min, policy.max) = (2, Some(5)));
    let app = app.workload(WorkloadKind::Deployment, "more", 7, "cpu=1000");
    let app = app.with(|policy| (policy.min, policy.max) = (2, Some(5)));
    fleet.add(app.spread(TopologyKey::Cluster, 1, Some(1))).runs("web", "c=5");
    let target = fleet.schedule();
    assert_eq!([0, 1].map(|workload| fleet.seats_of(&target, "web", workload)), ["b=5 c=1", "b=5 c=2"]);
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}

/// A raised floor moves replicas between clusters of the set, also of an app of several workloads.
#[test]
fn a_raised_floor_is_filled_by_the_others() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(6).with(|policy| policy.min = 2);
    let app = app.workload(WorkloadKind::Deployment, "more", 6, "").with(|policy| policy.min = 2);
    fleet.add(app.spread(TopologyKey::Cluster, 1, Some(2))).runs("web", "a=5 b=1");
    let target = fleet.schedule();
    assert_eq!([0, 1].map(|workload| fleet.seats_of(&target, "web", workload)), ["a=4 b=2", "a=4 b=2"]);
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
}
