//! The next steps of moves that are on the way: what was raised is Current, so what it replaces is lowered; and the next
//! clusters are raised, as far as there is room, once the pause between steps has passed.
//!
//! All steps that are due are one commit, with a key for each app: one that was taken back is not taken again until the
//! move leads somewhere else. Nothing is lowered that was not seen to be replaced, so without a look at the clusters no
//! step is taken that waits for one.

use std::collections::BTreeSet;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::{AppId, SmolStr};
use fleetwright_compiler::model::WorkloadKind;
use fleetwright_compiler::moves::{by_cluster, is_raised, is_stepped, is_there, lower, raise};
use fleetwright_compiler::placements::{OpenMove, PlacedApp};
use fleetwright_compiler::schedule::{Beside, Scenario};

use crate::commit::Cause;
use crate::decide::planned::write_placements;
use crate::decide::{DecideError, Intents, Live, Proposal, Report, Urgency, View, clock, key, lines, some_of, stepped};
use crate::health::Health;
use crate::instant;
use crate::observation::{Answers, Observation};

/// The next step of an app.
struct Step {
    name: (SmolStr, SmolStr),
    key: SmolStr,
    placed: PlacedApp,
    /// `None`: it is there.
    open: Option<OpenMove>,
}

/// All steps that are due.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Option<Proposal>, DecideError> {
    let (Some(live), Some(current)) = (&view.situation.live, view.current) else { return Ok(None) };
    if current.moving.is_empty() {
        return Ok(None);
    }
    if let Some(report) = clock::distrust(view) {
        reports.push(report);
        return Ok(None);
    }
    let mut beside = Beside::new(&current.fleet, &current.variants, &current.record, &current.target);
    let mut steps = Vec::new();
    for id in &current.moving {
        steps.extend(step(view, live, current, *id, &mut beside, reports));
    }
    let Some(first) = steps.first() else { return Ok(None) };
    let mut record = live.record.clone();
    let mut placed = current.record.apps.clone();
    for step in &steps {
        placed.insert(step.name.clone(), step.placed.clone());
        match &step.open {
            Some(open) => stepped::put(&mut record, &step.name, open)?,
            None => record.remove(&stepped::path(&step.name)?),
        }
    }
    write_placements(&mut record, current, &placed)?;
    let names: Vec<String> = steps.iter().map(|step| format!("{}/{}", step.name.0, step.name.1)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all: Vec<&str> = steps.iter().map(|step| step.key.as_str()).collect();
    let subject = match &first.open {
        Some(open) if steps.len() == 1 => format!("Move {}: step {}", some_of(&names), open.step),
        None if steps.len() == 1 => format!("Move {}: done", some_of(&names)),
        _ => format!("Move {}", some_of(&names)),
    };
    let before = &current.record.apps;
    let changes = steps.iter().flat_map(|step| lines::of_app(&step.name, before.get(&step.name), &step.placed));
    Ok(Some(Proposal {
        cause: Cause::Move,
        key: Some(key(Cause::Move, &all)),
        body: lines::text(&changes.collect::<Vec<_>>()),
        only: Some(steps.iter().map(|step| step.name.clone()).collect::<BTreeSet<_>>()),
        steps: steps.iter().map(|step| stepped::trailer(&step.name, &step.key)).collect(),
        subject,
        intents: Intents::Live,
        record,
        scenario: Scenario::default(),
        person: None,
    }))
}

/// The next step of one app, where it is due.
fn step(
    view: &View<'_>,
    live: &Live<'_>,
    current: &Compiled,
    id: AppId,
    beside: &mut Beside<'_>,
    reports: &mut Vec<Report>,
) -> Option<Step> {
    let name = stepped::name_of(current, id);
    let (open, now) = (current.record.moves.get(&name)?, current.record.apps.get(&name)?);
    let app = current.fleet.app(id);
    let shown = current.fleet.app_name(id);
    if current.record.suspended.contains(&name) {
        reports.push(Report::new(Urgency::Waits, format!("the move of {shown} waits: it is suspended")));
        return None;
    }
    let at = view.situation.now_secs;
    let raised = is_raised(app, now, &open.target);
    let deadline = stepped::deadline_of(open, app);
    let late = deadline.as_deref().filter(|deadline| instant::parse(deadline).is_none_or(|deadline| deadline < at));
    let (urgency, late) = match late {
        Some(deadline) => (Urgency::Guarded, format!(" It should have been done by {deadline}: somebody must look.")),
        None => (Urgency::Waits, String::new()),
    };
    if raised && let Some(why) = not_current(current, id, now, &open.target, view.situation.observation) {
        let text = format!("step {} of the move of {shown} waits, and nothing is lowered: {why}.{late}", open.step);
        reports.push(Report::new(urgency, text));
        return None;
    }
    if open.step == 0 && stepped::is_taken_back(live, &name, now, &open.target) {
        reports.push(taken_back(&shown));
        return None;
    }
    let lowered = lower(app, now, &open.target);
    let next = match stepped::steps_of(app, &open.cause) {
        // The file states no steps any more: all that is left is one.
        None => open.target.clone(),
        Some(steps) => {
            // An instant that cannot be read keeps no pause; what is raised is waited for all the same.
            let since = instant::parse(&open.since).unwrap_or(i64::MIN);
            let every = i64::try_from(steps.every_secs).unwrap_or(i64::MAX);
            // A move whose first step found no room is due whenever there is some.
            if open.step == 0 || since.saturating_add(every) <= at {
                raise(app, &steps, &lowered, &open.target, &mut |row, replicas| {
                    beside.take(id, row.workload, row.cluster, row.pool, replicas)
                })
            } else {
                lowered.clone()
            }
        }
    };
    if is_there(&next, &open.target) {
        let key = key(Cause::Move, &[&name.0, &name.1, &open.key, "done"]);
        return not_taken_back(live, key, &shown, reports).map(|key| Step {
            name,
            key,
            placed: open.target.clone(),
            open: None,
        });
    }
    if is_there(&next, now) {
        if !raised {
            let text = format!("the move of {shown} waits: {}.{late}", no_room(app, now, open, at));
            reports.push(Report::new(urgency, text));
        }
        return None;
    }
    let rises = !is_there(&next, &lowered);
    let step = if rises { open.step.saturating_add(1) } else { open.step };
    let since = if rises { instant::text(at) } else { open.since.clone() };
    let phase = if rises { "raise" } else { "lower" };
    let (from, to) = (stepped::text_of(&name, now), stepped::text_of(&name, &next));
    let key = key(Cause::Move, &[&name.0, &name.1, &open.key, &step.to_string(), phase, &from, &to]);
    let open = OpenMove { step, since, ..open.clone() };
    not_taken_back(live, key, &shown, reports).map(|key| Step { name, key, placed: next, open: Some(open) })
}

/// Why a move that is not raised does not go on.
fn no_room(app: &fleetwright_compiler::model::App, now: &PlacedApp, open: &OpenMove, at: i64) -> String {
    let steps = stepped::steps_of(app, &open.cause).filter(|_| open.step > 0);
    let due = steps
        .zip(instant::parse(&open.since))
        .map(|(steps, since)| since.saturating_add(i64::try_from(steps.every_secs).unwrap_or(i64::MAX)));
    match due.filter(|due| *due > at) {
        Some(due) => format!("its next step is due at {}", instant::text(due)),
        None => {
            let gaining = app.workloads.iter().flat_map(|workload| {
                let (now, target) = (by_cluster(now, &workload.key), by_cluster(&open.target, &workload.key));
                let gains = target.into_iter().filter(move |(c, n)| *n > now.get(*c).copied().unwrap_or(0));
                gains.map(|(cluster, _)| cluster.as_str()).collect::<Vec<_>>()
            });
            let names: BTreeSet<&str> = gaining.collect();
            let names: Vec<&str> = names.into_iter().collect();
            format!("there is no room for its next step in {}", some_of(&names))
        }
    }
}

fn not_taken_back(live: &Live<'_>, key: SmolStr, shown: &str, reports: &mut Vec<Report>) -> Option<SmolStr> {
    if !live.has_key(&key) {
        return Some(key);
    }
    reports.push(taken_back(shown));
    None
}

fn taken_back(shown: &str) -> Report {
    let text = format!(
        "the next step of the move of {shown} was taken once and taken back: it stays as it is until it is to go somewhere \
         else"
    );
    Report::new(Urgency::Waits, text)
}

/// Why what was raised is not Current yet; `None` where it is.
fn not_current(
    current: &Compiled,
    id: AppId,
    now: &PlacedApp,
    target: &PlacedApp,
    observation: Option<&Observation>,
) -> Option<String> {
    let Some(observation) = observation else {
        return Some("nobody looked at the clusters; a controller does".to_owned());
    };
    let name = stepped::name_of(current, id);
    let stepped = (0_usize..).zip(&current.fleet.app(id).workloads).filter(|(_, workload)| is_stepped(workload));
    for (at, workload) in stepped {
        let wanted = by_cluster(target, &workload.key);
        let seats = now.workloads.get(&workload.key).map(|w| w.seats.as_slice()).unwrap_or_default();
        for seats in seats.chunk_by(|a, b| a.cluster == b.cluster) {
            let Some(cluster) = seats.first().map(|seat| &seat.cluster) else { continue };
            let stays = wanted.get(cluster).copied().unwrap_or(0);
            if stays == 0 {
                // What only leaves replaces nothing.
                continue;
            }
            // Neither does what leaves beside what stays: where its nodes are gone, it is never ready again.
            let leaves = seats.iter().fold(0_u32, |sum, seat| sum.saturating_add(seat.replicas)) > stays;
            // An autoscaler has as many as it likes, from its minimum on.
            let needed = seats.iter().map(|seat| seat.bounds.map_or(seat.replicas, |(min, _)| min));
            let needed = needed.fold(0_u32, u32::saturating_add);
            let needed = if leaves { needed.min(stays) } else { needed };
            // An override may write another number, whatever is placed.
            let needed = written(current, id, at, cluster).map_or(needed, |written| written.min(needed));
            let Some(seen) = observation.clusters.get(cluster) else {
                return Some(format!("cluster {cluster} was not looked at"));
            };
            if !matches!(seen.answers, Answers::Yes { .. }) {
                return Some(format!("cluster {cluster} does not answer"));
            }
            let Some(app) = seen.apps.get(&name) else {
                return Some(format!("it was not seen in cluster {cluster}"));
            };
            // Of a kind that states no ready replicas its health tells.
            let ready = app.workloads.get(&workload.key).map(|workload| workload.ready);
            let counts = !matches!(workload.kind, WorkloadKind::Custom(_));
            if let Some(ready) = ready.or(counts.then_some(0)).filter(|ready| *ready < needed) {
                return Some(format!("{ready} of {needed} replicas of {} are ready in {cluster}", workload.key));
            }
            if app.health != Health::Current && !(leaves && counts) {
                let reason = app.blocking.first().map(|(object, _, why)| format!(": {object} {why}"));
                return Some(format!("it is {:?} in {cluster}{}", app.health, reason.unwrap_or_default()));
            }
        }
    }
    None
}

/// The replicas that an override writes for a workload in a cluster.
fn written(current: &Compiled, id: AppId, workload: usize, cluster: &str) -> Option<u32> {
    let cluster = current.fleet.cluster_id(cluster)?;
    let variant = current.variants.apps.get(id.index())?.of(cluster);
    let autoscaled = current.fleet.app(id).workloads.get(workload)?.autoscaled.is_some();
    variant.workloads.get(workload)?.replicas.filter(|_| !autoscaled)
}
