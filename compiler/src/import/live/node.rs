//! What lasts of a Node object.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::base::quantity::{Quantity, amount};
use crate::base::taint::{Taint, TaintEffect};
use crate::import::numbers::machine_amount;

/// A node, without what it is only for now.
#[derive(Clone, Debug)]
pub(super) struct Node<'v> {
    /// Its name.
    pub name: &'v str,
    /// Its labels.
    pub labels: Labels,
    /// Its taints, sorted; those of a passing state are left out.
    pub taints: Vec<Taint>,
    /// What it has for pods, more than nothing of each.
    pub allocatable: BTreeMap<SmolStr, Quantity>,
    /// Why it takes no pods now.
    pub away: Option<Away>,
    provider_id: Option<&'v str>,
}

/// Why a node takes no pods now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Away {
    /// Its kubelet does not say that it is Ready.
    NotReady,
    /// `spec.unschedulable`
    Cordoned,
}

/// A node that is in no pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    name: String,
    /// In words.
    pub why: &'static str,
}

impl LeftOut {
    /// `node a`
    pub(super) fn field(&self) -> String {
        format!("node {}", self.name)
    }
}

/// Taints that Kubernetes, cloud providers and autoscalers put on nodes while a state lasts.
/// Source: kubernetes.io "Well-Known Labels, Annotations and Taints"; cluster-autoscaler `pkg/utils/taints`; Karpenter `v1`.
const PASSING: [&str; 14] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/out-of-service",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "karpenter.sh/disrupted",
    "karpenter.sh/unregistered",
];

/// Reads a node.
///
/// # Errors
/// Why it belongs to no pool.
pub(super) fn read(value: &Value) -> Result<Node<'_>, LeftOut> {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let name = text("/metadata/name").unwrap_or_default();
    let left_out = |why| Err(LeftOut { name: name.to_owned(), why });
    let labels = value.pointer("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let labels: Labels = labels.filter_map(|(key, value)| Some((key.into(), value.as_str()?.into()))).collect();
    let is = |key: &str, value: &str| labels.get(key).is_some_and(|held| held == value);
    if is("eks.amazonaws.com/compute-type", "fargate") || is("type", "virtual-kubelet") {
        return left_out("is made for one pod, or stands for a service: it has no room of its own");
    }
    let stated = value.pointer("/status/allocatable").and_then(Value::as_object).into_iter().flatten();
    let mut allocatable = BTreeMap::new();
    for (resource, stated) in stated {
        let Ok(quantity) = machine_amount(resource, stated) else {
            return left_out("states an allocatable amount that no node can have");
        };
        // how many volumes a driver attaches is no resource that pods request
        if amount(resource, &quantity) > 0 && !resource.starts_with("attachable-volumes-") {
            allocatable.insert(SmolStr::from(resource.as_str()), quantity);
        }
    }
    if !["cpu", "memory"].iter().all(|resource| allocatable.contains_key(*resource)) {
        return left_out("has no allocatable CPU or memory");
    }
    let taints = value.pointer("/spec/taints").and_then(Value::as_array).into_iter().flatten();
    let Some(taints) = taints.map(taint).collect::<Option<Vec<Taint>>>() else {
        return left_out("has a taint that cannot be read");
    };
    let mut taints: Vec<Taint> = taints.into_iter().filter(|taint| !PASSING.contains(&taint.key.as_str())).collect();
    taints.sort();
    taints.dedup();
    let conditions = value.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let is_ready = conditions.into_iter().any(|c| c["type"] == "Ready" && c["status"] == "True");
    let is_cordoned = value.pointer("/spec/unschedulable").and_then(Value::as_bool) == Some(true);
    let away = match (is_ready, is_cordoned) {
        (_, true) => Some(Away::Cordoned),
        (false, false) => Some(Away::NotReady),
        (true, false) => None,
    };
    Ok(Node { name, labels, taints, allocatable, away, provider_id: text("/spec/providerID") })
}

fn taint(value: &Value) -> Option<Taint> {
    let text = |field: &str| value.get(field).and_then(Value::as_str);
    let effect: TaintEffect = serde_json::from_value(value.get("effect")?.clone()).ok()?;
    Some(Taint { key: text("key")?.into(), value: text("value").unwrap_or_default().into(), effect })
}

impl Node<'_> {
    /// `aws` of `aws:///eu-west-1a/i-0abc`; Google's scheme is `gce`, and its provider is called `gcp`.
    pub(super) fn provider(&self) -> Option<SmolStr> {
        let (scheme, _) = self.provider_id?.split_once("://")?;
        match scheme {
            "" => None,
            "gce" => Some("gcp".into()),
            other => Some(other.to_lowercase().into()),
        }
    }

    /// Whether it carries a control plane.
    pub(super) fn is_control_plane(&self) -> bool {
        ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"]
            .iter()
            .any(|role| self.labels.contains_key(*role))
    }

    /// Whether a controller that looks for these labels finds them on it.
    pub(super) fn has(&self, labels: &Labels) -> bool {
        labels.iter().all(|(key, value)| self.labels.get(key) == Some(value))
    }
}
