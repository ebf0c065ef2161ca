//! Numbers of the intents, supposed to be others.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::Strategy;
use crate::base::{AppId, ClusterId, DigestWriter, SmolStr};
use crate::model::{Autoscaled, ClusterSet, Fleet, Share, WeightRule, Workload};
use crate::placements::Record;

/// What is supposed to be written otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Replicas of a workload (the fewest, where an autoscaler owns them): of all clusters, or of each for what is copied. Without a key, of the app's one workload
    /// that has any.
    pub replicas: Vec<(AppId, Option<SmolStr>, u32)>,
    /// Weights of single clusters, for every divided workload of an app; the others keep theirs.
    pub weights: Vec<(AppId, BTreeMap<ClusterId, u32>)>,
    /// Node pools without a node, and without any that an autoscaler may add.
    pub pools: Vec<(ClusterId, SmolStr)>,
}

/// Why something cannot be supposed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The app has no such workload.
    #[error("{app} has no workload `{workload}` with replicas; it has {}", listed(.has))]
    NoWorkload {
        /// `team/app`.
        app: String,
        /// As asked for.
        workload: SmolStr,
        /// The keys of those it has.
        has: Vec<SmolStr>,
    },
    /// The app has several workloads with replicas, or none.
    #[error("say which workload of {app} is meant; with replicas it has {}", listed(.has))]
    WhichWorkload {
        /// `team/app`.
        app: String,
        /// The keys of those it has.
        has: Vec<SmolStr>,
    },
    /// No workload of the app is divided by weights.
    #[error("no workload of {app} is divided by weights: that takes strategy StaticWeight")]
    NoWeights {
        /// `team/app`.
        app: String,
    },
}

fn listed(keys: &[SmolStr]) -> String {
    if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }
}

/// A fleet with the changes in it.
///
/// # Errors
/// When an app has nothing of the kind to change.
pub fn changed(fleet: &Fleet, changes: &Changes) -> Result<Fleet, ChangeError> {
    let mut fleet = fleet.clone();
    for (id, key, replicas) in &changes.replicas {
        let index = workload(&fleet, *id, key.as_ref())?;
        if let Some(app) = fleet.apps.get_mut(id.index()) {
            let workload = &mut Arc::make_mut(app).workloads[index];
            if let Some(autoscaled) = workload.autoscaled {
                let min = (*replicas).max(1);
                workload.own(Autoscaled { min, max: autoscaled.max.max(min), ..autoscaled });
                continue;
            }
            workload.replicas = workload.completions.map_or(*replicas, |completions| completions.min(*replicas));
            workload.policy.total = Some(*replicas);
        }
    }
    for (id, pool) in &changes.pools {
        let Some(cluster) = fleet.clusters.get_mut(id.index()) else { continue };
        for gone in Arc::make_mut(cluster).pools.iter_mut().flatten().filter(|of| of.name == *pool) {
            (gone.nodes, gone.scalable_to) = (0, None);
        }
    }
    for (id, weights) in &changes.weights {
        let name = fleet.app_name(*id);
        let Some(app) = fleet.apps.get_mut(id.index()) else { continue };
        let weighed = |w: &&mut Workload| {
            w.share != Share::Everywhere && matches!(w.policy.strategy, None | Some(Strategy::StaticWeight))
        };
        let candidates = app.placement.candidates.clone();
        let mut any = false;
        for workload in Arc::make_mut(app).workloads.iter_mut().filter(weighed) {
            reweigh(workload, weights, &candidates);
            any = true;
        }
        if !any {
            return Err(ChangeError::NoWeights { app: name });
        }
    }
    Ok(fleet)
}

/// A record without the nodes of pools that are supposed lost.
#[must_use]
pub fn without_pools(fleet: &Fleet, mut record: Record, changes: &Changes) -> Record {
    for (id, pool) in &changes.pools {
        let Some(observed) = record.clusters.get_mut(&fleet.cluster(*id).name) else { continue };
        observed.capacity.iter_mut().flatten().filter(|of| of.name == *pool).for_each(|of| of.nodes = 0);
    }
    record
}

fn workload(fleet: &Fleet, id: AppId, key: Option<&SmolStr>) -> Result<usize, ChangeError> {
    let workloads = || fleet.app(id).workloads.iter().enumerate().filter(|(_, w)| w.kind.is_counted());
    let app = fleet.app_name(id);
    let has: Vec<SmolStr> = workloads().map(|(_, w)| w.key.clone()).collect();
    let Some(key) = key else {
        let mut counted = workloads();
        return match (counted.next(), counted.next()) {
            (Some((index, _)), None) => Ok(index),
            _ => Err(ChangeError::WhichWorkload { app, has }),
        };
    };
    // The whole key, or its name where only one workload is called so.
    let named = |w: &Workload| w.key == *key || w.key.rsplit('/').next() == Some(key.as_str());
    let found: Vec<usize> = workloads().filter(|(_, w)| named(w)).map(|(index, _)| index).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(ChangeError::NoWorkload { app, workload: key.clone(), has }),
        _ => Err(ChangeError::WhichWorkload { app, has }),
    }
}

/// One rule for each cluster that is named; the rules there were keep their other clusters.
fn reweigh(workload: &mut Workload, weights: &BTreeMap<ClusterId, u32>, candidates: &ClusterSet) {
    let before = |cluster: ClusterId| workload.weight(cluster);
    if weights.iter().all(|(cluster, weight)| before(*cluster) == *weight) {
        return;
    }
    let mut digest = DigestWriter::new();
    digest.part(&workload.policy.digest.0);
    let named: ClusterSet = weights.keys().copied().collect();
    let all = || vec![WeightRule { clusters: candidates.clone(), weight: 1, min: None, max: None }];
    let stated = workload.policy.weights.clone().unwrap_or_else(all);
    let mut rules: Vec<WeightRule> =
        stated.iter().map(|rule| WeightRule { clusters: rule.clusters.without(&named), ..rule.clone() }).collect();
    for (cluster, weight) in weights {
        let here = || stated.iter().filter(|rule| rule.clusters.contains(*cluster));
        let (min, max) = (here().filter_map(|rule| rule.min).max(), here().filter_map(|rule| rule.max).min());
        rules.push(WeightRule { clusters: [*cluster].into_iter().collect(), weight: *weight, min, max });
        digest.number(u64::from(cluster.0)).number(u64::from(*weight));
    }
    workload.policy.weights = Some(rules);
    workload.policy.digest = digest.finish();
}
