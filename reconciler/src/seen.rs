//! The mirror step: where the branches stand, and their trees, as one consistent look.

use fleetwright_compiler::Session;
use fleetwright_compiler::source::FleetFiles;

use crate::advance::{AdvanceError, Branches};
use crate::commit::LiveCommit;
use crate::decide::{DecideError, Head, Identity, Live, Situation};
use crate::observation::Observation;
use crate::ports::{CommitId, FleetRepo};
use crate::record_files::RecordFiles;
use crate::state::State;

/// Commits of the live branch that are looked at for keys.
const HISTORY: usize = 10_000;

/// What one fetch found. It owns what a [`Situation`] borrows.
pub struct Seen {
    main: CommitId,
    main_files: Box<dyn FleetFiles>,
    is_forward: bool,
    live: Option<SeenLive>,
}

/// The live branch as it was found.
pub(crate) struct SeenLive {
    tip: CommitId,
    files: Box<dyn FleetFiles>,
    pub(crate) pin: CommitId,
    pub(crate) pinned: Box<dyn FleetFiles>,
    pub(crate) record: RecordFiles,
    pub(crate) state: State,
    pub(crate) history: Vec<LiveCommit>,
}

impl Seen {
    /// Fetches both branches and opens their trees.
    ///
    /// # Errors
    /// When Git fails, or a branch is not one that this could have made.
    pub fn fetch(repo: &mut dyn FleetRepo, branches: &Branches) -> Result<Self, AdvanceError> {
        let heads = repo.fetch(&[&branches.intents, &branches.live])?;
        let Some(main) = heads.get(&branches.intents).cloned() else {
            return Err(AdvanceError::NoIntents(format!(
                "the repository has no branch `{}`: push one with a fleet, or name another in `branches.intents` of \
                 fleet.yaml",
                branches.intents
            )));
        };
        check_forward(repo, &branches.live, heads.get(&branches.live))?;
        let live = heads.get(&branches.live).map(|tip| SeenLive::open(repo, branches, tip)).transpose()?;
        let is_forward = match &live {
            Some(live) => repo.is_ancestor(&live.pin, &main)?,
            None => true,
        };
        Ok(Self { main_files: repo.tree(&main)?, main, is_forward, live })
    }

    /// What a decision is made from.
    #[must_use]
    pub fn situation<'a>(
        &'a self,
        session: &'a Session,
        identity: &'a Identity,
        observation: Option<&'a Observation>,
        now_secs: i64,
    ) -> Situation<'a> {
        Situation {
            session,
            identity,
            main: Head { id: self.main.clone(), files: &*self.main_files, is_forward: self.is_forward },
            live: self.live.as_ref().map(SeenLive::live),
            observation,
            refusals: None,
            now_secs,
        }
    }
}

/// Revisions only go forward: a live branch that was deleted, moved back or replaced is neither followed nor begun anew.
pub(crate) fn check_forward(
    repo: &mut dyn FleetRepo,
    branch: &str,
    tip: Option<&CommitId>,
) -> Result<(), AdvanceError> {
    let before = repo.followed(branch)?;
    let what = match (&before, tip) {
        (None, None) => return Ok(()),
        (Some(_), None) => "is gone",
        (None, Some(tip)) => return Ok(repo.follow(branch, tip)?),
        (Some(before), Some(tip)) if before == tip => return Ok(()),
        (Some(before), Some(tip)) if repo.is_ancestor(before, tip)? => return Ok(repo.follow(branch, tip)?),
        (Some(_), Some(_)) => "was moved back or replaced",
    };
    let before = before.map(|before| before.0).unwrap_or_default();
    Err(DecideError::Tampered(format!(
        "the branch `{branch}` {what}, and with it decisions that people and the decider made. Push what was there again: \
         `git push REMOTE {before}:refs/heads/{branch}`, with --force where something else is there now. To begin anew on \
         purpose, give another folder for the mirror (--mirror)"
    ))
    .into())
}

impl SeenLive {
    pub(crate) fn open(repo: &dyn FleetRepo, branches: &Branches, tip: &CommitId) -> Result<Self, AdvanceError> {
        let files = repo.tree(tip)?;
        let record = RecordFiles::read(&*files).map_err(DecideError::from)?;
        let state = State::read(&record).map_err(DecideError::from)?;
        let Some(pin) = state.pin.clone() else {
            return Err(DecideError::Tampered(format!(
                "the branch `{}` has no state/pin.yaml, which says which commit of the intents is live: it was not \
                 made by fleetwright. Name another branch in `branches.live` of fleet.yaml, or delete this one",
                branches.live
            ))
            .into());
        };
        // Nothing but a commit that the branch merged was ever live.
        if !repo.is_ancestor(&pin, tip)? {
            return Err(DecideError::Tampered(format!(
                "state/pin.yaml on `{}` names {}, which that branch does not contain: revert the commit that wrote it",
                branches.live,
                pin.short()
            ))
            .into());
        }
        let pinned = repo.tree(&pin)?;
        let history = repo.history(tip, &pin, HISTORY)?;
        Ok(Self { tip: tip.clone(), files, pin, pinned, record, state, history })
    }

    pub(crate) fn live(&self) -> Live<'_> {
        Live {
            tip: self.tip.clone(),
            time_secs: self.history.first().map_or(0, |commit| commit.time_secs),
            files: &*self.files,
            pin: self.pin.clone(),
            pinned: &*self.pinned,
            record: self.record.clone(),
            state: self.state.clone(),
            history: self.history.clone(),
        }
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen")
            .field("main", &self.main)
            .field("live", &self.live.as_ref().map(|l| &l.tip))
            .finish_non_exhaustive()
    }
}
