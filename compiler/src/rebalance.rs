//! Placing apps afresh, as if they were new, with what all others run as it is.
//!
//! Where an app goes afresh depends on what others run and not on where it is now, so a second rebalance finds nothing to
//! do. A budget bounds the replicas that leave a cluster; what does not fit it is for the next run. Every step is scheduled
//! and checked before it is given out: what would not hold as the record is left as it is.
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
use crate::placements::{PlacedApp, Record};
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
    /// So many of a hundred that the selected apps run; rounded down, at least one.
    Percent(u8),
}

impl Budget {
    /// In replicas, of so many that run.
    #[must_use]
    pub fn of(self, running: u64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Replicas(replicas) => replicas,
            Self::Percent(percent) => (running.saturating_mul(u64::from(percent)) / 100).max(1),
        }
    }
}

/// Why an app stays where it is, or moves only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// It is suspended.
    Suspended,
    /// It is on a move in steps.
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
            Self::Suspended => f.write_str("it is suspended"),
            Self::Moving => f.write_str("it is on a move in steps, which comes first"),
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

/// Rounds until what others do with the room that is left changes nothing more.
const MAX_ROUNDS: usize = 8;

/// Places apps afresh, as far as the budget goes.
#[must_use]
pub fn rebalance(world: &World<'_>, selected: &BTreeSet<AppId>, budget: Budget) -> Rebalance {
    let World { fleet, settled, .. } = *world;
    let mut left: BTreeMap<AppId, Left> = BTreeMap::new();
    let mut free: Vec<AppId> = Vec::new();
    for id in selected {
        match fixed(world, *id) {
            Some(why) => {
                left.insert(*id, why);
            }
            None => free.push(*id),
        }
    }
    free.sort_by_key(|id| (std::cmp::Reverse(fleet.app(*id).priority), *id));
    let before: BTreeMap<AppId, &PlacedApp> =
        free.iter().filter_map(|id| Some((*id, settled.apps.get(&key(fleet, *id))?))).collect();
    let running = before.values().map(|app| step::replicas(app)).sum();
    let budget = budget.of(running);
    let mut now = settled.clone();
    for _ in 0..MAX_ROUNDS {
        let afresh = afresh(world, &now, &free);
        let mut steps: Vec<(AppId, PlacedApp)> = Vec::new();
        let mut spent: u64 = 0;
        free.iter().for_each(|id| {
            left.remove(id);
        });
        for id in &free {
            let (Some(old), Some(new)) = (before.get(id).copied(), afresh.get(&key(fleet, *id))) else { continue };
            if step::has_fewer(old, new) {
                left.insert(*id, Left::Fewer);
                continue;
            }
            let cost = step::cost(old, new);
            let rest = budget.saturating_sub(spent);
            let step = if cost <= rest { Some(new.clone()) } else { step::part(fleet.app(*id), old, new, rest) };
            if cost > rest {
                left.insert(*id, Left::Budget(cost - step.as_ref().map_or(0, |step| step::cost(old, step))));
            }
            if let Some(step) = step.filter(|step| step != old) {
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
    result(world, &now, &before, running, left)
}

fn result(
    world: &World<'_>,
    now: &Record,
    before: &BTreeMap<AppId, &PlacedApp>,
    running: u64,
    left: BTreeMap<AppId, Left>,
) -> Rebalance {
    let mut found = Rebalance { running, left: left.into_iter().collect(), ..Rebalance::default() };
    for (id, old) in before {
        let key = key(world.fleet, *id);
        let Some(new) = now.apps.get(&key).filter(|new| *new != *old) else { continue };
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
fn fixed(world: &World<'_>, id: AppId) -> Option<Left> {
    let app = world.fleet.app(id);
    if world.settled.suspended.contains(&key(world.fleet, id)) {
        return Some(Left::Suspended);
    }
    if moving(world.fleet, world.settled, &Scenario::default()).contains(&id) {
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
