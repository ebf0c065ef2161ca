//! The numbers of a divided StatefulSet's pods: no two clusters may run a pod of the same name.
//!
//! `spec.ordinals.start` (KEP-3335, stable since Kubernetes 1.31) numbers the pods of a StatefulSet from there. Overrides give
//! each cluster a range of its own. Here a range is as long as the most replicas that the cluster may get in any phase of the
//! app's tide, and as what the record has there: neither a division nor a change of clusters on its way makes ranges meet.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Variants;
use crate::base::{AppId, ClusterId};
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::{Fleet, Share, Workload, WorkloadKind, bounds, tides};
use crate::placements::Record;

/// The number of the first pod, 0 where it is not stated. What is no number there the schema of the kind has refused.
pub(super) fn first(kind: WorkloadKind, object: &Value) -> u32 {
    let start = object.pointer("/spec/ordinals/start").filter(|_| kind == WorkloadKind::StatefulSet);
    start.and_then(Value::as_u64).map_or(0, |start| u32::try_from(start).unwrap_or(u32::MAX))
}

/// What is wrong with the number of the first pod, by pointer.
pub(super) fn wrong_start(kind: &str, object: &Value) -> Option<(String, String)> {
    const AT: &str = "/spec/ordinals/start";
    let start = object.pointer(AT).filter(|start| kind == "StatefulSet" && !start.is_null())?;
    let fits = start.as_i64().is_some_and(|start| (0..=i64::from(i32::MAX)).contains(&start));
    (!fits).then(|| (AT.to_owned(), format!("{start} is no number of a pod: expected 0 to {}", i32::MAX)))
}

/// The numbers of the pods that a cluster may run; the last is not one of them.
struct Range {
    first: u32,
    end: u64,
    cluster: ClusterId,
}

/// Reports every divided StatefulSet of which two clusters may run the same pod.
pub(super) fn report(fleet: &Fleet, variants: &Variants, record: &Record, diagnostics: &mut Diagnostics) {
    for id in fleet.app_ids() {
        let divided = |(_, workload): &(usize, &Workload)| {
            workload.kind == WorkloadKind::StatefulSet && workload.share == Share::Divided
        };
        for (index, workload) in fleet.app(id).workloads.iter().enumerate().filter(divided) {
            let mut ranges = ranges(fleet, variants, record, id, (index, workload));
            ranges.sort_by_key(|range| (range.first, range.cluster));
            let shared = ranges.windows(2).find_map(|pair| match pair {
                [a, b] if a.end > u64::from(b.first) => Some((a, b)),
                _ => None,
            });
            if let Some((a, b)) = shared {
                diagnostics.push(diagnostic(fleet, id, workload, a, b));
            }
        }
    }
}

/// Where it may run, or is recorded, and has pods.
fn ranges(
    fleet: &Fleet,
    variants: &Variants,
    record: &Record,
    id: AppId,
    (index, workload): (usize, &Workload),
) -> Vec<Range> {
    let app = fleet.app(id);
    let Some(variants) = variants.apps.get(id.index()) else { return Vec::new() };
    let tide = fleet.tides.iter().find(|tide| tide.apps.binary_search(&id).is_ok()).map(AsRef::as_ref);
    let phases = tides::in_every_phase(tide, workload);
    let only = app.objects.get(workload.object).and_then(|object| object.only.as_ref());
    let allowed = app.placement.candidates.iter().filter(|cluster| only.is_none_or(|only| only.contains(*cluster)));
    // What an autoscaler owns no override writes; what one writes runs whatever the share is.
    let written = |cluster: ClusterId| {
        let variant = variants.of(cluster).workloads.get(index).filter(|_| workload.autoscaled.is_none())?;
        variant.replicas
    };
    let scaled = |cluster: ClusterId| variants.of(cluster).workloads.get(index)?.bounds.map(|(_, most)| most);
    let mut most: BTreeMap<ClusterId, u32> = allowed
        .map(|cluster| (cluster, phases.iter().map(|phase| most_in(phase, cluster)).max().unwrap_or(0)))
        .filter(|(_, most)| *most > 0)
        .map(|(cluster, most)| (cluster, written(cluster).or_else(|| scaled(cluster)).unwrap_or(most)))
        .collect();
    for (cluster, replicas) in recorded(fleet, record, id, workload) {
        let most = most.entry(cluster).or_default();
        *most = written(cluster).or_else(|| scaled(cluster)).unwrap_or_else(|| (*most).max(replicas));
    }
    let range = |(cluster, most): (ClusterId, u32)| {
        let first = variants.of(cluster).workloads.get(index)?.first_ordinal;
        (most > 0).then(|| Range { first, end: u64::from(first) + u64::from(most), cluster })
    };
    most.into_iter().filter_map(range).collect()
}

/// The most replicas that a cluster may get: no more than there are, and what its rules allow there. Those bound what is
/// divided, the minimum of an autoscaler; its maximum follows, and may all be in one cluster.
fn most_in(workload: &Workload, cluster: ClusterId) -> u32 {
    let bounds = bounds(workload, cluster);
    match workload.autoscaled {
        _ if bounds.weight == 0 => 0,
        Some(autoscaled) if !autoscaled.policy.divides_max() => autoscaled.max,
        Some(autoscaled) => bounds.max.map_or(autoscaled.max, |most| most.min(autoscaled.max)),
        None => bounds.max.map_or(workload.replicas, |most| most.min(workload.replicas)),
    }
}

/// What the record has of it, by cluster of the fleet; of what an autoscaler owns, the most that it may make of it there.
fn recorded(fleet: &Fleet, record: &Record, id: AppId, workload: &Workload) -> BTreeMap<ClusterId, u32> {
    let app = fleet.app(id);
    let placed = record.apps.get(&(fleet.team(app.team).name.clone(), app.name.clone()));
    let seats = placed.and_then(|placed| placed.workloads.get(&workload.key)).into_iter().flat_map(|w| &w.seats);
    let mut rows: BTreeMap<ClusterId, u32> = BTreeMap::new();
    for seat in seats {
        if let Some(cluster) = fleet.cluster_id(&seat.cluster) {
            let sum = rows.entry(cluster).or_default();
            *sum = sum.saturating_add(seat.bounds.map_or(seat.replicas, |(_, max)| max));
        }
    }
    rows
}

fn diagnostic(fleet: &Fleet, id: AppId, workload: &Workload, a: &Range, b: &Range) -> Diagnostic {
    let object = &fleet.app(id).objects[workload.object];
    let (name, shared) = (&object.key.name, b.first);
    let pods = |range: &Range| format!("{name}-{} to {name}-{}", range.first, range.end.saturating_sub(1));
    let (one, other) = (&fleet.cluster(a.cluster).name, &fleet.cluster(b.cluster).name);
    let message = format!(
        "{} cannot be divided: `{name}-{shared}` could run in two clusters, {one} ({}) and {other} ({})",
        object.key,
        pods(a),
        pods(b)
    );
    let place = Place::Span(object.file, object.facts.name_span);
    Diagnostic::new(codes::placement::STATEFULSET_DIVIDED, place, message).help(
        "give each cluster numbers of its own with an override of `spec.ordinals.start`, further apart than the most replicas \
         it may get in any phase of a tide (`perCluster.max`, or `max` of a weight) or has now; or leave it on one cluster, or \
         ask for Duplicated",
    )
}
