//! From what a cluster shows to what the decider is told of it.
//!
//! Pure: objects in, [`crate::observation`] out. Invariants: what could not be read is absent or Unknown, never zero or
//! empty; nothing flips on one answer.

pub mod answering;
pub mod apps;
pub mod capacity;
