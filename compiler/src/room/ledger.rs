//! One resource of one pool: what is booked, and what one more pod would be charged.

use super::charge::{Asked, Booked, FIXED, Ledger, charge, unit};
use super::pieces::largest_piece;

/// Requests and node sizes are clamped here. 2^60 milli-CPU or bytes is beyond any node, and keeps
/// `5 × amount` in 64 bits and `nodes × k × amount` far inside 128.
pub(super) const MAX_REQUEST: u64 = 1 << 60;
/// One less, so that a clamped request never fits a clamped node.
pub(super) const MAX_NODE: u64 = MAX_REQUEST - 1;
/// Pool-wide amounts (others, reserves) are clamped to this, either sign.
pub(super) const MAX_POOL: i128 = 1 << 110;

/// No pool is said to have room for more pods than this.
pub(super) const MAX_ROOM: u64 = 1 << 56;

/// Beyond so many pods of one request on a node, the plain sum is less than 0.1 % off and is used alone.
const MAX_K: u64 = 1024;

/// What limits the room of a pool. From the hopeless to the near: a later one needs less to change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// No node of the pool offers this resource.
    NotOffered,
    /// A node offers it, but never enough for one pod, even when empty.
    LargerThanNode,
    /// More is booked than the nodes hold, so nobody gets more until that is settled. The resource that is overdrawn is
    /// named, whether the pod requests it or not.
    Overdrawn,
    /// Enough may be free in sum, but in pieces too small for one pod.
    Packing,
    /// The sum is used up.
    UsedUp,
}

/// The ledgers of one resource in one pool.
///
/// `booked` and `beyond` are the truth; `ledgers` follow from them and the node size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lane {
    /// What one node offers after overcommit, DaemonSets not subtracted.
    offered: u64,
    /// Requested by DaemonSets on every node.
    daemon: i128,
    /// The same when nothing was booked.
    daemon_at_first: i128,
    /// What is left of a node for other pods.
    node: u64,
    /// Kept free, and used by others: pool-wide, ledger 0 only.
    reserved: i128,
    others: i128,
    /// Ascending by request, no zero counts, no zero requests.
    booked: Vec<Booked>,
    /// The same of pods that run beyond what is booked: like usage by others they leave less room for more, and take none
    /// from what is booked.
    beyond: Vec<Booked>,
    /// 0 to 4, then those the requests of both need, ascending by k.
    ledgers: Vec<Ledger>,
}

impl Lane {
    pub(super) fn new(offered: i128, daemon: i128, reserved: i128, others: i128) -> Self {
        let mut lane = Self {
            offered: u64::try_from(offered.clamp(0, i128::from(MAX_NODE))).unwrap_or(MAX_NODE),
            daemon: daemon.clamp(0, MAX_POOL),
            daemon_at_first: daemon.clamp(0, MAX_POOL),
            node: 0,
            reserved: reserved.clamp(0, MAX_POOL),
            others: others.clamp(0, MAX_POOL),
            booked: Vec::new(),
            beyond: Vec::new(),
            ledgers: Vec::new(),
        };
        lane.resize();
        lane
    }

    pub(super) fn node(&self) -> u64 {
        self.node
    }

    pub(super) fn is_offered(&self) -> bool {
        self.offered > 0
    }

    pub(super) fn is_booked(&self) -> bool {
        !self.booked.is_empty()
    }

    /// Takes back all pods, those beyond what is booked, and the DaemonSets that were booked. Whether there were any.
    pub(super) fn unbook_all(&mut self) -> bool {
        if self.booked.is_empty() && self.beyond.is_empty() && self.daemon == self.daemon_at_first {
            return false;
        }
        self.booked.clear();
        self.beyond.clear();
        self.daemon = self.daemon_at_first;
        self.resize();
        true
    }

    /// Books `pods` pods, or takes them back when negative.
    pub(super) fn book(&mut self, request: u64, pods: i64) {
        self.count(request, pods, false);
    }

    /// Counts `pods` pods beyond what is booked, or takes them back when negative.
    pub(super) fn count_beyond(&mut self, request: u64, pods: i64) {
        self.count(request, pods, true);
    }

    fn count(&mut self, request: u64, pods: i64, beyond: bool) {
        if request == 0 || pods == 0 {
            return;
        }
        for ledger in &mut self.ledgers {
            let charge = charge(ledger.k, request, self.node) * i128::from(pods);
            if beyond {
                ledger.beyond += charge;
            } else {
                ledger.charged += charge;
            }
        }
        let counted = if beyond { &mut self.beyond } else { &mut self.booked };
        match counted.binary_search_by_key(&request, |booked| booked.request) {
            Err(at) => {
                counted.insert(at, Booked { request, pods });
                self.need_ledger_of(request, beyond);
            }
            Ok(at) => {
                let Some(booked) = counted.get_mut(at) else { return };
                booked.pods += pods;
                if booked.pods == 0 {
                    counted.remove(at);
                    self.forget_ledger_of(request, beyond);
                }
            }
        }
    }

    fn need_ledger_of(&mut self, request: u64, beyond: bool) {
        let Some(k) = self.own_k(request) else { return };
        let at = self.ledgers.binary_search_by_key(&k, |ledger| ledger.k).unwrap_or_else(|at| {
            let ledger = self.ledger(k);
            self.ledgers.insert(at, ledger);
            at
        });
        let ledger = &mut self.ledgers[at];
        *(if beyond { &mut ledger.requests_beyond } else { &mut ledger.requests }) += 1;
    }

    fn forget_ledger_of(&mut self, request: u64, beyond: bool) {
        let Some(k) = self.own_k(request) else { return };
        if let Ok(at) = self.ledgers.binary_search_by_key(&k, |ledger| ledger.k) {
            let ledger = &mut self.ledgers[at];
            *(if beyond { &mut ledger.requests_beyond } else { &mut ledger.requests }) -= 1;
            if ledger.requests == 0 && ledger.requests_beyond == 0 {
                self.ledgers.remove(at);
            }
        }
    }

    /// The further ledger a request needs to be exact: as many pods as a node holds, where the plain sum and ledgers 1
    /// to 4 do not already say so.
    fn own_k(&self, request: u64) -> Option<u64> {
        let per_node = self.node.checked_div(request)?;
        (per_node > FIXED && per_node < MAX_K && !self.node.is_multiple_of(request)).then_some(per_node)
    }

    /// Ledger `k` with the charges of everything in it. Requests below `node / (k+1)` are charged nothing.
    fn ledger(&self, k: u64) -> Ledger {
        let sum = |pods: &[Booked]| {
            let from = if k == 0 { 0 } else { pods.partition_point(|booked| booked.request < self.node / (k + 1)) };
            let charged = |booked: &Booked| charge(k, booked.request, self.node) * i128::from(booked.pods);
            pods.iter().skip(from).map(charged).sum()
        };
        Ledger { k, charged: sum(&self.booked), beyond: sum(&self.beyond), requests: 0, requests_beyond: 0 }
    }

    /// Takes `request` from every node for DaemonSets, or gives it back when negative. Charges depend on the node
    /// size, so the ledgers are made anew.
    pub(super) fn shrink_node(&mut self, request: i128) {
        self.daemon += request;
        self.resize();
    }

    fn resize(&mut self) {
        let left = i128::from(self.offered).saturating_sub(self.daemon).max(0);
        self.node = u64::try_from(left).unwrap_or(MAX_NODE);
        self.ledgers = (0..=FIXED).map(|k| self.ledger(k)).collect();
        for at in 0..self.booked.len() {
            self.need_ledger_of(self.booked[at].request, false);
        }
        for at in 0..self.beyond.len() {
            self.need_ledger_of(self.beyond[at].request, true);
        }
    }

    /// What ledger `k` has left, negative when over-booked.
    fn left(&self, k: u64, charged: i128, asked: Asked) -> i128 {
        let lump = match (k, asked.others) {
            (0, true) => self.reserved + self.others,
            (0, false) => self.reserved,
            _ => 0,
        };
        i128::from(asked.nodes) * unit(k, self.node) - charged - lump
    }

    /// The plain sum left on `asked.nodes` nodes, negative when over-booked.
    pub(super) fn free(&self, asked: Asked) -> i128 {
        self.left(0, self.plain_sum(asked), asked)
    }

    fn plain_sum(&self, asked: Asked) -> i128 {
        self.ledgers.first().map_or(0, |ledger| ledger.taken(asked))
    }

    /// The ledger the request needs ([`own_k`](Self::own_k)), if nothing that is counted has needed it yet.
    fn missing_k(&self, own: Option<u64>) -> Option<u64> {
        own.filter(|k| self.ledgers.binary_search_by_key(k, |ledger| ledger.k).is_err())
    }

    /// How many more pods fit and why not more, if that is less than `below`, which is at most [`MAX_ROOM`].
    pub(super) fn room(&self, request: u64, asked: Asked, below: u64) -> Option<(u64, Cause)> {
        if request == 0 || below == 0 {
            return None;
        }
        let mut room = below;
        let mut why = None;
        let own = self.own_k(request);
        for ledger in self.ledgers.iter().filter(|ledger| ledger.counts(asked) || own == Some(ledger.k)) {
            let left = self.left(ledger.k, ledger.taken(asked), asked);
            // A charge is at most (k+1)x/k. Products are cheaper than divisions and mostly settle it; they stay below
            // 2^56 (room) × 2^70 (1024 × request).
            if left >= i128::from(room) * i128::from(ledger.k + 1) * i128::from(request) {
                continue;
            }
            let charge = charge(ledger.k, request, self.node);
            if charge > 0 && left < i128::from(room) * charge {
                room = u64::try_from(left.max(0) / charge).unwrap_or(room);
                why = Some(if ledger.k == 0 { Cause::UsedUp } else { Cause::Packing });
            }
        }
        if let Some(k) = self.missing_k(own) {
            // The same bound for all that is booked spares adding it up.
            let (all, charge) = (i128::from(asked.nodes) * unit(k, self.node), i128::from(self.node));
            let enough = i128::from(room) * charge;
            if all - self.plain_sum(asked) * i128::from(k + 1) < enough {
                let left = all - self.ledger(k).taken(asked);
                if left < enough {
                    room = u64::try_from(left.max(0) / charge).unwrap_or(room);
                    why = Some(Cause::Packing);
                }
            }
        }
        why.map(|cause| (room, cause))
    }

    /// No more pods fit by the plain sum, [`MAX_ROOM`] at most.
    pub(super) fn at_most(&self, request: u64, asked: Asked) -> u64 {
        if request > self.node {
            return 0;
        }
        // what is beyond 64 bits is more than anybody asks for
        u64::try_from(self.free(asked).max(0)).map_or(MAX_ROOM, |free| free / request.max(1)).min(MAX_ROOM)
    }

    /// The nodes that must exist for `pods` more pods; `None` if none is ever large enough, or for counts beyond 64
    /// bits.
    pub(super) fn nodes_for(&self, request: u64, pods: u64, asked: Asked) -> Option<u64> {
        if request == 0 {
            return Some(0);
        }
        if request > self.node {
            return None;
        }
        let ledgers =
            self.charges(asked).chain(self.missing_k(self.own_k(request)).map(|k| (k, self.ledger(k).taken(asked))));
        let none = Asked { nodes: 0, ..asked };
        let mut nodes = 0;
        for (k, charged) in ledgers {
            let charge = charge(k, request, self.node);
            if charge > 0 {
                let taken = charge * i128::from(pods) - self.left(k, charged, none);
                nodes = nodes.max(whole_nodes(taken, unit(k, self.node))?);
            }
        }
        Some(nodes)
    }

    /// (k, charged) by ledger.
    fn charges(&self, asked: Asked) -> impl Iterator<Item = (u64, i128)> {
        let counting = self.ledgers.iter().filter(move |ledger| ledger.counts(asked));
        counting.map(move |ledger| (ledger.k, ledger.taken(asked)))
    }

    /// The largest booked request, if it is larger than a node.
    fn oversized(&self) -> Option<u64> {
        self.booked.last().map(|booked| booked.request).filter(|request| *request > self.node)
    }

    /// The nodes that what is booked, reserved and used by others takes up; `None` where it does not fit any number.
    pub(super) fn nodes_in_use(&self, asked: Asked) -> Option<u64> {
        let none = Asked { nodes: 0, ..asked };
        if self.oversized().is_some() {
            return None;
        }
        let mut nodes = 0;
        for (k, charged) in self.charges(asked) {
            nodes = nodes.max(whole_nodes(-self.left(k, charged, none), unit(k, self.node))?);
        }
        Some(nodes)
    }

    /// Whether the bookings exceed what the nodes offer. Where nothing is booked there is nothing to exceed.
    pub(super) fn is_overdrawn(&self, asked: Asked) -> bool {
        let over = |(k, charged)| self.left(k, charged, asked) < 0;
        self.is_booked() && (self.oversized().is_some() || self.charges(asked).any(over))
    }

    /// By how much the bookings exceed what the nodes offer, in amounts of the resource, rounded up; 0 when they do not.
    /// Where only packing is violated, the share of nodes that is missing counts; where a pod is larger than a node,
    /// what the node lacks, at least.
    pub(super) fn excess(&self, asked: Asked) -> i128 {
        if !self.is_booked() {
            return 0;
        }
        let excess = |(k, charged): (u64, i128)| {
            let over = -self.left(k, charged, asked);
            let k = i128::from(k.max(1));
            if over > 0 { (over + k - 1) / k } else { 0 }
        };
        let lacking = self.oversized().map_or(0, |request| i128::from(request - self.node));
        self.charges(asked).map(excess).fold(lacking, i128::max)
    }

    /// The most one more pod could get of what is left: the largest piece of a tight packing, and no more than the sum.
    pub(super) fn largest(&self, asked: Asked) -> u64 {
        let pods = |booked: &Booked| (booked.request, u64::try_from(booked.pods).unwrap_or(0));
        let mut all: Vec<&Booked> = self.booked.iter().chain(self.beyond.iter().filter(|_| asked.others)).collect();
        all.sort_by_key(|booked| std::cmp::Reverse(booked.request));
        let piece = largest_piece(asked.nodes, self.node, all.into_iter().map(pods));
        piece.min(u64::try_from(self.free(asked).max(0)).unwrap_or(u64::MAX))
    }
}

/// `taken / unit`, rounded up, at least 0.
fn whole_nodes(taken: i128, unit: i128) -> Option<u64> {
    if taken <= 0 {
        return Some(0);
    }
    let nodes = taken.checked_div(unit)?;
    u64::try_from(nodes + i128::from(nodes * unit < taken)).ok()
}
