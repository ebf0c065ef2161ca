//! Room and bookings by class of pods: pods that ask for the same amounts and may use the same pools.
//!
//! Invariant: an answer depends on what is booked alone. What is remembered is remembered with the version of its cluster.

mod pools;
mod room;
mod sets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::rooms::ClusterPools;
use crate::base::labels::Labels;
use crate::base::taint::Toleration;
use crate::base::{ClusterId, SmolStr};
use crate::kinds::pod::{NodeFacts, PodFacts, RequiredAffinity, fits_node};
use crate::room::{EligiblePool, PoolRef, RequestId, Rooms, Shortage};

pub(super) use pools::Resolved;
use room::Remembered;
pub(super) use room::Sought;

/// A class of pods of one [`Ledger`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClassId(u32);

/// All that is booked in the fleet.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    rooms: Rooms,
    clusters: Vec<ClusterNodes>,
    masks: Vec<Mask>,
    /// By a hash of what they are told apart by.
    mask_ids: FxHashMap<u64, Vec<usize>>,
    classes: Vec<Class>,
    class_ids: FxHashMap<(usize, RequestId), ClassId>,
    /// By cluster: changes with every booking.
    versions: Vec<u64>,
    /// Clusters in which something was taken back, so that they may have more room than before. Of this epoch.
    raised: Vec<ClusterId>,
    /// How often everything was taken back.
    epoch: u64,
}

#[derive(Clone, Debug)]
struct ClusterNodes {
    known: bool,
    pools: Vec<Nodes>,
}

#[derive(Clone, Debug)]
struct Nodes {
    pool: PoolRef,
    facts: NodeFacts,
    /// Nodes that exist.
    count: u32,
}

/// Pods that may use the same pools.
#[derive(Clone, Debug)]
struct Mask {
    pod: PodFacts,
    /// By cluster id, once asked for.
    eligible: Vec<Option<Box<[EligiblePool]>>>,
}

#[derive(Clone, Debug)]
struct Class {
    mask: usize,
    request: RequestId,
    /// How much room there is for it, as far as that is known.
    rooms: Remembered,
    /// How many workloads are of this class, or ask for it again.
    users: u32,
}

/// More replicas than most workloads have.
pub(super) const PLENTY: u32 = 256;

/// From so many users on, answers to a class are kept for the others of it.
const SHARED: u32 = 4;

impl Ledger {
    /// Nothing booked.
    pub fn new(pools: Vec<ClusterPools>) -> Self {
        let (mut specs, mut nodes) = (Vec::with_capacity(pools.len()), Vec::with_capacity(pools.len()));
        for ClusterPools { known, specs: of, nodes: facts } in pools {
            nodes.push((known, of.iter().map(|spec| spec.nodes).zip(facts).collect::<Vec<_>>()));
            specs.push(of);
        }
        let rooms = Rooms::new(specs);
        let of = |(id, (known, nodes)): (ClusterId, (bool, Vec<(u32, NodeFacts)>))| {
            let pools = rooms.pools(id).zip(nodes).map(|(pool, (count, facts))| Nodes { pool, facts, count });
            ClusterNodes { known, pools: pools.collect() }
        };
        let clusters: Vec<ClusterNodes> = (0..=u16::MAX).map(ClusterId).zip(nodes).map(of).collect();
        Self {
            rooms,
            versions: vec![0; clusters.len()],
            clusters,
            masks: Vec::new(),
            mask_ids: FxHashMap::default(),
            classes: Vec::new(),
            class_ids: FxHashMap::default(),
            raised: Vec::new(),
            epoch: 0,
        }
    }

    /// The class of a pod.
    pub fn class(&mut self, pod: &PodFacts) -> ClassId {
        let request = self.rooms.request(&pod.requests);
        let mask = self.mask(pod);
        let classes = &mut self.classes;
        let id = *self.class_ids.entry((mask, request)).or_insert_with(|| {
            classes.push(Class { mask, request, rooms: Remembered::default(), users: 0 });
            ClassId(u32::try_from(classes.len() - 1).unwrap_or(u32::MAX))
        });
        if let Some(class) = self.classes.get_mut(id.0 as usize) {
            class.users = class.users.saturating_add(1);
        }
        id
    }

    /// The pods that may use the same pools.
    fn mask(&mut self, pod: &PodFacts) -> usize {
        fn key(pod: &PodFacts) -> (&Labels, &Option<RequiredAffinity>, &[Toleration]) {
            (&pod.node_selector, &pod.required_affinity, &pod.tolerations)
        }
        let same = self.mask_ids.entry(FxBuildHasher.hash_one(key(pod))).or_default();
        let known = same.iter().copied().find(|at| self.masks.get(*at).is_some_and(|mask| key(&mask.pod) == key(pod)));
        known.unwrap_or_else(|| {
            self.masks.push(Mask { pod: pod.clone(), eligible: vec![None; self.clusters.len()] });
            same.push(self.masks.len() - 1);
            self.masks.len() - 1
        })
    }

    /// Whether several workloads are of a class.
    pub fn is_shared(&self, class: ClassId) -> bool {
        self.classes.get(class.0 as usize).is_some_and(|class| class.users >= SHARED)
    }

    /// The rooms that it books in.
    pub fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    /// What one pod of a class asks for.
    pub fn request(&self, class: ClassId) -> Option<RequestId> {
        self.classes.get(class.0 as usize).map(|class| class.request)
    }

    /// What a pod's fit depends on, by pool of a cluster.
    pub fn facts(&self, cluster: ClusterId) -> impl Iterator<Item = &NodeFacts> {
        self.clusters.get(cluster.index()).into_iter().flat_map(|nodes| &nodes.pools).map(|nodes| &nodes.facts)
    }

    /// Takes every booking back.
    pub fn clear(&mut self) {
        self.rooms.unbook_all();
        self.versions.iter_mut().for_each(|version| *version += 1);
        self.forget_raises();
    }

    /// What is left in a cluster by resource, over all its pools; `None` where its capacity is unknown.
    pub fn free(&self, cluster: ClusterId) -> Option<BTreeMap<SmolStr, i128>> {
        let mut free: BTreeMap<SmolStr, i128> = BTreeMap::new();
        if !self.is_known(cluster) {
            return None;
        }
        for left in self.rooms.pools(cluster).filter_map(|pool| self.rooms.free(pool)).flatten() {
            *free.entry(left.resource).or_default() += left.free;
        }
        Some(free)
    }

    /// Whether any capacity of a cluster is known.
    pub fn is_known(&self, cluster: ClusterId) -> bool {
        self.clusters.get(cluster.index()).is_some_and(|c| c.known)
    }

    /// The pools of a cluster that the class may use.
    pub fn eligible(&mut self, class: ClassId, cluster: ClusterId) -> &[EligiblePool] {
        let Some(mask) = self.classes.get(class.0 as usize).and_then(|c| self.masks.get_mut(c.mask)) else {
            return &[];
        };
        let (Some(eligible), Some(nodes)) =
            (mask.eligible.get_mut(cluster.index()), self.clusters.get(cluster.index()))
        else {
            return &[];
        };
        let pod = &mask.pod;
        eligible.get_or_insert_with(|| {
            let fits = |nodes: &&Nodes| fits_node(pod, &nodes.facts).is_ok_and(|fit| fit.fits());
            let pools = nodes.pools.iter().filter(fits);
            pools.map(|n| EligiblePool { pool: n.pool, tainted: !n.facts.taints.is_empty() }).collect()
        })
    }

    /// Books replicas, whether they fit or not.
    pub fn book(&mut self, class: ClassId, pool: PoolRef, replicas: u32) {
        self.change(class, pool, replicas, Rooms::book);
    }

    /// Takes a booking back.
    pub fn unbook(&mut self, class: ClassId, pool: PoolRef, replicas: u32) {
        self.change(class, pool, replicas, Rooms::unbook);
        self.raise(self.rooms.cluster_of(pool));
    }

    fn change(&mut self, class: ClassId, pool: PoolRef, replicas: u32, how: fn(&mut Rooms, PoolRef, RequestId, u32)) {
        let Some(class) = self.classes.get(class.0 as usize) else { return };
        if replicas > 0 {
            how(&mut self.rooms, pool, class.request, replicas);
            self.touch(self.rooms.cluster_of(pool));
        }
    }

    /// Counts replicas that run beyond what is booked: they limit growth, and displace nothing.
    pub fn count_beyond(&mut self, class: ClassId, pool: PoolRef, replicas: u32) {
        self.change(class, pool, replicas, Rooms::count_beyond);
    }

    /// Takes back what [`count_beyond`](Self::count_beyond) counted.
    pub fn discount_beyond(&mut self, class: ClassId, pool: PoolRef, replicas: u32) {
        self.change(class, pool, replicas, Rooms::discount_beyond);
        self.raise(self.rooms.cluster_of(pool));
    }

    /// Books one pod on every node that the class may use.
    pub fn book_daemon(&mut self, class: ClassId, cluster: ClusterId) {
        self.change_daemon(class, cluster, Rooms::book_daemon);
    }

    /// Takes back what [`book_daemon`](Self::book_daemon) booked.
    pub fn unbook_daemon(&mut self, class: ClassId, cluster: ClusterId) {
        self.change_daemon(class, cluster, Rooms::unbook_daemon);
    }

    fn change_daemon(&mut self, class: ClassId, cluster: ClusterId, how: fn(&mut Rooms, PoolRef, RequestId)) {
        let eligible = self.eligible(class, cluster).to_vec();
        let Some(class) = self.classes.get(class.0 as usize) else { return };
        for pool in eligible {
            how(&mut self.rooms, pool.pool, class.request);
        }
        self.raise(cluster);
        self.touch(cluster);
    }

    fn touch(&mut self, cluster: ClusterId) {
        if let Some(version) = self.versions.get_mut(cluster.index()) {
            *version += 1;
        }
    }

    /// How many more replicas a pool holds; no bound where its capacity is unknown.
    pub fn room_in(&self, class: ClassId, pool: PoolRef) -> u64 {
        let class = self.classes.get(class.0 as usize);
        class.and_then(|c| self.rooms.room(pool, c.request)).map_or(u64::MAX, |room| room.replicas)
    }

    /// Pools in which more is booked than their nodes hold.
    pub fn overdrawn(&self) -> Vec<PoolRef> {
        self.rooms.all_pools().filter(|pool| self.rooms.is_overdrawn(*pool)).collect()
    }

    /// By how much more is booked in a pool than its nodes hold, by resource.
    pub fn overdraft(&self, pool: PoolRef) -> Vec<(SmolStr, i128)> {
        self.rooms.overdraft(pool).into_iter().map(|of| (of.resource, of.missing)).collect()
    }

    /// The cluster of a pool.
    pub fn cluster_of(&self, pool: PoolRef) -> ClusterId {
        self.rooms.cluster_of(pool)
    }

    /// Pools that need nodes an autoscaler must add, with how many.
    pub fn nodes_to_add(&self) -> Vec<(PoolRef, u64)> {
        let pools = self.rooms.all_pools().map(|pool| (pool, self.rooms.nodes_to_add(pool)));
        pools.filter(|(_, nodes)| *nodes > 0).collect()
    }

    /// How many of these replicas a pool holds, if usage by others and what runs beyond the bookings are left aside.
    pub fn room_for_placed(&self, class: ClassId, pool: PoolRef) -> u64 {
        let class = self.classes.get(class.0 as usize);
        class.and_then(|c| self.rooms.room_for_placed(pool, c.request)).unwrap_or(u64::MAX)
    }

    /// What is short for one replica of the class in a cluster.
    pub fn shortage(&mut self, class: ClassId, cluster: ClusterId) -> Option<Shortage> {
        let pools: Vec<PoolRef> = self.eligible(class, cluster).iter().map(|e| e.pool).collect();
        self.rooms.shortage(&pools, self.classes.get(class.0 as usize)?.request)
    }

    /// Nodes that exist in the pools of a cluster that the class may use; `None` where unknown.
    pub fn nodes(&mut self, class: ClassId, cluster: ClusterId) -> Option<u32> {
        let eligible = self.eligible(class, cluster).to_vec();
        let nodes = self.clusters.get(cluster.index()).filter(|c| c.known)?;
        let usable = nodes.pools.iter().filter(|n| eligible.iter().any(|e| e.pool == n.pool));
        Some(usable.map(|n| n.count).fold(0, u32::saturating_add))
    }
}
