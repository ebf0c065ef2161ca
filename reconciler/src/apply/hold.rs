//! Why something is not done: one variant for each reason, in words that say what to do about it.

use std::fmt;

use fleetwright_compiler::base::SmolStr;

use super::inventory::AppName;
use crate::cluster::{GroupKind, Key};
use crate::health::Health;

/// Something that is not done for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The app.
    pub app: AppName,
    /// The object.
    pub key: Key,
    /// Why.
    pub why: Hold,
}

/// Why an object is not written or not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Another object comes first.
    After {
        /// Which.
        key: Key,
        /// Its health; `None` while it is not applied.
        health: Option<Health>,
    },
    /// Another app comes first.
    AfterApp {
        /// Which.
        app: AppName,
        /// The first of its objects that is not Current.
        key: Box<Key>,
    },
    /// `dependsOn` names an app that is not in this cluster.
    AppNotHere(AppName),
    /// `depends-on` names an object that nobody puts into this cluster.
    NobodyApplies(Key),
    /// The kind is not served.
    NotServed(GroupKind),
    /// The kind could not be observed.
    NotSeen {
        /// Which.
        kind: GroupKind,
        /// Why.
        why: String,
    },
    /// It is being deleted.
    Terminating,
    /// Too little would stay ready.
    Lowering {
        /// Ready replicas afterwards, in all clusters that answer.
        ready: u32,
        /// At least so many must be.
        needed: u32,
        /// The hash to approve, to lower the app here anyway.
        hash: SmolStr,
    },
    /// An exclusive app may still run in another cluster.
    MayRunIn(SmolStr),
    /// The cluster is being cleaned after an outage: it takes nothing new.
    Quarantined,
    /// An annotation that cannot be followed.
    Mistake(String),
    /// The write failed, and is tried again later.
    Failed {
        /// What the server said.
        error: String,
        /// When it is tried again; `None`: when the object changes.
        retry_secs: Option<i64>,
    },
    /// Somebody changed it, and drift is reported only.
    Drifted,
    /// Kept: it says `fleetwright.io/prune: disabled`.
    Protected,
    /// Kept: this kind never goes because a placement changed.
    NeverByPlacement,
    /// Kept: Kubernetes' own, or fleetwright's.
    System,
    /// Kept: pruning is switched off.
    PruneOff,
    /// Kept as it is: nobody recorded where its app is to run.
    Unrecorded,
    /// Kept until what replaces it is Current.
    UntilReplaced(Key),
    /// Kept: an object of the same app that may use it is still there.
    UntilUserGone(Key),
    /// Kept: the object of this name is not the one that was applied.
    AnotherObject,
    /// Its deletion began.
    Going,
    /// Kept until somebody approves exactly this set.
    NeedsApproval {
        /// The hash to approve.
        hash: SmolStr,
        /// How many objects it lets go.
        objects: usize,
        /// How many may go without approval.
        allowed: usize,
    },
}

impl Hold {
    /// Whether it is about an object that nobody wants any more, so that all that is wanted is applied nevertheless.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        match self {
            Self::Protected
            | Self::NeverByPlacement
            | Self::System
            | Self::PruneOff
            | Self::Unrecorded
            | Self::UntilReplaced(_)
            | Self::UntilUserGone(_)
            | Self::AnotherObject
            | Self::Going
            | Self::NeedsApproval { .. } => true,
            Self::After { .. }
            | Self::AfterApp { .. }
            | Self::AppNotHere(_)
            | Self::NobodyApplies(_)
            | Self::NotServed(_)
            | Self::NotSeen { .. }
            | Self::Terminating
            | Self::Lowering { .. }
            | Self::MayRunIn(_)
            | Self::Quarantined
            | Self::Mistake(_)
            | Self::Failed { .. }
            | Self::Drifted => false,
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After { key, health: None } => write!(f, "waits until {key} is applied"),
            Self::After { key, health: Some(health) } => write!(f, "waits until {key} is Current (it is {health:?})"),
            Self::AfterApp { app, key } => write!(f, "waits for app {}/{}: {key} is not Current", app.0, app.1),
            Self::AppNotHere(app) => {
                write!(f, "dependsOn names {}/{}, which is not in this cluster; place it here too", app.0, app.1)
            }
            Self::NobodyApplies(key) => {
                write!(f, "depends-on names {key}, which no app puts into this cluster; correct the annotation")
            }
            Self::NotServed(kind) => {
                write!(f, "the cluster does not serve {kind}; install its CustomResourceDefinition, or place it elsewhere")
            }
            Self::NotSeen { kind, why } => write!(f, "{kind} could not be observed ({why}); nothing is done until it can"),
            Self::Terminating => f.write_str("it is being deleted; it is applied again when it is gone"),
            Self::Lowering { ready, needed, hash } => write!(
                f,
                "kept: {ready} replicas would be seen ready in all clusters, {needed} are needed; `fleetwright approve {hash}` \
                 lowers the app here anyway"
            ),
            Self::MayRunIn(cluster) => write!(
                f,
                "the app is exclusive, and its pods were not seen gone in {cluster}; confirm that they are with a fence, or \
                 wait until the cluster answers"
            ),
            Self::Quarantined => f.write_str("the cluster is quarantined: only deletions and decreases until it is Ready"),
            Self::Mistake(what) => f.write_str(what),
            Self::Failed { error, retry_secs: Some(_) } => write!(f, "{error}; tried again"),
            Self::Failed { error, retry_secs: None } => write!(f, "{error}; change the object, or what stands in its way"),
            Self::Drifted => f.write_str("changed in the cluster; not corrected, because drift is reported only"),
            Self::Protected => f.write_str("orphaned (protected): it says fleetwright.io/prune: disabled"),
            Self::NeverByPlacement => {
                f.write_str("kept: this kind does not go because a placement changed; remove it from the app, or by hand")
            }
            Self::System => f.write_str("kept: it belongs to Kubernetes or to fleetwright"),
            Self::PruneOff => f.write_str("kept: pruning is switched off for this app"),
            Self::Unrecorded => f.write_str("left as it is: placements/ on the live branch says nowhere where its app is to run"),
            Self::UntilReplaced(key) => write!(f, "kept until {key} is Current"),
            Self::UntilUserGone(key) => write!(f, "kept while {key} is still there"),
            Self::AnotherObject => {
                f.write_str("kept: this object has another UID than the one that was applied; delete it by hand if it is not wanted")
            }
            Self::Going => f.write_str("it is being deleted, and goes when its finalizers let it"),
            Self::NeedsApproval { hash, objects, allowed } => write!(
                f,
                "{objects} objects would be deleted, {allowed} may be without approval; look at the list, then \
                 `fleetwright approve {hash}`"
            ),
        }
    }
}
