//! Apps that stay where the record has them, whatever the schedule would do with them: those that a person froze, and
//! those on a move that is made in steps, which take the next step when the decider says so; all of them, where a compile
//! is asked for what is recorded and nothing else.
//!
//! A move holds for as long as what its target follows from is the same: what is wanted, how it is divided, what its pods
//! ask of a node, and the state of the clusters it leads to. When that changes, the app is scheduled from where it is, like any other.

use std::collections::BTreeSet;

use super::Scenario;
use super::conditions::{Conditions, conditions};
use super::filter::{Question, Release, release};
use crate::base::{AppId, ClusterId, DigestWriter, SmolStr};
use crate::kinds::pod::PodFacts;
use crate::model::{App, Fleet};
use crate::placements::{OpenMove, PlacedApp, Record};
use crate::variants::Variants;

/// Apps that are on a move that holds.
#[must_use]
pub fn moving(fleet: &Fleet, variants: &Variants, record: &Record, scenario: &Scenario) -> BTreeSet<AppId> {
    if record.moves.is_empty() {
        return BTreeSet::new();
    }
    let conditions = conditions(fleet, record, scenario);
    let evicted: BTreeSet<(&SmolStr, &SmolStr)> = scenario.evict.iter().map(|(team, app, _)| (team, app)).collect();
    let holds = |((team, name), open): (&(SmolStr, SmolStr), &OpenMove)| {
        let id = fleet.app_id(team, name)?;
        let placed = record.apps.get(&(team.clone(), name.clone()))?;
        let app = fleet.app(id);
        // What supposes a cluster lost supposes that of both ends.
        let lost = clusters(fleet, placed).chain(clusters(fleet, &open.target)).any(|cluster| {
            let conditions = &conditions[cluster.index()];
            conditions.supposed_lost || released(fleet, app, cluster, conditions) == Some(Release::Gone)
        });
        let holds = !lost
            && !evicted.contains(&(team, name))
            && intent_under(fleet, variants, &conditions, id, &open.target) == open.intent;
        holds.then_some(id)
    };
    record.moves.iter().filter_map(holds).collect()
}

/// Apps whose recorded placement stays as it is.
pub(super) fn held(fleet: &Fleet, variants: &Variants, record: &Record, scenario: &Scenario) -> BTreeSet<AppId> {
    let recorded = record.apps.keys().filter(|_| scenario.as_recorded);
    let named = record.suspended.iter().chain(recorded).filter_map(|(team, app)| fleet.app_id(team, app));
    named.chain(moving(fleet, variants, record, scenario)).collect()
}

/// The digest of what the target of a move follows from. Names, not ids, so that it outlives a change of the fleet.
#[must_use]
pub fn intent(fleet: &Fleet, variants: &Variants, record: &Record, id: AppId, target: &PlacedApp) -> SmolStr {
    intent_under(fleet, variants, &conditions(fleet, record, &Scenario::default()), id, target)
}

fn intent_under(
    fleet: &Fleet,
    variants: &Variants,
    conditions: &[Conditions],
    id: AppId,
    target: &PlacedApp,
) -> SmolStr {
    let app = fleet.app(id);
    let mut digest = DigestWriter::new();
    digest.part(b"fleetwright intent 2");
    for workload in &app.workloads {
        let policy = &workload.policy;
        digest.part(workload.key.as_bytes());
        digest.part(policy.digest.short().as_bytes());
        let counts = (workload.replicas, workload.share, policy.min, policy.max, policy.strategy, policy.capacity);
        digest.part(format!("{counts:?}").as_bytes());
    }
    // What somebody else wrote as the target is not what was decided.
    for (key, workload) in &target.workloads {
        digest.part(key.as_bytes());
        for seat in &workload.seats {
            digest.part(format!("{seat:?}").as_bytes());
        }
    }
    for tier in app.placement.tiers.iter().flat_map(|tiers| &tiers.groups) {
        digest.part(tier.name.as_bytes());
    }
    for (group, key) in [("affinity", &app.placement.affinity), ("antiAffinity", &app.placement.anti_affinity)] {
        let Some(key) = key else { continue };
        digest.part(group.as_bytes()).part(key.as_bytes());
        digest.part(app.labels.get(key).map(SmolStr::as_str).unwrap_or_default().as_bytes());
    }
    for spread in &app.placement.spread {
        digest.part(format!("{} {} {:?}", spread.key.as_str(), spread.min, spread.max).as_bytes());
    }
    let mut names: Vec<&SmolStr> = target
        .clusters
        .iter()
        .chain(target.workloads.values().flat_map(|w| &w.seats).map(|seat| &seat.cluster))
        .collect();
    names.sort();
    names.dedup();
    for name in names {
        digest.part(name.as_bytes());
        let Some(cluster) = fleet.cluster_id(name) else {
            digest.part(b"gone");
            continue;
        };
        let conditions = &conditions[cluster.index()];
        let state = (conditions.lifecycle, conditions.healthy, released(fleet, app, cluster, conditions));
        digest.part(format!("{state:?}").as_bytes());
        for object in &app.objects {
            digest.part(&[u8::from(object.only.as_ref().is_none_or(|only| only.contains(cluster)))]);
        }
        // What a pod asks of a node, whatever else its template says: a new image leads nowhere else.
        let pods = variants.apps.get(id.index()).map(|of| of.of(cluster).workloads.as_slice()).unwrap_or_default();
        for pod in pods.iter().map(|workload| workload.pod.as_deref()) {
            digest.part(asks(pod).as_bytes());
        }
        for pool in fleet.cluster(cluster).pools.iter().flatten() {
            digest.part(format!("{} {:?} {:?}", pool.name, pool.labels, pool.taints).as_bytes());
        }
    }
    digest.finish().short().into()
}

/// What decides where a pod fits.
fn asks(pod: Option<&PodFacts>) -> String {
    let Some(pod) = pod else { return String::new() };
    let PodFacts { requests, node_selector, required_affinity, tolerations, pvc_claims, host_ports, .. } = pod;
    format!("{requests:?} {node_selector:?} {required_affinity:?} {tolerations:?} {pvc_claims:?} {host_ports:?}")
}

/// Whether what is placed in a cluster leaves it because of what the cluster is. No release asks which kinds it serves.
fn released(fleet: &Fleet, app: &App, cluster: ClusterId, conditions: &Conditions) -> Option<Release> {
    release(&Question { fleet, app, needs: &[], cluster, conditions, evicted: false })
}

/// The clusters in which something is placed.
fn clusters<'a>(fleet: &'a Fleet, placed: &'a PlacedApp) -> impl Iterator<Item = ClusterId> + 'a {
    let seats = placed.workloads.values().flat_map(|w| &w.seats).map(|seat| &seat.cluster);
    placed.clusters.iter().chain(seats).filter_map(|name| fleet.cluster_id(name))
}
