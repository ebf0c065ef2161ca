//! Which clusters stand for the groups that a `min` requires.

use std::cmp::Reverse;

use super::keep::Occupied;
use super::problem::Problem;
use super::{Class, Failure};

/// As few members of a selected set as cover every `min` above 1 (a `min` of 1 holds by itself): each time the one that covers
/// most, then the one that holds most, then the heaviest in the division, then most room, then name.
pub(super) fn witnesses(problem: &Problem, members: &[usize]) -> Result<Vec<usize>, Failure> {
    if problem.class == Class::Duplicated || problem.levels.iter().all(|level| level.min <= 1) {
        return Ok(Vec::new());
    }
    let mut occupied = Occupied::new(problem, &[]);
    let mut witnesses = Vec::new();
    while occupied.missing() > 0 {
        let best = members.iter().copied().filter(|&member| occupied.gain(member) > 0).max_by_key(|&member| {
            let claim = problem.clusters.get(member).map(|cluster| (cluster.kept, cluster.weight, cluster.room));
            (occupied.gain(member), claim, Reverse(member))
        });
        let Some(best) = best else { return Err(Failure::SpreadNotFound) };
        occupied.add(best);
        witnesses.push(best);
    }
    // Only where keys cross can the groups need more witnesses than the largest `min`.
    if u64::try_from(witnesses.len()).unwrap_or(u64::MAX) > problem.wanted {
        return Err(Failure::SpreadNotFound);
    }
    Ok(witnesses)
}
