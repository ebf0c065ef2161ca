//! What clusters have left once a target runs: the same ledgers that scheduling books in, read at the end.

use std::collections::BTreeMap;

use super::ledger::{Ledger, Resolved};
use super::rooms;
use super::target::Target;
use super::view::is_daemon;
use crate::base::{AppId, ClusterId, SmolStr};
use crate::model::Fleet;
use crate::placements::Record;
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
    let ledger = booked(fleet, variants, record, target);
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

/// The ledger with a target booked in it: DaemonSets first, as they shrink the nodes.
pub(super) fn booked(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Ledger {
    let mut ledger = with_daemons(fleet, variants, record, target);
    for id in fleet.app_ids() {
        book(&mut ledger, fleet, variants, target, id, false);
    }
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
