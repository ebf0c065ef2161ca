//! FederatedResourceQuotas as quotas of a team.

use std::collections::BTreeMap;

use super::objects::{FederatedQuota, StaticAssignment};
use crate::api::{ClusterSelector, QuotaScope, QuotaSpec};
use crate::base::{SmolStr, Spanned};
use crate::import::repository::placeless;
use crate::import::{About, Fate};
use crate::kinds::counted;

/// `overall` for the sum, and each assignment for its cluster.
pub(super) fn convert(quota: &FederatedQuota, about: &mut About<'_>) -> Vec<Spanned<QuotaSpec>> {
    let FederatedQuota { overall, static_assignments, rest } = quota;
    for field in rest.keys() {
        about.say(Fate::NoCounterpart, &format!("spec.{field}"), "is not known to this import");
    }
    let mut found = Vec::new();
    let hard = overall.iter().filter_map(|(name, quantity)| {
        let name = request(name, "spec.overall", about)?;
        Some((placeless(name), placeless(quantity.clone())))
    });
    let hard: BTreeMap<_, _> = hard.collect();
    if !hard.is_empty() {
        found.push(placeless(QuotaSpec { hard, clusters: None, scope: None }));
    }
    for (at, StaticAssignment { cluster_name, hard }) in static_assignments.iter().enumerate() {
        let field = format!("spec.staticAssignments[{at}]");
        let mut counted = BTreeMap::new();
        for (name, quantity) in hard {
            if counted::unit(name).is_some() {
                counted.insert(placeless(name.clone()), placeless(quantity.clone()));
            } else {
                about.say(Fate::NoCounterpart, &field, format!("`{name}` is not counted here"));
            }
        }
        if counted.is_empty() {
            continue;
        }
        let clusters =
            ClusterSelector { names: Some(vec![placeless(cluster_name.clone())]), ..ClusterSelector::default() };
        let scope = Some(placeless(QuotaScope::PerCluster));
        found.push(placeless(QuotaSpec { hard: counted, clusters: Some(clusters), scope }));
        about.say(Fate::Differs, &field, "holds for placement, too; in Karmada only the cluster refuses");
    }
    found
}

/// The resource of a quota of ours that counts what Karmada counts: requests.
fn request(name: &SmolStr, field: &str, about: &mut About<'_>) -> Option<SmolStr> {
    if !is_requested(name) {
        about.say(Fate::NoCounterpart, field, format!("`{name}` counts nothing in Karmada, which looks at requests"));
        return None;
    }
    if name.starts_with("requests.") {
        return Some(name.clone());
    }
    Some(format!("requests.{name}").into())
}

/// Whether Karmada looks at a resource when it counts what bindings ask for. Extended resources are named bare.
fn is_requested(name: &str) -> bool {
    let of_pods = !counted::is_of_objects(name) && !matches!(name, "storage" | "pods");
    of_pods
        && !name.starts_with("limits.")
        && !name.starts_with("count/")
        && !name.contains(".storageclass.storage.k8s.io/")
}
