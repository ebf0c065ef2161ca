//! What clusters have left once a target runs: the same ledgers that scheduling books in, read at the end.

use std::collections::BTreeMap;

use super::ledger::{ClassId, Ledger, Resolved};
use super::rooms::{self, ClusterPools};
use super::state::{self, Row, merged, pool_id};
use super::target::Target;
use super::view::is_daemon;
use super::{Scenario, beyond, held};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId, SmolStr, workload_numbers};
use crate::model::Fleet;
use crate::placements::{ObservedApp, Record};
use crate::room::PoolRef;
use crate::variants::Variants;

/// What a cluster has left of one resource, in the unit of the resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// The resource.
    pub resource: SmolStr,
    /// What apps of the fleet can have in all: allocatable with overcommit, less reserves and what others use. Nodes that
    /// an autoscaler may add count.
    pub offered: i128,
    /// What of it is not booked; negative where more is booked than there is.
    pub free: i128,
}

/// By cluster id, resources by name; `None` where the capacity is unknown.
#[must_use]
pub fn headroom(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Vec<Option<Vec<Headroom>>> {
    let empty = Ledger::new(rooms::pools(fleet, record));
    let empty: Vec<_> = fleet.cluster_ids().map(|cluster| empty.free(cluster)).collect();
    let ledger = promised(fleet, variants, record, target);
    let left = |(cluster, offered): (ClusterId, Option<BTreeMap<SmolStr, i128>>)| {
        let free = ledger.free(cluster)?;
        let of = |(resource, offered): (SmolStr, i128)| {
            let free = free.get(&resource).copied().unwrap_or(0);
            Headroom { resource, offered, free }
        };
        Some(offered?.into_iter().map(of).collect())
    };
    fleet.cluster_ids().zip(empty).map(left).collect()
}

/// The ledger with a target booked in it, and what autoscalers run beyond that.
pub(super) fn booked(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Ledger {
    let mut ledger = seated(fleet, variants, record, target);
    beyond::count(&mut ledger, fleet, variants, record, |id, workload| rows(target, id, workload));
    ledger
}

/// The ledger with the seats of a target booked in it: DaemonSets first, as they shrink the nodes.
fn seated(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Ledger {
    let mut ledger = with_daemons(fleet, variants, record, target);
    for id in fleet.app_ids() {
        book(&mut ledger, fleet, variants, target, id, false);
    }
    ledger
}

/// The seats of a workload, by cluster ascending.
pub(super) fn rows(target: &Target, id: AppId, number: u16) -> Vec<Row> {
    let seats = target.apps.get(id.index()).map(|app| app.seats.as_slice()).unwrap_or_default();
    let own = seats.iter().filter(|seat| seat.workload == number);
    own.map(|seat| Row { cluster: seat.cluster, pool: seat.pool, replicas: seat.replicas }).collect()
}

/// The same, with what is kept for moves in steps that are on the way.
pub(super) fn promised(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Ledger {
    let mut ledger = seated(fleet, variants, record, target);
    let mut coming: BTreeMap<(AppId, u16), Vec<Row>> = BTreeMap::new();
    let pools = rooms::pools(fleet, record);
    let held = held::moving(fleet, variants, record, &Scenario::default());
    for (id, end) in state::targets(fleet, record, &held, &pools) {
        let now = target.apps.get(id.index()).map(|app| app.seats.as_slice()).unwrap_or_default();
        for (number, workload) in workload_numbers().zip(&end.workloads) {
            for row in &workload.rows {
                let here = now.iter().find(|s| (s.workload, s.cluster, s.pool) == (number, row.cluster, row.pool));
                let more = row.replicas.saturating_sub(here.map_or(0, |seat| seat.replicas));
                let variant = variants.apps.get(id.index()).map(|variants| variants.of(row.cluster));
                let pod = variant.and_then(|v| v.workloads.get(usize::from(number))?.pod.as_deref());
                let Some(pod) = pod.filter(|_| more > 0) else { continue };
                coming.entry((id, number)).or_default().push(Row { replicas: more, ..*row });
                let class = ledger.class(pod);
                if let Resolved::Pool(pool) = ledger.resolve(class, row.cluster, row.pool) {
                    ledger.book(class, pool, more);
                }
            }
        }
    }
    beyond::count(&mut ledger, fleet, variants, record, |id, workload| {
        let more = coming.remove(&(id, workload)).unwrap_or_default();
        merged(rows(target, id, workload).into_iter().chain(more).collect())
    });
    ledger
}

/// The ledger with the DaemonSets of a target booked in it, and nothing else.
pub(super) fn with_daemons(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Ledger {
    let mut ledger = Ledger::new(rooms::pools(fleet, record));
    for id in fleet.app_ids() {
        book(&mut ledger, fleet, variants, target, id, true);
    }
    ledger
}

/// Room beside everything that runs.
pub struct Beside<'a> {
    fleet: &'a Fleet,
    variants: &'a Variants,
    pools: Vec<ClusterPools>,
    ledger: Ledger,
    target: &'a Target,
    /// By app id, what was observed of it.
    seen: Vec<Option<&'a ObservedApp>>,
    /// What was taken so far.
    taken: BTreeMap<(AppId, u16), Vec<Row>>,
}

impl std::fmt::Debug for Beside<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}

impl<'a> Beside<'a> {
    /// Beside a target.
    #[must_use]
    pub fn new(fleet: &'a Fleet, variants: &'a Variants, record: &'a Record, target: &'a Target) -> Self {
        let ledger = booked(fleet, variants, record, target);
        let (pools, seen) = (rooms::pools(fleet, record), state::observed(fleet, record));
        Self { fleet, variants, pools, ledger, target, seen, taken: BTreeMap::new() }
    }

    /// Of so many more replicas of a workload in a cluster, or in a pool of it, how many fit; those are taken. All of them
    /// where capacity is unknown or no question.
    pub fn take(&mut self, id: AppId, workload: &str, cluster: &str, pool: Option<&SmolStr>, replicas: u32) -> u32 {
        let workloads = &self.fleet.app(id).workloads;
        let at = workloads.iter().position(|w| w.key == workload);
        let (Some(at), Some(cluster)) = (at, self.fleet.cluster_id(cluster)) else { return 0 };
        let Ok(number) = u16::try_from(at) else { return 0 };
        let ignores = workloads.get(at).is_some_and(|w| w.policy.capacity == Capacity::Ignore);
        let variants = self.variants.apps.get(id.index());
        let variant = variants.and_then(|variants| variants.of(cluster).workloads.get(at));
        let Some(pod) = variant.and_then(|variant| variant.pod.as_deref()).filter(|_| !ignores) else {
            return replicas;
        };
        let class = self.ledger.class(pod);
        let pool = pool.zip(self.pools.get(cluster.index())).map(|(name, pools)| pool_id(pools, name));
        match self.ledger.resolve(class, cluster, pool) {
            Resolved::Unknown => replicas,
            Resolved::Open | Resolved::Unusable => 0,
            Resolved::Pool(at) => {
                // What its autoscaler runs beyond its seats is free for it.
                self.count_beyond(id, number, Ledger::discount_beyond);
                let room = self.ledger.room_in(class, at);
                let fits = u32::try_from(room).unwrap_or(u32::MAX).min(replicas);
                self.ledger.book(class, at, fits);
                let row = Row { cluster, pool: self.ledger.pool_id(class, cluster, at), replicas: fits };
                self.taken.entry((id, number)).or_default().extend(Some(row).filter(|_| fits > 0));
                self.count_beyond(id, number, Ledger::count_beyond);
                fits
            }
        }
    }

    fn count_beyond(&mut self, id: AppId, number: u16, how: fn(&mut Ledger, ClassId, PoolRef, u32)) {
        let Some(seen) = self.seen.get(id.index()).copied().flatten() else { return };
        let more = self.taken.get(&(id, number)).cloned().unwrap_or_default();
        let rows = merged(rows(self.target, id, number).into_iter().chain(more).collect());
        let of = (self.fleet, self.variants);
        for beyond in beyond::of_workload(&mut self.ledger, of, seen, (id, number), &rows) {
            how(&mut self.ledger, beyond.class, beyond.pool, beyond.replicas);
        }
    }
}

/// Books the seats of an app: those of its DaemonSets, or all others.
fn book(ledger: &mut Ledger, fleet: &Fleet, variants: &Variants, target: &Target, id: AppId, daemons: bool) {
    let (Some(app), Some(variants)) = (target.apps.get(id.index()), variants.apps.get(id.index())) else { return };
    // An override writes its number once, however many pools the seats are in.
    let mut last = None;
    for seat in &app.seats {
        let Some(workload) = fleet.app(id).workloads.get(usize::from(seat.workload)) else { continue };
        let variant = variants.of(seat.cluster).workloads.get(usize::from(seat.workload));
        let (Some(variant), true) = (variant, is_daemon(workload) == daemons) else { continue };
        let Some(pod) = variant.pod.as_deref() else { continue };
        let class = ledger.class(pod);
        if daemons {
            ledger.book_daemon(class, seat.cluster);
            continue;
        }
        let Resolved::Pool(pool) = ledger.resolve(class, seat.cluster, seat.pool) else { continue };
        let first = last.replace((seat.workload, seat.cluster)) != Some((seat.workload, seat.cluster));
        let replicas = match variant.replicas.filter(|_| workload.autoscaled.is_none()) {
            None => seat.replicas,
            Some(written) if first => written,
            Some(_) => 0,
        };
        ledger.book(class, pool, replicas);
    }
}
