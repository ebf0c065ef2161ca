//! A lost cluster answers again: it is quarantined until it is clean, then declared ready, and its epoch rises.
//!
//! Quarantined, it takes nothing new, and its applier only removes. It is clean once it has applied the commit that
//! quarantined it, or a later one. Where all that it keeps are apps that nothing replaced, it is ready without being clean:
//! they are the only copies, and stay. Nothing moves back by itself: that is a person's decision.

use fleetwright_compiler::model::Failover;
use fleetwright_compiler::placements::{OutageDoc, OutageState};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::RepoPath;

use crate::commit::Cause;
use crate::decide::causes::failover::declared;
use crate::decide::{DecideError, Intents, Live, Proposal, Report, Urgency, View, clock, key};
use crate::instant;
use crate::observation::{Answers, ClusterSeen};

/// The next step of each cluster that is coming back.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Vec<Proposal>, DecideError> {
    let (Some(live), Some(observation)) = (&view.situation.live, view.situation.observation) else {
        return Ok(Vec::new());
    };
    let mut proposals = Vec::new();
    for (cluster, seen) in &observation.clusters {
        let Answers::Yes { since_secs } = seen.answers else { continue };
        let outage = live.state.outages.get(cluster);
        let steps = match outage.map(|outage| (outage.state, outage)) {
            None | Some((OutageState::Ready, _)) => next_epoch(live, cluster)?,
            Some((OutageState::Lost, outage)) => quarantine(live, cluster, outage, seen, since_secs, reports)?,
            Some((OutageState::Quarantined, outage)) => ready(view, live, cluster, outage, seen, reports)?,
        };
        proposals.extend(steps);
    }
    if !proposals.is_empty()
        && let Some(report) = clock::distrust(view)
    {
        reports.push(report);
        return Ok(Vec::new());
    }
    Ok(proposals)
}

/// A cluster whose failover was taken back and that answers: that outage is over, and the next one is another.
fn next_epoch(live: &Live<'_>, cluster: &str) -> Result<Option<Proposal>, DecideError> {
    let epoch = live.state.epoch(cluster);
    if !live.has_key(&declared(cluster, epoch)) {
        return Ok(None);
    }
    let body = "Its failover was taken back, and it answers: the outage is over.";
    declare_ready(live, cluster, epoch, body).map(Some)
}

/// A cluster that began to answer after it was declared lost. One that a person declared lost while it answered stays so.
fn quarantine(
    live: &Live<'_>,
    cluster: &str,
    outage: &OutageDoc,
    seen: &ClusterSeen,
    since_secs: i64,
    reports: &mut Vec<Report>,
) -> Result<Option<Proposal>, DecideError> {
    let lost_secs = outage.since.as_deref().and_then(instant::parse);
    if lost_secs.is_none_or(|lost| since_secs <= lost) {
        reports.push(Report::new(
            Urgency::Note,
            format!(
                "cluster {cluster} is declared lost and answers all the time since: `fleetwright failback {cluster}` \
                 declares it ready"
            ),
        ));
        return Ok(None);
    }
    let known = live.state.capacities.get(cluster).and_then(|capacity| capacity.uid.clone());
    if let (Some(known), Some(uid)) = (&known, &seen.uid)
        && known != uid
    {
        reports.push(Report::new(
            Urgency::Guarded,
            format!(
                "another cluster answers under the name of {cluster}: its kube-system has the UID {uid}, and the one that \
                 was lost had {known}. If it was built anew, remove state/capacity/{cluster}.yaml on the live branch"
            ),
        ));
        return Ok(None);
    }
    let epoch = outage.epoch.unwrap_or(0);
    let since = instant::text(since_secs);
    let doc = OutageDoc {
        state: OutageState::Quarantined,
        epoch: outage.epoch,
        since: Some(since.clone()),
        by: outage.by.clone(),
    };
    let subject = format!("Quarantine {cluster}: it answers again");
    let body = format!("It answers since {since}. It takes nothing new until it is clean.");
    step(live, cluster, &doc, (quarantined(cluster, epoch, &since), subject, body)).map(Some)
}

fn quarantined(cluster: &str, epoch: u64, since: &str) -> fleetwright_compiler::base::SmolStr {
    key(Cause::Return, &[cluster, &epoch.to_string(), "quarantine", since])
}

fn ready(
    view: &View<'_>,
    live: &Live<'_>,
    cluster: &str,
    outage: &OutageDoc,
    seen: &ClusterSeen,
    reports: &mut Vec<Report>,
) -> Result<Option<Proposal>, DecideError> {
    let epoch = outage.epoch.unwrap_or(0);
    let key_of_quarantine = quarantined(cluster, epoch, outage.since.as_deref().unwrap_or_default());
    let is_it = |commit: &crate::commit::LiveCommit| {
        commit.trailers.as_ref().is_some_and(|trailers| trailers.key == key_of_quarantine)
    };
    // One that a person wrote has no such commit: then only the newest proves it clean.
    let quarantined_at = live.history.iter().position(is_it).unwrap_or(0);
    let applied = seen.applied.as_ref();
    let applied_at = applied.and_then(|applied| live.history.iter().position(|commit| commit.id == *applied));
    let is_clean = applied_at.is_some_and(|applied| applied <= quarantined_at);
    if !is_clean && seen.runs_only_copies && waited_long_enough(view, outage) {
        let body = "Nothing replaced what still runs there, so it stays: the cluster takes replicas again.";
        return Ok(Some(declare_ready(live, cluster, epoch, body)?));
    }
    if !is_clean {
        reports.push(Report::new(
            Urgency::Waits,
            format!("cluster {cluster} is quarantined until it has applied what was decided while it was lost"),
        ));
        return Ok(None);
    }
    Ok(Some(declare_ready(live, cluster, epoch, "It is clean again. Nothing moves back by itself.")?))
}

/// Whether a cluster is quarantined for as long as it takes to call another one lost: what replaces its apps had its time.
fn waited_long_enough(view: &View<'_>, outage: &OutageDoc) -> bool {
    let after = view.current.map_or_else(Failover::default, |current| current.fleet.settings.failover).after_secs;
    let since = outage.since.as_deref().and_then(instant::parse);
    since.is_some_and(|since| view.situation.now_secs.saturating_sub(since) >= i64::try_from(after).unwrap_or(i64::MAX))
}

/// The proposal that declares a cluster ready: the only one in which its epoch rises.
pub(crate) fn declare_ready(live: &Live<'_>, cluster: &str, epoch: u64, body: &str) -> Result<Proposal, DecideError> {
    let next = epoch.saturating_add(1);
    let doc = OutageDoc { state: OutageState::Ready, epoch: Some(next), since: None, by: None };
    let key = key(Cause::Return, &[cluster, &next.to_string(), "ready"]);
    step(live, cluster, &doc, (key, format!("Declare {cluster} ready"), body.to_owned()))
}

fn step(
    live: &Live<'_>,
    cluster: &str,
    doc: &OutageDoc,
    (key, subject, body): (fleetwright_compiler::base::SmolStr, String, String),
) -> Result<Proposal, DecideError> {
    let mut record = live.record.clone();
    record.put_state(RepoPath::new(&format!("state/outages/{cluster}.yaml"))?, doc);
    Ok(Proposal {
        cause: Cause::Return,
        key: Some(key),
        steps: Vec::new(),
        subject,
        body,
        intents: Intents::Live,
        record,
        scenario: Scenario::default(),
        // What becomes possible by it is a decision of its own.
        only: Some(std::collections::BTreeSet::new()),
        person: None,
    })
}
