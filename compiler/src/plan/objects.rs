//! Which object goes to which cluster, and what is written into it.

use std::collections::BTreeMap;

use super::{Fill, PlannedObject};
use crate::base::{AppId, ClusterId};
use crate::model::{App, ClusterSet, Fleet, Share, Workload, WorkloadKind};
use crate::schedule::AppTarget;
use crate::variants::{AppVariants, Variants};

/// A workload's share of a cluster, over all its pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClusterShare {
    pub replicas: u32,
    pub completions: Option<u32>,
    pub bounds: Option<(u32, u32)>,
}

/// The shares of every workload of an app, by workload and cluster.
pub(super) fn shares(app: &App, target: &AppTarget) -> Vec<BTreeMap<ClusterId, ClusterShare>> {
    let mut shares: Vec<BTreeMap<ClusterId, ClusterShare>> = vec![BTreeMap::new(); app.workloads.len()];
    for seat in &target.seats {
        let Some(by_cluster) = shares.get_mut(usize::from(seat.workload)) else { continue };
        let share = by_cluster.entry(seat.cluster).or_default();
        share.replicas = share.replicas.saturating_add(seat.replicas);
        share.completions = match (share.completions, seat.completions) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        share.bounds = match (share.bounds, seat.bounds) {
            (Some((least, most)), Some((min, max))) => Some((least.saturating_add(min), most.saturating_add(max))),
            (a, b) => a.or(b),
        };
    }
    shares
}

/// The objects of an app, ascending by (cluster, object).
pub(super) fn objects(
    fleet: &Fleet,
    id: AppId,
    all: &Variants,
    target: &AppTarget,
    shares: &[BTreeMap<ClusterId, ClusterShare>],
) -> Vec<PlannedObject> {
    let app = fleet.app(id);
    let Some(variants) = all.apps.get(id.index()) else { return Vec::new() };
    let present = present(app, target, shares);
    let mut workload_of: Vec<Option<usize>> = vec![None; app.objects.len()];
    for (index, workload) in app.workloads.iter().enumerate() {
        // The parts of a set are in the same clusters; one without pods is in none.
        if let Some(slot) = workload_of.get_mut(workload.object)
            && slot.is_none_or(|known| app.workloads.get(known).is_none_or(|known| known.replicas == 0))
        {
            *slot = Some(index);
        }
    }
    let mut planned = Vec::new();
    for cluster in present.iter() {
        for (number, (object, workload)) in (0_u32..).zip(app.objects.iter().zip(&workload_of)) {
            // A workload's own clusters were minded when it was placed; what keeps for want of a place stays.
            let fill = match workload.and_then(|index| Some((index, app.workloads.get(index)?))) {
                Some((index, workload)) => match shares.get(index).and_then(|s| s.get(&cluster)) {
                    Some(share) => Some(fill(workload, variants, index, cluster, *share)),
                    None if workload.replicas == 0 => allowed(object.only.as_ref(), cluster)
                        .then(|| fill(workload, variants, index, cluster, none_of(workload))),
                    None => None,
                },
                None if !allowed(object.only.as_ref(), cluster) => None,
                None => {
                    match app.workloads.iter().position(|w| w.autoscaled.is_some_and(|a| a.object == number as usize)) {
                        None => Some(Fill::AsIs),
                        // An autoscaler is where what it scales is.
                        Some(index) => {
                            shares.get(index).and_then(|s| s.get(&cluster)).and_then(|share| share.bounds).map(
                                |(min, max)| {
                                    let variant = variants.of(cluster).workloads.get(index);
                                    let stated = variant.is_some_and(|variant| variant.bounds.is_some());
                                    if stated { Fill::AsIs } else { Fill::Bounds { min, max } }
                                },
                            )
                        }
                    }
                }
            };
            planned.extend(fill.map(|fill| PlannedObject { cluster, object: number, fill }));
        }
    }
    planned
}

/// Where an app is at all: where any of its workloads runs, or every selected cluster where none has replicas.
fn present(app: &App, target: &AppTarget, shares: &[BTreeMap<ClusterId, ClusterShare>]) -> ClusterSet {
    if app.workloads.iter().all(|workload| workload.replicas == 0) {
        target.clusters.clone()
    } else {
        shares.iter().flat_map(BTreeMap::keys).copied().collect()
    }
}

fn allowed(only: Option<&ClusterSet>, cluster: ClusterId) -> bool {
    only.is_none_or(|only| only.contains(cluster))
}

fn none_of(workload: &Workload) -> ClusterShare {
    ClusterShare { replicas: 0, completions: workload.completions, bounds: None }
}

fn fill(workload: &Workload, variants: &AppVariants, index: usize, cluster: ClusterId, share: ClusterShare) -> Fill {
    if !workload.kind.is_counted() {
        return Fill::AsIs;
    }
    if workload.autoscaled.is_some() {
        return Fill::Owned { replicas: share.replicas };
    }
    // An undivided Job keeps the parallelism of its manifest, which may be more than it has completions.
    let whole_job = workload.kind == WorkloadKind::Job
        && workload.share != Share::Divided
        && workload.policy.total.is_none()
        && share.replicas == workload.replicas;
    if whole_job {
        return Fill::AsIs;
    }
    let overridden = variants.of(cluster).workloads.get(index);
    let replicas = Some(share.replicas).filter(|_| overridden.is_none_or(|w| w.replicas.is_none()));
    let completions = share.completions.filter(|_| overridden.is_none_or(|w| !w.completions));
    match (replicas, completions) {
        (None, None) => Fill::AsIs,
        (replicas, completions) => Fill::Share { replicas, completions },
    }
}

/// The number in the manifest: the share, or what an override writes instead.
pub(super) fn written(variants: &AppVariants, workload: usize, cluster: ClusterId, share: u32) -> u32 {
    variants.of(cluster).workloads.get(workload).and_then(|w| w.replicas).unwrap_or(share)
}
