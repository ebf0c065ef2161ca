//! Nothing runs where it must not, and nothing new comes where it may not.

use super::facts::{AppFacts, Inputs, Standing};

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    for facts in &app.workloads {
        for (cluster, replicas) in &facts.after {
            let standing = inputs.standing_of(app, facts.workload, *cluster);
            let before = facts.before.get(cluster).copied().unwrap_or(0);
            let forbidden = standing == Standing::Forbidden;
            if forbidden || (standing > Standing::Open && *replicas > before) {
                violations.push(format!(
                    "{}: {replicas} replicas in cluster {}, which takes none (there were {before}; {standing:?})",
                    inputs.name(app, facts.workload),
                    inputs.cluster(*cluster),
                ));
            }
        }
    }
    for cluster in app.target.clusters.iter() {
        let standing = inputs.standing_in_scope(app, cluster);
        let held = app.placed.is_some_and(|placed| placed.clusters.contains(inputs.cluster(cluster)))
            || app.workloads.iter().any(|facts| facts.before.contains_key(&cluster));
        if standing == Standing::Forbidden || (standing > Standing::Open && !held) {
            violations.push(format!(
                "{}: cluster {} is selected ({standing:?})",
                inputs.fleet.app_name(app.id),
                inputs.cluster(cluster),
            ));
        }
    }
}
