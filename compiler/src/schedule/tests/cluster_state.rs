//! Taints, lifecycle, outages: what leaves, what stays, what may come.

use serde_json::json;

use crate::api::{Lifecycle, Strategy};
use crate::placements::OutageState;
use crate::schedule::Deficit;
use crate::schedule::fixture::{FleetFixture, taint};

/// Clusters g and z with room for fifty; nine replicas, two of them in z.
fn two_clusters(room_in_g: u32) -> FleetFixture {
    let mut fleet = FleetFixture::new(&["g", "z"]);
    fleet.pool("g", "p", room_in_g, "cpu=1000");
    fleet.pool("z", "p", 50, "cpu=1000");
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000");
    fleet.add(app).runs("web", "g=7 z=2");
    fleet
}

#[test]
fn taint_03_an_untolerated_no_execute_taint_moves_all() {
    let mut fleet = two_clusters(50);
    fleet.observed("z").taints = vec![taint("maint:NoExecute")];
    assert_eq!(fleet.placed("web"), "g=9");
}

#[test]
fn what_finds_no_place_elsewhere_stays() {
    let mut fleet = two_clusters(8);
    fleet.observed("z").taints = vec![taint("maint:NoExecute")];
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "web"), "g=8 z=1");
    let left = Deficit::Unplaced { workload: 0, replicas: 1, wanted: 9, displaced: 0 };
    assert_eq!(target.apps[0].deficits, [left]);
    // A cut network taints every cluster: nothing is cleared.
    fleet.observed("g").taints = vec![taint("net:NoExecute")];
    assert_eq!(fleet.placed("web"), "g=7 z=2");
}

#[test]
fn states_of_a_cluster_veto_or_release() {
    type Change = fn(&mut FleetFixture);
    // what happens to z, and where the nine replicas of g=7 z=2 are then, and where eleven are
    let facts: [(&str, Change, &str, &str); 9] = [
        ("NoSchedule", |f| f.cluster("z").taints = vec![taint("gpu:NoSchedule")], "g=7 z=2", "g=9 z=2"),
        ("PreferNoSchedule", |f| f.cluster("z").taints = vec![taint("gpu:PreferNoSchedule")], "g=7 z=2", "g=7 z=4"),
        ("Cordoned", |f| f.cluster("z").lifecycle = Lifecycle::Cordoned, "g=7 z=2", "g=9 z=2"),
        ("Draining", |f| f.cluster("z").lifecycle = Lifecycle::Draining, "g=9", "g=11"),
        ("Retired", |f| f.cluster("z").lifecycle = Lifecycle::Retired, "g=9", "g=11"),
        ("recorded", |f| f.observed("z").lifecycle = Some(Lifecycle::Draining), "g=9", "g=11"),
        (
            "the stricter counts",
            |f| {
                f.cluster("z").lifecycle = Lifecycle::Draining;
                f.observed("z").lifecycle = Some(Lifecycle::Active);
            },
            "g=9",
            "g=11",
        ),
        ("Lost", |f| f.observed("z").outage = Some(OutageState::Lost), "g=7 z=2", "g=9 z=2"),
        ("supposed lost", |f| f.scenario.lose = ["z".into()].into(), "g=9", "g=11"),
    ];
    for (name, change, nine, eleven) in facts {
        let mut fleet = two_clusters(50);
        change(&mut fleet);
        assert_eq!(fleet.placed("web"), nine, "{name}");
        let app = fleet.app("web", Strategy::StaticWeight).deployment_of(11, "cpu=1000");
        fleet.add(app);
        assert_eq!(fleet.placed("web"), eleven, "{name}, growing");
    }
}

#[test]
fn tolerations_tolerate_also_with_seconds() {
    let facts = [
        (json!({"key": "maint", "operator": "Exists", "effect": "NoSchedule"}), "g=9"),
        (json!({"key": "maint", "operator": "Exists"}), "g=7 z=2"),
        (json!({"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}), "g=7 z=2"),
    ];
    for (toleration, expected) in facts {
        let mut fleet = two_clusters(50);
        fleet.observed("z").taints = vec![taint("maint:NoExecute")];
        let app = fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000").tolerates(toleration.clone());
        fleet.add(app);
        assert_eq!(fleet.placed("web"), expected, "{toleration}");
    }
}

#[test]
fn a_lost_right_takes_effect_at_once_and_a_changed_selector_when_there_is_a_place() {
    let mut fleet = two_clusters(8);
    fleet.team_mut("team").clusters = fleet.set(&["g"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000").clusters(fleet.set(&["g"]));
    fleet.add(app.clone());
    assert_eq!(fleet.placed("web"), "g=8");
    fleet.team_mut("team").clusters = fleet.set(&["g", "z"]);
    assert_eq!(fleet.placed("web"), "g=8 z=1");
}

#[test]
fn division_13_growth_goes_past_a_cluster_that_is_down() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p", 20, "cpu=1000");
    fleet.pool("b", "p", 23, "cpu=1000");
    let app = fleet.app("web", Strategy::DynamicWeight).deployment_of(10, "cpu=1000");
    fleet.add(app).runs("web", "a=3 b=3");
    fleet.observed("a").outage = Some(OutageState::Lost);
    assert_eq!(fleet.placed("web"), "a=3 b=7");
}

#[test]
fn a_new_cluster_changes_nothing_for_divided_apps_and_copies_come_at_once() {
    for (strategy, expected) in [
        (Strategy::StaticWeight, "a=6 b=6"),
        (Strategy::DynamicWeight, "a=6 b=6"),
        (Strategy::Aggregated, "a=6 b=6"),
        (Strategy::Duplicated, "a=6 b=6 c=6"),
    ] {
        let mut fleet = FleetFixture::new(&["a", "b", "c"]);
        let total = if strategy == Strategy::Duplicated { 6 } else { 12 };
        let app = fleet.app("web", strategy).deployment(total);
        fleet.add(app).runs("web", "a=6 b=6");
        assert_eq!(fleet.placed("web"), expected, "{strategy:?}");
    }
}

#[test]
fn division_24_without_rebalance_an_uncordoned_cluster_stays_empty() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(12);
    fleet.add(app).runs("web", "a=6 c=6");
    assert_eq!(fleet.placed("web"), "a=6 c=6");
}

#[test]
fn an_app_without_workloads_goes_to_all_its_clusters_and_loses_none_for_want_of_others() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("config", Strategy::Duplicated).object("", "v1", "ConfigMap", "c");
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(target.apps[0].clusters, fleet.set(&["a", "b"]));
    fleet.record_target(&target);
    fleet.cluster("b").taints = vec![taint("maint:NoExecute")];
    assert_eq!(fleet.schedule().apps[0].clusters, fleet.set(&["a"]));
    fleet.cluster("a").taints = vec![taint("maint:NoExecute")];
    assert_eq!(fleet.schedule().apps[0].clusters, fleet.set(&["a", "b"]));
}

#[test]
fn what_is_bound_to_its_data_moves_only_when_intent_says_so() {
    let claim = |pod: &mut serde_json::Value| {
        pod["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    };
    let mut fleet = FleetFixture::new(&["a", "b"]);
    let app = fleet.app("db", Strategy::StaticWeight).deployment(2).pod(claim);
    fleet.add(app.clone()).runs("db", "b=2");
    fleet.cluster("b").lifecycle = Lifecycle::Draining;
    assert_eq!(fleet.placed("db"), "b=2");
    fleet.cluster("b").taints = vec![taint("maint:NoExecute")];
    assert_eq!(fleet.placed("db"), "b=2");
    fleet.add(app.clusters(fleet.set(&["a"])));
    assert_eq!(fleet.placed("db"), "a=2");
}

#[test]
fn an_evicted_app_leaves_a_lost_cluster_as_far_as_it_finds_a_place() {
    for (room_in_g, nine) in [(50, "g=9"), (8, "g=8 z=1")] {
        let mut fleet = two_clusters(room_in_g);
        fleet.observed("z").outage = Some(OutageState::Lost);
        fleet.scenario.evict = [("team".into(), "web".into(), "z".into())].into();
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), nine);
        assert_eq!(fleet.violations(&target), Vec::<String>::new());
        // Recorded, nothing comes back without the eviction.
        fleet.record_target(&target);
        fleet.scenario.evict.clear();
        assert_eq!(fleet.placed("web"), nine);
    }
    // Another app's eviction is not ours.
    let mut fleet = two_clusters(50);
    fleet.scenario.evict = [("team".into(), "api".into(), "z".into())].into();
    assert_eq!(fleet.placed("web"), "g=7 z=2");
}

#[test]
fn a_suspended_app_stays_as_it_is_recorded() {
    type Change = fn(&mut FleetFixture);
    let facts: [(&str, Change); 6] = [
        ("nothing", |_| {}),
        ("a drain", |f| f.cluster("z").lifecycle = Lifecycle::Draining),
        ("a lost right", |f| {
            let only = f.set(&["g"]);
            f.team_mut("team").clusters = only;
        }),
        ("an eviction", |f| f.scenario.evict = [("team".into(), "web".into(), "z".into())].into()),
        ("nodes that vanished", |f| f.cluster("g").pools.as_mut().unwrap()[0].nodes = 3),
        ("another total", |f| {
            let app = f.app("web", Strategy::StaticWeight).deployment_of(12, "cpu=1000");
            f.add(app);
        }),
    ];
    for (name, change) in facts {
        let mut fleet = two_clusters(50);
        fleet.record.suspended = [("team".into(), "web".into())].into();
        change(&mut fleet);
        let target = fleet.schedule();
        assert_eq!(fleet.seats(&target, "web"), "g=7 z=2", "{name}");
        assert_eq!(fleet.violations(&target), Vec::<String>::new(), "{name}");
    }
    // One that runs nowhere stays so.
    let mut fleet = two_clusters(50);
    fleet.record.suspended = [("team".into(), "new".into())].into();
    let app = fleet.app("new", Strategy::StaticWeight).deployment_of(4, "cpu=1000");
    fleet.add(app);
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "new"), "");
    assert_eq!(fleet.violations(&target), Vec::<String>::new());
    // What it holds is not given to others.
    let mut fleet = two_clusters(8);
    fleet.record.suspended = [("team".into(), "web".into())].into();
    let app = fleet.app("api", Strategy::StaticWeight).deployment_of(4, "cpu=1000").clusters(fleet.set(&["g"]));
    fleet.add(app);
    assert_eq!(fleet.placed("api"), "g=1");
}
