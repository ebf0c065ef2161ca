//! What the controller writes into its log: one JSON line for each thing that happened, none for what stayed as it was.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use fleetwright_reconciler::apply::run::Did;
use fleetwright_reconciler::controller::metrics::Metrics;
use fleetwright_reconciler::controller::status::Message;
use fleetwright_reconciler::controller::{Tick, Turn};
use fleetwright_reconciler::ports::Notifier;
use tracing::{error, info, warn};

/// What was said last, so that it is said once.
#[derive(Default)]
pub struct Journal {
    /// Tells people of what only they can mend.
    notifier: Option<Box<dyn Notifier>>,
    reports: BTreeSet<String>,
    problems: BTreeMap<SmolStr, String>,
    held: BTreeMap<SmolStr, BTreeSet<String>>,
}

/// Sets logging up, once for the process.
pub fn begin() {
    let logs = tracing_subscriber::fmt().json().with_writer(std::io::stderr).with_current_span(false);
    // Where somebody set one up already, theirs counts.
    let _ = logs.try_init();
}

impl Journal {
    /// With a way to tell people.
    pub fn new(notifier: Option<Box<dyn Notifier>>) -> Self {
        Self { notifier, ..Self::default() }
    }

    /// Writes down a tick.
    pub fn tick(&mut self, tick: &Tick, live: Option<&str>, metrics: &Metrics) {
        if let Some(Ok(advanced)) = &tick.decided {
            for commit in &advanced.pushed {
                let cause = commit.cause.as_str();
                info!(commit = %commit.id, cause, subject = commit.subject(), "pushed to the live branch");
                metrics.committed(commit.cause);
            }
        }
        if tick.moved {
            info!(live = live.unwrap_or_default(), "follows the live branch");
        }
    }

    /// Writes down reports that are new, and those that are over.
    pub fn reports(&mut self, reports: &[Message]) {
        let now: BTreeSet<String> = reports.iter().map(|report| report.text.clone()).collect();
        for report in reports.iter().filter(|report| !self.reports.contains(&report.text)) {
            match report.urgency.as_str() {
                "Wrong" | "Guarded" => {
                    error!(urgency = %report.urgency, "{}", report.text);
                    if let Some(Err(problem)) = self.notifier.as_mut().map(|notifier| notifier.notify(&report.text)) {
                        error!("nobody could be told: {problem}");
                    }
                }
                "Waits" => warn!(urgency = %report.urgency, "{}", report.text),
                _ => info!(urgency = %report.urgency, "{}", report.text),
            }
        }
        for over in self.reports.difference(&now) {
            info!("over: {over}");
        }
        self.reports = now;
    }

    /// Writes down a turn of a cluster.
    pub fn turn(&mut self, cluster: &SmolStr, turn: &Turn, metrics: &Metrics) {
        let report = match &turn.outcome {
            Err(problem) => {
                let problem = problem.to_string();
                if self.problems.get(cluster) != Some(&problem) {
                    error!(%cluster, "{problem}");
                    self.problems.insert(cluster.clone(), problem);
                }
                return;
            }
            Ok(report) => report,
        };
        if self.problems.remove(cluster).is_some() {
            info!(%cluster, "answers again");
        }
        let (mut applied, mut deleted) = (0, 0);
        for done in &report.done {
            let app = format!("{}/{}", done.app.0, done.app.1);
            match &done.did {
                Did::Applied(_) | Did::Adopted | Did::Replaced => applied += 1,
                Did::Pruned => deleted += 1,
                Did::WasGone | Did::WouldApply(_) | Did::WouldPrune | Did::WouldFail(_) => {}
            }
            info!(%cluster, app, object = %done.key, did = %done.did);
        }
        metrics.turned(cluster, applied, deleted);
        let held = report.held.iter();
        let held = held.map(|held| format!("{}/{}: {}: {}", held.app.0, held.app.1, held.key, held.why));
        let held: BTreeSet<String> = held.collect();
        let before = self.held.entry(cluster.clone()).or_default();
        for one in held.difference(before) {
            warn!(%cluster, "held: {one}");
        }
        *before = held;
        for (app, why) in &report.lost {
            warn!(%cluster, app = format!("{}/{}", app.0, app.1), "{why}");
        }
    }
}
