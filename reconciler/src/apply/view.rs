//! What a pass decides from: everything an applier knows about its cluster, as data.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use serde_json::Value;

use super::budget::{Approvals, Budget, lowering_hash};
use super::desired::{Desired, DesiredObject, Intents};
use super::floor::Floors;
use super::hold::Hold;
use super::inventory::{AppName, Inventory};
use super::live::Live;
use super::standing::{self, Todo};
use crate::cluster::{GroupKind, Key, Served};
use crate::ports::CommitId;

/// Whether an applier writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    Apply,
    /// It asks the server what would happen, and reports.
    Observe,
    /// It does not even ask; what is there is still seen.
    Suspended,
}

/// What happens to changes made in a cluster by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// They are undone.
    Correct,
    /// They are reported.
    Report,
}

/// How a cluster is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether anything is written.
    pub mode: Mode,
    /// What happens to drift.
    pub drift: Drift,
    /// How much may be deleted here without approval.
    pub budget: Budget,
    /// Back after an outage: only deletions and decreases, and only where enough is ready elsewhere.
    pub quarantined: bool,
    /// Managers whose fields are taken over when an object is applied for the first time.
    pub adopt: Vec<SmolStr>,
    /// Apps whose removal here a decision commit lists: a move, which no deletion budget counts.
    pub moved: BTreeSet<AppName>,
    /// Apps of which nobody recorded where they are to run: what was applied of them stays as it is.
    pub unrecorded: BTreeSet<AppName>,
    /// The fleet deletes more than its budget in all clusters together: nothing is pruned until this hash is approved.
    pub fleet_stop: Option<FleetStop>,
}

/// A prune that is stopped in the whole fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetStop {
    /// The hash of the set, over all clusters.
    pub hash: SmolStr,
    /// How many objects it lets go.
    pub objects: usize,
    /// How many may go.
    pub allowed: usize,
}

impl Rules {
    /// Apply, correct, the default budget, nothing special.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            mode: Mode::Apply,
            drift: Drift::Correct,
            budget: Budget::Default,
            quarantined: false,
            adopt: Vec::new(),
            moved: BTreeSet::new(),
            unrecorded: BTreeSet::new(),
            fleet_stop: None,
        }
    }
}

/// A write that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Digest of what was to be applied; a failure is about this content alone. `None`: a deletion.
    pub digest: Option<SmolStr>,
    /// What the server said; holds no values of Secrets.
    pub error: String,
    /// How often in a row.
    pub attempts: u32,
    /// When it is tried again; `None`: when the content changes, or at the next drift check.
    pub retry_secs: Option<i64>,
}

/// An inventory as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What it says.
    pub inventory: Inventory,
    /// The resourceVersion the next write is conditioned on; `None`: it is not there yet.
    pub resource_version: Option<SmolStr>,
    /// Its UID, once it is there.
    pub uid: Option<SmolStr>,
}

impl Stored {
    /// The same, stored as this object.
    #[must_use]
    pub fn stored_as(mut self, object: &Value) -> Self {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(SmolStr::from);
        self.resource_version = text("/metadata/resourceVersion");
        self.uid = text("/metadata/uid");
        self
    }
}

/// The inventories of a cluster, all of them.
pub type Book = BTreeMap<AppName, Stored>;

/// Everything a pass decides from.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Seconds since 1970.
    pub now_secs: i64,
    /// The cluster's UID.
    pub cluster_uid: &'a str,
    /// The commit of `live` that is applied.
    pub live_commit: &'a CommitId,
    /// What should be there.
    pub desired: &'a Desired,
    /// What people want at all.
    pub intents: &'a Intents,
    /// What was applied.
    pub book: &'a Book,
    /// What is there.
    pub live: &'a Live,
    /// What the cluster serves.
    pub served: &'a Served,
    /// What must stay ready.
    pub floors: &'a Floors,
    /// Approvals that are not used up.
    pub approvals: &'a Approvals,
    /// Writes that failed.
    pub failures: &'a BTreeMap<Key, Failure>,
    /// How the cluster is treated.
    pub rules: &'a Rules,
}

impl<'a> View<'a> {
    /// What is left to do for an object; `None` where its kind could not be observed.
    #[must_use]
    pub fn todo(&self, app: &AppName, key: &Key, object: &DesiredObject) -> Option<Todo> {
        if !self.live.knows(&key.kind) && self.served.has(&key.kind) {
            return None;
        }
        let entry = self.book.get(app).and_then(|stored| stored.inventory.objects.get(key));
        Some(standing::todo(key, object, entry, self.live.get(key), self.is_scaled(key)))
    }

    /// Its kind could not be observed.
    #[must_use]
    pub fn not_seen(&self, kind: &GroupKind) -> Hold {
        Hold::NotSeen { kind: kind.clone(), why: self.live.unseen(kind).to_owned() }
    }

    /// Whether a HorizontalPodAutoscaler scales it, one of ours or anybody's.
    #[must_use]
    pub fn is_scaled(&self, key: &Key) -> bool {
        self.desired.is_scaled(key) || self.live.is_scaled(key)
    }

    /// Whether a person approved that an app is lowered here whatever is ready elsewhere.
    #[must_use]
    pub fn may_lower_anyway(&self, app: &AppName) -> bool {
        self.approvals.has(&lowering_hash(self.cluster_uid, app), self.now_secs)
    }

    /// An app is not lowered here: so many would be ready, so many are needed.
    #[must_use]
    pub fn lowering(&self, app: &AppName, ready: u32, needed: u32) -> Hold {
        Hold::Lowering { ready, needed, hash: lowering_hash(self.cluster_uid, app) }
    }

    /// The failure of the last attempt to write this content, unless it is due again.
    #[must_use]
    pub fn failure(&self, key: &Key, digest: Option<&SmolStr>) -> Option<&'a Failure> {
        let failure = self.failures.get(key)?;
        let same = failure.digest.as_ref() == digest;
        (same && failure.retry_secs.is_none_or(|retry| self.now_secs < retry)).then_some(failure)
    }
}
