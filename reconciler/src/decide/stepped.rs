//! Changes that are made in steps: a decision opens moves, and the steps of those are decisions of their own
//! ([`moves`](super::causes::moves)).
//!
//! What loses replicas in one cluster and gains them in another keeps its rows and its digests when the decision is taken;
//! `state/moves/` says where it goes. What is smaller or larger in all changes at once, and so does everything else that
//! the decision brings. Invariants: what is opened has its room reserved before anybody else is placed; a failover is
//! never made in steps, nor is what a person accepted for another app.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::{AppId, SmolStr};
use fleetwright_compiler::model::{App, Steps};
use fleetwright_compiler::moves::{self, by_cluster, count, is_raised, is_there, lower, needs_steps, raise};
use fleetwright_compiler::placements::{OpenMove, PlacedApp, move_path, move_text, placements_text};
use fleetwright_compiler::schedule::{self, Beside};
use fleetwright_compiler::source::{PathError, RepoPath};

use super::{DecideError, Placed, key};
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
    /// Moves that are on the way before the decision, by the names of what is live.
    pub on_the_way: Option<&'a BTreeMap<AppName, OpenMove>>,
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
        | Cause::Resume => true,
        // Whatever runs there is gone, or was given up by a person; the others move nothing.
        Cause::Failover
        | Cause::Capacity
        | Cause::Preempt
        | Cause::Return
        | Cause::Approve
        | Cause::Promote
        | Cause::Move => false,
    }
}

/// The steps of an app whose move began for this cause.
pub(crate) fn steps_of(app: &App, cause: &str) -> Option<Steps> {
    app.tide_steps.filter(|_| cause == Cause::Tide.as_str()).or(app.steps)
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
        for id in compiled.fleet.app_ids() {
            let (app, name) = (compiled.fleet.app(id), name_of(compiled, id));
            let stays = compiled.moving.contains(&id) || compiled.record.suspended.contains(&name);
            if stays || opened.contains_key(&name) {
                continue;
            }
            // What is on the way goes on in its steps, wherever it is to go now.
            let known = compiled.record.moves.get(&name).or_else(|| self.on_the_way?.get(&name));
            let open = known.map(|open| open.cause.as_str());
            // What a person takes back may have been the tide's.
            let undone = (self.cause == Cause::Undo).then_some(Cause::Tide.as_str());
            let causes = [Some(self.cause.as_str()), open, undone].into_iter().flatten();
            let Some((cause, steps)) = causes.filter_map(|cause| Some((cause, steps_of(app, cause)?))).next() else {
                continue;
            };
            let (Some(before), Some(target)) = (before.get(&name), placed.get(&name)) else { continue };
            // What a move runs twice for now goes only once somebody saw what replaces it.
            let keeps = open.is_some() && is_raised(app, before, target);
            if !keeps && !needs_steps(app, before, target) {
                continue;
            }
            // What an earlier move raised and nobody saw ready yet keeps what it was to replace.
            let now = if open.is_some() { before.clone() } else { lower(app, before, target) };
            held.insert(name.clone(), now);
            let target = PlacedApp { place: None, ..target.clone() };
            let open = OpenMove {
                cause: cause.into(),
                key: self.key.cloned().unwrap_or_else(|| {
                    // The same way taken another time is another move.
                    let (from, to) = (text_of(&name, before), text_of(&name, &target));
                    key(self.cause, &[&from, &to, &instant::text(self.now_secs)])
                }),
                intent: schedule::intent(&compiled.fleet, &compiled.record, id, &target),
                target,
                step: 0,
                since: instant::text(self.now_secs),
                deadline: steps.deadline_secs.map(|secs| self.after(secs)),
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

    fn after(&self, secs: u64) -> SmolStr {
        instant::text(self.now_secs.saturating_add(i64::try_from(secs).unwrap_or(i64::MAX)))
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
    for (name, open) in opening.on_the_way.into_iter().flatten() {
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
            intent: schedule::intent(&compiled.fleet, &compiled.record, id, &target),
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

/// Takes the first step of moves that were opened, as far as there is room beside what runs; says what it does.
pub(super) fn first_steps(
    compiled: &Compiled,
    opened: Opened,
    placed: &mut Placed,
    record: &mut RecordFiles,
) -> Result<Vec<String>, DecideError> {
    let mut lines = Vec::new();
    if opened.is_empty() {
        return Ok(lines);
    }
    let mut beside = Beside::new(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target);
    for (name, open) in opened {
        let (Some(id), Some(now)) = (compiled.fleet.app_id(&name.0, &name.1), placed.get(&name)) else { continue };
        let app = compiled.fleet.app(id);
        let Some(steps) = steps_of(app, &open.cause) else { continue };
        let next = raise(app, &steps, now, &open.target, &mut |row, replicas| {
            beside.take(id, row.workload, row.cluster, row.pool, replicas)
        });
        let count = count(app, &steps, now, &open.target);
        let head = format!("{}/{} in {count} step{}", name.0, name.1, if count == 1 { "" } else { "s" });
        lines.extend(changes(now, &open.target).map(|line| format!("{head}: {line}")));
        if is_there(&next, now) {
            let why = if is_raised(app, now, &open.target) {
                "what was raised before is waited for first"
            } else {
                "there is no room for the first step yet"
            };
            lines.push(format!("{}/{}: {why}", name.0, name.1));
            continue;
        }
        lines.extend(changes(now, &next).map(|line| format!("{}/{} now: {line}", name.0, name.1)));
        put(record, &name, &OpenMove { step: 1, ..open })?;
        placed.insert(name, next);
    }
    Ok(lines)
}

/// What differs between two placements, by workload: `apps/Deployment/web: eu-a 8 -> 6, eu-b 4 -> 6`.
pub(super) fn changes(before: &PlacedApp, after: &PlacedApp) -> impl Iterator<Item = String> {
    let number = |of: &BTreeMap<&SmolStr, u32>, cluster: &SmolStr| of.get(cluster).copied().unwrap_or(0);
    let mut lines = Vec::new();
    for key in after.workloads.keys() {
        let (before, after) = (by_cluster(before, key), by_cluster(after, key));
        let clusters: BTreeSet<&SmolStr> = before.keys().chain(after.keys()).copied().collect();
        let changed = clusters.into_iter().filter(|c| number(&before, c) != number(&after, c));
        let parts: Vec<String> =
            changed.map(|c| format!("{c} {} -> {}", number(&before, c), number(&after, c))).collect();
        if !parts.is_empty() {
            lines.push(format!("{key}: {}", parts.join(", ")));
        }
    }
    lines.into_iter()
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
        // One that goes on keeps its bytes.
        if kept.remove(&written).is_none() && !others.contains(&written) {
            record.remove(&written);
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
