//! The question in a form to compute with: eligible clusters, constraints as partitions of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Candidate, Class, Constraint, Failure, GroupOf, Need};

/// An eligible cluster.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    /// Position among the candidates.
    pub position: usize,
    pub room: u64,
    pub held: bool,
    pub kept: u32,
    pub pinned: bool,
    pub weight: u64,
    pub tier: u32,
}

/// A constraint over the eligible clusters.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// Fewest groups.
    pub min: u32,
    /// Most groups; `None` where it cannot bind.
    pub max: Option<u32>,
    /// The group of each cluster, numbered from 0 without gaps, in the order of the given groups.
    pub groups: Vec<u32>,
    /// Number of groups.
    pub count: u32,
}

impl Level {
    pub fn group(&self, member: usize) -> u32 {
        self.groups.get(member).copied().unwrap_or(0)
    }

    /// Whether each cluster is a group of its own.
    pub fn is_discrete(&self) -> bool {
        usize::try_from(self.count).is_ok_and(|count| count == self.groups.len())
    }

    fn is_trivial(&self) -> bool {
        self.max.is_none() && self.min <= 1
    }
}

/// Members are positions in `clusters`, which is in name order.
#[derive(Debug)]
pub(super) struct Problem {
    pub clusters: Vec<Cluster>,
    /// Constraints that can bind, in the given order; a limit by `perCluster.min` last.
    pub levels: Vec<Level>,
    /// Replicas the set should have room for; 0 if that is no question.
    pub wanted: u64,
    pub class: Class,
    /// Whether a set without room for all replicas is no answer.
    pub all_or_nothing: bool,
    failure: Option<Failure>,
}

impl Problem {
    pub fn new(candidates: &[Candidate], group: GroupOf<'_>, constraints: &[Constraint], need: &Need) -> Self {
        // A fresh copy in each cluster is the copy that is there.
        let need = &Need { fresh: need.fresh && need.class != Class::Duplicated, ..*need };
        let has_keys = |at: usize| (0..constraints.len()).all(|constraint| group(constraint, at).is_some());
        let eligible: Vec<(usize, &Candidate)> = candidates
            .iter()
            .enumerate()
            .filter(|(at, candidate)| has_keys(*at) && is_eligible(candidate, need))
            .collect();
        let clusters: Vec<Cluster> = eligible
            .iter()
            .map(|&(position, candidate)| {
                let kept = if need.fresh { 0 } else { candidate.kept };
                Cluster {
                    position,
                    room: candidate.room.unwrap_or(u64::from(need.replicas)).max(u64::from(kept)),
                    held: candidate.held && !need.fresh,
                    kept,
                    pinned: candidate.pinned && !need.fresh,
                    weight: candidate.weight,
                    tier: candidate.tier,
                }
            })
            .collect();
        let mut failure = clusters.is_empty().then_some(Failure::NoCandidates);
        let mut levels = Vec::new();
        for (constraint, &Constraint { min, max }) in constraints.iter().enumerate() {
            let groups = eligible.iter().map(|(at, _)| group(constraint, *at));
            let level = level(groups.map(|group| group.unwrap_or(0)), if need.replicas == 0 { 0 } else { min }, max);
            if need.class != Class::Duplicated && need.replicas < level.min {
                failure = failure.or(Some(Failure::TooFewReplicas { constraint, replicas: need.replicas, min }));
            }
            if level.count < level.min {
                failure = failure.or(Some(Failure::TooFewGroups { constraint, have: level.count, min }));
            }
            levels.push(level);
        }
        if let Some(most) = most_clusters(need) {
            levels.push(level(0..u32::try_from(clusters.len()).unwrap_or(u32::MAX), 0, Some(most)));
        }
        levels.retain(|level| !level.is_trivial());
        let class = if need.replicas == 0 && need.class == Class::Fewest { Class::Widest } else { need.class };
        let wanted = if class == Class::Duplicated { 0 } else { u64::from(need.replicas) };
        Self { clusters, levels, wanted, class, all_or_nothing: need.all_or_nothing, failure }
    }

    /// What can be told without searching.
    pub fn obvious_failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Why a set with this room is no answer.
    pub fn lack_of_room(&self, room: u128) -> Option<Failure> {
        let lacks = self.all_or_nothing && room < u128::from(self.wanted);
        lacks.then(|| Failure::TooLittleRoom { room: u64::try_from(room).unwrap_or(u64::MAX) })
    }

    /// Replicas that fit into these clusters together.
    pub fn room(&self, members: &[usize]) -> u128 {
        members.iter().filter_map(|&member| self.clusters.get(member)).map(|cluster| u128::from(cluster.room)).sum()
    }

    /// Whether any set that holds `member` could hold `other` in its place: same groups, no less room. So if no feasible set holds
    /// `other`, none holds `member`.
    pub fn is_replaceable_by(&self, member: usize, other: usize) -> bool {
        let room = |member: usize| self.clusters.get(member).map(|cluster| cluster.room);
        let same_group = |level: &Level| level.is_discrete() || level.group(member) == level.group(other);
        room(member) <= room(other) && self.levels.iter().all(same_group)
    }

    pub fn positions(&self, members: &[usize]) -> Vec<usize> {
        let mut positions: Vec<usize> =
            members.iter().filter_map(|&member| self.clusters.get(member)).map(|cluster| cluster.position).collect();
        positions.sort_unstable();
        positions
    }

    /// Holders in the order in which they stay: pinned ones, then by replicas, then by name. Where they occupy more groups than a
    /// `max` allows, `max` was lowered: the groups of that key rank by their replicas first, so the smallest empty first.
    pub fn holders(&self) -> Vec<usize> {
        let mut holders: Vec<usize> =
            (0..self.clusters.len()).filter(|&i| self.clusters.get(i).is_some_and(|cluster| cluster.held)).collect();
        let kept = |i: usize| self.clusters.get(i).map_or(0, |cluster| cluster.kept);
        let mut exceeded: Vec<(&Level, BTreeMap<u32, u64>)> = Vec::new();
        for level in &self.levels {
            let mut replicas: BTreeMap<u32, u64> = BTreeMap::new();
            for &i in &holders {
                *replicas.entry(level.group(i)).or_default() += u64::from(kept(i));
            }
            if level.max.is_some_and(|max| replicas.len() > usize::try_from(max).unwrap_or(usize::MAX)) {
                exceeded.push((level, replicas));
            }
        }
        exceeded.sort_by_key(|(level, _)| level.count);
        holders.sort_by_cached_key(|&i| {
            let pinned = self.clusters.get(i).is_some_and(|cluster| cluster.pinned);
            let groups: Vec<_> = exceeded
                .iter()
                .map(|(level, replicas)| {
                    let group = level.group(i);
                    (Reverse(replicas.get(&group).copied().unwrap_or(0)), group)
                })
                .collect();
            (!pinned, groups, Reverse(kept(i)), i)
        });
        holders
    }
}

/// Whether a cluster that has all keys may be selected.
fn is_eligible(candidate: &Candidate, need: &Need) -> bool {
    let room = candidate.room.unwrap_or(u64::from(need.replicas));
    let enough = match need.class {
        _ if need.replicas == 0 => 0,
        Class::Duplicated => u64::from(need.replicas),
        // With fewer replicas than `perCluster.min`, it does not hold.
        Class::Widest | Class::Fewest if need.per_cluster_min <= need.replicas => {
            u64::from(need.per_cluster_min.max(1))
        }
        Class::Widest | Class::Fewest => 1,
    };
    let stays = candidate.kept > 0 && !need.fresh;
    room >= enough || stays
}

fn most_clusters(need: &Need) -> Option<u32> {
    let divided = need.class != Class::Duplicated && need.replicas > 0;
    let most = need.replicas.checked_div(need.per_cluster_min)?;
    divided.then_some(most.max(1))
}

fn level(groups: impl Iterator<Item = u32>, min: u32, max: Option<u32>) -> Level {
    let given: Vec<u32> = groups.collect();
    // Of the key `cluster` each group is there once, in order.
    let (groups, count) = if given.is_sorted_by(|a, b| a < b) {
        let count = u32::try_from(given.len()).unwrap_or(u32::MAX);
        ((0..count).collect(), count)
    } else {
        let mut distinct = given.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let number = |group: &u32| distinct.binary_search(group).ok().and_then(|at| u32::try_from(at).ok());
        let groups = given.iter().map(|group| number(group).unwrap_or(0)).collect();
        (groups, u32::try_from(distinct.len()).unwrap_or(u32::MAX))
    };
    Level { min, max: max.filter(|&max| max < count), groups, count }
}
