//! What could go from a cluster: seats of lower priority, replica by replica, or whole where they are kept whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Market;
use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::model::Share;
use crate::room::PoolRef;
use crate::schedule::Seat;
use crate::schedule::ledger::{ClassId, Resolved};
use crate::schedule::view::is_daemon;

/// What could go at once: a replica, or all of what is kept whole.
pub(super) struct Unit {
    pub parts: Vec<Part>,
}

/// Replicas of a seat.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub offer: usize,
    /// What of it is booked where the app could be; nothing for a part of a set that lies in another pool.
    pub booked: Option<(ClassId, PoolRef)>,
    pub replicas: u32,
}

/// The order in which replicas go: priority, dominant share, app, workload.
type Rank = (i32, Reverse<i128>, Reverse<AppId>, Reverse<u16>);

/// A seat of lower priority in one cluster.
pub(super) struct Offer {
    pub app: AppId,
    pub workload: u16,
    pub pool: Option<PoolId>,
}

impl Market<'_, '_> {
    /// What could go from a cluster, in the order in which it goes.
    pub(super) fn units(&mut self, id: AppId, needs: &[(ClassId, u32)], cluster: ClusterId) -> (Vec<Offer>, Vec<Unit>) {
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
                    // Its autoscaler runs what it runs: a lower minimum frees nothing.
                    let seen = self.view.books_observed(victim, member)
                        && self.view.observed(victim, member, cluster).is_some();
                    copied || seen || self.view.books_in_full(victim, member, cluster)
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
}

/// The largest part of a cluster that one pod takes of any resource, in millionths of what is left there.
fn dominant(requests: &crate::base::Resources, offered: &BTreeMap<SmolStr, i128>) -> i128 {
    let part = |(resource, amount): (&SmolStr, &i128)| {
        let of = offered.get(resource).copied().unwrap_or(0).max(1);
        amount.saturating_mul(1_000_000) / of
    };
    requests.0.iter().map(part).max().unwrap_or(0)
}
