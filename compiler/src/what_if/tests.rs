//! Losses, changed numbers, and what apps state that they survive.

use std::collections::BTreeMap;

use super::{Changes, Lapse, Loss, World, broken_floors, changed, in_use, settled, survival, without};
use crate::api::{Strategy, Survive};
use crate::base::{AppId, ClusterId};
use crate::model::ClusterSet;
use crate::schedule::fixture::FleetFixture;
use crate::schedule::{AtRest, Deficit, Target, headroom};

/// Three clusters in two regions with room for ten replicas of one CPU each.
fn fleet() -> FleetFixture {
    let mut fleet = FleetFixture::new(&["eu-a", "eu-b", "us-a"]);
    for (cluster, region) in [("eu-a", "eu"), ("eu-b", "eu"), ("us-a", "us")] {
        fleet.pool(cluster, "p", 10, "cpu=1000");
        fleet.cluster(cluster).region = Some(region.into());
    }
    fleet
}

fn seats(fleet: &FleetFixture, target: &Target, app: usize) -> String {
    let seats = target.apps[app].seats.iter();
    let texts = seats.map(|seat| format!("{}={}", fleet.fleet.cluster(seat.cluster).name, seat.replicas));
    texts.collect::<Vec<_>>().join(" ")
}

fn lost(fleet: &FleetFixture, losses: &[Loss]) -> Target {
    let target = fleet.schedule();
    let record = settled(&fleet.fleet, &fleet.record, &target);
    without(&World { fleet: &fleet.fleet, variants: &fleet.variants, settled: &record }, losses).unwrap()
}

#[test]
fn what_is_lost_goes_where_there_is_room() {
    let mut fleet = fleet();
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(15, "cpu=1000");
    fleet.add(app);
    assert_eq!(seats(&fleet, &fleet.schedule(), 0), "eu-a=5 eu-b=5 us-a=5");
    let cluster = |name: &str| Loss::Cluster(name.into());
    let facts: [(&[Loss], &str, u32); 4] = [
        (&[cluster("eu-a")], "eu-b=8 us-a=7", 0),
        (&[Loss::Region("eu".into())], "us-a=10", 5),
        (&[cluster("eu-b"), cluster("us-a")], "eu-a=10", 5),
        (&[], "eu-a=5 eu-b=5 us-a=5", 0),
    ];
    for (losses, expected, missing) in facts {
        let target = lost(&fleet, losses);
        assert_eq!(seats(&fleet, &target, 0), expected, "{losses:?}");
        let deficits = &target.apps[0].deficits;
        let unplaced = Deficit::Unplaced { workload: 0, replicas: missing, wanted: 15, displaced: 0 };
        assert_eq!(*deficits, if missing > 0 { vec![unplaced] } else { Vec::new() }, "{losses:?}");
    }
}

#[test]
fn a_loss_reruns_the_apps_that_are_there_and_no_others() {
    let mut fleet = fleet();
    for (app, cluster) in [("a", 0), ("b", 1), ("c", 2)] {
        let app =
            fleet.app(app, Strategy::StaticWeight).clusters([ClusterId(cluster), ClusterId(2)].into_iter().collect());
        let app = app.deployment_of(4, "cpu=1000");
        fleet.add(app);
    }
    let target = fleet.schedule();
    let record = settled(&fleet.fleet, &fleet.record, &target);
    let mut at_rest = AtRest::new(&fleet.fleet, &fleet.variants, &record).unwrap();
    let lost = |clusters: &[u16]| clusters.iter().map(|id| ClusterId(*id)).collect::<ClusterSet>();
    let facts: [(&[u16], &[u32]); 4] = [(&[0], &[0]), (&[1], &[1]), (&[0, 1], &[0, 1]), (&[2], &[0, 1, 2])];
    for (clusters, expected) in facts {
        let rerun: Vec<u32> = at_rest.lose(&lost(clusters)).unwrap().into_keys().map(|id| id.0).collect();
        assert_eq!(rerun, expected, "{clusters:?} lost");
    }
}

#[test]
fn only_what_an_app_states_is_a_lapse() {
    let mut fleet = fleet();
    let quiet = fleet.app("quiet", Strategy::StaticWeight).deployment_of(12, "cpu=1000");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(9, "cpu=1000");
    fleet.add(quiet).add(web);
    let lapses =
        |fleet: &FleetFixture| survival(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.schedule()).unwrap();
    assert_eq!(lapses(&fleet), []);
    fleet.app_mut("web").survive = Some(Survive::AnyCluster);
    // 21 replicas of 30 places; without a cluster there are 20, and `quiet` comes first.
    let lapse = |cluster: &str| Lapse {
        app: AppId(1),
        loss: Loss::Cluster(cluster.into()),
        lacks: vec![Deficit::Unplaced { workload: 0, replicas: 1, wanted: 9, displaced: 0 }],
    };
    assert_eq!(lapses(&fleet), [lapse("eu-a"), lapse("eu-b"), lapse("us-a")]);
    // Where there is a place for each, nothing lapses.
    fleet.cluster("us-a").pools.as_mut().unwrap()[0].nodes = 11;
    assert_eq!(lapses(&fleet), [lapse("us-a")]);
    fleet.app_mut("web").survive = Some(Survive::AnyRegion);
    let regions: Vec<Loss> = lapses(&fleet).into_iter().map(|lapse| lapse.loss).collect();
    assert_eq!(regions, [Loss::Region("eu".into()), Loss::Region("us".into())]);
}

#[test]
fn an_app_without_replicas_survives_where_it_is_somewhere() {
    let mut fleet = fleet();
    let one = fleet.app("one", Strategy::Duplicated).object("", "v1", "ConfigMap", "c").clusters(fleet.set(&["eu-a"]));
    let two = fleet.app("two", Strategy::Duplicated).object("", "v1", "ConfigMap", "d");
    fleet.add(one).add(two);
    fleet.app_mut("one").survive = Some(Survive::AnyCluster);
    fleet.app_mut("two").survive = Some(Survive::AnyCluster);
    let lapses = survival(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.schedule()).unwrap();
    assert_eq!(lapses, [Lapse { app: AppId(0), loss: Loss::Cluster("eu-a".into()), lacks: Vec::new() }]);
}

#[test]
fn numbers_are_changed_for_one_app_alone() {
    let mut fleet = fleet();
    let a = fleet.app("a", Strategy::StaticWeight).deployment_of(4, "cpu=1").weights(&fleet, "eu-a=1 us-a=1");
    let b = fleet.app("b", Strategy::Aggregated).deployment_of(4, "cpu=1");
    fleet.add(a).add(b);
    let target = fleet.schedule();
    let record = settled(&fleet.fleet, &fleet.record, &target);
    let supposed = |changes: &Changes| {
        let changed = changed(&fleet.fleet, changes).unwrap();
        let after = without(&World { fleet: &changed, variants: &fleet.variants, settled: &record }, &[]).unwrap();
        (seats(&fleet, &after, 0), after.apps[1] == target.apps[1])
    };
    let (eu_a, eu_b) = (fleet.id("eu-a"), fleet.id("eu-b"));
    let facts = [
        (Changes { replicas: vec![(AppId(0), None, 6)], ..Changes::default() }, "eu-a=3 us-a=3"),
        (Changes { weights: vec![(AppId(0), BTreeMap::from([(eu_a, 3)]))], ..Changes::default() }, "eu-a=3 us-a=1"),
        (
            Changes { weights: vec![(AppId(0), BTreeMap::from([(eu_b, 2)]))], ..Changes::default() },
            "eu-a=1 eu-b=2 us-a=1",
        ),
        (Changes { weights: vec![(AppId(0), BTreeMap::from([(eu_a, 0)]))], ..Changes::default() }, "us-a=4"),
        (Changes { weights: vec![(AppId(0), BTreeMap::from([(eu_a, 1)]))], ..Changes::default() }, "eu-a=2 us-a=2"),
    ];
    for (changes, expected) in facts {
        assert_eq!(supposed(&changes), (expected.to_owned(), true), "{changes:?}");
    }
    let refused = Changes { weights: vec![(AppId(1), BTreeMap::from([(eu_a, 1)]))], ..Changes::default() };
    let message = "no workload of team/b is divided by weights: that takes strategy StaticWeight";
    assert_eq!(changed(&fleet.fleet, &refused).unwrap_err().to_string(), message);
    let unknown = Changes { replicas: vec![(AppId(0), Some("x".into()), 1)], ..Changes::default() };
    let message = "team/a has no workload `x` with replicas; it has apps/Deployment/main";
    assert_eq!(changed(&fleet.fleet, &unknown).unwrap_err().to_string(), message);
}

#[test]
fn what_clusters_have_left() {
    let mut fleet = fleet();
    fleet.cluster("us-a").pools = None;
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=500").weights(&fleet, "eu-a=1 eu-b=1");
    fleet.add(app);
    let left = |target: &Target| -> Vec<Option<(i128, i128)>> {
        let all = headroom(&fleet.fleet, &fleet.variants, &fleet.record, target);
        let cpu = |left: Option<Vec<crate::schedule::Headroom>>| {
            left?.iter().find(|left| left.resource == "cpu").map(|left| (left.free, left.offered))
        };
        all.into_iter().map(cpu).collect()
    };
    assert_eq!(left(&fleet.schedule()), [Some((8_500, 10_000)), Some((8_500, 10_000)), None]);
    let without = lost(&fleet, &[Loss::Cluster("eu-a".into())]);
    assert_eq!(left(&without), [Some((10_000, 10_000)), Some((7_000, 10_000)), None]);
    assert_eq!(in_use(&without), fleet.set(&["eu-b"]));
}

#[test]
fn floors_that_do_not_hold() {
    let mut fleet = fleet();
    let app = fleet.app("web", Strategy::StaticWeight).deployment_of(6, "cpu=1").with(|policy| policy.min = 2);
    fleet.add(app);
    let mut target = fleet.schedule();
    assert_eq!(broken_floors(&fleet.fleet, &target), []);
    target.apps[0].seats[0].replicas = 1;
    let broken = broken_floors(&fleet.fleet, &target);
    assert_eq!(broken.iter().map(|floor| (floor.replicas, floor.min)).collect::<Vec<_>>(), [(1, 2)]);
}
