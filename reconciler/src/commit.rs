//! Commits of the live branch: what their trailers say.
//!
//! Invariants: what is written here is read back the same; a commit without these trailers is a person's, and is never
//! mistaken for a decision.

use std::fmt::Write as _;

use fleetwright_compiler::base::SmolStr;

use crate::ports::CommitId;

/// A commit of the live branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveCommit {
    /// Its id.
    pub id: CommitId,
    /// Its first parent.
    pub parent: Option<CommitId>,
    /// Its date, in seconds since 1970.
    pub time_secs: i64,
    /// Who wrote it.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// What it says about itself; `None` for a commit that is no decision.
    pub trailers: Option<Trailers>,
}

/// The trailers of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailers {
    /// The commit of the intents it was decided for.
    pub main: CommitId,
    /// Why it was made.
    pub cause: Cause,
    /// The key of the decision: never reissued while a commit in history has it.
    pub key: SmolStr,
    /// The steps that it takes, `team/app key` of each: their keys are as little reissued as `key`.
    pub steps: Vec<SmolStr>,
    /// The term of the decider; `None` where a person decided.
    pub term: Option<u64>,
}

/// Why a decision was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A cluster is lost.
    Failover,
    /// A cluster came back, or is declared ready.
    Return,
    /// A cluster is drained, cordoned, or takes replicas again.
    Lifecycle,
    /// A phase of a tide is due.
    Tide,
    /// A newer commit of the intents.
    Pin,
    /// Capacity was observed.
    Capacity,
    /// What autoscalers run was observed.
    Observed,
    /// What was recorded asks for other placements than are recorded.
    Settle,
    /// A person took a decision back.
    Undo,
    /// A person froze apps.
    Suspend,
    /// A person let apps go on that were frozen.
    Resume,
    /// A person approved something.
    Approve,
    /// Another decider took over.
    Promote,
    /// A person had apps placed afresh.
    Rebalance,
    /// A person accepted that others give way to an app.
    Preempt,
    /// Steps of moves are due.
    Move,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Failover,
        Self::Return,
        Self::Lifecycle,
        Self::Tide,
        Self::Pin,
        Self::Capacity,
        Self::Observed,
        Self::Settle,
        Self::Undo,
        Self::Suspend,
        Self::Resume,
        Self::Approve,
        Self::Promote,
        Self::Rebalance,
        Self::Preempt,
        Self::Move,
    ];

    /// As written in trailers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failover => "Failover",
            Self::Return => "Return",
            Self::Lifecycle => "Lifecycle",
            Self::Tide => "Tide",
            Self::Pin => "Pin",
            Self::Capacity => "Capacity",
            Self::Observed => "Observed",
            Self::Settle => "Settle",
            Self::Undo => "Undo",
            Self::Suspend => "Suspend",
            Self::Resume => "Resume",
            Self::Approve => "Approve",
            Self::Promote => "Promote",
            Self::Rebalance => "Rebalance",
            Self::Preempt => "Preempt",
            Self::Move => "Move",
        }
    }
}

const MAIN: &str = "Fleetwright-Main";
const CAUSE: &str = "Fleetwright-Cause";
const KEY: &str = "Fleetwright-Key";
const STEP: &str = "Fleetwright-Step";
const TERM: &str = "Fleetwright-Term";

impl Trailers {
    /// A whole message: subject, body (may be empty), trailers.
    #[must_use]
    pub fn message(&self, subject: &str, body: &str) -> String {
        let mut text = format!("{}\n\n", subject.trim());
        if !body.trim().is_empty() {
            let _ = write!(text, "{}\n\n", body.trim_end());
        }
        let _ = writeln!(text, "{MAIN}: {}", self.main);
        let _ = writeln!(text, "{CAUSE}: {}", self.cause.as_str());
        let _ = writeln!(text, "{KEY}: {}", self.key);
        for step in &self.steps {
            let _ = writeln!(text, "{STEP}: {step}");
        }
        if let Some(term) = self.term {
            let _ = writeln!(text, "{TERM}: {term}");
        }
        text
    }

    /// The trailers of a message: of its last paragraph alone, so that a quoted one in a person's revert does not count.
    #[must_use]
    pub fn parse(message: &str) -> Option<Self> {
        let last = message.trim_end().rsplit("\n\n").next()?;
        let field = |name: &str| {
            last.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim).map(SmolStr::new))
        };
        let cause = field(CAUSE)?;
        let steps = last.lines().filter_map(|line| line.strip_prefix(STEP)?.strip_prefix(':'));
        Some(Self {
            steps: steps.map(|step| SmolStr::new(step.trim())).collect(),
            main: CommitId(field(MAIN)?),
            cause: Cause::ALL.into_iter().find(|c| c.as_str() == cause)?,
            key: field(KEY)?,
            term: field(TERM).and_then(|term| term.parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailers(cause: Cause, term: Option<u64>) -> Trailers {
        Trailers { main: CommitId("4f1c".into()), cause, key: "b3:77".into(), steps: Vec::new(), term }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for cause in Cause::ALL {
            for (term, body, steps) in
                [(Some(3), "", vec![]), (None, "Two\n\nparagraphs\n", vec!["b3:1".into(), "b3:2".into()])]
            {
                let wrote = Trailers { steps, ..trailers(cause, term) };
                let message = wrote.message("A subject", body);
                assert_eq!(Trailers::parse(&message), Some(wrote), "{message}");
            }
        }
        assert_eq!(
            trailers(Cause::Pin, Some(3)).message("Subject", "Body"),
            "Subject\n\nBody\n\nFleetwright-Main: 4f1c\nFleetwright-Cause: Pin\nFleetwright-Key: b3:77\nFleetwright-Term: 3\n"
        );
    }

    #[test]
    fn commits_of_people_are_no_decisions() {
        let quoted = trailers(Cause::Failover, Some(1)).message("x", "");
        for message in [
            "",
            "Fix a typo\n",
            "Revert \"Fail over eu-a\"\n\nThis reverts commit 4f1c.\n",
            &format!("Revert\n\n{quoted}\n\nThis reverts commit 4f1c.\n"),
            "x\n\nFleetwright-Cause: Failover\nFleetwright-Key: b3:77\n",
            "x\n\nFleetwright-Main: 4f1c\nFleetwright-Cause: Earthquake\nFleetwright-Key: b3:77\n",
        ] {
            assert_eq!(Trailers::parse(message), None, "{message:?}");
        }
    }
}
