//! All pools of a fleet: interned names, room, bookings and their undo.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::ledger::{Cause, Lane, MAX_REQUEST, MAX_ROOM};
use super::pool::Pool;
use super::spec::{PODS, PoolSpec, is_extended};
use crate::base::{ClusterId, PoolId, Resources};

/// A pool of one [`Rooms`]. Ascends by (cluster, position in the Cluster file).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PoolRef(pub(super) u32);

impl PoolRef {
    /// Its position among all pools.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A distinct pod request of one [`Rooms`]. Its value carries no meaning: it depends on who asked first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequestId(u32);

/// A resource name of one [`Rooms`]; see [`Rooms::resource_name`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ResourceId(pub(super) u32);

/// A point in the log of bookings, to return to with [`Rooms::undo_to`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark(usize);

/// How many more pods of a request a pool holds; at most 2^56.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// With the virtual nodes an autoscaler may add.
    pub replicas: u64,
    /// On nodes that exist; at most `replicas`.
    pub real: u64,
    /// The resource that runs out first, and how; of several the first by name.
    pub limited_by: (ResourceId, Cause),
}

/// A request with interned names.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// By resource name; `pods` is among them, so it is never empty.
    pub(super) amounts: Box<[(ResourceId, u64)]>,
}

#[derive(Debug, Clone, Copy)]
enum Booking {
    Pods { pool: PoolRef, request: RequestId, replicas: i64 },
    Beyond { pool: PoolRef, request: RequestId, replicas: i64 },
    Daemon { pool: PoolRef, request: RequestId, times: i64 },
}

/// The pools of all clusters and everything booked in them. See the [module](super) for the formulas.
///
/// Ids ([`PoolRef`], [`RequestId`], [`ResourceId`], [`Mark`]) belong to the `Rooms` that gave them, and to its clones.
#[derive(Debug, Clone, Default)]
pub struct Rooms {
    names: Vec<SmolStr>,
    /// Whether a resource is an extended one, by its id.
    extended: Vec<bool>,
    by_name: FxHashMap<SmolStr, ResourceId>,
    requests: Vec<Request>,
    by_amounts: FxHashMap<Box<[(ResourceId, u64)]>, RequestId>,
    pools: Vec<Pool>,
    /// The first pool of each cluster, and one past the last.
    starts: Vec<u32>,
    log: Vec<Booking>,
}

impl Rooms {
    /// The pools of the clusters in the order of [`ClusterId`], each cluster's in the order of its file. Nothing is
    /// booked.
    pub fn new(clusters: impl IntoIterator<Item = Vec<PoolSpec>>) -> Self {
        let mut rooms = Self::default();
        rooms.starts.push(0);
        for (cluster, pools) in (0..=u16::MAX).map(ClusterId).zip(clusters) {
            for spec in pools {
                let pool = rooms.pool_of(cluster, &spec);
                rooms.pools.push(pool);
            }
            rooms.starts.push(u32::try_from(rooms.pools.len()).unwrap_or(u32::MAX));
        }
        rooms
    }

    fn pool_of(&mut self, cluster: ClusterId, spec: &PoolSpec) -> Pool {
        let mut pool = Pool {
            name: spec.name.clone(),
            cluster,
            nodes: u64::from(spec.nodes),
            all_nodes: u64::from(spec.nodes.max(spec.scalable_to.unwrap_or(0))),
            known: spec.known,
            lanes: Vec::new(),
            slots: Vec::new(),
            overdrawn: None,
            version: 0,
        };
        let others = spec.allocatable_per_node.0.keys().filter(|name| *name != PODS);
        for name in std::iter::once(&SmolStr::new_static(PODS)).chain(others) {
            let resource = self.resource(name);
            let lane =
                Lane::new(spec.node_size(name), spec.daemon.get(name), spec.reserved.get(name), spec.others.get(name));
            pool.add_lane(resource, lane);
        }
        pool
    }

    fn resource(&mut self, name: &SmolStr) -> ResourceId {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let id = ResourceId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.extended.push(is_extended(name));
        self.by_name.insert(name.clone(), id);
        id
    }

    /// The id of what one pod requests. Amounts of 0 or less are no request, and each pod takes one of `pods`.
    pub fn request(&mut self, request: &Resources) -> RequestId {
        let pods = SmolStr::new_static(PODS);
        let mut named: Vec<(&SmolStr, i128)> = request.iter().filter(|(_, amount)| *amount > 0).collect();
        if let Err(at) = named.binary_search_by_key(&&pods, |(name, _)| *name) {
            named.insert(at, (&pods, 1));
        }
        let clamped = |amount: i128| u64::try_from(amount).unwrap_or(MAX_REQUEST).min(MAX_REQUEST);
        let amounts: Box<[(ResourceId, u64)]> =
            named.into_iter().map(|(name, amount)| (self.resource(name), clamped(amount))).collect();
        if let Some(known) = self.by_amounts.get(&amounts) {
            return *known;
        }
        let id = RequestId(u32::try_from(self.requests.len()).unwrap_or(u32::MAX));
        self.requests.push(Request { amounts: amounts.clone() });
        self.by_amounts.insert(amounts, id);
        id
    }

    /// The name of a resource.
    #[must_use]
    pub fn resource_name(&self, resource: ResourceId) -> &SmolStr {
        &self.names[resource.0 as usize]
    }

    /// The pools of a cluster in the order of its file; none where the cluster states none (then its capacity is
    /// unknown) or does not exist.
    pub fn pools(&self, cluster: ClusterId) -> impl DoubleEndedIterator<Item = PoolRef> + ExactSizeIterator + use<> {
        let start = |at: usize| self.starts.get(at).copied();
        let range = match (start(cluster.index()), start(cluster.index() + 1)) {
            (Some(from), Some(to)) => from..to,
            _ => 0..0,
        };
        range.map(PoolRef)
    }

    /// A pool by its cluster and its position there.
    #[must_use]
    pub fn pool(&self, cluster: ClusterId, pool: PoolId) -> Option<PoolRef> {
        self.pools(cluster).nth(pool.index())
    }

    /// The cluster of a pool.
    #[must_use]
    pub fn cluster_of(&self, pool: PoolRef) -> ClusterId {
        self.get(pool).cluster
    }

    /// The name of a pool in its cluster.
    #[must_use]
    pub fn pool_name(&self, pool: PoolRef) -> &SmolStr {
        &self.get(pool).name
    }

    /// Whether the capacity of a pool is known.
    #[must_use]
    pub fn is_known(&self, pool: PoolRef) -> bool {
        self.get(pool).known
    }

    /// How many more pods fit; `None` where the capacity is unknown.
    #[must_use]
    pub fn room(&self, pool: PoolRef, request: RequestId) -> Option<Room> {
        let pool = self.get(pool);
        let request = self.request_of(request);
        let (replicas, limited_by) = pool.room(request, pool.asked(pool.all_nodes, true))?;
        let real = if replicas == 0 || pool.all_nodes == pool.nodes {
            replicas
        } else {
            pool.room(request, pool.asked(pool.nodes, true))?.0
        };
        Some(Room { replicas, real, limited_by })
    }

    /// No more pods fit than this: cheaper to tell than the [`room`](Self::room). `None` where the capacity is unknown.
    #[must_use]
    pub fn at_most(&self, pool: PoolRef, request: RequestId) -> Option<u64> {
        let (pool, request) = (self.get(pool), self.request_of(request));
        if !pool.known || pool.overdrawn.is_some() {
            return pool.known.then_some(0);
        }
        let asked = pool.asked(pool.all_nodes, true);
        let bound = |(resource, amount): &(ResourceId, u64)| {
            pool.lane(*resource).filter(|lane| lane.is_offered()).map_or(0, |lane| lane.at_most(*amount, asked))
        };
        Some(request.amounts.iter().map(bound).min().unwrap_or(MAX_ROOM))
    }

    /// The [`room`](Self::room) for replicas, if it is less than `most`, else `most`: the fewer are asked for, the cheaper it
    /// is to tell. `None` where the capacity is unknown.
    #[must_use]
    pub fn room_up_to(&self, pool: PoolRef, request: RequestId, most: u64) -> Option<u64> {
        let (pool, request) = (self.get(pool), self.request_of(request));
        let (room, _) = pool.room_below(request, pool.asked(pool.all_nodes, true), most.min(MAX_ROOM))?;
        Some(room)
    }

    /// How many more pods fit if others used nothing, and nothing ran beyond what is booked. For replicas that are placed
    /// already: both limit growth, they never make a placed replica leave.
    #[must_use]
    pub fn room_for_placed(&self, pool: PoolRef, request: RequestId) -> Option<u64> {
        let pool = self.get(pool);
        Some(pool.room(self.request_of(request), pool.asked(pool.all_nodes, false))?.0)
    }

    /// Books `replicas` pods, whether they fit or not.
    pub fn book(&mut self, pool: PoolRef, request: RequestId, replicas: u32) {
        self.apply_and_log(Booking::Pods { pool, request, replicas: i64::from(replicas) });
    }

    /// Takes back `replicas` pods that were booked with the same request in the same pool. More than were booked is an
    /// error of the caller.
    pub fn unbook(&mut self, pool: PoolRef, request: RequestId, replicas: u32) {
        self.apply_and_log(Booking::Pods { pool, request, replicas: -i64::from(replicas) });
    }

    /// Counts `replicas` pods that run beyond what is booked. Like usage by others they limit growth, and make no pool
    /// overdrawn; unlike it they are pods of a known request, so every ledger charges them.
    pub fn count_beyond(&mut self, pool: PoolRef, request: RequestId, replicas: u32) {
        self.apply_and_log(Booking::Beyond { pool, request, replicas: i64::from(replicas) });
    }

    /// Takes back what [`count_beyond`](Self::count_beyond) counted. More than was counted is an error of the caller.
    pub fn discount_beyond(&mut self, pool: PoolRef, request: RequestId, replicas: u32) {
        self.apply_and_log(Booking::Beyond { pool, request, replicas: -i64::from(replicas) });
    }

    /// Books one pod on every node, virtual ones included, for a DaemonSet: the nodes shrink.
    pub fn book_daemon(&mut self, pool: PoolRef, request: RequestId) {
        self.apply_and_log(Booking::Daemon { pool, request, times: 1 });
    }

    /// Takes back what [`book_daemon`](Self::book_daemon) booked.
    pub fn unbook_daemon(&mut self, pool: PoolRef, request: RequestId) {
        self.apply_and_log(Booking::Daemon { pool, request, times: -1 });
    }

    /// The present point in the log.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Takes back every booking and unbooking since `mark`, the latest first. A mark that was itself undone past does
    /// nothing.
    pub fn undo_to(&mut self, mark: Mark) {
        while self.log.len() > mark.0 {
            match self.log.pop() {
                Some(Booking::Pods { pool, request, replicas }) => {
                    self.apply(Booking::Pods { pool, request, replicas: -replicas });
                }
                Some(Booking::Beyond { pool, request, replicas }) => {
                    self.apply(Booking::Beyond { pool, request, replicas: -replicas });
                }
                Some(Booking::Daemon { pool, request, times }) => {
                    self.apply(Booking::Daemon { pool, request, times: -times });
                }
                None => {}
            }
        }
    }

    /// Takes back every booking there is, and forgets the log: marks are no longer valid. Versions change only where anything
    /// was booked.
    pub fn unbook_all(&mut self) {
        self.log.clear();
        for pool in &mut self.pools {
            let mut changed = pool.overdrawn.take().is_some();
            for (_, lane) in &mut pool.lanes {
                changed |= lane.unbook_all();
            }
            pool.version += u64::from(changed);
        }
    }

    /// A number that changes whenever anything is booked in the pool, taken back or undone, and never returns to an
    /// earlier value: a room remembered with its version is valid as long as the version is the same.
    #[must_use]
    pub fn version(&self, pool: PoolRef) -> u64 {
        self.get(pool).version
    }

    fn apply_and_log(&mut self, booking: Booking) {
        self.log.push(booking);
        self.apply(booking);
    }

    fn apply(&mut self, booking: Booking) {
        let (Booking::Pods { pool, request, .. }
        | Booking::Beyond { pool, request, .. }
        | Booking::Daemon { pool, request, .. }) = booking;
        let pool = &mut self.pools[pool.0 as usize];
        let request = &self.requests[request.0 as usize];
        pool.version += 1;
        if !pool.known {
            return;
        }
        for (resource, amount) in &request.amounts {
            match booking {
                Booking::Pods { replicas, .. } => pool.lane_mut(*resource).book(*amount, replicas),
                Booking::Beyond { replicas, .. } => pool.lane_mut(*resource).count_beyond(*amount, replicas),
                Booking::Daemon { times, .. } => {
                    pool.lane_mut(*resource).shrink_node(i128::from(*amount) * i128::from(times));
                }
            }
        }
        let asked = pool.asked(pool.all_nodes, false);
        let overdrawn = pool.lanes.iter().filter(|(_, lane)| lane.is_overdrawn(asked)).map(|(resource, _)| *resource);
        pool.overdrawn = overdrawn.min_by_key(|resource| &self.names[resource.0 as usize]);
    }

    /// All pools, ascending.
    pub fn all_pools(&self) -> impl ExactSizeIterator<Item = PoolRef> + use<> {
        (0..u32::try_from(self.pools.len()).unwrap_or(u32::MAX)).map(PoolRef)
    }

    /// How many extended resources the nodes of a pool offer that the request does not ask for.
    pub(super) fn unused_extended(&self, pool: PoolRef, request: RequestId) -> usize {
        let request = self.request_of(request);
        let requested = |resource: ResourceId| request.amounts.iter().any(|(name, _)| *name == resource);
        let unused = |resource: ResourceId, lane: &Lane| {
            self.extended[resource.0 as usize] && lane.is_offered() && !requested(resource)
        };
        self.get(pool).lanes.iter().filter(|(resource, lane)| unused(*resource, lane)).count()
    }

    /// Ids come from this `Rooms` alone, so they always index.
    pub(super) fn get(&self, pool: PoolRef) -> &Pool {
        &self.pools[pool.0 as usize]
    }

    pub(super) fn request_of(&self, request: RequestId) -> &Request {
        &self.requests[request.0 as usize]
    }
}
