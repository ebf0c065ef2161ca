//! What was seen of the clusters: the second input of every decision beside the fleet and its record.
//!
//! Appliers write it, the decider and `status` read it. Invariants: data alone, no effects; what was not seen is absent or
//! [`Health::Unknown`], never zero replicas or an empty set; times are seconds since 1970 and come from the clock port.
//! The next thing that is seen is a field here, and a line where the applier fills it in.

use std::collections::BTreeMap;

use fleetwright_compiler::base::{Resources, SmolStr};

use crate::health::Health;
use crate::ports::CommitId;

/// What was seen of all clusters, by name. A cluster that nobody looks at is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// By cluster.
    pub clusters: BTreeMap<SmolStr, ClusterSeen>,
}

/// What was seen of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSeen {
    /// Whether its API server answers.
    pub answers: Answers,
    /// The UID of its namespace `kube-system`; `None` as long as it never answered.
    pub uid: Option<SmolStr>,
    /// What its API server's clock said minus what ours said, at the last answer.
    pub clock_ahead_secs: Option<i64>,
    /// Its nodes; `None` when they could not be read.
    pub capacity: Option<Vec<PoolSeen>>,
    /// The commit of `live` that was last applied as a whole.
    pub applied: Option<CommitId>,
    /// Whether all that was ever applied there was looked at, so that an app that is not here is gone.
    pub is_complete: bool,
    /// Whether all that keeps its order from being applied are apps that should leave and are not enough ready elsewhere.
    pub runs_only_copies: bool,
    /// By (team, app); unless `is_complete`, an app that is not here was not seen, which is not the same as gone.
    pub apps: BTreeMap<(SmolStr, SmolStr), AppSeen>,
}

/// Whether an API server answers, and since when. It flips only after 30 s of agreement, both ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// It does.
    Yes {
        /// Since.
        since_secs: i64,
    },
    /// It does not.
    No {
        /// Since.
        since_secs: i64,
        /// What the last attempt ran into; holds no secrets.
        error: String,
    },
    /// Not asked long enough to say.
    NotYetKnown,
}

/// Ready nodes of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSeen {
    /// Its name; `other` for nodes that belong to no pool of the Cluster file.
    pub name: SmolStr,
    /// Nodes that are Ready and may be scheduled to.
    pub nodes: u32,
    /// What the smallest of them offers.
    pub allocatable: Resources,
    /// What pods that are not ours request, by owner `group/Kind/namespace/name`, all nodes together.
    pub others: BTreeMap<SmolStr, Resources>,
}

/// An app in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppSeen {
    /// The worst of its objects.
    pub health: Health,
    /// Objects that are not Current, and why: `group/Kind/namespace/name`, then the reason in words.
    pub blocking: Vec<(SmolStr, Health, String)>,
    /// By key of the workload, as in `placements/`.
    pub workloads: BTreeMap<SmolStr, WorkloadSeen>,
    /// The digest of the content that was applied last, counts excluded.
    pub content: SmolStr,
    /// Since when its health is what it is.
    pub since_secs: i64,
}

/// A workload in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadSeen {
    /// `spec.replicas` as stored, which an HPA may own.
    pub replicas: u32,
    /// Ready replicas of the current generation; 0 while the controller has not seen it.
    pub ready: u32,
}
