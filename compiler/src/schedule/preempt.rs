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
//! What runs as copies, is bound to its data, has a number written by an override, or is suspended, exclusive or on a move in steps is no victim.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::headroom::promised;
use super::held;
use super::ledger::{ClassId, Ledger, Resolved};
use super::placed::placed;
use super::state::pool_name;
use super::view::{View, bounds, is_daemon};
use super::{Deficit, Scenario, Seat, Target, check, schedule};
use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::model::{Fleet, Share};
use crate::placements::{GaveWay, PlacedApp, Record};
use crate::room::PoolRef;
use crate::variants::Variants;

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
        for wanted in wanted.into_values() {
            found.extend(market.propose(&wanted));
        }
    }
    found
}

/// What could go at once: a replica, or all of what is kept whole.
struct Unit {
    parts: Vec<Part>,
}

/// Replicas of a seat.
#[derive(Clone, Copy)]
struct Part {
    offer: usize,
    /// What of it is booked where the app could be; nothing for a part of a set that lies in another pool.
    booked: Option<(ClassId, PoolRef)>,
    replicas: u32,
}

/// The order in which replicas go: priority, dominant share, app, workload.
type Rank = (i32, Reverse<i128>, Reverse<AppId>, Reverse<u16>);

/// A seat of lower priority in one cluster.
struct Offer {
    app: AppId,
    workload: u16,
    pool: Option<PoolId>,
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

    /// What could go from a cluster, in the order in which it goes.
    fn units(&mut self, id: AppId, needs: &[(ClassId, u32)], cluster: ClusterId) -> (Vec<Offer>, Vec<Unit>) {
        let fleet = self.view.fleet;
        let priority = fleet.app(id).priority;
        let mut usable: BTreeSet<PoolRef> = BTreeSet::new();
        for (class, _) in needs {
            usable.extend(self.ledger.eligible(*class, cluster).iter().map(|pool| pool.pool));
        }
        let offered = self.ledger.free(cluster).unwrap_or_default();
        let mut offers: Vec<Offer> = Vec::new();
        let mut rows: Vec<(Rank, Unit)> = Vec::new();
        for victim in fleet.app_ids().filter(|victim| fleet.app(*victim).priority < priority) {
            let app = fleet.app(victim);
            let mut next = 0;
            while next < app.workloads.len() {
                let members = app.members(next);
                let first = next;
                next = members.end.max(next + 1);
                let fixed = |member: usize| {
                    let copied = app.workloads.get(member).is_none_or(|w| w.share == Share::Everywhere || is_daemon(w));
                    copied || self.view.books_in_full(victim, member, cluster)
                };
                if members.clone().any(fixed) {
                    continue;
                }
                let from = offers.len();
                let mut parts = Vec::new();
                let mut share = 0;
                for member in members.clone() {
                    let (seats, largest) = self.seats(victim, member, cluster, &offered);
                    share = share.max(largest);
                    for (seat, booked) in seats {
                        let booked = booked.filter(|(_, pool)| usable.contains(pool));
                        parts.push(Part { offer: offers.len(), booked, replicas: seat.replicas });
                        offers.push(Offer { app: victim, workload: seat.workload, pool: seat.pool });
                    }
                }
                let rank =
                    (app.priority, Reverse(share), Reverse(victim), Reverse(u16::try_from(first).unwrap_or(u16::MAX)));
                if parts.iter().all(|part| part.booked.is_none()) {
                    offers.truncate(from);
                } else if app.workloads.get(first).is_some_and(|w| w.share == Share::Whole) {
                    rows.push((rank, Unit { parts }));
                } else {
                    let here = parts.iter().fold(0_u32, |sum, part| sum.saturating_add(part.replicas));
                    let may_go = here.saturating_sub(self.floor(victim, first, cluster)) as usize;
                    let single = parts
                        .iter()
                        .filter(|part| part.booked.is_some())
                        .flat_map(|part| std::iter::repeat_n(Part { replicas: 1, ..*part }, part.replicas as usize));
                    rows.extend(single.take(may_go).map(|part| (rank, Unit { parts: vec![part] })));
                }
            }
        }
        rows.sort_by_key(|(rank, _)| *rank);
        (offers, rows.into_iter().map(|(_, unit)| unit).collect())
    }

    /// Seats of a workload in a cluster with what they are booked as, and how much of the cluster one of its pods takes.
    #[expect(clippy::type_complexity, reason = "a seat and its booking")]
    fn seats(
        &mut self,
        id: AppId,
        workload: usize,
        cluster: ClusterId,
        offered: &BTreeMap<SmolStr, i128>,
    ) -> (Vec<(Seat, Option<(ClassId, PoolRef)>)>, i128) {
        let seats = self.target.apps.get(id.index()).map(|app| app.seats.as_slice()).unwrap_or_default();
        let here = seats.iter().filter(|seat| usize::from(seat.workload) == workload && seat.cluster == cluster);
        let class = self.view.class(id, workload, cluster);
        let booked = here.map(|seat| {
            let resolved = class.map(|class| (class, self.ledger.resolve(class, cluster, seat.pool)));
            let booked = resolved.and_then(|(class, resolved)| match resolved {
                Resolved::Pool(pool) => Some((class, pool)),
                Resolved::Open | Resolved::Unknown | Resolved::Unusable => None,
            });
            (*seat, booked)
        });
        let booked = booked.collect();
        let pod = self.view.variants.apps.get(id.index()).and_then(|app| app.of(cluster).workloads.get(workload));
        let share = pod.and_then(|w| w.pod.as_deref()).map_or(0, |pod| dominant(&pod.requests, offered));
        (booked, share)
    }

    /// The fewest replicas that a workload keeps in a cluster: its own floor, and one where its spread needs the group.
    fn floor(&self, id: AppId, workload: usize, cluster: ClusterId) -> u32 {
        let app = self.view.fleet.app(id);
        let own = app.workloads.get(workload).map_or(0, |w| w.floor(cluster));
        let seats = self.target.apps.get(id.index()).map(|app| app.seats.as_slice()).unwrap_or_default();
        let clusters: BTreeSet<ClusterId> =
            seats.iter().filter(|seat| usize::from(seat.workload) == workload).map(|seat| seat.cluster).collect();
        let needed = app.placement.spread.iter().any(|spread| {
            let group = |cluster: ClusterId| self.view.group(&spread.key, cluster);
            let groups: BTreeSet<Option<u32>> = clusters.iter().map(|cluster| group(*cluster)).collect();
            let alone = clusters.iter().all(|other| *other == cluster || group(*other) != group(cluster));
            spread.min > 1 && alone && u32::try_from(groups.len()).is_ok_and(|groups| groups <= spread.min)
        });
        own.max(u32::from(needed))
    }

    /// Where the app and its victims run with the victims lowered; `None` where the app is still short, or anybody loses
    /// more than what is proposed.
    fn accepted(
        &self,
        wanted: &Wanted,
        cluster: ClusterId,
        victims: &[Victim],
    ) -> Option<BTreeMap<(SmolStr, SmolStr), PlacedApp>> {
        let (fleet, variants) = (self.view.fleet, self.view.variants);
        let mut record = self.settled.clone();
        for victim in victims {
            lower(fleet, &mut record, wanted.app, cluster, victim);
        }
        let scenario = Scenario::default();
        let target = schedule(fleet, variants, &record, &scenario);
        if !check::check(fleet, variants, &record, &scenario, &target).is_empty() {
            return None;
        }
        let of_app = target.apps.get(wanted.app.index())?;
        let short = |deficit: &Deficit| {
            let missing = |of: u16| wanted.missing.iter().any(|(workload, _)| *workload == of);
            matches!(deficit, Deficit::Unplaced { workload, .. } if missing(*workload))
        };
        if of_app.deficits.iter().any(short) {
            return None;
        }
        let unchanged = fleet.app_ids().filter(|other| *other != wanted.app).all(|other| {
            let counts = |target: &Target| {
                let mut counts: BTreeMap<(u16, ClusterId), u64> = BTreeMap::new();
                for seat in target.apps.get(other.index()).map(|app| app.seats.as_slice()).unwrap_or_default() {
                    *counts.entry((seat.workload, seat.cluster)).or_default() += u64::from(seat.replicas);
                }
                counts
            };
            let after = counts(&target);
            counts(self.target).into_iter().all(|((workload, at), before)| {
                let gives = victims.iter().filter(|v| (v.app, v.workload, cluster) == (other, workload, at));
                let gives: u64 = gives.map(|victim| u64::from(victim.replicas)).sum();
                after.get(&(workload, at)).copied().unwrap_or(0).saturating_add(gives) >= before
            })
        });
        let concerned: BTreeSet<AppId> = victims.iter().map(|victim| victim.app).chain([wanted.app]).collect();
        let mut after = placed(fleet, &target);
        after.retain(|key, _| concerned.iter().any(|of| key_of(fleet, *of) == *key));
        unchanged.then_some(after)
    }
}

fn key_of(fleet: &Fleet, id: AppId) -> (SmolStr, SmolStr) {
    let app = fleet.app(id);
    (fleet.team(app.team).name.clone(), app.name.clone())
}

/// Takes a victim's replicas out of the record, and notes for whom.
fn lower(fleet: &Fleet, record: &mut Record, to: AppId, cluster: ClusterId, victim: &Victim) {
    let key = fleet.app(victim.app).workloads.get(usize::from(victim.workload)).map(|workload| &workload.key);
    let app = record.apps.get_mut(&key_of(fleet, victim.app));
    let Some(workload) = app.zip(key).and_then(|(app, key)| app.workloads.get_mut(key)) else { return };
    let pool = victim.pool.map(|pool| pool_name(fleet, cluster, pool));
    let name = &fleet.cluster(cluster).name;
    for seat in workload.seats.iter_mut().filter(|seat| seat.cluster == *name && seat.pool == pool) {
        seat.replicas = seat.replicas.saturating_sub(victim.replicas);
    }
    workload.seats.retain(|seat| seat.replicas > 0);
    let to = key_of(fleet, to);
    match workload.gave_way.iter_mut().find(|known| known.to == to && known.cluster == *name) {
        Some(known) => known.replicas = known.replicas.saturating_add(victim.replicas),
        None => workload.gave_way.push(GaveWay { to, cluster: name.clone(), replicas: victim.replicas }),
    }
}

/// The largest part of a cluster that one pod takes of any resource, in millionths of what is left there.
fn dominant(requests: &crate::base::Resources, offered: &BTreeMap<SmolStr, i128>) -> i128 {
    let part = |(resource, amount): (&SmolStr, &i128)| {
        let of = offered.get(resource).copied().unwrap_or(0).max(1);
        amount.saturating_mul(1_000_000) / of
    };
    requests.0.iter().map(part).max().unwrap_or(0)
}
