//! Everything that bears on one app in one cluster, replayed from what runs at the end: `why` shows it, nobody stores it.
//!
//! Invariants: the same filters, ledgers and bounds as the schedule, asked again, so that no second rule can differ from the
//! first. For each resource `per_node x nodes - reserved - others - booked = free`, `per_node` being what a node offers after
//! overcommit and DaemonSets. The next figure is a field here, and its words in `report`.

mod quotas;
mod workload;

use std::collections::BTreeMap;

use super::ledger::Ledger;
use super::view::{View, is_daemon};
use super::{Scenario, Target, Verdict, headroom, held, rooms};
use crate::base::taint::{Taint, TaintEffect, first_untolerated};
use crate::base::{AppId, ClusterId, SmolStr, workload_numbers};
use crate::model::Fleet;
use crate::placements::Record;
use crate::room::PoolSpec;
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
    /// What its team's quotas that count in this cluster allow. Of an app on a move, what it has until its next step.
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
            .filter_map(|w| workload::workload(&view, &mut ledger, &ledgers, target, (id, *w, cluster)))
            .collect(),
        quotas: quotas::quotas(fleet, variants, target, &mut ledger, &view, (id, cluster)),
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
