//! Why each cluster that gets nothing gets nothing: read from what runs at the end, never from how it came about, so that
//! the same target always has the same reasons.

use super::stage::Stage;
use super::target::{Deficit, Verdict};
use super::view::{bounds, is_daemon, is_static};
use crate::api::{Capacity, Strategy};
use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Share};
use crate::room::Cause;

/// Classes of clusters with one verdict each, ascending. Clusters that get what they should are in none; one that keeps
/// replicas only because they have no place elsewhere is in the class of its veto.
pub(super) fn verdicts(stage: &mut Stage<'_, '_>, id: AppId, deficits: &[Deficit]) -> Vec<(Verdict, ClusterSet)> {
    stage.look_around(id);
    let state = &stage.apps[id.index()];
    let used: ClusterSet = state.workloads.iter().flat_map(|w| &w.rows).map(|row| row.cluster).collect();
    let selected = state.clusters.clone();
    let short = Short {
        over_quota: deficits.iter().any(|deficit| matches!(deficit, Deficit::Quota { .. })),
        not_all: stage.view.app(id).lead.is_some_and(|lead| {
            stage.view.workload(id, lead).policy.capacity == Capacity::Require
                && deficits
                    .iter()
                    .any(|d| matches!(d, Deficit::Unplaced { workload, .. } if usize::from(*workload) == lead))
        }),
    };
    let mut classes: Vec<(Verdict, ClusterSet)> = Vec::new();
    for cluster in stage.view.fleet.cluster_ids() {
        let verdict = if used.contains(cluster) {
            let leaves = stage.view.releases_app(id, cluster).is_some();
            let veto = leaves.then(|| stage.view.veto(id, cluster)).flatten();
            veto.or_else(|| if stage.scope(id).keeps(cluster) { None } else { stage.out_of_scope(id, cluster) })
        } else {
            let vetoed = !stage.view.app(id).fresh.contains(cluster);
            let veto = if vetoed { stage.view.veto(id, cluster) } else { None };
            let veto = veto.or_else(|| stage.out_of_scope(id, cluster));
            veto.or_else(|| without_seats(stage, id, cluster, selected.contains(cluster), short))
        };
        if let Some(verdict) = verdict {
            // There are few classes, and neighbours are often alike.
            match classes.iter_mut().rev().find(|(known, _)| *known == verdict) {
                Some((_, clusters)) => clusters.insert(cluster),
                None => classes.push((verdict, [cluster].into_iter().collect())),
            }
        }
    }
    classes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    classes
}

/// What the app lacks as a whole.
#[derive(Clone, Copy)]
struct Short {
    over_quota: bool,
    /// The workload that leads is added whole or not at all, and not all of it fits.
    not_all: bool,
}

/// Why a cluster that nothing vetoes has no replica. The workload that leads speaks for the app.
fn without_seats(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    cluster: ClusterId,
    selected: bool,
    short: Short,
) -> Option<Verdict> {
    let Some(lead) = stage.view.app(id).lead else {
        return (!selected).then_some(Verdict::NotChosen);
    };
    let workload = stage.view.workload(id, lead);
    let bounds = bounds(workload, cluster);
    if !stage.view.allows(id, lead, cluster) {
        return Some(Verdict::ObjectRule);
    }
    if bounds.weight == 0 {
        return Some(Verdict::NoWeight);
    }
    let copied = workload.share == Share::Everywhere && !is_daemon(workload);
    let least = if copied { workload.replicas } else { 1 };
    if bounds.max.is_some_and(|max| max < least.max(bounds.min)) {
        return Some(Verdict::Bound);
    }
    if workload.policy.capacity != Capacity::Ignore
        && let Some(verdict) = no_room(stage, id, lead, cluster, least.max(bounds.min))
    {
        return Some(verdict);
    }
    Some(if short.over_quota {
        Verdict::Quota
    } else if short.not_all {
        Verdict::NotAll
    } else if selected && workload.share == Share::Divided && workload.policy.strategy != Some(Strategy::Aggregated) {
        if bounds.min > workload.replicas && is_static(&workload.policy) {
            Verdict::Bound
        } else {
            Verdict::RoundedToZero
        }
    } else {
        Verdict::NotChosen
    })
}

/// What is short for `least` replicas of a workload.
fn no_room(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, cluster: ClusterId, least: u32) -> Option<Verdict> {
    if stage.view.workload(id, workload).part.is_some() {
        return no_room_for_set(stage, id, workload, cluster);
    }
    let class = stage.view.class(id, workload, cluster)?;
    let least = stage.view.written(id, workload, cluster).unwrap_or(least);
    let room = stage.ledger.room(class, cluster)?;
    if stage.ledger.eligible(class, cluster).is_empty() {
        return Some(Verdict::NoEligiblePool);
    }
    if room >= u64::from(least) {
        return None;
    }
    match stage.ledger.shortage(class, cluster) {
        None => {
            let fits = i128::from(room);
            Some(Verdict::NoRoom { resource: "pods".into(), needed: i128::from(least), free: fits })
        }
        Some(shortage) => {
            let (resource, needed, largest) =
                (shortage.resource, i128::from(shortage.needed), i128::from(shortage.largest));
            Some(match shortage.cause {
                Cause::NotOffered | Cause::LargerThanNode => Verdict::LargerThanNode { resource, needed, largest },
                Cause::Overdrawn | Cause::Packing | Cause::UsedUp => {
                    Verdict::NoRoom { resource, needed, free: largest }
                }
            })
        }
    }
}

/// What is short for all pods of the set that a workload is a part of.
fn no_room_for_set(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, cluster: ClusterId) -> Option<Verdict> {
    if !stage.ledger.is_known(cluster) {
        return None;
    }
    let parts: Vec<_> = stage
        .view
        .fleet
        .app(id)
        .members(workload)
        .filter_map(|member| {
            let class = stage.view.class(id, member, cluster)?;
            let part = stage.view.workload(id, member);
            Some((part, class, stage.view.written(id, member, cluster).unwrap_or(part.replicas)))
        })
        .collect();
    let set: Vec<_> = parts.iter().map(|(_, class, pods)| (*class, *pods)).collect();
    let (at, fits, shortage) = stage.ledger.short_of_set(cluster, &set)?;
    let (part, _, pods) = parts.get(at)?;
    let Some(shortage) = shortage else { return Some(Verdict::NoEligiblePool) };
    Some(Verdict::NoRoomForSet {
        part: part.part.clone().unwrap_or_default(),
        pods: *pods,
        fits,
        resource: shortage.resource,
        needed: i128::from(shortage.needed),
        free: i128::from(shortage.largest),
    })
}
