//! How much of each cluster is touched: what a reviewer looks at first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::join::{ClusterTally, Tally};
use super::placements::AppDiff;
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

impl ClusterImpact {
    fn is_touched(&self) -> bool {
        let Self { cluster: _, objects_before: _, added, changed, scaled, removed, released, .. } = self;
        let objects = [added, changed, scaled, removed, released];
        objects.into_iter().any(|count| *count > 0) || self.replicas_added + self.replicas_removed > 0
    }
}
