//! `state/apps/`: what was observed of apps where they run.

use super::super::Lowering;
use crate::base::{FileId, SmolStr};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::App;
use crate::placements::{AppDoc, ObservedDoc, ObservedWorkload, Record};

/// Reads what was observed of an app. What is said of an app, a workload or a cluster that is gone counts for nothing, and is
/// reported: no such observation keeps anything from being placed.
pub(super) fn read(
    cx: &mut Lowering<'_>,
    file: FileId,
    named: &SmolStr,
    (name, app): ((SmolStr, SmolStr), Option<&App>),
    doc: &AppDoc,
    record: &mut Record,
) {
    let AppDoc { observed } = doc;
    let Some(app) = app else {
        if !cx.unread.apps() {
            let message =
                format!("App `{}/{}` was observed and is no longer there; nothing of it counts", name.0, name.1);
            cx.report(
                Diagnostic::new(codes::record::RECORD_GONE, Place::File(file), message)
                    .help("remove the file once the app is gone; otherwise correct its name, or restore the app"),
            );
        }
        return;
    };
    let read = !cx.unread.objects_of(&name.0);
    // what is recorded under the name of now is the newer
    let is_own = named.split_once('/') == Some((name.0.as_str(), name.1.as_str()));
    let of_app = record.observed.entry(name.clone()).or_default();
    for (workload, clusters) in observed {
        if read && !app.workloads.iter().any(|known| known.key == workload.value) {
            let message = format!(
                "workload `{}` of App `{}/{}` was observed and is no longer there; nothing of it counts",
                workload.value, name.0, name.1
            );
            cx.report(Diagnostic::new(codes::record::RECORD_GONE, Place::Span(file, workload.span), message));
            continue;
        }
        let of_workload = of_app.entry(workload.value.clone()).or_default();
        for (cluster, ObservedDoc { replicas, finished }) in clusters {
            if !cx.unread.clusters && !cx.clusters.iter().any(|known| known.name == cluster.value) {
                let message = format!(
                    "cluster `{}`, where App `{}/{}` was observed, has no file in clusters/; that does not count",
                    cluster.value, name.0, name.1
                );
                cx.report(Diagnostic::new(codes::record::RECORD_GONE, Place::Span(file, cluster.span), message));
                continue;
            }
            let seen = ObservedWorkload { replicas: *replicas, finished: finished.unwrap_or(false) };
            let entry = of_workload.entry(cluster.value.clone()).or_insert(seen);
            if is_own {
                *entry = seen;
            }
        }
    }
}
