//! What an order moves that writes placements itself, for its commit: the plan of such a commit has nothing left to move.

use crate::decide::{Placed, lines};

/// A line for each workload of which something moves: `team/app apps/Deployment/web: eu-a 3 -> 1, us-a 0 -> 2`.
#[must_use]
pub fn moves_text(before: &Placed, after: &Placed) -> String {
    let of_app = after.iter().flat_map(|(name, placed)| lines::of_app(name, before.get(name), placed));
    lines::text(&of_app.collect::<Vec<_>>())
}
