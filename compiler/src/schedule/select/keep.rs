//! What runs stays where it can.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::problem::{Level, Problem};
use super::{Candidate, Class, Constraint, GroupOf, Need};

/// The groups that a growing set of clusters occupies.
#[derive(Debug, Clone)]
pub(super) struct Occupied<'a> {
    levels: Vec<Groups<'a>>,
}

#[derive(Debug, Clone)]
struct Groups<'a> {
    level: &'a Level,
    /// By group.
    occupied: Vec<bool>,
    count: u32,
}

impl Groups<'_> {
    fn contains(&self, member: usize) -> bool {
        let group = usize::try_from(self.level.group(member)).unwrap_or(usize::MAX);
        self.occupied.get(group).copied().unwrap_or(false)
    }

    fn missing(&self) -> u32 {
        self.level.min.saturating_sub(self.count)
    }
}

impl<'a> Occupied<'a> {
    /// The groups of the given members.
    pub fn new(problem: &'a Problem, members: &[usize]) -> Self {
        let groups = |level: &'a Level| Groups {
            level,
            occupied: vec![false; usize::try_from(level.count).unwrap_or(0)],
            count: 0,
        };
        let mut occupied = Self { levels: problem.levels.iter().map(groups).collect() };
        members.iter().for_each(|&member| occupied.add(member));
        occupied
    }

    /// Whether the cluster can join without a group too many.
    pub fn admits(&self, member: usize) -> bool {
        self.levels.iter().all(|groups| {
            groups.level.max.is_none_or(|max| groups.count < max || (groups.count == max && groups.contains(member)))
        })
    }

    /// Whether all constraints hold.
    pub fn satisfies(&self) -> bool {
        self.levels.iter().all(|groups| groups.missing() == 0 && groups.level.max.is_none_or(|max| groups.count <= max))
    }

    pub fn add(&mut self, member: usize) {
        for groups in &mut self.levels {
            let group = usize::try_from(groups.level.group(member)).unwrap_or(usize::MAX);
            if let Some(occupied) = groups.occupied.get_mut(group)
                && !*occupied
            {
                *occupied = true;
                groups.count += 1;
            }
        }
    }

    /// Groups still missing, over all constraints.
    pub fn missing(&self) -> u64 {
        self.levels.iter().map(|groups| u64::from(groups.missing())).sum()
    }

    /// For how many constraints the cluster would add a group that is still missing.
    pub fn gain(&self, member: usize) -> u64 {
        let gains = |groups: &&Groups<'_>| groups.missing() > 0 && !groups.contains(member);
        self.levels.iter().filter(gains).map(|_| 1).sum()
    }
}

/// The current set, if it satisfies the constraints and has room for all replicas. A Duplicated App always looks for more clusters.
pub(super) fn current_if_sufficient(problem: &Problem) -> Option<Vec<usize>> {
    let current = problem.holders();
    if current.is_empty() || problem.class == Class::Duplicated {
        return None;
    }
    let mut occupied = Occupied::new(problem, &[]);
    for &member in &current {
        if !occupied.admits(member) {
            return None;
        }
        occupied.add(member);
    }
    (occupied.missing() == 0 && problem.room(&current) >= u128::from(problem.wanted)).then_some(current)
}

/// Forces clusters, in the given order, each if the set stays feasible with it. Forcing more never makes a set feasible again, so
/// runs are tried at once, all of them first: mostly all can stay.
pub(super) fn force_each<E>(
    problem: &Problem,
    order: &[usize],
    forced: &mut Vec<usize>,
    mut feasible: impl FnMut(&[usize]) -> Result<bool, E>,
) -> Result<(), E> {
    let mut occupied = Occupied::new(problem, forced);
    let mut rest: Vec<usize> = order.iter().copied().filter(|member| !forced.contains(member)).collect();
    let mut refused_before = false;
    loop {
        // What would break a `max` is refused without asking, for good.
        rest.retain(|&member| occupied.admits(member));
        let mut trial = occupied.clone();
        let admitted = |&&member: &&usize| {
            let admitted = trial.admits(member);
            trial.add(member);
            admitted
        };
        let run = rest.iter().take_while(admitted).count();
        if run == 0 {
            return Ok(());
        }
        // The longest feasible part of the run: `accepted` is known to be feasible, `refused` not to be.
        let (mut accepted, mut refused) = (0, run + 1);
        let mut next = if refused_before { 1 } else { run };
        while refused - accepted > 1 {
            let all: Vec<usize> = forced.iter().chain(rest.iter().take(next)).copied().collect();
            if feasible(&all)? {
                accepted = next;
            } else {
                refused = next;
            }
            let galloping = refused > run;
            next = if galloping { (2 * accepted).min(run) } else { accepted + (refused - accepted) / 2 };
        }
        for member in rest.drain(..accepted) {
            occupied.add(member);
            forced.push(member);
        }
        if refused <= run {
            refused_before = true;
            let out = rest.remove(0);
            rest.retain(|&member| !problem.is_replaceable_by(member, out));
        }
    }
}

/// After a failure: the holders that break no `max`, in the order in which they stay. A holder that lacks a key stays, since nothing
/// could replace it, unless the keys that it has keep it out.
pub(super) fn within_max(
    candidates: &[Candidate],
    group: GroupOf<'_>,
    constraints: &[Constraint],
    need: &Need,
) -> Vec<usize> {
    // With nothing to place, every cluster that has the keys is eligible.
    let problem = Problem::new(candidates, group, constraints, &Need { replicas: 0, fresh: false, ..*need });
    let mut occupied = Occupied::new(&problem, &[]);
    let mut staying = Vec::new();
    for member in problem.holders() {
        if occupied.admits(member) {
            occupied.add(member);
            staying.push(member);
        }
    }
    let mut chosen = problem.positions(&staying);
    let mut in_use: Vec<BTreeSet<u32>> =
        (0..constraints.len()).map(|key| chosen.iter().filter_map(|&at| group(key, at)).collect()).collect();
    let lacks_a_key = |at: usize| (0..constraints.len()).any(|key| group(key, at).is_none());
    let mut lacking: Vec<(usize, &Candidate)> =
        candidates.iter().enumerate().filter(|(at, candidate)| candidate.held && lacks_a_key(*at)).collect();
    lacking.sort_by_key(|(at, candidate)| (Reverse(candidate.pinned), Reverse(candidate.kept), *at));
    for (at, _) in lacking {
        let has = || (0..constraints.len()).filter_map(|key| Some((key, group(key, at)?)));
        let admitted = has().all(|(key, group)| {
            let Some((in_use, constraint)) = in_use.get(key).zip(constraints.get(key)) else { return true };
            let most = constraint.max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
            in_use.contains(&group) || in_use.len() < most
        });
        if admitted {
            for (key, group) in has() {
                in_use.get_mut(key).map(|in_use| in_use.insert(group));
            }
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    chosen
}
