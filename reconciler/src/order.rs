//! One order of a person: fetch, propose, push, and again while others push first.

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Session, compile};

use crate::advance::{AdvanceError, Branches, MAX_RACES, Pushed};
use crate::commit::LiveCommit;
use crate::decide::orders::{self, Desk, Hold, OrderError, Undone};
use crate::decide::{DecideError, Identity, Proposal, Unrealised, realise, refusal_text};
use crate::ports::{Author, Clock, FleetRepo, PushError};
use crate::record_files::RecordFiles;
use crate::seen::Seen;

/// Why an order did not become a commit.
#[derive(Debug, thiserror::Error)]
pub enum OrderFailure {
    /// It is not carried out.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// What is live, or what the order would make of it, does not compile.
    #[error("{0}")]
    Refused(String),
    /// Git failed, or the live branch is not as it should be.
    #[error(transparent)]
    Advance(#[from] AdvanceError),
}

impl From<crate::ports::PortError> for OrderFailure {
    fn from(error: crate::ports::PortError) -> Self {
        Self::Advance(error.into())
    }
}

impl From<DecideError> for OrderFailure {
    fn from(error: DecideError) -> Self {
        Self::Advance(error.into())
    }
}

/// What one round of an order makes.
pub type Make<'m> = dyn FnMut(&Desk<'_>, &dyn FleetRepo) -> Result<Proposal, OrderFailure> + 'm;

/// Carries out an order. `None` where it changes nothing.
///
/// # Errors
/// When it makes no sense, something stands in the way, what it makes does not compile, or Git fails.
pub fn order(
    repo: &mut dyn FleetRepo,
    clock: &dyn Clock,
    session: &Session,
    branches: &Branches,
    person: &Author,
    make: &mut Make<'_>,
) -> Result<Option<Pushed>, OrderFailure> {
    let nobody = Identity { holder: person.name.as_str().into(), term: None };
    for _ in 0..MAX_RACES {
        let seen = Seen::fetch(repo, branches)?;
        let situation = seen.situation(session, &nobody, None, clock.now_secs());
        let Some(live) = &situation.live else {
            let text = format!("there is no branch `{}` yet: `fleetwright advance` makes it", branches.live);
            return Err(OrderError::Guarded(text).into());
        };
        let record = live.record.tree();
        let overlay = Overlay::with_record(live.pinned, &record);
        let current = match compile(session, &overlay, &Scenario::default()) {
            Ok(current) => current,
            Err(CompileError::Refused(refusal)) => {
                return Err(OrderFailure::Refused(format!(
                    "what is live does not compile, so nothing can be decided on it:\n{}",
                    refusal_text(&overlay, &refusal)
                )));
            }
            Err(CompileError::Files(error)) => return Err(DecideError::from(error).into()),
            Err(CompileError::Bug(violations)) => return Err(DecideError::Bug(violations).into()),
        };
        let desk = Desk { live, current: &current, person, now_secs: situation.now_secs };
        let proposal = make(&desk, repo)?;
        let planned = match realise(&situation, &proposal, Some(&current)) {
            Ok(Some(planned)) => planned,
            Ok(None) => return Ok(None),
            Err(Unrealised::Refused(text)) => {
                return Err(OrderFailure::Refused(format!("`{}` would not compile:\n{text}", proposal.subject)));
            }
            Err(Unrealised::Failed(error)) => return Err(error.into()),
        };
        match repo.push(&planned.commit(&branches.live)) {
            Ok(id) => return Ok(Some(Pushed { id, cause: planned.cause, message: planned.message })),
            Err(PushError::Moved(_)) => {}
            Err(refused @ PushError::Refused { .. }) => return Err(AdvanceError::Refused(refused).into()),
            Err(PushError::Failed(error)) => return Err(error.into()),
        }
    }
    Err(AdvanceError::Crowded(MAX_RACES).into())
}

/// The order to take back the commit whose id begins with `sha`.
///
/// # Errors
/// When there is no such commit on the live branch, or more than one, or it cannot be taken back.
pub fn undo(desk: &Desk<'_>, repo: &dyn FleetRepo, sha: &str, hold: Option<&Hold>) -> Result<Proposal, OrderFailure> {
    let commit = find(&desk.live.history, sha)?.clone();
    let Some(parent) = &commit.parent else {
        return Err(OrderError::Guarded(format!("{} is the first commit of the live branch", commit.id.short())).into());
    };
    let record = |id| Ok::<_, OrderFailure>(RecordFiles::read(&*repo.tree(id)?).map_err(DecideError::from)?);
    let undone = Undone { before: record(parent)?, after: record(&commit.id)?, commit };
    Ok(orders::undo(desk, &undone, hold)?)
}

/// Shortest beginning of an id that names a commit, as for `git`.
const SHORTEST_ID: usize = 4;

fn find<'h>(history: &'h [LiveCommit], sha: &str) -> Result<&'h LiveCommit, OrderError> {
    let wrong = |text: String| Err(OrderError::Wrong(format!("{text}; `fleetwright history` lists them")));
    let shown = sha.escape_debug();
    if sha.len() < SHORTEST_ID {
        return wrong(format!("`{shown}` is too short for the id of a commit"));
    }
    let sha = sha.to_ascii_lowercase();
    let mut found = history.iter().filter(|commit| commit.id.0.starts_with(&sha));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => wrong(format!("`{shown}` begins the id of more than one commit")),
        (None, _) => wrong(format!("the live branch has no commit `{shown}`")),
    }
}
