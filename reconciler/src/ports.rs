//! The four ports. Everything the reconciler learns or changes goes through them, so that a simulator can stand in for
//! Git, clusters, time and people.
//!
//! Invariants: an error is never an empty answer; each error says whether trying again can help.

use fleetwright_compiler::base::SmolStr;

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

/// The fleet repository.
pub trait FleetRepo {
    /// Brings the mirror up to date, and says where a branch stands; `None` where the remote has no such branch.
    ///
    /// # Errors
    /// When the remote does not answer.
    fn fetch(&mut self, branch: &str) -> Result<Option<CommitId>, PortError>;
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

/// All ports of one process.
pub struct Ports<'a> {
    /// The fleet repository.
    pub repo: &'a mut dyn FleetRepo,
    /// The clusters, by name.
    pub clusters: Vec<(SmolStr, &'a mut dyn ClusterApi)>,
    /// Time.
    pub clock: &'a dyn Clock,
    /// People.
    pub notifier: &'a mut dyn Notifier,
}

impl std::fmt::Debug for Ports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.clusters.iter().map(|(name, _)| name).collect();
        f.debug_struct("Ports").field("clusters", &names).finish_non_exhaustive()
    }
}
