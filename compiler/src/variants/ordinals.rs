//! The numbers of a divided StatefulSet's pods: no two clusters may run a pod of the same name.
//!
//! `spec.ordinals.start` (KEP-3335, stable since Kubernetes 1.31) numbers the pods of a StatefulSet from there. Overrides give
//! each cluster a range of its own, and here it is held against the most replicas that the cluster may get, so that it stays
//! true however the replicas are divided later.

use serde_json::Value;

use super::Variants;
use crate::base::{AppId, ClusterId};
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::{Fleet, Share, Workload, WorkloadKind};

/// The number of the first pod, 0 where it is not stated. What is no number there the schema of the kind has refused.
pub(super) fn first(kind: WorkloadKind, object: &Value) -> u32 {
    let start = object.pointer("/spec/ordinals/start").filter(|_| kind == WorkloadKind::StatefulSet);
    start.and_then(Value::as_u64).map_or(0, |start| u32::try_from(start).unwrap_or(u32::MAX))
}

/// The numbers of the pods that a cluster may run; the last is not one of them.
struct Range {
    first: u32,
    end: u64,
    cluster: ClusterId,
}

/// Reports every divided StatefulSet of which two clusters may run the same pod.
pub(super) fn report(fleet: &Fleet, variants: &Variants, diagnostics: &mut Diagnostics) {
    for id in fleet.app_ids() {
        let divided = |(_, workload): &(usize, &Workload)| {
            workload.kind == WorkloadKind::StatefulSet && workload.share == Share::Divided
        };
        for (index, workload) in fleet.app(id).workloads.iter().enumerate().filter(divided) {
            let mut ranges = ranges(fleet, variants, id, (index, workload));
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

/// Where it may run, and has pods.
fn ranges(fleet: &Fleet, variants: &Variants, id: AppId, (index, workload): (usize, &Workload)) -> Vec<Range> {
    let Some(variants) = variants.apps.get(id.index()) else { return Vec::new() };
    let range = |cluster: ClusterId| {
        let variant = variants.of(cluster).workloads.get(index)?;
        let most = variant.replicas.unwrap_or_else(|| workload.most_in(cluster));
        let first = variant.first_ordinal;
        (most > 0).then(|| Range { first, end: u64::from(first) + u64::from(most), cluster })
    };
    fleet.app(id).placement.candidates.iter().filter_map(range).collect()
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
         it may get (`perCluster.max`, or `max` of a weight); or leave it on one cluster, or ask for Duplicated",
    )
}
