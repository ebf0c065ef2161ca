//! Turns of tides, as far as they are the decider's: one commit, once, held when it is taken back.

use super::world::{NOW, World, fleet};
use crate::decide::causes::tide::{Due, turn};
use crate::decide::{Report, Urgency, View, realise};
use crate::ports::FleetRepo as _;
use crate::seen::Seen;

/// Commits the turn, if it is one.
fn take(world: &World, due: Due<'_>) -> (bool, Vec<Report>) {
    let mut repo = world.repo("mirror.git");
    let seen = Seen::fetch(&mut repo, &world.branches).unwrap();
    let situation = seen.situation(&world.session, &world.identity, None, world.clock.0.get());
    let mut reports = Vec::new();
    let view = View { situation: &situation, current: None };
    let Some(proposal) = turn(&view, due, &mut reports).unwrap() else { return (false, reports) };
    let planned = realise(&situation, &proposal, None).unwrap().expect("the record of the phase changes");
    repo.push(&planned.commit("live")).unwrap();
    (true, reports)
}

#[test]
fn a_turn_is_one_commit_and_a_revert_of_it_holds_for_its_window() {
    let world = World::live(&fleet());
    let night = Due { tide: "inference", phase: "night", window_secs: NOW - 60 };
    assert_eq!(take(&world, night), (true, vec![]));
    assert_eq!(world.live_text("state/tides.yaml"), "inference:\n  phase: night\n  window: 2026-11-30T10:59:00Z\n");
    assert_eq!(world.live_tip().summary(), Ok(Some("Turn tide inference to night")));
    assert_eq!(take(&world, night), (false, vec![]), "a second runner adds nothing");
    assert_eq!(world.advance().unwrap().pushed, []);

    world.revert_live();
    let (committed, reports) = take(&world, night);
    assert_eq!((committed, reports[0].urgency), (false, Urgency::Waits));
    // The next window is another decision.
    world.later(86_400);
    let next = Due { window_secs: NOW + 86_340, ..night };
    assert_eq!(take(&world, next), (true, vec![]));
}

#[test]
fn a_clock_that_was_set_back_turns_nothing() {
    let world = World::live(&fleet());
    world.later(-7200);
    let (committed, reports) = take(&world, Due { tide: "x", phase: "day", window_secs: NOW - 7260 });
    assert_eq!((committed, reports[0].urgency), (false, Urgency::Waits));
}
