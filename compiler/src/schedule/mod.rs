//! What should run where: a pure function of the fleet, its variants and the record.
//!
//! Invariants: total orders everywhere, the last tie-break is the name; integers only; the target scheduled again changes
//! nothing; finding no candidate never clears a placement; `check` verifies every schedule independently.
//! The next filter goes into `filter`, with a [`Verdict`]; the next strategy into `divide`.

pub mod select;
mod target;

pub use target::{AppTarget, Deficit, Seat, Target, Verdict};

use std::collections::BTreeSet;

use crate::base::SmolStr;

/// What a compile supposes besides what is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// Clusters supposed to be lost.
    pub lose: BTreeSet<SmolStr>,
}
