//! What a pass did, for status, logs and metrics.

use std::fmt;

use crate::apply::decide::Step;
use crate::apply::hold::{Held, Hold};
use crate::apply::inventory::AppName;
use crate::apply::standing::Why;
use crate::cluster::{Identity, Key};

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Who answered.
    pub identity: Identity,
    /// What was done, in order.
    pub done: Vec<Done>,
    /// What was not, and why.
    pub held: Vec<Held>,
    /// Requests that wrote, inventories and hand-overs included.
    pub writes: u32,
    /// Steps that the last round still wanted to take.
    pub unfinished: usize,
    /// Apps that somebody else wrote meanwhile, or whose inventory could not be written, and why.
    pub lost: Vec<(AppName, String)>,
}

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Whose.
    pub app: AppName,
    /// Which.
    pub key: Key,
    /// What.
    pub did: Did,
}

/// What was done to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    /// It was applied.
    Applied(Why),
    /// Fields of other managers were taken over.
    Adopted,
    /// Its old form was deleted, to be applied anew.
    Replaced,
    /// It was deleted, or its deletion began.
    Pruned,
    /// It was gone already.
    WasGone,
    /// The server was asked what an apply would do, and would do it.
    WouldApply(Why),
    /// Nothing was asked: it would be deleted.
    WouldPrune,
    /// The server was asked, and would refuse.
    WouldFail(String),
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied(Why::New) => f.write_str("applied: new"),
            Self::Applied(Why::Changed) => f.write_str("applied: changed"),
            Self::Applied(Why::Missing) => f.write_str("applied: it was gone"),
            Self::Applied(Why::Drifted) => f.write_str("applied: somebody changed it"),
            Self::Applied(Why::Replicas) => f.write_str("applied: its replicas changed hands"),
            Self::Adopted => f.write_str("adopted"),
            Self::Replaced => f.write_str("deleted, to be applied anew"),
            Self::Pruned => f.write_str("deleted"),
            Self::WasGone => f.write_str("was gone"),
            Self::WouldApply(_) => f.write_str("would be applied"),
            Self::WouldPrune => f.write_str("would be deleted"),
            Self::WouldFail(why) => write!(f, "would be refused: {why}"),
        }
    }
}

impl Report {
    /// Of a pass that did nothing yet.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self { identity, done: Vec::new(), held: Vec::new(), writes: 0, unfinished: 0, lost: Vec::new() }
    }

    /// Whether all that is wanted is applied, whatever is kept of what is not.
    #[must_use]
    pub fn is_applied(&self) -> bool {
        self.unfinished == 0 && self.lost.is_empty() && self.held.iter().all(|held| held.why.is_kept())
    }

    /// Whether all that a quarantined cluster may do is done: nothing is on its way out any more (what is being deleted may
    /// still run) or may be told to be, and what is not applied is only what it may not take yet, or waits for that.
    #[must_use]
    pub fn is_cleaned(&self) -> bool {
        let waits = |why: &Hold| matches!(why, Hold::Quarantined | Hold::After { .. } | Hold::AfterApp { .. });
        let may_go = |why: &Hold| matches!(why, Hold::Going | Hold::Unrecorded);
        let is_done = |why: &Hold| !may_go(why) && (why.is_kept() || waits(why));
        self.unfinished == 0 && self.lost.is_empty() && self.held.iter().all(|held| is_done(&held.why))
    }

    /// Whether all that is not as ordered is kept because too little of it is ready elsewhere.
    #[must_use]
    pub fn lacks_replacements(&self) -> bool {
        let lacks = |why: &Hold| matches!(why, Hold::Lowering { .. } | Hold::UntilUserGone(_));
        self.unfinished == 0
            && self.lost.is_empty()
            && self.held.iter().any(|held| matches!(held.why, Hold::Lowering { .. }))
            && self.held.iter().all(|held| held.why.is_kept() || lacks(&held.why))
    }

    /// Whether there is nothing left to do and nothing to wait for.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unfinished == 0 && self.lost.is_empty() && self.held.is_empty()
    }
}

impl Step {
    /// Whose it is.
    #[must_use]
    pub fn app(&self) -> &AppName {
        match self {
            Self::Apply { app, .. }
            | Self::Replace { app, .. }
            | Self::Prune { app, .. }
            | Self::Forget { app, .. } => app,
        }
    }

    /// What it is about.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Apply { key, .. }
            | Self::Replace { key, .. }
            | Self::Prune { key, .. }
            | Self::Forget { key, .. } => key,
        }
    }
}
