//! How many replicas autoscalers run, recorded for apps whose room is booked by that (`replicas.autoscaled.room: Observed`)
//! and where it differs noticeably from what is booked now.
//!
//! At most one commit in ten minutes for all apps, so that autoscalers do not fill the history. What was not seen (a cluster
//! that does not answer, a workload that could not be read) keeps what is recorded. A count moves nothing by itself: it keeps
//! new replicas of others away, or lets them come.

use std::collections::BTreeMap;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::api::AutoscaledRoom;
use fleetwright_compiler::base::{AppId, SmolStr, Span, Spanned};
use fleetwright_compiler::model::{Share, Workload};
use fleetwright_compiler::moves::by_cluster;
use fleetwright_compiler::placements::{AppDoc, ObservedApp, ObservedDoc, ObservedWorkload, RecordDoc, app_path};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::RepoPath;

use crate::commit::Cause;
use crate::decide::stepped::name_of;
use crate::decide::{DecideError, Intents, Proposal, Report, View, clock, key};
use crate::instant;
use crate::observation::{Answers, Observation};
use crate::record_files::RecordFiles;

/// The least time between two commits.
const EVERY_SECS: i64 = 600;
/// A count that changes by less of what is booked than this is not worth a commit, in per cent.
const THRESHOLD_PERCENT: u64 = 20;

/// One commit for all apps whose observed replicas differ noticeably from what is booked.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Option<Proposal>, DecideError> {
    let (Some(live), Some(current), Some(observation)) =
        (&view.situation.live, view.current, view.situation.observation)
    else {
        return Ok(None);
    };
    let now = view.situation.now_secs;
    let mut record = live.record.clone();
    let mut changed = Vec::new();
    for id in current.fleet.app_ids() {
        let name = name_of(current, id);
        // A frozen app is booked as it was when it was frozen.
        let seen = if current.record.suspended.contains(&name) { None } else { seen(current, observation, id) };
        if let Some(seen) = seen {
            record.put_state(RepoPath::new(&app_path(&name.0, &name.1))?, &document(&seen));
            changed.push(format!("{}/{}", name.0, name.1));
        }
    }
    let is_one =
        |c: &&crate::commit::LiveCommit| c.trailers.as_ref().is_some_and(|trailers| trailers.cause == Cause::Observed);
    let last = live.history.iter().find(is_one);
    if changed.is_empty() || last.is_some_and(|last| now.saturating_sub(last.time_secs) < EVERY_SECS) {
        return Ok(None);
    }
    if let Some(report) = clock::distrust(view) {
        reports.push(report);
        return Ok(None);
    }
    let names: Vec<&str> = changed.iter().map(String::as_str).collect();
    Ok(Some(Proposal {
        cause: Cause::Observed,
        key: Some(key(Cause::Observed, &[&instant::text(now)])),
        steps: Vec::new(),
        subject: format!("Record what autoscalers run of {}", crate::decide::some_of(&names)),
        body: String::new(),
        intents: Intents::Live,
        record,
        scenario: Scenario::default(),
        only: None,
        person: None,
    }))
}

/// What is to be recorded of an app; `None` where it would be booked about the same.
fn seen(current: &Compiled, observation: &Observation, id: AppId) -> Option<ObservedApp> {
    let name = name_of(current, id);
    let placed = current.record.apps.get(&name)?;
    let mut observed = current.record.observed.get(&name).cloned().unwrap_or_default();
    let mut differs = false;
    for workload in current.fleet.app(id).workloads.iter().filter(|workload| is_booked_as_observed(workload)) {
        let recorded = observed.remove(&workload.key).unwrap_or_default();
        let seats: Vec<(SmolStr, u32)> =
            by_cluster(placed, &workload.key).into_iter().map(|(cluster, seats)| (cluster.clone(), seats)).collect();
        let was = |cluster: &SmolStr| recorded.get(cluster).and_then(|of| of.replicas);
        let is = |cluster: &SmolStr| {
            let seen = observation.clusters.get(cluster)?;
            let Answers::Yes { .. } = seen.answers else { return None };
            Some(seen.apps.get(&name)?.workloads.get(&workload.key)?.replicas)
        };
        let counts: Vec<(Option<u32>, Option<u32>)> =
            seats.iter().map(|(cluster, _)| (was(cluster), is(cluster).or_else(|| was(cluster)))).collect();
        let before = booked(workload, &seats, |at| counts.get(at)?.0);
        let after = booked(workload, &seats, |at| counts.get(at)?.1);
        differs |= before.into_iter().zip(after).any(|(before, after)| is_noticeable(before, after));
        // where it does not run nothing counts of it
        let rows = seats.into_iter().zip(counts).filter_map(|((cluster, _), (_, seen))| {
            Some((cluster, ObservedWorkload { replicas: Some(seen?), finished: false }))
        });
        observed.insert(workload.key.clone(), rows.collect());
    }
    differs.then_some(observed)
}

fn is_booked_as_observed(workload: &Workload) -> bool {
    workload.autoscaled.is_some_and(|of| of.policy.room == AutoscaledRoom::Observed)
}

/// What is booked in each cluster, where so many were observed.
fn booked(workload: &Workload, seats: &[(SmolStr, u32)], observed: impl Fn(usize) -> Option<u32>) -> Vec<u32> {
    let seats: Vec<u32> = seats.iter().map(|(_, seats)| *seats).collect();
    let copied = workload.share == Share::Everywhere;
    workload.autoscaled.map(|of| of.booked(&seats, observed, copied)).unwrap_or_default()
}

fn is_noticeable(before: u32, after: u32) -> bool {
    let change = u64::from(before.abs_diff(after));
    change > 0 && change * 100 >= u64::from(before) * THRESHOLD_PERCENT
}

/// As the record writes it.
fn document(observed: &ObservedApp) -> AppDoc {
    let named = |name: &SmolStr| Spanned::new(name.clone(), Span::default());
    let of = |seen: &ObservedWorkload| ObservedDoc { replicas: seen.replicas, finished: seen.finished.then_some(true) };
    let rows = observed.iter().filter(|(_, clusters)| !clusters.is_empty());
    let rows = rows.map(|(workload, clusters)| {
        (named(workload), clusters.iter().map(|(cluster, seen)| (named(cluster), of(seen))).collect())
    });
    AppDoc { observed: rows.collect() }
}

/// Leaves what is observed of apps, workloads and clusters that are there, under the names of now, as far as anything follows
/// from it. A file that says nothing else keeps its bytes.
pub(in crate::decide) fn tidy(record: &mut RecordFiles, compiled: &Compiled) -> Result<(), DecideError> {
    let mut wanted = BTreeMap::new();
    for ((team, app), observed) in &compiled.record.observed {
        let workloads = compiled.fleet.app_id(team, app).map(|id| compiled.fleet.app(id).workloads.as_slice());
        let counts = |key: &SmolStr, seen: &ObservedWorkload| {
            let mut known = workloads.into_iter().flatten().filter(|workload| workload.key == *key);
            seen.finished || known.any(is_booked_as_observed)
        };
        let mut observed = observed.clone();
        for (key, clusters) in &mut observed {
            clusters.retain(|_, seen| counts(key, seen));
        }
        let doc = document(&observed);
        if !doc.observed.is_empty() {
            wanted.insert(RepoPath::new(&app_path(team, app))?, doc);
        }
    }
    let files: Vec<RepoPath> = record.iter().map(|(path, _)| path.clone()).collect();
    for path in files.into_iter().filter(|path| path.as_str().starts_with("state/apps/")) {
        if !wanted.contains_key(&path) {
            record.remove(&path);
        }
    }
    for (path, doc) in wanted {
        let docs = record.docs(&path).unwrap_or_default();
        if !matches!(docs.as_slice(), [RecordDoc::App(known)] if same(known, &doc)) {
            record.put_state(path, &doc);
        }
    }
    Ok(())
}

/// Whether two documents say the same, wherever it is written.
fn same(a: &AppDoc, b: &AppDoc) -> bool {
    let plain = |doc: &AppDoc| -> Vec<(SmolStr, SmolStr, ObservedDoc)> {
        let rows = doc.observed.iter().flat_map(|(workload, clusters)| {
            clusters.iter().map(|(cluster, seen)| (workload.value.clone(), cluster.value.clone(), *seen))
        });
        rows.collect()
    };
    plain(a) == plain(b)
}
