//! Changes that are made in steps: a decision opens moves, and the steps of those are decisions of their own
//! ([`moves`](super::causes::moves)).
//!
//! What loses replicas in one cluster and gains them in another keeps its rows and its digests when the decision is taken;
//! `state/moves/` says where it goes. What is smaller or larger in all changes at once, and so does everything else that
//! the decision brings. Invariants: what is opened has its room reserved before anybody else is placed; a failover is
//! never made in steps, nor is what a person accepted for another app; what a step raised is known by its count alone, so
//! that nothing is lowered because the file of a move is gone; a first step that was taken back is not taken again by
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::{AppId, SmolStr};
use fleetwright_compiler::model::{App, Steps, Workload};
use fleetwright_compiler::moves::{
    self, by_cluster, count, is_raised, is_stepped, is_there, lower, needs_steps, raise,
};
use fleetwright_compiler::placements::{OpenMove, PlacedApp, move_path, move_text, placements_text};
use fleetwright_compiler::schedule::{self, Beside};
use fleetwright_compiler::source::{PathError, RepoPath};

use super::lines::changes;
use super::{DecideError, Live, Placed, key};
use crate::commit::Cause;
use crate::instant;
use crate::record_files::RecordFiles;

/// (team, app)
type AppName = (SmolStr, SmolStr);

/// What opens moves.
pub(super) struct Opening<'a> {
    pub cause: Cause,
    /// The key of the decision, where it has one before it is written.
    pub key: Option<&'a SmolStr>,
    /// What is live before the decision: where moves are on the way, and what is due whatever is decided.
    pub live: Option<(&'a Live<'a>, &'a Compiled)>,
    pub now_secs: i64,
}

/// Moves that a decision opens, by app.
pub(super) type Opened = BTreeMap<AppName, OpenMove>;

/// Whether what a decision moves is moved in steps, where its apps say so.
fn is_made_in_steps(cause: Cause) -> bool {
    match cause {
        Cause::Tide
        | Cause::Pin
        | Cause::Lifecycle
        | Cause::Rebalance
        | Cause::Settle
        | Cause::Undo
        | Cause::Suspend
        // what was merged while an app was suspended follows when it is resumed
        | Cause::Resume
        // what finds no room any more leaves like everything else
        | Cause::Capacity
        // these move nothing, but what is due anyway comes with the next decision, whatever that is
        | Cause::Observed
        | Cause::Return
        | Cause::Approve
        | Cause::Promote => true,
        // Whatever runs there is gone, or was given up by a person; a step is one already.
        Cause::Failover | Cause::Preempt | Cause::Move => false,
    }
}

/// The steps of an app whose move began for this cause.
pub(crate) fn steps_of(app: &App, cause: &str) -> Option<Steps> {
    app.tide_steps.filter(|_| cause == Cause::Tide.as_str()).or(app.steps)
}

/// When all steps of a move should be done, as its app states it now.
pub(super) fn deadline_of(open: &OpenMove, app: &App) -> Option<SmolStr> {
    let (begun, steps) = (open.begun.as_deref().and_then(instant::parse), steps_of(app, &open.cause));
    match (begun, steps) {
        (Some(begun), Some(steps)) => steps.deadline_secs.map(|secs| after(begun, secs)),
        // Nobody knows from when it counts, or all that is left is one step.
        (None, _) | (_, None) => open.deadline.clone(),
    }
}

fn after(begun: i64, secs: u64) -> SmolStr {
    instant::text(begun.saturating_add(i64::try_from(secs).unwrap_or(i64::MAX)))
}

/// A step of an app, as trailers have it: whose it is, and its key.
pub(super) fn trailer((team, app): &AppName, key: &SmolStr) -> SmolStr {
    format!("{team}/{app} {key}").into()
}

/// The key of the first step from where an app is to where it goes: whoever takes it, it is the same step.
fn first_key(name: &AppName, now: &PlacedApp, target: &PlacedApp) -> SmolStr {
    key(Cause::Move, &[&name.0, &name.1, "first", &text_of(name, now), &text_of(name, target)])
}

/// Whether the first step from where an app is was taken last, and is to be taken again: a person took it back.
pub(super) fn is_taken_back(live: &Live<'_>, name: &AppName, now: &PlacedApp, target: &PlacedApp) -> bool {
    live.last_step(name).is_some_and(|key| key == first_key(name, now, target))
}

/// Apps that run more of something than is wanted of it, and no move says why: what a step raised is still waited for,
/// though somebody removed the file.
fn is_raised_without_a_move(compiled: &Compiled, id: AppId) -> bool {
    let name = name_of(compiled, id);
    let Some(placed) = compiled.record.apps.get(&name) else { return false };
    let is_known = compiled.record.moves.contains_key(&name) || compiled.record.suspended.contains(&name);
    let runs = |workload: &Workload| by_cluster(placed, &workload.key).values().map(|n| u64::from(*n)).sum::<u64>();
    let mut stepped = compiled.fleet.app(id).workloads.iter().filter(|workload| is_stepped(workload));
    !is_known && stepped.any(|workload| runs(workload) > u64::from(workload.replicas))
}

/// Whether an app is elsewhere than what is live asks for, so that it moves with whatever is decided next.
fn is_due(compiled: &Compiled, id: AppId, target: &Placed) -> bool {
    let name = name_of(compiled, id);
    match (compiled.record.apps.get(&name), target.get(&name)) {
        (Some(now), Some(target)) => !is_there(now, target),
        (None, _) | (_, None) => false,
    }
}

pub(super) fn name_of(compiled: &Compiled, id: AppId) -> AppName {
    let app = compiled.fleet.app(id);
    (compiled.fleet.team(app.team).name.clone(), app.name.clone())
}

impl Opening<'_> {
    /// Opens the moves of apps that would leave a cluster for another, and puts them where they are now instead. False
    /// where there are none.
    pub fn open(
        &self,
        compiled: &Compiled,
        before: &Placed,
        placed: &Placed,
        opened: &mut Opened,
        record: &mut RecordFiles,
    ) -> Result<bool, DecideError> {
        if !is_made_in_steps(self.cause) {
            return Ok(false);
        }
        let mut held = compiled.record.apps.clone();
        let known = opened.len();
        let due = self.live.map(|(_, live)| schedule::placed(&live.fleet, &live.target)).unwrap_or_default();
        for id in compiled.fleet.app_ids() {
            let (app, name) = (compiled.fleet.app(id), name_of(compiled, id));
            let stays = compiled.moving.contains(&id) || compiled.record.suspended.contains(&name);
            if stays || opened.contains_key(&name) {
                continue;
            }
            // What is on the way goes on in its steps, wherever it is to go now.
            let live = self.live.and_then(|(_, live)| Some((live, live.fleet.app_id(&name.0, &name.1)?)));
            let on_the_way = || live.and_then(|(live, _)| live.record.moves.get(&name));
            let open = compiled.record.moves.get(&name).or_else(on_the_way).map(|open| open.cause.as_str());
            let is_lost = open.is_none() && live.is_some_and(|(live, id)| is_raised_without_a_move(live, id));
            // What a person takes back may have been the tide's, and so may what is due whatever is decided.
            let is_due = is_lost || live.is_some_and(|(live, id)| is_due(live, id, &due));
            let tide = (is_due || self.cause == Cause::Undo).then_some(Cause::Tide.as_str());
            let causes = [Some(self.cause.as_str()), open, tide].into_iter().flatten();
            let (cause, steps) = match causes.filter_map(|cause| Some((cause, steps_of(app, cause)?))).next() {
                Some((cause, steps)) => (cause, Some(steps)),
                // Its file states no steps any more: what is left is one, and waits like any other.
                None if is_lost => (self.cause.as_str(), None),
                None => continue,
            };
            let (Some(before), Some(target)) = (before.get(&name), placed.get(&name)) else { continue };
            // What a move runs twice for now goes only once somebody saw what replaces it.
            let is_known = open.is_some() || is_lost;
            let keeps = is_known && is_raised(app, before, target);
            if !keeps && !needs_steps(app, before, target) {
                continue;
            }
            // What an earlier move raised and nobody saw ready yet keeps what it was to replace.
            let now = if is_known { before.clone() } else { lower(app, before, target) };
            held.insert(name.clone(), now);
            let target = PlacedApp { place: None, ..target.clone() };
            let open = OpenMove {
                cause: cause.into(),
                key: self.key.cloned().unwrap_or_else(|| {
                    // The same way taken another time is another move.
                    let (from, to) = (text_of(&name, before), text_of(&name, &target));
                    key(self.cause, &[&from, &to, &instant::text(self.now_secs)])
                }),
                begun: Some(instant::text(self.now_secs)),
                intent: schedule::intent(&compiled.fleet, &compiled.variants, &compiled.record, id, &target),
                target,
                step: 0,
                since: instant::text(self.now_secs),
                deadline: steps.and_then(|steps| steps.deadline_secs).map(|secs| after(self.now_secs, secs)),
            };
            put(record, &name, &open)?;
            opened.insert(name, open);
        }
        if opened.len() == known {
            return Ok(false);
        }
        super::planned::write_placements(record, compiled, &held)?;
        Ok(true)
    }

    /// Whether nobody asked for what it moves: it follows from what is recorded and observed.
    fn is_by_itself(&self) -> bool {
        match self.cause {
            Cause::Settle | Cause::Capacity | Cause::Observed | Cause::Return | Cause::Approve | Cause::Promote => true,
            Cause::Failover
            | Cause::Lifecycle
            | Cause::Tide
            | Cause::Pin
            | Cause::Undo
            | Cause::Suspend
            | Cause::Resume
            | Cause::Rebalance
            | Cause::Preempt
            | Cause::Move => false,
        }
    }
}

/// A placement as the record writes it.
pub(super) fn text_of((_, app): &AppName, placed: &PlacedApp) -> String {
    placements_text([(app, placed)])
}

/// After a failover, clusters that are not lost keep what apps on a move had there: what replaces it may be what was lost.
/// Where that is more than the target has, the move goes on until somebody saw the rest.
pub(super) fn keep_while_failing_over(
    opening: &Opening<'_>,
    compiled: &Compiled,
    lost: &BTreeSet<SmolStr>,
    placed: &mut Placed,
    record: &mut RecordFiles,
) -> Result<(), DecideError> {
    let before = &compiled.record.apps;
    for (name, open) in opening.live.into_iter().flat_map(|(_, live)| &live.record.moves) {
        let (Some(id), Some(runs), Some(target)) =
            (compiled.fleet.app_id(&name.0, &name.1), before.get(name), placed.get(name))
        else {
            continue;
        };
        let app = compiled.fleet.app(id);
        let kept = moves::with_all_of(app, target, runs, &|cluster| !lost.contains(cluster));
        if is_there(&kept, target) || steps_of(app, &open.cause).is_none() {
            continue;
        }
        let target = PlacedApp { place: None, ..target.clone() };
        let open = OpenMove {
            intent: schedule::intent(&compiled.fleet, &compiled.variants, &compiled.record, id, &target),
            key: opening.key.cloned().unwrap_or_else(|| open.key.clone()),
            target,
            step: 0,
            since: instant::text(opening.now_secs),
            ..open.clone()
        };
        put(record, name, &open)?;
        placed.insert(name.clone(), kept);
    }
    Ok(())
}

/// First steps that a decision takes.
#[derive(Debug, Default)]
pub(super) struct First {
    /// What they do.
    pub lines: Vec<String>,
    /// As trailers have them.
    pub trailers: Vec<SmolStr>,
}

/// Takes the first step of moves that were opened, as far as there is room beside what runs; says what it does.
pub(super) fn first_steps(
    opening: &Opening<'_>,
    compiled: &Compiled,
    opened: Opened,
    placed: &mut Placed,
    record: &mut RecordFiles,
) -> Result<First, DecideError> {
    let First { mut lines, mut trailers } = First::default();
    if opened.is_empty() {
        return Ok(First::default());
    }
    let mut beside = Beside::new(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target);
    for (name, open) in opened {
        let (Some(id), Some(now)) = (compiled.fleet.app_id(&name.0, &name.1), placed.get(&name)) else { continue };
        let app = compiled.fleet.app(id);
        let Some(steps) = steps_of(app, &open.cause) else { continue };
        let taken_back = opening.live.is_some_and(|(live, _)| is_taken_back(live, &name, now, &open.target));
        if opening.is_by_itself() && taken_back {
            lines.push(format!("{}/{}: its first step was taken back, and is not taken again", name.0, name.1));
            continue;
        }
        let next = raise(app, &steps, now, &open.target, &mut |row, replicas| {
            beside.take(id, row.workload, row.cluster, row.pool, replicas)
        });
        let count = count(app, &steps, now, &open.target);
        let head = format!("{}/{} in {count} step{}", name.0, name.1, if count == 1 { "" } else { "s" });
        lines.extend(changes(Some(now), &open.target).iter().map(|line| format!("{head}: {line}")));
        if is_there(&next, now) {
            let why = if is_raised(app, now, &open.target) {
                "what was raised before is waited for first"
            } else {
                "there is no room for the first step yet"
            };
            lines.push(format!("{}/{}: {why}", name.0, name.1));
            continue;
        }
        lines.extend(changes(Some(now), &next).iter().map(|line| format!("{}/{} now: {line}", name.0, name.1)));
        trailers.push(trailer(&name, &first_key(&name, now, &open.target)));
        put(record, &name, &OpenMove { step: 1, ..open })?;
        placed.insert(name, next);
    }
    Ok(First { lines, trailers })
}

/// Writes down which moves go on, under the names of now, and forgets those that do not.
///
/// A decision about some apps alone (`only`) leaves the moves of others to the next one that places those, and those of
/// suspended apps stay.
pub(super) fn keep_moves(
    record: &mut RecordFiles,
    compiled: &Compiled,
    only: Option<&BTreeSet<AppName>>,
) -> Result<(), DecideError> {
    let mut kept: BTreeMap<RepoPath, (AppName, &OpenMove)> = BTreeMap::new();
    for id in &compiled.moving {
        let name = name_of(compiled, *id);
        if let Some(open) = compiled.record.moves.get(&name) {
            kept.insert(path(&name)?, (name, open));
        }
    }
    let is_left =
        |name: &&AppName| only.is_some_and(|only| !only.contains(*name)) || compiled.record.suspended.contains(*name);
    let left = compiled.record.moves.keys().filter(is_left);
    let others = left.map(|name| path(compiled.record.recorded_name(name)));
    let others = others.collect::<Result<BTreeSet<RepoPath>, _>>()?;
    for written in move_files(record) {
        match kept.remove(&written) {
            // One that goes on keeps its bytes, unless it is to be done at another time now.
            Some((name, open)) => {
                let app = compiled.fleet.app_id(&name.0, &name.1).map(|id| compiled.fleet.app(id));
                let deadline = app.and_then(|app| deadline_of(open, app));
                if deadline != open.deadline {
                    put(record, &name, &OpenMove { deadline, ..open.clone() })?;
                }
            }
            None if others.contains(&written) => {}
            None => record.remove(&written),
        }
    }
    kept.values().try_for_each(|(name, open)| put(record, name, open))
}

fn move_files(record: &RecordFiles) -> Vec<RepoPath> {
    record.iter().map(|(path, _)| path.clone()).filter(|path| path.as_str().starts_with("state/moves/")).collect()
}

/// Writes the file of a move.
pub(super) fn put(record: &mut RecordFiles, name: &AppName, open: &OpenMove) -> Result<(), DecideError> {
    record.put(path(name)?, move_text(&name.1, open).into_bytes());
    Ok(())
}

/// The file of a move.
pub(super) fn path((team, app): &AppName) -> Result<RepoPath, PathError> {
    RepoPath::new(&move_path(team, app))
}
