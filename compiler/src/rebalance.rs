//! Placing apps afresh, as if they were new, with what all others run as it is.
//!
//! Where an app goes afresh depends on what others run and not on where it is now; and a rebalance goes on until nothing
//! moves, so a second one finds nothing to do. A budget bounds the replicas that leave a cluster; what does not fit it is for the next run. Every step is scheduled
//! and checked before it is given out: what would not hold as the record is left as it is.
//!
//! An app on a move in steps is placed afresh like any other and goes there from where it is, unless that is where it goes
//! anyway; a failover and a drain come before a rebalance, so what is on a move for those is left alone.
//!
//! Invariants: no app comes out with fewer replicas than it went in with; no other app loses any; pure.
//! The next reason to leave an app alone is a variant of [`Left`].

mod step;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::base::{AppId, SmolStr};
use crate::model::{Fleet, WorkloadKind};
use crate::moves::{is_there, lower};
use crate::placements::{OpenMove, PlacedApp, Record};
use crate::schedule::{Scenario, check, moving, placed, schedule};
use crate::variants::Variants;

pub use step::{Move, moves};

/// The most replicas that may leave a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// As many as it takes.
    Unlimited,
    /// So many.
    Replicas(u64),
    /// So many of a hundred that the selected apps run; rounded down, at least one unless it is 0.
    Percent(u8),
}

impl Budget {
    /// In replicas, of so many that run.
    #[must_use]
    pub fn of(self, running: u64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Replicas(replicas) => replicas,
            Self::Percent(0) => 0,
            Self::Percent(percent) => (running.saturating_mul(u64::from(percent)) / 100).max(1),
        }
    }
}

/// Why an app stays where it is, or moves only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// It is not in the record: nothing of it runs that could move.
    Unrecorded,
    /// It is suspended.
    Suspended,
    /// It is on a move in steps that comes before a rebalance.
    Moving,
    /// Its pods mount claims: its data keeps it.
    Data,
    /// A Job that moves is run again.
    Job,
    /// Afresh it would get fewer replicas than it has.
    Fewer,
    /// It would not stay there: room, quota or a group would move it on.
    Unstable,
    /// The budget is spent: so many replicas are still to move.
    Budget(u64),
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrecorded => f.write_str("nothing of it is recorded yet: `fleetwright plan` says where it goes"),
            Self::Suspended => f.write_str("it is suspended"),
            Self::Moving => f.write_str("it leaves a cluster that is drained or was lost, which comes first"),
            Self::Data => f.write_str("its pods mount volumes, and its data does not move"),
            Self::Job => f.write_str("a Job that moves is run again"),
            Self::Fewer => f.write_str("placed afresh it would get fewer replicas than it has"),
            Self::Unstable => f.write_str("it would not stay there: room, quota or a group is in the way for now"),
            Self::Budget(replicas) => write!(f, "the budget is spent: {replicas} more replicas to move"),
        }
    }
}

/// A rebalance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebalance {
    /// Where apps run afterwards: those that change, by (team, app).
    pub placed: BTreeMap<(SmolStr, SmolStr), PlacedApp>,
    /// What changes, ascending.
    pub moves: Vec<Move>,
    /// Replicas that leave a cluster.
    pub moved: u64,
    /// Replicas of the selected apps.
    pub running: u64,
    /// Apps that are not where they would be afresh, and why.
    pub left: Vec<(AppId, Left)>,
}

/// What is rebalanced in.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// Its objects after overrides.
    pub variants: &'a Variants,
    /// What runs, as the record has it once the target is reached.
    pub settled: &'a Record,
}

/// Causes of moves that come before a rebalance.
const OUTRANK: [&str; 2] = ["Failover", "Lifecycle"];

/// Rounds until what others do with the room that is left changes nothing more.
const MAX_ROUNDS: usize = 8;

/// Places apps afresh, as far as the budget goes. Repeated until nothing moves: what is in the way of an app may itself have
/// moved, and the next command is to find nothing to do.
#[must_use]
pub fn rebalance(world: &World<'_>, selected: &BTreeSet<AppId>, budget: Budget) -> Rebalance {
    let first = run(world, selected, |running| budget.of(running));
    let (mut now, mut left) = (first.now, first.left);
    let mut rest = budget.of(first.running).saturating_sub(first.spent);
    // Who may move is decided once: what an app was on may have ended by now.
    let free: BTreeSet<AppId> = first.before.keys().copied().collect();
    let fixed: BTreeMap<AppId, Left> =
        left.iter().filter(|(id, _)| !free.contains(id)).map(|(id, l)| (*id, *l)).collect();
    for _ in 1..MAX_ROUNDS {
        let next = run(&World { settled: &now, ..*world }, &free, |_| rest);
        left = fixed.iter().map(|(id, why)| (*id, *why)).chain(next.left).collect();
        if next.now.apps == now.apps && next.now.moves.len() == now.moves.len() {
            break;
        }
        rest = rest.saturating_sub(next.spent);
        now = next.now;
    }
    result(world, &now, &first.before, first.running, left)
}

/// What one run came to.
struct Run {
    /// What the apps that may move ran when it began, as it would be without the moves they are on.
    before: BTreeMap<AppId, PlacedApp>,
    /// Replicas of those.
    running: u64,
    /// The record afterwards.
    now: Record,
    /// Replicas that left a cluster.
    spent: u64,
    left: BTreeMap<AppId, Left>,
}

fn run(world: &World<'_>, selected: &BTreeSet<AppId>, budget: impl Fn(u64) -> u64) -> Run {
    let World { fleet, variants, settled } = *world;
    let mut left: BTreeMap<AppId, Left> = BTreeMap::new();
    let mut free: Vec<AppId> = Vec::new();
    let moving = moving(fleet, variants, settled, &Scenario::default());
    let on_the_way = moving.iter().filter_map(|id| Some((*id, settled.moves.get(&key(fleet, *id))?)));
    let on_the_way: BTreeMap<AppId, &OpenMove> = on_the_way.collect();
    for id in selected {
        match fixed(world, *id, on_the_way.get(id).copied()) {
            Some(why) => {
                left.insert(*id, why);
            }
            None => free.push(*id),
        }
    }
    free.sort_by_key(|id| (std::cmp::Reverse(fleet.app(*id).priority), *id));
    // Of what is on a move, what its step was raised for is on its way out.
    let before = free.iter().filter_map(|id| {
        let runs = settled.apps.get(&key(fleet, *id))?;
        let open = on_the_way.get(id);
        Some((*id, open.map_or_else(|| runs.clone(), |open| lower(fleet.app(*id), runs, &open.target))))
    });
    let before: BTreeMap<AppId, PlacedApp> = before.collect();
    let running = before.values().map(step::replicas).sum();
    let budget = budget(running);
    let mut now = settled.clone();
    for _ in 0..MAX_ROUNDS {
        let afresh = afresh(world, &now, &free);
        let mut steps: Vec<(AppId, PlacedApp)> = Vec::new();
        let mut spent: u64 = 0;
        free.iter().for_each(|id| {
            left.remove(id);
        });
        for id in &free {
            let (Some(old), Some(new)) = (before.get(id), afresh.get(&key(fleet, *id))) else { continue };
            let open = on_the_way.get(id);
            if open.is_some_and(|open| is_there(new, &open.target)) {
                continue;
            }
            if step::has_fewer(old, new) {
                left.insert(*id, Left::Fewer);
                continue;
            }
            let cost = step::cost(old, new);
            let rest = budget.saturating_sub(spent);
            // What is on a move is led elsewhere as a whole or not at all.
            let part = || open.map_or_else(|| step::part(fleet.app(*id), old, new, rest), |_| None);
            let step = if cost <= rest { Some(new.clone()) } else { part() };
            if cost > rest {
                left.insert(*id, Left::Budget(cost - step.as_ref().map_or(0, |step| step::cost(old, step))));
            }
            if let Some(step) = step.filter(|step| open.is_some() || step != old) {
                spent = spent.saturating_add(step::cost(old, &step));
                steps.push((*id, step));
            }
        }
        let next = taken(world, steps, &mut left);
        if next.apps == now.apps {
            break;
        }
        now = next;
    }
    let moved = before.iter().filter_map(|(id, old)| Some(step::cost(old, now.apps.get(&key(fleet, *id))?)));
    let spent = moved.fold(0, u64::saturating_add);
    Run { before, running, now, spent, left }
}

fn result(
    world: &World<'_>,
    now: &Record,
    before: &BTreeMap<AppId, PlacedApp>,
    running: u64,
    left: BTreeMap<AppId, Left>,
) -> Rebalance {
    let mut found = Rebalance { running, left: left.into_iter().collect(), ..Rebalance::default() };
    for (id, old) in before {
        let key = key(world.fleet, *id);
        // A move that ends changes something, even where the app is already where it goes.
        let (was_moving, is_moving) = (world.settled.moves.contains_key(&key), now.moves.contains_key(&key));
        let changes = |new: &&PlacedApp| if was_moving { !is_moving } else { *new != old };
        let Some(new) = now.apps.get(&key).filter(changes) else { continue };
        found.moved = found.moved.saturating_add(step::cost(old, new));
        found.moves.extend(moves(*id, old, new));
        found.placed.insert(key, new.clone());
    }
    found
}

fn key(fleet: &Fleet, id: AppId) -> (SmolStr, SmolStr) {
    let app = fleet.app(id);
    (fleet.team(app.team).name.clone(), app.name.clone())
}

/// Why an app is not placed afresh, whatever would come out.
fn fixed(world: &World<'_>, id: AppId, open: Option<&OpenMove>) -> Option<Left> {
    let app = world.fleet.app(id);
    if world.settled.suspended.contains(&key(world.fleet, id)) {
        return Some(Left::Suspended);
    }
    if open.is_some_and(|open| OUTRANK.contains(&open.cause.as_str())) {
        return Some(Left::Moving);
    }
    if app.workloads.iter().any(|workload| workload.kind == WorkloadKind::Job) {
        return Some(Left::Job);
    }
    let variants = world.variants.apps.get(id.index())?;
    let bound = |cluster| {
        let pods = variants.of(cluster).workloads.iter().filter_map(|workload| workload.pod.as_deref());
        pods.into_iter().any(|pod| !pod.pvc_claims.is_empty())
    };
    world.fleet.cluster_ids().any(bound).then_some(Left::Data)
}

/// Where apps go as if they were new, with everything else as it is.
fn afresh(world: &World<'_>, now: &Record, apps: &[AppId]) -> BTreeMap<(SmolStr, SmolStr), PlacedApp> {
    let mut record = now.clone();
    for id in apps {
        record.apps.remove(&key(world.fleet, *id));
        record.moves.remove(&key(world.fleet, *id));
    }
    record.suspended.extend(record.apps.keys().cloned());
    placed(world.fleet, &schedule(world.fleet, world.variants, &record, &Scenario::default()))
}

/// The record after steps that all hold; where they do not hold together, those that hold one after another.
fn taken(world: &World<'_>, steps: Vec<(AppId, PlacedApp)>, left: &mut BTreeMap<AppId, Left>) -> Record {
    let all: Vec<&(AppId, PlacedApp)> = steps.iter().collect();
    if let Some(record) = holds(world, &all) {
        return record;
    }
    let mut kept: Vec<&(AppId, PlacedApp)> = Vec::new();
    let mut record = world.settled.clone();
    let mut open = all;
    // What does not hold yet may once a later one has made way.
    loop {
        let mut refused = Vec::new();
        let before = kept.len();
        for step in open {
            kept.push(step);
            match holds(world, &kept) {
                Some(next) => record = next,
                None => {
                    kept.pop();
                    refused.push(step);
                }
            }
        }
        if refused.is_empty() || kept.len() == before {
            left.extend(refused.iter().map(|(id, _)| (*id, Left::Unstable)));
            return record;
        }
        open = refused;
    }
}

/// The record that steps lead to, where they hold: they stay as they are, and nobody else loses a replica.
fn holds(world: &World<'_>, steps: &[&(AppId, PlacedApp)]) -> Option<Record> {
    let World { fleet, variants, settled } = *world;
    let mut record = settled.clone();
    for (id, step) in steps {
        record.apps.insert(key(fleet, *id), step.clone());
        record.moves.remove(&key(fleet, *id));
    }
    let target = schedule(fleet, variants, &record, &Scenario::default());
    if !check::check(fleet, variants, &record, &Scenario::default(), &target).is_empty() {
        return None;
    }
    let reached = placed(fleet, &target);
    let stays = steps.iter().all(|(id, step)| reached.get(&key(fleet, *id)) == Some(step));
    let stepped: BTreeSet<AppId> = steps.iter().map(|(id, _)| *id).collect();
    let kept = fleet.app_ids().filter(|id| !stepped.contains(id)).all(|id| {
        let key = key(fleet, id);
        let (before, after) = (settled.apps.get(&key), reached.get(&key));
        before.is_none_or(|before| after.is_some_and(|after| step::cost(before, after) == 0))
    });
    (stays && kept).then_some(Record { apps: reached, ..record })
}
