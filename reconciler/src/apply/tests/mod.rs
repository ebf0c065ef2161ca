//! The applier on a simulated cluster: a table of facts for each of its rules.

mod fleet;
mod guards;
mod order;
mod owners;
mod prune;
mod rig;
