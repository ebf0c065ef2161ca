//! Tables of facts about diffs.

mod fields;
pub(crate) mod fixture;
mod fleets;
mod renames;
mod secrets;
