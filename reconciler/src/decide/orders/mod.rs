//! What people order, as commits of the live branch: each file is one order, from what is live to a proposal.
//!
//! Invariants: pure; an order changes nothing but what it is about; one that a guard forbids says what stands in the way
//! and how to go on all the same, where that is possible.

mod approve;
mod cordon;
mod failover;
mod moved;
mod preempt;
mod promote;
mod rebalance;
mod suspend;
mod undo;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::name::nearest;
use fleetwright_compiler::model::Cluster;

use super::{DecideError, Intents, Live, Proposal};
use crate::commit::Cause;
use crate::ports::Author;
use crate::record_files::RecordFiles;

pub use approve::approve;
pub use cordon::{cordon, drain, uncordon};
pub use failover::{failback, failover};
pub use moved::moves_text;
pub use preempt::preempt;
pub use promote::promote;
pub use rebalance::{nothing_recorded, of as rebalance_of, rebalance};
pub use suspend::{resume, suspend};
pub use undo::{Hold, Undone, undo};

/// What an order starts from.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// What is live.
    pub live: &'a Live<'a>,
    /// The same, compiled.
    pub current: &'a Compiled,
    /// Who orders.
    pub person: &'a Author,
    /// Seconds since 1970.
    pub now_secs: i64,
}

/// Why an order is not carried out.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OrderError {
    /// It names something that is not there, or makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// Something stands in the way.
    #[error("{0}")]
    Guarded(String),
    /// What is live does not allow to decide anything.
    #[error(transparent)]
    Decide(#[from] DecideError),
}

impl From<fleetwright_compiler::source::PathError> for OrderError {
    fn from(error: fleetwright_compiler::source::PathError) -> Self {
        Self::Decide(error.into())
    }
}

impl<'a> Desk<'a> {
    /// The cluster of this name.
    fn cluster(&self, name: &str) -> Result<&'a Cluster, OrderError> {
        let fleet = &self.current.fleet;
        if let Some(id) = fleet.cluster_id(name) {
            return Ok(fleet.cluster(id));
        }
        let near = nearest(name, fleet.clusters.iter().map(|c| c.name.as_str()));
        Err(OrderError::Wrong(unknown("cluster", name, near)))
    }

    /// The app of this name, `team/app`.
    fn app(&self, name: &str) -> Result<(SmolStr, SmolStr), OrderError> {
        let fleet = &self.current.fleet;
        let split = name.split_once('/').filter(|(team, app)| fleet.app_id(team, app).is_some());
        if let Some((team, app)) = split {
            return Ok((team.into(), app.into()));
        }
        let names: Vec<String> = fleet.app_ids().map(|id| fleet.app_name(id)).collect();
        Err(OrderError::Wrong(unknown("App", name, nearest(name, names.iter().map(String::as_str)))))
    }

    /// A proposal for what is live.
    fn proposal(&self, cause: Cause, key: SmolStr, subject: String, record: RecordFiles) -> Proposal {
        Proposal {
            cause,
            key: Some(key),
            steps: Vec::new(),
            subject,
            body: String::new(),
            intents: Intents::Live,
            record,
            scenario: fleetwright_compiler::schedule::Scenario::default(),
            only: None,
            person: Some(self.person.clone()),
        }
    }

    /// The instant of the order, as part of its key: the same order given again is another one.
    fn now(&self) -> SmolStr {
        crate::instant::text(self.now_secs)
    }
}

fn unknown(what: &str, name: &str, near: Option<&str>) -> String {
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let form = if what == "App" && !name.contains('/') { ": Apps are named TEAM/APP" } else { "" };
    format!("there is no {what} `{}` in what is live{form}{hint}", name.escape_debug())
}

impl std::fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("live", &self.live).field("person", &self.person).finish_non_exhaustive()
    }
}
