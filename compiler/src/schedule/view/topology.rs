//! The groups of clusters that apps spread over.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ClusterSet, Fleet, TopologyKey};

/// By key that some app spreads over: the group of each cluster, numbered in name order.
pub(super) fn topologies(fleet: &Fleet) -> BTreeMap<TopologyKey, Vec<Option<u32>>> {
    let spreads = fleet.apps.iter().flat_map(|app| &app.placement.spread);
    let keys: BTreeSet<&TopologyKey> = spreads.map(|spread| &spread.key).collect();
    let numbered = |key: &TopologyKey| {
        let groups: Vec<_> = fleet.clusters.iter().map(|cluster| key.group(cluster)).collect();
        let names: BTreeSet<_> = groups.iter().flatten().collect();
        let numbers: BTreeMap<_, u32> = names.into_iter().zip(0..).collect();
        groups.iter().map(|group| numbers.get(group.as_ref()?).copied()).collect()
    };
    keys.into_iter().map(|key| (key.clone(), numbered(key))).collect()
}

/// The clusters that have a value of a key, of which `groups` are the groups by cluster.
pub(super) fn in_a_group(fleet: &Fleet, groups: &[Option<u32>]) -> ClusterSet {
    fleet.cluster_ids().zip(groups).filter(|(_, group)| group.is_some()).map(|(cluster, _)| cluster).collect()
}
