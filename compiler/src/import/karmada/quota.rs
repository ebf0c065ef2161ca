//! FederatedResourceQuotas as quotas of a team.

use std::collections::BTreeMap;

use serde_json::Value;

use super::objects::{FederatedQuota, StaticAssignment};
use crate::api::{ClusterSelector, QuotaScope, QuotaSpec};
use crate::base::quantity::Quantity;
use crate::base::{SmolStr, Spanned};
use crate::import::numbers::machine_amount;
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
    let mut hard = Amounts::default();
    for (name, stated) in overall {
        if let Some(counted) = request(name, "spec.overall", about) {
            hard.add(counted, name, stated, "spec.overall", about);
        }
    }
    if !hard.0.is_empty() {
        found.push(placeless(QuotaSpec { hard: hard.spec(), clusters: None, scope: None }));
    }
    let mut assigned: BTreeMap<&SmolStr, usize> = BTreeMap::new();
    for (at, StaticAssignment { cluster_name, hard }) in static_assignments.iter().enumerate() {
        let field = format!("spec.staticAssignments[{at}]");
        if let Some(first) = assigned.insert(cluster_name, at) {
            let text = format!(
                "is for {cluster_name}, as staticAssignments[{first}] is: both hold, and the smaller amount decides"
            );
            about.say(Fate::Resolved, &field, text);
        }
        let mut counted = Amounts::default();
        for (name, stated) in hard {
            if counted::unit(name).is_some() {
                counted.add(name.clone(), name, stated, &field, about);
            } else {
                about.say(Fate::NoCounterpart, &field, format!("`{name}` is not counted here"));
            }
        }
        if counted.0.is_empty() {
            continue;
        }
        let clusters =
            ClusterSelector { names: Some(vec![placeless(cluster_name.clone())]), ..ClusterSelector::default() };
        let scope = Some(placeless(QuotaScope::PerCluster));
        found.push(placeless(QuotaSpec { hard: counted.spec(), clusters: Some(clusters), scope }));
        about.say(Fate::Differs, &field, "holds for placement, too; in Karmada only the cluster refuses");
    }
    found
}

/// Amounts of a quota of ours, each with the name that stated it.
#[derive(Default)]
struct Amounts<'q>(BTreeMap<SmolStr, (&'q SmolStr, Quantity)>);

impl<'q> Amounts<'q> {
    /// Adds what a name states. Of two names for one resource the smaller amount counts, as it would if both were looked at.
    fn add(&mut self, counted: SmolStr, name: &'q SmolStr, stated: &Value, field: &str, about: &mut About<'_>) {
        let unit = counted::unit(&counted).unwrap_or(name);
        let quantity = match machine_amount(unit, stated) {
            Ok(quantity) => quantity,
            Err(wrong) => {
                return about.say(Fate::NoCounterpart, &format!("{field}.{name}"), format!("{wrong}: left out"));
            }
        };
        if let Some((other, before)) = self.0.get(&counted) {
            let text = format!("`{other}` and `{name}` both limit {counted}: the smaller of the two is written");
            about.say(Fate::Resolved, field, text);
            if *before <= quantity {
                return;
            }
        }
        self.0.insert(counted, (name, quantity));
    }

    fn spec(self) -> BTreeMap<Spanned<SmolStr>, Spanned<Quantity>> {
        self.0.into_iter().map(|(name, (_, quantity))| (placeless(name), placeless(quantity))).collect()
    }
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
