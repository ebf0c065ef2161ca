//! Nodes by pool, and what others use of them.

use std::collections::BTreeMap;

use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::base::quantity::{self, Quantity};
use fleetwright_compiler::base::{Resources, SmolStr};
use fleetwright_compiler::kinds::pod;
use serde_json::Value;

use crate::cluster::Key;
use crate::observation::PoolSeen;

/// The name of the pool of nodes that belong to none.
const OTHER: &str = "other";

/// What was seen of pools.
///
/// `pools` are those of the Cluster file, in its order: a node belongs to the first whose labels it has. Only nodes count
/// that are Ready and may be scheduled to. `is_ours` says whether pods of an owner are placed by the fleet. A node or pod
/// that cannot be read is left out of what is promised: a node does not count, a pod counts with what can be read of it.
#[must_use]
pub fn pools(
    pools: &[(SmolStr, Labels)],
    nodes: &[impl AsRef<Value>],
    pods: &[impl AsRef<Value>],
    is_ours: &dyn Fn(&Key) -> bool,
) -> Vec<PoolSeen> {
    let mut seen: BTreeMap<SmolStr, PoolSeen> = BTreeMap::new();
    let mut pool_of: BTreeMap<&str, SmolStr> = BTreeMap::new();
    for node in nodes.iter().map(AsRef::as_ref) {
        let Some(name) = node.pointer("/metadata/name").and_then(Value::as_str) else { continue };
        let pool = pools.iter().find(|(_, labels)| has_labels(node, labels)).map_or(OTHER, |(name, _)| name);
        if !takes_pods(node) {
            continue;
        }
        let Some(allocatable) = allocatable(node) else { continue };
        pool_of.insert(name, pool.into());
        seen.entry(pool.into())
            .and_modify(|pool| {
                pool.nodes = pool.nodes.saturating_add(1);
                pool.allocatable = smaller(&pool.allocatable, &allocatable);
            })
            .or_insert_with(|| PoolSeen { name: pool.into(), nodes: 1, allocatable, others: BTreeMap::new() });
    }
    for pod in pods.iter().map(AsRef::as_ref) {
        let on = pod.pointer("/spec/nodeName").and_then(Value::as_str).and_then(|node| pool_of.get(node));
        let Some(pool) = on.and_then(|pool| seen.get_mut(pool)) else { continue };
        if matches!(pod.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed")) {
            continue;
        }
        let Some(owner) = owner(pod) else { continue };
        if is_ours(&owner) {
            continue;
        }
        let mut requests = pod::read(pod.get("spec").unwrap_or(&Value::Null)).facts.requests;
        requests.add(&Resources([("pods".into(), 1)].into()), 1);
        pool.others.entry(owner.to_string().into()).or_default().add(&requests, 1);
    }
    seen.into_values().collect()
}

fn has_labels(node: &Value, labels: &Labels) -> bool {
    let has = |key: &str, value: &str| node.get("metadata")?.get("labels")?.get(key)?.as_str().filter(|v| *v == value);
    labels.iter().all(|(key, value)| has(key, value).is_some())
}

fn takes_pods(node: &Value) -> bool {
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
    let is_ready = |c: &Value| c["type"] == "Ready" && c["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(is_ready))
        && node.pointer("/spec/unschedulable").and_then(Value::as_bool) != Some(true)
}

fn allocatable(node: &Value) -> Option<Resources> {
    let stated = node.pointer("/status/allocatable")?.as_object()?;
    let read = |(name, value): (&String, &Value)| {
        // A node that says more than Kubernetes counts has as much as it counts: it is no reason to lose the cluster's others.
        let quantity: Quantity = value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().ok()?;
        Some((SmolStr::from(name.as_str()), quantity::amount(name, &quantity)))
    };
    stated.iter().map(read).collect::<Option<BTreeMap<_, _>>>().map(Resources)
}

/// What both offer: a resource that one of them lacks is lacking.
fn smaller(one: &Resources, other: &Resources) -> Resources {
    let shared = one.0.iter().filter_map(|(name, amount)| Some((name.clone(), *amount.min(other.0.get(name)?))));
    Resources(shared.collect())
}

/// Who made a pod: its controller, and of a ReplicaSet that a Deployment made the Deployment; the pod itself otherwise.
fn owner(pod: &Value) -> Option<Key> {
    let own = Key::of_kind("", "Pod", pod)?;
    let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten();
    let Some(controller) = owners.into_iter().find(|owner| owner["controller"] == true) else { return Some(own) };
    let group = controller["apiVersion"].as_str()?.split_once('/').map_or("", |(group, _)| group);
    let (kind, name) = (controller["kind"].as_str()?, controller["name"].as_str()?);
    let hash = pod.pointer("/metadata/labels/pod-template-hash").and_then(Value::as_str);
    if (group, kind) == ("apps", "ReplicaSet")
        && let Some(deployment) = hash.and_then(|hash| name.strip_suffix(hash)?.strip_suffix('-'))
    {
        return Some(Key::new("apps", "Deployment", &own.namespace, deployment));
    }
    Some(Key::new(group, kind, &own.namespace, name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn node(name: &str, pool: &str, ready: &str, unschedulable: bool, cpu: &str) -> Arc<Value> {
        Arc::new(json!({
            "metadata": {"name": name, "labels": {"pool": pool}},
            "spec": {"unschedulable": unschedulable},
            "status": {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
        }))
    }

    fn pod(name: &str, node: &str, owner: Option<(&str, &str, &str)>, cpu: &str, phase: &str) -> Arc<Value> {
        let mut metadata = json!({"name": name, "namespace": "n", "labels": {"pod-template-hash": "7f"}});
        if let Some((api, kind, name)) = owner {
            metadata["ownerReferences"] = json!([{"apiVersion": api, "kind": kind, "name": name, "controller": true}]);
        }
        Arc::new(json!({
            "metadata": metadata, "status": {"phase": phase},
            "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        }))
    }

    #[test]
    fn nodes_by_pool_and_what_others_use() {
        let stated = [
            ("gpu".into(), [("pool".into(), "gpu".into())].into()),
            ("general".into(), [("pool".into(), "general".into())].into()),
        ];
        let nodes = [
            node("a", "general", "True", false, "8"),
            node("b", "general", "True", false, "7500m"),
            node("c", "general", "Unknown", false, "8"),
            node("d", "general", "True", true, "8"),
            node("e", "strange", "True", false, "2"),
            Arc::new(json!({"metadata": {"name": "unreadable", "labels": {"pool": "gpu"}}})),
        ];
        let pods = [
            pod("w-7f-x", "a", Some(("apps/v1", "ReplicaSet", "w-7f")), "1", "Running"),
            pod("o-7f-x", "a", Some(("apps/v1", "ReplicaSet", "o-7f")), "500m", "Running"),
            pod("o-7f-y", "b", Some(("apps/v1", "ReplicaSet", "o-7f")), "500m", "Pending"),
            pod("d-x", "e", Some(("apps/v1", "DaemonSet", "d")), "100m", "Running"),
            pod("done", "a", None, "4", "Succeeded"),
            pod("bare", "a", None, "250m", "Running"),
            pod("elsewhere", "c", None, "4", "Running"),
        ];
        let ours = Key::new("apps", "Deployment", "n", "w");
        let seen = pools(&stated, &nodes, &pods, &|key| *key == ours);
        let amounts = |pool: &PoolSeen| (pool.name.to_string(), pool.nodes, pool.allocatable.get("cpu"));
        assert_eq!(
            seen.iter().map(amounts).collect::<Vec<_>>(),
            [("general".to_owned(), 2, 7500), ("other".to_owned(), 1, 2000)]
        );
        let others = |pool: usize| -> Vec<(String, i128, i128)> {
            seen[pool].others.iter().map(|(owner, r)| (owner.to_string(), r.get("cpu"), r.get("pods"))).collect()
        };
        assert_eq!(others(0), [("/Pod/n/bare".to_owned(), 250, 1), ("apps/Deployment/n/o".to_owned(), 1000, 2)]);
        assert_eq!(others(1), [("apps/DaemonSet/n/d".to_owned(), 100, 1)]);
    }
}
