//! Moves in steps whose file, intents or record change on the way: what follows at once, what leads them elsewhere, what is
//! waited for whatever becomes of them.

use std::collections::BTreeSet;

use fleetwright_compiler::rebalance::{Budget, Left, Rebalance};

use super::steps::{NIGHT, ready, subjects, tidal, with_room};
use super::world::{Files, World, app, fleet, seats};
use crate::apply::desired::DesiredObject;
use crate::controller::Wanted;
use crate::decide::{Urgency, orders};
use crate::observation::Observation;
use crate::ports::FleetRepo as _;

const MOVE: &str = "state/moves/t/web.yaml";

/// Ten replicas of `web` in a and b by weights, two at a time.
fn weighted(weights: &str) -> Files {
    let mut files = fleet();
    app(&mut files, "web", 10, ", clusters: {names: [a, b]}, move: {max: 2}");
    let text = files.get_mut("teams/t/web/app.yaml").unwrap();
    *text = text.replace("{strategy: StaticWeight}", &format!("{{strategy: StaticWeight, weights: {weights}}}"));
    files
}

/// It is night, and the first step of the way there is taken: eight in a, four in b.
fn at_night(files: &Files) -> World {
    let world = World::live(files);
    world.clock.0.set(NIGHT);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]));
    world
}

/// Looks at what is placed as if all of it were ready, until nothing happens any more.
fn settle(world: &World) {
    for _ in 0..12 {
        let now = world.seats("web");
        let at = |cluster: &str| now.get(cluster).copied().unwrap_or(0);
        let seen = ready([("a", at("a")), ("b", at("b")), ("c", at("c"))]);
        if world.advance_seeing(Some(&seen)).unwrap().pushed.is_empty() {
            return;
        }
    }
    panic!("it does not come to rest: {:?}", world.seats("web"));
}

#[test]
fn what_a_file_states_of_steps_counts_for_a_move_on_its_way() {
    let world = at_night(&tidal("{max: 20%, deadline: 2h}"));
    let of_move = world.live_text(MOVE);
    assert!(
        of_move.contains("at: 2026-11-30T15:00:00Z") && of_move.contains("deadline: 2026-11-30T17:00:00Z"),
        "{of_move}"
    );
    for (stated, deadline) in [
        ("{max: 20%, deadline: 30m}", Some("deadline: 2026-11-30T15:30:00Z")),
        ("{max: 20%}", None),
        ("{max: 40%, every: 10m, deadline: 3h}", Some("deadline: 2026-11-30T18:00:00Z")),
    ] {
        world.later(60);
        world.commit_main(&tidal(stated));
        assert_eq!(world.advance().unwrap().pushed.len(), 1, "{stated}");
        let of_move = world.live_text(MOVE);
        assert_eq!(of_move.lines().find(|line| line.contains("deadline")).map(str::trim), deadline, "{stated}");
        assert!(of_move.contains("number: 1"), "it goes on: {of_move}");
        assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]), "{stated}");
    }
    // four at a time now, ten minutes after the first
    world.clock.0.set(NIGHT + 599);
    world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 4)]));
    world.clock.0.set(NIGHT + 600);
    world.advance_seeing(Some(&ready([("a", 6), ("b", 4)]))).unwrap();
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 8)]));
    // and late when that says so, not when it was once to be done
    for (at, urgency) in [(3 * 3600, Urgency::Waits), (3 * 3600 + 1, Urgency::Guarded)] {
        world.clock.0.set(NIGHT + at);
        let advanced = world.advance_seeing(Some(&ready([("a", 6), ("b", 5)]))).unwrap();
        assert_eq!(advanced.reports[0].urgency, urgency, "{at}: {:?}", advanced.reports);
    }
}

/// Larger pods find room for fewer of them: the move is led where they fit, from where it is.
#[test]
fn what_pods_ask_of_a_node_leads_a_move_elsewhere_and_a_new_image_does_not() {
    let mut files = tidal("{max: 20%}");
    with_room(&mut files, 10);
    let world = at_night(&files);
    let before = world.live_text(MOVE);
    let manifest = |files: &mut Files, from: &str, to: &str| {
        let text = files.get_mut("teams/t/web/web.yaml").unwrap();
        *text = text.replace(from, to);
        assert!(text.contains(to));
    };
    manifest(&mut files, "web:1", "web:2");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.live_text(MOVE), before);
    manifest(&mut files, "cpu: 100m", "cpu: 200m");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]), "what was raised stays until somebody saw it");
    settle(&world);
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5)]));
    assert!(!world.files("live").contains_key(MOVE));
}

fn rebalance(world: &World) -> (bool, Rebalance) {
    let mut found = Rebalance::default();
    let pushed = world.order_with(|desk, _| {
        let (proposal, rebalance) = orders::rebalance(desk, &|fleet| fleet.app_ids().collect(), Budget::Unlimited)?;
        found = rebalance;
        Ok(proposal)
    });
    (pushed.unwrap().is_some(), found)
}

#[test]
fn a_rebalance_leads_a_move_elsewhere_and_a_drain_comes_before_it() {
    let mut files = fleet();
    let (b, c) = (files.remove("clusters/b.yaml").unwrap(), files.remove("clusters/c.yaml").unwrap());
    app(&mut files, "web", 12, ", move: {max: 2}");
    let world = World::live(&files);
    files.insert("clusters/b.yaml".into(), b);
    world.commit_main(&files);
    world.advance().unwrap();
    assert!(rebalance(&world).0);
    assert_eq!(world.seats("web"), seats([("a", 12), ("b", 2)]));
    assert!(!rebalance(&world).0, "it is on its way there");
    files.insert("clusters/c.yaml".into(), c);
    world.commit_main(&files);
    world.advance().unwrap();
    // The third cluster is for a rebalance alone: the move is led there, and nothing goes that nobody saw replaced.
    assert!(rebalance(&world).0);
    assert_eq!(world.seats("web"), seats([("a", 12), ("b", 2)]));
    assert_eq!(world.live_text(MOVE).matches("replicas: 4").count(), 3);
    settle(&world);
    assert_eq!(world.seats("web"), seats([("a", 4), ("b", 4), ("c", 4)]));
    // what leaves a drained cluster is left alone
    world.order(|desk| orders::drain(desk, "c")).unwrap().expect("it is a commit");
    let before = (world.seats("web"), world.live_text(MOVE));
    let (moved, found) = rebalance(&world);
    assert_eq!((moved, found.left.first().map(|(_, why)| *why)), (false, Some(Left::Moving)));
    assert_eq!((world.seats("web"), world.live_text(MOVE)), before);
}

/// Where the target of a move is where the app is already, a rebalance ends it.
#[test]
fn a_rebalance_ends_a_move_that_leads_away_from_where_it_would_place() {
    let world = World::live(&weighted("{a: 1, b: 1}"));
    world.edit_live(|files| {
        let text = files.get_mut("placements/t.yaml").unwrap();
        *text = text.replacen("replicas: 5", "replicas: 7", 1).replacen("replicas: 5", "replicas: 3", 1);
    });
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 7), ("b", 3)]), "what runs stays where it is");
    assert!(rebalance(&world).0);
    assert_eq!(world.seats("web"), seats([("a", 7), ("b", 5)]));
    settle(&world);
    assert_eq!(world.seats("web"), seats([("a", 5), ("b", 5)]));
}

#[test]
fn a_merge_that_is_taken_back_on_live_holds_until_there_is_a_newer_one() {
    let world = World::live(&weighted("{a: 9, b: 1}"));
    world.commit_main(&weighted("{a: 1, b: 9}"));
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 3)]));
    world.revert_live();
    for _ in 0..2 {
        let advanced = world.advance().unwrap();
        assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Guarded), "{advanced:?}");
        assert!(advanced.reports[0].text.contains("was taken back on the live branch"), "{advanced:?}");
        assert_eq!(world.seats("web"), seats([("a", 9), ("b", 1)]));
    }
    world.commit_main(&weighted("{a: 5, b: 5}"));
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 3)]));
    assert_eq!(world.live_text(MOVE).matches("replicas: 5").count(), 2);
}

/// The merge stays and only its first step is taken back: the move is there, and waits for somebody to lead it elsewhere.
#[test]
fn a_first_step_that_is_taken_back_holds() {
    let world = World::live(&weighted("{a: 9, b: 1}"));
    let before = world.files("live").remove("placements/t.yaml").unwrap();
    world.commit_main(&weighted("{a: 1, b: 9}"));
    world.advance().unwrap();
    world.edit_live(|files| {
        files.insert("placements/t.yaml".into(), before.clone());
        files.remove(MOVE);
    });
    for _ in 0..3 {
        let advanced = world.advance_seeing(Some(&ready([("a", 9), ("b", 1)]))).unwrap();
        assert!(advanced.reports.iter().any(|report| report.text.contains("taken back")), "{advanced:?}");
        assert_eq!(world.seats("web"), seats([("a", 9), ("b", 1)]));
        assert!(world.live_text(MOVE).contains("number: 0"));
    }
    world.commit_main(&weighted("{a: 5, b: 5}"));
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 9), ("b", 3)]), "another way is another decision");
}

/// What a step raised is known by its count: nothing is lowered because the file of its move is gone.
#[test]
fn the_file_of_a_move_that_is_removed_lowers_nothing_unseen() {
    let day = tidal("{max: 20%}");
    let mut image = day.clone();
    let text = image.get_mut("teams/t/web/web.yaml").unwrap();
    *text = text.replace("web:1", "web:2");
    let mut without_steps = day.clone();
    let text = without_steps.get_mut("policies/tide.yaml").unwrap();
    *text = text.replace("  move: {max: 20%}\n", "");
    // what is merged or ordered beside it
    for (merged, cordons) in [(None, false), (Some(&image), false), (Some(&without_steps), false), (None, true)] {
        let world = at_night(&day);
        world.edit_live(|files| drop(files.remove(MOVE)));
        if let Some(merged) = merged {
            world.commit_main(merged);
        }
        if cordons {
            world.order(|desk| orders::cordon(desk, "c")).unwrap().expect("it is a commit");
        }
        for _ in 0..2 {
            world.advance().unwrap();
            assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]), "{merged:?} {cordons}");
            world.advance_seeing(Some(&ready([("a", 8), ("b", 3)]))).unwrap();
            assert_eq!(world.seats("web"), seats([("a", 8), ("b", 4)]), "{merged:?} {cordons}");
        }
        assert!(world.files("live").contains_key(MOVE), "{merged:?} {cordons}");
        settle(&world);
        assert_eq!(world.seats("web"), seats([("a", 2), ("b", 8)]), "{merged:?} {cordons}");
    }
    // before anything was raised: it is begun again, in its steps
    let world = at_night(&day);
    world.advance_seeing(Some(&ready([("a", 8), ("b", 4)]))).unwrap();
    world.edit_live(|files| {
        files.remove(MOVE);
        let text = files.get_mut("placements/t.yaml").unwrap();
        *text = text.replace("cluster: b\n      replicas: 6", "cluster: b\n      replicas: 4");
    });
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 4)]));
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 6), ("b", 6)]));
}

/// What clusters get is what is recorded, whatever would follow from what somebody wrote: that is a decision first.
#[test]
fn appliers_follow_what_is_recorded() {
    let world = World::live(&weighted("{a: 1, b: 1}"));
    let replicas = || {
        let mut repo = world.repo("applier.git");
        let tip = repo.fetch(&["live"]).unwrap().remove("live").unwrap();
        let wanted = Wanted::read(&repo, &world.session, &world.branches, &tip).unwrap();
        ["a", "b"].map(|cluster| {
            let order = wanted.order(cluster, &Observation::default(), 0, None, &BTreeSet::new()).unwrap();
            let mut objects = order.desired.apps().values().flat_map(|app| app.objects.values());
            objects.find_map(DesiredObject::replicas)
        })
    };
    assert_eq!(replicas(), [Some(5), Some(5)]);
    let path = "state/lifecycle/b.yaml";
    world.edit_live(|files| drop(files.insert(path.into(), "lifecycle: Draining\nby: ann\n".into())));
    assert_eq!(replicas(), [Some(5), Some(5)], "nobody decided that yet");
    world.advance().unwrap();
    assert_eq!(replicas(), [Some(7), Some(5)]);
    world.edit_live(|files| drop(files.remove(MOVE)));
    assert_eq!(replicas(), [Some(7), Some(5)], "nothing is lowered because a file is gone");
}

/// What somebody wrote into `state/` comes with the next decision, whatever that is, and in steps all the same.
#[test]
fn what_is_due_anyway_takes_steps_with_whatever_is_decided_first() {
    let world = World::live(&weighted("{a: 1, b: 1}"));
    world.edit_live(|files| {
        drop(files.insert("state/lifecycle/b.yaml".into(), "lifecycle: Draining\nby: ann\n".into()))
    });
    let approval = world.order(|desk| orders::approve(desk, "b3:0123456789abcdef", 3600)).unwrap();
    assert!(approval.is_some_and(|approval| approval.subject().starts_with("Approve")));
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("a", 7), ("b", 5)]));
    assert_eq!(subjects(&world.advance().unwrap()), Vec::<&str>::new());
}
