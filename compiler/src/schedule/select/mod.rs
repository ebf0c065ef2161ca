//! Selecting the clusters of an App under its spread constraints.
//!
//! Candidates and constraints in, positions out; no names, no fleet. Candidates are in name order and groups are numbered in
//! name order, so the last tie-break is the name.
//!
//! What is wanted, in this order: all constraints hold, fewest replicas unplaced, what runs stays, lower tiers, then most room
//! (Duplicated: most clusters; Aggregated: fewest clusters first), earlier names. Where the keys nest (provider > region > zone >
//! cluster) the answer is exact, by a knapsack over the tree (`knapsack`), and also where there are few clusters (`subsets`).
//! Where keys cross in a larger fleet, or there are too many states, it is a greedy one (`greedy`), and then a failure says "not
//! found", never "impossible".
//!
//! A new kind of constraint that is a partition of the clusters needs nothing here but another [`Constraint`].

mod exact;
mod greedy;
mod keep;
mod knapsack;
mod problem;
mod states;
mod subsets;
mod witness;

#[cfg(test)]
mod pipeline_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use exact::Unsolved;
use problem::Problem;

/// What selection knows of one cluster that passed the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Replicas that may run here: [`most_replicas`](crate::divide::most_replicas) of the division to come.
    /// `None` counts as all replicas; less than `kept` counts as `kept`, unless fresh.
    pub room: Option<u64>,
    /// The cluster is in the set the record holds, even if it got no replica.
    pub held: bool,
    /// Replicas it holds that intent still allows; more of them weigh more when not all holders can stay.
    pub kept: u32,
    /// Kept before all other holders (replicas that never move by themselves).
    pub pinned: bool,
    /// Its claim in the division, to choose [`Selection::witnesses`] among the heavy clusters; all alike where room is the claim.
    /// Clusters of weight 0 are no candidates.
    pub weight: u64,
    /// Overflow tier; lower tiers first, unless Duplicated. 0 where there are none.
    pub tier: u32,
    /// By constraint: the group it is in, or `None` if it lacks the key (it is then not selected). The group of the key
    /// `cluster` is the cluster's own position. Not looked at by [`select_grouped`].
    pub groups: Vec<Option<u32>>,
}

/// `spread: [{topologyKey, min, max}]`: of the groups of a key, at least `min` and at most `max` hold a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constraint {
    /// Fewest groups; 1 where absent.
    pub min: u32,
    /// Most groups; absent means no limit.
    pub max: Option<u32>,
}

/// Which set a strategy wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Every cluster of the set runs all replicas (Duplicated): as many as `max` allows, also while nothing else changes.
    Duplicated,
    /// Divided over as many clusters as `max` allows (StaticWeight, DynamicWeight).
    Widest,
    /// Divided over as few as possible (Aggregated).
    Fewest,
}

/// What is to be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Replicas in all, or in each cluster if Duplicated. With 0, room and `min` do not matter.
    pub replicas: u32,
    /// `perCluster.min`: at most `replicas / min` clusters are selected (one, if there are fewer replicas). 0 for none.
    pub per_cluster_min: u32,
    pub class: Class,
    /// `capacity: Require`: without room for all replicas nothing is added, so nothing moves. No matter if Duplicated.
    pub all_or_nothing: bool,
    /// As if new: what the record holds has no weight. If no set is found it is kept all the same, and the caller asks again
    /// with `false`, since an overdrawn holder counts only then. No matter if Duplicated.
    pub fresh: bool,
}

/// The set, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Positions of the selected clusters, ascending. After a failure: the holders that break no `max`; nothing may be added to them.
    pub chosen: Vec<usize>,
    /// Clusters that stand for the groups a `min` requires, ascending: the division gives each a floor of 1. Empty if no
    /// `min` exceeds 1, for Duplicated, and after a failure.
    pub witnesses: Vec<usize>,
    pub failure: Option<Failure>,
}

/// Why no set was found. `constraint` is a position in the given constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No cluster can take a replica (all replicas, if Duplicated).
    NoCandidates,
    /// Fewer replicas than the groups that shall hold one.
    TooFewReplicas { constraint: usize, replicas: u32, min: u32 },
    /// Fewer groups that can take a replica than are required.
    TooFewGroups { constraint: usize, have: u32, min: u32 },
    /// All replicas are required, and `room` is the most any set has under the constraints.
    TooLittleRoom { room: u64 },
    /// Each constraint can be met, but not all at once. Certain.
    NoFeasibleSet,
    /// The search found no set. There may be one: the keys cross, or there are too many of them.
    SpreadNotFound,
}

/// Selects clusters for one App. `candidates[i].groups` is parallel to `constraints`.
#[must_use]
pub fn select(candidates: &[Candidate], constraints: &[Constraint], need: &Need) -> Selection {
    let group = |constraint, at: usize| candidates.get(at)?.groups.get(constraint).copied()?;
    select_grouped(candidates, &group, constraints, need)
}

/// The group of a candidate by a constraint, each by its position.
pub type GroupOf<'g> = &'g dyn Fn(usize, usize) -> Option<u32>;

/// The same where the groups are kept elsewhere: with a thousand candidates, a list for each costs more than the rest.
#[must_use]
pub fn select_grouped(
    candidates: &[Candidate],
    group: GroupOf<'_>,
    constraints: &[Constraint],
    need: &Need,
) -> Selection {
    let problem = Problem::new(candidates, group, constraints, need);
    let found = problem.obvious_failure().map_or_else(|| search(&problem), Err).and_then(|members| {
        let witnesses = witness::witnesses(&problem, &members)?;
        Ok((problem.positions(&members), problem.positions(&witnesses)))
    });
    match found {
        Ok((chosen, witnesses)) => Selection { chosen, witnesses, failure: None },
        Err(failure) => {
            let chosen = keep::within_max(candidates, group, constraints, need);
            Selection { chosen, witnesses: Vec::new(), failure: Some(failure) }
        }
    }
}

fn search(problem: &Problem) -> Result<Vec<usize>, Failure> {
    if let Some(current) = keep::current_if_sufficient(problem) {
        return Ok(current);
    }
    match exact::search(problem) {
        Ok(members) => Ok(members),
        Err(Unsolved::Failed(failure)) => Err(failure),
        Err(Unsolved::NotApplicable) => greedy::search(problem),
    }
}
