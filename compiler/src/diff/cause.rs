//! What may be at work where replicas come, go and move: the list, as data. `why` finds them, `why_words` says them.

use serde::Serialize;

use super::clusters::ClusterEdit;
use super::shortfall::Shortfall;
use crate::api::{Capacity, Strategy};
use crate::base::SmolStr;

/// A cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "cause", rename_all_fields = "camelCase")]
pub enum Why {
    /// The app is new.
    AppAdded,
    /// The app is gone.
    AppRemoved,
    /// The workload is new in the app.
    WorkloadAdded,
    /// The workload is gone from the app.
    WorkloadRemoved,
    /// Another number of replicas is asked for.
    Total {
        /// What was asked for.
        before: u32,
        /// What is asked for.
        after: u32,
    },
    /// Another number of a Job's completions is asked for.
    Completions {
        /// What was asked for.
        before: Option<u32>,
        /// What is asked for.
        after: Option<u32>,
    },
    /// Another strategy.
    Strategy {
        /// What it was.
        before: Option<Strategy>,
        /// What it is.
        after: Option<Strategy>,
    },
    /// Other weights.
    Weights,
    /// Other bounds for each cluster.
    PerCluster,
    /// Another answer to short room.
    Capacity {
        /// What it was.
        before: Capacity,
        /// What it is.
        after: Capacity,
    },
    /// The selector or the team's clusters allow others.
    Clusters {
        /// Clusters that are allowed now.
        added: Vec<SmolStr>,
        /// Clusters that were allowed.
        removed: Vec<SmolStr>,
    },
    /// Other spread constraints.
    Spread,
    /// Other tiers.
    Tiers,
    /// Other groups to share clusters with, or to share none with.
    Groups,
    /// Other tolerations, of the placement or of the pods.
    Tolerations,
    /// Pods ask for other amounts.
    Requests,
    /// Pods may run on other nodes.
    NodeSelection,
    /// Another priority.
    Priority,
    /// An override states replicas.
    Override,
    /// The record of what runs is another.
    Record,
    /// Something about the cluster.
    Cluster {
        /// What.
        edit: ClusterEdit,
    },
    /// Why the cluster gets nothing now.
    Verdict {
        /// In words.
        verdict: String,
    },
    /// What could not be done.
    Shortfall {
        /// What.
        shortfall: Shortfall,
    },
    /// What runs is not yet what should run.
    Move {
        /// In words.
        reason: String,
    },
    /// Nothing of its own: what it lacked, and other apps gave back.
    Forced {
        /// What that is.
        by: Forced,
    },
    /// Nothing of its own, and nothing that it lacked.
    Others,
}

/// What one app can take from another, or give back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Forced {
    /// Room in clusters.
    Room,
    /// The quota of the team.
    Quota,
    /// Clusters that the group shares, or does not share.
    Group,
}
