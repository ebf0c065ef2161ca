//! Resources under quota that a pod does not state. Kubernetes refuses such a pod where a ResourceQuota counts the
//! resource, and here it would count as nothing.
//!
//! As `podEvaluator.Constraints` of Kubernetes: cpu and memory only, every container and init container, unless the pod
//! states resources as a whole.

use std::collections::BTreeSet;

use super::Variants;
use crate::base::SmolStr;
use crate::diag::{Diagnostic, Diagnostics, Place, codes, some_of};
use crate::kinds::pod::PodFacts;
use crate::model::{ClusterSet, Fleet, Quota};

/// Reports each workload with a container that leaves out what its team's quota counts, once.
pub(super) fn check(fleet: &Fleet, variants: &Variants, diagnostics: &mut Diagnostics) {
    for (app, app_variants) in fleet.apps.iter().zip(&variants.apps) {
        let team = fleet.team(app.team);
        for (index, workload) in app.workloads.iter().enumerate() {
            let mut resources: BTreeSet<&SmolStr> = BTreeSet::new();
            let mut containers: BTreeSet<&SmolStr> = BTreeSet::new();
            let mut span = None;
            for quota in &team.quota {
                // only where the quota counts does it matter
                let counted: ClusterSet = app.placement.candidates.and(&quota.clusters);
                let used: BTreeSet<usize> = counted.iter().map(|cluster| app_variants.index_of(cluster)).collect();
                for variant in used.iter().filter_map(|i| app_variants.variants.get(*i)) {
                    let Some(pod) = variant.workloads.get(index).and_then(|w| w.pod.as_deref()) else { continue };
                    for (resource, container) in unstated(quota, pod) {
                        span.get_or_insert(quota.span);
                        resources.insert(resource);
                        containers.insert(container);
                    }
                }
            }
            let Some(span) = span else { continue };
            let object = &app.objects[workload.object];
            let containers: Vec<&SmolStr> = containers.into_iter().collect();
            let resources: Vec<&str> = resources.into_iter().map(SmolStr::as_str).collect();
            let message =
                format!("{}: {} of it without {}, which the quota of team `{}` counts",
                    object.key, some_of("container", &containers), resources.join(" and "), team.name);
            diagnostics.push(
                Diagnostic::new(
                    codes::rights::QUOTA_NEEDS_REQUESTS,
                    Place::Span(object.file, object.facts.name_span),
                    message,
                )
                .related(Place::Span(team.file, span), "the quota")
                .help("state the request (or the limit) in every container"),
            );
        }
    }
}

/// Resources of the quota and containers that do not state them.
fn unstated<'a>(quota: &'a Quota, pod: &'a PodFacts) -> impl Iterator<Item = (&'a SmolStr, &'a SmolStr)> {
    let containers = pod.containers.iter().filter(|_| !pod.pod_level_resources);
    containers.flat_map(|container| {
        quota.hard.keys().filter_map(move |resource| {
            let stated = match resource.as_str() {
                "cpu" | "memory" => container.requests.contains(resource),
                "requests.cpu" => container.requests.contains("cpu"),
                "requests.memory" => container.requests.contains("memory"),
                "limits.cpu" => container.limits.contains("cpu"),
                "limits.memory" => container.limits.contains("memory"),
                _ => true,
            };
            (!stated).then_some((resource, &container.name))
        })
    })
}
