//! What autoscalers run beyond the seats: where `replicas.autoscaled.room` is Observed, the count that was seen in a cluster
//! is booked there, and not only its share of the minimum.
//!
//! Seats stay the share of the minimum, whatever was seen: what was seen is counted beside them, in the pools they are in. So
//! it limits what else may come, displaces nothing, and moves nothing of the app itself, for which it counts as free.
//!
//! Invariant: what is counted follows from the seats and the record alone, so a target scheduled again counts the same.

use super::Target;
use super::headroom::rows;
use super::ledger::{ClassId, Ledger, Resolved};
use super::stage::Booking;
use super::state::{Row, by_cluster, observed};
use crate::api::AutoscaledRoom;
use crate::base::{AppId, ClusterId, workload_numbers};
use crate::divide::share::divide_by_seats;
use crate::model::{Fleet, Share, Workload};
use crate::placements::{ObservedApp, Record};
use crate::room::PoolRef;
use crate::variants::Variants;

/// Replicas of a workload beyond its seats, by cluster that has any. `rows` are all that it has, by cluster ascending.
pub(super) fn replicas(
    workload: &Workload,
    observed: impl Fn(ClusterId) -> Option<u32>,
    rows: &[Row],
) -> Vec<(ClusterId, u32)> {
    let Some(autoscaled) = workload.autoscaled.filter(|of| of.policy.room == AutoscaledRoom::Observed) else {
        return Vec::new();
    };
    let here = by_cluster(rows);
    let seats: Vec<u32> = here.iter().map(|(_, replicas)| *replicas).collect();
    let seen = |at: usize| here.get(at).and_then(|(cluster, _)| observed(*cluster));
    let booked = autoscaled.booked(&seats, seen, workload.share == Share::Everywhere);
    let more = here.iter().zip(booked).map(|((cluster, seats), booked)| (*cluster, booked.saturating_sub(*seats)));
    more.filter(|(_, more)| *more > 0).collect()
}

/// The same by pool: those of a cluster lie where its seats are, in the same proportion. What has no pool counts nowhere.
pub(super) fn bookings(
    ledger: &mut Ledger,
    workload: &Workload,
    class: impl Fn(ClusterId) -> Option<ClassId>,
    observed: impl Fn(ClusterId) -> Option<u32>,
    rows: &[Row],
) -> Vec<Booking> {
    let mut bookings = Vec::new();
    for (cluster, more) in replicas(workload, observed, rows) {
        let Some(class) = class(cluster) else { continue };
        let mut pools: Vec<(PoolRef, u32)> = Vec::new();
        for row in rows.iter().filter(|row| row.cluster == cluster) {
            if let Resolved::Pool(pool) = ledger.resolve(class, cluster, row.pool) {
                pools.push((pool, row.replicas));
            }
        }
        let seats: Vec<u32> = pools.iter().map(|(_, seats)| *seats).collect();
        let all = seats.iter().fold(more, |sum, seats| sum.saturating_add(*seats));
        for ((pool, seats), all) in pools.into_iter().zip(divide_by_seats(all, &seats)) {
            let replicas = all.saturating_sub(seats);
            if replicas > 0 {
                bookings.push(Booking { class, pool, replicas });
            }
        }
    }
    bookings
}

/// What is booked as room of an autoscaled workload in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booked {
    /// The cluster.
    pub cluster: ClusterId,
    /// How many replicas.
    pub replicas: u32,
    /// How many were observed there.
    pub observed: Option<u32>,
}

/// What is booked of a workload whose observed replicas count, by cluster ascending; empty of every other.
#[must_use]
pub fn booked_as_observed(fleet: &Fleet, record: &Record, target: &Target, id: AppId, workload: usize) -> Vec<Booked> {
    let app = fleet.app(id);
    let Some(w) = app.workloads.get(workload) else { return Vec::new() };
    if !w.autoscaled.is_some_and(|of| of.policy.room == AutoscaledRoom::Observed) {
        return Vec::new();
    }
    let key = (fleet.team(app.team).name.clone(), app.name.clone());
    let seen = record.observed.get(&key).and_then(|app| app.get(&w.key));
    let observed = |cluster: ClusterId| seen?.get(&fleet.cluster(cluster).name)?.replicas;
    let rows = rows(target, id, u16::try_from(workload).unwrap_or(u16::MAX));
    let beyond = replicas(w, observed, &rows);
    let of = |(cluster, seats): (ClusterId, u32)| {
        let more = beyond.iter().find(|(of, _)| *of == cluster).map_or(0, |(_, more)| *more);
        Booked { cluster, replicas: seats.saturating_add(more), observed: observed(cluster) }
    };
    by_cluster(&rows).into_iter().map(of).collect()
}

/// Counts what runs beyond rows of workloads, which are booked.
pub(super) fn count(
    ledger: &mut Ledger,
    fleet: &Fleet,
    variants: &Variants,
    record: &Record,
    mut rows: impl FnMut(AppId, u16) -> Vec<Row>,
) {
    for (id, seen) in fleet.app_ids().zip(observed(fleet, record)) {
        let Some(seen) = seen else { continue };
        for (number, _) in workload_numbers().zip(&fleet.app(id).workloads) {
            let rows = rows(id, number);
            for Booking { class, pool, replicas } in of_workload(ledger, (fleet, variants), seen, (id, number), &rows) {
                ledger.count_beyond(class, pool, replicas);
            }
        }
    }
}

/// What one workload runs beyond its rows, by what is seen of its app.
pub(super) fn of_workload(
    ledger: &mut Ledger,
    (fleet, variants): (&Fleet, &Variants),
    seen: &ObservedApp,
    (id, number): (AppId, u16),
    rows: &[Row],
) -> Vec<Booking> {
    let Some(workload) = fleet.app(id).workloads.get(usize::from(number)) else { return Vec::new() };
    let Some(seen) = seen.get(&workload.key) else { return Vec::new() };
    let mut classes = Vec::new();
    for (cluster, _) in by_cluster(rows) {
        let variant = variants.apps.get(id.index()).map(|variants| variants.of(cluster));
        let pod = variant.and_then(|variant| variant.workloads.get(usize::from(number))?.pod.as_deref());
        classes.extend(pod.map(|pod| (cluster, ledger.class(pod))));
    }
    let class = |cluster: ClusterId| classes.iter().find(|(of, _)| *of == cluster).map(|(_, class)| *class);
    let seen = |cluster: ClusterId| seen.get(&fleet.cluster(cluster).name)?.replicas;
    bookings(ledger, workload, class, seen, rows)
}
