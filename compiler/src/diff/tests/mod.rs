//! Tables of facts about diffs.

mod fields;
mod fleets;
mod secrets;
