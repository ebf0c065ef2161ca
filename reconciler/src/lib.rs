//! The reconciler of fleetwright: makes clusters equal to what the branch `live` says, and writes its own decisions there
//! as commits.
//!
//! The decider is here: [`advance`](advance::advance) fetches, [`decide`](decide::decide) says what comes next, a push
//! makes it so. Everything that the decider learns or changes goes through [`ports`]; what decides is pure.
//! Invariant: [`decide`], [`health`] and [`observation`] never import [`io`].

pub mod advance;
pub mod apply;
pub mod cluster;
pub mod commit;
pub mod controller;
pub mod decide;
pub mod health;
pub mod instant;
pub mod io;
pub mod observation;
pub mod observe;
pub mod order;
pub mod ports;
pub mod record_files;
pub mod rendered;
pub mod seen;
pub mod simulated;
pub mod state;
#[cfg(test)]
mod tests;
