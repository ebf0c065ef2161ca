//! What differs between two compiles: replicas, objects, and what could not be done.
//!
//! Invariants: joined by names (clusters, team and app, object identity), never by dense ids; a pure function of the two;
//! everything sorted; no value of a Secret and no digest of one is in a [`FleetDiff`], so nothing made from it can show
//! one; what Kubernetes would take for the same is no change, and no default of the API server is made up.
//!
//! Two compiles are compared with each other, never with a cluster. A rule of Kubernetes about values that mean the same
//! goes into `absent` or `lists`; a cause of moved replicas is a variant of [`Why`].

mod absent;
mod cause;
mod clusters;
mod copies;
mod fields;
mod fleet;
mod impact;
mod join;
mod lists;
mod objects;
mod placements;
mod provenance;
mod rules;
mod secret;
mod shortfall;
mod steps;
mod verdict;
mod why;
mod why_words;

pub use cause::{Forced, Why};
pub use clusters::{ClusterDiff, ClusterEdit};
pub use copies::{Ground, ShortCopy};
pub use fields::{Edit, FieldChange};
pub use fleet::{FleetDiff, NewWarning, diff};
pub use impact::{ClusterImpact, OverBudget};
pub use objects::{ObjectChange, ObjectDiff, ObjectName};
pub(crate) use placements::placed;
pub use placements::{AppChange, AppDiff, CountChange, WorkloadDiff};
pub use provenance::Provenance;
pub use rules::RuleChange;
pub use shortfall::{AppShortfall, Guard, Shortfall};
pub use steps::{StepsReport, steps_of, to_make};
pub use verdict::verdict_text;

#[cfg(test)]
pub(crate) mod tests;
