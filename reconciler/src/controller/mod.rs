//! The long-running side of the applier: each cluster in a thread of its own, so that one that is slow, lost or full of
//! errors costs the others nothing.
//!
//! ```text
//! Board ── what is ordered for each cluster   (written by whoever compiles `live`)
//!       └─ what was seen and done in each     (written by the threads, read by the decider and `status`)
//! turn: probe, pass, observe; a thread is a loop around it
//! ```
//!
//! Invariants: threads share the board and nothing else; a turn decides nothing that [`crate::apply`] and
//! [`crate::observe`] do not.

pub mod board;
mod budget;
pub mod election;
pub mod metrics;
mod moves;
pub mod order;
mod recorded;
pub mod status;
#[cfg(test)]
mod tests;
pub mod threads;
pub mod tick;
pub mod turn;
pub mod wanted;

pub use board::Board;
pub use order::ClusterOrder;
pub use threads::Threads;
pub use tick::{Controller, Role, Tick};
pub use turn::{ClusterTurn, Turn};
pub use wanted::Wanted;
