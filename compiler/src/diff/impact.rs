//! How much of each cluster is touched: what a reviewer looks at first.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::join::{ClusterTally, Tally};
use super::placements::AppDiff;
use crate::Compiled;
use crate::base::SmolStr;

/// What happens to one cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterImpact {
    /// The cluster.
    pub cluster: SmolStr,
    /// Objects in it before.
    pub objects_before: u64,
    /// Objects that are created.
    pub added: u64,
    /// Objects that change in more than replicas.
    pub changed: u64,
    /// Objects that change in replicas alone.
    pub scaled: u64,
    /// Objects that are deleted.
    pub removed: u64,
    /// Objects that are no longer managed and stay.
    pub released: u64,
    /// Replicas that come, summed over workloads.
    pub replicas_added: u64,
    /// Replicas that go, summed over workloads.
    pub replicas_removed: u64,
}

/// All clusters that are touched, by name.
pub(super) fn impacts(placements: &[AppDiff], tally: &Tally) -> Vec<ClusterImpact> {
    let mut replicas: BTreeMap<&SmolStr, (u64, u64)> = BTreeMap::new();
    let counted = placements.iter().flat_map(|app| &app.workloads).filter(|workload| workload.counted);
    for row in counted.flat_map(|workload| &workload.clusters) {
        let (before, after) = (row.before.unwrap_or(0), row.after.unwrap_or(0));
        let sums = replicas.entry(&row.cluster).or_default();
        sums.0 += u64::from(after.saturating_sub(before));
        sums.1 += u64::from(before.saturating_sub(after));
    }
    let all = tally.clusters.iter().map(|(cluster, counts)| {
        let ClusterTally { before, added, removed, released, scaled, changed } = *counts;
        let (replicas_added, replicas_removed) = replicas.get(cluster).copied().unwrap_or_default();
        ClusterImpact {
            cluster: cluster.clone(),
            objects_before: before,
            added,
            changed,
            scaled,
            removed,
            released,
            replicas_added,
            replicas_removed,
        }
    });
    all.filter(ClusterImpact::is_touched).collect()
}

/// More deletions than may happen without an approval.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverBudget {
    /// The cluster; none for all clusters together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<SmolStr>,
    /// Objects that would be deleted.
    pub objects: u64,
    /// Objects there are.
    pub of: u64,
    /// Objects that may be deleted.
    pub allowed: u64,
}

/// All together first, then clusters by name.
pub(super) fn over_budget(head: &Compiled, tally: &Tally) -> Vec<OverBudget> {
    let limits = head.fleet.settings.limits;
    let over = |cluster: Option<&SmolStr>, objects: u64, of: u64| {
        let allowed = limits.allowed_deletions(of);
        (objects > allowed).then(|| OverBudget { cluster: cluster.cloned(), objects, of, allowed })
    };
    let sum = |count: fn(&ClusterTally) -> u64| tally.clusters.values().map(count).sum::<u64>();
    let fleet = over(None, sum(|c| c.removed), sum(|c| c.before));
    let clusters = tally.clusters.iter().filter_map(|(name, c)| over(Some(name), c.removed, c.before));
    fleet.into_iter().chain(clusters).collect()
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, objects, of, allowed } = self;
        let place = cluster.as_ref().map_or_else(|| "in all clusters".to_owned(), |name| format!("in {name}"));
        write!(f, "{objects} of {of} objects {place}, where {allowed} may go")
    }
}

impl ClusterImpact {
    fn is_touched(&self) -> bool {
        let Self { cluster: _, objects_before: _, added, changed, scaled, removed, released, .. } = self;
        let objects = [added, changed, scaled, removed, released];
        objects.into_iter().any(|count| *count > 0) || self.replicas_added + self.replicas_removed > 0
    }
}
