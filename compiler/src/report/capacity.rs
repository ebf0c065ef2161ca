//! Warnings about what the room of a cluster is computed from, once for each cluster.

use std::collections::BTreeSet;

use crate::api::{Capacity, Strategy};
use crate::base::{ClusterId, SmolStr};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{App, Cluster, Fleet, Share};
use crate::placements::Record;
use crate::schedule::Target;
use crate::variants::{self, Variants};

/// Warns of clusters whose capacity is neither stated nor observed although an app that may go there is placed by room,
/// and of clusters that run replicas and overcommit a resource whose requests no override lowers there.
#[must_use]
pub fn capacity(fleet: &Fleet, variants: &Variants, record: &Record, target: &Target) -> Vec<Diagnostic> {
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
            && let Some(resources) =
                overcommitted(cluster, |resource| is_lowered(fleet, variants, target, id, resource))
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

/// The resources with a factor above 1, but for those that overrides account for.
fn overcommitted(cluster: &Cluster, is_lowered: impl Fn(&SmolStr) -> bool) -> Option<String> {
    let above = cluster.overcommit.iter().filter(|(_, (numerator, denominator))| numerator > denominator);
    let names: Vec<&str> = above.map(|(name, _)| name).filter(|name| !is_lowered(name)).map(SmolStr::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether pods that run in a cluster request a resource, and overrides lower what each of them requests there.
fn is_lowered(fleet: &Fleet, variants: &Variants, target: &Target, cluster: ClusterId, resource: &str) -> bool {
    let mut requested = false;
    for (id, placed) in fleet.app_ids().zip(&target.apps) {
        let Some(app) = variants.apps.get(id.index()) else { continue };
        for seat in placed.seats.iter().filter(|seat| seat.cluster == cluster) {
            let workload = usize::from(seat.workload);
            let now = app.of(cluster).workloads.get(workload).and_then(|w| w.pod.as_deref());
            let now = now.map_or(0, |pod| pod.requests.get(resource));
            let written = variants::requests_as_written(fleet.app(id), workload).map_or(0, |r| r.get(resource));
            if now > 0 && now >= written {
                return false;
            }
            requested |= written > 0;
        }
    }
    requested
}
