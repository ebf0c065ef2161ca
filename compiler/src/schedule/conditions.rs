//! What is known of each cluster beyond its file: the file and the record taken together.

use crate::api::Lifecycle;
use crate::base::taint::Taint;
use crate::model::{Cluster, Fleet};
use crate::placements::{Observed, OutageState, Record};

use super::Scenario;

/// What decides whether a cluster takes replicas.
#[derive(Clone, Debug)]
pub(super) struct Conditions {
    /// The stricter of the Cluster file and `state/lifecycle/`.
    pub lifecycle: Lifecycle,
    /// Whether it answers and is not being cleaned.
    pub healthy: bool,
    /// Whether the scenario supposes it lost.
    pub supposed_lost: bool,
    /// Of the Cluster file, then of `state/taints/`.
    pub taints: Vec<Taint>,
}

/// By cluster id.
pub(super) fn conditions(fleet: &Fleet, record: &Record, scenario: &Scenario) -> Vec<Conditions> {
    let of = |cluster: &Cluster| {
        let observed = record.clusters.get(&cluster.name);
        let taints = observed.map(|o| o.taints.as_slice()).unwrap_or_default();
        Conditions {
            lifecycle: observed.and_then(|o| o.lifecycle).map_or(cluster.lifecycle, |l| l.max(cluster.lifecycle)),
            healthy: is_healthy(observed),
            supposed_lost: scenario.lose.contains(&cluster.name),
            taints: cluster.taints.iter().chain(taints).cloned().collect(),
        }
    };
    fleet.clusters.iter().map(|cluster| of(cluster)).collect()
}

fn is_healthy(observed: Option<&Observed>) -> bool {
    match observed.and_then(|o| o.outage) {
        None | Some(OutageState::Ready) => true,
        Some(OutageState::Lost | OutageState::Quarantined) => false,
    }
}
