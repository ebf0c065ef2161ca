//! The exact answer where the keys nest.

use std::cmp::Reverse;

use super::Class;
use super::keep::force_each;
use super::knapsack::{Pick, Query, Tree};
use super::problem::Problem;

/// The keys cross, or the knapsack would have too many states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotApplicable;

/// Members of the best set, or `None` if no set satisfies the constraints.
pub(super) fn search(problem: &Problem) -> Result<Option<Vec<usize>>, NotApplicable> {
    let tree = Tree::new(problem)?;
    let all_tiers = problem.clusters.iter().map(|cluster| cluster.tier).max().unwrap_or(0);
    // Most room with these clusters forced; `None` if there is no such set.
    let reach = |forced: &[usize], tier: u32| -> Result<Option<u128>, NotApplicable> {
        let most_room = |member: usize| u128::from(room(problem, member));
        let pick = tree.best(&Query { forced, max_tier: tier, most_clusters: None, value: &most_room })?;
        Ok(pick.map(|pick| pick.value))
    };
    let Some(best) = reach(&[], all_tiers)? else { return Ok(None) };
    let target = best.min(u128::from(problem.wanted));
    let enough = |forced: &[usize], tier: u32| Ok(reach(forced, tier)?.is_some_and(|room| room >= target));

    let mut forced = Vec::new();
    force_each(problem, &problem.holders(), &mut forced, |forced| enough(forced, all_tiers))?;
    let tier = first_sufficient_tier(problem, |tier| enough(&forced, tier))?.unwrap_or(all_tiers);
    force_each(problem, &lower_tiers(problem, tier), &mut forced, |forced| enough(forced, tier))?;

    let pick = match problem.class {
        Class::Widest => {
            let value = |member: usize| (u128::from(room(problem, member)) << COUNT_BITS) + 1;
            tree.best(&Query { forced: &forced, max_tier: tier, most_clusters: None, value: &value })?
        }
        Class::Duplicated => {
            let value = |member: usize| (1 << ROOM_BITS) + u128::from(room(problem, member));
            tree.best(&Query { forced: &forced, max_tier: tier, most_clusters: None, value: &value })?
        }
        Class::Fewest => fewest(problem, &tree, &forced, tier, target)?,
    };
    Ok(pick.map(|pick| pick.members))
}

/// Clusters are numbered by u16, so a sum of rooms stays below 2^80 and a sum of values below 2^97.
const COUNT_BITS: u32 = 17;
const ROOM_BITS: u32 = 80;

fn room(problem: &Problem, member: usize) -> u64 {
    problem.clusters.get(member).map_or(0, |cluster| cluster.room)
}

/// The fewest clusters with enough room, and among such sets the one with most room. The bound on their number doubles until there
/// is one, because the cost grows with it.
fn fewest(
    problem: &Problem,
    tree: &Tree<'_>,
    forced: &[usize],
    tier: u32,
    target: u128,
) -> Result<Option<Pick>, NotApplicable> {
    let value = |member: usize| u128::from(room(problem, member));
    let mut most = forced.len().max(1);
    loop {
        let query = Query { forced, max_tier: tier, most_clusters: Some((most, target)), value: &value };
        let pick = tree.best(&query)?;
        if pick.is_some() || most >= problem.clusters.len() {
            return Ok(pick);
        }
        most = most.saturating_mul(2).min(problem.clusters.len());
    }
}

/// The lowest tier that suffices together with those below it.
fn first_sufficient_tier(
    problem: &Problem,
    mut enough: impl FnMut(u32) -> Result<bool, NotApplicable>,
) -> Result<Option<u32>, NotApplicable> {
    let mut tiers: Vec<u32> = problem.clusters.iter().map(|cluster| cluster.tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    if let [only] = tiers.as_slice() {
        return Ok(Some(*only));
    }
    for tier in tiers {
        if enough(tier)? {
            return Ok(Some(tier));
        }
    }
    Ok(None)
}

/// Clusters of tiers below `tier`, which fill first: lower tiers, then most room, then name.
fn lower_tiers(problem: &Problem, tier: u32) -> Vec<usize> {
    let mut lower: Vec<(u32, Reverse<u64>, usize)> = problem
        .clusters
        .iter()
        .enumerate()
        .filter(|(_, cluster)| cluster.tier < tier)
        .map(|(member, cluster)| (cluster.tier, Reverse(cluster.room), member))
        .collect();
    lower.sort_unstable();
    lower.into_iter().map(|(_, _, member)| member).collect()
}
