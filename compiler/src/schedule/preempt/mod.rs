//! Which replicas of lower priority would have to go so that an app that is short finds its place: a proposal, never more.
//!
//! For each cluster that the app may use, replicas of strictly lower priority are taken away one by one, by (priority asc,
//! dominant share desc, name desc) and not below floors, until what is missing fits; then each is given back, the last taken
//! first, where it still fits without. So no victim can be left out. Of the clusters that is chosen whose worst victim has
//! the lowest priority, then that with fewest replicas to give up, then by name. A proposal is made only if the schedule, with
//! the victims lowered, places the whole app and takes nothing from anybody else; victims go elsewhere where they can. Nothing
//! is preempted for a victim's sake. A set of pods gives way as a whole, and asks as one.
//!
//! What gave way is remembered in the placements of the victim for as long as it is short and the app that asked is there, so
//! that a plan says why it is short. It grows again like any app that is short, as soon as there is room.
//!
//! What runs as copies, is bound to its data, has a number written by an override, is booked as it was observed, or is
//! suspended, exclusive or on a move in steps is no victim.

mod accept;
#[cfg(test)]
mod tests;
mod units;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::headroom::{promised, rows};
use super::ledger::{ClassId, Ledger};
use super::placed::placed;
use super::view::{View, bounds};
use super::{Deficit, Scenario, Target, beyond, held};
use crate::base::{AppId, ClusterId, PoolId, SmolStr, workload_numbers};
use crate::model::{Fleet, Share};
use crate::placements::{PlacedApp, Record};
use crate::room::PoolRef;
use crate::variants::Variants;

use units::{Offer, Unit};

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// The app that is short.
    pub app: AppId,
    /// Which of its workloads; of a set the first part that is short.
    pub workload: u16,
    /// Where the rest of it would run.
    pub cluster: ClusterId,
    /// How many replicas that is, of all parts of a set together.
    pub replicas: u32,
    /// Who gives up what there, by app and workload.
    pub victims: Vec<Victim>,
    /// Where the app and its victims run afterwards, by (team, app).
    pub placed: BTreeMap<(SmolStr, SmolStr), PlacedApp>,
}

/// Replicas that are given up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Victim {
    /// The app.
    pub app: AppId,
    /// Which of its workloads.
    pub workload: u16,
    /// The pool, where the record names one.
    pub pool: Option<PoolId>,
    /// How many.
    pub replicas: u32,
}

/// Proposals for the apps whose priority class asks for them, one at most for each workload, in order of priority. Each
/// is by itself: accepting one may make another void.
#[must_use]
pub fn preemptions(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Vec<Preemption> {
    let short =
        |id: &AppId| fleet.app(*id).preempts && target.apps.get(id.index()).is_some_and(|app| !app.deficits.is_empty());
    let mut apps: Vec<AppId> = fleet.app_ids().filter(short).collect();
    if apps.is_empty() {
        return Vec::new();
    }
    apps.sort_by_key(|id| (Reverse(fleet.app(*id).priority), *id));
    let settled = Record { apps: placed(fleet, target), ..record.clone() };
    let scenario = Scenario::default();
    let mut ledger = promised(fleet, variants, record, target);
    let view = View::new(fleet, variants, &settled, &scenario, &mut ledger)
        .holding(held::held(fleet, variants, &settled, &scenario), BTreeMap::new());
    let mut market = Market { view: &view, ledger, target, settled: &settled };
    let mut found = Vec::new();
    for id in apps {
        let deficits = target.apps.get(id.index()).map(|app| app.deficits.as_slice()).unwrap_or_default();
        let missing = deficits.iter().filter_map(|deficit| match deficit {
            Deficit::Unplaced { workload, replicas, .. } => Some((*workload, *replicas)),
            Deficit::GaveWay { .. }
            | Deficit::Group { .. }
            | Deficit::NoWeightMatches { .. }
            | Deficit::Quota { .. }
            | Deficit::Spread { .. } => None,
        });
        // the parts of a set find their place together
        let mut wanted: BTreeMap<usize, Wanted> = BTreeMap::new();
        for (workload, replicas) in missing {
            let set = fleet.app(id).members(usize::from(workload)).start;
            let of = wanted.entry(set).or_insert_with(|| Wanted { app: id, workload, missing: Vec::new() });
            of.missing.push((workload, replicas));
        }
        // what its own autoscalers run beyond their seats is free for it
        market.count_beyond(id, Ledger::discount_beyond);
        for wanted in wanted.into_values() {
            found.extend(market.propose(&wanted));
        }
        market.count_beyond(id, Ledger::count_beyond);
    }
    found
}

/// An app that is short of replicas, or of pods of several parts of a set.
#[derive(Clone)]
struct Wanted {
    app: AppId,
    workload: u16,
    missing: Vec<(u16, u32)>,
}

struct Market<'m, 'a> {
    view: &'m View<'a>,
    /// With the target booked.
    ledger: Ledger,
    target: &'m Target,
    settled: &'m Record,
}

impl Market<'_, '_> {
    fn count_beyond(&mut self, id: AppId, how: fn(&mut Ledger, ClassId, PoolRef, u32)) {
        let view = self.view;
        for (number, workload) in workload_numbers().zip(&view.fleet.app(id).workloads) {
            let (rows, at) = (rows(self.target, id, number), usize::from(number));
            let class = |cluster| view.class(id, at, cluster);
            let seen = |cluster| view.observed(id, at, cluster);
            for beyond in beyond::bookings(&mut self.ledger, workload, class, seen, &rows) {
                how(&mut self.ledger, beyond.class, beyond.pool, beyond.replicas);
            }
        }
    }

    fn propose(&mut self, wanted: &Wanted) -> Option<Preemption> {
        let fleet = self.view.fleet;
        let id = wanted.app;
        let mut options: Vec<(i32, u32, ClusterId, u32, Vec<Victim>)> = Vec::new();
        for cluster in fleet.cluster_ids() {
            let allows = |(workload, _): &(u16, u32)| self.view.allows(id, usize::from(*workload), cluster);
            if !self.view.is_fresh(id, cluster) || !wanted.missing.iter().all(allows) {
                continue;
            }
            let all = wanted.missing.iter().fold(0_u32, |sum, (_, replicas)| sum.saturating_add(*replicas));
            // Where all must fit, what the other clusters have room for is not missing here.
            let rest = all.saturating_sub(self.elsewhere(wanted, cluster)).max(1);
            for replicas in [rest, all].iter().copied().take(if rest == all { 1 } else { 2 }) {
                let Some(needs) = self.needs(wanted, cluster, replicas) else { continue };
                let Some(victims) = self.victims(id, &needs, cluster) else { continue };
                let worst = victims.iter().map(|victim| fleet.app(victim.app).priority).max().unwrap_or(i32::MIN);
                let count = victims.iter().fold(0_u32, |sum, victim| sum.saturating_add(victim.replicas));
                options.push((worst, count, cluster, replicas, victims));
            }
        }
        options.sort_by_key(|option| (option.0, option.1, option.2));
        options.into_iter().find_map(|(_, _, cluster, replicas, victims)| {
            let placed = self.accepted(wanted, cluster, &victims)?;
            Some(Preemption { app: id, workload: wanted.workload, cluster, replicas, victims, placed })
        })
    }

    /// What the other clusters have room for, of a workload that is divided.
    fn elsewhere(&mut self, wanted: &Wanted, cluster: ClusterId) -> u32 {
        let (id, index) = (wanted.app, usize::from(wanted.workload));
        let workload = self.view.workload(id, index);
        if workload.share != Share::Divided {
            return 0;
        }
        let mut room = 0_u64;
        for other in self.view.fresh(id).into_owned().iter().filter(|other| *other != cluster) {
            let bounds = bounds(workload, other);
            let class = self.view.class(id, index, other);
            let Some(class) = class.filter(|_| self.view.allows(id, index, other) && bounds.weight > 0) else {
                continue;
            };
            let here = self.ledger.room(class, other).unwrap_or(u64::MAX);
            room = room.saturating_add(here.min(bounds.max.map_or(u64::MAX, u64::from)));
        }
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    /// What must fit into a cluster, by class; `None` where nothing is known of the pods, or of the cluster's room.
    fn needs(&self, wanted: &Wanted, cluster: ClusterId, replicas: u32) -> Option<Vec<(ClassId, u32)>> {
        let single = wanted.missing.len() == 1;
        let need = |(workload, missing): &(u16, u32)| {
            let class = self.view.class(wanted.app, usize::from(*workload), cluster)?;
            Some((class, if single { replicas } else { *missing }))
        };
        let needs = wanted.missing.iter().map(need).collect::<Option<Vec<_>>>()?;
        self.ledger.is_known(cluster).then_some(needs)
    }

    fn fits(&mut self, needs: &[(ClassId, u32)], cluster: ClusterId) -> bool {
        match needs {
            [(class, replicas)] => self.ledger.room(*class, cluster).is_some_and(|room| room >= u64::from(*replicas)),
            set => self.ledger.sets(cluster, set, 1) > 0,
        }
    }

    /// A set of victims none of which can be left out; `None` where all together are too few, or none is needed.
    fn victims(&mut self, id: AppId, needs: &[(ClassId, u32)], cluster: ClusterId) -> Option<Vec<Victim>> {
        if self.fits(needs, cluster) {
            return None;
        }
        let (offers, units) = self.units(id, needs, cluster);
        let mut taken: Vec<Unit> = Vec::new();
        let mut enough = false;
        for unit in units {
            self.change(&unit, Ledger::unbook);
            taken.push(unit);
            enough = self.fits(needs, cluster);
            if enough {
                break;
            }
        }
        let mut victims: Vec<Unit> = Vec::new();
        while let Some(unit) = taken.pop() {
            self.change(&unit, Ledger::book);
            if enough && !self.fits(needs, cluster) {
                self.change(&unit, Ledger::unbook);
                victims.push(unit);
            }
        }
        // as it was, for the next cluster
        victims.iter().for_each(|unit| self.change(unit, Ledger::book));
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for part in victims.iter().flat_map(|unit| &unit.parts) {
            let count = counts.entry(part.offer).or_default();
            *count = count.saturating_add(part.replicas);
        }
        let victim = |(offer, replicas): (usize, u32)| {
            let Offer { app, workload, pool } = offers.get(offer)?;
            Some(Victim { app: *app, workload: *workload, pool: *pool, replicas })
        };
        let mut found: Vec<Victim> = counts.into_iter().filter_map(victim).collect();
        found.sort();
        (enough && !found.is_empty()).then_some(found)
    }

    fn change(&mut self, unit: &Unit, how: fn(&mut Ledger, ClassId, PoolRef, u32)) {
        for part in &unit.parts {
            if let Some((class, pool)) = part.booked {
                how(&mut self.ledger, class, pool, part.replicas);
            }
        }
    }
}
