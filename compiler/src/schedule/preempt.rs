//! Which replicas of lower priority would have to go so that an app that is short finds its place: a proposal, never more.
//!
//! For each cluster that the app may use, replicas of strictly lower priority are taken away one by one, by (priority asc,
//! dominant share desc, name desc) and not below floors, until what is missing fits; then each is given back, the last taken
//! first, where it still fits without. So no victim can be left out. Of the clusters that is chosen whose worst victim has
//! the lowest priority, then that with fewest replicas to give up, then by name. A proposal is made only if the schedule, with
//! the victims lowered, places the whole app and takes nothing from anybody else; victims go elsewhere where they can. Nothing
//! is preempted for a victim's sake.
//!
//! What runs as copies, is bound to its data, has a number written by an override, or is suspended is no victim.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::headroom::booked;
use super::ledger::{ClassId, Ledger, Resolved};
use super::placed::placed;
use super::state::pool_name;
use super::view::View;
use super::{Deficit, Scenario, Target, check, schedule};
use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::model::{Fleet, Share};
use crate::placements::{PlacedApp, Record};
use crate::room::PoolRef;
use crate::variants::Variants;

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// The app that is short.
    pub app: AppId,
    /// Which of its workloads.
    pub workload: u16,
    /// Where the rest of it would run.
    pub cluster: ClusterId,
    /// How many replicas that is.
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
    let mut ledger = booked(fleet, variants, record, target);
    let view = View::new(fleet, variants, &settled, &scenario, &mut ledger);
    let mut market = Market { view: &view, ledger, target, settled: &settled };
    let mut found = Vec::new();
    for id in apps {
        let deficits = target.apps.get(id.index()).map(|app| app.deficits.clone()).unwrap_or_default();
        for deficit in deficits {
            if let Deficit::Unplaced { workload, replicas, .. } = deficit {
                found.extend(market.propose(id, workload, replicas));
            }
        }
    }
    found
}

/// A replica that could go.
#[derive(Clone, Copy)]
struct Unit {
    seat: usize,
    class: ClassId,
    pool: PoolRef,
    /// All of what is kept whole at once.
    replicas: u32,
}

/// The order in which replicas go: priority, dominant share, app, workload.
type Rank = (i32, Reverse<i128>, Reverse<AppId>, Reverse<u16>);

/// Seats of lower priority in one cluster.
struct Offer {
    app: AppId,
    workload: u16,
    pool: Option<PoolId>,
}

struct Market<'m, 'a> {
    view: &'m View<'a>,
    /// With the target booked.
    ledger: Ledger,
    target: &'m Target,
    settled: &'m Record,
}

impl Market<'_, '_> {
    fn propose(&mut self, id: AppId, workload: u16, replicas: u32) -> Option<Preemption> {
        let fleet = self.view.fleet;
        let index = usize::from(workload);
        let mut options: Vec<(i32, u32, ClusterId, Vec<Victim>)> = Vec::new();
        for cluster in fleet.cluster_ids() {
            let may = self.view.is_fresh(id, cluster) && self.view.allows(id, index, cluster);
            let Some(class) = self.view.class(id, index, cluster).filter(|_| may) else { continue };
            let Some(victims) = self.victims(id, class, cluster, replicas) else { continue };
            let worst = victims.iter().map(|victim| fleet.app(victim.app).priority).max().unwrap_or(i32::MIN);
            let count = victims.iter().fold(0_u32, |sum, victim| sum.saturating_add(victim.replicas));
            options.push((worst, count, cluster, victims));
        }
        options.sort_by_key(|option| (option.0, option.1, option.2));
        options.into_iter().find_map(|(_, _, cluster, victims)| {
            let placed = self.accepted(id, workload, cluster, &victims)?;
            Some(Preemption { app: id, workload, cluster, replicas, victims, placed })
        })
    }

    /// A set of victims none of which can be left out; `None` where all together are too few, or none is needed.
    fn victims(&mut self, id: AppId, class: ClassId, cluster: ClusterId, replicas: u32) -> Option<Vec<Victim>> {
        let wanted = u64::from(replicas);
        if self.ledger.room(class, cluster)? >= wanted {
            return None;
        }
        let (offers, units) = self.units(id, class, cluster);
        let mut taken: Vec<Unit> = Vec::new();
        for unit in units {
            self.ledger.unbook(unit.class, unit.pool, unit.replicas);
            taken.push(unit);
            if self.ledger.room(class, cluster)? >= wanted {
                break;
            }
        }
        let enough = self.ledger.room(class, cluster)? >= wanted;
        let mut victims: Vec<Unit> = Vec::new();
        for unit in taken.iter().rev() {
            self.ledger.book(unit.class, unit.pool, unit.replicas);
            if enough && self.ledger.room(class, cluster)? < wanted {
                self.ledger.unbook(unit.class, unit.pool, unit.replicas);
                victims.push(*unit);
            }
        }
        // as it was, for the next cluster
        victims.iter().for_each(|unit| self.ledger.book(unit.class, unit.pool, unit.replicas));
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for unit in &victims {
            let count = counts.entry(unit.seat).or_default();
            *count = count.saturating_add(unit.replicas);
        }
        let victim = |(seat, replicas): (usize, u32)| {
            let Offer { app, workload, pool } = offers.get(seat)?;
            Some(Victim { app: *app, workload: *workload, pool: *pool, replicas })
        };
        let mut found: Vec<Victim> = counts.into_iter().filter_map(victim).collect();
        found.sort();
        (enough && !found.is_empty()).then_some(found)
    }

    /// What could go from a cluster, in the order in which it goes.
    fn units(&mut self, id: AppId, class: ClassId, cluster: ClusterId) -> (Vec<Offer>, Vec<Unit>) {
        let fleet = self.view.fleet;
        let priority = fleet.app(id).priority;
        let usable: BTreeSet<PoolRef> = self.ledger.eligible(class, cluster).iter().map(|pool| pool.pool).collect();
        let offered = self.ledger.free(cluster).unwrap_or_default();
        let mut offers: Vec<Offer> = Vec::new();
        let mut rows: Vec<(Rank, Unit, u32)> = Vec::new();
        for victim in fleet.app_ids().filter(|victim| fleet.app(*victim).priority < priority) {
            let app = fleet.app(victim);
            let seats = self.target.apps.get(victim.index()).map(|app| app.seats.clone()).unwrap_or_default();
            for seat in seats.iter().filter(|seat| seat.cluster == cluster) {
                let index = usize::from(seat.workload);
                let Some(workload) = app.workloads.get(index) else { continue };
                let fixed = self.view.books_in_full(victim, index, cluster) || workload.share == Share::Everywhere;
                let Some(of) = self.view.class(victim, index, cluster).filter(|_| !fixed) else { continue };
                let Resolved::Pool(pool) = self.ledger.resolve(of, cluster, seat.pool) else { continue };
                if !usable.contains(&pool) {
                    continue;
                }
                let share = self.view.variants.apps[victim.index()].of(cluster).workloads[index].pod.as_deref();
                let share = share.map_or(0, |pod| dominant(&pod.requests, &offered));
                let whole = workload.share == Share::Whole;
                let floor = if whole { 0 } else { workload.floor(cluster) };
                let may_go = seat.replicas.saturating_sub(floor);
                let replicas = if whole { seat.replicas } else { 1 };
                let unit = Unit { seat: offers.len(), class: of, pool, replicas };
                offers.push(Offer { app: victim, workload: seat.workload, pool: seat.pool });
                let times = if whole { 1 } else { may_go };
                let rank = (app.priority, Reverse(share), Reverse(victim), Reverse(seat.workload));
                rows.push((rank, unit, times));
            }
        }
        rows.sort_by_key(|(rank, ..)| *rank);
        let units = rows.into_iter().flat_map(|(_, unit, times)| std::iter::repeat_n(unit, times as usize)).collect();
        (offers, units)
    }

    /// Where the app and its victims run with the victims lowered; `None` where the app is still short, or somebody else
    /// loses a replica.
    fn accepted(
        &self,
        id: AppId,
        workload: u16,
        cluster: ClusterId,
        victims: &[Victim],
    ) -> Option<BTreeMap<(SmolStr, SmolStr), PlacedApp>> {
        let (fleet, variants) = (self.view.fleet, self.view.variants);
        let mut record = self.settled.clone();
        for victim in victims {
            lower(fleet, &mut record, cluster, victim);
        }
        let scenario = Scenario::default();
        let target = schedule(fleet, variants, &record, &scenario);
        if !check::check(fleet, variants, &record, &scenario, &target).is_empty() {
            return None;
        }
        let of_app = target.apps.get(id.index())?;
        let short = |deficit: &Deficit| matches!(deficit, Deficit::Unplaced { workload: of, .. } if *of == workload);
        if of_app.deficits.iter().any(short) {
            return None;
        }
        let concerned: BTreeSet<AppId> = victims.iter().map(|victim| victim.app).chain([id]).collect();
        let unchanged = fleet.app_ids().filter(|other| !concerned.contains(other)).all(|other| {
            let seats =
                |target: &Target| target.apps.get(other.index()).map(|app| app.seats.clone()).unwrap_or_default();
            let after = seats(&target);
            let kept = |seat: &super::Seat| {
                let here = after.iter().filter(|s| (s.workload, s.cluster) == (seat.workload, seat.cluster));
                here.map(|s| u64::from(s.replicas)).sum::<u64>() >= u64::from(seat.replicas)
            };
            seats(self.target).iter().all(kept)
        });
        let mut after = placed(fleet, &target);
        after.retain(|key, _| concerned.iter().any(|of| key_of(fleet, *of) == *key));
        unchanged.then_some(after)
    }
}

fn key_of(fleet: &Fleet, id: AppId) -> (SmolStr, SmolStr) {
    let app = fleet.app(id);
    (fleet.team(app.team).name.clone(), app.name.clone())
}

/// Takes a victim's replicas out of the record.
fn lower(fleet: &Fleet, record: &mut Record, cluster: ClusterId, victim: &Victim) {
    let key = fleet.app(victim.app).workloads.get(usize::from(victim.workload)).map(|workload| &workload.key);
    let app = record.apps.get_mut(&key_of(fleet, victim.app));
    let Some(workload) = app.zip(key).and_then(|(app, key)| app.workloads.get_mut(key)) else { return };
    let pool = victim.pool.map(|pool| pool_name(fleet, cluster, pool));
    let name = &fleet.cluster(cluster).name;
    for seat in workload.seats.iter_mut().filter(|seat| seat.cluster == *name && seat.pool == pool) {
        seat.replicas = seat.replicas.saturating_sub(victim.replicas);
    }
    workload.seats.retain(|seat| seat.replicas > 0);
}

/// The largest part of a cluster that one pod takes of any resource, in millionths of what is left there.
fn dominant(requests: &crate::base::Resources, offered: &BTreeMap<SmolStr, i128>) -> i128 {
    let part = |(resource, amount): (&SmolStr, &i128)| {
        let of = offered.get(resource).copied().unwrap_or(0).max(1);
        amount.saturating_mul(1_000_000) / of
    };
    requests.0.iter().map(part).max().unwrap_or(0)
}
