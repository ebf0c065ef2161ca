//! Which pools of a cluster take replicas of a class, and which are named in the record.

use super::{ClassId, Ledger};
use crate::base::{ClusterId, PoolId};
use crate::room::{Excess, PoolRef};

/// Where a recorded seat is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schedule) enum Resolved {
    /// In this pool.
    Pool(PoolRef),
    /// In one of several, the record does not say which; or in a pool that is no longer there.
    Open,
    /// The pods may not use the recorded pool, or none of the cluster.
    Unusable,
    /// The capacity of the cluster is unknown: nothing is booked.
    Unknown,
}

impl Ledger {
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

    /// Which pools of a cluster take so many replicas, in booking order.
    pub fn spread(&mut self, class: ClassId, cluster: ClusterId, replicas: u32, excess: Excess) -> Vec<(PoolRef, u32)> {
        let eligible = self.eligible(class, cluster).to_vec();
        let Some(class) = self.classes.get(class.0 as usize) else { return Vec::new() };
        self.rooms.spread_over_pools(&eligible, class.request, replicas, excess).seats
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
}
