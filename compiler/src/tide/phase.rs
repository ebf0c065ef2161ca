//! The phase at an instant, and the next one.

use jiff::Timestamp;
use jiff::civil::Date;

use super::Timetable;
use super::days::kind_of;

/// A phase and when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Which of the timetable's starts.
    pub phase: usize,
    /// When it began.
    pub begin: Timestamp,
}

/// The phase at an instant. `None` where none has begun before: a timetable without phases or days, or an instant at the
/// very edge of the calendar (years -9999 to 9999).
#[must_use]
pub fn phase_at(timetable: &Timetable, at: Timestamp) -> Option<Window> {
    // a fold over midnight can begin the next date before this one ends
    let mut date = Some(timetable.zone.local(at).date()).map(|today| today.tomorrow().unwrap_or(today));
    let mut best: Option<Window> = None;
    let mut settled = 0;
    for _ in 0..reach(timetable) {
        let Some(day) = date else { break };
        let begun = beginnings(timetable, day).into_iter().filter(|window| window.begin <= at);
        best = begun.fold(best, |best, window| Some(best.map_or(window, |best| later(timetable, best, window))));
        settled += u8::from(best.is_some());
        if settled > DAYS_APART {
            break;
        }
        date = day.yesterday().ok();
    }
    best
}

/// The first beginning after an instant of another phase than the one that it is then.
#[must_use]
pub fn next_change(timetable: &Timetable, after: Timestamp) -> Option<Window> {
    let now = phase_at(timetable, after).map(|window| window.phase);
    let mut last = after;
    for _ in 0..reach(timetable) {
        let next = next_beginning(timetable, last)?;
        if Some(next.phase) != now {
            return Some(next);
        }
        last = next.begin;
    }
    None
}

fn next_beginning(timetable: &Timetable, after: Timestamp) -> Option<Window> {
    let mut date = timetable.zone.local(after).date().yesterday().ok();
    let mut best: Option<Window> = None;
    let mut settled = 0;
    for _ in 0..reach(timetable) {
        let Some(day) = date else { break };
        for window in beginnings(timetable, day).into_iter().filter(|window| window.begin > after) {
            best = Some(match best {
                Some(best) if best.begin < window.begin => best,
                Some(best) if best.begin == window.begin => later(timetable, best, window),
                _ => window,
            });
        }
        settled += u8::from(best.is_some());
        if settled > DAYS_APART {
            break;
        }
        date = day.tomorrow().ok();
    }
    best
}

/// Beginnings of one date lie among those of its neighbours at most so many dates away, where clocks go back over midnight.
const DAYS_APART: u8 = 2;

/// So many dates hold at least one beginning: one of seven is a day of the timetable, but for holidays and the few dates
/// that a zone skips.
fn reach(timetable: &Timetable) -> usize {
    timetable.calendar.holiday_count().saturating_add(8).saturating_mul(7)
}

/// When each phase begins on a date, in the order of the timetable.
pub(super) fn beginnings(timetable: &Timetable, date: Date) -> Vec<Window> {
    if !kind_of(timetable, date).begins() {
        return Vec::new();
    }
    let windows = timetable.starts.iter().enumerate().filter_map(|(phase, start)| {
        let begin = timetable.zone.first(date, start.from_minute)?;
        Some(Window { phase, begin })
    });
    windows.collect()
}

/// The one that counts once both have begun: the later; of two at one instant the one with the later `from`.
pub(super) fn later(timetable: &Timetable, a: Window, b: Window) -> Window {
    let key = |window: &Window| (window.begin, timetable.starts.get(window.phase).map(|start| start.from_minute));
    if key(&b) > key(&a) { b } else { a }
}
