//! Decisions that people take back, and that hold.

use super::world::{NOW, World, app, down, fleet, refusal, seats, seen, up};
use crate::advance::Pushed;
use crate::decide::Urgency;
use crate::decide::orders::{self, Hold};
use crate::order::{OrderFailure, undo};

pub(super) fn undo_commit(world: &World, id: &str, hold_secs: Option<u64>) -> Result<Option<Pushed>, OrderFailure> {
    let hold = hold_secs.map(|for_secs| Hold { for_secs, reason: Some("load test".into()) });
    world.order_with(|desk, repo| undo(desk, repo, id, hold.as_ref()))
}

#[test]
fn a_drain_is_taken_back_with_its_moves() {
    let world = World::live(&fleet());
    let drain = world.order(|desk| orders::drain(desk, "a")).unwrap().expect("a commit");
    let undone = undo_commit(&world, &drain.id.0[..8], None).unwrap().expect("a commit");
    assert!(undone.message.starts_with(&format!("Undo {}: Drain a\n", drain.id.short())), "{}", undone.message);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert!(!world.files("live").contains_key("state/lifecycle/a.yaml"));
    assert_eq!(world.advance().unwrap().pushed, []);
    assert_eq!(refusal(undo_commit(&world, &drain.id.0, None)).0, "guarded", "nothing is left");
}

#[test]
fn a_failover_that_is_taken_back_holds() {
    let world = World::live(&fleet());
    let lost = seen([("a", down(NOW - 300)), ("b", up()), ("c", up())]);
    let failover = world.advance_seeing(Some(&lost)).unwrap().pushed.remove(0);
    undo_commit(&world, &failover.id.0, Some(8 * 3600)).unwrap().expect("a commit");
    let holds = world.live_text("state/holds.yaml");
    assert!(holds.contains("until: 2026-11-30T19:00:00Z\n  by: ann\n  reason: load test\n"), "{holds}");
    assert_eq!(world.advance_seeing(Some(&lost)).unwrap().pushed, []);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
}

#[test]
fn other_apps_and_later_decisions_are_kept() {
    let mut files = fleet();
    app(&mut files, "api", 6, "");
    let world = World::live(&files);
    let drain = world.order(|desk| orders::drain(desk, "a")).unwrap().expect("a commit");
    // Later, another total of another app.
    app(&mut files, "api", 8, "");
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("api"), seats([("b", 4), ("c", 4)]));
    let (kind, text) = refusal(undo_commit(&world, &drain.id.0, None));
    assert_eq!(kind, "guarded");
    assert!(text.contains("api in placements/t.yaml") && !text.contains("web in"), "{text}");

    // An app that came later is no conflict.
    let world = World::live(&fleet());
    let drain = world.order(|desk| orders::drain(desk, "a")).unwrap().expect("a commit");
    let mut files = fleet();
    app(&mut files, "new", 2, "");
    world.commit_main(&files);
    world.advance().unwrap();
    undo_commit(&world, &drain.id.0, None).unwrap().expect("a commit");
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert_eq!(world.seats("new"), seats([("b", 1), ("c", 1)]));
}

#[test]
fn what_cannot_be_taken_back() {
    let world = World::live(&fleet());
    let first = world.tip("live").unwrap().to_string();
    let mut files = fleet();
    files.insert("x".into(), "1".into());
    world.commit_main(&files);
    let pin = world.advance().unwrap().pushed.remove(0);
    for (id, kind, says) in [
        (pin.id.0.as_str(), "guarded", "revert that on the intents' branch"),
        (&first, "guarded", ""),
        ("0000000000", "wrong", "has no commit `0000000000`"),
        ("", "wrong", "too short"),
        ("zzzz", "wrong", "has no commit"),
    ] {
        let (got, text) = refusal(undo_commit(&world, id, None));
        assert_eq!(got, kind, "{id}: {text}");
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn what_a_person_writes_into_state_is_settled_and_a_revert_of_that_holds() {
    let world = World::live(&fleet());
    world.edit_live(|files| drop(files.insert("state/lifecycle/a.yaml".into(), "lifecycle: Draining\n".into())));
    let pushed = world.advance().unwrap().pushed;
    assert_eq!(pushed.iter().map(Pushed::subject).collect::<Vec<_>>(), ["Place what the record asks for"]);
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
    assert_eq!(world.advance().unwrap().pushed, []);
    world.revert_live();
    for _ in 0..3 {
        let advanced = world.advance().unwrap();
        assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Waits));
    }
    assert_eq!(world.seats("web")["a"], 2);
    // The next decision includes it.
    let mut files = fleet();
    files.insert("x".into(), "1".into());
    world.commit_main(&files);
    world.advance().unwrap();
    assert_eq!(world.seats("web"), seats([("b", 3), ("c", 3)]));
}
