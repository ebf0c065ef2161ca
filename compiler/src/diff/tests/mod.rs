//! Tables of facts about diffs.

mod fields;
pub(crate) mod fixture;
mod fleets;
mod problem_cases;
mod renames;
mod secrets;
