//! One workload in one cluster: the room of every pool, and its share.

use std::collections::BTreeMap;

use super::{Arithmetic, Ledgers, Misfit, PoolThere, ShareThere, WorkloadThere, seats_in};
use crate::base::{AppId, ClusterId, SmolStr};
use crate::kinds::pod::fits_node;
use crate::model::{Fleet, Share};
use crate::room::Free;
use crate::schedule::Target;
use crate::schedule::ledger::{ClassId, Ledger};
use crate::schedule::view::{View, bounds, is_static};

pub(super) fn workload(
    view: &View<'_>,
    ledger: &mut Ledger,
    ledgers: &Ledgers,
    target: &Target,
    (id, number, cluster): (AppId, u16, ClusterId),
) -> Option<WorkloadThere> {
    let index = usize::from(number);
    let w = view.workload(id, index);
    let here = seats_in(target, id, number, cluster);
    let bounds = bounds(w, cluster);
    let copied = w.share == Share::Everywhere || w.part.is_some();
    let least = if copied { w.replicas } else { bounds.min.max(1) };
    let pod = view.pod(id, index, cluster);
    let class = view.class(id, index, cluster);
    let mut request: BTreeMap<SmolStr, i128> =
        pod.into_iter().flat_map(|pod| pod.requests.iter()).map(|(name, n)| (name.clone(), n)).collect();
    request.retain(|_, amount| *amount > 0);
    request.entry("pods".into()).or_insert(1);
    let known = ledger.is_known(cluster);
    let pools = match (class, pod) {
        (Some(class), Some(pod)) if known => {
            let misfit = |facts: &crate::kinds::pod::NodeFacts| {
                let fit = fits_node(pod, facts).ok()?;
                if fit.fits() {
                    return None;
                }
                Some(match fit.untolerated {
                    Some(taint) if fit.affinity => Misfit::Taint(taint),
                    Some(_) | None => {
                        let differs =
                            |(key, value): &(&SmolStr, &SmolStr)| facts.labels.get(*key).is_none_or(|is| is != *value);
                        let labels = pod.node_selector.iter().filter(differs);
                        Misfit::Labels(labels.map(|(key, value)| (key.clone(), value.clone())).collect())
                    }
                })
            };
            let misfits: Vec<Option<Misfit>> = ledger.facts(cluster).map(misfit).collect();
            pools(ledger, ledgers, (class, cluster), &request, least, misfits, view.fleet)
        }
        (Some(_) | None, Some(_) | None) => Vec::new(),
    };
    let fits = class.filter(|_| known).and_then(|class| ledger.room(class, cluster));
    let share = share(view, target, (id, number, cluster));
    Some(WorkloadThere { workload: number, here, request: request.into_iter().collect(), least, fits, pools, share })
}

fn pools(
    ledger: &Ledger,
    ledgers: &Ledgers,
    (class, cluster): (ClassId, ClusterId),
    request: &BTreeMap<SmolStr, i128>,
    least: u32,
    misfits: Vec<Option<Misfit>>,
    fleet: &Fleet,
) -> Vec<PoolThere> {
    let refs: Vec<_> = ledger.rooms().pools(cluster).collect();
    let mut pools = Vec::new();
    for ((pool, spec), misfit) in refs.into_iter().zip(&ledgers.specs).zip(misfits) {
        let frees = [&ledgers.empty, &ledgers.daemons, ledger].map(|of| of.rooms().free(pool).unwrap_or_default());
        let of = |at: usize, resource: &str| -> Option<&Free> {
            frees.get(at)?.iter().find(|free| free.resource == resource)
        };
        let all_nodes = spec.nodes.max(spec.scalable_to.unwrap_or(0));
        let arithmetic = |(resource, asked): (&SmolStr, &i128)| {
            let per_node = |at| of(at, resource).map_or(0, |free| i128::from(free.per_node));
            let free = |at| of(at, resource).map_or(0, |free| free.free);
            let overcommit = fleet.cluster(cluster).overcommit.get(resource).copied().unwrap_or((1, 1));
            let (numerator, denominator) = overcommit;
            Arithmetic {
                resource: resource.clone(),
                request: *asked,
                allocatable: spec
                    .allocatable_per_node
                    .0
                    .get(resource)
                    .copied()
                    .unwrap_or_else(|| if resource == "pods" { crate::room::DEFAULT_PODS_PER_NODE } else { 0 }),
                overcommit_milli: numerator.saturating_mul(1000) / denominator.max(1),
                daemons: per_node(0).saturating_sub(per_node(1)),
                per_node: per_node(2),
                reserved: spec.reserved.get(resource),
                others: spec.others.get(resource),
                booked: free(1).saturating_sub(free(2)),
                free: free(2),
                largest: of(2, resource).map_or(0, |free| i128::from(free.largest)),
            }
        };
        let asked = ledger.request(class);
        pools.push(PoolThere {
            name: spec.name.clone(),
            nodes: spec.nodes,
            more_nodes: all_nodes.saturating_sub(spec.nodes),
            fits: asked.and_then(|asked| ledger.rooms().room(pool, asked)).map_or(0, |room| room.replicas),
            nodes_needed: asked.and_then(|asked| ledger.rooms().nodes_needed(pool, asked, least)),
            resources: if misfit.is_some() { Vec::new() } else { request.iter().map(arithmetic).collect() },
            misfit,
        });
    }
    pools
}

/// Seats go one at a time to the largest `weight / (2 x seats + 1)`. A cluster without a seat gets the next one before any
/// whose quotient is not larger than its weight.
fn share(view: &View<'_>, target: &Target, (id, number, cluster): (AppId, u16, ClusterId)) -> Option<ShareThere> {
    let w = view.workload(id, usize::from(number));
    if w.share != Share::Divided || !is_static(&w.policy) {
        return None;
    }
    let weight = w.weight(cluster);
    let chosen = target.apps.get(id.index()).map(|app| app.clusters.clone()).unwrap_or_default();
    let rivals: Vec<(u64, u64)> = chosen
        .iter()
        .filter(|of| *of != cluster)
        .map(|of| (u64::from(w.weight(of)), u64::from(seats_in(target, id, number, of))))
        .filter(|(weight, _)| *weight > 0)
        .collect();
    // the seat that is easiest to win: the last one of the rival whose quotient for it is least
    let last = rivals.iter().filter(|(_, seats)| *seats > 0).map(|(weight, seats)| weight / (2 * seats - 1)).min();
    let before_us = |(of, _): &(u64, u64)| {
        let quotient = of.saturating_sub(1).checked_div(u64::from(weight)).unwrap_or(0);
        quotient.saturating_add(1) / 2
    };
    let first: u64 = rivals.iter().map(before_us).fold(0, u64::saturating_add);
    Some(ShareThere {
        weight,
        enough_weight: last.map(|quotient| quotient.saturating_add(1)),
        enough_replicas: (weight > 0).then(|| first.saturating_add(1)),
    })
}
