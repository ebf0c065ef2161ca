//! Moves that the decider would make in steps.

use serde::Serialize;

use crate::Compiled;
use crate::base::{AppId, SmolStr};
use crate::model::tides::Source;
use crate::model::{App, Steps};
use crate::moves;
use crate::placements::PlacedApp;
use crate::schedule::placed;

/// A move that the decider would make in steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepsReport {
    /// `team/app`.
    pub app: String,
    /// How many, where there is room for all of them.
    pub steps: u64,
    /// The largest, in replicas: of its largest workload that moves.
    pub max: u32,
    /// As it is written: `20%`, `50`.
    pub stated: String,
    /// The least time from one to the next, in seconds.
    pub every_secs: u64,
}

/// The steps of an app for what a compile supposes: at another instant those of its tide, where that turns.
#[must_use]
pub fn steps_of(compiled: &Compiled, id: AppId) -> Option<Steps> {
    let app = compiled.fleet.app(id);
    let turns = compiled.fleet.tides.iter().zip(&compiled.tides).any(|(tide, current)| {
        let recorded = compiled.record.tides.get(&tide.name).map(|recorded| &recorded.phase);
        tide.apps.contains(&id) && matches!(current.source, Source::Instant(_)) && current.phase.as_ref() != recorded
    });
    if turns { app.tide_steps.or(app.steps) } else { app.steps }
}

/// What a compile would begin in steps, by app.
#[must_use]
pub fn to_make(compiled: &Compiled) -> Vec<StepsReport> {
    let fleet = &compiled.fleet;
    let stated: Vec<(AppId, Steps)> = fleet.app_ids().filter_map(|id| Some((id, steps_of(compiled, id)?))).collect();
    if stated.is_empty() {
        return Vec::new();
    }
    let targets = placed(fleet, &compiled.target);
    let of = |(id, steps): (AppId, Steps)| {
        let key = key(compiled, id);
        let (before, target) = (compiled.record.apps.get(&key)?, targets.get(&key)?);
        let app = fleet.app(id);
        if compiled.moving.contains(&id) || !moves::needs_steps(app, before, target) {
            return None;
        }
        Some(StepsReport {
            app: fleet.app_name(id),
            steps: moves::count(app, &steps, before, target),
            max: largest(app, &steps, before, target),
            stated: steps.to_string(),
            every_secs: steps.every_secs,
        })
    };
    stated.into_iter().filter_map(of).collect()
}

fn largest(app: &App, steps: &Steps, before: &PlacedApp, target: &PlacedApp) -> u32 {
    let moved = app.workloads.iter().filter(|workload| {
        let seats = |placed: &PlacedApp| placed.workloads.get(&workload.key).map(|w| w.seats.clone());
        moves::is_stepped(workload) && seats(before) != seats(target)
    });
    moved.map(|workload| steps.of(workload.replicas)).max().unwrap_or(0)
}

fn key(compiled: &Compiled, id: AppId) -> (SmolStr, SmolStr) {
    let app = compiled.fleet.app(id);
    (compiled.fleet.team(app.team).name.clone(), app.name.clone())
}

/// `1h30m`, `5m`, `90s`.
fn length(secs: u64) -> String {
    match (secs / 3600, secs % 3600 / 60, secs % 60) {
        (0, 0, secs) => format!("{secs}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (hours, 0, 0) => format!("{hours}h"),
        (hours, minutes, 0) => format!("{hours}h{minutes}m"),
        (_, _, _) => format!("{secs}s"),
    }
}

impl std::fmt::Display for StepsReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { app, steps, max, stated, every_secs } = self;
        let plural = if *steps == 1 { "" } else { "s" };
        write!(f, "{app}: {steps} step{plural} of at most {max} replicas")?;
        if *stated != max.to_string() {
            write!(f, " ({stated})")?;
        }
        if *every_secs > 0 && *steps > 1 {
            let least = every_secs.saturating_mul(steps.saturating_sub(1));
            write!(f, ", one every {} at most, {} in all at least", length(*every_secs), length(least))?;
        }
        Ok(())
    }
}
