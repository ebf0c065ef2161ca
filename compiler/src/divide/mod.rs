//! Dividing replicas over clusters: integers in, integers out.
//!
//! [`webster()`] is the arithmetic, [`divide`] the rules around it (strategies, floors, caps, what runs already),
//! [`share`] divides further numbers of the same workload (completions of a Job, bounds of an autoscaler).
//!
//! Invariants: no fleet, no names, no floats. A cluster is a position in a slice, and the slice is in name order, so the
//! last tie-break is the name. Dividing again with the outcome as `previous` changes nothing.
//!
//! A new strategy is a variant of [`Strategy`] and, where it has an idea of its own, a file beside `duplicated.rs`.

mod bounds;
mod duplicated;
mod reason;
pub mod share;
mod strategy;
pub mod webster;

pub use bounds::most_replicas;
pub use reason::Reason;
pub use strategy::{Candidate, Capacity, Division, Outcome, Start, Strategy, divide};
pub use webster::{Party, webster};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
