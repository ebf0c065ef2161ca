//! Every beginning in an interval, date by date, with what the wall clock did then: what `tide simulate` shows.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::phase::{beginnings, later};
use super::{Timetable, Window};
use crate::base::SmolStr;

/// One local date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    /// The date.
    pub date: Date,
    /// Whether phases begin on it.
    pub kind: DayKind,
    /// Its beginnings inside the interval, in order of time.
    pub beginnings: Vec<Beginning>,
}

/// Whether phases begin on a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DayKind {
    /// They do: it is one of the timetable's days of the week.
    Weekday,
    /// They do: the calendar makes it a working day.
    WorkingDay,
    /// They do not: it is none of the timetable's days of the week.
    OtherWeekday,
    /// They do not: the calendar has a holiday of this name.
    Holiday(SmolStr),
    /// They cannot: the zone skips the date.
    Skipped,
}

impl DayKind {
    /// Whether phases begin.
    #[must_use]
    pub fn begins(&self) -> bool {
        match self {
            Self::Weekday | Self::WorkingDay => true,
            Self::OtherWeekday | Self::Holiday(_) | Self::Skipped => false,
        }
    }
}

/// A phase that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Which, and when.
    pub window: Window,
    /// What the wall clock shows then.
    pub local: DateTime,
    /// How that came about.
    pub landing: Landing,
    /// Another phase, with a later `from`, begins at the same instant and counts instead.
    pub superseded: bool,
}

/// How a wall time became an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// The wall clock shows `from`, once on that date.
    Exact,
    /// Clocks go forward over `from`: the phase begins when they have.
    AfterGap,
    /// Clocks go back, so that `from` occurs twice: the phase begins at the first.
    FirstOfTwo,
}

/// What kind of date it is.
pub(super) fn kind_of(timetable: &Timetable, date: Date) -> DayKind {
    if timetable.zone.first(date, 0).is_none() {
        DayKind::Skipped
    } else if let Some(name) = timetable.calendar.holiday(date) {
        DayKind::Holiday(name.clone())
    } else if timetable.calendar.working_days.contains(&date) {
        DayKind::WorkingDay
    } else if !timetable.days.has(date.weekday()) {
        DayKind::OtherWeekday
    } else {
        DayKind::Weekday
    }
}

/// The dates from that of `from` to that of `until`, with the beginnings at `from` or later and before `until`.
///
/// Dates as the wall clock of the zone shows them. At most `most` dates; the answer is shorter then.
#[must_use]
pub fn days(timetable: &Timetable, from: Timestamp, until: Timestamp, most: usize) -> Vec<Day> {
    let last = timetable.zone.local(until).date();
    let mut found = Vec::new();
    let mut date = Some(timetable.zone.local(from).date());
    while let Some(day) = date.filter(|day| *day <= last && found.len() < most) {
        found.push(of_date(timetable, day, |at| from <= at && at < until));
        date = day.tomorrow().ok();
    }
    found
}

fn of_date(timetable: &Timetable, date: Date, inside: impl Fn(Timestamp) -> bool) -> Day {
    let all = beginnings(timetable, date);
    let mut found: Vec<Beginning> = all
        .iter()
        .filter(|window| inside(window.begin))
        .map(|window| {
            let local = timetable.zone.local(window.begin);
            let minute = timetable.starts.get(window.phase).map_or(0, |start| start.from_minute);
            let shown = i32::from(local.hour()) * 3600 + i32::from(local.minute()) * 60 + i32::from(local.second());
            let landing = if shown != i32::from(minute) * 60 {
                Landing::AfterGap
            } else if timetable.zone.is_twice(date, minute) {
                Landing::FirstOfTwo
            } else {
                Landing::Exact
            };
            let at_once = all.iter().filter(|other| other.begin == window.begin).copied();
            let counting = at_once.fold(*window, |best, other| later(timetable, best, other));
            Beginning { window: *window, local, landing, superseded: counting.phase != window.phase }
        })
        .collect();
    let minute = |b: &Beginning| timetable.starts.get(b.window.phase).map(|start| start.from_minute);
    found.sort_by_key(|b| (b.window.begin, minute(b)));
    Day { date, kind: kind_of(timetable, date), beginnings: found }
}
