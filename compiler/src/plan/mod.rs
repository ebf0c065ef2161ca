//! From what should run to which object goes where, and how that differs from what runs.
//!
//! Invariants: leaves no choice to whoever executes it; objects without replicas follow the workloads; equal inputs give
//! equal plans, in one order.

mod moves;
mod namespaces;
mod objects;
mod quotas;
mod removals;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::base::labels::Labels;
use crate::base::{AppId, ClusterId, SmolStr};
use crate::model::{ClusterSet, Fleet};
use crate::placements::Record;
use crate::schedule::{Target, leaders};
use crate::variants::Variants;

/// The plan of a compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// By app id.
    pub apps: Vec<AppPlan>,
    /// Namespaces to generate, by cluster then name.
    pub namespaces: Vec<(ClusterId, SmolStr, Labels)>,
    /// What is recorded and no longer there, ascending by (team, app, workload, cluster).
    pub removals: Vec<Removal>,
    /// ResourceQuotas to generate, by cluster, namespace and name.
    pub quotas: Vec<PlannedQuota>,
}

/// A ResourceQuota that holds a team's quota of one cluster in a namespace of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlannedQuota {
    /// The cluster.
    pub cluster: ClusterId,
    /// The namespace.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// The most, by resource, as Kubernetes writes it.
    pub hard: BTreeMap<SmolStr, SmolStr>,
}

/// The plan of one app.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppPlan {
    /// Which object goes where, ascending by (cluster, object).
    pub objects: Vec<PlannedObject>,
    /// Differences from the record, ascending by (workload, cluster).
    pub moves: Vec<Move>,
}

/// An object in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlannedObject {
    /// The cluster.
    pub cluster: ClusterId,
    /// Which of the app's objects.
    pub object: u32,
    /// What is written into it.
    pub fill: Fill,
}

/// What differs between clusters of one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fill {
    /// Nothing: the object as it is.
    AsIs,
    /// A share of replicas. What an override wrote or removed is not filled in again.
    Share {
        /// Replicas, or a Job's parallelism; `None`: what the object says.
        replicas: Option<u32>,
        /// A Job's completions; `None`: what the object says.
        completions: Option<u32>,
    },
    /// A workload whose replicas an autoscaler owns: none are written.
    Owned {
        /// What is booked.
        replicas: u32,
    },
    /// An autoscaler: its part of the bounds.
    Bounds {
        /// `spec.minReplicas`
        min: u32,
        /// `spec.maxReplicas`
        max: u32,
    },
}

/// A workload's replicas in a cluster, before and after. Numbers as written into manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    /// Which of the app's workloads.
    pub workload: u16,
    /// The cluster.
    pub cluster: ClusterId,
    /// Replicas that run.
    pub before: u32,
    /// Replicas that should run.
    pub after: u32,
    /// Why.
    pub cause: Cause,
}

/// Replicas of a recorded workload that no intent has any more: they end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Removal {
    /// The team.
    pub team: SmolStr,
    /// The app, which may itself be gone.
    pub app: SmolStr,
    /// The workload's key.
    pub workload: SmolStr,
    /// The cluster.
    pub cluster: ClusterId,
    /// Replicas that run, as recorded.
    pub before: u32,
    /// Whether the app is gone as a whole.
    pub with_app: bool,
}

/// Why replicas come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Nothing ran before.
    New,
    /// The total changed, or what was short of it has found a place.
    Total,
    /// Strategy or weights changed.
    Weights,
    /// The selector, the team's clusters or a bound no longer allow the cluster.
    Intent,
    /// A NoExecute taint is not tolerated.
    Taint,
    /// The cluster is Draining or Retired.
    Lifecycle,
    /// The scenario supposes the cluster lost.
    Lost,
    /// The app is evicted from the cluster.
    Evicted,
    /// The group that the app shares its clusters with is elsewhere, or one that it shares none with is there.
    Group,
    /// Other clusters together have room for more of the app, and its spread does not allow both.
    Room,
    /// The pool no longer holds them.
    Displaced,
    /// They take the place of replicas that left another cluster, or were short before.
    Refill,
}

/// Plans which object goes where, which namespaces are generated, and what moves.
#[must_use]
pub fn plan(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Plan {
    let (mut displaced, none): (BTreeMap<AppId, ClusterSet>, _) = (BTreeMap::new(), ClusterSet::empty());
    for of in &target.displaced {
        displaced.entry(of.app).or_default().insert(of.cluster);
    }
    let leaders = leaders(fleet);
    let all = variants;
    let each = fleet.app_ids().zip(variants.apps.iter().zip(&target.apps));
    let apps: Vec<AppPlan> = each
        .map(|(id, (variants, target))| {
            let shares = objects::shares(fleet.app(id), target);
            AppPlan {
                objects: objects::objects(fleet, id, all, target, &shares),
                moves: moves::moves(
                    &moves::Facts { fleet, id, variants, record, target, leader: leaders.get(&id).copied() },
                    displaced.get(&id).unwrap_or(&none),
                    &shares,
                ),
            }
        })
        .collect();
    let namespaces = namespaces::namespaces(fleet, &apps);
    let removals = removals::removals(fleet, record);
    let quotas = quotas::quotas(fleet, &apps);
    Plan { apps, namespaces, removals, quotas }
}
