//! A cluster does not answer for longer than its apps tolerate: they leave it.
//!
//! What a lost cluster is to an app is what a node that does not answer is to a pod: a taint
//! `fleetwright.io/unreachable:NoExecute`. An app that tolerates it for some seconds leaves after those, one that tolerates
//! it without limit never; all others after their own `failover.after`, else that of fleet.yaml, by default 300 s. Apps of
//! which every workload is copied to each cluster have nowhere to go and stay.
//!
//! Guards: never while more clusters are down than `failover.maxClusters` (default: a fifth of them, at least one) or none
//! answers, because then it is us; never twice in an epoch of a cluster unless a person says so, so that a revert holds;
//! not a third time within an hour.

use std::collections::BTreeSet;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::api::IntOrPercent;
use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::taint::{Taint, TaintEffect};
use fleetwright_compiler::model::{App, Share};
use fleetwright_compiler::placements::{OutageDoc, OutageState, PlacedApp};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::RepoPath;

use crate::commit::Cause;
use crate::decide::{DecideError, Intents, Live, Proposal, Report, Urgency, View, clock, key, stepped};
use crate::instant;
use crate::observation::Answers;

/// What a cluster that does not answer is tainted with, as far as tolerations are concerned.
pub const UNREACHABLE: &str = "fleetwright.io/unreachable";

/// Failovers of one cluster within [`FLAP_SECS`] after which the next waits.
const FLAPS: u64 = 2;
/// How long a failover counts for that.
const FLAP_SECS: i64 = 3600;

/// (team, app)
pub(crate) type AppName = (SmolStr, SmolStr);

/// A cluster that does not answer.
struct Down<'a> {
    name: &'a SmolStr,
    since_secs: i64,
    error: &'a str,
}

/// The failover of each cluster that is lost for longer than its apps tolerate.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Vec<Proposal>, DecideError> {
    let (Some(live), Some(current), Some(observation)) =
        (&view.situation.live, view.current, view.situation.observation)
    else {
        return Ok(Vec::new());
    };
    let seen = |cluster: &SmolStr| observation.clusters.get(cluster).map(|seen| &seen.answers);
    let mut down = Vec::new();
    let mut up = 0_usize;
    for cluster in &current.fleet.clusters {
        match seen(&cluster.name) {
            Some(Answers::No { since_secs, error }) => {
                down.push(Down { name: &cluster.name, since_secs: *since_secs, error });
            }
            Some(Answers::Yes { .. }) => up += 1,
            Some(Answers::NotYetKnown) | None => {}
        }
    }
    if down.is_empty() {
        return Ok(Vec::new());
    }
    let held = clock::distrust(view).or_else(|| mass_loss(current, &down, up));
    if let Some(report) = held {
        reports.push(report);
        return Ok(Vec::new());
    }
    let mut proposals = Vec::new();
    for down in &down {
        proposals.extend(fail_over(view, live, current, down, reports)?);
    }
    Ok(proposals)
}

fn mass_loss(current: &Compiled, down: &[Down<'_>], up: usize) -> Option<Report> {
    let all = current.fleet.clusters.len();
    let most = match current.fleet.settings.failover.max_clusters {
        Some(IntOrPercent::Int(count)) => count as usize,
        Some(IntOrPercent::Percent(share)) => all * share as usize / 100,
        None => (all / 5).max(1),
    };
    let names: Vec<&str> = down.iter().map(|d| d.name.as_str()).collect();
    let guarded = |why: String| {
        let text = format!("nothing fails over: {why} ({})", names.join(", "));
        Some(Report::new(Urgency::Guarded, text))
    };
    if up == 0 {
        return guarded("no cluster answers, so it is more likely this process's network than theirs".to_owned());
    }
    if down.len() > most {
        return guarded(format!(
            "{} of {all} clusters do not answer, and `failover.maxClusters` is {most}; if they are lost, `fleetwright \
             failover CLUSTER` moves their apps",
            down.len()
        ));
    }
    None
}

fn fail_over(
    view: &View<'_>,
    live: &Live<'_>,
    current: &Compiled,
    down: &Down<'_>,
    reports: &mut Vec<Report>,
) -> Result<Option<Proposal>, DecideError> {
    let now = view.situation.now_secs;
    let silent_secs = now.saturating_sub(down.since_secs);
    let after = secs(current.fleet.settings.failover.after_secs);
    let leaving: BTreeSet<AppName> = movable(current, down.name)
        .filter(|(_, app)| {
            tolerated_secs(app, app.failover_after_secs.map_or(after, secs))
                .is_some_and(|tolerated| silent_secs >= tolerated)
        })
        .map(|(name, _)| name)
        .collect();
    if leaving.is_empty() && silent_secs < after {
        return Ok(None);
    }
    let epoch = live.state.epoch(down.name);
    let (number, outage) = (epoch.to_string(), live.state.outages.get(down.name));
    let (cluster, since) = (down.name.as_str(), instant::text(down.since_secs));
    let is_lost = outage.is_some_and(|outage| outage.state == OutageState::Lost);
    let names: Vec<String> = leaving.iter().map(|(team, app)| format!("{team}/{app}")).collect();
    let key = match outage.map(|outage| outage.state) {
        None | Some(OutageState::Ready) => declared(cluster, epoch),
        // It failed again while it was being cleaned.
        Some(OutageState::Quarantined) => key(Cause::Failover, &[cluster, &number, "again", &since]),
        Some(OutageState::Lost) if leaving.is_empty() => return Ok(None),
        Some(OutageState::Lost) => key(Cause::Failover, &[cluster, &number, "more", &names.join(" ")]),
    };
    if live.has_key(&key) {
        // While it is declared lost, the rest found no place the last time either.
        if !is_lost {
            reports.push(Report::new(
                Urgency::Guarded,
                format!(
                    "cluster {cluster} does not answer since {since}, and its failover was taken back: it holds until \
                     the cluster is back, or until `fleetwright failover {cluster} --again`"
                ),
            ));
        }
        return Ok(None);
    }
    if !is_lost && is_flapping(live, cluster, epoch, now) {
        reports.push(Report::new(
            Urgency::Guarded,
            format!(
                "cluster {cluster} does not answer since {since}, and failed over {FLAPS} times within the last hour: it \
                 is left alone; `fleetwright failover {cluster}` moves its apps all the same"
            ),
        ));
        return Ok(None);
    }
    let body =
        format!("Cluster {cluster} does not answer since {since} ({silent_secs} s), epoch {epoch}: {}", down.error);
    let outage = OutageDoc {
        state: OutageState::Lost,
        epoch: Some(epoch),
        since: Some(outage.filter(|_| is_lost).and_then(|o| o.since.clone()).unwrap_or(since)),
        by: outage.filter(|_| is_lost).and_then(|o| o.by.clone()),
    };
    let subject = if is_lost {
        format!("Fail over from {cluster}: apps that tolerated it until now")
    } else {
        format!("Fail over from {cluster}: it does not answer")
    };
    evicting(live, cluster, &outage, leaving, (key, subject, body)).map(Some)
}

/// The proposal that declares a cluster lost and evicts these apps.
pub(crate) fn evicting(
    live: &Live<'_>,
    cluster: &str,
    outage: &OutageDoc,
    leaving: BTreeSet<AppName>,
    (key, subject, body): (SmolStr, String, String),
) -> Result<Proposal, DecideError> {
    let mut record = live.record.clone();
    record.put_state(RepoPath::new(&format!("state/outages/{cluster}.yaml"))?, outage);
    // Whatever move one of them was on, it goes from where it is.
    for app in &leaving {
        record.remove(&stepped::path(app)?);
    }
    let evict = leaving.iter().map(|(team, app)| (team.clone(), app.clone(), SmolStr::new(cluster))).collect();
    Ok(Proposal {
        cause: Cause::Failover,
        key: Some(key),
        steps: Vec::new(),
        subject,
        body,
        intents: Intents::Live,
        record,
        scenario: Scenario { evict, ..Scenario::default() },
        only: Some(leaving),
        person: None,
    })
}

/// The key of declaring a cluster lost in an epoch.
pub(crate) fn declared(cluster: &str, epoch: u64) -> SmolStr {
    key(Cause::Failover, &[cluster, &epoch.to_string()])
}

/// Whether the cluster was declared lost in each of the last epochs, a short while ago.
fn is_flapping(live: &Live<'_>, cluster: &str, epoch: u64, now: i64) -> bool {
    epoch >= FLAPS
        && (epoch - FLAPS..epoch).all(|epoch| {
            let key = declared(cluster, epoch);
            let commits = live.history.iter().filter(|c| c.trailers.as_ref().is_some_and(|t| t.key == key));
            commits.map(|commit| commit.time_secs).max().is_some_and(|then| now.saturating_sub(then) < FLAP_SECS)
        })
}

/// Apps with replicas in a cluster that could run elsewhere. Suspended ones stay.
pub(crate) fn movable<'a>(current: &'a Compiled, cluster: &'a str) -> impl Iterator<Item = (AppName, &'a App)> {
    let placed = current.record.apps.iter().filter(|(name, _)| !current.record.suspended.contains(*name));
    placed.filter_map(move |(name, placed)| {
        let app = current.fleet.app(current.fleet.app_id(&name.0, &name.1)?);
        has_movable_seat(app, placed, cluster).then(|| (name.clone(), app))
    })
}

fn has_movable_seat(app: &App, placed: &PlacedApp, cluster: &str) -> bool {
    app.workloads.iter().filter(|workload| workload.share != Share::Everywhere).any(|workload| {
        let seats = placed.workloads.get(&workload.key).map(|w| w.seats.as_slice()).unwrap_or_default();
        seats.iter().any(|seat| seat.cluster == cluster && seat.replicas > 0)
    })
}

/// For how long an app stands a cluster that does not answer; `None`: for ever. Of several tolerations the shortest
/// counts, as for pods.
fn tolerated_secs(app: &App, after: i64) -> Option<i64> {
    let taint = Taint { key: UNREACHABLE.into(), value: SmolStr::default(), effect: TaintEffect::NoExecute };
    let mut matching = app.placement.tolerations.iter().filter(|t| t.tolerates(&taint)).peekable();
    if matching.peek().is_none() {
        return Some(after);
    }
    matching.filter_map(|toleration| toleration.toleration_seconds).map(|secs| secs.max(0)).min()
}

fn secs(secs: u64) -> i64 {
    i64::try_from(secs).unwrap_or(i64::MAX)
}
