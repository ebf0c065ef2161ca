//! How the target differs from the record, and why.

use std::collections::BTreeMap;

use super::objects::{ClusterShare, written};
use super::{Cause, Move};
use crate::api::Lifecycle;
use crate::base::{AppId, ClusterId, workload_numbers};
use crate::model::{ClusterSet, Fleet, Workload};
use crate::placements::{PlacedApp, PlacedWorkload, Record};
use crate::schedule::{AppTarget, Verdict};
use crate::variants::AppVariants;

/// What the moves of an app follow from.
pub(super) struct Facts<'a> {
    pub fleet: &'a Fleet,
    pub id: AppId,
    pub variants: &'a AppVariants,
    pub record: &'a Record,
    pub target: &'a AppTarget,
    /// The first of those that share its clusters, if that is another.
    pub leader: Option<AppId>,
}

impl<'a> Facts<'a> {
    fn placed(&self, id: AppId) -> Option<&'a PlacedApp> {
        let app = self.fleet.app(id);
        self.record.apps.get(&(self.fleet.team(app.team).name.clone(), app.name.clone()))
    }

    /// Whether an app was where the first of its group was not: there it has to leave, though that may come there afterwards.
    fn ran_apart(&self, cluster: ClusterId) -> bool {
        let name = &self.fleet.cluster(cluster).name;
        let there = |placed: &PlacedApp| placed.clusters.contains(name);
        self.leader.is_some_and(|leader| !self.placed(leader).is_some_and(there))
    }
}

/// The moves of an app, ascending by (workload, cluster). `displaced` are the clusters that no longer hold all that ran there.
pub(super) fn moves(
    facts: &Facts<'_>,
    displaced: &ClusterSet,
    shares: &[BTreeMap<ClusterId, ClusterShare>],
) -> Vec<Move> {
    let Facts { fleet, id, variants, target, .. } = *facts;
    let app = fleet.app(id);
    let placed = facts.placed(id);
    let mut moves = Vec::new();
    for ((number, workload), after) in workload_numbers().zip(&app.workloads).zip(shares) {
        let placed = placed.and_then(|app| app.workloads.get(&workload.key));
        let before = before(fleet, placed);
        let change = Change::of(workload, placed, &before, after);
        let mut clusters: Vec<ClusterId> = before.keys().chain(after.keys()).copied().collect();
        clusters.sort_unstable();
        clusters.dedup();
        for cluster in clusters {
            let number_of = |share: u32| match share {
                0 => 0,
                share if workload.autoscaled.is_some() => share,
                share => written(variants, usize::from(number), cluster, share),
            };
            let old = number_of(before.get(&cluster).copied().unwrap_or(0));
            let new = number_of(after.get(&cluster).map_or(0, |share| share.replicas));
            if old != new {
                let cause = match new < old {
                    true => change.of_loss(target, displaced, cluster, new, || facts.ran_apart(cluster)),
                    false => change.of_gain(),
                };
                moves.push(Move { workload: number, cluster, before: old, after: new, cause });
            }
        }
    }
    moves
}

fn before(fleet: &Fleet, placed: Option<&PlacedWorkload>) -> BTreeMap<ClusterId, u32> {
    let mut before: BTreeMap<ClusterId, u32> = BTreeMap::new();
    for seat in placed.map(|w| w.seats.as_slice()).unwrap_or_default() {
        if let Some(cluster) = fleet.cluster_id(&seat.cluster) {
            let replicas = before.entry(cluster).or_default();
            *replicas = replicas.saturating_add(seat.replicas);
        }
    }
    before
}

/// What changed about a workload as a whole.
struct Change {
    new: bool,
    weights: bool,
    /// The target holds fewer replicas than ran.
    fewer: bool,
    /// It holds more.
    more: bool,
    /// Some cluster loses replicas.
    some_lose: bool,
    /// More ran than the total wants.
    above_total: bool,
}

impl Change {
    fn of(
        workload: &Workload,
        placed: Option<&PlacedWorkload>,
        before: &BTreeMap<ClusterId, u32>,
        after: &BTreeMap<ClusterId, ClusterShare>,
    ) -> Self {
        let ran: u64 = before.values().map(|n| u64::from(*n)).sum();
        let runs: u64 = after.values().map(|share| u64::from(share.replicas)).sum();
        let copied = workload.share == crate::model::Share::Everywhere;
        let above = |n: u64| n > u64::from(workload.replicas);
        Self {
            new: placed.is_none(),
            weights: placed.is_some_and(|placed| placed.weights != workload.policy.digest.short()),
            fewer: runs < ran,
            more: runs > ran,
            some_lose: before.iter().any(|(c, n)| after.get(c).map_or(0, |share| share.replicas) < *n),
            above_total: if copied { before.values().any(|n| above(u64::from(*n))) } else { above(ran) },
        }
    }

    /// Why replicas leave a cluster. Where all of them do, the verdict on the cluster says it.
    fn of_loss(
        &self,
        target: &AppTarget,
        displaced: &ClusterSet,
        cluster: ClusterId,
        left: u32,
        ran_apart: impl Fn() -> bool,
    ) -> Cause {
        let verdict = target.verdicts.iter().find(|(_, clusters)| clusters.contains(cluster)).map(|(v, _)| v);
        match verdict {
            Some(Verdict::Mismatch(_) | Verdict::Team) => return Cause::Intent,
            Some(Verdict::Taint(taint)) if taint.ends_with("NoExecute") => return Cause::Taint,
            Some(Verdict::Lifecycle(Lifecycle::Draining | Lifecycle::Retired)) => return Cause::Lifecycle,
            Some(Verdict::SupposedLost) => return Cause::Lost,
            Some(Verdict::Evicted) => return Cause::Evicted,
            Some(Verdict::NotWithGroup(_) | Verdict::TakenByGroup(_)) => return Cause::Group,
            _ => {}
        }
        if self.weights || (left == 0 && matches!(verdict, Some(Verdict::NoWeight))) {
            Cause::Weights
        } else if self.above_total {
            Cause::Total
        } else if self.fewer
            || displaced.contains(cluster)
            || matches!(
                verdict,
                Some(
                    Verdict::NoRoom { .. }
                        | Verdict::NoRoomForSet { .. }
                        | Verdict::LargerThanNode { .. }
                        | Verdict::NoEligiblePool
                )
            )
        {
            Cause::Displaced
        } else if ran_apart() {
            Cause::Group
        } else if self.more || !displaced.is_empty() {
            Cause::Room
        } else {
            Cause::Intent
        }
    }

    fn of_gain(&self) -> Cause {
        if self.new {
            Cause::New
        } else if self.some_lose {
            if self.weights { Cause::Weights } else { Cause::Refill }
        } else if self.weights && !self.more {
            Cause::Weights
        } else {
            Cause::Total
        }
    }
}
