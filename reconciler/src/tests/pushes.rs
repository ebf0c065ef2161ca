//! Pushes: races, refusals, folders.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::source::{FleetFiles, RepoPath};

use super::world::{World, app, fleet};
use crate::advance::{AdvanceError, advance};
use crate::commit::LiveCommit;
use crate::decide::Refusals;
use crate::io::git::GitRepo;
use crate::observation::Observation;
use crate::ports::{CommitId, FleetRepo, NewCommit, PortError, PushError};

/// A repository in which something happens right before the first push.
struct Before<'a> {
    inner: GitRepo,
    happens: Option<Box<dyn FnOnce() + 'a>>,
    /// The process dies instead of pushing.
    dies: bool,
}

impl FleetRepo for Before<'_> {
    fn fetch(&mut self, branches: &[&str]) -> Result<BTreeMap<SmolStr, CommitId>, PortError> {
        self.inner.fetch(branches)
    }
    fn tree(&self, commit: &CommitId) -> Result<Box<dyn FleetFiles>, PortError> {
        self.inner.tree(commit)
    }
    fn history(&self, tip: &CommitId, before: &CommitId, most: usize) -> Result<Vec<LiveCommit>, PortError> {
        self.inner.history(tip, before, most)
    }
    fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool, PortError> {
        self.inner.is_ancestor(older, newer)
    }
    fn followed(&self, branch: &str) -> Result<Option<CommitId>, PortError> {
        self.inner.followed(branch)
    }
    fn follow(&mut self, branch: &str, commit: &CommitId) -> Result<(), PortError> {
        self.inner.follow(branch, commit)
    }
    fn push(&mut self, commit: &NewCommit) -> Result<CommitId, PushError> {
        if let Some(happens) = self.happens.take() {
            happens();
        }
        if self.dies {
            return Err(PortError::Transient("killed".into()).into());
        }
        self.inner.push(commit)
    }
}

/// A tick during which something happens right before its first push; how many commits it pushed.
pub fn advance_before<'a>(
    world: &'a World,
    observation: Option<&Observation>,
    happens: impl FnOnce() + 'a,
) -> Result<usize, AdvanceError> {
    pushed_before(world, observation, false, happens)
}

fn pushed_before<'a>(
    world: &'a World,
    observation: Option<&Observation>,
    dies: bool,
    happens: impl FnOnce() + 'a,
) -> Result<usize, AdvanceError> {
    let mut repo = Before { inner: world.repo("racer.git"), happens: Some(Box::new(happens)), dies };
    let (clock, session, refusals) = (&world.clock, &world.session, &mut Refusals::default());
    let advanced = advance(&mut repo, clock, session, &world.identity, &world.branches, observation, refusals)?;
    Ok(advanced.pushed.len())
}

#[test]
fn of_two_deciders_the_second_adds_nothing() {
    let world = World::live(&fleet());
    let mut files = fleet();
    app(&mut files, "api", 3, "");
    world.commit_main(&files);
    let pushed = advance_before(&world, None, || {
        assert_eq!(world.advance().unwrap().pushed.len(), 1);
    });
    pushed.unwrap();
    let second = world.live_tip();
    assert_eq!(second.parent_count(), 2);
    assert_eq!(second.parent(0).unwrap().parent_count(), 1, "one commit for each commit of main");

    // with clocks that differ, the later one loses, decides again, and finds nothing left
    app(&mut files, "api", 4, "");
    world.commit_main(&files);
    let pushed = advance_before(&world, None, || {
        world.clock.0.set(world.clock.0.get() + 1);
        assert_eq!(world.advance().unwrap().pushed.len(), 1);
    });
    assert_eq!(pushed.unwrap(), 0);
    assert_eq!(world.live_tip().parent_id(0).unwrap(), second.id());
}

#[test]
fn a_persons_push_meanwhile_is_kept() {
    let world = World::live(&fleet());
    let mut files = fleet();
    app(&mut files, "api", 3, "");
    world.commit_main(&files);
    let pushed = advance_before(&world, None, || {
        let mut live = world.files("live");
        live.insert("state/lifecycle/a.yaml".into(), "lifecycle: Cordoned\n".into());
        world.commit("live", &live);
    });
    assert_eq!(pushed.unwrap(), 1);
    assert_eq!(world.files("live")["state/lifecycle/a.yaml"], "lifecycle: Cordoned\n");
    assert_eq!(world.seats("api").get("a"), None, "decided again on what the person left");
}

#[test]
fn a_branch_that_was_set_back_meanwhile_is_not_moved_forward_again() {
    let world = World::live(&fleet());
    let first = world.tip("live").unwrap();
    for text in ["1", "2"] {
        let mut files = fleet();
        files.insert("x".into(), text.into());
        world.commit_main(&files);
        if text == "1" {
            world.advance().unwrap();
        }
    }
    let second = world.tip("live").unwrap();
    let pushed = advance_before(&world, None, || {
        world.remote.reference("refs/heads/live", first, true, "set back").unwrap();
    });
    // neither moved forward again nor followed: somebody must look
    let text = pushed.unwrap_err().to_string();
    assert!(text.contains("was moved back or replaced") && text.contains(&second.to_string()), "{text}");
    assert_eq!(world.tip("live"), Some(first));
    assert!(world.advance().is_err());
    world.remote.reference("refs/heads/live", second, true, "again").unwrap();
    assert_eq!(world.advance().unwrap().pushed.len(), 1);
}

#[test]
fn a_live_branch_that_is_deleted_is_not_begun_anew() {
    let world = World::live(&fleet());
    let tip = world.tip("live").unwrap();
    world.remote.find_reference("refs/heads/live").unwrap().delete().unwrap();
    let text = world.advance().unwrap_err().to_string();
    assert!(text.contains("is gone") && text.contains(&format!("git push REMOTE {tip}:refs/heads/live")), "{text}");
    assert_eq!(world.tip("live"), None);
    world.remote.reference("refs/heads/live", tip, true, "again").unwrap();
    assert_eq!(world.advance().unwrap().pushed.len(), 0);
}

#[test]
fn killed_before_a_push_nothing_is_half_done() {
    let world = World::new();
    world.commit_main(&fleet());
    assert!(pushed_before(&world, None, true, || {}).is_err());
    assert_eq!(world.tip("live"), None);
    assert_eq!(advance_before(&world, None, || {}).unwrap(), 1);
}

#[test]
fn a_refused_push_is_said_and_nothing_moves() {
    let world = World::new();
    world.commit_main(&fleet());
    world.refuse("live");
    let error = world.advance().unwrap_err();
    let AdvanceError::Refused(PushError::Refused { branch, reason }) = &error else { panic!("{error}") };
    assert_eq!(branch, "live");
    assert!(reason.contains("live is protected"), "{reason}");
    assert_eq!(world.tip("live"), None);
}

#[test]
fn main_is_never_pushed_to() {
    let world = World::new();
    world.commit_main(&fleet());
    let main = world.tip("main");
    world.refuse("main");
    world.advance().unwrap();
    assert_eq!(world.tip("main"), main);
}

#[test]
fn a_remote_that_is_gone_is_an_error_and_never_an_empty_repository() {
    let world = World::live(&fleet());
    std::fs::rename(world.path(), world.dir.path().join("elsewhere")).unwrap();
    assert!(matches!(world.advance().unwrap_err(), AdvanceError::Port(_)));
}

#[test]
fn a_fleet_in_a_folder_of_its_repository() {
    let world = World::new();
    let mut files = fleet();
    files = files.into_iter().map(|(path, text)| (format!("deploy/fleet/{path}"), text)).collect();
    files.insert("src/main.c".into(), "int main;\n".into());
    world.commit_main(&files);
    let mut repo = world.repo_below("mirror.git", RepoPath::new("deploy/fleet").unwrap());
    let mut tick = || {
        let (clock, session, refusals) = (&world.clock, &world.session, &mut Refusals::default());
        advance(&mut repo, clock, session, &world.identity, &world.branches, None, refusals).unwrap()
    };
    assert_eq!(tick().pushed.len(), 1);
    assert_eq!(tick().pushed.len(), 0);
    let live = world.files("live");
    assert_eq!(live["src/main.c"], "int main;\n");
    assert!(live.contains_key("deploy/fleet/placements/t.yaml") && live.contains_key("deploy/fleet/state/pin.yaml"));
}

#[test]
fn edits_of_a_commit() {
    let world = World::live(&fleet());
    let mut repo = world.repo("mirror.git");
    let heads = repo.fetch(&["main", "live", "absent"]).unwrap();
    assert_eq!(heads.len(), 2);
    let path = |text: &str| RepoPath::new(text).unwrap();
    let commit = NewCommit {
        branch: "live".into(),
        tip: Some(heads["live"].clone()),
        merges: None,
        base: Some(heads["main"].clone()),
        from_tip: BTreeSet::from(["placements".into(), "state".into()]),
        edits: BTreeMap::from([
            (path("state/new/deep/x.yaml"), Some(b"1".to_vec())),
            (path("state/decider.yaml"), None),
            (path("placements/t.yaml"), None),
            (path("state/not/there.yaml"), None),
        ]),
        message: "m".into(),
        author: None,
        time_secs: 5,
    };
    let id = repo.push(&commit).unwrap();
    assert_eq!(world.tip("live").unwrap().to_string(), id.to_string());
    let record: Vec<String> =
        world.files("live").into_keys().filter(|p| p.starts_with("placements") || p.starts_with("state")).collect();
    assert_eq!(record, ["state/new/deep/x.yaml", "state/pin.yaml"], "empty folders go");
    assert_eq!(repo.push(&commit).as_ref(), Ok(&id), "the same again: the answer to the first was lost");
    let other = NewCommit { time_secs: 6, ..commit };
    assert_eq!(repo.push(&other), Err(PushError::Moved("live".into())));
    let (live, main) = (CommitId(id.0), heads["main"].clone());
    assert_eq!(repo.is_ancestor(&main, &live), Ok(true));
    assert_eq!(repo.is_ancestor(&live, &main), Ok(false));
    assert_eq!(repo.is_ancestor(&CommitId("0".repeat(40).into()), &main), Ok(false));
    let history = repo.history(&live, &main, 10).unwrap();
    assert_eq!(history.iter().map(|c| (c.subject.as_str(), c.trailers.is_some())).collect::<Vec<_>>()[0], ("m", false));
    assert_eq!(history.len(), 2);
}
