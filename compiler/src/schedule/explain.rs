//! Everything that bears on one app in one cluster, replayed from what runs at the end: `why` shows it, nobody stores it.
//!
//! Invariants: the same filters, ledgers and bounds as the schedule, asked again, so that no second rule can differ from the
//! first. For each resource `per_node x nodes - reserved - others - booked = free`, `per_node` being what a node offers after
//! overcommit and DaemonSets. The next figure is a field here, and its words in `report`.

use std::collections::BTreeMap;

use super::ledger::{ClassId, Ledger};
use super::view::{View, bounds, is_daemon};
use super::{Scenario, Target, Verdict, headroom, held, quota, rooms};
use crate::base::taint::{Taint, TaintEffect, first_untolerated};
use crate::base::{AppId, ClusterId, SmolStr, workload_numbers};
use crate::kinds::pod::fits_node;
use crate::model::{Fleet, Quota, Share};
use crate::placements::Record;
use crate::room::{Free, PoolSpec};
use crate::variants::Variants;

/// What bears on an app in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Every filter that keeps new replicas away; `verdict` of a target names the first alone.
    pub vetoes: Vec<Verdict>,
    /// Taints that are not tolerated, and whether they are recorded in `state/` rather than stated in the Cluster file.
    pub taints: Vec<(Taint, bool)>,
    /// Whether `state/lifecycle/` rather than the Cluster file keeps replicas away.
    pub lifecycle_is_recorded: bool,
    /// The apps that share their clusters with it, the first leads.
    pub together: Vec<AppId>,
    /// The apps that share no cluster with it and are in this one.
    pub apart: Vec<AppId>,
    /// Its workloads that have replicas, DaemonSets left aside.
    pub workloads: Vec<WorkloadThere>,
    /// What its team's quotas that count in this cluster allow, objects left aside.
    pub quotas: Vec<QuotaUse>,
}

/// A workload in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadThere {
    /// Which of the app's workloads.
    pub workload: u16,
    /// Replicas there.
    pub here: u32,
    /// What one pod asks for, `pods` included, by resource.
    pub request: Vec<(SmolStr, i128)>,
    /// The fewest replicas that make sense there: all for copies, else its floor or 1.
    pub least: u32,
    /// Replicas that fit beside everything that is booked; `None` where capacity is unknown.
    pub fits: Option<u64>,
    /// The pools of the cluster.
    pub pools: Vec<PoolThere>,
    /// Where stated weights divide: how much would give it a replica.
    pub share: Option<ShareThere>,
}

/// A pool, as a pod of one workload finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolThere {
    /// Its name.
    pub name: SmolStr,
    /// Nodes that exist.
    pub nodes: u32,
    /// Nodes that an autoscaler may add.
    pub more_nodes: u32,
    /// Why its nodes may not run the pod.
    pub misfit: Option<Misfit>,
    /// Replicas that fit.
    pub fits: u64,
    /// Nodes to add for `least` replicas; `None` where no number is enough.
    pub nodes_needed: Option<u64>,
    /// By resource that the pod asks for.
    pub resources: Vec<Arithmetic>,
}

/// Why no node of a pool may run a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Labels of its node selector that the pool's nodes do not have so, or none where its required affinity does not hold.
    Labels(Vec<(SmolStr, SmolStr)>),
    /// A taint that the pod does not tolerate.
    Taint(Taint),
}

/// What is left of one resource of a pool, in the unit of the resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// The resource.
    pub resource: SmolStr,
    /// What one pod asks for.
    pub request: i128,
    /// What one node has, before overcommit and DaemonSets.
    pub allocatable: i128,
    /// The factor of overcommit, in thousandths.
    pub overcommit_milli: u64,
    /// What DaemonSets take of each node.
    pub daemons: i128,
    /// What one node offers then.
    pub per_node: i128,
    /// What is never booked, of the whole pool.
    pub reserved: i128,
    /// What others use, of the whole pool.
    pub others: i128,
    /// What is booked, of the whole pool.
    pub booked: i128,
    /// What is left, nodes that an autoscaler may add included.
    pub free: i128,
    /// The most that one more pod could get.
    pub largest: i128,
}

/// How far stated weights are from giving a cluster a replica, room and bounds aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareThere {
    /// Its weight.
    pub weight: u32,
    /// The least weight with which it would get one, the others as they are.
    pub enough_weight: Option<u64>,
    /// The fewest replicas of all with which it would get one; `None` with weight 0.
    pub enough_replicas: Option<u64>,
}

/// A quota and the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaUse {
    /// Which of the team's quotas.
    pub quota: usize,
    /// The resource, as the quota names it.
    pub resource: SmolStr,
    /// What the team uses.
    pub used: i128,
    /// What of it is this app's.
    pub own: i128,
    /// What one more replica of the largest workload adds.
    pub each: i128,
    /// The most allowed.
    pub hard: i128,
}

/// Replays what bears on an app in a cluster.
#[must_use]
pub fn explain(
    fleet: &Fleet,
    variants: &Variants,
    record: &Record,
    target: &Target,
    (id, cluster): (AppId, ClusterId),
) -> Explained {
    let mut ledger = headroom::promised(fleet, variants, record, target);
    let scenario = Scenario::default();
    let view = View::new(fleet, variants, record, &scenario, &mut ledger)
        .holding(held::held(fleet, variants, record, &scenario), BTreeMap::new());
    let ledgers = Ledgers {
        empty: Ledger::new(rooms::pools(fleet, record)),
        daemons: headroom::with_daemons(fleet, variants, record, target),
        specs: rooms::pools(fleet, record).get(cluster.index()).map(|pools| pools.specs.clone()).unwrap_or_default(),
    };
    let app = fleet.app(id);
    let counted: Vec<u16> = workload_numbers()
        .zip(&app.workloads)
        .filter(|(_, w)| w.replicas > 0 && !is_daemon(w))
        .map(|(index, _)| index)
        .collect();
    let there = |of: &AppId| target.apps.get(of.index()).is_some_and(|t| t.seats.iter().any(|s| s.cluster == cluster));
    let apart = view.apart.of(id).into_iter().flat_map(|group| &group.members).filter(|of| **of != id && there(of));
    let own_lifecycle = fleet.cluster(cluster).lifecycle;
    let recorded = record.clusters.get(&fleet.cluster(cluster).name);
    Explained {
        vetoes: view.vetoes(id, cluster),
        taints: untolerated(fleet, record, (id, cluster)),
        lifecycle_is_recorded: recorded.and_then(|o| o.lifecycle).is_some_and(|of| of > own_lifecycle),
        together: view.together.of(id).map(|group| group.members.clone()).unwrap_or_default(),
        apart: apart.copied().collect(),
        workloads: counted
            .iter()
            .filter_map(|w| workload(&view, &mut ledger, &ledgers, target, (id, *w, cluster)))
            .collect(),
        quotas: quotas(fleet, variants, target, &mut ledger, &view, (id, cluster)),
    }
}

/// The ledgers that the terms of the arithmetic are read from, by subtraction.
struct Ledgers {
    /// Nothing booked.
    empty: Ledger,
    /// DaemonSets alone.
    daemons: Ledger,
    /// What is stated or observed of the cluster's pools.
    specs: Vec<PoolSpec>,
}

fn untolerated(fleet: &Fleet, record: &Record, (id, cluster): (AppId, ClusterId)) -> Vec<(Taint, bool)> {
    let tolerations = &fleet.app(id).placement.tolerations;
    let cluster = fleet.cluster(cluster);
    let observed = record.clusters.get(&cluster.name).map(|o| o.taints.as_slice()).unwrap_or_default();
    let all = cluster.taints.iter().map(|taint| (taint, false)).chain(observed.iter().map(|taint| (taint, true)));
    let repels = |taint: &Taint| {
        taint.effect != TaintEffect::PreferNoSchedule && first_untolerated([taint], tolerations).is_some()
    };
    all.filter(|(taint, _)| repels(taint)).map(|(taint, recorded)| (taint.clone(), recorded)).collect()
}

fn seats_in(target: &Target, id: AppId, workload: u16, cluster: ClusterId) -> u32 {
    let seats = target.apps.get(id.index()).into_iter().flat_map(|app| &app.seats);
    let here = seats.filter(|seat| seat.workload == workload && seat.cluster == cluster);
    here.fold(0, |sum, seat| sum.saturating_add(seat.replicas))
}

fn workload(
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
    if w.share != Share::Divided || !super::view::is_static(&w.policy) {
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

/// What each quota that counts in the cluster says.
fn quotas(
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
        let usage = usage(fleet, variants, target, ledger, view, of);
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
    let mut rows = Vec::new();
    let each = quotas.iter().enumerate().zip(used.iter().zip(&own));
    for ((at, quota), (used, own)) in each.filter(|((_, quota), _)| quota.clusters.contains(cluster)) {
        for (((resource, hard), used), own) in quota.hard.iter().zip(used).zip(own) {
            if Quota::counts_objects(resource).is_some() {
                continue;
            }
            let counted = lead.and_then(|lead| view.workload(id, lead).autoscaled).map_or(1, |a| a.counted_for_each());
            let each = quota::amount(resource, pod).saturating_mul(i128::from(counted));
            rows.push(QuotaUse { quota: at, resource: resource.clone(), used: *used, own: *own, each, hard: *hard });
        }
    }
    rows
}

fn usage(
    fleet: &Fleet,
    variants: &Variants,
    target: &Target,
    ledger: &mut Ledger,
    view: &View<'_>,
    id: AppId,
) -> quota::AppUsage {
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
            (Some(autoscaled), Some(bounds)) => autoscaled.counted(bounds),
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
