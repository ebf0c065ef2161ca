//! The exact answer, where there is a way to it.

use std::cmp::Reverse;

use super::keep::force_each;
use super::knapsack::{Pick, Query, Tree};
use super::problem::Problem;
use super::subsets;
use super::{Class, Failure};

/// No set, for certain or because this is not the way to find one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsolved {
    Failed(Failure),
    /// The keys cross, or the knapsack would have too many states.
    NotApplicable,
}

/// A way to the best set for a query.
#[derive(Debug)]
enum Solver<'a> {
    Tree(Tree<'a>),
    Subsets(&'a Problem),
}

impl Solver<'_> {
    fn best(&self, query: &Query<'_>) -> Result<Option<Pick>, Unsolved> {
        match self {
            Self::Tree(tree) => tree.best(query),
            Self::Subsets(problem) => Ok(subsets::best(problem, query)),
        }
    }
}

/// Members of the best set.
pub(super) fn search(problem: &Problem) -> Result<Vec<usize>, Unsolved> {
    let solver = match Tree::new(problem) {
        Ok(tree) => Solver::Tree(tree),
        Err(_) if problem.clusters.len() <= subsets::MOST_CLUSTERS => Solver::Subsets(problem),
        Err(unsolved) => return Err(unsolved),
    };
    let all_tiers = problem.clusters.iter().map(|cluster| cluster.tier).max().unwrap_or(0);
    // Most room with these clusters forced; `None` if there is no such set.
    let reach = |forced: &[usize], tier: u32| -> Result<Option<u128>, Unsolved> {
        let most_room = |member: usize| u128::from(room(problem, member));
        let pick = solver.best(&Query { forced, max_tier: tier, most_clusters: None, value: &most_room })?;
        Ok(pick.map(|pick| pick.value))
    };
    let best = reach(&[], all_tiers)?.ok_or(Unsolved::Failed(Failure::NoFeasibleSet))?;
    if let Some(failure) = problem.lack_of_room(best) {
        return Err(Unsolved::Failed(failure));
    }
    let target = best.min(u128::from(problem.wanted));
    let enough = |forced: &[usize], tier: u32| Ok(reach(forced, tier)?.is_some_and(|room| room >= target));

    let mut forced = Vec::new();
    force_each(problem, &problem.holders(), &mut forced, |forced| enough(forced, all_tiers))?;
    // Duplicated replicas do not overflow from one tier to the next.
    let mut tier = all_tiers;
    if problem.class != Class::Duplicated {
        tier = first_sufficient_tier(problem, |tier| enough(&forced, tier))?.unwrap_or(all_tiers);
        force_each(problem, &lower_tiers(problem, tier), &mut forced, |forced| enough(forced, tier))?;
    }

    let pick = match problem.class {
        Class::Widest => {
            let value = |member: usize| (u128::from(room(problem, member)) << COUNT_BITS) + 1;
            solver.best(&Query { forced: &forced, max_tier: tier, most_clusters: None, value: &value })?
        }
        Class::Duplicated => {
            let value = |member: usize| (1 << ROOM_BITS) + u128::from(room(problem, member));
            solver.best(&Query { forced: &forced, max_tier: tier, most_clusters: None, value: &value })?
        }
        Class::Fewest => fewest(problem, &solver, &forced, tier, target)?,
    };
    pick.map(|pick| pick.members).ok_or(Unsolved::Failed(Failure::NoFeasibleSet))
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
    solver: &Solver<'_>,
    forced: &[usize],
    tier: u32,
    target: u128,
) -> Result<Option<Pick>, Unsolved> {
    let value = |member: usize| u128::from(room(problem, member));
    let mut most = forced.len().max(1);
    loop {
        let query = Query { forced, max_tier: tier, most_clusters: Some((most, target)), value: &value };
        let pick = solver.best(&query)?;
        if pick.is_some() || most >= problem.clusters.len() {
            return Ok(pick);
        }
        most = most.saturating_mul(2).min(problem.clusters.len());
    }
}

/// The lowest tier that suffices together with those below it.
fn first_sufficient_tier(
    problem: &Problem,
    mut enough: impl FnMut(u32) -> Result<bool, Unsolved>,
) -> Result<Option<u32>, Unsolved> {
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
