//! Moves in steps that are on the way.

use serde::{Deserialize, Serialize};

use crate::Compiled;
use crate::base::{AppId, SmolStr};
use crate::model::App;
use crate::moves;
use crate::placements::PlacedApp;

/// Clusters of a workload that the text names; the data has all.
const LISTED: usize = 8;

/// A move that is on the way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovingReport {
    /// `team/app`.
    pub app: String,
    /// Why it was begun: `Tide`, `Pin` and so on.
    pub cause: SmolStr,
    /// The step it is in, from 1; 0 while there is no room for the first.
    pub step: u32,
    /// How many are left after it, where there is room for all of them.
    pub left: u64,
    /// When that step was begun (RFC 3339).
    pub since: SmolStr,
    /// When all should be done (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<SmolStr>,
    /// Where it still leads, by workload and cluster.
    pub rows: Vec<MovingRow>,
}

/// Replicas that are still to come to a cluster, or to leave it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovingRow {
    /// The workload's key.
    pub workload: SmolStr,
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas now.
    pub replicas: u32,
    /// Replicas at the end.
    pub target: u32,
}

/// Moves in steps that are on the way, by app.
#[must_use]
pub fn on_the_way(compiled: &Compiled) -> Vec<MovingReport> {
    let fleet = &compiled.fleet;
    let of = |id: &AppId| {
        let (key, app) = (key(compiled, *id), fleet.app(*id));
        let (now, open) = (compiled.record.apps.get(&key)?, compiled.record.moves.get(&key)?);
        let steps = app.tide_steps.filter(|_| open.cause == "Tide").or(app.steps);
        let left = steps.map_or(0, |steps| moves::count(app, &steps, now, &open.target));
        Some(MovingReport {
            app: fleet.app_name(*id),
            cause: open.cause.clone(),
            step: open.step,
            left,
            since: open.since.clone(),
            deadline: open.deadline.clone(),
            rows: rows(app, now, &open.target),
        })
    };
    compiled.moving.iter().filter_map(of).collect()
}

fn rows(app: &App, now: &PlacedApp, target: &PlacedApp) -> Vec<MovingRow> {
    let mut rows = Vec::new();
    for workload in &app.workloads {
        let (now, target) = (moves::by_cluster(now, &workload.key), moves::by_cluster(target, &workload.key));
        let mut clusters: Vec<&SmolStr> = now.keys().chain(target.keys()).copied().collect();
        clusters.sort();
        clusters.dedup();
        for cluster in clusters {
            let of = |rows: &std::collections::BTreeMap<&SmolStr, u32>| rows.get(cluster).copied().unwrap_or(0);
            if of(&now) != of(&target) {
                let (workload, cluster) = (workload.key.clone(), cluster.clone());
                rows.push(MovingRow { workload, replicas: of(&now), target: of(&target), cluster });
            }
        }
    }
    rows
}

fn key(compiled: &Compiled, id: AppId) -> (SmolStr, SmolStr) {
    let app = compiled.fleet.app(id);
    (compiled.fleet.team(app.team).name.clone(), app.name.clone())
}

impl std::fmt::Display for MovingReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { app, cause, step, left, since, deadline, rows } = self;
        match step {
            // There was no room yet, or what an earlier move raised is waited for.
            0 => write!(f, "{app}: not begun since {since}, {left} steps to go, ordered by {cause}")?,
            step => write!(f, "{app}: step {step} since {since}, {left} left, begun by {cause}")?,
        }
        if let Some(deadline) = deadline {
            write!(f, ", due by {deadline}")?;
        }
        for rows in rows.chunk_by(|a, b| a.workload == b.workload) {
            let shown = rows.iter().take(LISTED);
            let mut parts: Vec<String> =
                shown.map(|row| format!("{} {} -> {}", row.cluster, row.replicas, row.target)).collect();
            if rows.len() > LISTED {
                parts.push(format!("and {} more clusters", rows.len() - LISTED));
            }
            let name = rows.first().map(|row| row.workload.as_str()).unwrap_or_default();
            write!(f, "; {name}: {}", parts.join(", "))?;
        }
        Ok(())
    }
}
