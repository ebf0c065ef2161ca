//! What the record says about the decider's own affairs: who decides, what is pinned, outages, holds.
//!
//! Invariant: a file that cannot be read is an error, never a default: a hold that is not understood must not be ignored.

use std::collections::BTreeMap;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::placements::{
    ApprovalDoc, CapacityDoc, DeciderDoc, FenceDoc, HoldDoc, LifecycleDoc, OutageDoc, RecordDoc, TideDoc,
};
use fleetwright_compiler::source::RepoPath;

use crate::ports::CommitId;
use crate::record_files::{RecordFiles, documents};

/// What `state/` says about the decider's own affairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Who decides.
    pub decider: Option<DeciderDoc>,
    /// The commit of the intents that is live.
    pub pin: Option<CommitId>,
    /// By cluster.
    pub outages: BTreeMap<SmolStr, OutageDoc>,
    /// By cluster.
    pub lifecycles: BTreeMap<SmolStr, LifecycleDoc>,
    /// By cluster.
    pub capacities: BTreeMap<SmolStr, CapacityDoc>,
    /// By tide.
    pub tides: BTreeMap<SmolStr, TideDoc>,
    /// Decisions that are not to be taken for a while.
    pub holds: Vec<HoldDoc>,
    /// Apps whose placement stays as it is, as `team/app`, in the order of the file.
    pub suspended: Vec<SmolStr>,
    /// By cluster.
    pub fences: BTreeMap<SmolStr, FenceDoc>,
    /// By hash.
    pub approvals: BTreeMap<SmolStr, ApprovalDoc>,
}

/// A file of the record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` on the live branch cannot be read; revert the commit that wrote it")]
pub struct Unreadable(pub RepoPath);

impl State {
    /// Reads the state of a record.
    ///
    /// # Errors
    /// The first file of `state/` that cannot be read.
    pub fn read(record: &RecordFiles) -> Result<Self, Unreadable> {
        let mut state = Self::default();
        for (path, bytes) in record.iter().filter(|(path, _)| path.as_str().starts_with("state/")) {
            let name = path.file_name().and_then(|name| name.rsplit_once('.')).map(|(stem, _)| SmolStr::new(stem));
            let (Some(name), Some(docs)) = (name, documents(path, bytes)) else {
                return Err(Unreadable(path.clone()));
            };
            for doc in docs {
                state.take(name.clone(), doc);
            }
        }
        Ok(state)
    }

    fn take(&mut self, name: SmolStr, doc: RecordDoc) {
        match doc {
            RecordDoc::Decider(doc) => self.decider = Some(doc),
            RecordDoc::Pin(doc) => self.pin = Some(CommitId(doc.main)),
            RecordDoc::Outage(doc) => drop(self.outages.insert(name, doc)),
            RecordDoc::Lifecycle(doc) => drop(self.lifecycles.insert(name, doc)),
            RecordDoc::Capacity(doc) => drop(self.capacities.insert(name, doc)),
            RecordDoc::Tides(docs) => self.tides = docs,
            RecordDoc::Holds(docs) => self.holds = docs,
            RecordDoc::Suspended(docs) => self.suspended = docs.into_iter().map(|app| app.value).collect(),
            RecordDoc::Approval(doc) => drop(self.approvals.insert(name, doc)),
            RecordDoc::Fence(doc) => drop(self.fences.insert(name, doc)),
            RecordDoc::Taints(_)
            | RecordDoc::Estimates(_)
            | RecordDoc::Placements(_)
            | RecordDoc::Move(_)
            | RecordDoc::App(_) => {}
        }
    }

    /// How often a cluster was declared Ready again.
    #[must_use]
    pub fn epoch(&self, cluster: &str) -> u64 {
        self.outages.get(cluster).and_then(|outage| outage.epoch).unwrap_or(0)
    }
}
