//! What the record holds and the intents do not: it has no place among the moves of an app's workloads.

use std::collections::{BTreeMap, BTreeSet};

use super::Removal;
use crate::base::{ClusterId, SmolStr};
use crate::model::Fleet;
use crate::placements::Record;

/// Recorded replicas of workloads and apps that are gone, ascending by (team, app, workload, cluster).
pub(super) fn removals(fleet: &Fleet, record: &Record) -> Vec<Removal> {
    let mut removals = Vec::new();
    for ((team, app), placed) in &record.apps {
        let known = fleet.app_id(team, app).map(|id| fleet.app(id));
        let keys: BTreeSet<&SmolStr> = known.iter().flat_map(|app| &app.workloads).map(|w| &w.key).collect();
        for (workload, placed) in placed.workloads.iter().filter(|(key, _)| !keys.contains(key)) {
            let mut before: BTreeMap<ClusterId, u32> = BTreeMap::new();
            for seat in &placed.seats {
                if let Some(cluster) = fleet.cluster_id(&seat.cluster) {
                    let replicas = before.entry(cluster).or_default();
                    *replicas = replicas.saturating_add(seat.replicas);
                }
            }
            removals.extend(before.into_iter().filter(|(_, before)| *before > 0).map(|(cluster, before)| Removal {
                team: team.clone(),
                app: app.clone(),
                workload: workload.clone(),
                cluster,
                before,
                with_app: known.is_none(),
            }));
        }
    }
    removals
}
