//! What the decider does next: the newest intents, the record of what runs and what was observed in, one commit out.
//!
//! `decide` gives at most one commit. Its caller pushes it, looks again and decides again, so that every decision sees the
//! one before it, and a process that dies between two of them has done nothing by half.
//!
//! Invariants: pure; the same situation gives the same decision; a decision that changes nothing is no commit, so its own
//! commits never cause another; a key that a commit in the history of the live branch has is never issued again, so a
//! revert holds; all placements come out of a compile, so quota, room and spread are kept by every decision.
//! The next cause is a file below [`causes`] and its rank in `arbiter`; the next thing a person can order is a file below
//! [`orders`].

mod affordable;
mod arbiter;
pub mod causes;
mod clock;
mod lines;
pub mod orders;
mod planned;
mod proposal;
mod situation;
mod stepped;

use std::collections::BTreeMap;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{FilesError, Overlay, PathError};
use fleetwright_compiler::{CompileError, Compiled, compile};

use crate::commit::Cause;
use crate::state::Unreadable;
pub use affordable::{Refusal, Refusals};
pub use planned::{Planned, Unrealised, realise};
pub(crate) use planned::{refusal_text, write_placements};
pub use proposal::{Intents, Proposal, key};
pub use situation::{Head, Identity, Live, Situation};

/// What the decider does next.
#[derive(Debug, Default)]
pub struct Decision {
    /// The next commit; `None`: there is nothing to do.
    pub commit: Option<Planned>,
    /// What people should know.
    pub reports: Vec<Report>,
    /// What observed capacity was refused now; `None` where it was not looked at.
    pub refusals: Option<Refusals>,
}

/// Something that people should know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Report {
    /// How urgent it is.
    pub urgency: Urgency,
    /// What, where, and what to do about it.
    pub text: String,
}

/// How urgent a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The repository is wrong: nothing of it takes effect until somebody mends it.
    Wrong,
    /// A guard stands in the way until somebody looks.
    Guarded,
    /// A decision waits for time or for an observation.
    Waits,
    /// Good to know.
    Note,
}

impl Urgency {
    /// All, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Wrong, Self::Guarded, Self::Waits, Self::Note];

    /// As data has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wrong => "Wrong",
            Self::Guarded => "Guarded",
            Self::Waits => "Waits",
            Self::Note => "Note",
        }
    }
}

impl Report {
    /// A report of this urgency.
    pub fn new(urgency: Urgency, text: impl Into<String>) -> Self {
        Self { urgency, text: text.into() }
    }
}

/// Why nothing can be decided at all.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DecideError {
    /// The repository could not be read.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The record on the live branch cannot be read.
    #[error(transparent)]
    State(#[from] Unreadable),
    /// Somebody else decides this repository.
    #[error("{0}")]
    NotOurs(String),
    /// The live branch is not as decisions leave it.
    #[error("{0}")]
    Tampered(String),
    /// The compiler found itself wrong: our bug.
    #[error("the schedule breaks its own rules: {}", .0.join("; "))]
    Bug(Vec<String>),
    /// A name that no file can have: our bug, names are checked when they are read.
    #[error("a name that no path can have: {0}")]
    Path(#[from] PathError),
}

/// Decides what to do next.
///
/// # Errors
/// When nothing can be decided: something cannot be read, another decider has the repository, or the compiler is wrong.
pub fn decide(situation: &Situation<'_>) -> Result<Decision, DecideError> {
    let mut reports = Vec::new();
    situation.check_identity()?;
    let current = match &situation.live {
        None => None,
        Some(live) => {
            live.check_intents()?;
            compile_live(situation, live, &mut reports)?
        }
    };
    let view = View { situation, current: current.as_ref() };
    let proposals = arbiter::ranked(&view, &mut reports)?;
    let mut refusals = None;
    for proposal in proposals {
        let realised = match (&current, proposal.cause) {
            (Some(current), Cause::Capacity) => {
                let looked_at = affordable::affordable(situation, &proposal, current, &mut reports);
                looked_at.map(|(planned, refused)| {
                    refusals = Some(refused);
                    planned
                })
            }
            _ => realise(situation, &proposal, current.as_ref()),
        };
        match realised {
            Ok(Some(planned)) if arbiter::is_on_hold(&view, &planned, &mut reports) => {}
            Ok(Some(planned)) => {
                return Ok(Decision { commit: Some(planned), reports: sorted(reports), refusals });
            }
            Ok(None) => {}
            Err(Unrealised::Refused(text)) => {
                reports.push(Report::new(Urgency::Wrong, format!("{}: {text}", proposal.subject)));
            }
            Err(Unrealised::Failed(error)) => return Err(error),
        }
    }
    Ok(Decision { commit: None, reports: sorted(reports), refusals })
}

/// What causes look at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Everything that is known.
    pub situation: &'a Situation<'a>,
    /// The live commit compiled; `None` where there is none, or it does not compile.
    pub current: Option<&'a Compiled>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("compiled", &self.current.is_some()).finish_non_exhaustive()
    }
}

fn compile_live(
    situation: &Situation<'_>,
    live: &Live<'_>,
    reports: &mut Vec<Report>,
) -> Result<Option<Compiled>, DecideError> {
    let record = live.record.tree();
    let overlay = Overlay::with_record(live.pinned, &record);
    match compile(situation.session, &overlay, &Scenario::default()) {
        Ok(compiled) => Ok(Some(compiled)),
        Err(CompileError::Refused(refusal)) => {
            let text = refusal_text(&overlay, &refusal);
            reports.push(Report::new(
                Urgency::Wrong,
                format!("the live commit {} does not compile, so nothing moves:\n{text}", live.tip.short()),
            ));
            Ok(None)
        }
        Err(CompileError::Files(error)) => Err(error.into()),
        Err(CompileError::Bug(violations)) => Err(DecideError::Bug(violations)),
    }
}

/// `a`, `a and b`, `a, b and 3 more`.
pub(crate) fn some_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}

fn sorted(mut reports: Vec<Report>) -> Vec<Report> {
    reports.sort();
    reports.dedup();
    reports
}

/// Placements by (team, app).
pub(crate) type Placed = BTreeMap<(SmolStr, SmolStr), fleetwright_compiler::placements::PlacedApp>;
