//! Against brute force: every subset of a small fleet, judged by the stated order of wishes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy as Generate, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Candidate, Class, Constraint, Failure, Need, select};

/// Zone, room, replicas kept, tier, whether it is in the set.
type Row = (u32, Option<u64>, Option<u32>, u32, bool);

/// Keys provider > region > zone > cluster that nest by construction: each cluster draws its zone, the zone its region, ...
fn a_fleet() -> impl Generate<Value = Vec<Candidate>> {
    let cluster = (0_u32..5, option::weighted(0.9, 0_u64..9), option::weighted(0.4, 1_u32..5), 0_u32..2, any::<bool>());
    (vec(cluster, 0..7), vec(0_u32..3, 5), vec(0_u32..2, 3), any::<bool>()).prop_map(
        |(rows, regions, providers, tiered)| {
            let candidate = |(i, (zone, room, kept, tier, held)): (usize, Row)| {
                let region = regions[zone as usize];
                let groups = vec![Some(providers[region as usize]), Some(region), Some(zone), Some(i as u32)];
                let kept = kept.unwrap_or(0);
                Candidate {
                    room: room.map(|room| room.max(u64::from(kept))),
                    held: held || kept > 0,
                    kept,
                    pinned: false,
                    weight: 1,
                    tier: if tiered { tier } else { 0 },
                    groups,
                }
            };
            rows.into_iter().enumerate().map(candidate).collect()
        },
    )
}

fn a_constraint() -> impl Generate<Value = Constraint> {
    (0_u32..4, option::of(1_u32..5)).prop_map(|(min, max)| Constraint { min, max })
}

fn a_class() -> impl Generate<Value = Class> {
    prop_oneof![Just(Class::Duplicated), Just(Class::Widest), Just(Class::Fewest)]
}

fn crossing(rows: &[(u32, u32, u64, u32)]) -> Vec<Candidate> {
    let candidate = |(i, &(a, b, room, kept)): (usize, &(u32, u32, u64, u32))| Candidate {
        room: Some(room.max(u64::from(kept))),
        held: kept > 0,
        kept,
        pinned: false,
        weight: 1,
        tier: 0,
        groups: vec![Some(a), Some(b), Some(i as u32)],
    };
    rows.iter().enumerate().map(candidate).collect()
}

struct Judge<'a> {
    candidates: &'a [Candidate],
    constraints: &'a [Constraint],
    need: &'a Need,
}

impl Judge<'_> {
    fn room(&self, i: usize) -> u64 {
        self.candidates[i].room.unwrap_or(u64::from(self.need.replicas))
    }

    fn rooms(&self, set: &[usize]) -> u64 {
        set.iter().map(|&i| self.room(i)).sum()
    }

    fn kept(&self, i: usize) -> u32 {
        if self.need.fresh { 0 } else { self.candidates[i].kept }
    }

    fn eligible(&self, i: usize) -> bool {
        let least = if self.need.class == Class::Duplicated { u64::from(self.need.replicas) } else { 1 };
        self.room(i) >= least || self.kept(i) > 0
    }

    fn held(&self) -> Vec<usize> {
        (0..self.candidates.len())
            .filter(|&i| !self.need.fresh && self.candidates[i].held && self.eligible(i))
            .collect()
    }

    fn groups(&self, set: &[usize], key: usize) -> BTreeSet<u32> {
        set.iter().filter_map(|&i| self.candidates[i].groups[key]).collect()
    }

    fn satisfies(&self, set: &[usize]) -> bool {
        !set.is_empty()
            && self.constraints.iter().enumerate().all(|(key, constraint)| {
                let count = self.groups(set, key).len();
                let enough = self.need.class == Class::Duplicated || self.need.replicas >= constraint.min;
                enough && count >= constraint.min as usize && constraint.max.is_none_or(|max| count <= max as usize)
            })
    }

    fn unplaced(&self, set: &[usize]) -> u64 {
        if self.need.class == Class::Duplicated {
            return 0;
        }
        u64::from(self.need.replicas).saturating_sub(self.rooms(set))
    }

    /// Holders in the order in which they shall stay.
    fn keep_order(&self) -> Vec<usize> {
        let mut holders = self.held();
        let mut keys = Vec::new();
        for (key, constraint) in self.constraints.iter().enumerate() {
            if constraint.max.is_some_and(|max| self.groups(&holders, key).len() > max as usize) {
                keys.push(key);
            }
        }
        let eligible: Vec<usize> = (0..self.candidates.len()).filter(|&i| self.eligible(i)).collect();
        keys.sort_by_key(|&key| self.groups(&eligible, key).len());
        let of_group = |key: usize, i: usize| {
            let group = self.candidates[i].groups[key];
            let same = self.held().into_iter().filter(|&j| self.candidates[j].groups[key] == group);
            (Reverse(same.map(|j| self.kept(j)).sum::<u32>()), group)
        };
        holders
            .sort_by_key(|&i| (keys.iter().map(|&key| of_group(key, i)).collect::<Vec<_>>(), Reverse(self.kept(i)), i));
        holders
    }

    /// Best sets, by everything but names.
    fn best(&self) -> Vec<Vec<usize>> {
        let eligible: Vec<usize> = (0..self.candidates.len()).filter(|&i| self.eligible(i)).collect();
        let mut sets: Vec<Vec<usize>> = (1_u32..1 << eligible.len())
            .map(|bits| eligible.iter().enumerate().filter(|(bit, _)| bits & 1 << bit != 0).map(|(_, &i)| i).collect())
            .filter(|set: &Vec<usize>| self.satisfies(set))
            .collect();
        narrow(&mut sets, |set| self.unplaced(set));
        for i in self.keep_order() {
            narrow(&mut sets, |set| !set.contains(&i));
        }
        let held = self.held();
        // The lowest tier that suffices, then all one can get of those below it.
        let tier = |i: usize| if self.need.class == Class::Duplicated { 0 } else { self.candidates[i].tier };
        let lowest = eligible.iter().map(|&i| tier(i)).min().unwrap_or(0);
        let last = |set: &[usize]| set.iter().filter(|i| !held.contains(i)).map(|&i| tier(i)).max().unwrap_or(lowest);
        narrow(&mut sets, last);
        let top = sets.iter().map(|set| last(set)).max().unwrap_or(lowest);
        let mut lower: Vec<usize> = eligible.iter().copied().filter(|&i| tier(i) < top).collect();
        lower.sort_by_key(|&i| (tier(i), Reverse(self.room(i)), i));
        for i in lower {
            narrow(&mut sets, |set| !set.contains(&i));
        }
        match self.need.class {
            Class::Widest => narrow(&mut sets, |set| Reverse((self.rooms(set), set.len()))),
            Class::Duplicated => narrow(&mut sets, |set| Reverse((set.len() as u64, self.rooms(set)))),
            Class::Fewest => {
                narrow(&mut sets, |set| set.len());
                narrow(&mut sets, |set| Reverse(self.rooms(set)));
            }
        }
        sets
    }
}

fn narrow<K: Ord>(sets: &mut Vec<Vec<usize>>, key: impl Fn(&[usize]) -> K) {
    let Some(best) = sets.iter().map(|set| key(set)).min() else { return };
    sets.retain(|set| key(set) == best);
}

proptest! {
    #[test]
    fn equals_brute_force_where_keys_nest(
        candidates in a_fleet(), constraints in vec(a_constraint(), 4), used in vec(any::<bool>(), 4),
        class in a_class(), replicas in 1_u32..25, fresh in any::<bool>(),
    ) {
        // A fresh Duplicated App is the one that runs.
        let fresh = fresh && class != Class::Duplicated;
        let free = Constraint { min: 1, max: None };
        let constraints: Vec<Constraint> =
            constraints.iter().zip(used).map(|(&constraint, used)| if used { constraint } else { free }).collect();
        let need = Need { replicas, per_cluster_min: 0, class, all_or_nothing: false, fresh };
        let selection = select(&candidates, &constraints, &need);
        let judge = Judge { candidates: &candidates, constraints: &constraints, need: &need };
        let held = judge.held();
        let best = judge.best();
        match selection.failure {
            Some(failure) => {
                prop_assert!(failure != Failure::SpreadNotFound);
                prop_assert!(best.is_empty(), "{:?}, but {:?}", failure, best);
                prop_assert!(selection.witnesses.is_empty());
                prop_assert!(selection.chosen.iter().all(|&i| candidates[i].held));
            }
            None if class != Class::Duplicated && judge.satisfies(&held) && judge.unplaced(&held) == 0 => {
                prop_assert_eq!(&selection.chosen, &held);
            }
            None => prop_assert!(best.contains(&selection.chosen), "{:?} is none of {:?}", selection.chosen, best),
        }
        if selection.failure.is_none() && class != Class::Duplicated {
            prop_assert!(selection.witnesses.iter().all(|i| selection.chosen.contains(i)));
            prop_assert!(selection.witnesses.len() <= replicas as usize);
            for (key, constraint) in constraints.iter().enumerate().filter(|(_, constraint)| constraint.min > 1) {
                prop_assert!(judge.groups(&selection.witnesses, key).len() >= constraint.min as usize);
            }
        }
    }

    #[test]
    fn equals_brute_force_where_keys_cross(
        rows in vec((0_u32..3, 0_u32..3, 0_u64..9, 0_u32..4), 0..7), constraints in vec(a_constraint(), 3),
        class in a_class(), replicas in 1_u32..25,
    ) {
        let candidates = crossing(&rows);
        let need = Need { replicas, per_cluster_min: 0, class, all_or_nothing: false, fresh: false };
        let selection = select(&candidates, &constraints, &need);
        let judge = Judge { candidates: &candidates, constraints: &constraints, need: &need };
        let (held, best) = (judge.held(), judge.best());
        match selection.failure {
            None if class != Class::Duplicated && judge.satisfies(&held) && judge.unplaced(&held) == 0 => {
                prop_assert_eq!(&selection.chosen, &held);
            }
            None => prop_assert!(best.contains(&selection.chosen), "{:?} is none of {:?}", selection.chosen, best),
            // Crossing groups may need more witnesses than there are replicas.
            Some(Failure::SpreadNotFound) => prop_assert!(replicas < 8),
            Some(failure) => prop_assert!(best.is_empty(), "{:?}, but {:?}", failure, best),
        }
    }

    #[test]
    fn greedy_never_breaks_a_constraint(
        rows in vec((0_u32..4, 0_u32..4, 1_u64..9, 0_u32..4), 13..20), constraints in vec(a_constraint(), 3),
        class in a_class(), replicas in 1_u32..60,
    ) {
        let candidates = crossing(&rows);
        let need = Need { replicas, per_cluster_min: 0, class, all_or_nothing: false, fresh: false };
        let selection = select(&candidates, &constraints, &need);
        let judge = Judge { candidates: &candidates, constraints: &constraints, need: &need };
        if selection.failure.is_none() {
            prop_assert!(judge.satisfies(&selection.chosen), "{:?}", selection);
        }
    }

    #[test]
    fn selecting_again_keeps_the_set(
        candidates in a_fleet(), constraints in vec(a_constraint(), 4), class in a_class(), replicas in 1_u32..25,
    ) {
        let need = Need { replicas, per_cluster_min: 0, class, all_or_nothing: false, fresh: false };
        let first = select(&candidates, &constraints, &need);
        let mut again = candidates;
        for (i, candidate) in again.iter_mut().enumerate() {
            candidate.held = first.chosen.contains(&i);
            candidate.kept = if candidate.held { candidate.kept } else { 0 };
        }
        let second = select(&again, &constraints, &need);
        prop_assert_eq!(second.chosen, first.chosen);
        prop_assert_eq!(second.failure.is_some(), first.failure.is_some());
    }
}
