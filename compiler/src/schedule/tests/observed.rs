//! Autoscaled workloads that are booked as they were observed.

use crate::api::AutoscaledRoom::{self, Max, Min, Observed};
use crate::api::Strategy;
use crate::placements::ObservedWorkload;
use crate::schedule::fixture::{AppFixture, FleetFixture};
use crate::schedule::{Beside, Deficit, Target, headroom, preemptions};

/// Two clusters of ten nodes that hold one pod each.
fn fleet() -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    for cluster in ["a", "b"] {
        fleet.pool(cluster, "p", 10, "cpu=1000");
    }
    fleet
}

fn scaled(fleet: &FleetFixture, name: &str, (min, max): (u32, u32), room: AutoscaledRoom) -> AppFixture {
    fleet.app(name, Strategy::StaticWeight).priority(5).deployment_of(99, "cpu=1000").autoscaled(min, max, room)
}

fn plain(fleet: &FleetFixture, replicas: u32) -> AppFixture {
    fleet.app("plain", Strategy::StaticWeight).deployment_of(replicas, "cpu=1000")
}

/// Records what was observed of the first workload of an app, such as `a=5 b=2`.
fn sees(fleet: &mut FleetFixture, app: &str, seen: &str) {
    let id = fleet.fleet.app_id("team", app).unwrap();
    let key = fleet.fleet.app(id).workloads[0].key.clone();
    let of = |pair: &str| {
        let (cluster, replicas) = pair.split_once('=').unwrap();
        let replicas = Some(replicas.parse().unwrap());
        (cluster.into(), ObservedWorkload { replicas, finished: false })
    };
    let seen = seen.split_whitespace().map(of).collect();
    fleet.record.observed.insert(("team".into(), app.into()), [(key, seen)].into());
}

/// `a=3 b=2`, of an app.
fn seats(fleet: &FleetFixture, target: &Target, app: &str) -> String {
    let id = fleet.fleet.app_id("team", app).unwrap();
    let each = target.apps[id.index()].seats.iter();
    let each = each.map(|seat| format!("{}={}", fleet.fleet.cluster(seat.cluster).name, seat.replicas));
    each.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_observed_count_is_booked_within_the_share_of_the_bounds() {
    // (bounds, what is booked, what was observed, what the rest holds)
    let facts = [
        ((2, 12), Min, "a=5 b=5", "a=9 b=9"),
        ((2, 12), Max, "a=5 b=5", "a=4 b=4"),
        ((2, 12), Observed, "", "a=9 b=9"),
        ((2, 12), Observed, "a=5", "a=5 b=9"),
        ((2, 12), Observed, "a=5 b=3", "a=5 b=7"),
        // never less than the share of the minimum, and never more than that of the maximum
        ((4, 12), Observed, "a=0 b=1", "a=8 b=8"),
        ((2, 12), Observed, "a=99 b=7", "a=4 b=4"),
        // it does not run in b
        ((1, 12), Observed, "a=3 b=9", "a=7 b=10"),
    ];
    for (bounds, room, seen, expected) in facts {
        let mut fleet = fleet();
        let web = scaled(&fleet, "web", bounds, room);
        fleet.add(web);
        let rest = plain(&fleet, 20);
        fleet.add(rest);
        sees(&mut fleet, "web", seen);
        let target = fleet.schedule();
        assert_eq!(seats(&fleet, &target, "plain"), expected, "{bounds:?} {room:?} {seen}");
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps, target.apps, "{bounds:?} {room:?} {seen}: settled");
    }
}

#[test]
fn copies_are_booked_as_they_are_observed() {
    let mut fleet = fleet();
    let web = fleet.app("web", Strategy::Duplicated).priority(5).deployment_of(9, "cpu=1000");
    fleet.add(web.autoscaled(2, 6, Observed));
    let rest = plain(&fleet, 20);
    fleet.add(rest);
    sees(&mut fleet, "web", "a=4 b=9");
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target, "plain"), "a=6 b=4");
}

#[test]
fn what_runs_is_not_displaced_and_what_comes_finds_less() {
    let mut fleet = fleet();
    let app = scaled(&fleet, "web", (2, 40), Observed);
    fleet.add(app);
    let rest = plain(&fleet, 12);
    fleet.add(rest);
    fleet.runs("web", "a=1 b=1").runs("plain", "a=9 b=3");
    sees(&mut fleet, "web", "a=9 b=5");
    let target = fleet.schedule();
    assert_eq!((seats(&fleet, &target, "web"), seats(&fleet, &target, "plain")), ("a=1 b=1".into(), "a=9 b=3".into()));
    // a is full of what is observed; b has two left
    let app = plain(&fleet, 16);
    fleet.add(app);
    fleet.runs("plain", "a=9 b=3");
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target, "plain"), "a=9 b=5");
    let id = fleet.fleet.app_id("team", "plain").unwrap();
    let short = Deficit::Unplaced { workload: 0, replicas: 2, wanted: 16, displaced: 0 };
    assert_eq!(target.apps[id.index()].deficits, [short]);
    // once fewer are observed there is room again
    fleet.record_target(&target);
    sees(&mut fleet, "web", "a=9 b=2");
    assert_eq!(seats(&fleet, &fleet.schedule(), "plain"), "a=9 b=7");
}

#[test]
fn for_the_app_itself_what_it_runs_is_free() {
    let mut fleet = fleet();
    let app = scaled(&fleet, "web", (2, 20), Observed);
    fleet.add(app);
    let rest = plain(&fleet, 12);
    fleet.add(rest);
    fleet.runs("web", "a=1 b=1").runs("plain", "a=6 b=6");
    sees(&mut fleet, "web", "a=4 b=4");
    // its minimum rises to what it runs anyway
    let app = scaled(&fleet, "web", (8, 20), Observed);
    fleet.add(app);
    fleet.runs("web", "a=1 b=1");
    let target = fleet.schedule();
    assert_eq!((seats(&fleet, &target, "web"), seats(&fleet, &target, "plain")), ("a=4 b=4".into(), "a=6 b=6".into()));
}

#[test]
fn headroom_counts_what_is_observed() {
    let mut fleet = fleet();
    let app = scaled(&fleet, "web", (2, 40), Observed);
    fleet.add(app);
    let free = |fleet: &FleetFixture| {
        let left = headroom(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.schedule());
        let cpu =
            |rows: &Vec<crate::schedule::Headroom>| rows.iter().find(|row| row.resource == "cpu").map(|row| row.free);
        left.iter().map(|rows| rows.as_ref().and_then(cpu)).collect::<Vec<_>>()
    };
    assert_eq!(free(&fleet), [Some(9000), Some(9000)]);
    sees(&mut fleet, "web", "a=7");
    assert_eq!(free(&fleet), [Some(3000), Some(9000)]);
    // more than there are nodes
    sees(&mut fleet, "web", "a=12 b=1");
    assert_eq!(free(&fleet), [Some(-2000), Some(9000)]);
}

/// What it runs beyond its minimum lies in the pools of its seats.
#[test]
fn observed_replicas_are_in_the_pools_of_the_seats() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 8, "cpu=1000");
    fleet.pool("a", "q", 8, "cpu=1000").labels.insert("q".into(), "yes".into());
    let app = scaled(&fleet, "web", (4, 12), Observed);
    fleet.add(app);
    let in_q = plain(&fleet, 20).pod(|pod| pod["nodeSelector"] = serde_json::json!({"q": "yes"}));
    fleet.add(in_q);
    fleet.runs("web", "a/p=3 a/q=1");
    sees(&mut fleet, "web", "a=8");
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target, "web"), "a=3 a=1");
    assert_eq!(seats(&fleet, &target, "plain"), "a=6");
}

/// What runs beyond an app's own seats is free for it: no one gives way for that.
#[test]
fn a_preemption_does_not_make_room_for_what_runs_already() {
    let mut fleet = FleetFixture::new(&["a"]);
    fleet.pool("a", "p", 10, "cpu=1000");
    let web = scaled(&fleet, "web", (2, 16), Observed);
    let rest = plain(&fleet, 9);
    fleet.add(web).add(rest).runs("web", "a=1").runs("plain", "a=9");
    fleet.app_mut("web").preempts = true;
    sees(&mut fleet, "web", "a=9");
    let target = fleet.schedule();
    let found = preemptions(&fleet.fleet, &fleet.variants, &fleet.record, &target);
    let victims: Vec<u32> = found.iter().flat_map(|of| &of.victims).map(|victim| victim.replicas).collect();
    assert_eq!((found.len(), victims), (1, vec![1]), "{found:?}");
}

/// A step of a move finds the room in which its autoscaler runs more than its seats already.
#[test]
fn a_step_is_free_where_its_own_pods_are() {
    let mut fleet = FleetFixture::new(&["a", "b"]);
    fleet.pool("a", "p", 10, "cpu=1000");
    fleet.pool("b", "p", 8, "cpu=1000");
    let web = scaled(&fleet, "web", (8, 16), Observed);
    fleet.add(web).runs("web", "a=4 b=4");
    sees(&mut fleet, "web", "b=8");
    let target = fleet.schedule();
    assert_eq!(seats(&fleet, &target, "web"), "a=4 b=4");
    let mut beside = Beside::new(&fleet.fleet, &fleet.variants, &fleet.record, &target);
    let id = fleet.fleet.app_id("team", "web").unwrap();
    let key = fleet.fleet.app(id).workloads[0].key.clone();
    let taken: Vec<u32> = [1, 2, 3].map(|more| beside.take(id, &key, "b", None, more)).into();
    assert_eq!(taken, [1, 2, 1], "four in all");
}
