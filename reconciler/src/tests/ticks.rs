//! What a tick commits, and that it commits nothing else.

use super::world::{World, app, fleet, seats};
use crate::advance::AdvanceError;
use crate::commit::{Cause, Trailers};
use crate::decide::{DecideError, Identity, Urgency};

#[test]
fn the_first_commit_of_main_goes_live_with_its_placements() {
    let world = World::new();
    let main = world.commit_main(&fleet());
    let advanced = world.advance().unwrap();
    assert_eq!(advanced.pushed.len(), 1);
    assert!(advanced.reports.is_empty(), "{:?}", advanced.reports);
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    let files = world.files("live");
    assert_eq!(files["state/pin.yaml"], format!("main: {main}\n"));
    assert_eq!(files["state/decider.yaml"], "term: 1\nholder: hub\n");
    let tip = world.live_tip();
    let trailers = Trailers::parse(tip.message().unwrap()).unwrap();
    assert_eq!((trailers.main, trailers.cause, trailers.term), (main, Cause::Pin, Some(1)));
    // all that people wrote is there, byte for byte
    let mut intents = files;
    intents.retain(|path, _| !path.starts_with("placements/") && !path.starts_with("state/"));
    assert_eq!(intents, fleet());
}

#[test]
fn ten_ticks_of_nothing_new_commit_nothing() {
    let world = World::live(&fleet());
    let tip = world.tip("live");
    for _ in 0..10 {
        assert_eq!(world.advance().unwrap().pushed, []);
    }
    assert_eq!(world.tip("live"), tip);
}

#[test]
fn a_newer_commit_enters_as_the_second_parent_and_keeps_what_runs() {
    let world = World::live(&fleet());
    let first = world.tip("live").unwrap();
    let mut files = fleet();
    app(&mut files, "api", 3, "");
    files.insert("README.md".into(), "people's\n".into());
    let main = world.commit_main(&files);
    let advanced = world.advance().unwrap();
    assert_eq!(advanced.pushed.len(), 1);
    let tip = world.live_tip();
    let parents: Vec<String> = tip.parent_ids().map(|id| id.to_string()).collect();
    assert_eq!(parents, [first.to_string(), main.to_string()]);
    assert!(tip.message().unwrap().contains("t/api apps/Deployment/api: a 0 -> 1, b 0 -> 1, c 0 -> 1"));
    assert_eq!(world.seats("web"), seats([("a", 2), ("b", 2), ("c", 2)]));
    assert_eq!(world.files("live")["README.md"], "people's\n");
    assert_eq!(world.advance().unwrap().pushed, []);
}

#[test]
fn a_commit_that_does_not_compile_leaves_live_where_it_is() {
    let world = World::live(&fleet());
    let tip = world.tip("live");
    let mut broken = fleet();
    broken.insert("clusters/a.yaml".into(), "apiVersion: fleetwright.io/v1alpha1\nkind: Clutser\n".into());
    world.commit_main(&broken);
    let advanced = world.advance().unwrap();
    assert_eq!(advanced.pushed, []);
    assert_eq!(world.tip("live"), tip);
    let report = &advanced.reports[0];
    assert_eq!(report.urgency, Urgency::Wrong);
    assert!(report.text.contains("clusters/a.yaml:2:7: error[FW"), "{}", report.text);

    // the next one that compiles goes live
    let mut mended = fleet();
    mended.insert("x.txt".into(), "mended".into());
    world.commit_main(&mended);
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
}

#[test]
fn intents_whose_history_was_rewritten_do_not_go_live() {
    let world = World::live(&fleet());
    let tip = world.tip("live");
    world.remote.find_reference("refs/heads/main").unwrap().delete().unwrap();
    let mut other = fleet();
    app(&mut other, "web", 9, "");
    world.commit_main(&other);
    let advanced = world.advance().unwrap();
    assert_eq!((advanced.pushed.len(), advanced.reports[0].urgency), (0, Urgency::Guarded));
    assert_eq!(world.tip("live"), tip);
}

#[test]
fn another_decider_is_left_alone() {
    let world = World::live(&fleet());
    for identity in [Identity { holder: "other".into(), term: None }, Identity { holder: "hub".into(), term: Some(0) }]
    {
        let world = World { identity: identity.clone(), ..World::live(&fleet()) };
        // `live` was made by this identity: give it to somebody else
        let mut files = world.files("live");
        files.insert("state/decider.yaml".into(), "term: 3\nholder: hub\n".into());
        world.commit("live", &files);
        let error = world.advance().unwrap_err();
        assert!(matches!(error, AdvanceError::Decide(DecideError::NotOurs(_))), "{identity:?}: {error}");
    }
    assert!(world.advance().unwrap().pushed.is_empty());
}

#[test]
fn a_person_who_changes_intents_on_live_is_told() {
    let world = World::live(&fleet());
    let mut files = world.files("live");
    app(&mut files, "web", 60, "");
    world.commit("live", &files);
    let error = world.advance().unwrap_err();
    let AdvanceError::Decide(DecideError::Tampered(text)) = &error else { panic!("{error}") };
    assert!(text.contains("`teams`"), "{text}");
}

#[test]
fn a_live_branch_of_somebody_else_is_not_touched() {
    let world = World::new();
    world.commit_main(&fleet());
    world.commit("live", &fleet());
    let tip = world.tip("live");
    assert!(matches!(world.advance().unwrap_err(), AdvanceError::Decide(DecideError::Tampered(_))));
    assert_eq!(world.tip("live"), tip);
}

#[test]
fn a_repository_without_intents_is_an_error() {
    assert!(matches!(World::new().advance().unwrap_err(), AdvanceError::NoIntents(_)));
}
