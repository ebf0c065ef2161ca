//! The reconciler of fleetwright: it will make clusters equal to what the branch `live` says, and write its own decisions
//! there as commits.
//!
//! So far it is the boundary alone: the ports through which every effect will go, and a tick that does nothing with them.
//! Invariant, from the first day on: only [`tick`] sees ports; what decides is pure and lives in modules that import none.

pub mod apply;
pub mod cluster;
pub mod health;
pub mod io;
pub mod observation;
pub mod ports;
pub mod simulated;
pub mod tick;
