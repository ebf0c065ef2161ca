//! Tides: which phase each is in, and every change of an interval with what the wall clock did then.

use std::fmt::Write as _;

use serde::Serialize;

use crate::Compiled;
use crate::base::SmolStr;
use crate::model::Tide;
use crate::model::tides::{Current, Source};
use crate::tide::{
    Beginning, Date, Day, DayKind, Landing, Timestamp, Window, Zone, days, next_change, phase_at, tzdb_version,
};

use super::table::table;

/// The phase of a tide that counts in a compile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TidePhaseReport {
    /// The tide.
    pub tide: SmolStr,
    /// Its phase; none: the Apps' own weights count.
    pub phase: Option<SmolStr>,
    /// Where that comes from, in words.
    pub why: String,
}

/// Tides at an instant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TidesReport {
    /// The instant.
    pub at: String,
    /// Of the time zone database.
    pub tzdb: &'static str,
    /// Tides, by name.
    pub tides: Vec<TideReport>,
}

/// A tide at an instant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TideReport {
    /// Its name.
    pub tide: SmolStr,
    /// Its time zone.
    pub time_zone: &'static str,
    /// The phase by the clock, and since when; none where no phase has begun.
    pub phase: Option<PhaseReport>,
    /// The next change of phase; none where there is only one phase.
    pub next: Option<PhaseReport>,
    /// The apps it moves: `team/app`.
    pub apps: Vec<String>,
}

/// A phase and when it begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseReport {
    /// Its name.
    pub phase: SmolStr,
    /// The instant, in UTC.
    pub begin: String,
    /// The same by the wall clock of the tide, with its offset.
    pub local: String,
}

/// Every change of phase in an interval.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SimulationReport {
    /// The beginning of the interval.
    pub from: String,
    /// Its end, which is outside.
    pub until: String,
    /// Of the time zone database.
    pub tzdb: &'static str,
    /// Tides, by name.
    pub tides: Vec<TideSimulation>,
}

/// What a tide does in an interval.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TideSimulation {
    /// Its name.
    pub tide: SmolStr,
    /// Its time zone.
    pub time_zone: &'static str,
    /// Its phase at the beginning of the interval.
    pub before: Option<SmolStr>,
    /// What happens, in order of time.
    pub events: Vec<TideEvent>,
}

/// A change of phase, or a date that is remarkable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TideEvent {
    /// The date by the wall clock of the tide.
    pub date: String,
    /// The phase that begins; none where the date is only remarked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begins: Option<PhaseReport>,
    /// What is out of the ordinary: clocks that change, holidays, dates that do not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The phases that count in a compile.
pub(super) fn counting(compiled: &Compiled) -> Vec<TidePhaseReport> {
    let report = |(tide, current): (&std::sync::Arc<Tide>, &Current)| TidePhaseReport {
        tide: current.tide.clone(),
        phase: current.phase.clone(),
        why: match current.source {
            Source::Instant(begin) => format!("since {}", local_text(&tide.timetable.zone, begin)),
            Source::Recorded => "recorded in state/tides.yaml".to_owned(),
            Source::Nowhere => "no phase is recorded, so the Apps' own weights count; `--at` supposes one".to_owned(),
        },
    };
    compiled.fleet.tides.iter().zip(&compiled.tides).map(report).collect()
}

/// Which phase each tide is in at an instant, by its own clock; only the tide of a name where one is given.
#[must_use]
pub fn tides(compiled: &Compiled, name: Option<&str>, at: Timestamp) -> TidesReport {
    let report = |tide: &Tide| TideReport {
        tide: tide.name.clone(),
        time_zone: tide.timetable.zone.name(),
        phase: phase_at(&tide.timetable, at).map(|window| phase(tide, window)),
        next: next_change(&tide.timetable, at).map(|window| phase(tide, window)),
        apps: tide.apps.iter().map(|id| compiled.fleet.app_name(*id)).collect(),
    };
    TidesReport { at: at.to_string(), tzdb: tzdb_version(), tides: named(compiled, name).map(report).collect() }
}

/// Every change of phase from an instant to before another, over at most `most` dates for each tide.
#[must_use]
pub fn simulate_tides(
    compiled: &Compiled,
    name: Option<&str>,
    from: Timestamp,
    until: Timestamp,
    most: usize,
) -> SimulationReport {
    let report = |tide: &Tide| {
        // what is in force a moment before, so that a phase which begins at `from` is a change
        let moment = Timestamp::from_second(from.as_second().saturating_sub(1)).unwrap_or(from);
        let before = phase_at(&tide.timetable, moment).map(|window| window.phase);
        TideSimulation {
            tide: tide.name.clone(),
            time_zone: tide.timetable.zone.name(),
            before: before.and_then(|index| tide.phases.get(index)).map(|phase| phase.name.clone()),
            events: events(tide, before, days(&tide.timetable, from, until, most)),
        }
    };
    SimulationReport {
        from: from.to_string(),
        until: until.to_string(),
        tzdb: tzdb_version(),
        tides: named(compiled, name).map(report).collect(),
    }
}

fn named<'c>(compiled: &'c Compiled, name: Option<&'c str>) -> impl Iterator<Item = &'c Tide> {
    compiled.fleet.tides.iter().map(|tide| &**tide).filter(move |tide| name.is_none_or(|name| tide.name == name))
}

fn events(tide: &Tide, mut current: Option<usize>, days: Vec<Day>) -> Vec<TideEvent> {
    let mut events = Vec::new();
    for day in days {
        let event = |begins, note| TideEvent { date: day.date.to_string(), begins, note };
        if let Some(note) = day_note(tide, &day) {
            events.push(event(None, Some(note)));
        }
        for beginning in &day.beginnings {
            let index = beginning.window.phase;
            if beginning.superseded || Some(index) == current {
                continue;
            }
            current = Some(index);
            events.push(event(Some(phase(tide, beginning.window)), landing_note(tide, &day, beginning)));
        }
    }
    events
}

fn day_note(tide: &Tide, day: &Day) -> Option<String> {
    match &day.kind {
        DayKind::Weekday | DayKind::OtherWeekday => None,
        DayKind::WorkingDay => Some("a working day of the calendar".to_owned()),
        DayKind::Holiday(name) => Some(format!("{name}: no phase begins, the last goes on")),
        DayKind::Skipped => {
            Some(format!("this date does not exist in {}: no phase begins", tide.timetable.zone.name()))
        }
    }
}

fn landing_note(tide: &Tide, day: &Day, beginning: &Beginning) -> Option<String> {
    let from = |index: usize| tide.timetable.starts.get(index).map_or(0, |start| start.from_minute);
    let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    let minute = from(beginning.window.phase);
    let mut note = match beginning.landing {
        Landing::Exact => String::new(),
        Landing::AfterGap => {
            let local = beginning.local;
            format!("clocks go forward over {}, to {:02}:{:02}", time(minute), local.hour(), local.minute())
        }
        Landing::FirstOfTwo => format!("clocks go back, {} comes twice: the first counts", time(minute)),
    };
    let others = day.beginnings.iter().filter(|other| {
        other.superseded && other.window.begin == beginning.window.begin && other.window.phase != beginning.window.phase
    });
    for other in others {
        let name = tide.phases.get(other.window.phase).map(|phase| phase.name.as_str()).unwrap_or_default();
        let _ = write!(note, "{}`{name}` would begin then too", if note.is_empty() { "" } else { "; " });
    }
    (!note.is_empty()).then_some(note)
}

fn phase(tide: &Tide, window: Window) -> PhaseReport {
    PhaseReport {
        phase: tide.phases.get(window.phase).map(|phase| phase.name.clone()).unwrap_or_default(),
        begin: window.begin.to_string(),
        local: local_text(&tide.timetable.zone, window.begin),
    }
}

/// `2026-11-30 23:00 (+08:00)`
fn local_text(zone: &Zone, at: Timestamp) -> String {
    let local = zone.local(at);
    let offset = zone.offset_secs(at);
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
    let date: Date = local.date();
    format!("{date} {:02}:{:02} ({sign}{:02}:{:02})", local.hour(), local.minute(), minutes / 60, minutes % 60)
}

impl TidesReport {
    /// One row for each tide; `wide` adds its apps.
    #[must_use]
    pub fn to_text(&self, wide: bool) -> String {
        let mut head = vec!["TIDE", "PHASE", "SINCE", "NEXT", "FROM", "TIME ZONE", "APPS"];
        head.extend(wide.then_some("NAMES"));
        let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
        for tide in &self.tides {
            let cells = |phase: &Option<PhaseReport>| match phase {
                Some(phase) => [phase.phase.to_string(), phase.local.clone()],
                None => ["-".to_owned(), "-".to_owned()],
            };
            let mut row = vec![tide.tide.to_string()];
            row.extend(cells(&tide.phase));
            row.extend(cells(&tide.next));
            row.extend([tide.time_zone.to_owned(), tide.apps.len().to_string()]);
            row.extend(wide.then(|| tide.apps.join(", ")));
            rows.push(row);
        }
        table(&rows, &[], "")
    }
}

impl SimulationReport {
    /// For each tide its changes, one a line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for tide in &self.tides {
            if !text.is_empty() {
                text.push('\n');
            }
            let before = tide.before.as_deref().unwrap_or("no phase");
            let _ = writeln!(text, "{} ({}, database {}): {before} before", tide.tide, tide.time_zone, self.tzdb);
            let rows: Vec<Vec<String>> = tide
                .events
                .iter()
                .map(|event| {
                    let note = event.note.clone().unwrap_or_default();
                    match &event.begins {
                        Some(begins) => {
                            vec![begins.local.clone(), begins.begin.clone(), begins.phase.to_string(), note]
                        }
                        None => vec![event.date.clone(), String::new(), String::new(), note],
                    }
                })
                .collect();
            text.push_str(&table(&rows, &[], "  "));
            if tide.events.is_empty() {
                text.push_str("  no change\n");
            }
        }
        text
    }
}
