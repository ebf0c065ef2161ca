//! No team asks for more than its quota because of an increase.

use super::facts::{AppFacts, Inputs, WorkloadFacts, sum};
use crate::base::{ClusterId, SmolStr};
use crate::kinds::pod::PodFacts;
use crate::model::Quota;

pub(super) fn check(inputs: &Inputs<'_>, apps: &[AppFacts<'_>], violations: &mut Vec<String>) {
    for (index, team) in inputs.fleet.teams.iter().enumerate() {
        let apps: Vec<&AppFacts<'_>> = apps.iter().filter(|app| app.app.team.index() == index).collect();
        for quota in &team.quota {
            for (resource, hard) in &quota.hard {
                one(inputs, &apps, (&team.name, quota, resource, *hard), violations);
            }
        }
    }
}

/// What all apps ask for may exceed the quota, because it was lowered or requests grew, as long as no app that asks for
/// more replicas than it had adds to it. Moves between clusters are never refused.
fn one(
    inputs: &Inputs<'_>,
    apps: &[&AppFacts<'_>],
    (team, quota, resource, hard): (&SmolStr, &Quota, &SmolStr, i128),
    violations: &mut Vec<String>,
) {
    let (mut used, mut moved) = (0_i128, 0_i128);
    let mut grown: Option<&AppFacts<'_>> = None;
    for app in apps {
        let (mut before, mut after, mut grows) = (0_i128, 0_i128, false);
        for (index, facts) in app.workloads.iter().enumerate() {
            let count = |seats: &std::collections::BTreeMap<ClusterId, u32>| {
                let counted = seats.iter().filter(|(cluster, _)| quota.clusters.contains(**cluster));
                counted.map(|(cluster, n)| amount(inputs, app, facts, index, (*cluster, *n), resource)).sum::<i128>()
            };
            let (was, is) = (count(&facts.before), count(&facts.after));
            grows |= is > was && sum(&facts.after) > sum(&facts.before);
            before += was;
            after += is;
        }
        used += after;
        if after > before && grows {
            grown = Some(app);
        } else {
            moved += (after - before).max(0);
        }
    }
    if let Some(app) = grown.filter(|_| used > hard + moved) {
        violations.push(format!(
            "{}: team {team} asks for {used} of {resource}, its quota is {hard}",
            inputs.fleet.app_name(app.id)
        ));
    }
}

fn amount(
    inputs: &Inputs<'_>,
    app: &AppFacts<'_>,
    facts: &WorkloadFacts<'_>,
    index: usize,
    (cluster, replicas): (ClusterId, u32),
    resource: &SmolStr,
) -> i128 {
    let pod = inputs.pod(app, index, cluster);
    let pods = if facts.is_daemon() {
        nodes(inputs, pod, cluster)
    } else {
        inputs.written(app, index, cluster).unwrap_or(replicas)
    };
    let each = match (resource.as_str(), pod) {
        ("pods", _) => 1,
        (_, None) => 0,
        (name, Some(pod)) => match name.split_once('.') {
            Some(("limits", name)) => pod.limits.get(name),
            Some(("requests", name)) => pod.requests.get(name),
            _ => pod.requests.get(name),
        },
    };
    each.saturating_mul(i128::from(pods))
}

/// A DaemonSet runs on each node it may use; where those are unknown, it counts once.
fn nodes(inputs: &Inputs<'_>, pod: Option<&PodFacts>, cluster: ClusterId) -> u32 {
    let pools = &inputs.pools[cluster.index()];
    match pod.filter(|_| pools.known) {
        None => 1,
        Some(pod) => {
            let usable = inputs.usable_pools(pod, cluster);
            let nodes = usable.iter().filter_map(|at| pools.specs.get(usize::from(*at))).map(|spec| spec.nodes);
            nodes.fold(0, u32::saturating_add)
        }
    }
}
