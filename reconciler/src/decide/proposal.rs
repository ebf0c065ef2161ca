//! What a cause proposes: a change of `state/`, and for which intents. Placements follow from compiling it.

use std::collections::BTreeSet;

use fleetwright_compiler::base::{DigestWriter, SmolStr};
use fleetwright_compiler::schedule::Scenario;

use crate::commit::Cause;
use crate::ports::Author;
use crate::record_files::RecordFiles;

/// What a cause proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Why.
    pub cause: Cause,
    /// The key of the decision; `None`: what it changes is its key.
    pub key: Option<SmolStr>,
    /// Steps that it takes, as trailers have them.
    pub steps: Vec<SmolStr>,
    /// The first line of the commit's message.
    pub subject: String,
    /// What people should know besides the plan; may be empty.
    pub body: String,
    /// The intents it is for.
    pub intents: Intents,
    /// The record after it, `placements/` as before.
    pub record: RecordFiles,
    /// What is supposed while placements are computed.
    pub scenario: Scenario,
    /// Apps whose placements it changes; `None`: all.
    pub only: Option<BTreeSet<(SmolStr, SmolStr)>>,
    /// The person who decided it; `None`: the decider.
    pub person: Option<Author>,
}

/// Which intents a proposal is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intents {
    /// The newest of the intents' branch: the pin moves.
    Newest,
    /// Those that are live: the pin stays.
    Live,
}

/// The key of a decision: a digest of what makes it this one and no other.
#[must_use]
pub fn key(cause: Cause, parts: &[&str]) -> SmolStr {
    let mut hash = DigestWriter::new();
    hash.part(b"fleetwright key 1").part(cause.as_str().as_bytes());
    for part in parts {
        hash.part(part.as_bytes());
    }
    hash.finish().short().into()
}
