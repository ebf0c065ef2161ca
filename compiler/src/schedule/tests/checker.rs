//! Planted faults: each must be found.

use crate::api::{Lifecycle, Strategy};
use crate::base::ClusterId;
use crate::model::TopologyKey;
use crate::schedule::fixture::FleetFixture;
use crate::schedule::{Deficit, Seat, Target};

fn seat(cluster: u16, replicas: u32) -> Seat {
    Seat { workload: 0, cluster: ClusterId(cluster), pool: None, replicas, completions: None, bounds: None }
}

/// Twelve replicas over a and b, at most eight in each, room for nine; c is not selected, d is cordoned, and a quota of
/// fourteen pods is shared with an app that runs two in e and lacks room for a third.
fn fleet() -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b", "c", "d", "e"]);
    for cluster in ["a", "b"] {
        fleet.pool(cluster, "p", 9, "cpu=1000");
    }
    fleet.pool("e", "p", 2, "cpu=1000");
    fleet.cluster("d").lifecycle = Lifecycle::Cordoned;
    fleet.quota("team", "pods=14");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(12, "cpu=1000");
    let web = web.clusters(fleet.set(&["a", "b", "d"])).with(|policy| policy.max = Some(8));
    let other = fleet.app("other", Strategy::StaticWeight).deployment_of(2, "cpu=1000").clusters(fleet.set(&["e"]));
    fleet.add(web.spread(TopologyKey::Cluster, 2, None)).add(other);
    fleet.runs("web", "a=6 b=6").runs("other", "e=2");
    fleet
}

fn finds(fleet: &FleetFixture, sound: &Target, what: &str, plant: impl FnOnce(&mut Target), says: &str) {
    let mut target = sound.clone();
    plant(&mut target);
    let violations = fleet.violations(&target);
    assert!(violations.iter().any(|v| v.contains(says)), "{what}: {violations:?}");
}

#[test]
fn planted_faults_are_found() {
    let fleet = fleet();
    let sound = fleet.schedule();
    assert_eq!(fleet.seats(&sound, "web"), "a=6 b=6");
    let web = 1;
    type Plant = fn(&mut Target);
    let faults: [(&str, Plant, &str); 13] = [
        ("one more", |t| t.apps[1].seats[0].replicas = 7, "13 replicas of 12"),
        ("one fewer", |t| t.apps[1].seats[0].replicas = 5, "1 replicas are missing"),
        (
            "a cluster outside of the candidates",
            |t| t.apps[1].seats = vec![seat(0, 6), seat(1, 5), seat(2, 1)],
            "cluster c, which takes none",
        ),
        (
            "a cordoned cluster",
            |t| t.apps[1].seats = vec![seat(0, 6), seat(1, 5), seat(3, 1)],
            "cluster d, which takes none",
        ),
        ("a cap", |t| t.apps[1].seats = vec![seat(0, 9), seat(1, 3)], "at most 8"),
        ("a move without a cause", |t| t.apps[1].seats = vec![seat(0, 5), seat(1, 7)], "nothing asked for it"),
        ("the spread", |t| t.apps[1].seats = vec![seat(0, 12)], "1 groups of cluster, at least 2"),
        ("a seat that is empty", |t| t.apps[1].seats[0].replicas = 0, "empty, doubled or nowhere"),
        ("a seat twice", |t| t.apps[1].seats = vec![seat(0, 6), seat(0, 6)], "empty, doubled or nowhere"),
        ("seats out of order", |t| t.apps[1].seats.reverse(), "out of order"),
        (
            "a deficit that is none",
            |t| {
                t.apps[1].deficits = vec![Deficit::Unplaced { workload: 0, replicas: 1, wanted: 12, displaced: 0 }];
            },
            "reported as unplaced",
        ),
        (
            "a quota that does not refuse",
            |t| {
                t.apps[1].deficits = vec![Deficit::Quota {
                    resource: "pods".into(),
                    cluster: None,
                    used: 12,
                    more: 1,
                    hard: 14,
                    others: Vec::new(),
                }];
            },
            "a deficit that is none",
        ),
        ("an app without a target", |t| drop(t.apps.pop()), "1 apps have a target, of 2"),
    ];
    for (what, plant, says) in faults {
        finds(&fleet, &sound, what, plant, says);
    }
    assert_eq!(sound.apps[web].deficits, []);
}

#[test]
fn more_than_a_pool_holds_and_more_than_a_quota_allows_is_found() {
    let mut fleet = fleet();
    let app = fleet.app("other", Strategy::StaticWeight).deployment_of(3, "cpu=1000").clusters(fleet.set(&["e"]));
    fleet.add(app);
    let sound = fleet.schedule();
    assert_eq!(fleet.seats(&sound, "other"), "e=2");
    let grow = |t: &mut Target| {
        t.apps[0].seats[0].replicas = 3;
        t.apps[0].deficits.clear();
    };
    finds(&fleet, &sound, "a pool", grow, "is promised 1000 of cpu more");
    finds(&fleet, &sound, "a quota", grow, "asks for 15 of pods, its quota is 14");
}

#[test]
fn a_missing_deficit_and_a_forbidden_cluster_are_found() {
    let mut fleet = fleet();
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(12, "cpu=1000");
    fleet.add(web.clusters(fleet.set(&["a", "b", "d"])).with(|policy| policy.max = Some(8)));
    fleet.cluster("b").lifecycle = Lifecycle::Draining;
    let short = fleet.schedule();
    assert_eq!(fleet.seats(&short, "web"), "a=8 b=4", "four have no place elsewhere");
    finds(&fleet, &short, "silence", |t| t.apps[1].deficits.clear(), "4 replicas are missing");
    fleet.cluster("b").lifecycle = Lifecycle::Retired;
    finds(&fleet, &short, "a retired cluster", |_| (), "cluster b, which takes none");
}
