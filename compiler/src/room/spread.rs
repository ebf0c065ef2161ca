//! Several pools of one cluster: their room together, and which of them take the pods.

use smol_str::SmolStr;

use super::ledger::Cause;
use super::rooms::{PoolRef, RequestId, Rooms};

/// A pool the pods of a request may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EligiblePool {
    /// The pool.
    pub pool: PoolRef,
    /// Whether it has a taint, one that the pod tolerates: such pools are kept for those who need them.
    pub tainted: bool,
}

/// What to do with pods that fit nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// Leave them unplaced.
    Leave,
    /// Seat them in the first pool in booking order whose nodes are large enough (else in the first of all): once
    /// booked, it is reported as overdrawn. For what must be booked in full: bound volumes, `exclusive`,
    /// `capacity: Ignore`.
    Seat,
}

/// Pods by pool.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    /// In booking order, each pool once, no zeros. The pods beyond the real nodes of a pool are in the same entry.
    pub seats: Vec<(PoolRef, u32)>,
    /// Pods that fit nowhere.
    pub unplaced: u32,
}

/// Room of several pools together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SumRoom {
    /// With the virtual nodes autoscalers may add.
    pub replicas: u64,
    /// On nodes that exist.
    pub real: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Part {
    Real,
    Virtual,
    /// After all that is known to fit.
    Unknown,
    /// Known not to fit: only for [`Excess::Seat`].
    Full,
    TooSmall,
}

/// A part of a pool; ascending is the order of booking.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<'a> {
    unused_extended: usize,
    tainted: bool,
    part: Part,
    room: u64,
    name: &'a SmolStr,
    pool: PoolRef,
}

impl Rooms {
    /// The room of a cluster for a request: the sum over the pools it may use. `None` as soon as one of them is of
    /// unknown capacity; none at all have room 0.
    #[must_use]
    pub fn sum_room(&self, pools: &[EligiblePool], request: RequestId) -> Option<SumRoom> {
        pools.iter().try_fold(SumRoom::default(), |sum, eligible| {
            let room = self.room(eligible.pool, request)?;
            Some(SumRoom {
                replicas: sum.replicas.saturating_add(room.replicas),
                real: sum.real.saturating_add(room.real),
            })
        })
    }

    /// Which pools take `replicas` pods. Nothing is booked.
    ///
    /// The order: fewest extended resources the pods do not request (web pods do not fill the GPU pool), untainted
    /// first, real before virtual nodes, smaller room left, name. A pool of unknown capacity takes what the known ones
    /// of its rank did not.
    #[must_use]
    pub fn spread_over_pools(
        &self,
        pools: &[EligiblePool],
        request: RequestId,
        replicas: u32,
        excess: Excess,
    ) -> Spread {
        let mut order: Vec<Candidate<'_>> = pools.iter().flat_map(|pool| self.candidates(*pool, request)).collect();
        order.sort_unstable();
        let mut spread = Spread { seats: Vec::new(), unplaced: replicas };
        for candidate in order.iter().filter(|candidate| candidate.part < Part::Full) {
            let fits = u32::try_from(candidate.room).unwrap_or(u32::MAX);
            spread.seat(candidate.pool, fits.min(spread.unplaced));
        }
        if excess == Excess::Seat {
            let large_enough = order.iter().find(|candidate| candidate.part != Part::TooSmall);
            if let Some(first) = large_enough.or(order.first()) {
                spread.seat(first.pool, spread.unplaced);
            }
        }
        spread
    }

    fn candidates(&self, eligible: EligiblePool, request: RequestId) -> impl Iterator<Item = Candidate<'_>> {
        let EligiblePool { pool, tainted } = eligible;
        let unused_extended = self.unused_extended(pool, request);
        let candidate =
            move |part, room| Candidate { unused_extended, tainted, part, room, name: self.pool_name(pool), pool };
        let parts = match self.room(pool, request) {
            None => [Some(candidate(Part::Unknown, u64::MAX)), None],
            Some(room) if room.replicas == 0 => {
                let part = match room.limited_by.1 {
                    Cause::NotOffered | Cause::LargerThanNode => Part::TooSmall,
                    Cause::Overdrawn | Cause::Packing | Cause::UsedUp => Part::Full,
                };
                [Some(candidate(part, 0)), None]
            }
            Some(room) => {
                let beyond = room.replicas - room.real;
                [
                    (room.real > 0).then(|| candidate(Part::Real, room.real)),
                    (beyond > 0).then(|| candidate(Part::Virtual, beyond)),
                ]
            }
        };
        parts.into_iter().flatten()
    }
}

impl Spread {
    fn seat(&mut self, pool: PoolRef, pods: u32) {
        if pods == 0 {
            return;
        }
        self.unplaced -= pods;
        match self.seats.iter_mut().find(|(seated, _)| *seated == pool) {
            Some((_, seats)) => *seats += pods,
            None => self.seats.push((pool, pods)),
        }
    }
}
