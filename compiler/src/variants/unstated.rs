//! Resources under a quota that a pod does not state.
//!
//! Kubernetes refuses such a pod under a ResourceQuota on that resource; here it would count as nothing. Source: the quota
//! admission plugin of Kubernetes, which reads every container.

use std::collections::BTreeMap;

use super::Variants;
use crate::base::{AppId, SmolStr};
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::Fleet;

/// What the quotas of its team count and a workload does not state: `requests.cpu (container `main`)`, by resource.
#[must_use]
pub fn unstated(fleet: &Fleet, variants: &Variants, app: AppId, workload: usize) -> Vec<String> {
    let mut unstated: BTreeMap<&SmolStr, &SmolStr> = BTreeMap::new();
    let Some(variants) = variants.apps.get(app.index()) else { return Vec::new() };
    let pods = variants.variants.iter().filter_map(|v| v.workloads.get(workload)?.pod.as_deref());
    for pod in pods {
        for name in fleet.team(fleet.app(app).team).quota.iter().flat_map(|quota| quota.hard.keys()) {
            if let Some(container) = pod.unset(name).first() {
                unstated.entry(name).or_insert(container);
            }
        }
    }
    unstated.iter().map(|(name, container)| format!("{name} (container `{container}`)")).collect()
}

/// Reports every workload once, with the resources and the containers that do not state them.
pub(super) fn report(fleet: &Fleet, variants: &Variants, diagnostics: &mut Diagnostics) {
    for id in fleet.app_ids() {
        let app = fleet.app(id);
        let team = fleet.team(app.team);
        for (index, workload) in app.workloads.iter().enumerate() {
            let object = &app.objects[workload.object];
            let list = unstated(fleet, variants, id, index);
            if !list.is_empty() {
                diagnostics.push(
                    Diagnostic::new(
                        codes::rights::QUOTA_NEEDS_REQUESTS,
                        Place::Span(object.file, object.facts.name_span),
                        format!("{} does not state what the team's quota counts: {}", object.key, list.join(", ")),
                    )
                    .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                    .help("state it in every container; it counts as nothing until then"),
                );
            }
        }
    }
}
