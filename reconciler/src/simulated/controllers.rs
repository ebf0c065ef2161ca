//! What Kubernetes' controllers do, one step at a time.

use serde_json::{Value, json};

use super::store::Store;
use crate::cluster::Key;

/// Every controller acts once.
pub(super) fn tick(store: &mut Store) {
    let keys: Vec<Key> = store.objects.keys().cloned().collect();
    for key in keys {
        let Some(object) = store.object(&key).cloned() else { continue };
        let ready = !store.faults.stuck.contains(&key);
        let status = match (key.kind.group.as_str(), key.kind.kind.as_str()) {
            ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => Some(replicas(&object, ready)),
            ("apps", "DaemonSet") => Some(daemons(&object, ready)),
            ("batch", "Job") => Some(job(&object, ready)),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(json!({
                "conditions": [{"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"}],
            })),
            ("", "PersistentVolumeClaim") => Some(json!({"phase": "Bound"})),
            ("autoscaling", "HorizontalPodAutoscaler") => {
                scale(store, &key, &object);
                None
            }
            _ => None,
        };
        if let Some(status) = status.filter(|status| object.get("status") != Some(status)) {
            store.edit(&key, "kube-controller-manager", "status", |object| object["status"] = status);
        }
    }
}

fn replicas(object: &Value, ready: bool) -> Value {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_u64).unwrap_or(1);
    let ready_now = if ready { wanted } else { 0 };
    let available = if ready { "True" } else { "False" };
    json!({
        "observedGeneration": object["metadata"]["generation"],
        "replicas": wanted,
        "updatedReplicas": wanted,
        "currentReplicas": wanted,
        "readyReplicas": ready_now,
        "availableReplicas": ready_now,
        "conditions": [
            {"type": "Available", "status": available, "reason": "MinimumReplicasAvailable"},
            {"type": "Progressing", "status": "True", "reason": if ready { "NewReplicaSetAvailable" } else { "ReplicaSetUpdated" }},
        ],
    })
}

fn daemons(object: &Value, ready: bool) -> Value {
    let ready_now = if ready { 3 } else { 0 };
    json!({
        "observedGeneration": object["metadata"]["generation"],
        "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "updatedNumberScheduled": 3,
        "numberReady": ready_now, "numberAvailable": ready_now, "numberMisscheduled": 0,
    })
}

fn job(object: &Value, ready: bool) -> Value {
    let parallelism = object.pointer("/spec/parallelism").and_then(Value::as_u64).unwrap_or(1);
    let started = object.get("status").is_some();
    if ready && started {
        let condition = json!({"type": "Complete", "status": "True"});
        return json!({"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:01:00Z", "succeeded": parallelism, "conditions": [condition]});
    }
    json!({"startTime": "2026-01-01T00:00:00Z", "active": parallelism, "ready": if ready { parallelism } else { 0 }})
}

/// A HorizontalPodAutoscaler keeps its target at least at `minReplicas`.
fn scale(store: &mut Store, key: &Key, autoscaler: &Value) {
    let target = &autoscaler["spec"]["scaleTargetRef"];
    let group = target["apiVersion"].as_str().and_then(|v| v.split_once('/')).map_or("", |(group, _)| group);
    let (Some(kind), Some(name)) = (target["kind"].as_str(), target["name"].as_str()) else { return };
    let min = autoscaler["spec"]["minReplicas"].as_u64().unwrap_or(1);
    let target = Key::new(group, kind, &key.namespace, name);
    let below = store.object(&target).and_then(|o| o["spec"]["replicas"].as_u64()).is_some_and(|now| now < min);
    if below {
        store.edit(&target, "kube-controller-manager", "scale", |object| object["spec"]["replicas"] = min.into());
    }
}
