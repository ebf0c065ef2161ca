//! Apps that share their clusters, and apps that share none.

use crate::api::{Lifecycle, Strategy};
use crate::model::{TopologyKey, WorkloadKind};
use crate::schedule::fixture::{AppFixture, FleetFixture};
use crate::schedule::{Deficit, Verdict};

fn fleet(room: &[u32]) -> FleetFixture {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for (name, nodes) in ["a", "b", "c"].into_iter().zip(room) {
        fleet.pool(name, "p", *nodes, "cpu=1000");
    }
    fleet
}

/// An app of the group `set=one`.
fn app(fleet: &FleetFixture, name: &str, strategy: Strategy, replicas: u32) -> AppFixture {
    fleet.app(name, strategy).deployment_of(replicas, "cpu=1000").label("set", "one")
}

fn placed(fleet: &FleetFixture, apps: [&str; 2]) -> [String; 2] {
    let target = fleet.schedule();
    let mut settled = fleet.clone();
    settled.record_target(&target);
    assert_eq!(settled.schedule().apps, target.apps, "settled");
    apps.map(|app| fleet.seats(&target, app))
}

#[test]
fn a_group_goes_where_all_of_it_fits() {
    let facts = [
        // room, replicas of the two, where they are
        ([10, 10, 10], [3, 3], ["a=3", "a=3"]),
        // the first alone would go to a, which has no room for both
        ([4, 9, 0], [3, 3], ["b=3", "b=3"]),
        ([6, 3, 0], [3, 6], ["a=2 b=1", "a=4 b=2"]),
        // no set holds all of it: the first is not kept waiting for the others
        ([5, 4, 0], [3, 6], ["a=3", "a=2"]),
    ];
    for (room, [one, two], expected) in facts {
        let mut fleet = fleet(&room);
        let first = app(&fleet, "first", Strategy::Aggregated, one).together("set");
        let second = app(&fleet, "second", Strategy::StaticWeight, two).together("set");
        fleet.add(first).add(second);
        assert_eq!(placed(&fleet, ["first", "second"]), expected, "{room:?}");
    }
}

#[test]
fn others_follow_the_first() {
    let mut fleet = fleet(&[10, 10, 10]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 4).weights(&fleet, "b=1").together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 4).together("set");
    fleet.add(first).add(second).runs("second", "a=2 c=2");
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=4", "b=4"]);
    // Of two the one of higher priority is the first.
    fleet.app_mut("second").priority = 1;
    assert_eq!(placed(&fleet, ["first", "second"])[1], "a=2 c=2");
    // Apps without the label are in no group.
    let other = fleet.app("third", Strategy::StaticWeight).deployment_of(3, "cpu=1000").together("set");
    fleet.add(other);
    assert_eq!(placed(&fleet, ["third", "third"])[0], "a=1 b=1 c=1");
}

#[test]
fn what_has_no_place_with_its_group_stays_and_is_reported() {
    let mut fleet = fleet(&[10, 3, 10]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 3).weights(&fleet, "b=1").together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 4).together("set");
    fleet.add(first).add(second).runs("second", "a=4");
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "second"), "a=4");
    let broken = Deficit::Group { group: "set=one".into(), anti: false, clusters: 1 };
    assert!(target.apps[1].deficits.contains(&broken), "{:?}", target.apps[1].deficits);
    assert!(target.apps[1].verdicts.contains(&(Verdict::NotWithGroup("set=one".into()), fleet.set(&["a", "c"]))));
}

#[test]
fn apart_shares_no_cluster() {
    let max = |app: AppFixture, max| app.spread(TopologyKey::Cluster, 1, Some(max));
    let mut fleet = fleet(&[10, 10, 10]);
    let first = max(app(&fleet, "first", Strategy::StaticWeight, 4), 2).apart("set");
    let second = max(app(&fleet, "second", Strategy::StaticWeight, 4), 2).apart("set");
    fleet.add(first).add(second);
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2 b=2", "c=4"]);
    // What runs is not moved for an earlier one that is new.
    fleet.runs("second", "a=4");
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=2 c=2", "a=4"]);
    // Where both run, the later leaves, and nothing else moves.
    fleet.runs("first", "a=2 b=2").runs("second", "b=2 c=2");
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2 b=2", "c=4"]);
    // Unless it has nowhere to go.
    fleet.cluster("c").lifecycle = Lifecycle::Cordoned;
    let target = fleet.schedule();
    assert_eq!(fleet.seats(&target, "second"), "b=2 c=2");
    let broken = Deficit::Group { group: "set=one".into(), anti: true, clusters: 1 };
    assert!(target.apps[1].deficits.contains(&broken), "{:?}", target.apps[1].deficits);
}

#[test]
fn copies_that_are_bounded_can_be_apart() {
    let mut fleet = fleet(&[10, 10, 10]);
    let copies = |fleet: &FleetFixture, name| {
        app(fleet, name, Strategy::Duplicated, 2).spread(TopologyKey::Cluster, 1, Some(2)).apart("set")
    };
    let (first, second) = (copies(&fleet, "first"), copies(&fleet, "second"));
    fleet.add(first).add(second);
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2 b=2", "c=2"]);
}

#[test]
fn the_check_knows_groups() {
    let mut fleet = fleet(&[10, 10, 10]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 4).weights(&fleet, "a=1").together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 4).together("set");
    fleet.add(first).add(second);
    let mut target = fleet.schedule();
    target.apps[1].seats[0].cluster = fleet.id("b");
    target.apps[1].clusters = fleet.set(&["a", "b"]);
    assert!(fleet.violations(&target).iter().any(|v| v.contains("without its group")));
}

#[test]
fn the_first_of_a_group_minds_the_daemon_sets_of_those_that_follow() {
    // Nodes of 4 CPU: with a DaemonSet of 2.1 on each, two of them hold four pods of 0.7, and none of 2.1.
    let facts = [(Strategy::Duplicated, 5, "cpu=700", ""), (Strategy::Duplicated, 4, "cpu=700", "a=4 b=4")];
    let whole = [(Strategy::StaticWeight, 1, "cpu=2100", ""), (Strategy::StaticWeight, 3, "cpu=700", "a=2 b=1")];
    for (strategy, replicas, requests, expected) in facts.into_iter().chain(whole) {
        let mut fleet = FleetFixture::new(&["a", "b"]);
        fleet.pool("a", "p", 2, "cpu=4000");
        fleet.pool("b", "p", 2, "cpu=4000");
        let first = fleet.app("first", strategy).deployment_of(replicas, requests);
        let agent = fleet.app("second", Strategy::StaticWeight);
        let agent = agent.workload(WorkloadKind::DaemonSet, "agent", 1, "cpu=2100");
        fleet.add(first.label("set", "one").together("set")).add(agent.label("set", "one").together("set"));
        assert_eq!(placed(&fleet, ["first", "second"])[0], expected, "{replicas} of {requests}");
    }
}

#[test]
fn the_first_of_a_group_is_not_short_for_the_sake_of_others() {
    // Room for four in each cluster, two of which the second app would want; the first wants two in one cluster.
    let mut fleet = fleet(&[0, 4, 4]);
    let first = app(&fleet, "first", Strategy::StaticWeight, 3).with(|policy| policy.min = 3).together("set");
    let second = app(&fleet, "second", Strategy::StaticWeight, 3).together("set");
    fleet.add(first).add(second);
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=3", "b=1"]);
}

/// Members of a group that lie apart come together by the smallest move of all, whoever is first.
#[test]
fn a_group_gathers_where_fewest_replicas_move() {
    type Members<'a> = &'a [(&'a str, u32, &'a str)];
    let facts: [([u32; 3], Members<'_>, &[&str]); 8] = [
        // the first is small: it goes to the others
        ([20, 20, 20], &[("first", 1, "a=1"), ("second", 9, "b=9")], &["b=1", "b=9"]),
        // the first is large: the others come
        ([20, 20, 20], &[("first", 9, "a=9"), ("second", 1, "b=1")], &["a=9", "a=1"]),
        // of equal moves the first stays
        ([20, 20, 20], &[("first", 4, "b=4"), ("second", 4, "a=4")], &["b=4", "b=4"]),
        // most of them together, not the largest of them
        ([20, 20, 20], &[("first", 4, "a=4"), ("second", 3, "b=3"), ("third", 3, "b=3")], &["b=4", "b=3", "b=3"]),
        // no room for all where fewest would move
        ([20, 9, 20], &[("first", 1, "a=1"), ("second", 9, "b=9")], &["a=1", "a=9"]),
        // nor where any of them is: all of them go where there is
        ([5, 6, 20], &[("first", 3, "a=3"), ("second", 4, "b=4")], &["c=3", "c=4"]),
        // a new first goes to those that run
        ([20, 20, 20], &[("first", 5, ""), ("second", 2, "c=2")], &["c=5", "c=2"]),
        // nowhere is room for all: what fits comes to the first, the rest stays and is reported
        ([5, 6, 0], &[("first", 3, "a=3"), ("second", 4, "b=4"), ("third", 2, "b=2")], &["a=3", "b=4", "a=2"]),
    ];
    for (room, members, expected) in facts {
        let mut fleet = fleet(&room);
        for (name, replicas, seats) in members {
            let member = app(&fleet, name, Strategy::Aggregated, *replicas).together("set");
            fleet.add(member);
            if !seats.is_empty() {
                fleet.runs(name, seats);
            }
        }
        let target = fleet.schedule();
        let seats: Vec<String> = members.iter().map(|(name, ..)| fleet.seats(&target, name)).collect();
        assert_eq!(seats, expected, "{room:?} {members:?}");
        fleet.record_target(&target);
        assert_eq!(fleet.schedule().apps, target.apps, "settled: {members:?}");
    }
}

/// Every way in which three members can lie in three clusters of several sizes: what moves is the least that any cluster
/// with room for all of them asks for.
#[test]
fn no_smaller_move_brings_a_group_together() {
    let names = ["a", "b", "c"];
    let sizes = [[1, 2, 4], [3, 3, 2], [4, 1, 1]];
    let rooms = [[9, 9, 9], [8, 7, 5], [6, 8, 7], [5, 5, 9]];
    for (replicas, room) in sizes.iter().flat_map(|s| rooms.iter().map(move |r| (s, r))) {
        for lie in 0..27_usize {
            let at = [lie % 3, lie / 3 % 3, lie / 9];
            let load = |cluster: usize| -> u32 { (0..3).filter(|m| at[*m] == cluster).map(|m| replicas[m]).sum() };
            if (0..3).any(|cluster| load(cluster) > room[cluster]) {
                continue;
            }
            let mut fleet = fleet(room);
            for (member, name) in ["first", "second", "third"].into_iter().enumerate() {
                let one = app(&fleet, name, Strategy::Aggregated, replicas[member]).together("set");
                fleet.add(one).runs(name, &format!("{}={}", names[at[member]], replicas[member]));
            }
            let all: u32 = replicas.iter().sum();
            let least = (0..3).filter(|c| room[*c] >= all).map(|c| all - load(c)).min();
            let target = fleet.schedule();
            let now = ["first", "second", "third"].map(|name| fleet.seats(&target, name));
            let moved: u32 =
                (0..3).filter(|m| now[*m] != format!("{}={}", names[at[*m]], replicas[*m])).map(|m| replicas[m]).sum();
            let together = now.iter().all(|seats| seats.split('=').next() == now[0].split('=').next());
            match least {
                Some(least) => assert!(together && moved == least, "{replicas:?} {room:?} {at:?}: {now:?}, {least}"),
                None => assert_eq!(now[0], format!("{}={}", names[at[0]], replicas[0]), "{room:?} {at:?}"),
            }
        }
    }
}

/// The first of a group keeps out of clusters that hold it and not all parts of the others.
#[test]
fn every_part_of_every_member_needs_room() {
    let mut fleet = fleet(&[7, 9, 0]);
    let first = app(&fleet, "first", Strategy::Aggregated, 3).together("set");
    let parts = [("head", 1, "cpu=1000"), ("workers", 4, "cpu=1000")];
    let second = fleet.app("second", Strategy::Aggregated).parts("ray", &parts).label("set", "one").together("set");
    fleet.add(first).add(second);
    // a would hold the first and the workers
    assert_eq!(placed(&fleet, ["first", "second"]), ["b=3", "b=1"]);
    // so does an app of several workloads
    let third = app(&fleet, "third", Strategy::Aggregated, 1).together("set");
    fleet.add(third);
    assert_eq!(placed(&fleet, ["first", "third"]), ["b=3", "b=1"]);
}

/// Data does not move for those that have none.
#[test]
fn a_group_gathers_where_its_data_is() {
    let mut fleet = fleet(&[20, 20, 20]);
    let first = app(&fleet, "first", Strategy::Aggregated, 9).together("set");
    let claim = serde_json::json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    let second = app(&fleet, "second", Strategy::Aggregated, 1).together("set").pod(|pod| pod["volumes"] = claim);
    fleet.add(first).add(second).runs("first", "a=9").runs("second", "c=1");
    assert_eq!(placed(&fleet, ["first", "second"]), ["c=9", "c=1"]);
}

/// Of those that must lie apart the later moves, and no more of it than shares a cluster.
#[test]
fn the_later_gives_way_with_the_smallest_move() {
    let facts = [
        // where both are, before and after
        (["a=4", "a=4"], ["a=4", "b=2 c=2"]),
        (["a=2 b=2", "b=2 c=2"], ["a=2 b=2", "c=4"]),
        (["a=1 b=3", "a=3 c=1"], ["a=1 b=3", "c=4"]),
        // nothing is shared: nothing moves
        (["b=4", "a=2 c=2"], ["b=4", "a=2 c=2"]),
        // there is no other cluster: it stays, and is reported
        (["a=2 b=1 c=1", "a=4"], ["a=2 b=1 c=1", "a=4"]),
    ];
    for (before, after) in facts {
        let mut fleet = fleet(&[10, 10, 10]);
        for (name, seats) in ["first", "second"].into_iter().zip(before) {
            let one = app(&fleet, name, Strategy::StaticWeight, 4).apart("set");
            fleet.add(one).runs(name, seats);
        }
        assert_eq!(placed(&fleet, ["first", "second"]), after, "{before:?}");
        let reported = fleet.schedule().apps[1].deficits.iter().any(|d| matches!(d, Deficit::Group { anti: true, .. }));
        assert_eq!(reported, before == after && before[1] == "a=4");
    }
}

/// A group that lies apart in three: each later one leaves only what an earlier one has.
#[test]
fn three_apart() {
    let mut fleet = fleet(&[10, 10, 10]);
    for (name, seats) in [("first", "a=2"), ("second", "a=2"), ("third", "a=2")] {
        let one = app(&fleet, name, Strategy::Aggregated, 2).apart("set");
        fleet.add(one).runs(name, seats);
    }
    assert_eq!(placed(&fleet, ["first", "second"]), ["a=2", "b=2"]);
    assert_eq!(placed(&fleet, ["second", "third"]), ["b=2", "c=2"]);
}

/// The first of a group that finds no place, because its weights name one cluster and its spread asks for two, leads nobody.
#[test]
fn nobody_gathers_around_one_that_finds_no_place() {
    let mut fleet = FleetFixture::new(&["a", "b", "c", "d"]);
    let copies = app(&fleet, "copies", Strategy::Duplicated, 1).together("set");
    let first = app(&fleet, "first", Strategy::StaticWeight, 3).weights(&fleet, "c=1").priority(1).together("set");
    fleet.add(copies).add(first.spread(TopologyKey::Cluster, 2, Some(3))).runs("copies", "a=1 b=1 c=1 d=1");
    assert_eq!(placed(&fleet, ["copies", "first"]), ["a=1 b=1 c=1 d=1", ""]);
    assert_eq!(fleet.violations(&fleet.schedule()), Vec::<String>::new());
}

/// The first of the group finds no place, wherever the group gathers; the other is where that looks for one.
#[test]
fn whoever_waits_where_its_group_does_not_gather_takes_a_turn() {
    let mut fleet = FleetFixture::new(&["a", "b", "c", "d"]);
    fleet.pool("c", "p", 3, "cpu=4000");
    let clean = fleet.app("clean", Strategy::StaticWeight).workload(WorkloadKind::CronJob, "main", 1, "cpu=500");
    let clean = clean.spread(TopologyKey::Cluster, 2, Some(2)).label("set", "one").together("set");
    let web = fleet.app("web", Strategy::StaticWeight).deployment_of(1, "cpu=500");
    let web = web.spread(TopologyKey::Cluster, 1, Some(1)).label("set", "one").together("set");
    fleet.add(clean).add(web).runs("web", "c=1").runs("clean", "");
    let recorded = fleet.record.apps.get_mut(&("team".into(), "clean".into())).unwrap();
    recorded.clusters = ["a", "b", "c", "d"].map(Into::into).into();
    recorded.workloads.clear();
    let target = fleet.schedule();
    assert_eq!((fleet.seats(&target, "clean").as_str(), fleet.seats(&target, "web").as_str()), ("", "a=1"));
    fleet.record_target(&target);
    assert_eq!(fleet.schedule().apps, target.apps);
}

/// A copy of the first finds no room beside what the other runs. That leaves for where the first is, and then there is room.
#[test]
fn the_first_may_come_where_the_others_left() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    fleet.pool("c", "p", 2, "cpu=4000");
    let first = app(&fleet, "first", Strategy::Duplicated, 1).together("set");
    let other = fleet.app("other", Strategy::StaticWeight).deployment_of(4, "cpu=4000").label("set", "one");
    fleet.add(first).add(other.together("set")).runs("other", "a=1 b=1 c=2");
    assert_eq!(placed(&fleet, ["first", "other"]), ["a=1 b=1 c=1", "a=2 b=2"]);
    assert_eq!(fleet.violations(&fleet.schedule()), Vec::<String>::new());
}
