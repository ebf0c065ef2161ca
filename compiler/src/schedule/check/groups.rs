//! Groups: apps of a team that share their clusters, or share none.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::facts::{AppFacts, Inputs};
use crate::base::{AppId, ClusterId, SmolStr};
use crate::model::{ClusterSet, Fleet, Placement};
use crate::schedule::Deficit;

/// The groups of the fleet: by app, all members in the order of scheduling.
pub(super) struct Groups {
    together: BTreeMap<AppId, Vec<AppId>>,
    apart: BTreeMap<AppId, Vec<AppId>>,
}

impl Groups {
    pub fn new(fleet: &Fleet) -> Self {
        Self {
            together: by_app(fleet, |placement| placement.affinity.as_ref()),
            apart: by_app(fleet, |placement| placement.anti_affinity.as_ref()),
        }
    }
}

fn by_app(fleet: &Fleet, key: fn(&Placement) -> Option<&SmolStr>) -> BTreeMap<AppId, Vec<AppId>> {
    let group = |id: AppId| {
        let app = fleet.app(id);
        let key = key(&app.placement)?;
        Some((app.team, key, app.labels.get(key)?))
    };
    let mut groups: BTreeMap<_, Vec<AppId>> = BTreeMap::new();
    for id in fleet.app_ids() {
        if let Some(group) = group(id) {
            groups.entry(group).or_default().push(id);
        }
    }
    let mut by_app = BTreeMap::new();
    for mut members in groups.into_values().filter(|members| members.len() > 1) {
        members.sort_by_key(|id| (Reverse(fleet.app(*id).priority), *id));
        by_app.extend(members.iter().map(|id| (*id, members.clone())));
    }
    by_app
}

fn used(inputs: &Inputs<'_>, id: AppId) -> ClusterSet {
    let Some(target) = inputs.target.apps.get(id.index()) else { return ClusterSet::empty() };
    if inputs.fleet.app(id).workloads.iter().all(|workload| workload.replicas == 0) {
        return target.clusters.clone();
    }
    target.seats.iter().map(|seat| seat.cluster).collect()
}

/// Whether an app may be in a cluster as far as its groups go.
pub(super) fn stays(inputs: &Inputs<'_>, id: AppId, cluster: ClusterId) -> bool {
    is_with_group(inputs, id, cluster) && !comes_after_another(inputs, id, cluster)
}

/// Whether the group that an app shares its clusters with is in a cluster, or for the first of them may be.
fn is_with_group(inputs: &Inputs<'_>, id: AppId, cluster: ClusterId) -> bool {
    let Some(members) = inputs.groups.together.get(&id) else { return true };
    match members.first() {
        Some(leader) if *leader != id => {
            let target = inputs.target.apps.get(leader.index());
            target.is_none_or(|target| target.clusters.is_empty() || target.clusters.contains(cluster))
        }
        _ => members.iter().all(|member| inputs.fleet.app(*member).placement.candidates.contains(cluster)),
    }
}

/// Whether an app may leave its clusters because its group gathers elsewhere: it is the first of a group that was not
/// together. Of the others see [`ran_apart`].
pub(super) fn gathers(inputs: &Inputs<'_>, facts: &AppFacts<'_>) -> bool {
    let Some(members) = inputs.groups.together.get(&facts.id).filter(|group| group.first() == Some(&facts.id)) else {
        return false;
    };
    let ran = |id: AppId| {
        let placed = inputs.placed(id);
        let seats = placed.into_iter().flat_map(|app| app.workloads.values()).flat_map(|w| &w.seats);
        seats.map(|seat| seat.cluster.clone()).collect::<Vec<_>>()
    };
    let own = inputs.placed(facts.id).map(|placed| placed.clusters.as_slice()).unwrap_or_default();
    own.is_empty() || members.iter().any(|member| ran(*member).iter().any(|cluster| !own.contains(cluster)))
}

/// Whether an app was in a cluster where the first of those that share its clusters was not: it has to leave that, and the first
/// may come there for the room that this leaves.
pub(super) fn ran_apart(inputs: &Inputs<'_>, id: AppId, cluster: ClusterId) -> bool {
    let leader = inputs.groups.together.get(&id).and_then(|members| members.first()).filter(|leader| **leader != id);
    let there =
        |leader: &AppId| inputs.placed(*leader).is_some_and(|placed| placed.clusters.contains(inputs.cluster(cluster)));
    leader.is_some_and(|leader| !there(leader))
}

/// Whether an earlier one of those that share no cluster is in it.
fn comes_after_another(inputs: &Inputs<'_>, id: AppId, cluster: ClusterId) -> bool {
    let members = inputs.groups.apart.get(&id).into_iter().flatten();
    members.take_while(|member| **member != id).any(|member| used(inputs, *member).contains(cluster))
}

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    if !inputs.groups.together.contains_key(&app.id) && !inputs.groups.apart.contains_key(&app.id) {
        return;
    }
    let reported = |kind: bool| {
        app.target.deficits.iter().any(|deficit| matches!(deficit, Deficit::Group { anti, .. } if *anti == kind))
    };
    let name = || inputs.fleet.app_name(app.id);
    for cluster in used(inputs, app.id).iter() {
        let cluster_name = inputs.cluster(cluster);
        if !is_with_group(inputs, app.id, cluster) && !reported(false) {
            violations.push(format!("{}: in cluster {cluster_name} without its group", name()));
        }
        if comes_after_another(inputs, app.id, cluster) && !reported(true) {
            violations.push(format!("{}: in cluster {cluster_name} with another of its group", name()));
        }
        let others = inputs.groups.apart.get(&app.id).into_iter().flatten().filter(|member| **member != app.id);
        let shared = others.into_iter().any(|member| used(inputs, *member).contains(cluster));
        let came = app.workloads.iter().any(|w| w.after.contains_key(&cluster) && !w.before.contains_key(&cluster));
        if shared && came {
            violations.push(format!("{}: comes to cluster {cluster_name}, where another of its group is", name()));
        }
    }
}
