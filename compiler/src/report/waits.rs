//! Apps that would wait for ever: what they depend on does not go where they go.

use std::collections::BTreeSet;

use crate::base::{AppId, ClusterId};
use crate::diag::{Diagnostic, Place, codes, some_of};
use crate::model::Fleet;
use crate::plan::Plan;

/// One warning for each app and each of those it waits for that does not go to all of its clusters.
#[must_use]
pub fn waits(fleet: &Fleet, plan: &Plan) -> Vec<Diagnostic> {
    let clusters = |id: AppId| -> BTreeSet<ClusterId> {
        let planned = plan.apps.get(id.index()).into_iter().flat_map(|app| &app.objects);
        planned.map(|object| object.cluster).collect()
    };
    let mut found = Vec::new();
    for id in fleet.app_ids().filter(|id| !fleet.app(*id).depends_on.is_empty()) {
        let app = fleet.app(id);
        let here = clusters(id);
        for other in &app.depends_on {
            let without = clusters(*other);
            let alone = here.difference(&without).map(|cluster| fleet.cluster(*cluster).name.to_string());
            let alone: Vec<String> = alone.collect();
            if alone.is_empty() {
                continue;
            }
            let message = format!(
                "App `{}` waits for `{}`, which does not go to {}: there it is not applied",
                fleet.app_name(id),
                fleet.app_name(*other),
                some_of("cluster", &alone)
            );
            found.push(
                Diagnostic::new(codes::placement::WAITS_ELSEWHERE, Place::Span(app.file, app.name_span), message)
                    .help("place both in the same clusters, or take it out of `dependsOn`"),
            );
        }
    }
    found
}
