//! Pools that hold less than what ran or must run in them, with names in place of ids.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::base::quantity::amount_at_least;
use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::model::Fleet;
use crate::placements::OTHER_POOL;
use crate::schedule::{BelowWeight, Displaced, Growing, Overdrawn};

/// Replicas that no longer fit where they ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplacedReport {
    /// `team/app`.
    pub app: String,
    /// The workload's key.
    pub workload: SmolStr,
    /// Where they ran.
    pub cluster: SmolStr,
    /// The pool; none where it is no longer there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<SmolStr>,
    /// How many.
    pub replicas: u32,
    /// By how much all that ran in the pool exceeds its nodes: quantities by resource.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub short: BTreeMap<SmolStr, String>,
}

/// A pool with more than its nodes hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverdrawnReport {
    /// The cluster.
    pub cluster: SmolStr,
    /// The pool.
    pub pool: SmolStr,
    /// By how much: quantities by resource.
    pub short: BTreeMap<SmolStr, String>,
    /// What runs there whatever fits.
    pub by: Vec<InFullReport>,
}

/// A pool that needs more nodes than exist.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrowingReport {
    /// The cluster.
    pub cluster: SmolStr,
    /// The pool.
    pub pool: SmolStr,
    /// How many more nodes its autoscaler must add.
    pub nodes: u64,
}

impl GrowingReport {
    pub(super) fn of(fleet: &Fleet, of: &Growing) -> Self {
        let cluster = fleet.cluster(of.cluster).name.clone();
        Self { cluster, pool: pool_name(fleet, of.cluster, of.pool), nodes: of.nodes }
    }
}

impl fmt::Display for GrowingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, pool, nodes } = self;
        write!(f, "pool {pool} of {cluster} needs {nodes} more {}", if *nodes == 1 { "node" } else { "nodes" })
    }
}

/// Replicas that run whatever fits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InFullReport {
    /// `team/app`.
    pub app: String,
    /// The workload's key.
    pub workload: SmolStr,
    /// How many.
    pub replicas: u32,
    /// Why.
    pub why: &'static str,
}

/// A workload that a full cluster has less of than its weight asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BelowWeightReport {
    /// `team/app`.
    pub app: String,
    /// The workload's key.
    pub workload: SmolStr,
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas it has there.
    pub replicas: u32,
    /// Replicas that it would have if there were room.
    pub asked: u32,
}

impl BelowWeightReport {
    pub(super) fn of(fleet: &Fleet, of: &BelowWeight) -> Self {
        Self {
            app: fleet.app_name(of.app),
            workload: workload(fleet, of.app, of.workload),
            cluster: fleet.cluster(of.cluster).name.clone(),
            replicas: of.replicas,
            asked: of.asked,
        }
    }
}

impl fmt::Display for BelowWeightReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { app: _, workload, cluster, replicas, asked } = self;
        write!(f, "{cluster} is full with {replicas} of {workload}, and its weight asks for {asked}")
    }
}

impl DisplacedReport {
    pub(super) fn of(fleet: &Fleet, of: &Displaced) -> Self {
        Self {
            app: fleet.app_name(of.app),
            workload: workload(fleet, of.app, of.workload),
            cluster: fleet.cluster(of.cluster).name.clone(),
            pool: of.pool.map(|pool| pool_name(fleet, of.cluster, pool)),
            replicas: of.replicas,
            short: amounts(&of.short),
        }
    }
}

impl OverdrawnReport {
    pub(super) fn of(fleet: &Fleet, of: &Overdrawn) -> Self {
        let by = of.by.iter().map(|(app, number, replicas, why)| InFullReport {
            app: fleet.app_name(*app),
            workload: workload(fleet, *app, *number),
            replicas: *replicas,
            why: why.words(),
        });
        Self {
            cluster: fleet.cluster(of.cluster).name.clone(),
            pool: pool_name(fleet, of.cluster, of.pool),
            short: amounts(&of.short),
            by: by.collect(),
        }
    }
}

fn workload(fleet: &Fleet, app: AppId, number: u16) -> SmolStr {
    fleet.app(app).workloads.get(usize::from(number)).map(|w| w.key.clone()).unwrap_or_default()
}

fn pool_name(fleet: &Fleet, cluster: ClusterId, pool: PoolId) -> SmolStr {
    let pools = fleet.cluster(cluster).pools.as_deref().unwrap_or_default();
    pools.get(pool.index()).map_or(SmolStr::new_static(OTHER_POOL), |pool| pool.name.clone())
}

fn amounts(short: &[(SmolStr, i128)]) -> BTreeMap<SmolStr, String> {
    short.iter().map(|(resource, missing)| (resource.clone(), amount_at_least(resource, *missing))).collect()
}

/// `3 cpu, 2Gi memory`.
fn listed(short: &BTreeMap<SmolStr, String>) -> String {
    short.iter().map(|(resource, amount)| format!("{amount} {resource}")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for DisplacedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { app: _, workload, cluster, pool, replicas, short } = self;
        write!(f, "{replicas} replicas of {workload} no longer fit in {cluster}")?;
        match pool {
            None => f.write_str(": the pool they ran in is no longer there, and no other one has room"),
            Some(pool) if short.is_empty() => write!(f, ", pool {pool}: its nodes no longer hold them"),
            Some(pool) => {
                write!(f, ", pool {pool}: what ran there asks for {} more than its nodes have", listed(short))
            }
        }
    }
}

impl fmt::Display for OverdrawnReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, pool, short, by } = self;
        write!(f, "pool {pool} of {cluster} lacks {} for what must run there", listed(short))?;
        by.iter().enumerate().try_for_each(|(at, of)| {
            f.write_str(if at == 0 { ": " } else { "; " })?;
            write!(f, "{} of {} {} ({})", of.replicas, of.app, of.workload, of.why)
        })
    }
}
