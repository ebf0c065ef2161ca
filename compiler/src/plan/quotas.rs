//! ResourceQuotas to generate: what a team may ask for in each cluster by itself, kept there too.
//!
//! A ResourceQuota holds in one namespace. A team with several gets it in each of them: none may exceed by itself what all
//! together may ask for, which a compile has checked. A namespace that another team uses as well gets none, since it would
//! count that team's pods.

use std::collections::{BTreeMap, BTreeSet};

use super::{AppPlan, PlannedQuota};
use crate::base::quantity::amount_text;
use crate::base::{ClusterId, SmolStr, Span, TeamId};
use crate::model::{Fleet, Quota, Team};

/// By cluster, namespace and name.
pub(super) fn quotas(fleet: &Fleet, plans: &[AppPlan]) -> Vec<PlannedQuota> {
    let per_cluster = |team: &Team| team.quota.iter().any(|quota| quota.of_cluster.is_some());
    if !fleet.teams.iter().any(|team| per_cluster(team)) {
        return Vec::new();
    }
    let mut used: BTreeMap<(ClusterId, &SmolStr), BTreeSet<TeamId>> = BTreeMap::new();
    let mut written: BTreeSet<(ClusterId, &SmolStr, &SmolStr)> = BTreeSet::new();
    for (app, plan) in fleet.apps.iter().zip(plans) {
        for planned in &plan.objects {
            let Some(key) = app.objects.get(planned.object as usize).map(|object| &object.key) else { continue };
            let Some(namespace) = &key.namespace else { continue };
            used.entry((planned.cluster, namespace)).or_default().insert(app.team);
            if key.kind == "ResourceQuota" && key.group.is_empty() {
                written.insert((planned.cluster, namespace, &key.name));
            }
        }
    }
    let mut quotas = Vec::new();
    for ((cluster, namespace), teams) in used {
        let (Some(team), 1) = (teams.first().map(|id| fleet.team(*id)), teams.len()) else { continue };
        for (name, quota) in of_cluster(team, cluster) {
            if !written.contains(&(cluster, namespace, &name)) {
                let text = |(resource, amount): (&SmolStr, &i128)| {
                    (resource.clone(), SmolStr::from(amount_text(resource, *amount)))
                };
                let hard = quota.hard.iter().map(text).collect();
                quotas.push(PlannedQuota { cluster, namespace: namespace.clone(), name, hard });
            }
        }
    }
    quotas.sort();
    quotas
}

/// The quotas of a cluster with their names: `fleetwright-shop`, `fleetwright-shop-2`, numbered in the order of the file
/// over all clusters, so that a name means one quota everywhere.
fn of_cluster(team: &Team, cluster: ClusterId) -> impl Iterator<Item = (SmolStr, &Quota)> {
    let mut spans: Vec<Span> = team.quota.iter().filter(|q| q.of_cluster.is_some()).map(|quota| quota.span).collect();
    spans.dedup();
    team.quota.iter().filter(move |quota| quota.of_cluster == Some(cluster)).map(move |quota| {
        let number = spans.iter().position(|span| *span == quota.span).unwrap_or(0) + 1;
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        (format!("fleetwright-{}{suffix}", team.name).into(), quota)
    })
}
