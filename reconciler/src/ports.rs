//! The four ports. Everything the reconciler learns or changes goes through them, so that a simulator can stand in for
//! Git, clusters, time and people.
//!
//! Invariants: an error is never an empty answer; each error says whether trying again can help; a push is the only write
//! to the repository, and it never replaces what somebody else pushed.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::source::{FleetFiles, RepoPath};

use crate::commit::LiveCommit;

pub use crate::cluster::ClusterApi;

/// Why a port could not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// Trying again later can help: the network, a busy server, a race that was lost.
    #[error("{0}; it is tried again")]
    Transient(String),
    /// Somebody has to change something first: a refused push, missing rights, a name that does not exist.
    #[error("{0}; it needs a person")]
    Permanent(String),
}

/// A commit, as 40 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub SmolStr);

impl CommitId {
    /// The first twelve digits, as messages show it.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The fleet repository, through a mirror that a fetch brings up to date. Paths are relative to the fleet's folder in it.
pub trait FleetRepo {
    /// Brings the mirror up to date, and says where these branches stand. A branch that the remote does not have is
    /// absent.
    ///
    /// # Errors
    /// When the remote does not answer. Never an empty map instead.
    fn fetch(&mut self, branches: &[&str]) -> Result<BTreeMap<SmolStr, CommitId>, PortError>;

    /// The tree of a commit, or of a folder of it where the fleet is in one.
    ///
    /// # Errors
    /// When the mirror lacks the commit, or the commit lacks the folder.
    fn tree(&self, commit: &CommitId) -> Result<Box<dyn FleetFiles>, PortError>;

    /// The commits of a branch of decisions, newest first, following first parents. Those that `before` reaches are left
    /// out: the live branch may start at a commit of the intents.
    ///
    /// # Errors
    /// When the mirror lacks a commit.
    fn history(&self, tip: &CommitId, before: &CommitId, most: usize) -> Result<Vec<LiveCommit>, PortError>;

    /// Whether one commit is another or an ancestor of it. A commit that the mirror lacks is no ancestor.
    ///
    /// # Errors
    /// When the mirror cannot be read, or lacks `newer`.
    fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool, PortError>;

    /// The commit of a branch that was followed last, as the mirror remembers it; `None` where none was.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    fn followed(&self, branch: &str) -> Result<Option<CommitId>, PortError>;

    /// Remembers the commit of a branch that is followed now.
    ///
    /// # Errors
    /// When the mirror cannot be written, or lacks the commit.
    fn follow(&mut self, branch: &str, commit: &CommitId) -> Result<(), PortError>;

    /// Writes a commit and pushes it, if and only if the branch still stands where [`NewCommit::tip`] says.
    ///
    /// # Errors
    /// When it moved, when the remote refuses, or when something fails.
    fn push(&mut self, commit: &NewCommit) -> Result<CommitId, PushError>;
}

/// A commit to be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// The branch, without `refs/heads/`.
    pub branch: SmolStr,
    /// Where the branch stands: the first parent. `None` where there is no such branch yet.
    pub tip: Option<CommitId>,
    /// A commit that is merged: the next parent.
    pub merges: Option<CommitId>,
    /// The commit whose tree is taken; `None`: an empty tree.
    pub base: Option<CommitId>,
    /// Files and folders at the root of the fleet that are taken from `tip` instead of `base`, or left out where `tip` has
    /// none.
    pub from_tip: BTreeSet<SmolStr>,
    /// Files that are written (`Some`) or removed (`None`).
    pub edits: BTreeMap<RepoPath, Option<Vec<u8>>>,
    /// The whole message.
    pub message: String,
    /// Author and committer; `None`: the process's own.
    pub author: Option<Author>,
    /// Its date, in seconds since 1970.
    pub time_secs: i64,
}

/// Who a commit is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// Why a commit was not pushed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// Somebody else pushed first: fetch, decide again, and push again if it is still needed.
    #[error("somebody else pushed to `{0}` meanwhile")]
    Moved(SmolStr),
    /// The remote does not let us: a protected branch, a hook, missing rights.
    #[error("the push to `{branch}` was refused: {reason}")]
    Refused {
        /// The branch.
        branch: SmolStr,
        /// In the words of the remote; holds no credentials.
        reason: String,
    },
    /// Something else failed.
    #[error(transparent)]
    Failed(#[from] PortError),
}

/// Time.
pub trait Clock {
    /// Seconds since 1970-01-01T00:00:00Z.
    fn now_secs(&self) -> i64;
}

/// People.
pub trait Notifier {
    /// Tells them.
    ///
    /// # Errors
    /// When nobody could be told.
    fn notify(&mut self, message: &str) -> Result<(), PortError>;
}
