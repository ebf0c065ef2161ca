//! What the names of a ResourceQuota count, and what objects count beside themselves: the storage that claims ask for, and the
//! load balancers and node ports of Services.
//!
//! Source: the quota evaluators of Kubernetes (`pkg/quota/v1/evaluator/core`, 1.34). A claim that names no class gets the default
//! one of its cluster, which no file says: it counts under no class here.

use serde::Deserialize;
use serde_json::Value;

use crate::base::name::{NameRule, check};
use crate::base::quantity::{Quantity, amount};
use crate::base::{Resources, SmolStr};

/// The claims themselves, where they are made for pods.
pub const CLAIMS: &str = "persistentvolumeclaims";
/// What stands between the name of a class and what is counted of it.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";
/// Sizes of all claims.
const STORAGE: &str = "requests.storage";
const LOAD_BALANCERS: &str = "services.loadbalancers";
const NODE_PORTS: &str = "services.nodeports";

/// Whether a name of a ResourceQuota is of what objects ask for, as this module counts it.
#[must_use]
pub fn is_counted(name: &str) -> bool {
    match name.split_once(OF_CLASS) {
        Some((class, counted)) => is_name(class) && matches!(counted, STORAGE | CLAIMS),
        None => matches!(name, STORAGE | LOAD_BALANCERS | NODE_PORTS),
    }
}

/// Whether a storage class, or a plural with its group, can be called so.
fn is_name(name: &str) -> bool {
    check(NameRule::Dns1123Subdomain, name).is_ok()
}

/// What a resource of a quota counts, if it is objects: their plural name, with the group where there is one
/// (`deployments.apps`). The core kinds that Kubernetes counts by their bare names are counted so, too.
#[must_use]
pub fn objects(resource: &str) -> Option<&str> {
    const BARE: [&str; 7] = [
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "serviceaccounts",
        "services",
    ];
    let counted = resource.strip_prefix("count/").or_else(|| BARE.contains(&resource).then_some(resource));
    counted.filter(|name| *name != "pods")
}

/// The resource whose unit a name of a ResourceQuota is in; `None` for what no quota counts. Kubernetes reads `cpu`, `memory` and
/// huge pages as requests.
#[must_use]
pub fn unit(name: &str) -> Option<&str> {
    if is_counted(name) {
        return Some(if name.ends_with(STORAGE) { "storage" } else { "pods" });
    }
    if name == "limits.storage" || name.contains(".storageclass.storage.k8s.io/") {
        return None;
    }
    match name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")) {
        Some("") => None,
        Some(resource) => Some(resource),
        None if matches!(name, "cpu" | "memory" | "ephemeral-storage" | "pods") => Some(name),
        None if name.starts_with("hugepages-") => Some(name),
        // Objects are counted in whole ones, as pods are.
        None if name == "count/pods" || objects(name).is_some_and(is_name) => Some("pods"),
        None => None,
    }
}

/// Whether a resource of a quota counts objects, or what they ask for: what an app has of it where it is, with replicas or
/// without.
#[must_use]
pub fn is_of_objects(resource: &str) -> bool {
    objects(resource).is_some() || is_counted(resource)
}

/// What an object counts beside itself; nothing for most kinds. What is no number there, the schema of the kind has refused.
#[must_use]
pub fn of_object(group: &str, kind: &str, object: &Value) -> Resources {
    match (group, kind) {
        ("", "PersistentVolumeClaim") => of_claim(object),
        ("", "Service") => of_service(object),
        _ => Resources::default(),
    }
}

/// The claims that a pod gets: those of its controller's templates (`spec.volumeClaimTemplates`), and those of ephemeral volumes.
#[must_use]
pub fn of_pod(controller: &Value, pod_spec: &Value) -> Resources {
    let items = |value: &'_ Value, pointer: &str| -> Vec<Value> {
        value.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let templates = items(controller, "/spec/volumeClaimTemplates");
    let volumes = items(pod_spec, "/volumes");
    let ephemeral = volumes.iter().filter_map(|volume| volume.pointer("/ephemeral/volumeClaimTemplate"));
    let mut sum = Resources::default();
    for claim in templates.iter().chain(ephemeral) {
        sum.add(&of_claim(claim), 1);
        sum.add(&one(CLAIMS.into()), 1);
    }
    sum
}

/// What is wrong with the sizes that claims ask for, by pointer into the object: those of a claim, and of the templates of a
/// StatefulSet. What is not stated counts as nothing, and Kubernetes refuses it as well.
#[must_use]
pub fn wrong_sizes(group: &str, kind: &str, object: &Value) -> Vec<(String, String)> {
    let of = |at: &str, claim: &Value| {
        let wrong = match claim.pointer("/spec/resources/requests/storage") {
            None | Some(Value::Null) => "a claim asks for storage: expected a size such as 10Gi".to_owned(),
            Some(size) => match Quantity::deserialize(size) {
                Ok(size) if !size.is_negative() => return None,
                Ok(_) => format!("{size} is negative: expected a size such as 10Gi"),
                Err(wrong) => wrong.to_string(),
            },
        };
        Some((format!("{at}/spec/resources/requests/storage"), wrong))
    };
    match (group, kind) {
        ("", "PersistentVolumeClaim") => of("", object).into_iter().collect(),
        ("apps", "StatefulSet") => {
            let templates = object.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
            let each = templates.into_iter().flatten().enumerate();
            each.filter_map(|(at, claim)| of(&format!("/spec/volumeClaimTemplates/{at}"), claim)).collect()
        }
        _ => Vec::new(),
    }
}

fn of_claim(claim: &Value) -> Resources {
    // what the field was before 1.6 still comes first
    let beta = claim.pointer("/metadata/annotations/volume.beta.kubernetes.io~1storage-class");
    let class = beta.or_else(|| claim.pointer("/spec/storageClassName"));
    let size = claim.pointer("/spec/resources/requests/storage").and_then(|size| Quantity::deserialize(size).ok());
    let size = size.map_or(0, |size| amount("storage", &size).max(0));
    let mut counted = Resources([(STORAGE.into(), size)].into_iter().collect());
    if let Some(class) = class.and_then(Value::as_str).filter(|class| !class.is_empty()) {
        counted.0.insert(format!("{class}{OF_CLASS}{STORAGE}").into(), size);
        counted.0.insert(format!("{class}{OF_CLASS}{CLAIMS}").into(), 1);
    }
    counted
}

fn of_service(service: &Value) -> Resources {
    let kind = service.pointer("/spec/type").and_then(Value::as_str).unwrap_or("ClusterIP");
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let fixed = || ports.iter().filter(|port| port.get("nodePort").and_then(Value::as_i64).unwrap_or(0) != 0).count();
    let allocates = service.pointer("/spec/allocateLoadBalancerNodePorts").and_then(Value::as_bool) != Some(false);
    let (balancers, node_ports) = match kind {
        "NodePort" => (0, ports.len()),
        "LoadBalancer" => (1, if allocates { ports.len() } else { fixed() }),
        _ => (0, 0),
    };
    let counted = [(LOAD_BALANCERS, balancers), (NODE_PORTS, node_ports)].into_iter().filter(|(_, count)| *count > 0);
    Resources(counted.map(|(name, count)| (name.into(), i128::try_from(count).unwrap_or(i128::MAX))).collect())
}

fn one(name: SmolStr) -> Resources {
    Resources([(name, 1)].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(counted: &Resources) -> Vec<String> {
        counted.iter().map(|(name, amount)| format!("{name}={amount}")).collect()
    }

    #[test]
    fn what_objects_count() {
        let port = |node: u32| json!({"port": 80, "nodePort": node});
        let gold = json!({"storageClassName": "gold", "resources": {"requests": {"storage": "2Ki"}}});
        let facts: [(&str, Value, &[&str]); 10] = [
            ("Service", json!({"ports": [port(0)]}), &[]),
            ("Service", json!({"type": "ExternalName"}), &[]),
            ("Service", json!({"type": "NodePort", "ports": [port(0), port(1)]}), &["services.nodeports=2"]),
            (
                "Service",
                json!({"type": "LoadBalancer", "ports": [port(0), port(0)]}),
                &["services.loadbalancers=1", "services.nodeports=2"],
            ),
            (
                "Service",
                json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [port(0), port(9)]}),
                &["services.loadbalancers=1", "services.nodeports=1"],
            ),
            ("PersistentVolumeClaim", json!({}), &[]),
            ("PersistentVolumeClaim", json!({"resources": {"requests": {"storage": 5}}}), &["requests.storage=5"]),
            (
                "PersistentVolumeClaim",
                gold,
                &[
                    "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1",
                    "gold.storageclass.storage.k8s.io/requests.storage=2048",
                    "requests.storage=2048",
                ],
            ),
            ("PersistentVolumeClaim", json!({"storageClassName": ""}), &[]),
            ("ConfigMap", json!({"type": "NodePort"}), &[]),
        ];
        for (kind, spec, expected) in facts {
            assert_eq!(texts(&of_object("", kind, &json!({"spec": spec}))), expected, "{kind} {spec}");
            assert!(of_object("example.org", kind, &json!({"spec": spec})).is_empty());
        }
    }

    #[test]
    fn an_annotation_names_the_class_before_the_field_does() {
        let claim = json!({
            "metadata": { "annotations": { "volume.beta.kubernetes.io/storage-class": "gold" } },
            "spec": { "storageClassName": "silver", "resources": { "requests": { "storage": "1" } } },
        });
        let expected = [
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1",
            "gold.storageclass.storage.k8s.io/requests.storage=1",
            "requests.storage=1",
        ];
        assert_eq!(texts(&of_object("", "PersistentVolumeClaim", &claim)), expected);
    }

    #[test]
    fn claims_of_a_pod() {
        let claim = json!({"spec": {"resources": {"requests": {"storage": "1Gi"}}}});
        let controller = json!({"spec": {"volumeClaimTemplates": [claim, claim]}});
        let pod = json!({"volumes": [
            {"name": "a", "ephemeral": {"volumeClaimTemplate": claim}},
            {"name": "b", "persistentVolumeClaim": {"claimName": "own"}},
        ]});
        let expected = ["persistentvolumeclaims=3", "requests.storage=3221225472"];
        assert_eq!(texts(&of_pod(&controller, &pod)), expected);
        assert!(of_pod(&json!({}), &json!({"volumes": "x"})).is_empty());
    }

    #[test]
    fn names_that_are_counted() {
        let names = [
            ("requests.storage", true),
            ("services.loadbalancers", true),
            ("services.nodeports", true),
            ("gold.storageclass.storage.k8s.io/requests.storage", true),
            ("gold.storageclass.storage.k8s.io/persistentvolumeclaims", true),
            ("gold.storageclass.storage.k8s.io/pods", false),
            (".storageclass.storage.k8s.io/requests.storage", false),
            ("a b.storageclass.storage.k8s.io/requests.storage", false),
            ("GOLD.storageclass.storage.k8s.io/requests.storage", false),
            ("limits.storage", false),
            ("services.clusterips", false),
            ("requests.cpu", false),
            ("persistentvolumeclaims", false),
        ];
        for (name, counted) in names {
            assert_eq!(is_counted(name), counted, "{name}");
        }
    }
}
