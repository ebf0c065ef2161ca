//! Which phase of a tide it is: a pure function of a timetable and an instant.
//!
//! The rule. A phase begins on each local date at the first instant of that date whose wall time is at or after its
//! `from`. So in a gap (clocks go forward) it begins when the gap ends, in a fold (clocks go back) at the first of the two
//! times, and a date that the zone skips has no beginning. Of two phases that begin at one instant the one with the later
//! `from` counts. A phase lasts until the next one begins, over dates on which none does.
//!
//! Invariants: no clock, the instant is an input; the time zone database is part of the binary ([`tzdb_version`]), so that
//! the same bytes give the same answer on every machine; integers only. Nothing here knows apps or weights; those are
//! applied by `model::tides`.
//! The next thing that keeps a phase from beginning on a date is a variant of [`DayKind`].

mod calendar;
mod days;
mod phase;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
mod zone;

pub use calendar::{Calendar, Weekdays};
pub use days::{Beginning, Day, DayKind, Landing, days};
pub use jiff::Timestamp;
pub use jiff::civil::{Date, Weekday};
pub use phase::{Window, next_change, phase_at};
pub use zone::{Zone, ZoneError, tzdb_version};

use crate::base::SmolStr;

/// When the phases of a tide begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Timetable {
    /// Whose wall clock counts.
    pub zone: Zone,
    /// On which days of the week phases begin.
    pub days: Weekdays,
    /// Dates that count otherwise than their day of the week.
    pub calendar: Calendar,
    /// The phases, in the order they are written.
    pub starts: Vec<Start>,
}

/// When a phase begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The phase.
    pub phase: SmolStr,
    /// Minutes after midnight by the wall clock, 0 to 1439.
    pub from_minute: u16,
}
