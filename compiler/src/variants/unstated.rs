//! Resources under a quota that a pod does not state.
//!
//! Kubernetes refuses such a pod under a ResourceQuota on that resource; here it would count as nothing. Source: the quota
//! admission plugin of Kubernetes, which reads every container.

use std::collections::BTreeMap;

use super::Variants;
use crate::base::SmolStr;
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::Fleet;

/// Reports every workload once, with the resources and the containers that do not state them.
pub(super) fn report(fleet: &Fleet, variants: &Variants, diagnostics: &mut Diagnostics) {
    for (app, variants) in fleet.apps.iter().zip(&variants.apps) {
        let team = fleet.team(app.team);
        for (index, workload) in app.workloads.iter().enumerate() {
            let mut unstated: BTreeMap<&SmolStr, &SmolStr> = BTreeMap::new();
            let pods = variants.variants.iter().filter_map(|v| v.workloads.get(index)?.pod.as_deref());
            for pod in pods {
                for name in team.quota.iter().flat_map(|quota| quota.hard.keys()) {
                    if let Some(container) = pod.unset(name).first() {
                        unstated.entry(name).or_insert(container);
                    }
                }
            }
            let object = &app.objects[workload.object];
            let list: Vec<String> = unstated.iter().map(|(name, c)| format!("{name} (container `{c}`)")).collect();
            if !list.is_empty() {
                diagnostics.push(
                    Diagnostic::new(
                        codes::rights::QUOTA_NEEDS_REQUESTS,
                        Place::Span(object.file, object.facts.name_span),
                        format!("{} does not state what the team's quota counts: {}", object.key, list.join(", ")),
                    )
                    .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                    .help("state it in every container: Kubernetes refuses such pods under a quota, and here they would count as nothing"),
                );
            }
        }
    }
}
