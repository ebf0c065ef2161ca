//! The record: `placements/` (the lock: what runs) and `state/` (what was observed and decided).
//!
//! Format and compatibility. `placements/<team>.yaml` is `apiVersion: fleetwright.io/v1alpha1`, `kind: Placements` with one
//! block per app, sorted by app; workloads sorted by key, seats by (cluster, pool). Files of `state/` have no header; their
//! path says what they are. An unknown version, field or file is refused, never guessed; an unknown `weights` digest never
//! moves a replica. Fields may be added; a field never changes its meaning. A file holds exactly one document, and no two
//! files say the same thing of the same team or cluster: a second one would silently win over the first.
//! The next file of `state/` is a variant of [`StateForm`] and of [`RecordDoc`], and a field of [`Record`].

mod read;
mod state;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use crate::api::Lifecycle;
use crate::base::taint::Taint;
use crate::base::{FileId, Resources, SmolStr, Span, Spanned};

pub use read::{GaveWayDoc, PlacedAppDoc, PlacedWorkloadDoc, RecordDoc, SeatDoc, read};
pub use state::{
    AppDoc, ApprovalDoc, CapacityDoc, DeciderDoc, EstimateDoc, FenceDoc, HoldDoc, LifecycleDoc, MoveCauseDoc, MoveDoc,
    MoveStepDoc, ObservedDoc, OutageDoc, OwnerDoc, PinDoc, PoolDoc, TaintDoc, TideDoc,
};
pub use write::{app_path, file_path, move_path, move_text, placements_text, state_text};

/// What a file of `state/` is, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateForm {
    /// `state/capacity/<cluster>.yaml`
    Capacity,
    /// `state/taints/<cluster>.yaml`
    Taints,
    /// `state/lifecycle/<cluster>.yaml`
    Lifecycle,
    /// `state/outages/<cluster>.yaml`
    Outage,
    /// `state/tides.yaml`
    Tides,
    /// `state/suspended.yaml`
    Suspended,
    /// `state/estimates/<name>.yaml`
    Estimates,
    /// `state/moves/<team>/<app>.yaml`
    Move,
    /// `state/apps/<team>/<app>.yaml`
    App,
    /// `state/decider.yaml`
    Decider,
    /// `state/pin.yaml`
    Pin,
    /// `state/holds.yaml`
    Holds,
    /// `state/fences/<cluster>.yaml`
    Fence,
    /// `state/approvals/<hash>.yaml`
    Approval,
    /// Written by the decider for itself or for the applier; a compile does not look at it.
    NotForCompile,
    /// A file that would change a compile, and that this version does not know.
    Unknown,
}

impl StateForm {
    /// The form of a path below the repository's root.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let mut parts = path.split('/').skip(1);
        let first = [parts.next(), parts.next(), parts.next()];
        match (first, parts.next()) {
            ([Some("moves"), Some(_), Some(_)], None) => return Self::Move,
            ([Some("apps"), Some(_), Some(_)], None) => return Self::App,
            _ => {}
        }
        match <(_, _, _)>::from(first) {
            (Some("capacity"), Some(_), None) => Self::Capacity,
            (Some("taints"), Some(_), None) => Self::Taints,
            (Some("lifecycle"), Some(_), None) => Self::Lifecycle,
            (Some("outages"), Some(_), None) => Self::Outage,
            (Some("estimates"), Some(_), None) => Self::Estimates,
            (Some("fences"), Some(_), None) => Self::Fence,
            (Some("approvals"), Some(_), None) => Self::Approval,
            (Some("tides.yaml"), None, None) => Self::Tides,
            (Some("suspended.yaml"), None, None) => Self::Suspended,
            (Some("decider.yaml"), None, None) => Self::Decider,
            (Some("pin.yaml"), None, None) => Self::Pin,
            (Some("holds.yaml"), None, None) => Self::Holds,
            (Some("rollouts"), Some(_), _) => Self::NotForCompile,
            _ => Self::Unknown,
        }
    }

    /// Whether a file of this form is about an app, and named after it and its team.
    #[must_use]
    pub fn is_of_app(self) -> bool {
        matches!(self, Self::Move | Self::App)
    }

    /// Whether a compile depends on files of this form.
    #[must_use]
    pub fn is_for_compile(self) -> bool {
        match self {
            Self::Capacity
            | Self::Taints
            | Self::Lifecycle
            | Self::Outage
            | Self::Tides
            | Self::Suspended
            | Self::Estimates
            | Self::Move
            | Self::App => true,
            Self::Decider
            | Self::Pin
            | Self::Holds
            | Self::Fence
            | Self::Approval
            | Self::NotForCompile
            | Self::Unknown => false,
        }
    }
}

/// What was observed of and decided for the fleet before this compile.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// By (team, app).
    pub apps: BTreeMap<(SmolStr, SmolStr), PlacedApp>,
    /// By cluster.
    pub clusters: BTreeMap<SmolStr, Observed>,
    /// The phase of each tide that what runs was decided for, by tide.
    pub tides: BTreeMap<SmolStr, TidePhase>,
    /// Apps whose placement stays as it is, as (team, app): those of `state/suspended.yaml`, and those that say so
    /// themselves (`suspend: true`).
    pub suspended: BTreeSet<(SmolStr, SmolStr)>,
    /// What estimators say, by their name.
    pub estimates: BTreeMap<SmolStr, Estimates>,
    /// Moves that are made in steps and are not done, by (team, app).
    pub moves: BTreeMap<(SmolStr, SmolStr), OpenMove>,
    /// What was observed of apps where they run, by (team, app).
    pub observed: BTreeMap<(SmolStr, SmolStr), ObservedApp>,
    /// Of apps that are recorded under a name they had before (`previousNames`): the recorded name, by (team, app). What
    /// runs of them is in `apps` under the name they have now; the next record that is written knows that one alone.
    pub transfers: BTreeMap<(SmolStr, SmolStr), (SmolStr, SmolStr)>,
}

impl Record {
    /// The name under which an app is recorded: its own, or one that it had before.
    #[must_use]
    pub fn recorded_name<'a>(&'a self, app: &'a (SmolStr, SmolStr)) -> &'a (SmolStr, SmolStr) {
        self.transfers.get(app).unwrap_or(app)
    }
}

/// A move that is made in steps: what runs is what `placements/` says, until its next step changes that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMove {
    /// Why it was begun, as trailers of commits say it.
    pub cause: SmolStr,
    /// The key of the decision that began it.
    pub key: SmolStr,
    /// When that was (RFC 3339): the deadline counts from it. `None` where nobody wrote it down.
    pub begun: Option<SmolStr>,
    /// Digest of what the target follows from. While it is the same, the target is the target.
    pub intent: SmolStr,
    /// Where it leads.
    pub target: PlacedApp,
    /// The step it is in, from 1; 0 while there is no room for the first.
    pub step: u32,
    /// When that step was begun (RFC 3339).
    pub since: SmolStr,
    /// When all steps should be done (RFC 3339).
    pub deadline: Option<SmolStr>,
}

/// The room that an estimator sees, by (team, cluster): of the whole cluster (`None`), or of pools of it. What it says
/// nothing of has none.
pub type Estimates = BTreeMap<(SmolStr, SmolStr), BTreeMap<Option<SmolStr>, u64>>;

/// A phase of a tide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TidePhase {
    /// Its name.
    pub phase: SmolStr,
    /// When it began, as recorded (RFC 3339).
    pub window: SmolStr,
}

/// Where an app runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedApp {
    /// Where it is recorded; `None` in a record that was computed.
    pub place: Option<(FileId, Span)>,
    /// The tier in use, where one of several is used at a time.
    pub tier: Option<SmolStr>,
    /// The selected clusters.
    pub clusters: Vec<SmolStr>,
    /// Its workloads, by key.
    pub workloads: BTreeMap<SmolStr, PlacedWorkload>,
}

/// Where a workload runs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PlacedWorkload {
    /// The digest of strategy and weight rules it was divided by.
    pub weights: SmolStr,
    /// Its seats, by (cluster, pool).
    pub seats: Vec<PlacedSeat>,
    /// What it gave up for others by accepted preemptions, while it is short of that; by (app, cluster).
    pub gave_way: Vec<GaveWay>,
}

/// Replicas that were given up for another app.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GaveWay {
    /// For which app: (team, app).
    pub to: (SmolStr, SmolStr),
    /// In which cluster.
    pub cluster: SmolStr,
    /// How many.
    pub replicas: u32,
}

/// Replicas of a workload in a cluster, or in one pool of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedSeat {
    /// The cluster.
    pub cluster: SmolStr,
    /// The pool, where more than one was eligible.
    pub pool: Option<SmolStr>,
    /// How many.
    pub replicas: u32,
    /// A Job's completions.
    pub completions: Option<u32>,
    /// Fewest and most replicas of what an autoscaler owns.
    pub bounds: Option<(u32, u32)>,
}

/// What was observed of an app: by workload and cluster.
pub type ObservedApp = BTreeMap<SmolStr, BTreeMap<SmolStr, ObservedWorkload>>;

/// What was observed of a workload in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedWorkload {
    /// How many replicas its autoscaler asked for.
    pub replicas: Option<u32>,
    /// Whether a Job ran to its end there. Nothing follows from it yet: a finished Job keeps its seats and its room.
    pub finished: bool,
}

/// What was observed of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Its capacity; wins over the Cluster file.
    pub capacity: Option<Vec<ObservedPool>>,
    /// Taints besides those of the Cluster file.
    pub taints: Vec<Taint>,
    /// The lifecycle; the stricter of this and the Cluster file counts.
    pub lifecycle: Option<Lifecycle>,
    /// Whether it answers.
    pub outage: Option<OutageState>,
}

/// Whether a cluster answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub enum OutageState {
    /// It does.
    Ready,
    /// It does not.
    Lost,
    /// It came back and is being cleaned.
    Quarantined,
}

/// The observed pool of the nodes that belong to no pool of the Cluster file.
pub const OTHER_POOL: &str = "other";

/// What was observed of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedPool {
    /// Its name: of a pool of the Cluster file, or [`OTHER_POOL`].
    pub name: SmolStr,
    /// How many nodes there are.
    pub nodes: u32,
    /// Allocatable resources of one node.
    pub allocatable: Resources,
    /// What others use of it, per owner.
    pub others: Vec<(SmolStr, Resources)>,
}

/// Where a recorded name is written.
pub(crate) type Written = Spanned<SmolStr>;
