//! One tick of the decider: fetch, decide, push, and again until there is nothing to do.
//!
//! Invariants: what is pushed was decided on exactly what the branch holds; a push that lost a race is decided anew, never
//! forced; the term is read again before every push, because every push begins with a fetch.

use fleetwright_compiler::api::Intent;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::parse::{self, DocBody, FileForm};
use fleetwright_compiler::source::{self, Contents, FileClass, FilesError, FleetFiles, Limits, RepoPath};
use fleetwright_compiler::{Session, yaml};

use crate::commit::Cause;
use crate::decide::{self, DecideError, Decision, Identity, Refusals, Report, Situation};
use crate::observation::Observation;
use crate::ports::{Clock, CommitId, FleetRepo, PortError, PushError};
use crate::seen::Seen;

/// The branches of the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branches {
    /// People's.
    pub intents: SmolStr,
    /// The one that clusters follow.
    pub live: SmolStr,
}

impl Default for Branches {
    fn default() -> Self {
        Self { intents: "main".into(), live: "live".into() }
    }
}

impl Branches {
    /// The branches that `fleet.yaml` of the intents names. One that cannot be understood names none: the compile says so.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn of(intents: &dyn FleetFiles) -> Result<Self, FilesError> {
        let default = Self::default();
        let Ok(path) = RepoPath::new("fleet.yaml") else { return Ok(default) };
        let Some(entry) = source::find(intents, &path)? else { return Ok(default) };
        let Contents::Bytes(bytes) = intents.read_at_most(&path, &entry.id, Limits::STANDARD.file_bytes)? else {
            return Ok(default);
        };
        let ir = parse::parse(&bytes, FileForm::of(FileClass::FleetFile, path.as_str()), &yaml::Limits::default());
        let stated = ir.docs.into_iter().find_map(|doc| match doc.body {
            DocBody::Intent(intent) => match *intent {
                Intent::Fleet(fleet) => fleet.spec.branches,
                _ => None,
            },
            DocBody::Manifest(_) | DocBody::Record(_) => None,
        });
        Ok(stated.map_or_else(Self::default, |branches| Self {
            intents: branches.intents.map_or(default.intents, |name| name.value),
            live: branches.live.map_or(default.live, |name| name.value),
        }))
    }
}

/// What a tick did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advanced {
    /// Commits that were pushed, oldest first.
    pub pushed: Vec<Pushed>,
    /// What people should know, as of the end.
    pub reports: Vec<Report>,
    /// Where the live branch stands at the end; `None` where there is none.
    pub live: Option<CommitId>,
}

/// A commit that was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Its id.
    pub id: CommitId,
    /// Why it was made.
    pub cause: Cause,
    /// Its message.
    pub message: String,
}

impl Pushed {
    /// The first line of the message.
    #[must_use]
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// Why a tick did not end well. What was pushed before is pushed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AdvanceError {
    /// Git failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The remote does not let us push: no decision takes effect.
    #[error("{0}. Nothing new is applied and nothing fails over until that is allowed")]
    Refused(PushError),
    /// Others pushed all the time.
    #[error("others pushed to the live branch {0} times while this was deciding; the next run goes on")]
    Crowded(u32),
    /// Nothing could be decided.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// There is nothing to decide about.
    #[error("{0}")]
    NoIntents(String),
}

/// Races that are lost before a tick gives up: the next tick tries again.
pub(crate) const MAX_RACES: u32 = 5;
/// Commits of one tick: more than causes, so that an endless series would show.
const MAX_COMMITS: usize = 64;

/// Runs one tick. `refusals` are those of the last one; none is remembered before the first.
///
/// # Errors
/// When Git fails, a push is refused, or nothing can be decided.
pub fn advance(
    repo: &mut dyn FleetRepo,
    clock: &dyn Clock,
    session: &Session,
    identity: &Identity,
    branches: &Branches,
    observation: Option<&Observation>,
    refusals: &mut Refusals,
) -> Result<Advanced, AdvanceError> {
    let mut advanced = Advanced::default();
    let mut races = 0;
    while advanced.pushed.len() < MAX_COMMITS {
        let seen = Seen::fetch(repo, branches)?;
        let situation = seen.situation(session, identity, observation, clock.now_secs());
        let situation = Situation { refusals: Some(refusals), ..situation };
        advanced.live = situation.live.as_ref().map(|live| live.tip.clone());
        let Decision { commit, reports, refusals: refused } = decide::decide(&situation)?;
        advanced.reports = reports;
        let Some(planned) = commit else {
            refusals.learn(refused);
            break;
        };
        match repo.push(&planned.commit(&branches.live)) {
            Ok(id) => {
                // What was decided where a race was lost is decided anew.
                refusals.learn(refused);
                advanced.live = Some(id.clone());
                advanced.pushed.push(Pushed { id, cause: planned.cause, message: planned.message });
            }
            Err(PushError::Moved(_)) => {
                races += 1;
                if races >= MAX_RACES {
                    return Err(AdvanceError::Crowded(races));
                }
            }
            Err(refused @ PushError::Refused { .. }) => return Err(AdvanceError::Refused(refused)),
            Err(PushError::Failed(error)) => return Err(error.into()),
        }
    }
    Ok(advanced)
}
