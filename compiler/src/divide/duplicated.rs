//! Duplicated: every selected cluster runs all replicas, or goes without.

use super::bounds::{cap_if_new, kept, limit};
use super::reason::Reason;
use super::strategy::{Division, Outcome};

/// All replicas in each cluster that can take them. A cluster that runs a copy and can take no more keeps what it has; one that
/// runs none is left out. Floors, weights, tiers and `start` make no difference.
///
/// `unplaced` counts the missing replicas of clusters that keep an old copy, or one whole copy if no cluster takes any.
pub(super) fn duplicate(division: &Division<'_>) -> Outcome {
    let wanted = division.replicas;
    let mut reasons = Vec::new();
    let mut missing = 0_u32;
    let seats: Vec<u32> = division
        .candidates
        .iter()
        .enumerate()
        .map(|(position, candidate)| {
            let held = kept(division.strategy, candidate);
            let cap = if candidate.vetoed { 0 } else { cap_if_new(division, candidate) };
            if cap.max(held) >= wanted {
                return wanted;
            }
            reasons.push((position, reason(division, position, cap)));
            if held > 0 {
                missing = missing.saturating_add(wanted - held);
            }
            held
        })
        .collect();
    if wanted > 0 && seats.iter().all(|&n| n == 0) {
        missing = wanted;
    }
    Outcome { seats, unplaced: missing, fits: wanted.saturating_sub(missing), refused: false, reasons }
}

fn reason(division: &Division<'_>, position: usize, cap: u32) -> Reason {
    match division.candidates.get(position).map(|candidate| limit(division, candidate)) {
        Some(Reason::Vetoed) => Reason::Vetoed,
        Some(limit @ (Reason::AtMax { .. } | Reason::AtQuota { .. })) => limit,
        _ => Reason::TotalAboveCap { cap },
    }
}
