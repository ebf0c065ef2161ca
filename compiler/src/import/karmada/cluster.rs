//! Clusters: topology, taints, served kinds, and capacity as far as the status tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::affinity::ClusterFacts;
use super::objects::{ApiEnablement, ClusterSpec, ClusterStatus, KarmadaCluster};
use crate::api::{ApiGroupSpec, ClusterSpec as Ours, Lifecycle, NodePoolSpec};
use crate::base::SmolStr;
use crate::base::quantity::{Quantity, amount, amount_text};
use crate::base::taint::{Taint, TaintEffect};
use crate::import::numbers::machine_amount;
use crate::import::repository::{placeless, placeless_all};
use crate::import::{About, Fate};
use crate::kinds::native;

/// The cluster, and what selectors may ask about it.
pub(super) fn convert(name: &str, cluster: &KarmadaCluster, about: &mut About<'_>) -> (Ours, ClusterFacts) {
    let KarmadaCluster { spec, status } = cluster;
    let ClusterSpec { provider, region, zone, zones, taints, resource_models, rest } = spec;
    let mut zones = zones.clone();
    if zones.is_empty() && !zone.is_empty() {
        zones.push(zone.clone());
    }
    let mut kept = Vec::new();
    for taint in taints {
        if taint.key.starts_with("cluster.karmada.io/") {
            let text = format!("{} is Karmada's own state of the cluster", taint.key);
            about.say(Fate::Skipped, "spec.taints", text);
            continue;
        }
        if taint.effect == TaintEffect::NoExecute {
            let text = "is in force at once here; in Karmada only with --enable-no-execute-taint-eviction";
            about.say(Fate::Differs, "spec.taints", format!("NoExecute of {} {text}", taint.key));
        }
        kept.push(placeless(Taint { key: taint.key.clone(), value: taint.value.clone(), effect: taint.effect }));
    }
    for field in rest.keys().filter(|field| !matches!(field.as_str(), "id")) {
        let text =
            "how a cluster is reached is the business of whoever applies; credentials never lie in the repository";
        about.say(Fate::NoCounterpart, &format!("spec.{field}"), text);
    }
    if !resource_models.is_empty() {
        let text = "grades of nodes are not read: node pools say what there is";
        about.say(Fate::NoCounterpart, "spec.resourceModels", text);
    }
    let stated = |text: &SmolStr| (!text.is_empty()).then(|| placeless(text.clone()));
    let ours = Ours {
        provider: stated(provider),
        region: stated(region),
        zones: placeless_all(&zones),
        taints: kept,
        node_pools: pools(status, about),
        apis: apis(status),
        ..Ours::default()
    };
    let facts = ClusterFacts { name: name.into(), provider: provider.clone(), zones };
    (ours, facts)
}

/// A cluster that is named, but not described: it takes nothing until somebody describes it, unless none is described.
pub(super) fn undescribed(any_described: bool, about: &mut About<'_>) -> Ours {
    let text = "is named, but there is no Cluster object of this name";
    if any_described {
        about.say(Fate::Resolved, "", format!("{text}: written as Cordoned"));
    } else {
        about.say(Fate::Resolved, "", format!("{text}: written with nothing known about it"));
    }
    Ours { lifecycle: any_described.then(|| placeless(Lifecycle::Cordoned)), ..Ours::default() }
}

/// One pool of equal nodes from the totals: Karmada has no others. What runs there is not looked at, because most of it is
/// what the fleet will hold.
fn pools(status: &ClusterStatus, about: &mut About<'_>) -> Option<Vec<crate::base::Spanned<NodePoolSpec>>> {
    let total = status.node_summary.total_num;
    let nodes = status.node_summary.ready_num.unwrap_or(total).min(total);
    let allocatable = &status.resource_summary.allocatable;
    if total == 0 || allocatable.is_empty() {
        return None;
    }
    let mut share = |(name, stated): (&SmolStr, &Value)| {
        let quantity = match machine_amount(name, stated) {
            Ok(quantity) => quantity,
            Err(wrong) => {
                let field = format!("status.resourceSummary.allocatable.{name}");
                about.say(Fate::NoCounterpart, &field, format!("{wrong}: left out"));
                return None;
            }
        };
        let one = amount(name, &quantity) / i128::from(total);
        let quantity = amount_text(name, one).parse::<Quantity>().ok()?;
        Some((placeless(name.clone()), placeless(quantity)))
    };
    let shares: BTreeMap<_, _> = allocatable.iter().filter_map(&mut share).collect();
    let text = format!("its {nodes} ready nodes are taken as equal, each with its share of what is allocatable");
    about.say(Fate::Resolved, "status.resourceSummary", text);
    Some(vec![placeless(NodePoolSpec {
        name: placeless("general".into()),
        nodes: placeless(nodes),
        allocatable: shares,
        labels: BTreeMap::new(),
        taints: Vec::new(),
        scalable_to: None,
    })])
}

/// What is served beyond Kubernetes' own, where the list is complete.
fn apis(status: &ClusterStatus) -> Option<Vec<crate::base::Spanned<ApiGroupSpec>>> {
    let complete = status.conditions.iter().find(|condition| condition.kind == "CompleteAPIEnablements");
    if status.api_enablements.is_empty() || complete.is_some_and(|condition| condition.status != "True") {
        return None;
    }
    let foreign = |enablement: &&ApiEnablement| {
        let (group, _) = native::split_api_version(&enablement.group_version);
        !native::known_group(group)
    };
    let spec = |enablement: &ApiEnablement| {
        let kinds: BTreeSet<SmolStr> = enablement.resources.iter().map(|resource| resource.kind.clone()).collect();
        placeless(ApiGroupSpec {
            group_version: placeless(enablement.group_version.clone()),
            kinds: Some(kinds.into_iter().collect()),
        })
    };
    Some(status.api_enablements.iter().filter(foreign).map(spec).collect())
}
