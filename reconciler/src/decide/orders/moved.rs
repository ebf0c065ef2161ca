//! What an order moves that writes placements itself, for its commit: the plan of such a commit has nothing left to move.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::placements::PlacedApp;

/// Placements by (team, app).
type Placed = BTreeMap<(SmolStr, SmolStr), PlacedApp>;

/// Lines that a message holds.
const LINES: usize = 100;

/// A line for each workload of which something moves: `team/app apps/Deployment/web: eu-a 3 -> 1, us-a 0 -> 2`.
#[must_use]
pub fn moves_text(before: &Placed, after: &Placed) -> String {
    let mut lines = Vec::new();
    for (name, placed) in after {
        let was = before.get(name);
        let keys = placed.workloads.keys().chain(was.into_iter().flat_map(|was| was.workloads.keys()));
        let keys: BTreeSet<&SmolStr> = keys.collect();
        for key in keys {
            let (was, is) = (counts(was, key), counts(Some(placed), key));
            let clusters: BTreeSet<&SmolStr> = was.keys().chain(is.keys()).copied().collect();
            let count = |of: &BTreeMap<&SmolStr, u64>, cluster| of.get(cluster).copied().unwrap_or(0);
            let moves = clusters.into_iter().map(|cluster| (cluster, count(&was, cluster), count(&is, cluster)));
            let moves: Vec<String> = moves
                .filter(|(_, was, is)| was != is)
                .map(|(cluster, was, is)| format!("{cluster} {was} -> {is}"))
                .collect();
            if !moves.is_empty() {
                lines.push(format!("{}/{} {key}: {}", name.0, name.1, moves.join(", ")));
            }
        }
    }
    let mut text = String::new();
    for line in lines.iter().take(LINES) {
        let _ = writeln!(text, "{line}");
    }
    if lines.len() > LINES {
        let _ = writeln!(text, "and {} more", lines.len() - LINES);
    }
    text
}

fn counts<'p>(placed: Option<&'p PlacedApp>, workload: &SmolStr) -> BTreeMap<&'p SmolStr, u64> {
    let mut counts: BTreeMap<&SmolStr, u64> = BTreeMap::new();
    for seat in placed.and_then(|placed| placed.workloads.get(workload)).into_iter().flat_map(|of| &of.seats) {
        *counts.entry(&seat.cluster).or_default() += u64::from(seat.replicas);
    }
    counts
}
