//! A phase of a tide is due: the clock is in another phase than the one that what is live was decided for.
//!
//! A phase is a state of the clock, not an event: a tick that was missed costs nothing. The weights change at once; how fast
//! replicas follow is said by `move` of the tide and of apps.

use std::collections::BTreeMap;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::{AppId, SmolStr};
use fleetwright_compiler::placements::TideDoc;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::RepoPath;
use fleetwright_compiler::tide::{Timestamp, phase_at};

use crate::commit::Cause;
use crate::decide::{DecideError, Intents, Proposal, Report, Urgency, View, clock, key};
use crate::instant;

/// The phase that a tide is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due<'a> {
    /// The tide.
    pub tide: &'a str,
    /// The phase.
    pub phase: &'a str,
    /// When it began, in seconds since 1970.
    pub window_secs: i64,
}

/// The turn of each tide whose phase is another than the recorded one.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Vec<Proposal>, DecideError> {
    let (Some(current), Ok(now)) = (view.current, Timestamp::from_second(view.situation.now_secs)) else {
        return Ok(Vec::new());
    };
    let mut proposals = Vec::new();
    for tide in &current.fleet.tides {
        let Some(window) = phase_at(&tide.timetable, now) else { continue };
        let Some(phase) = tide.phases.get(window.phase) else { continue };
        let due = Due { tide: &tide.name, phase: &phase.name, window_secs: window.begin.as_second() };
        proposals.extend(turn(view, due, reports)?);
    }
    Ok(proposals)
}

/// The recorded phases with those of tides that have none yet and move only apps that run nowhere yet, so that what is placed
/// for the first time is placed for the phase it is in. What runs already is moved by a turn. `None` where nothing is added.
pub(crate) fn with_first_phases(
    compiled: &Compiled,
    recorded: &BTreeMap<SmolStr, TideDoc>,
    now_secs: i64,
) -> Option<BTreeMap<SmolStr, TideDoc>> {
    let now = Timestamp::from_second(now_secs).ok()?;
    let mut tides = recorded.clone();
    let is_new = |id: &AppId| {
        let app = compiled.fleet.app(*id);
        !compiled.record.apps.contains_key(&(compiled.fleet.team(app.team).name.clone(), app.name.clone()))
    };
    let unknown = compiled.fleet.tides.iter().filter(|tide| !recorded.contains_key(&tide.name));
    for tide in unknown.filter(|tide| tide.apps.iter().all(is_new)) {
        let Some(window) = phase_at(&tide.timetable, now) else { continue };
        let Some(phase) = tide.phases.get(window.phase) else { continue };
        let window = instant::text(window.begin.as_second());
        tides.insert(tide.name.clone(), TideDoc { phase: phase.name.clone(), window });
    }
    (tides.len() > recorded.len()).then_some(tides)
}

/// The turn of a tide, where the phase is another than the recorded one. A turn that was taken back in this window is not
/// proposed again before the next.
///
/// # Errors
/// None but our own mistakes.
pub fn turn(view: &View<'_>, due: Due<'_>, reports: &mut Vec<Report>) -> Result<Option<Proposal>, DecideError> {
    let Some(live) = &view.situation.live else { return Ok(None) };
    let recorded = live.state.tides.get(due.tide);
    if recorded.is_some_and(|recorded| recorded.phase == due.phase) {
        return Ok(None);
    }
    let window = instant::text(due.window_secs);
    let key = key(Cause::Tide, &[due.tide, due.phase, &window]);
    if live.has_key(&key) {
        let text = format!(
            "tide {}: its turn to {} at {window} was taken back; it holds until the next phase begins",
            due.tide, due.phase
        );
        reports.push(Report::new(Urgency::Waits, text));
        return Ok(None);
    }
    if let Some(report) = clock::distrust(view) {
        reports.push(report);
        return Ok(None);
    }
    let mut tides = live.state.tides.clone();
    tides.insert(due.tide.into(), TideDoc { phase: due.phase.into(), window: window.clone() });
    let mut record = live.record.clone();
    record.put_state(RepoPath::new("state/tides.yaml")?, &tides);
    let from = recorded.map_or_else(String::new, |recorded| format!(" from {}", recorded.phase));
    Ok(Some(Proposal {
        cause: Cause::Tide,
        key: Some(key),
        steps: Vec::new(),
        subject: format!("Turn tide {}{from} to {}", due.tide, due.phase),
        body: format!("The phase began at {window}."),
        intents: Intents::Live,
        record,
        scenario: Scenario::default(),
        only: None,
        person: None,
    }))
}
