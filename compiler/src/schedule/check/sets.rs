//! The parts of a set are in the same clusters, and come to a cluster all together.

use std::collections::BTreeSet;

use super::facts::{AppFacts, Inputs, WorkloadFacts};
use crate::base::ClusterId;
use crate::model::Share;

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    let of_sets = |facts: &WorkloadFacts<'_>| facts.workload.part.as_ref().map(|_| facts.workload.object);
    for parts in app.workloads.chunk_by(|a, b| of_sets(a).is_some() && of_sets(a) == of_sets(b)) {
        let Some(first) = parts.first().filter(|first| of_sets(first).is_some()) else { continue };
        let mut wrong = |what: String| violations.push(format!("{}: {what}", inputs.name(app, first.workload)));
        let clusters: BTreeSet<ClusterId> = parts.iter().flat_map(|facts| facts.after.keys().copied()).collect();
        if first.workload.share != Share::Everywhere && clusters.len() > 1 {
            wrong(format!("a set in {} clusters", clusters.len()));
        }
        for cluster in clusters {
            let was_there = parts.iter().any(|facts| facts.before.contains_key(&cluster));
            let whole = |facts: &WorkloadFacts<'_>| facts.after.get(&cluster).copied().unwrap_or(0) == facts.wanted();
            if !was_there && !parts.iter().all(whole) {
                wrong(format!("a part of a set comes to cluster {}", inputs.cluster(cluster)));
            }
        }
    }
}
