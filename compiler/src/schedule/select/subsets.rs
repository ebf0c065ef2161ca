//! Every subset, one by one: the exact answer for a handful of clusters, whatever their keys.

use super::keep::Occupied;
use super::knapsack::{Pick, Query};
use super::problem::Problem;

/// Clusters up to which all subsets are tried (4,096 of them).
pub(super) const MOST_CLUSTERS: usize = 12;

/// The set of greatest value that satisfies the constraints, if there is one. A tie goes to the earlier names.
pub(super) fn best(problem: &Problem, query: &Query<'_>) -> Option<Pick> {
    let members: Vec<usize> = (0..problem.clusters.len().min(MOST_CLUSTERS)).collect();
    let in_set = |bits: u32, member: usize| bits >> (members.len() - 1 - member) & 1 == 1;
    let mut best: Option<Pick> = None;
    // The first cluster has the highest bit, so that earlier names come first.
    for bits in (1..1_u32 << members.len()).rev() {
        let allowed = |member: usize| {
            query.forced.contains(&member)
                || problem.clusters.get(member).is_some_and(|cluster| cluster.tier <= query.max_tier)
        };
        let set: Vec<usize> = members.iter().copied().filter(|&member| in_set(bits, member)).collect();
        if !query.forced.iter().all(|&member| in_set(bits, member)) || !set.iter().all(|&member| allowed(member)) {
            continue;
        }
        let value = set.iter().map(|&member| (query.value)(member)).sum();
        let better =
            best.as_ref().is_none_or(|best| query.prefers((value, set.len()), (best.value, best.members.len())));
        if better && query.accepts(value, set.len()) && Occupied::new(problem, &set).satisfies() {
            best = Some(Pick { members: set, value });
        }
    }
    best
}
