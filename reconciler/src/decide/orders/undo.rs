//! A person takes a decision back: the record as it was before that commit, as far as nothing later built on it.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::moves::is_there;
use fleetwright_compiler::placements::{
    self, HoldDoc, MoveDoc, PlacedApp, PlacedAppDoc, PlacedSeat, PlacedWorkload, RecordDoc,
};
use fleetwright_compiler::source::RepoPath;

use super::{Desk, OrderError};
use crate::commit::{Cause, LiveCommit};
use crate::decide::{Proposal, key};
use crate::instant;
use crate::record_files::{RecordFiles, documents};

/// The decision that is taken back, with the record after it and before it.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The commit.
    pub commit: LiveCommit,
    /// The record before it.
    pub before: RecordFiles,
    /// The record it left.
    pub after: RecordFiles,
}

/// That the decision is not to be taken again for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// For how long.
    pub for_secs: u64,
    /// Why.
    pub reason: Option<String>,
}

/// Files of `state/` that say who decides and what is pinned: no decision about what runs.
const NOT_UNDONE: [&str; 3] = ["state/decider.yaml", "state/pin.yaml", "state/holds.yaml"];

/// Takes a decision back.
///
/// # Errors
/// When it brought a newer commit of the intents, or something later changed what it changed.
pub fn undo(desk: &Desk<'_>, undone: &Undone, hold: Option<&Hold>) -> Result<Proposal, OrderError> {
    let Undone { commit, before, after } = undone;
    let id = commit.id.short();
    if commit.trailers.as_ref().is_some_and(|trailers| trailers.cause == Cause::Pin) {
        return Err(OrderError::Guarded(format!(
            "{id} brought a newer commit of the intents: revert that on the intents' branch, and the decider follows"
        )));
    }
    let mut record = desk.live.record.clone();
    let mut conflicts = BTreeSet::new();
    for path in after.edits_since(before).keys().filter(|path| !NOT_UNDONE.contains(&path.as_str())) {
        let (was, left, is) = (before.get(path), after.get(path), record.get(path));
        // Steps that it took since then go back with the move that the commit began, and so does one that is over.
        let is_over = is.is_none() && began(commit, path, left).is_some();
        if is == left || is_over || began(commit, path, is).is_some() {
            match was {
                Some(bytes) => record.put(path.clone(), bytes.to_vec()),
                None => record.remove(path),
            }
        } else if path.as_str().starts_with("placements/") {
            let on_the_way = |app: &str, is: Option<&PlacedApp>| {
                began_for(commit, path, app, &desk.live.record).is_some()
                    // where that move led, and nothing changed since
                    || began_for(commit, path, app, after)
                        .is_some_and(|of| is.is_some_and(|is| is_there(is, &placed(of.target).1)))
            };
            match merged(path, [was, left, is], &on_the_way, &mut conflicts) {
                Some(apps) if apps.is_empty() => record.remove(path),
                Some(apps) => record.put(path.clone(), placements::placements_text(&apps).into_bytes()),
                None => drop(conflicts.insert(path.to_string())),
            }
        } else {
            conflicts.insert(path.to_string());
        }
    }
    if !conflicts.is_empty() {
        let names: Vec<&str> = conflicts.iter().map(String::as_str).collect();
        return Err(OrderError::Guarded(format!(
            "{id} cannot be taken back alone: later commits changed {} as well. Take those back first, newest first; \
             `fleetwright history` lists them",
            names.join(", ")
        )));
    }
    if record == desk.live.record {
        return Err(OrderError::Guarded(format!("nothing of what {id} changed is left to take back")));
    }
    if let Some(hold) = hold {
        add_hold(desk, commit, hold, &mut record)?;
    }
    let key = key(Cause::Undo, &[&commit.id.0, &desk.now()]);
    let mut proposal = desk.proposal(Cause::Undo, key, format!("Undo {id}: {}", commit.subject), record);
    // What follows from it is a decision of its own; this commit is the record as it was.
    proposal.only = Some(BTreeSet::new());
    Ok(proposal)
}

fn add_hold(desk: &Desk<'_>, commit: &LiveCommit, hold: &Hold, record: &mut RecordFiles) -> Result<(), OrderError> {
    let Some(trailers) = &commit.trailers else {
        return Err(OrderError::Wrong(format!(
            "{} was made by {} and not decided, so there is nothing to hold: leave out --hold",
            commit.id.short(),
            commit.author
        )));
    };
    let until = desk.now_secs.saturating_add(i64::try_from(hold.for_secs).unwrap_or(i64::MAX));
    let is_over = |hold: &HoldDoc| instant::parse(&hold.until).is_some_and(|until| until <= desk.now_secs);
    let mut holds = desk.live.state.holds.clone();
    holds.retain(|hold| hold.key != trailers.key && !is_over(hold));
    holds.push(HoldDoc {
        key: trailers.key.clone(),
        until: instant::text(until),
        by: desk.person.name.as_str().into(),
        reason: hold.reason.as_deref().map(SmolStr::from),
    });
    holds.sort_by(|a, b| a.key.cmp(&b.key));
    record.put_state(RepoPath::new("state/holds.yaml")?, &holds);
    Ok(())
}

type Apps = BTreeMap<SmolStr, PlacedApp>;

/// The move of a file that this commit began, wherever it is now.
fn began(commit: &LiveCommit, path: &RepoPath, bytes: Option<&[u8]>) -> Option<MoveDoc> {
    let trailers = commit.trailers.as_ref()?;
    let docs = documents(path, bytes?)?;
    let moves = docs.into_iter().filter_map(|doc| if let RecordDoc::Move(of) = doc { Some(of) } else { None });
    moves.into_iter().find(|of| of.cause.key == trailers.key)
}

/// The move of an app of a team's placements, where this commit began it.
fn began_for(commit: &LiveCommit, placements: &RepoPath, app: &str, record: &RecordFiles) -> Option<MoveDoc> {
    let team = placements.file_name().and_then(|name| name.rsplit_once('.')).map_or("", |(team, _)| team);
    let path = RepoPath::new(&placements::move_path(team, app)).ok()?;
    began(commit, &path, record.get(&path))
}

/// The placements of a team with the changes of one commit taken back, app by app; what cannot be is named. What is on the
/// way goes back from wherever it is. `None` where a file cannot be read.
fn merged(
    path: &RepoPath,
    files: [Option<&[u8]>; 3],
    on_the_way: &dyn Fn(&str, Option<&PlacedApp>) -> bool,
    conflicts: &mut BTreeSet<String>,
) -> Option<Apps> {
    let [was, left, is] = files.map(|bytes| bytes.map_or(Some(Apps::new()), |bytes| apps(path, bytes)));
    let (was, left, is) = (was?, left?, is?);
    let mut result = is.clone();
    let names: BTreeSet<&SmolStr> = was.keys().chain(left.keys()).collect();
    for name in names.into_iter().filter(|name| was.get(*name) != left.get(*name)) {
        if is.get(name) != left.get(name) && !on_the_way(name, is.get(name)) {
            conflicts.insert(format!("{name} in {path}"));
            continue;
        }
        match was.get(name) {
            Some(app) => drop(result.insert(name.clone(), app.clone())),
            None => drop(result.remove(name)),
        }
    }
    Some(result)
}

fn apps(path: &RepoPath, bytes: &[u8]) -> Option<Apps> {
    let mut apps = Apps::new();
    for doc in documents(path, bytes)? {
        let RecordDoc::Placements(placements) = doc else { return None };
        apps.extend(placements.apps.into_iter().map(placed));
    }
    Some(apps)
}

fn placed(doc: PlacedAppDoc) -> (SmolStr, PlacedApp) {
    let workloads = doc.workloads.into_iter().map(|workload| {
        let seats = workload.seats.into_iter().map(|seat| PlacedSeat {
            cluster: seat.cluster.value,
            pool: seat.pool.map(|pool| pool.value),
            replicas: seat.replicas,
            completions: seat.completions,
            bounds: seat.min.zip(seat.max),
        });
        let mut seats: Vec<PlacedSeat> = seats.collect();
        seats.sort();
        (workload.workload.value, PlacedWorkload { weights: workload.weights, seats, gave_way: Vec::new() })
    });
    let app = PlacedApp {
        place: None,
        tier: doc.tier,
        clusters: doc.clusters.into_iter().map(|cluster| cluster.value).collect(),
        workloads: workloads.collect(),
    };
    (doc.app.value, app)
}
