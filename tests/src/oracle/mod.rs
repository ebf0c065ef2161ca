//! Right answers, worked out the slow way: by trying everything.
//!
//! Invariant: nothing here uses `divide`, `room` or `schedule` of the compiler, so that a mistake there cannot be made
//! here too. Sizes are those of a test: a handful of clusters, some tens of replicas. The next question that has a slow
//! and obvious answer is a file here.

pub mod nodes;
pub mod placement;
pub mod quota;
pub mod room;
pub mod spread;
pub mod webster;
