//! Turns of tides, as far as they are the decider's: one commit, once, held when it is taken back.

use super::world::{Files, NOW, World, app, down, fleet, seats, seen, up};
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

/// Ten replicas in two clusters, 80:20 by day and 20:80 by night, by the clocks of Shanghai: it is 19:00 there.
fn tidal() -> Files {
    let mut files = fleet();
    app(&mut files, "web", 10, ", clusters: {names: [a, b]}");
    files.insert(
        "policies/tide.yaml".into(),
        "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {name: inference}\nspec:\n  timeZone: Asia/Shanghai\n  \
         apps: {}\n  phases:\n  - {name: day, from: \"07:00\", weights: {a: 80, b: 20}}\n  - {name: night, from: \"23:00\", \
         weights: {a: 20, b: 80}}\n"
            .into(),
    );
    files
}

#[test]
fn a_tide_of_80_to_20_turns_by_ticks_as_a_cron_job_runs_them() {
    let world = World::live(&tidal());
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 2)]));
    let until_night = 4 * 3600;
    // what the clock of Shanghai says, in seconds after 19:00, and where the replicas are then
    for (at, pushes, expected) in [
        (until_night - 1, 0, [("a", 8), ("b", 2)]),
        (until_night, 1, [("a", 2), ("b", 8)]),
        (until_night + 60, 0, [("a", 2), ("b", 8)]),
        // two days of ticks were missed
        (48 * 3600, 1, [("a", 8), ("b", 2)]),
        (48 * 3600 + until_night, 1, [("a", 2), ("b", 8)]),
    ] {
        world.clock.0.set(NOW + at);
        assert_eq!(world.advance().unwrap().pushed.len(), pushes, "{at}");
        assert_eq!(world.seats("web"), seats(expected), "{at}");
        assert_eq!(world.advance().unwrap().pushed, [], "a second runner adds nothing");
    }
    world.revert_live();
    let advanced = world.advance().unwrap();
    assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Waits));
    assert_eq!(world.seats("web"), seats([("a", 8), ("b", 2)]), "it holds for this night");
    world.later(24 * 3600);
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 8)]));
}

#[test]
fn failover_goes_before_the_tide() {
    let world = World::live(&tidal());
    world.later(4 * 3600);
    let lost = seen([("a", down(NOW)), ("b", up()), ("c", up())]);
    let advanced = world.advance_seeing(Some(&lost)).unwrap();
    let subjects: Vec<&str> = advanced.pushed.iter().map(|pushed| pushed.subject()).collect();
    assert_eq!(subjects, ["Fail over from a: it does not answer", "Turn tide inference from day to night"]);
    assert_eq!(world.seats("web"), seats([("b", 10)]));
}
