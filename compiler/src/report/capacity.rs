//! Warnings about what the room of a cluster is computed from, once for each cluster.

use std::collections::BTreeSet;

use crate::api::{Capacity, Strategy};
use crate::base::ClusterId;
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{App, Cluster, Fleet, Share};
use crate::placements::Record;
use crate::schedule::Target;

/// Warns of clusters whose capacity is neither stated nor observed although an app that may go there is placed by room,
/// and of clusters that run replicas and overcommit a resource.
#[must_use]
pub fn capacity(fleet: &Fleet, record: &Record, target: &Target) -> Vec<Diagnostic> {
    let asked: BTreeSet<ClusterId> =
        fleet.apps.iter().filter(|app| needs_room(app)).flat_map(|app| app.placement.candidates.iter()).collect();
    let used: BTreeSet<ClusterId> = target.apps.iter().flat_map(|app| &app.seats).map(|seat| seat.cluster).collect();
    let mut found = Vec::new();
    for id in fleet.cluster_ids() {
        let cluster = fleet.cluster(id);
        let place = Place::Span(cluster.file, cluster.name_span);
        let is_observed = record.clusters.get(&cluster.name).is_some_and(|observed| observed.capacity.is_some());
        if asked.contains(&id) && cluster.pools.is_none() && !is_observed {
            let message = format!(
                "the capacity of {} is not known, so it counts as large enough for everything that is placed by room",
                cluster.name
            );
            found.push(
                Diagnostic::new(codes::placement::UNKNOWN_CAPACITY, place.clone(), message).help("state `nodePools`"),
            );
        }
        if used.contains(&id)
            && let Some(resources) = overcommitted(cluster)
        {
            let message =
                format!("{} overcommits {resources}; kube-scheduler does not, and pods can stay Pending", cluster.name);
            found.push(
                Diagnostic::new(codes::placement::OVERCOMMIT, place, message)
                    .help("lower the requests in this cluster with an override as well, or remove `overcommit`"),
            );
        }
    }
    found
}

/// Whether unknown room decides where an app goes: it is divided by room, or only placed where all of it fits.
fn needs_room(app: &App) -> bool {
    app.workloads.iter().filter(|workload| workload.share == Share::Divided).any(|workload| {
        let by_room = match workload.policy.strategy {
            Some(Strategy::DynamicWeight | Strategy::Aggregated) => true,
            Some(Strategy::StaticWeight | Strategy::Duplicated) | None => false,
        };
        by_room || workload.policy.capacity == Capacity::Require
    })
}

/// The resources with a factor above 1.
fn overcommitted(cluster: &Cluster) -> Option<String> {
    let names = cluster.overcommit.iter().filter(|(_, (numerator, denominator))| numerator > denominator);
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
