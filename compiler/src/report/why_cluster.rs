//! One cluster, for `why`: every veto, the arithmetic of its room, the division, the quota; as data with figures in words.

use std::collections::BTreeMap;

use serde::Serialize;

use super::booked::BookedReport;
use super::why::{VerdictReport, WrittenAt};
use crate::base::SmolStr;
use crate::base::quantity::{amount_at_least, plain_amount};
use crate::model::{App, Quota, Team};
use crate::schedule::{Arithmetic, Misfit, PoolThere, QuotaUse, WorkloadThere};

/// One cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterWhy {
    /// Its name.
    pub cluster: SmolStr,
    /// Where it is defined.
    pub written: WrittenAt,
    /// Whether any object of the app goes there.
    pub used: bool,
    /// What each workload has there; workloads that have nothing are left out.
    pub workloads: BTreeMap<SmolStr, u32>,
    /// What is booked there as room of workloads whose observed replicas count.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub booked: BTreeMap<SmolStr, BookedReport>,
    /// Why it gets nothing, or is not chosen: the first reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictReport>,
    /// All reasons, the first among them: each must be gone before it gets anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What would have to change for it to get a replica, or more of them: for each reason, what helps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeReport>,
    /// Its room for each workload that has replicas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub room: Vec<RoomReport>,
    /// How stated weights divide, by workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<ShareReport>,
    /// The team's quotas that count there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<QuotaReport>,
}

/// One thing that would have to change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReport {
    /// In words.
    pub change: String,
    /// Where; none where it is written nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenAt>,
}

/// The room of a cluster for one workload.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomReport {
    /// The workload.
    pub workload: SmolStr,
    /// What one pod asks for: `500m`-like figures as people write them, by resource.
    pub request: Vec<AmountReport>,
    /// Replicas that fit beside everything that is placed; none where capacity is not known.
    pub fits: Option<u64>,
    /// By pool.
    pub pools: Vec<PoolReport>,
}

/// An amount of a resource.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AmountReport {
    /// The resource.
    pub resource: SmolStr,
    /// As people write it.
    pub amount: String,
}

/// A pool, as the pods of a workload find it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolReport {
    /// Its name.
    pub pool: SmolStr,
    /// Nodes that exist.
    pub nodes: u32,
    /// Nodes that an autoscaler may add.
    pub more_nodes: u32,
    /// Why its nodes may not run the pods; none where they may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfit: Option<String>,
    /// Replicas that fit.
    pub fits: u64,
    /// `nodes x per node - reserved - others - booked = free`, by resource that a pod asks for.
    pub resources: Vec<ArithmeticReport>,
}

/// What is left of one resource of a pool. Amounts as people write them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArithmeticReport {
    /// The resource.
    pub resource: SmolStr,
    /// What one node has.
    pub allocatable: String,
    /// The factor of overcommit; none where it is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overcommit: Option<String>,
    /// What DaemonSets of the fleet take of each node.
    pub daemons: String,
    /// What one node offers then.
    pub per_node: String,
    /// What the Cluster file reserves, of the whole pool.
    pub reserved: String,
    /// What others use.
    pub others: String,
    /// What apps of the fleet have booked.
    pub booked: String,
    /// What is left.
    pub free: String,
    /// The most that one more pod could get.
    pub largest: String,
    /// All of it in one line.
    pub text: String,
}

/// How far stated weights are from giving the cluster a replica.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShareReport {
    /// The workload.
    pub workload: SmolStr,
    /// Replicas there.
    pub replicas: u32,
    /// Its weight.
    pub weight: u32,
    /// Its quotient for the next seat, `weight / (2 x seats + 1)`, as a fraction.
    pub next_quotient: String,
    /// The fewest replicas it shall have, where it is used.
    pub min: u32,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// The least weight with which it would get a replica, the others as they are; only where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough_weight: Option<u64>,
    /// The fewest replicas of all with which it would get one; only where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough_replicas: Option<u64>,
}

/// A quota of the team.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaReport {
    /// The resource, as the quota names it.
    pub resource: SmolStr,
    /// Whether it holds for this cluster by itself.
    pub per_cluster: bool,
    /// What the team uses.
    pub used: String,
    /// What of it is this app's.
    pub own: String,
    /// The most allowed.
    pub hard: String,
    /// What one more replica adds.
    pub one_more: String,
    /// By how much `hard` must be raised for one more replica; none where there is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    /// Where it is written.
    pub written: WrittenAt,
}

pub(super) fn room(app: &App, there: &WorkloadThere) -> RoomReport {
    RoomReport {
        workload: key(app, there.workload),
        request: there
            .request
            .iter()
            .filter(|(resource, _)| resource != "pods")
            .map(|(resource, amount)| AmountReport {
                resource: resource.clone(),
                amount: plain_amount(resource, *amount),
            })
            .collect(),
        fits: there.fits,
        pools: there.pools.iter().map(pool).collect(),
    }
}

fn pool(there: &PoolThere) -> PoolReport {
    PoolReport {
        pool: there.name.clone(),
        nodes: there.nodes,
        more_nodes: there.more_nodes,
        misfit: there.misfit.as_ref().map(misfit_text),
        fits: there.fits,
        resources: there.resources.iter().map(|row| arithmetic(row, there.nodes, there.more_nodes)).collect(),
    }
}

/// Why no node of a pool may run a pod, in words.
pub(super) fn misfit_text(misfit: &Misfit) -> String {
    match misfit {
        Misfit::Labels(labels) if labels.is_empty() => {
            "its nodes do not match the pod's required node affinity".to_owned()
        }
        Misfit::Labels(labels) => {
            let wanted: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("its nodes have no label {}", wanted.join(", "))
        }
        Misfit::Taint(taint) => format!("the pod does not tolerate {taint}"),
    }
}

fn arithmetic(row: &Arithmetic, nodes: u32, more_nodes: u32) -> ArithmeticReport {
    let Arithmetic {
        resource,
        request: _,
        allocatable,
        overcommit_milli,
        daemons,
        per_node,
        reserved,
        others,
        booked,
        free,
        largest,
    } = row;
    let amount = |of: &i128| plain_amount(resource, *of);
    let overcommit = (*overcommit_milli != 1000).then(|| plain_amount("cpu", i128::from(*overcommit_milli)));
    let mut node = amount(allocatable);
    if let Some(factor) = &overcommit {
        node.push_str(&format!(" x {factor}"));
    }
    if *daemons != 0 {
        node.push_str(&format!(" - {} for DaemonSets", amount(daemons)));
    }
    let compound = overcommit.is_some() || *daemons != 0;
    let node = if compound { format!("({node})") } else { node };
    let count = u64::from(nodes) + u64::from(more_nodes);
    let mut text = format!("{count} x {node}");
    for (what, of) in [("reserved", reserved), ("used by others", others), ("booked", booked)] {
        if *of != 0 {
            text.push_str(&format!(" - {} {what}", amount(of)));
        }
    }
    text.push_str(&format!(" = {} free, largest piece {}", amount(free), amount(largest)));
    ArithmeticReport {
        resource: resource.clone(),
        allocatable: amount(allocatable),
        overcommit,
        daemons: amount(daemons),
        per_node: amount(per_node),
        reserved: amount(reserved),
        others: amount(others),
        booked: amount(booked),
        free: amount(free),
        largest: amount(largest),
        text,
    }
}

pub(super) fn share(app: &App, cluster: crate::base::ClusterId, there: &WorkloadThere) -> Option<ShareReport> {
    let share = there.share?;
    let workload = app.workloads.get(usize::from(there.workload))?;
    let max = workload.policy.weights.iter().flatten().filter(|rule| rule.clusters.contains(cluster));
    let max = max.filter_map(|rule| rule.max).chain(workload.policy.max).min();
    let none = there.here == 0;
    Some(ShareReport {
        workload: workload.key.clone(),
        replicas: there.here,
        weight: share.weight,
        next_quotient: format!("{}/{}", share.weight, u64::from(there.here) * 2 + 1),
        min: workload.floor(cluster),
        max,
        enough_weight: share.enough_weight.filter(|_| none),
        enough_replicas: share.enough_replicas.filter(|_| none),
    })
}

pub(super) fn quota(team: &Team, of: &QuotaUse, written: WrittenAt) -> QuotaReport {
    let QuotaUse { quota, resource, used, own, each, hard } = of;
    let per_cluster = team.quota.get(*quota).is_some_and(|quota: &Quota| quota.of_cluster.is_some());
    let amount = |of: i128| plain_amount(resource, of);
    let short = used.saturating_add(*each).saturating_sub(*hard);
    QuotaReport {
        resource: resource.clone(),
        per_cluster,
        used: amount(*used),
        own: amount(*own),
        hard: amount(*hard),
        one_more: amount(*each),
        short: (short > 0 && *each > 0).then(|| amount_at_least(resource, short)),
        written,
    }
}

fn key(app: &App, workload: u16) -> SmolStr {
    app.workloads.get(usize::from(workload)).map(|w| w.key.clone()).unwrap_or_default()
}
