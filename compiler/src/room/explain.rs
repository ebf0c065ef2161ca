//! What is short, in figures a message can show.

use smol_str::SmolStr;

use super::ledger::{Cause, Lane};
use super::rooms::{PoolRef, RequestId, ResourceId, Rooms};

/// What a pool has left of one resource. Amounts in the unit of the resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Free {
    /// The resource.
    pub resource: SmolStr,
    /// What one empty node offers to pods, DaemonSets subtracted.
    pub per_node: u64,
    /// Left in sum with virtual nodes; negative when over-booked.
    pub free: i128,
    /// Left in sum on nodes that exist; negative when over-booked or when virtual nodes are needed already.
    pub real: i128,
    /// The most one more pod could get, if the pods are packed tightly. What is left may be in smaller pieces.
    pub largest: u64,
}

/// Why not one pod of a request fits into some pools, told for the pool that is nearest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortage {
    /// The pool that needs least to change. Where its cause is [`Cause::LargerThanNode`], no pool's nodes are large
    /// enough; where it is [`Cause::NotOffered`], none offers the resource.
    pub pool: PoolRef,
    /// The resource that is short.
    pub resource: SmolStr,
    /// In which way.
    pub cause: Cause,
    /// What one pod requests of it.
    pub needed: u64,
    /// The most one pod could get: of a node that is empty if the request is larger than that, else of what is left.
    pub largest: u64,
}

/// A pool in which more is booked than its nodes hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overdraft {
    /// The pool.
    pub pool: PoolRef,
    /// The resource.
    pub resource: SmolStr,
    /// How much is missing, in the unit of the resource.
    pub missing: i128,
}

impl Rooms {
    /// What is left in a pool by resource, in name order; `None` where the capacity is unknown.
    #[must_use]
    pub fn free(&self, pool: PoolRef) -> Option<Vec<Free>> {
        let pool = self.get(pool);
        let (all, real) = (pool.asked(pool.all_nodes, true), pool.asked(pool.nodes, true));
        let free = |(resource, lane): &(ResourceId, Lane)| Free {
            resource: self.resource_name(*resource).clone(),
            per_node: lane.node(),
            free: lane.free(all),
            real: lane.free(real),
            largest: lane.largest(all),
        };
        let mut list: Vec<Free> = pool.lanes.iter().map(free).collect();
        list.sort_unstable_by(|a, b| a.resource.cmp(&b.resource));
        pool.known.then_some(list)
    }

    /// Why no pod of the request fits into any of the pools. `None` if one does, or might (capacity unknown), or if
    /// there are no pools.
    #[must_use]
    pub fn shortage(&self, pools: &[PoolRef], request: RequestId) -> Option<Shortage> {
        let mut nearest: Option<Shortage> = None;
        for pool in pools {
            let room = self.room(*pool, request)?;
            if room.replicas > 0 {
                return None;
            }
            let (resource, cause) = room.limited_by;
            let amounts = &self.request_of(request).amounts;
            let needed = amounts.iter().find(|(name, _)| *name == resource).map_or(0, |(_, amount)| *amount);
            let (at, lane) = (self.get(*pool), self.get(*pool).lane(resource));
            let largest = match cause {
                Cause::NotOffered => 0,
                Cause::LargerThanNode => lane.map_or(0, Lane::node),
                // Refused all the same, for a reason the packing of this one resource does not show.
                Cause::Overdrawn | Cause::Packing | Cause::UsedUp => {
                    lane.map_or(0, |lane| lane.largest(at.asked(at.all_nodes, true))).min(needed.saturating_sub(1))
                }
            };
            let shortage =
                Shortage { pool: *pool, resource: self.resource_name(resource).clone(), cause, needed, largest };
            let rank = |shortage: &Shortage| (shortage.cause, shortage.largest);
            if nearest.as_ref().is_none_or(|nearest| rank(&shortage) > rank(nearest)) {
                nearest = Some(shortage);
            }
        }
        nearest
    }

    /// How many nodes must be added to those that exist, so that `replicas` more pods fit. 0 if they fit already;
    /// `None` if no number is enough, or the capacity is unknown. Whether the pool may grow so far is not asked.
    #[must_use]
    pub fn nodes_needed(&self, pool: PoolRef, request: RequestId, replicas: u32) -> Option<u64> {
        let pool = self.get(pool);
        let asked = pool.asked(0, true);
        let mut nodes = pool.known.then_some(0)?;
        if replicas == 0 {
            return Some(0);
        }
        // In a pool that is overdrawn the bookings come first, whatever resource they are short of.
        let placed = pool.asked(0, false);
        for (_, lane) in pool.lanes.iter().filter(|(_, lane)| lane.is_booked()) {
            nodes = nodes.max(lane.nodes_in_use(placed)?);
        }
        for (resource, amount) in &self.request_of(request).amounts {
            let lane = pool.lane(*resource).filter(|lane| lane.is_offered())?;
            nodes = nodes.max(lane.nodes_for(*amount, u64::from(replicas), asked)?);
        }
        Some(nodes.saturating_sub(pool.nodes))
    }

    /// How many nodes beyond those that exist what is booked needs: "needs n more nodes". `None` where no number is
    /// enough, or the capacity is unknown.
    #[must_use]
    pub fn virtual_nodes_in_use(&self, pool: PoolRef) -> Option<u64> {
        let pool = self.get(pool);
        let asked = pool.asked(0, true);
        let nodes = pool.lanes.iter().try_fold(0, |nodes, (_, lane)| Some(lane.nodes_in_use(asked)?.max(nodes)))?;
        pool.known.then_some(nodes.saturating_sub(pool.nodes))
    }

    /// How many nodes an autoscaler must add for what is booked: no more than it may, 0 where nothing is booked.
    #[must_use]
    pub fn nodes_to_add(&self, pool: PoolRef) -> u64 {
        let at = self.get(pool);
        let most = at.all_nodes - at.nodes;
        if most == 0 || !at.lanes.iter().any(|(_, lane)| lane.is_booked()) {
            return 0;
        }
        self.virtual_nodes_in_use(pool).map_or(0, |nodes| nodes.min(most))
    }

    /// By how much the bookings of a pool exceed its nodes, in resource order; empty where they do not, or where the
    /// capacity is unknown. Usage by others does not count: it limits growth, it never makes a placed replica leave.
    /// Virtual nodes count as nodes.
    #[must_use]
    pub fn overdraft(&self, pool: PoolRef) -> Vec<Overdraft> {
        let at = self.get(pool);
        if at.overdrawn.is_none() {
            return Vec::new();
        }
        let asked = at.asked(at.all_nodes, false);
        let overdraft = |(resource, lane): &(ResourceId, Lane)| {
            let missing = lane.excess(asked);
            (missing > 0).then(|| Overdraft { pool, resource: self.resource_name(*resource).clone(), missing })
        };
        let mut list: Vec<Overdraft> = at.lanes.iter().filter_map(overdraft).collect();
        list.sort_unstable_by(|a, b| a.resource.cmp(&b.resource));
        list
    }

    /// Whether a pool has an [`overdraft`](Self::overdraft).
    #[must_use]
    pub fn is_overdrawn(&self, pool: PoolRef) -> bool {
        self.get(pool).overdrawn.is_some()
    }

    /// The overdrafts of all pools, by (cluster, pool, resource).
    #[must_use]
    pub fn overdrawn(&self) -> Vec<Overdraft> {
        self.all_pools().flat_map(|pool| self.overdraft(pool)).collect()
    }
}
