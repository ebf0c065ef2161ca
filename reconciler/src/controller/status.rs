//! What people ask a controller: what is live, what is held and why, how every cluster and app does. Data; `status`, `get`
//! and `tree` put it into words, `/api/status` serves it as JSON.
//!
//! Invariant: made from what was seen and decided, it decides nothing; what was not seen is `Unknown`, never zero or Current.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{AppId, ClusterId, SmolStr};
use fleetwright_compiler::placements::OutageState;
use fleetwright_compiler::plan::Fill;
use fleetwright_compiler::report::{MovingReport, on_the_way};
use fleetwright_compiler::what_if;
use serde::{Deserialize, Serialize};

use super::turn::Turn;
use super::wanted::Wanted;
use crate::apply::hold::Held;
use crate::apply::inventory::AppName;
use crate::cluster::Key;
use crate::decide::{Report, Urgency, some_of};
use crate::health::Health;
use crate::instant;
use crate::observation::{Answers, AppSeen};

/// What there is to say about a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The commit of the live branch; `None` before there is one that can be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<SmolStr>,
    /// The commit of the intents that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<SmolStr>,
    /// What people should know, the most urgent first.
    pub reports: Vec<Message>,
    /// Decisions that are not taken for a while.
    pub holds: Vec<HoldStatus>,
    /// Apps whose placement stays as it is, as `team/app`.
    pub suspended: Vec<SmolStr>,
    /// Moves in steps that are on the way, by app.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moving: Vec<MovingReport>,
    /// By name.
    pub clusters: Vec<ClusterStatus>,
    /// By team and app.
    pub apps: Vec<AppStatus>,
}

/// Something that people should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// `Wrong`, `Guarded`, `Waits` or `Note`.
    pub urgency: SmolStr,
    /// In words.
    pub text: String,
}

/// A decision that is not taken for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HoldStatus {
    /// Its key.
    pub key: SmolStr,
    /// Until when (RFC 3339).
    pub until: SmolStr,
    /// Who said so.
    pub by: SmolStr,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// Its name.
    pub name: SmolStr,
    /// As the record has it: `Ready`, `Lost` or `Quarantined`.
    pub state: SmolStr,
    /// Whether its API server answers: `Yes`, `No`, or `Unknown` as long as that cannot be said.
    pub answers: SmolStr,
    /// Since when (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<SmolStr>,
    /// Why nothing was done there in the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The commit of the live branch that was last applied as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<SmolStr>,
    /// Apps that should be there.
    pub apps: usize,
    /// Of these, how many are Current.
    pub current: usize,
    /// Objects that are not written or not deleted for now.
    pub held: usize,
}

/// An app, in all its clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppStatus {
    /// Its team.
    pub team: SmolStr,
    /// Its name.
    pub app: SmolStr,
    /// The worst of its clusters.
    pub health: SmolStr,
    /// Replicas that are placed, in all clusters.
    pub replicas: u64,
    /// Replicas that are wanted and have no place: `fleetwright why` says why.
    #[serde(default)]
    pub unplaced: u64,
    /// Replicas that are ready there.
    pub ready: u64,
    /// By name.
    pub clusters: Vec<Placement>,
}

/// An app in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// The cluster.
    pub cluster: SmolStr,
    /// In kstatus words.
    pub health: SmolStr,
    /// Since when (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<SmolStr>,
    /// Replicas that are wanted.
    pub replicas: u64,
    /// Replicas that are ready.
    pub ready: u64,
    /// All objects that should be there; only where one app is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<SmolStr>,
    /// Objects that are not Current.
    pub blocking: Vec<ObjectStatus>,
    /// Objects that are not written or not deleted for now.
    pub held: Vec<ObjectStatus>,
}

/// An object that somebody should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// `group/Kind/namespace/name`.
    pub object: SmolStr,
    /// In kstatus words; none of what is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<SmolStr>,
    /// Why.
    pub reason: String,
}

impl From<&Report> for Message {
    fn from(report: &Report) -> Self {
        Self { urgency: report.urgency.as_str().into(), text: report.text.clone() }
    }
}

/// The status of a fleet. `wanted` is `None` before the first live commit.
#[must_use]
pub fn status(wanted: Option<&Wanted>, turns: &BTreeMap<SmolStr, Turn>, mut reports: Vec<Message>) -> Status {
    let Some(wanted) = wanted else { return Status { reports, ..Status::default() } };
    reports.extend(unrecorded(wanted));
    reports.sort_by_key(|report| Urgency::ALL.iter().position(|urgency| urgency.as_str() == report.urgency));
    let state = wanted.state();
    let apps = apps(wanted, turns);
    let holds = state.holds.iter().map(|hold| HoldStatus {
        key: hold.key.clone(),
        until: hold.until.clone(),
        by: hold.by.clone(),
        reason: hold.reason.clone(),
    });
    Status {
        live: Some(wanted.commit().0.clone()),
        main: Some(wanted.pin().0.clone()),
        reports,
        holds: holds.collect(),
        suspended: state.suspended.clone(),
        moving: on_the_way(wanted.compiled()),
        clusters: wanted.clusters().map(|name| cluster(wanted, name, turns.get(name), &apps)).collect(),
        apps,
    }
}

/// That apps are left as they are, because nothing is recorded of them.
fn unrecorded(wanted: &Wanted) -> Option<Message> {
    let names: Vec<String> = wanted.unrecorded().iter().map(|(team, app)| format!("{team}/{app}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = format!(
        "placements/ of the live commit {} says nothing of {}: nothing of that is applied or deleted until the decider has \
         recorded where it is to run. `git revert` on the live branch brings back what somebody removed there",
        wanted.commit().short(),
        some_of(&names)
    );
    (!names.is_empty()).then(|| Message { urgency: Urgency::Waits.as_str().into(), text })
}

/// One app with all its objects; `None` where neither the fleet nor a cluster has it.
#[must_use]
pub fn app(wanted: &Wanted, turns: &BTreeMap<SmolStr, Turn>, team: &str, name: &str) -> Option<AppStatus> {
    let mut app = apps(wanted, turns).into_iter().find(|app| app.team == team && app.app == name)?;
    let (fleet, plan) = (&wanted.compiled().fleet, &wanted.compiled().plan);
    if let Some(id) = fleet.app_id(team, name) {
        for planned in plan.apps.get(id.index()).into_iter().flat_map(|plan| &plan.objects) {
            let cluster = &fleet.cluster(planned.cluster).name;
            let object = fleet.app(id).objects.get(planned.object as usize);
            let placement = app.clusters.iter_mut().find(|placement| placement.cluster == *cluster);
            if let (Some(object), Some(placement)) = (object, placement) {
                placement.objects.push(Key::from(&object.key).to_string().into());
            }
        }
    }
    Some(app)
}

fn cluster(wanted: &Wanted, name: &SmolStr, turn: Option<&Turn>, apps: &[AppStatus]) -> ClusterStatus {
    let recorded = wanted.state().outages.get(name).map_or(OutageState::Ready, |outage| outage.state);
    let state = match recorded {
        OutageState::Ready => "Ready",
        OutageState::Lost => "Lost",
        OutageState::Quarantined => "Quarantined",
    };
    let (answers, since_secs, lost) = match turn.map(|turn| &turn.seen.answers) {
        Some(Answers::Yes { since_secs }) => ("Yes", Some(*since_secs), None),
        Some(Answers::No { since_secs, error }) => ("No", Some(*since_secs), Some(error.clone())),
        // Not for long enough to count on it, but so it is.
        Some(Answers::NotYetKnown) if turn.is_some_and(|turn| turn.outcome.is_ok()) => ("Yes", None, None),
        Some(Answers::NotYetKnown) | None => ("Unknown", None, None),
    };
    let error = turn.and_then(|turn| turn.outcome.as_ref().err()).map(ToString::to_string);
    let here = || apps.iter().flat_map(|app| &app.clusters).filter(|placement| placement.cluster == *name);
    ClusterStatus {
        name: name.clone(),
        state: state.into(),
        answers: answers.into(),
        since: since_secs.map(instant::text),
        error: error.or(lost),
        applied: turn.and_then(|turn| turn.seen.applied.as_ref()).map(|commit| commit.0.clone()),
        apps: here().count(),
        current: here().filter(|placement| placement.health == Health::Current.word()).count(),
        held: here().map(|placement| placement.held.len()).sum(),
    }
}

fn apps(wanted: &Wanted, turns: &BTreeMap<SmolStr, Turn>) -> Vec<AppStatus> {
    let fleet = &wanted.compiled().fleet;
    let mut held: BTreeMap<(&AppName, &SmolStr), Vec<&Held>> = BTreeMap::new();
    for (cluster, turn) in turns {
        for one in turn.outcome.iter().flat_map(|report| &report.held) {
            held.entry((&one.app, cluster)).or_default().push(one);
        }
    }
    let known = fleet.app_ids().map(|id| {
        let app = fleet.app(id);
        ((fleet.team(app.team).name.clone(), app.name.clone()), counts(wanted, id))
    });
    let mut counts: BTreeMap<AppName, BTreeMap<ClusterId, u64>> = known.collect();
    // What is left of an app that nobody wants any more is its own line until it is gone.
    for (app, _) in held.keys() {
        counts.entry((*app).clone()).or_default();
    }
    let compiled = wanted.compiled();
    let missing: BTreeMap<AppName, u64> = fleet
        .app_ids()
        .zip(&compiled.target.apps)
        .map(|(id, target)| {
            let app = fleet.app(id);
            ((fleet.team(app.team).name.clone(), app.name.clone()), what_if::missing(app, target))
        })
        .collect();
    let status = counts.into_iter().map(|(name, counts)| {
        let mut clusters: BTreeSet<&SmolStr> = counts.keys().map(|id| &fleet.cluster(*id).name).collect();
        // What nobody recorded may go or stay.
        let is_unrecorded = wanted.unrecorded().contains(&name);
        let unwanted = if is_unrecorded { Health::Unknown } else { Health::Terminating };
        clusters.extend(held.keys().filter(|(app, _)| **app == name).map(|(_, cluster)| *cluster));
        let placements: Vec<Placement> = clusters
            .into_iter()
            .map(|cluster| {
                let wanted = fleet.cluster_id(cluster).and_then(|id| counts.get(&id)).copied();
                let seen = turns.get(cluster).and_then(|turn| turn.seen.apps.get(&name));
                let held = held.get(&(&name, cluster)).map_or(&[][..], Vec::as_slice);
                placement(cluster, wanted, unwanted, seen, held)
            })
            .collect();
        let health = placements.iter().map(|placement| &placement.health).max_by_key(|health| badness(health));
        let unplaced = missing.get(&name).copied().filter(|_| !is_unrecorded).unwrap_or(0);
        // One that is wanted and is nowhere is not well because nothing of it is unwell.
        let nowhere = match unplaced {
            _ if is_unrecorded => Health::Unknown,
            0 => Health::Current,
            _ => Health::NotFound,
        };
        AppStatus {
            health: health.cloned().unwrap_or_else(|| nowhere.word().into()),
            unplaced,
            replicas: placements.iter().map(|placement| placement.replicas).sum(),
            ready: placements.iter().map(|placement| placement.ready).sum(),
            clusters: placements,
            team: name.0,
            app: name.1,
        }
    });
    status.collect()
}

/// `unwanted` is the health where nothing is wanted.
fn placement(
    cluster: &SmolStr,
    wanted: Option<u64>,
    unwanted: Health,
    seen: Option<&AppSeen>,
    held: &[&Held],
) -> Placement {
    let health = match (wanted, seen) {
        (Some(_), Some(seen)) => seen.health,
        (Some(_), None) => Health::Unknown,
        (None, _) => unwanted,
    };
    let blocking = seen.into_iter().flat_map(|seen| &seen.blocking).map(|(object, health, reason)| ObjectStatus {
        object: object.clone(),
        health: Some(health.word().into()),
        reason: reason.clone(),
    });
    let held = held.iter().map(|held| ObjectStatus {
        object: held.key.to_string().into(),
        health: None,
        reason: held.why.to_string(),
    });
    let ready = seen.into_iter().flat_map(|seen| seen.workloads.values()).map(|workload| u64::from(workload.ready));
    Placement {
        cluster: cluster.clone(),
        health: health.word().into(),
        since: seen.map(|seen| instant::text(seen.since_secs)),
        replicas: wanted.unwrap_or(0),
        ready: ready.sum(),
        objects: Vec::new(),
        blocking: if wanted.is_some() { blocking.collect() } else { Vec::new() },
        held: held.collect(),
    }
}

/// Replicas of an app by cluster, of all its workloads together. A cluster that has objects only counts 0.
fn counts(wanted: &Wanted, app: AppId) -> BTreeMap<ClusterId, u64> {
    let mut counts = BTreeMap::new();
    for object in wanted.compiled().plan.apps.get(app.index()).into_iter().flat_map(|plan| &plan.objects) {
        let replicas = match object.fill {
            Fill::Share { replicas, .. } => replicas.unwrap_or(0),
            Fill::Owned { replicas } => replicas,
            Fill::Bounds { .. } | Fill::AsIs => 0,
        };
        *counts.entry(object.cluster).or_insert(0) += u64::from(replicas);
    }
    counts
}

fn badness(word: &str) -> usize {
    const ORDER: [Health; 6] =
        [Health::Current, Health::InProgress, Health::Terminating, Health::NotFound, Health::Unknown, Health::Failed];
    ORDER.iter().position(|health| health.word() == word).unwrap_or(0)
}
