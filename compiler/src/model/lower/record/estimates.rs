//! `state/estimates/`: room as an estimator sees it, for `weighBy`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::Lowering;
use crate::base::{FileId, SmolStr};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::App;
use crate::placements::{EstimateDoc, Estimates, Record};

/// Reads the rows of an estimator. A row of a team or cluster that is gone counts for nothing, and is said.
pub(super) fn read(cx: &mut Lowering<'_>, file: FileId, rows: &[EstimateDoc]) -> Estimates {
    let mut found = Estimates::new();
    for EstimateDoc { team, cluster, pool, room } in rows {
        let no_team = !cx.unread.teams && !cx.teams.iter().any(|known| known.name == team.value);
        let no_cluster = !cx.unread.clusters && !cx.clusters.iter().any(|known| known.name == cluster.value);
        for (what, name) in [("team", team)]
            .into_iter()
            .filter(|_| no_team)
            .chain([("cluster", cluster)].into_iter().filter(|_| no_cluster))
        {
            let message = format!("an estimate is recorded for {what} `{}`, which is not there", name.value);
            cx.report(Diagnostic::new(codes::record::RECORD_GONE, Place::Span(file, name.span), message));
        }
        let of = found.entry((team.value.clone(), cluster.value.clone())).or_default();
        if of.insert(pool.clone(), *room).is_some() {
            super::twice(cx, file, cluster, &format!("the room for team `{}` in `{}`", team.value, cluster.value));
        }
    }
    found
}

/// Reports estimators that apps weigh by and that say nothing: those apps are weighed by room.
pub(super) fn missing(cx: &mut Lowering<'_>, apps: &[Arc<App>], record: &Record) {
    for app in apps {
        let named = app.workloads.iter().filter_map(|workload| workload.policy.weigh_by.as_ref());
        let absent: BTreeSet<&SmolStr> = named.filter(|name| !record.estimates.contains_key(*name)).collect();
        for name in absent {
            let place = Place::Span(app.file, app.name_span);
            let message =
                format!("App `{}` is weighed by `{name}`, and there is no state/estimates/{name}.yaml", app.name);
            cx.report(
                Diagnostic::new(codes::placement::NO_ESTIMATES, place, message)
                    .help("until there is one, it is weighed by the room of node pools, as `weighBy: Available` is"),
            );
        }
    }
}
