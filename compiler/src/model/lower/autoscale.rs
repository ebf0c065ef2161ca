//! HorizontalPodAutoscalers and the workloads whose replicas they own.
//!
//! What is divided of such a workload is a bound of its autoscaler, in equal shares; the manifest's own replicas mean
//! nothing, and are not written.

use super::{Lowering, placement};
use crate::diag::{Diagnostic, Place, codes};
use crate::kinds::replicas::{CustomForm, WorkloadKind};
use crate::model::{Autoscaled, Object, Share, Workload};

/// Gives workloads their autoscalers. `own_total` says which state a `total` of their own.
pub(super) fn apply(
    cx: &mut Lowering<'_>,
    objects: &[Object],
    workloads: &mut [Workload],
    own_total: &[bool],
    total: Option<&placement::Total>,
) {
    for (index, object) in objects.iter().enumerate() {
        let Some(autoscaler) = &object.facts.autoscaler else { continue };
        let scales = |workload: &Workload| {
            let target = &objects[workload.object].key;
            let same = target.kind == autoscaler.kind && target.name == autoscaler.name;
            same && target.group == autoscaler.group && target.namespace == object.key.namespace
        };
        let Some(at) = workloads.iter().position(scales) else { continue };
        let place = || Place::Span(object.file, object.facts.name_span);
        let workload = &mut workloads[at];
        if !matches!(
            workload.kind,
            WorkloadKind::Deployment
                | WorkloadKind::ReplicaSet
                | WorkloadKind::ReplicationController
                | WorkloadKind::StatefulSet
                | WorkloadKind::Custom(CustomForm::Divisible | CustomForm::Undivided)
        ) {
            continue;
        }
        if let Some(other) = workload.autoscaled {
            let other = &objects[other.object];
            let message = format!("two HorizontalPodAutoscalers scale {}", workload.key);
            cx.report(
                Diagnostic::new(codes::placement::CONTRADICTION, place(), message)
                    .related(Place::Span(other.file, other.facts.name_span), "the other one")
                    .help("keep one of them"),
            );
            continue;
        }
        if own_total.get(at).copied().unwrap_or(false) || (total.is_some() && workload.policy.total.is_some()) {
            let message = format!("`total` is stated for {}, whose replicas this autoscaler owns", workload.key);
            cx.report(
                Diagnostic::new(codes::placement::CONTRADICTION, place(), message)
                    .help("remove `total`: `minReplicas` and `maxReplicas` are divided"),
            );
        }
        let min = autoscaler.min.max(1);
        let max = autoscaler.max.max(min);
        let policy = &workload.policy;
        let least_max = max.div_ceil(min);
        if let Some(most) = policy.max.filter(|most| *most < least_max)
            && workload.share == Share::Divided
            && policy.autoscaled.divides_max()
        {
            let message = format!(
                "`maxReplicas: {max}` of {} does not fit into {min} cluster{} of at most {most} replicas each: so many clusters \
                 does `minReplicas` allow",
                workload.key,
                if min == 1 { "" } else { "s" },
            );
            cx.report(Diagnostic::new(codes::placement::CONTRADICTION, place(), message).help(format!(
                "raise `replicas.perCluster.max` to {least_max} or `minReplicas` to {}, or lower `maxReplicas` to {}",
                max.div_ceil(most.max(1)),
                most.saturating_mul(min).max(min),
            )));
        }
        workload.own(Autoscaled { object: index, min, max, policy: workload.policy.autoscaled });
    }
}
