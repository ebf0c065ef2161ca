//! One tick: decide, look at what is live now, order it of every cluster.
//!
//! Invariants: what is ordered was fetched by this tick; where the remote does not let us push, nothing new is ordered; a
//! live commit that cannot be followed leaves the last one in force, and its orders grow old.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleetwright_compiler::Session;
use fleetwright_compiler::base::SmolStr;

use super::board::Board;
use super::budget;
use super::status::Message;
use super::wanted::{Wanted, WantedError};
use crate::advance::{AdvanceError, Advanced, Branches, advance};
use crate::apply::run::PassError;
use crate::decide::{DecideError, Identity, Refusals, Urgency, some_of};
use crate::ports::{Clock, CommitId, FleetRepo};
use crate::rendered::{self, RenderedError, Written};
use crate::seen::check_forward;

/// What a process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It decides, and applies to all clusters.
    Whole(Identity),
    /// It applies to all clusters; another process decides.
    Applier,
    /// It applies to one cluster; another process decides.
    Agent(SmolStr),
}

/// What a controller remembers. All of it can be lost at any time.
#[derive(Debug, Default)]
pub struct Controller {
    session: Session,
    refusals: Refusals,
    board: Board,
    wanted: Option<Arc<Wanted>>,
    /// When the repository was fetched last, and what was ordered then is the newest.
    fetched_secs: Option<i64>,
    /// Commits that inventories name, and that Git says are ancestors, though longer ago than is kept in mind of all.
    proven: BTreeSet<SmolStr>,
    /// The live commit of which all is on the rendered branch.
    rendered: Option<CommitId>,
}

/// What a tick did.
#[derive(Debug)]
pub struct Tick {
    /// What the decider did; `None` where this process does not decide.
    pub decided: Option<Result<Advanced, AdvanceError>>,
    /// Why the live branch could not be followed; `None` when it is.
    pub not_followed: Option<WantedError>,
    /// Whether the live commit is another than at the last tick.
    pub moved: bool,
    /// What the rendered branch came to; `None` where there is none, it was up to date, or this process does not decide.
    pub rendered: Option<Result<Written, RenderedError>>,
}

/// What people should know after a tick, the most urgent first.
#[must_use]
pub fn reports(tick: &Tick) -> Vec<Message> {
    let mut reports = Vec::new();
    let wrong = |text: String| Message { urgency: Urgency::Wrong.as_str().into(), text };
    match &tick.decided {
        Some(Ok(advanced)) => reports.extend(advanced.reports.iter().map(Message::from)),
        Some(Err(error)) => reports.push(wrong(error.to_string())),
        None => {}
    }
    match &tick.rendered {
        Some(Ok(written)) if !written.waiting.is_empty() => {
            let files = written.waiting.iter().map(|path| path.as_str()).collect::<Vec<_>>();
            let text = format!(
                "on the rendered branch, {} stay as they are until enough replicas are seen ready elsewhere, or it is recorded \
                 where their app is to run",
                some_of(&files)
            );
            reports.push(Message { urgency: Urgency::Waits.as_str().into(), text });
        }
        Some(Err(error)) => reports.push(wrong(format!("the rendered branch: {error}"))),
        Some(Ok(_)) | None => {}
    }
    // Where deciding failed, following failed for the same reason.
    if let (Some(error), true) = (&tick.not_followed, reports.iter().all(|report| report.urgency != "Wrong")) {
        reports.push(wrong(error.to_string()));
    }
    reports.sort_by_key(|report| Urgency::ALL.iter().position(|urgency| urgency.as_str() == report.urgency));
    reports
}

impl Controller {
    /// Of nothing yet.
    #[must_use]
    pub fn new(board: Board) -> Self {
        Self { board, ..Self::default() }
    }

    /// What is wanted of the clusters; `None` before the first live commit.
    #[must_use]
    pub fn wanted(&self) -> Option<&Arc<Wanted>> {
        self.wanted.as_ref()
    }

    /// Where orders are posted.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Takes a tick.
    pub fn tick(&mut self, repo: &mut dyn FleetRepo, clock: &dyn Clock, branches: &Branches, role: &Role) -> Tick {
        let fetched_secs = clock.now_secs();
        let decided = match role {
            Role::Whole(identity) => {
                let observation = self.board.observation();
                let (session, seen) = (&self.session, Some(&observation));
                Some(advance(repo, clock, session, identity, branches, seen, &mut self.refusals))
            }
            Role::Applier | Role::Agent(_) => None,
        };
        let (followed, moved) = match self.follow(repo, branches, decided.as_ref()) {
            Ok(moved) => (None, moved),
            Err(error) => (Some(error), false),
        };
        // An old order would only be refused; and what could not be followed is not what should be there.
        if followed.is_none() {
            self.fetched_secs = Some(fetched_secs);
            self.prove_old(repo);
            self.reorder(role);
        }
        let rendered = match role {
            Role::Whole(_) if followed.is_none() => self.render(repo, clock),
            Role::Whole(_) | Role::Applier | Role::Agent(_) => None,
        };
        Tick { decided, not_followed: followed, moved, rendered }
    }

    /// An inventory that nothing changed for a very long time names a commit that orders no longer list: Git knows whether
    /// it is an ancestor all the same. What it says is no goes on being refused.
    fn prove_old(&mut self, repo: &dyn FleetRepo) {
        let Some(wanted) = &self.wanted else { return };
        for turn in self.board.turns().values() {
            if let Err(PassError::NotForward { found, .. }) = &turn.outcome
                && !self.proven.contains(found)
                && matches!(repo.is_ancestor(&CommitId(found.clone()), wanted.commit()), Ok(true))
            {
                self.proven.insert(found.clone());
            }
        }
    }

    /// Writes the rendered branch, until all of the live commit is there.
    fn render(&mut self, repo: &mut dyn FleetRepo, clock: &dyn Clock) -> Option<Result<Written, RenderedError>> {
        let wanted = self.wanted.as_ref()?;
        let branch = wanted.rendered_branch()?;
        if self.rendered.as_ref() == Some(wanted.commit()) {
            return None;
        }
        let observation = self.board.observation();
        let written = rendered::write(repo, wanted, Some(&observation), branch, clock.now_secs());
        if written.as_ref().is_ok_and(|written| written.waiting.is_empty()) {
            self.rendered = Some(wanted.commit().clone());
        }
        Some(written)
    }

    /// Goes to the newest live commit. Returns whether it is another.
    fn follow(
        &mut self,
        repo: &mut dyn FleetRepo,
        branches: &Branches,
        decided: Option<&Result<Advanced, AdvanceError>>,
    ) -> Result<bool, WantedError> {
        let tip = match decided {
            Some(Ok(advanced)) => advanced.live.clone(),
            // Nothing new is applied while no decision could be written down, or what is there is not to be trusted.
            Some(Err(
                error @ (AdvanceError::Port(_)
                | AdvanceError::Refused(_)
                | AdvanceError::Decide(DecideError::Tampered(_) | DecideError::State(_) | DecideError::Files(_))),
            )) => return Err(error.clone().into()),
            Some(Err(
                AdvanceError::Crowded(_)
                | AdvanceError::NoIntents(_)
                | AdvanceError::Decide(DecideError::NotOurs(_) | DecideError::Bug(_) | DecideError::Path(_)),
            ))
            | None => repo.fetch(&[&branches.live]).map_err(AdvanceError::from)?.remove(&branches.live),
        };
        check_forward(repo, &branches.live, tip.as_ref())?;
        let Some(tip) = tip else { return Ok(false) };
        if self.wanted.as_ref().is_some_and(|wanted| *wanted.commit() == tip) {
            return Ok(false);
        }
        self.wanted = Some(Arc::new(Wanted::read(repo, &self.session, branches, &tip)?));
        Ok(true)
    }

    /// Posts the orders of all clusters as they come of what is seen now, and dismisses those that left. The repository is
    /// not asked.
    pub fn reorder(&self, role: &Role) {
        let (Some(wanted), Some(fetched_secs)) = (&self.wanted, self.fetched_secs) else { return };
        let turns = self.board.turns();
        let observation = self.board.observation();
        let stop = budget::over_all(wanted, &turns, fetched_secs);
        let is_ours = |cluster: &SmolStr| match role {
            Role::Whole(_) | Role::Applier => true,
            Role::Agent(ours) => ours == cluster,
        };
        for cluster in wanted.clusters().filter(|cluster| is_ours(cluster)) {
            if let Some(order) = wanted.order(cluster, &observation, fetched_secs, stop.clone(), &self.proven) {
                self.board.order(cluster, order);
            }
        }
        for cluster in self.board.clusters() {
            if !is_ours(&cluster) || !wanted.has(&cluster) {
                self.board.dismiss(&cluster);
            }
        }
    }
}
