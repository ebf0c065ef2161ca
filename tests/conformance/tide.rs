//! `tide_phase`: which phase of a tide it is at an instant, and since when.

use fleetwright_compiler::api::TimeOfDay;
use fleetwright_compiler::tide::{Calendar, Start, Timestamp, Timetable, Weekdays, Zone, phase_at};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Op, Unanswered, as_written, refused};
use crate::read::read;

pub const OPS: &[Op] = &[Op { name: "tide_phase", answer: tide_phase, normal: as_written, deviations: &[] }];

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    time_zone: String,
    phases: Vec<Phase>,
    now: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phase {
    name: String,
    from: String,
}

fn tide_phase(input: &Value) -> Result<Value, Unanswered> {
    let Asked { time_zone, phases, now } = read(input)?;
    let Ok(zone) = Zone::named(&time_zone) else { return Ok(refused()) };
    let now: Timestamp = now.parse().map_err(|_| Unanswered::Malformed(format!("not an instant: {now}")))?;
    let start = |phase: &Phase| {
        let from = TimeOfDay::parse(&phase.from)?;
        Some(Start { phase: phase.name.as_str().into(), from_minute: from.minute })
    };
    let Some(starts) = phases.iter().map(start).collect::<Option<Vec<Start>>>() else { return Ok(refused()) };
    let timetable = Timetable { zone, days: Weekdays::ALL, calendar: Calendar::default(), starts };
    Ok(match phase_at(&timetable, now) {
        Some(window) => json!({
            "phase": timetable.starts.get(window.phase).map(|start| start.phase.as_str()),
            "since": window.begin.to_string(),
        }),
        None => refused(),
    })
}
