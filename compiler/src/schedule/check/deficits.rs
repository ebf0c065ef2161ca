//! What is missing is reported, and what is reported is missing.

use super::facts::{AppFacts, Inputs, WorkloadFacts, sum};
use crate::base::workload_numbers;
use crate::schedule::Deficit;

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    let deficits = &app.target.deficits;
    // A refused increase and a constraint that cannot be met say themselves why replicas are missing.
    let explained = deficits.iter().any(|d| matches!(d, Deficit::Quota { .. } | Deficit::Spread { .. }));
    for (number, facts) in workload_numbers().zip(&app.workloads) {
        let reported = deficits.iter().find_map(|deficit| match deficit {
            Deficit::Unplaced { workload, replicas, wanted, displaced } if *workload == number => {
                Some((*replicas, *wanted, *displaced))
            }
            _ => None,
        });
        let missing = missing(facts);
        let mut wrong = |what: String| violations.push(format!("{}: {what}", inputs.name(app, facts.workload)));
        match reported {
            None if missing > 0 && !explained => wrong(format!("{missing} replicas are missing and nothing says so")),
            None => {}
            Some((replicas, wanted, displaced)) => {
                if wanted != facts.wanted() || displaced > replicas {
                    wrong(format!("reported as {replicas} of {wanted} unplaced, {displaced} displaced"));
                }
                if u64::from(replicas) > missing || (!explained && u64::from(replicas) != missing) {
                    wrong(format!("{replicas} replicas are reported as unplaced, {missing} are"));
                }
            }
        }
    }
    for deficit in deficits {
        if !is_true(inputs, app, deficit) {
            violations.push(format!("{}: a deficit that is none: {deficit:?}", inputs.fleet.app_name(app.id)));
        }
    }
}

/// Replicas that are not where they should be.
fn missing(facts: &WorkloadFacts<'_>) -> u64 {
    let wanted = u64::from(facts.wanted());
    if facts.is_daemon() {
        0
    } else if facts.is_copied() {
        let lacking = facts.after.values().map(|n| wanted.saturating_sub(u64::from(*n))).sum();
        if facts.after.is_empty() { wanted } else { lacking }
    } else {
        wanted.saturating_sub(sum(&facts.proper))
    }
}

fn is_true(inputs: &Inputs<'_>, app: &AppFacts<'_>, deficit: &Deficit) -> bool {
    match deficit {
        Deficit::Unplaced { workload, replicas, .. } => usize::from(*workload) < app.workloads.len() && *replicas > 0,
        Deficit::Spread { topology_key, have, min, greedy: _ } => {
            let spread = app.app.placement.spread.iter().find(|spread| spread.key.as_str() == topology_key);
            spread.is_some_and(|spread| spread.min == *min && have <= min)
        }
        Deficit::Quota { .. } => deficit.refusals().all(|(cluster, resource, used, more, hard)| {
            let quotas = inputs.fleet.team(app.app.team).quota.iter().filter(|quota| quota.of_cluster == cluster);
            let stated = quotas.into_iter().any(|quota| quota.hard.get(resource) == Some(&hard));
            stated && more > 0 && used + more > hard
        }),
        Deficit::GaveWay { workload, to, cluster, replicas } => {
            let short = app.target.deficits.iter().any(|deficit| {
                matches!(deficit, Deficit::Unplaced { workload: of, replicas: all, .. } if of == workload && all >= replicas)
            });
            let there = inputs.target.apps.get(to.index()).is_some_and(|to| {
                to.clusters.contains(*cluster) || to.seats.iter().any(|seat| seat.cluster == *cluster)
            });
            let asks = inputs.fleet.app(*to);
            let may_ask = asks.preempts && asks.priority > app.app.priority;
            *replicas > 0 && short && there && may_ask
        }
        Deficit::Group { clusters, anti, .. } => {
            let key = &app.app.placement;
            let grouped = if *anti { &key.anti_affinity } else { &key.affinity };
            *clusters > 0 && grouped.is_some()
        }
        Deficit::NoWeightMatches { workload } => app.workloads.get(usize::from(*workload)).is_some_and(|facts| {
            facts.workload.policy.weights.is_some() && facts.proper.is_empty() && facts.wanted() > 0
        }),
    }
}
