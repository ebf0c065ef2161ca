//! How full clusters get: what runs in each, what it requests, and what there is.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::Compiled;
use crate::base::quantity::plain_amount;
use crate::base::{ClusterId, Resources, SmolStr};
use crate::model::Cluster;
use crate::room::DEFAULT_PODS_PER_NODE;

/// What a cluster gets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterReport {
    /// Its name.
    pub cluster: SmolStr,
    /// Apps with objects in it.
    pub apps: u64,
    /// Objects, generated Namespaces included.
    pub objects: u64,
    /// Replicas of workloads that state them.
    pub replicas: u64,
    /// How full it gets, by resource; empty where capacity is not known.
    pub resources: Vec<ResourceReport>,
}

/// How full a cluster gets of one resource. Amounts as people write them: CPU in cores, memory as `2Gi`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReport {
    /// Its name.
    pub resource: SmolStr,
    /// What the replicas placed here request. DaemonSets and what others run are not in it.
    pub requested: String,
    /// What the nodes that exist offer, overcommit and reserve taken into account.
    pub allocatable: String,
    /// Per cent, rounded down; none where nothing is offered.
    pub percent: Option<u64>,
}

/// What has been placed in a cluster.
#[derive(Clone, Default)]
pub(super) struct Load {
    pub(super) replicas: u64,
    pub(super) requested: Resources,
}

/// The report of a cluster.
pub(super) fn cluster_report(compiled: &Compiled, id: ClusterId, load: Load) -> ClusterReport {
    let cluster = compiled.fleet.cluster(id);
    let files = compiled.rendered.files(id);
    let Load { replicas, requested } = load;
    ClusterReport {
        cluster: cluster.name.clone(),
        apps: files.iter().filter(|file| file.app.is_some()).count() as u64,
        objects: files.iter().map(|file| file.objects.len() as u64).sum(),
        replicas,
        resources: match allocatable(compiled, cluster) {
            None => Vec::new(),
            Some(allocatable) => resource_reports(&requested, &allocatable),
        },
    }
}

/// Every resource that is requested or offered, by name.
fn resource_reports(requested: &Resources, allocatable: &Resources) -> Vec<ResourceReport> {
    let names: BTreeSet<&SmolStr> = requested.iter().chain(allocatable.iter()).map(|(name, _)| name).collect();
    let report = |name: &SmolStr| {
        let (requested, offered) = (requested.get(name), allocatable.get(name));
        ResourceReport {
            resource: name.clone(),
            requested: plain_amount(name, requested),
            allocatable: plain_amount(name, offered),
            percent: (offered > 0).then(|| u64::try_from(requested.saturating_mul(100) / offered).unwrap_or(0)),
        }
    };
    names.into_iter().map(report).collect()
}

/// Adds what so many nodes offer. One that states no `pods` takes as many as Kubernetes' default.
fn add(total: &mut Resources, node: &Resources, nodes: u32) {
    total.add(node, i128::from(nodes));
    if !node.0.contains_key("pods") {
        total
            .add(&Resources(BTreeMap::from([(SmolStr::new_static("pods"), DEFAULT_PODS_PER_NODE)])), i128::from(nodes));
    }
}

/// What the nodes of a cluster offer, as observed or else as stated; `None` where neither is.
fn allocatable(compiled: &Compiled, cluster: &Cluster) -> Option<Resources> {
    let observed = compiled.record.clusters.get(&cluster.name).and_then(|observed| observed.capacity.as_ref());
    let mut total = Resources::default();
    match (observed, &cluster.pools) {
        (Some(pools), _) => pools.iter().for_each(|pool| add(&mut total, &pool.allocatable, pool.nodes)),
        (None, Some(pools)) => pools.iter().for_each(|pool| add(&mut total, &pool.allocatable, pool.nodes)),
        (None, None) => return None,
    }
    for (name, (numerator, denominator)) in &cluster.overcommit {
        if let Some(amount) = total.0.get_mut(name) {
            *amount = amount.saturating_mul(i128::from(*numerator)) / i128::from(*denominator).max(1);
        }
    }
    for (name, amount) in cluster.reserved.iter() {
        if let Some(offered) = total.0.get_mut(name) {
            *offered = offered.saturating_sub(amount).max(0);
        }
    }
    Some(total)
}
