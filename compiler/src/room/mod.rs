//! How many more pods fit, what is booked, and how to take bookings back.
//!
//! The scheduler asks it before each division, books what it decides, and undoes tentative bookings (tiers, preemption,
//! what-if). `why` and the reports ask it what is short.
//!
//! # The estimate
//!
//! A pool is `n` equal nodes. Per resource a node offers
//! `node = floor(allocatable × overcommit) − DaemonSets`, the pool `n × node`. Nobody knows on which node a pod will
//! land, so the pool is not simulated; instead every resource keeps *ledgers*. A pod that requests the fraction
//! `x = request / node` is charged, in nodes:
//!
//! | ledger | charge |
//! |---|---|
//! | 0 | `x`; usage by others and reserves are charged here alone |
//! | k = 1..4 | `floor((k+1)x) / k`, but `x` where `(k+1)x` is an integer |
//! | k = 5..1023, as many as a node holds pods of a request that is booked or asked about | the same |
//!
//! `room = min over resources and ledgers of floor((n − charged) / charge)`, never below 0.
//!
//! Each of these charges is a *dual feasible function*, the `u^(k)` of Fekete and Schepers ("New classes of fast lower
//! bounds for bin packing problems", 2001): whatever fits on one node is charged at most one node. Hence:
//!
//! * **What really fits is never refused**, for any mixture of pods that really is on the nodes.
//! * **One request size alone is exact**: `n × floor(node / request)`, because the ledger `k = floor(node / request)`
//!   charges exactly `1/k`. Ten nodes of 8 CPU hold ten pods of 5 CPU, and then no further one (ledger 1), although 30
//!   CPU are free.
//! * Mixtures may be promised more than the nodes hold: kube-scheduler spreads small pods, and what it leaves on each node is
//!   too little for a large one, though all of it together would do.
//!
//! How much more, on 10,000 random sequences of apps in a pool of 1 to 40 nodes with DaemonSets, their pods put on the nodes one
//! by one as kube-scheduler's defaults do (`fleetwright-bench packing 10000 1`; 85,147 answers; a test holds 400 sequences to
//! what they come to):
//!
//! | pod sizes in the pool | others use it | promised too much | median, largest, of the promise | in sum | some promised, none fits | promised too little | promised pods that pend |
//! |---|---|---|---|---|---|---|---|
//! | 1 | no | never | | | never | never | none |
//! | 2 | no | 38.8 % | 8.9 %, all | 1.4 % | 8.0 % | never | 1.4 % |
//! | 3 | no | 54.5 % | 13.3 %, all | 2.6 % | 13.4 % | never | 2.4 % |
//! | 4 | no | 60.9 % | 26.4 %, all | 4.5 % | 20.6 % | never | 5.0 % |
//! | 5 and more | no | 60.4 % | 93.7 %, all | 8.7 % | 30.2 % | never | 10.4 % |
//! | 1 | yes | 66.2 % | 16.0 %, all | 2.4 % | 21.3 % | never | 3.6 % |
//! | 2 | yes | 71.2 % | 20.0 %, all | 3.0 % | 22.8 % | never | 3.5 % |
//! | 3 | yes | 72.8 % | 33.7 %, all | 4.7 % | 29.0 % | never | 6.7 % |
//! | 4 | yes | 68.9 % | 75.0 %, all | 6.6 % | 33.2 % | never | 8.6 % |
//! | 5 and more | yes | 67.2 % | all, all | 10.8 % | 41.0 % | never | 15.1 % |
//! | together | | 53.5 % | 27.2 %, all | 2.6 % | 19.7 % | never | 4.0 % |
//!
//! The shares are high because the sequences fill their pools: most answers are about the last few pods. Where pods that pend
//! keep their seats, as they do until somebody observes the cluster, 33.2 % of the answers are too high, 1.1 % of the promised
//! pods pend, and 9.3 % are too low: those seats are taken.
//!
//! Pods that run beyond what is booked (an autoscaler added them) are charged like booked ones where more is asked for, and
//! not at all where what is booked is held against the nodes.
//!
//! Everything is an integer: ledger k counts in units of `node × k`, so `x` is `k × request` and a `1/k` is `node`.
//!
//! # Invariants
//!
//! * The answer is a function of what is booked; not of the order of bookings, nor of which requests were ever asked about.
//! * Booking never gives room to anyone; undoing restores the ledgers exactly.
//! * Room is never negative and never wraps. A pool whose bookings exceed its nodes has room 0 for every request, and is
//!   listed by [`overdrawn`](Rooms::overdrawn). Usage by others, and pods beyond what is booked, never make a pool overdrawn.
//! * Unknown capacity is `None`, never 0.
//!
//! Which pools a pod may use is the caller's business (labels, taints and tolerations are not known here), as is the
//! cap an observed estimate sets. The next bound that limits a pool goes into `charge` as another ledger.

mod charge;
mod explain;
mod ledger;
mod pieces;
mod pool;
mod rooms;
mod sets;
mod spec;
mod spread;
mod summary;
#[cfg(test)]
mod tests;

pub use explain::{Free, Overdraft, Shortage};
pub use ledger::Cause;
pub use rooms::{Mark, PoolRef, RequestId, ResourceId, Room, Rooms};
pub use sets::SetPart;
pub use spec::{DEFAULT_PODS_PER_NODE, PoolSpec, Ratio, share_reserved};
pub use spread::{EligiblePool, Excess, Spread, SumRoom};
pub use summary::{UNLIMITED, summary_room, summary_room_without_pods, summary_sets};
