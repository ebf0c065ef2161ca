//! Room and bookings by class of pods: pods that ask for the same amounts and may use the same pools.
//!
//! Invariant: an answer depends on what is booked alone. What is remembered is remembered with the version of its cluster.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::rooms::ClusterPools;
use crate::base::labels::Labels;
use crate::base::taint::Toleration;
use crate::base::{ClusterId, PoolId, SmolStr};
use crate::kinds::pod::{NodeFacts, PodFacts, RequiredAffinity, fits_node};
use crate::room::{EligiblePool, Excess, PoolRef, RequestId, Rooms, SetPart, Shortage};

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
    /// By cluster id: the version at which the room was computed, and the room.
    rooms: Vec<Option<(u64, u64)>>,
    /// The same by pool, where several workloads share the class: a booking changes one pool of a cluster.
    pools: Vec<(u64, u64)>,
    /// How many workloads are of this class, or ask for it again.
    users: u32,
}

/// From so many users on, the room of a class is remembered by pool, too.
const SHARED: u32 = 4;

impl Ledger {
    /// Nothing booked.
    pub fn new(pools: Vec<ClusterPools>) -> Self {
        let specs = pools.iter().map(|cluster| cluster.specs.clone());
        let rooms = Rooms::new(specs);
        let clusters = (0..=u16::MAX).map(ClusterId).zip(pools);
        let clusters: Vec<ClusterNodes> = clusters
            .map(|(id, cluster)| ClusterNodes {
                known: cluster.known,
                pools: rooms
                    .pools(id)
                    .zip(cluster.nodes.into_iter().zip(cluster.specs))
                    .map(|(pool, (facts, spec))| Nodes { pool, facts, count: spec.nodes })
                    .collect(),
            })
            .collect();
        Self {
            rooms,
            versions: vec![0; clusters.len()],
            clusters,
            masks: Vec::new(),
            mask_ids: FxHashMap::default(),
            classes: Vec::new(),
            class_ids: FxHashMap::default(),
        }
    }

    /// The class of a pod.
    pub fn class(&mut self, pod: &PodFacts) -> ClassId {
        let request = self.rooms.request(&pod.requests);
        let count = self.clusters.len();
        let mask = self.mask(pod);
        let classes = &mut self.classes;
        let id = *self.class_ids.entry((mask, request)).or_insert_with(|| {
            classes.push(Class { mask, request, rooms: vec![None; count], pools: Vec::new(), users: 0 });
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

    /// Replicas that still fit in a cluster; `None` where its capacity is unknown.
    pub fn room(&mut self, class: ClassId, cluster: ClusterId) -> Option<u64> {
        if !self.is_known(cluster) {
            return None;
        }
        let version = self.versions.get(cluster.index()).copied()?;
        let remembered = self.classes.get(class.0 as usize).and_then(|c| c.rooms.get(cluster.index()).copied()?);
        if let Some((_, room)) = remembered.filter(|(at, _)| *at == version) {
            return Some(room);
        }
        let room = self.sum_room(class, cluster)?;
        let class = self.classes.get_mut(class.0 as usize)?;
        *class.rooms.get_mut(cluster.index())? = Some((version, room));
        Some(room)
    }

    /// Whether a cluster has room for so many replicas; unknown capacity has.
    pub fn holds(&mut self, class: ClassId, cluster: ClusterId, replicas: u32) -> bool {
        let known = self.classes.get(class.0 as usize).and_then(|c| c.rooms.get(cluster.index()).copied()?);
        let is_current = |(at, _): &(u64, u64)| self.versions.get(cluster.index()) == Some(at);
        if known.as_ref().is_some_and(is_current) || replicas != 1 || !self.is_known(cluster) {
            return self.room(class, cluster).is_none_or(|room| room >= u64::from(replicas));
        }
        self.eligible(class, cluster);
        let class = self.classes.get(class.0 as usize);
        let pools = class.and_then(|c| self.masks.get(c.mask)?.eligible.get(cluster.index())?.as_deref());
        let fits = |pool: &EligiblePool| class.is_some_and(|c| self.rooms.holds_one(pool.pool, c.request));
        pools.unwrap_or_default().iter().any(fits)
    }

    fn sum_room(&mut self, class: ClassId, cluster: ClusterId) -> Option<u64> {
        self.eligible(class, cluster);
        let class = self.classes.get_mut(class.0 as usize)?;
        let eligible = self.masks.get(class.mask)?.eligible.get(cluster.index())?.as_deref()?;
        if class.users < SHARED {
            return Some(self.rooms.sum_room(eligible, class.request)?.replicas);
        }
        if class.pools.is_empty() {
            class.pools = vec![(u64::MAX, 0); self.rooms.all_pools().len()];
        }
        let mut sum = 0_u64;
        for pool in eligible {
            let version = self.rooms.version(pool.pool);
            let remembered = class.pools.get_mut(pool.pool.index())?;
            if remembered.0 != version {
                *remembered = (version, self.rooms.room(pool.pool, class.request)?.replicas);
            }
            sum = sum.saturating_add(remembered.1);
        }
        Some(sum)
    }

    /// The pool of a recorded seat, if the class may use it: the recorded one, or the only one there is.
    pub fn resolve(&mut self, class: ClassId, cluster: ClusterId, pool: Option<PoolId>) -> Resolved {
        if !self.is_known(cluster) {
            return Resolved::Unknown;
        }
        let named = pool.map(|pool| self.rooms.pool(cluster, pool));
        let eligible = self.eligible(class, cluster);
        match (named, eligible) {
            (Some(Some(named)), eligible) if eligible.iter().any(|e| e.pool == named) => Resolved::Pool(named),
            (Some(Some(_)), _) | (_, []) => Resolved::Unusable,
            (None, [only]) => Resolved::Pool(only.pool),
            (Some(None) | None, _) => Resolved::Open,
        }
    }

    /// The pool as the lock names it: only where the class may use more than one.
    pub fn pool_id(&mut self, class: ClassId, cluster: ClusterId, pool: PoolRef) -> Option<PoolId> {
        if self.eligible(class, cluster).len() < 2 {
            return None;
        }
        self.id(cluster, pool)
    }

    /// The pool by its position in its cluster.
    pub fn id(&self, cluster: ClusterId, pool: PoolRef) -> Option<PoolId> {
        let position = self.rooms.pools(cluster).position(|p| p == pool)?;
        u16::try_from(position).ok().map(PoolId)
    }

    /// Books replicas, whether they fit or not.
    pub fn book(&mut self, class: ClassId, pool: PoolRef, replicas: u32) {
        self.change(class, pool, replicas, Rooms::book);
    }

    /// Takes a booking back.
    pub fn unbook(&mut self, class: ClassId, pool: PoolRef, replicas: u32) {
        self.change(class, pool, replicas, Rooms::unbook);
    }

    fn change(&mut self, class: ClassId, pool: PoolRef, replicas: u32, how: fn(&mut Rooms, PoolRef, RequestId, u32)) {
        let Some(class) = self.classes.get(class.0 as usize) else { return };
        if replicas > 0 {
            how(&mut self.rooms, pool, class.request, replicas);
            self.touch(self.rooms.cluster_of(pool));
        }
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
        self.touch(cluster);
    }

    fn touch(&mut self, cluster: ClusterId) {
        if let Some(version) = self.versions.get_mut(cluster.index()) {
            *version += 1;
        }
    }

    /// Which pools of a cluster take so many replicas, in booking order.
    pub fn spread(&mut self, class: ClassId, cluster: ClusterId, replicas: u32, excess: Excess) -> Vec<(PoolRef, u32)> {
        let eligible = self.eligible(class, cluster).to_vec();
        let Some(class) = self.classes.get(class.0 as usize) else { return Vec::new() };
        self.rooms.spread_over_pools(&eligible, class.request, replicas, excess).seats
    }

    /// Whether so many replicas of each class fit into a cluster beside each other. Nothing stays booked.
    pub fn fits_together(&mut self, cluster: ClusterId, needs: &[(ClassId, u32)]) -> bool {
        let mut booked = Vec::new();
        let mut all = true;
        for (class, replicas) in needs {
            let seats = self.spread(*class, cluster, *replicas, Excess::Leave);
            all = seats.iter().map(|(_, n)| u64::from(*n)).sum::<u64>() >= u64::from(*replicas);
            for (pool, replicas) in seats {
                self.book(*class, pool, replicas);
                booked.push((*class, pool, replicas));
            }
            if !all {
                break;
            }
        }
        for (class, pool, replicas) in booked {
            self.unbook(class, pool, replicas);
        }
        all
    }

    /// How many whole sets fit into a cluster, at most `most`: a set has so many pods of each class. Nothing stays booked.
    pub fn sets(&mut self, cluster: ClusterId, set: &[(ClassId, u32)], most: u32) -> u32 {
        let parts = self.parts(cluster, set);
        self.rooms.max_sets(&parts, most)
    }

    /// The order in which the parts of a set are booked, as positions.
    pub fn set_order(&mut self, cluster: ClusterId, set: &[(ClassId, u32)]) -> Vec<usize> {
        let parts = self.parts(cluster, set);
        self.rooms.set_order(&parts)
    }

    /// The part of a set that a cluster has no room for: its position, how many of its pods fit beside the others, and what
    /// the next one lacks. `None` where the set fits.
    pub fn short_of_set(
        &mut self,
        cluster: ClusterId,
        set: &[(ClassId, u32)],
    ) -> Option<(usize, u32, Option<Shortage>)> {
        let mut booked = Vec::new();
        let mut short = None;
        for at in self.set_order(cluster, set) {
            let Some((class, pods)) = set.get(at).copied() else { continue };
            let mut fits = 0_u32;
            for (pool, pods) in self.spread(class, cluster, pods, Excess::Leave) {
                self.book(class, pool, pods);
                booked.push((class, pool, pods));
                fits = fits.saturating_add(pods);
            }
            if fits < pods {
                short = Some((at, fits, self.shortage(class, cluster)));
                break;
            }
        }
        for (class, pool, pods) in booked {
            self.unbook(class, pool, pods);
        }
        short
    }

    fn parts(&mut self, cluster: ClusterId, set: &[(ClassId, u32)]) -> Vec<SetPart> {
        let mut parts = Vec::with_capacity(set.len());
        for (class, replicas) in set {
            let pools = self.eligible(*class, cluster).to_vec();
            let Some(class) = self.classes.get(class.0 as usize) else { continue };
            parts.push(SetPart { pools, request: class.request, replicas: *replicas });
        }
        parts
    }

    /// The one pool for replicas that must not be split: the first in booking order that holds them all, else the first.
    pub fn one_pool(&mut self, class: ClassId, cluster: ClusterId, replicas: u32) -> Option<PoolRef> {
        let order = self.spread(class, cluster, replicas.max(1), Excess::Seat);
        let request = self.classes.get(class.0 as usize)?.request;
        let eligible = self.eligible(class, cluster).to_vec();
        let holds = |pool: &PoolRef| self.rooms.room(*pool, request).is_none_or(|r| r.replicas >= u64::from(replicas));
        let rest = eligible.iter().map(|e| e.pool);
        let all: Vec<PoolRef> = order.into_iter().map(|(pool, _)| pool).chain(rest).collect();
        all.iter().copied().find(holds).or_else(|| all.first().copied())
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

    /// How many of these replicas a pool holds, if usage by others is left aside.
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

/// Where a recorded seat is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    /// In this pool.
    Pool(PoolRef),
    /// In one of several, the record does not say which; or in a pool that is no longer there.
    Open,
    /// The pods may not use the recorded pool, or none of the cluster.
    Unusable,
    /// The capacity of the cluster is unknown: nothing is booked.
    Unknown,
}
