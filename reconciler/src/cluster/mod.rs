//! The port to one cluster: what the applier asks of an API server, and what may come back.
//!
//! Invariants: synchronous and in batches, so that a simulator is deterministic and a real adapter sends the requests of
//! one batch at the same time; objects are plain JSON, as the server stores them; an error is never an empty answer; every
//! error says by its variant what can be done about it; no message holds the value of a Secret.
//! The next thing that is asked of a cluster is a method here, answered by `simulated` and by `io::kube`.

mod key;
mod served;

use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use serde_json::Value;

pub use key::{GroupKind, Key};
pub use served::{Served, ServedKind};

/// Field manager of everything fleetwright applies.
pub const MANAGER: &str = "fleetwright";

/// Field manager that holds `spec.replicas` of a workload from its creation until its HPA takes the field over.
pub const CREATE_MANAGER: &str = "fleetwright-create";

/// Why a cluster did not answer a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// Trying again can help: network, time-out, 429, 5xx, an expired list.
    #[error("{0}; it is tried again")]
    Transient(String),
    /// Nothing could be asked: what says how to reach it cannot be read. That is our mistake, and says nothing of the cluster.
    #[error("{0}; nothing can be asked of the cluster until that is mended")]
    NotConnected(String),
    /// The kind is not served, or no longer.
    #[error("the cluster does not serve {0}")]
    NotServed(GroupKind),
    /// Rights are missing, or credentials are refused.
    #[error("{0}; it needs a person")]
    Denied(String),
}

/// Who a cluster is, and what time it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// UID of the namespace `kube-system`.
    pub uid: SmolStr,
    /// Seconds since 1970 from the `Date` header of the answer; `None` where it had none.
    pub server_secs: Option<i64>,
}

/// A cluster that answered the probe of a turn, and went dark after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dark {
    /// What it did not answer.
    pub why: String,
    /// Seconds from that probe to the first question without an answer.
    pub after_secs: i64,
}

/// One kind that is kept in view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watch {
    /// The kind.
    pub kind: GroupKind,
    /// A label selector as the API takes it; `None`: all objects.
    pub selector: Option<SmolStr>,
    /// Whether only `metadata` is asked for, which is less to send and to read.
    pub metadata_only: bool,
}

/// What is new about a kind since it was last asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// All objects there are; whatever is not listed is gone.
    All(Vec<Arc<Value>>),
    /// What changed. May hold a change twice, never in a wrong order for one object.
    Changes(Vec<Change>),
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The object is now this.
    Put(Arc<Value>),
    /// The object is gone.
    Gone(Key),
}

/// How what depends on a deleted object goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// After it.
    Background,
    /// Before it.
    Foreground,
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Server-side apply.
    Apply(Apply),
    /// Creates; [`WriteError::Exists`] where it is there already.
    Create {
        /// The object.
        object: Arc<Value>,
    },
    /// Replaces the object whose `metadata.resourceVersion` is still the one in `object`.
    Replace {
        /// The object.
        object: Arc<Value>,
    },
    /// Replaces `metadata.managedFields`, as long as the resourceVersion is still this one: a hand-over between managers
    /// that touches no other field.
    ManagedFields {
        /// The object.
        key: Key,
        /// Its resourceVersion.
        resource_version: SmolStr,
        /// The new list.
        managed_fields: Value,
    },
    /// Deletes the object that has this UID.
    Delete {
        /// The object.
        key: Key,
        /// Its UID.
        uid: SmolStr,
        /// Only while its resourceVersion is this one.
        resource_version: Option<SmolStr>,
        /// How its dependents go.
        propagation: Propagation,
        /// On whose behalf.
        service_account: Option<ServiceAccount>,
    },
}

/// Server-side apply of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Apply {
    /// The object.
    pub object: Arc<Value>,
    /// The field manager.
    pub manager: &'static str,
    /// Takes fields from other managers.
    pub force: bool,
    /// Asks what would happen, and stores nothing.
    pub dry_run: bool,
    /// On whose behalf.
    pub service_account: Option<ServiceAccount>,
}

/// A service account that is impersonated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
}

/// A field that another manager holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldConflict {
    /// The manager, in the server's words: `"kubectl-edit" using apps/v1`.
    pub manager: String,
    /// Whether it applies, as fleetwright does: another controller with intents of its own, not a hand edit.
    pub applies: bool,
    /// The field, as the server writes it: `.spec.replicas`.
    pub field: String,
}

/// Why a write was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Server-side apply would take fields from other managers.
    #[error("other managers hold {}", fields(.0))]
    Conflict(Vec<FieldConflict>),
    /// The object is not the one that was meant: its resourceVersion or UID is another.
    #[error("the object changed meanwhile: {0}")]
    Stale(String),
    /// It is there already.
    #[error("it exists already")]
    Exists,
    /// It is not there.
    #[error("it does not exist")]
    NotFound,
    /// The kind is not served.
    #[error("the cluster does not serve {0}")]
    NotServed(GroupKind),
    /// The server understood and refuses: rights, admission, quota.
    #[error("refused: {0}")]
    Denied(String),
    /// The object is not valid.
    #[error("invalid: {message}{}", if *immutable { "; `fleetwright.io/apply: Recreate` would replace the object" } else { "" })]
    Invalid {
        /// In the server's words.
        message: String,
        /// Whether a field that cannot change is the reason.
        immutable: bool,
    },
    /// Trying again can help.
    #[error("{message}")]
    Transient {
        /// What happened.
        message: String,
        /// How long the server asks to wait.
        retry_after_secs: Option<u32>,
    },
}

fn fields(conflicts: &[FieldConflict]) -> String {
    conflicts.iter().map(|c| format!("{} (by {})", c.field, c.manager)).collect::<Vec<_>>().join(", ")
}

/// What is known of the API server after a write: the object as it is stored, `None` after a deletion.
pub type Written = Result<Option<Arc<Value>>, WriteError>;

/// One cluster's API server.
pub trait ClusterApi: Send {
    /// Who the cluster is. Also the probe of whether it answers.
    ///
    /// # Errors
    /// When it does not.
    fn identity(&mut self) -> Result<Identity, ClusterError>;

    /// What it serves, asked anew.
    ///
    /// # Errors
    /// When it does not answer; part of an answer is an error, not a shorter list.
    fn served(&mut self) -> Result<Arc<Served>, ClusterError>;

    /// What is new of each kind since the last call with the same watch; the first call says all. Nothing new costs no
    /// request.
    fn observe(&mut self, watches: &[Watch]) -> Vec<Result<Delta, ClusterError>>;

    /// Lists objects now, past every cache.
    ///
    /// # Errors
    /// When it does not answer, or does not serve the kind.
    fn list(&mut self, watch: &Watch, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, ClusterError>;

    /// Reads objects now, past every cache; `None` where there is none. A kind that is not served is an error.
    fn get(&mut self, keys: &[Key]) -> Vec<Result<Option<Arc<Value>>, ClusterError>>;

    /// Writes, in any order among each other, each on its own.
    fn write(&mut self, writes: &[Write]) -> Vec<Written>;

    /// That nothing is asked of it any more since the last probe: it answered that, then nothing for as long as an answer may
    /// take, nor a probe after that. `None` while it answers.
    fn went_dark(&self) -> Option<Dark> {
        None
    }
}
