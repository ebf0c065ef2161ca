//! The pools of the fleet as the ledgers see them: Cluster files, and observed capacity, which wins.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::labels::Labels;
use crate::base::{ClusterId, Resources, SmolStr};
use crate::kinds::pod::NodeFacts;
use crate::model::{Cluster, ClusterSet, Fleet};
use crate::placements::{ObservedPool, Record};
use crate::room::{PoolSpec, Ratio, share_reserved};

pub(super) use crate::placements::OTHER_POOL;

/// The pools of a cluster, in the order of its file, then `other`.
#[derive(Clone, Debug)]
pub(super) struct ClusterPools {
    /// Whether any capacity is stated or observed. If not, room is unknown.
    pub known: bool,
    /// For the ledgers.
    pub specs: Vec<PoolSpec>,
    /// What a pod's fit depends on, parallel to `specs`.
    pub nodes: Vec<NodeFacts>,
}

/// By cluster id.
pub(super) fn pools(fleet: &Fleet, record: &Record) -> Vec<ClusterPools> {
    let owners = Owners::new(fleet, record);
    fleet
        .cluster_ids()
        .map(|id| {
            let cluster = fleet.cluster(id);
            let observed = record.clusters.get(&cluster.name).and_then(|o| o.capacity.as_deref());
            pools_of(cluster, observed, |owner| owners.renders(owner, id))
        })
        .collect()
}

/// `rendered` says which owners this fleet books itself: what they use now is not counted a second time.
fn pools_of(cluster: &Cluster, observed: Option<&[ObservedPool]>, rendered: impl Fn(&str) -> bool) -> ClusterPools {
    let overcommit: BTreeMap<SmolStr, Ratio> = cluster
        .overcommit
        .iter()
        .filter_map(|(name, (numerator, denominator))| Some((name.clone(), Ratio::new(*numerator, *denominator)?)))
        .collect();
    let mut specs = Vec::new();
    let mut nodes = Vec::new();
    let observed_of = |name: &str| observed.unwrap_or_default().iter().find(|pool| pool.name == name);
    for pool in cluster.pools.as_deref().unwrap_or_default() {
        let seen = observed_of(&pool.name);
        let mut spec = match (observed, seen) {
            (None, _) => PoolSpec::new(pool.name.clone(), pool.nodes, pool.allocatable.clone()),
            // Observed without nodes of this pool: what an autoscaler may add is all there is.
            (Some(_), None) => PoolSpec::new(pool.name.clone(), 0, pool.allocatable.clone()),
            (Some(_), Some(seen)) => observed_spec(seen, &pool.allocatable, &rendered),
        };
        spec.scalable_to = pool.scalable_to;
        specs.push(spec);
        nodes.push(node_facts(pool.labels.clone(), &pool.taints));
    }
    let unnamed: Vec<&ObservedPool> =
        observed.unwrap_or_default().iter().filter(|seen| specs.iter().all(|spec| spec.name != seen.name)).collect();
    if let Some(seen) = joined(&unnamed) {
        specs.push(observed_spec(&seen, &Resources::default(), &rendered));
        nodes.push(node_facts(Labels::new(), &[]));
    }
    specs.iter_mut().for_each(|spec| spec.overcommit.clone_from(&overcommit));
    share_reserved(&mut specs, &cluster.reserved);
    ClusterPools { known: cluster.pools.is_some() || observed.is_some(), specs, nodes }
}

/// Observed pools that the Cluster file does not name, as the one pool `other`: a pool that is renamed there takes no node
/// away. A node of it offers what each of them does.
fn joined(pools: &[&ObservedPool]) -> Option<ObservedPool> {
    let (first, rest) = pools.split_first()?;
    let mut all = ObservedPool { name: OTHER_POOL.into(), ..(*first).clone() };
    for pool in rest {
        if pool.nodes > 0 && all.nodes > 0 {
            all.allocatable.0.retain(|name, _| pool.allocatable.0.contains_key(name));
            for (name, least) in &mut all.allocatable.0 {
                *least = pool.allocatable.0.get(name).map_or(*least, |amount| (*amount).min(*least));
            }
        } else if pool.nodes > 0 {
            all.allocatable = pool.allocatable.clone();
        }
        all.nodes = all.nodes.saturating_add(pool.nodes);
        all.others.extend(pool.others.iter().cloned());
    }
    Some(all)
}

fn observed_spec(seen: &ObservedPool, stated: &Resources, rendered: &impl Fn(&str) -> bool) -> PoolSpec {
    // A pool scaled to zero has no node to be asked; its file says what one would offer.
    let allocatable = if seen.nodes == 0 && seen.allocatable.is_empty() { stated } else { &seen.allocatable };
    let mut spec = PoolSpec::new(seen.name.clone(), seen.nodes, allocatable.clone());
    for (owner, requests) in &seen.others {
        if !rendered(owner) {
            spec.others.add(requests, 1);
        }
    }
    spec
}

fn node_facts(labels: Labels, taints: &[crate::base::taint::Taint]) -> NodeFacts {
    NodeFacts { name: SmolStr::default(), labels, taints: taints.to_vec(), unschedulable: false, of_pool: true }
}

/// Owners of observed usage that are workloads of this fleet, with the clusters they may be in.
struct Owners(BTreeMap<String, ClusterSet>);

impl Owners {
    fn new(fleet: &Fleet, record: &Record) -> Self {
        let capacities = record.clusters.values().filter_map(|observed| observed.capacity.as_ref()).flatten();
        let seen: BTreeSet<&str> = capacities.flat_map(|pool| &pool.others).map(|(owner, _)| owner.as_str()).collect();
        let mut owners: BTreeMap<String, ClusterSet> = BTreeMap::new();
        if seen.is_empty() {
            return Self(owners);
        }
        for app in &fleet.apps {
            let held = record.apps.get(&(fleet.team(app.team).name.clone(), app.name.clone()));
            let held: ClusterSet = held
                .into_iter()
                .flat_map(|placed| &placed.clusters)
                .filter_map(|name| fleet.cluster_id(name))
                .collect();
            for workload in &app.workloads {
                let key = &app.objects[workload.object].key;
                let group = if key.group.is_empty() { "core" } else { key.group.as_str() };
                let namespace = key.namespace.as_deref().unwrap_or_default();
                let owner = format!("{group}/{}/{namespace}/{}", key.kind, key.name);
                if seen.contains(owner.as_str()) {
                    let at = owners.entry(owner).or_default();
                    *at = at.or(&app.placement.candidates).or(&held);
                }
            }
        }
        Self(owners)
    }

    fn renders(&self, owner: &str, cluster: ClusterId) -> bool {
        self.0.get(owner).is_some_and(|clusters| clusters.contains(cluster))
    }
}
