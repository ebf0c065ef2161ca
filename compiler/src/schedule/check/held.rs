//! What a person froze, and what is on a move in steps, stays as it is recorded.

use super::facts::{AppFacts, Inputs};

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    for facts in app.workloads.iter().filter(|facts| facts.before != facts.after) {
        violations.push(format!(
            "{}: it is to stay as it is recorded, and its seats changed",
            inputs.name(app, facts.workload)
        ));
    }
}
