//! What could not be done for an app.
//!
//! The next reason is a variant here, a line in `check::deficits`, and what the reports say of it.

use std::collections::BTreeMap;

use crate::base::{AppId, ClusterId, SmolStr};

/// What the quota of one cluster refuses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefusedThere {
    /// Which cluster.
    pub cluster: ClusterId,
    /// The resource, as the quota names it.
    pub resource: SmolStr,
    /// What the team uses there, the app's previous seats included.
    pub used: i128,
    /// What the app would add.
    pub more: i128,
    /// The most allowed.
    pub hard: i128,
}

/// What could not be done for an app.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deficit {
    /// Replicas that fit nowhere.
    Unplaced {
        /// Which of the app's workloads.
        workload: u16,
        /// How many.
        replicas: u32,
        /// How many are wanted in all.
        wanted: u32,
        /// Replicas that ran before and no longer fit where they were.
        displaced: u32,
    },
    /// A spread constraint that cannot be met.
    Spread {
        /// Which constraint.
        topology_key: SmolStr,
        /// Groups that could hold a replica.
        have: u32,
        /// Groups that are wanted.
        min: u32,
        /// Whether the search was greedy, so that a solution may exist all the same.
        greedy: bool,
    },
    /// The team's quota refuses the increase.
    Quota {
        /// The resource, as the quota names it.
        resource: SmolStr,
        /// The cluster, where the quota holds for each by itself.
        cluster: Option<ClusterId>,
        /// What the team uses, the app's previous seats included.
        used: i128,
        /// What the app would add.
        more: i128,
        /// The most allowed.
        hard: i128,
        /// Other clusters whose own quota refuses it as well, ascending.
        others: Vec<RefusedThere>,
    },
    /// What it gave up by a preemption that a person accepted, and is still short of.
    GaveWay {
        /// Which of the app's workloads.
        workload: u16,
        /// For which app.
        to: AppId,
        /// Where.
        cluster: ClusterId,
        /// How many replicas.
        replicas: u32,
    },
    /// It is where its group does not allow it, and has no place elsewhere.
    Group {
        /// `key=value`
        group: SmolStr,
        /// Whether the apps of the group share no cluster, in place of all.
        anti: bool,
        /// In how many clusters.
        clusters: u32,
    },
    /// `weights` are stated and match no selected cluster.
    NoWeightMatches {
        /// Which of the app's workloads.
        workload: u16,
    },
}

impl Deficit {
    /// Without what is only told beside it: what two schedules are compared by.
    #[must_use]
    pub fn bare(&self) -> Self {
        let mut bare = self.clone();
        if let Self::Quota { others, .. } = &mut bare {
            others.clear();
        }
        bare
    }

    /// What quotas refuse: `(cluster, resource, used, more, hard)`, of each cluster that has one of its own.
    pub fn refusals(&self) -> impl Iterator<Item = (Option<ClusterId>, &SmolStr, i128, i128, i128)> {
        let (first, others) = match self {
            Self::Quota { resource, cluster, used, more, hard, others } => {
                (Some((*cluster, resource, *used, *more, *hard)), others.as_slice())
            }
            _ => (None, [].as_slice()),
        };
        let others = others.iter().map(|RefusedThere { cluster, resource, used, more, hard }| {
            (Some(*cluster), resource, *used, *more, *hard)
        });
        first.into_iter().chain(others)
    }

    /// The deficit of refusals in the order of their quotas: the first, and beside one of a single cluster those of others.
    pub(super) fn of_quotas(refusals: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut refusals = refusals.into_iter();
        let mut found = refusals.next()?;
        if let Self::Quota { cluster: Some(first), others, .. } = &mut found {
            let mut by_cluster: BTreeMap<ClusterId, RefusedThere> = BTreeMap::new();
            for refusal in refusals {
                if let Self::Quota { resource, cluster: Some(cluster), used, more, hard, .. } = refusal
                    && cluster != *first
                {
                    by_cluster.entry(cluster).or_insert(RefusedThere { cluster, resource, used, more, hard });
                }
            }
            others.extend(by_cluster.into_values());
        }
        Some(found)
    }
}
