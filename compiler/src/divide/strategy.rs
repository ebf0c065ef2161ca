//! The rules of a division: strategies, what runs already, tiers, and when an increase is refused.

use std::cmp::Reverse;

use super::bounds::{Bound, bounds, kept, limit};
use super::duplicated::duplicate;
use super::reason::Reason;
use super::webster::{Party, webster};

/// How replicas are divided (`replicas.strategy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Every cluster runs all replicas.
    Duplicated,
    /// In proportion to stated weights.
    StaticWeight,
    /// In proportion to room, own replicas counted as free.
    DynamicWeight,
    /// In proportion to what somebody else says ([`Candidate::weight`]); what fits is still a matter of room.
    EstimatedWeight,
    /// Over as few clusters as possible: those that hold some first, then those with most room.
    Aggregated,
}

/// What a lack of room does to a division (`replicas.capacity`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capacity {
    /// What fits runs; the rest is unplaced.
    Cap,
    /// Room is not looked at (`max` and quota are).
    Ignore,
    /// All or no increase: what is placed stays.
    Require,
}

/// What a division starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Start {
    /// Strategy and weight rules are those of the last division: only differences move.
    Steady,
    /// They changed: divided anew, own replicas counting as free. Vetoes and observed room still remove nothing.
    Anew,
    /// As if new (`rebalance`). Where that would place fewer than [`Start::Steady`], nothing moves.
    Fresh,
}

/// What a division knows of one selected cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Largest weight of the matching rules (StaticWeight; 1 if there are no rules): 0 drains the cluster. Or what an
    /// estimator says (EstimatedWeight): 0 only brings nothing new.
    pub weight: u64,
    /// Replicas that fit, its own included; `None` if no capacity is known, which counts as all replicas.
    pub room: Option<u64>,
    /// Most replicas by intent (`perCluster.max`, a rule's `max`): the only bound that removes replicas.
    pub max: Option<u32>,
    /// Most replicas the team's per-cluster quota allows, its own included. Limits growth only.
    pub quota: Option<u32>,
    /// Fewest replicas (`perCluster.min`, a rule's `min`); more than there are to place counts as all of them.
    pub floor: u32,
    /// The cluster stands for a group that `spread` requires: floor at least 1, and dropped last.
    pub witness: bool,
    /// Replicas it holds that intent still allows (no eviction, drain or displacement took them).
    pub previous: u32,
    /// No new replicas: cordoned, unhealthy, untolerated NoSchedule, API not served, ...
    pub vetoed: bool,
    /// Overflow tier: lower tiers fill first and empty last. 0 where there are none.
    pub tier: u32,
}

/// One workload to divide. Candidates are in name order.
#[derive(Debug, Clone, Copy)]
pub struct Division<'a> {
    pub strategy: Strategy,
    pub capacity: Capacity,
    pub start: Start,
    /// Replicas to place: in all, or in each cluster if Duplicated.
    pub replicas: u32,
    pub candidates: &'a [Candidate],
}

/// Who gets how many, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Replicas by candidate.
    pub seats: Vec<u32>,
    /// Wanted replicas without a place.
    pub unplaced: u32,
    /// Of the wanted replicas, how many fit. More than `seats` hold only where the increase was refused.
    pub fits: u32,
    /// [`Capacity::Require`] refused the increase; `seats` is what is placed.
    pub refused: bool,
    /// By candidate, ascending; at most one each. Where the increase was refused: what stood in its way.
    pub reasons: Vec<(usize, Reason)>,
}

/// Divides `division.replicas` over its candidates.
///
/// The sum of `seats` and `unplaced` is `replicas`, unless Duplicated. Dividing again with `seats` as `previous` and
/// [`Start::Steady`] changes nothing.
#[must_use]
pub fn divide(division: &Division<'_>) -> Outcome {
    let outcome = attempt(division);
    if division.start == Start::Fresh && outcome.unplaced > 0 {
        // Rebalancing must not stop what runs, for instance where a cluster is overdrawn.
        let steady = divide(&Division { start: Start::Steady, ..*division });
        return if steady.unplaced < outcome.unplaced { steady } else { refuse(division, outcome) };
    }
    refuse(division, outcome)
}

fn attempt(division: &Division<'_>) -> Outcome {
    if division.strategy == Strategy::Duplicated {
        return duplicate(division);
    }
    let (bounds, left_out) = bounds(division);
    let floors: Vec<u32> = bounds.iter().map(|bound| bound.floor).collect();
    let start: Vec<u32> = match division.start {
        Start::Steady => bounds.iter().map(|bound| bound.previous.max(bound.floor)).collect(),
        Start::Anew | Start::Fresh => floors.clone(),
    };
    let (seats, unplaced) = match u64::from(division.replicas).checked_sub(total(&start)) {
        Some(more) => grow(division, &bounds, start, u32::try_from(more).unwrap_or(u32::MAX)),
        None => (shrink(division, &bounds, &floors, start), 0),
    };
    let reasons = reasons(division, &bounds, &left_out, &seats);
    Outcome { fits: division.replicas - unplaced, seats, unplaced, refused: false, reasons }
}

/// Keeps what is placed if not all fit and all are required. A shrink is never refused.
fn refuse(division: &Division<'_>, outcome: Outcome) -> Outcome {
    if division.capacity != Capacity::Require || outcome.unplaced == 0 || division.strategy == Strategy::Duplicated {
        return outcome;
    }
    let placed: Vec<u32> = division.candidates.iter().map(|candidate| kept(division.strategy, candidate)).collect();
    match u64::from(division.replicas).checked_sub(total(&placed)) {
        Some(missing) => {
            let unplaced = u32::try_from(missing).unwrap_or(u32::MAX);
            Outcome { seats: placed, unplaced, refused: true, ..outcome }
        }
        None => outcome,
    }
}

/// Adds `more` replicas to `seats`, each tier filling before the next; returns how many found no place.
fn grow(division: &Division<'_>, bounds: &[Bound], mut seats: Vec<u32>, more: u32) -> (Vec<u32>, u32) {
    let mut left = more;
    for tier in tiers(bounds) {
        let members =
            if division.strategy == Strategy::Aggregated { fewest_to_grow(bounds, &tier, &seats, left) } else { tier };
        left = give(bounds, &members, &mut seats, left, |bound| bound.weight, |_, bound| bound.cap);
    }
    (seats, left)
}

/// The clusters of a tier that hold replicas, and as few others as it takes: holders first, then most room.
fn fewest_to_grow(bounds: &[Bound], tier: &[usize], seats: &[u32], more: u32) -> Vec<usize> {
    let mut open: Vec<(usize, &Bound, u32)> = tier
        .iter()
        .filter_map(|&i| Some((i, bounds.get(i)?, seats.get(i).copied()?)))
        .filter(|(_, bound, _)| bound.cap > 0)
        .collect();
    open.sort_by_key(|&(i, bound, held)| (held == 0, bound.previous == 0, Reverse(bound.cap), Reverse(bound.room), i));
    let mut missing = u64::from(more);
    let mut members = Vec::new();
    for (i, bound, held) in open {
        if held == 0 && missing == 0 {
            break;
        }
        missing = missing.saturating_sub(u64::from(bound.cap.saturating_sub(held)));
        members.push(i);
    }
    members.sort_unstable();
    members
}

/// Takes replicas from `seats` until `division.replicas` are left, from the last tier first, never below `floors`.
/// Within a tier the lower total is divided from the floors, nobody getting more than it has.
fn shrink(division: &Division<'_>, bounds: &[Bound], floors: &[u32], mut seats: Vec<u32>) -> Vec<u32> {
    let mut over = total(&seats).saturating_sub(u64::from(division.replicas));
    for tier in tiers(bounds).into_iter().rev() {
        let (held, least) = (total_of(&seats, &tier), total_of(floors, &tier));
        let remove = over.min(held.saturating_sub(least));
        if remove == 0 {
            continue;
        }
        over -= remove;
        let keep = held - remove;
        let members = if division.strategy == Strategy::Aggregated {
            fewest_to_keep(&tier, floors, &seats, keep)
        } else {
            tier.clone()
        };
        let before = seats.clone();
        for &i in &tier {
            set(&mut seats, i, at(floors, i));
        }
        let extra = u32::try_from(keep - least).unwrap_or(u32::MAX);
        let weight = |bound: &Bound| match division.strategy {
            Strategy::StaticWeight => bound.weight,
            Strategy::Duplicated | Strategy::DynamicWeight | Strategy::EstimatedWeight | Strategy::Aggregated => {
                u64::from(bound.previous)
            }
        };
        give(bounds, &members, &mut seats, extra, weight, |i, _| at(&before, i));
    }
    seats
}

/// The shortest prefix of the clusters, by (replicas desc, name), that holds `keep` together with the floors of the others.
fn fewest_to_keep(tier: &[usize], floors: &[u32], seats: &[u32], keep: u64) -> Vec<usize> {
    let mut holders: Vec<usize> = tier.to_vec();
    holders.sort_by_key(|&i| (Reverse(at(seats, i)), i));
    let mut reached = total_of(floors, tier);
    let enough = holders.iter().position(|&i| {
        reached += u64::from(at(seats, i).saturating_sub(at(floors, i)));
        reached >= keep
    });
    holders.truncate(enough.map_or(usize::MAX, |last| last.saturating_add(1)));
    holders.sort_unstable();
    holders
}

/// One run of Webster's method over some of the clusters; returns how many replicas found no place.
fn give(
    bounds: &[Bound],
    members: &[usize],
    seats: &mut [u32],
    replicas: u32,
    weight: impl Fn(&Bound) -> u64,
    cap: impl Fn(usize, &Bound) -> u32,
) -> u32 {
    let mut parties: Vec<Party> = members
        .iter()
        .filter_map(|&i| {
            let bound = bounds.get(i)?;
            Some(Party { weight: weight(bound), seats: at(seats, i), cap: cap(i, bound), room: bound.room })
        })
        .collect();
    let left = webster(replicas, &mut parties);
    for (&i, party) in members.iter().zip(&parties) {
        set(seats, i, party.seats);
    }
    left
}

/// Positions by tier, lowest tier first; positions ascending within a tier.
fn tiers(bounds: &[Bound]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..bounds.len()).collect();
    let tier = |i: usize| bounds.get(i).map_or(0, |bound| bound.tier);
    order.sort_by_key(|&i| tier(i));
    order.chunk_by(|&a, &b| tier(a) == tier(b)).map(<[usize]>::to_vec).collect()
}

fn reasons(
    division: &Division<'_>,
    bounds: &[Bound],
    left_out: &[Option<Reason>],
    seats: &[u32],
) -> Vec<(usize, Reason)> {
    let reason = |i: usize| -> Option<Reason> {
        let (candidate, bound, seats) = (division.candidates.get(i)?, bounds.get(i)?, at(seats, i));
        match left_out.get(i).copied().flatten() {
            Some(reason) => Some(reason),
            None if seats == division.replicas => None,
            None if seats >= bound.cap => Some(limit(division, candidate)),
            None if seats > 0 => None,
            None if bound.weight == 0 => Some(Reason::Full { room: candidate.room.unwrap_or(0) }),
            None => Some(idle(division, bounds, bound)),
        }
    };
    (0..bounds.len()).filter_map(|i| Some((i, reason(i)?))).collect()
}

/// Why a cluster that could take replicas got none.
fn idle(division: &Division<'_>, bounds: &[Bound], bound: &Bound) -> Reason {
    let first_tier = bounds.iter().filter(|other| other.cap > 0).map(|other| other.tier).min();
    if division.strategy == Strategy::Aggregated || first_tier.is_some_and(|tier| bound.tier > tier) {
        Reason::NotNeeded
    } else {
        Reason::Rounding
    }
}

fn total(seats: &[u32]) -> u64 {
    seats.iter().map(|&n| u64::from(n)).sum()
}

fn total_of(seats: &[u32], members: &[usize]) -> u64 {
    members.iter().map(|&i| u64::from(at(seats, i))).sum()
}

fn at(seats: &[u32], i: usize) -> u32 {
    seats.get(i).copied().unwrap_or(0)
}

fn set(seats: &mut [u32], i: usize, value: u32) {
    if let Some(seat) = seats.get_mut(i) {
        *seat = value;
    }
}
