//! No team asks for more than its quota because of an increase.

use std::collections::BTreeMap;

use super::facts::{AppFacts, Inputs, WorkloadFacts, sum};
use crate::base::{ClusterId, SmolStr};
use crate::kinds::counted;
use crate::kinds::pod::PodFacts;
use crate::model::{Object, Quota};

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
    let of_objects = counted::is_of_objects(resource);
    if of_objects {
        objects(inputs, apps, (team, quota, resource, hard), violations);
    }
    // What objects ask for beside pods; those that came with a move were never refused.
    let (mut used, mut moved) = (0_i128, 0_i128);
    for app in apps.iter().filter(|_| of_objects) {
        for cluster in quota.clusters.iter() {
            let counts = in_cluster(inputs, app, cluster, resource);
            used += counts;
            moved += if ran(inputs, app, cluster) { 0 } else { counts };
        }
    }
    let mut grown: Option<&AppFacts<'_>> = None;
    for app in apps {
        let (mut before, mut after, mut grows) = (0_i128, 0_i128, false);
        for (index, facts) in app.workloads.iter().enumerate() {
            let (ran, runs) = match inputs.leads_to(app, facts) {
                None => (facts.before.clone(), facts.after.clone()),
                // Between two steps of a move: what it has at the end; in a single cluster what it has at either end.
                Some(mut end) => {
                    if quota.of_cluster.is_some() {
                        for (cluster, now) in &facts.after {
                            let there = end.entry(*cluster).or_default();
                            *there = (*now).max(*there);
                        }
                    }
                    (end.clone(), end)
                }
            };
            let count = |seats: &BTreeMap<ClusterId, u32>| {
                let counted = counts_as(inputs, app, (index, facts), seats);
                let counted = counted.iter().filter(|(cluster, _)| quota.clusters.contains(**cluster));
                counted.map(|(cluster, n)| amount(inputs, app, facts, index, (*cluster, *n), resource)).sum::<i128>()
            };
            let (was, is) = (count(&ran), count(&runs));
            // What comes to a cluster is more in it, wherever it comes from. The bounds of an autoscaler that leaves another
            // cluster grow in those that stay, and no replica comes.
            let comes = quota.of_cluster.is_some_and(|cluster| runs.get(&cluster) > ran.get(&cluster));
            grows |= is > was && (comes || sum(&runs) > sum(&ran));
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

/// What counts of a workload in each cluster: its replicas, or what its autoscaler may have there.
fn counts_as(
    inputs: &Inputs<'_>,
    app: &AppFacts<'_>,
    (index, facts): (usize, &WorkloadFacts<'_>),
    seats: &BTreeMap<ClusterId, u32>,
) -> BTreeMap<ClusterId, u32> {
    let Some(autoscaled) = facts.workload.autoscaled else { return seats.clone() };
    let replicas: Vec<u32> = seats.values().copied().collect();
    let bounds = autoscaled.bounds(&replicas, facts.is_copied());
    let variants = &inputs.variants.apps[app.id.index()];
    let of = |(cluster, share): (&ClusterId, (u32, u32))| {
        let (min, max) = variants.of(*cluster).workloads[index].bounds.unwrap_or(share);
        (*cluster, if autoscaled.policy.counts_max { max } else { min })
    };
    seats.keys().zip(bounds).map(of).collect()
}

/// The same for objects: what is in a cluster of the quota counts, each by itself. An app that was there may have other
/// objects than it had, which no record tells: only one that comes to a cluster is held against it.
fn objects(
    inputs: &Inputs<'_>,
    apps: &[&AppFacts<'_>],
    (team, quota, resource, hard): (&SmolStr, &Quota, &SmolStr, i128),
    violations: &mut Vec<String>,
) {
    let mut used = 0_i128;
    let mut came: Option<&AppFacts<'_>> = None;
    for app in apps {
        for cluster in quota.clusters.iter() {
            let of_pods = app.workloads.iter().enumerate().map(|(index, facts)| {
                let counted = counts_as(inputs, app, (index, facts), &facts.after);
                counted.get(&cluster).map_or(0, |n| amount(inputs, app, facts, index, (cluster, *n), resource))
            });
            let count = in_cluster(inputs, app, cluster, resource) + of_pods.sum::<i128>();
            used += count;
            if count > 0 && !ran(inputs, app, cluster) {
                came = Some(app);
            }
        }
    }
    // A move takes its objects along; in all clusters together nothing is more then.
    if let Some(app) = came.filter(|_| used > hard && quota.of_cluster.is_some()) {
        violations.push(format!(
            "{}: team {team} has {used} of {resource}, its quota is {hard}",
            inputs.fleet.app_name(app.id)
        ));
    }
}

/// Whether an app was in a cluster before.
fn ran(inputs: &Inputs<'_>, app: &AppFacts<'_>, cluster: ClusterId) -> bool {
    app.placed.is_some_and(|placed| placed.clusters.contains(inputs.cluster(cluster)))
        || app.workloads.iter().any(|w| w.before.contains_key(&cluster))
}

/// What the objects of an app in a cluster count, but for what is made for its pods.
fn in_cluster(inputs: &Inputs<'_>, app: &AppFacts<'_>, cluster: ClusterId, resource: &SmolStr) -> i128 {
    let idle = app.app.workloads.iter().all(|workload| workload.replicas == 0);
    let runs = app.workloads.iter().any(|w| w.after.contains_key(&cluster));
    if !(if idle { app.target.clusters.contains(cluster) } else { runs }) {
        return 0;
    }
    let there = |(index, object): &(usize, &Object)| {
        let members = || app.workloads.iter().filter(|w| w.workload.object == *index);
        let wanted = members().any(|w| w.wanted() > 0);
        let there = !wanted || members().any(|w| w.after.contains_key(&cluster));
        let allowed = object.only.as_ref().is_none_or(|only| only.contains(cluster));
        there && (allowed || wanted)
    };
    let counts = |(index, object): (usize, &Object)| match counted::objects(resource) {
        Some(plural) => i128::from(object.resource == plural),
        None => {
            let all = &inputs.variants.apps[app.id.index()].of(cluster).counted;
            all.iter().filter(|(of, _)| *of == index).map(|(_, counts)| counts.get(resource)).sum()
        }
    };
    app.app.objects.iter().enumerate().filter(there).map(counts).sum()
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
        ("pods" | "count/pods", _) => 1,
        (_, None) => 0,
        (name, Some(pod)) if counted::is_of_objects(name) => {
            pod.claims.get(if name == "count/persistentvolumeclaims" { counted::CLAIMS } else { name })
        }
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
