//! From what is known of a cluster to the three numbers a division needs: floor, cap, weight.

use std::cmp::Reverse;

use super::reason::Reason;
use super::strategy::{Candidate, Capacity, Division, Start, Strategy};

/// A candidate, reduced to numbers. A cluster that is left out has floor, cap and previous 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// Relative claim, never clamped to the number of replicas.
    pub weight: u64,
    /// Seats it starts with; at most `cap`.
    pub floor: u32,
    /// Seats it may hold: at least `previous`, since vetoes and observed room never remove a replica.
    pub cap: u32,
    /// Seats it held before that intent still allows; 0 in a fresh division.
    pub previous: u32,
    /// Room including its own replicas, for ties.
    pub room: Option<u64>,
    /// Overflow tier.
    pub tier: u32,
}

/// The replicas a candidate held that intent still allows.
pub(super) fn kept(strategy: Strategy, candidate: &Candidate) -> u32 {
    if is_drained(strategy, candidate) { 0 } else { candidate.previous.min(candidate.max.unwrap_or(u32::MAX)) }
}

/// The most replicas a candidate may hold, were it new and not vetoed.
pub(super) fn cap_if_new(division: &Division<'_>, candidate: &Candidate) -> u32 {
    let room = match division.capacity {
        Capacity::Ignore => u64::MAX,
        Capacity::Cap | Capacity::Require => candidate.room.unwrap_or(u64::from(division.replicas)),
    };
    let room = u32::try_from(room).unwrap_or(u32::MAX);
    room.min(candidate.max.unwrap_or(u32::MAX)).min(candidate.quota.unwrap_or(u32::MAX))
}

/// The limit that [`cap_if_new`] or a veto sets, as a reason.
pub(super) fn limit(division: &Division<'_>, candidate: &Candidate) -> Reason {
    let cap = cap_if_new(division, candidate);
    if candidate.vetoed {
        Reason::Vetoed
    } else if let Some(max) = candidate.max.filter(|&max| max <= cap) {
        Reason::AtMax { max }
    } else if let Some(quota) = candidate.quota.filter(|&quota| quota <= cap) {
        Reason::AtQuota { quota }
    } else {
        Reason::Full { room: candidate.room.unwrap_or(u64::from(division.replicas)) }
    }
}

/// The bounds of all candidates, with the reason of each that is left out.
pub(super) fn bounds(division: &Division<'_>) -> (Vec<Bound>, Vec<Option<Reason>>) {
    let (mut bounds, mut reasons): (Vec<Bound>, Vec<Option<Reason>>) =
        division.candidates.iter().map(|candidate| bound(division, candidate)).unzip();
    drop_floors_above_total(division, &mut bounds, &mut reasons);
    (bounds, reasons)
}

/// The most replicas a division gives a candidate, whatever the others get: what selection takes for its room.
/// 0 for a cluster that is drained or, where room is the weight, has none.
#[must_use]
pub fn most_replicas(division: &Division<'_>, candidate: &Candidate) -> u32 {
    let (bound, _) = bound(division, candidate);
    if bound.weight == 0 { bound.floor } else { bound.cap }
}

fn bound(division: &Division<'_>, candidate: &Candidate) -> (Bound, Option<Reason>) {
    let held = kept(division.strategy, candidate);
    let previous = if division.start == Start::Fresh { 0 } else { held };
    let mut cap = cap_if_new(division, candidate);
    if candidate.vetoed {
        cap = cap.min(held);
    }
    cap = cap.max(previous);
    let mut floor = candidate.floor.max(u32::from(candidate.witness)).min(division.replicas);
    let reason = if is_drained(division.strategy, candidate) {
        Some(Reason::Drained)
    } else if cap == 0 {
        Some(limit(division, candidate))
    } else if floor > cap && held == 0 {
        Some(Reason::FloorAboveCap { floor, cap })
    } else {
        // A cluster that runs replicas is not emptied because its floor no longer fits.
        floor = floor.min(cap);
        None
    };
    let room = candidate.room;
    let weight = match division.strategy {
        Strategy::Duplicated => 1,
        Strategy::StaticWeight | Strategy::EstimatedWeight => candidate.weight,
        Strategy::DynamicWeight | Strategy::Aggregated => {
            // Where room is ignored, what runs or must run may be more than fits.
            room.unwrap_or(u64::from(division.replicas)).max(u64::from(previous.max(floor)))
        }
    };
    let selected = Bound { weight, floor, cap, previous, room, tier: candidate.tier };
    if reason.is_some() { (left_out(selected), reason) } else { (selected, None) }
}

fn is_drained(strategy: Strategy, candidate: &Candidate) -> bool {
    strategy == Strategy::StaticWeight && candidate.weight == 0
}

fn left_out(bound: Bound) -> Bound {
    Bound { weight: 0, floor: 0, cap: 0, previous: 0, ..bound }
}

/// Leaves out clusters whose floor is more than what the floors ranked before it leave of the total. Ranked first are the clusters a
/// required group needs, then those that hold most, so that the next division ranks them alike; then tier, weight, room, name.
fn drop_floors_above_total(division: &Division<'_>, bounds: &mut [Bound], reasons: &mut [Option<Reason>]) {
    let mut ranked: Vec<usize> = (0..bounds.len()).collect();
    ranked.sort_by_key(|&i| {
        let witness = division.candidates.get(i).is_some_and(|candidate| candidate.witness);
        bounds.get(i).map(|b| (!witness, Reverse(b.previous), b.tier, Reverse(b.weight), Reverse(b.room), i))
    });
    let mut left = division.replicas;
    for i in ranked {
        let (Some(bound), Some(reason)) = (bounds.get_mut(i), reasons.get_mut(i)) else { continue };
        match left.checked_sub(bound.floor) {
            Some(rest) => left = rest,
            None => {
                *reason = Some(Reason::FloorsAboveTotal { floor: bound.floor });
                *bound = left_out(*bound);
            }
        }
    }
}
