//! What the quotas of the team leave to an app in one cluster.

use std::collections::BTreeMap;

use super::QuotaUse;
use crate::base::{AppId, ClusterId};
use crate::model::Fleet;
use crate::schedule::ledger::Ledger;
use crate::schedule::quota::AppUsage;
use crate::schedule::stage::add_objects;
use crate::schedule::state::{AppState, Row, Weights, WorkloadState};
use crate::schedule::view::{View, is_daemon};
use crate::schedule::{Target, quota};
use crate::variants::Variants;

/// What each quota that counts in the cluster says.
pub(super) fn quotas(
    fleet: &Fleet,
    variants: &Variants,
    target: &Target,
    ledger: &mut Ledger,
    view: &View<'_>,
    (id, cluster): (AppId, ClusterId),
) -> Vec<QuotaUse> {
    let app = fleet.app(id);
    let quotas = &fleet.team(app.team).quota;
    let mut used: Vec<Vec<i128>> = quotas.iter().map(|quota| vec![0; quota.hard.len()]).collect();
    let mut own = used.clone();
    if quotas.is_empty() {
        return Vec::new();
    }
    for of in fleet.app_ids().filter(|of| fleet.app(*of).team == app.team) {
        let mut usage = usage(fleet, variants, target, ledger, view, of);
        add_objects(fleet, variants, of, &state(fleet, target, of), &mut usage);
        for (all, row) in used.iter_mut().zip(&usage) {
            for (all, one) in all.iter_mut().zip(row) {
                *all = all.saturating_add(*one);
            }
        }
        if of == id {
            own = usage;
        }
    }
    let lead = view.app(id).lead;
    let pod = lead.and_then(|lead| view.pod(id, lead, cluster));
    let more = objects_of_one_more(fleet, variants, target, (id, cluster), lead);
    let mut rows = Vec::new();
    let each = quotas.iter().enumerate().zip(used.iter().zip(&own));
    for ((at, quota), (used, own)) in each.filter(|((_, quota), _)| quota.clusters.contains(cluster)) {
        for ((((resource, hard), used), own), objects) in quota.hard.iter().zip(used).zip(own).zip(&more[at]) {
            let counted = lead.and_then(|lead| view.workload(id, lead).autoscaled).map_or(1, |a| a.counted_for_each());
            let of_pods = quota::amount(resource, pod).saturating_mul(i128::from(counted));
            let each = of_pods.saturating_add(*objects);
            rows.push(QuotaUse { quota: at, resource: resource.clone(), used: *used, own: *own, each, hard: *hard });
        }
    }
    rows
}

/// What an app is, as far as its objects are asked for.
fn state(fleet: &Fleet, target: &Target, id: AppId) -> AppState {
    let mut state = AppState::default();
    let nothing = || WorkloadState { weights: Weights::Same, rows: Vec::new() };
    state.workloads.resize_with(fleet.app(id).workloads.len(), nothing);
    let Some(target) = target.apps.get(id.index()) else { return state };
    state.clusters = target.clusters.clone();
    for seat in &target.seats {
        if let Some(workload) = state.workloads.get_mut(usize::from(seat.workload)) {
            workload.rows.push(Row { cluster: seat.cluster, pool: None, replicas: seat.replicas });
        }
    }
    state
}

/// What the objects count, by quota and resource, that come to a cluster with one more replica of the workload that leads.
fn objects_of_one_more(
    fleet: &Fleet,
    variants: &Variants,
    target: &Target,
    (id, cluster): (AppId, ClusterId),
    lead: Option<usize>,
) -> AppUsage {
    let app = fleet.app(id);
    let none = || quota::usage(fleet, app, std::iter::empty());
    let (mut now, mut then) = (none(), none());
    let mut state = state(fleet, target, id);
    add_objects(fleet, variants, id, &state, &mut now);
    state.clusters.insert(cluster);
    if let Some(workload) = lead.and_then(|lead| state.workloads.get_mut(lead)) {
        workload.rows.push(Row { cluster, pool: None, replicas: 1 });
    }
    add_objects(fleet, variants, id, &state, &mut then);
    let more = |(then, now): (Vec<i128>, Vec<i128>)| then.into_iter().zip(now).map(|(then, now)| then - now).collect();
    then.into_iter().zip(now).map(more).collect()
}

fn usage(
    fleet: &Fleet,
    variants: &Variants,
    target: &Target,
    ledger: &mut Ledger,
    view: &View<'_>,
    id: AppId,
) -> AppUsage {
    let app = fleet.app(id);
    let mut counts: BTreeMap<(u16, ClusterId), u32> = BTreeMap::new();
    for seat in target.apps.get(id.index()).into_iter().flat_map(|app| &app.seats) {
        let Some(w) = app.workloads.get(usize::from(seat.workload)) else { continue };
        let key = (seat.workload, seat.cluster);
        let index = usize::from(seat.workload);
        if is_daemon(w) {
            let class = view.class(id, index, seat.cluster);
            let nodes = class.and_then(|class| ledger.nodes(class, seat.cluster)).unwrap_or(1);
            counts.insert(key, nodes);
            continue;
        }
        let count = match (w.autoscaled, seat.bounds) {
            (Some(autoscaled), Some(bounds)) => {
                let variant = variants.apps.get(id.index()).and_then(|all| all.of(seat.cluster).workloads.get(index));
                autoscaled.counted(variant.and_then(|variant| variant.bounds).unwrap_or(bounds))
            }
            (Some(_), None) | (None, _) => seat.replicas,
        };
        let sum = counts.entry(key).or_default();
        *sum = sum.saturating_add(count);
        if let Some(written) = view.written(id, index, seat.cluster) {
            *sum = written;
        }
    }
    let pods = counts.into_iter().filter_map(|((workload, cluster), count)| {
        let variant = variants.apps.get(id.index())?.of(cluster).workloads.get(usize::from(workload))?;
        Some(quota::Pods { cluster, count, facts: variant.pod.as_deref() })
    });
    quota::usage(fleet, app, pods)
}
