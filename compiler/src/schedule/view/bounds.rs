//! What a policy says of a workload in one cluster.

use crate::api::Strategy;
use crate::base::ClusterId;
use crate::model::{Replicas, Share, Workload};

/// The bounds of a workload in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schedule) struct Bounds {
    /// 0 where nothing may run.
    pub weight: u64,
    /// Fewest replicas.
    pub min: u32,
    /// Most replicas.
    pub max: Option<u32>,
}

/// Whether a workload is placed one on each node, outside of every count.
pub(in crate::schedule) fn is_daemon(workload: &Workload) -> bool {
    workload.kind.is_per_node()
}

/// Weight and bounds of a cluster: the largest weight of the matching rules, the strictest bounds. Copies have no weight.
pub(in crate::schedule) fn bounds(workload: &Workload, cluster: ClusterId) -> Bounds {
    let policy = &workload.policy;
    let weighs = is_static(policy) && workload.share != Share::Everywhere;
    let mut bounds = Bounds { weight: 1, min: policy.min, max: policy.max };
    let Some(rules) = policy.weights.as_ref().filter(|_| weighs) else { return bounds };
    bounds.weight = 0;
    for rule in rules.iter().filter(|rule| rule.clusters.contains(cluster)) {
        bounds.weight = bounds.weight.max(u64::from(rule.weight));
        bounds.min = bounds.min.max(rule.min.unwrap_or(0));
        bounds.max = [bounds.max, rule.max].into_iter().flatten().min();
    }
    bounds
}

/// Whether replicas are divided by stated weights. A strategy is not stated only where one cluster is selected.
pub(in crate::schedule) fn is_static(policy: &Replicas) -> bool {
    matches!(policy.strategy, None | Some(Strategy::StaticWeight))
}
