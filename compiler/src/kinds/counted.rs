//! What the names of a ResourceQuota count, and what objects count beside themselves: the storage that claims ask for, and the
//! load balancers and node ports of Services.
//!
//! Source: the quota evaluators of Kubernetes (`pkg/quota/v1/evaluator/core`, 1.34). A claim that names no class gets the default
//! one of its cluster, which no file says: it counts under no class here.

use serde::Deserialize;
use serde_json::Value;

use super::native::{lookup_api_version, quantities};
use crate::base::name::{NameRule, check};
use crate::base::quantity::{Quantity, amount, read_counted};
use crate::base::{Path, Resources, Seg, SmolStr};

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

/// Whether objects of a kind may state amounts beside those of their pods.
#[must_use]
pub fn states_amounts(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "PersistentVolumeClaim" | "PersistentVolume" | "ResourceQuota" | "LimitRange")
            | ("apps", "StatefulSet")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("node.k8s.io", "RuntimeClass")
            | ("resource.k8s.io", "ResourceClaim" | "ResourceClaimTemplate" | "ResourceSlice")
            | ("storage.k8s.io", "CSIStorageCapacity" | "VolumeAttachment")
    )
}

/// What is wrong with the amounts that an object states beside those of its pods, by path: what is no quantity, or more than
/// Kubernetes counts, and sizes of claims. A claim that states none counts as nothing, and Kubernetes refuses it as well.
#[must_use]
pub fn wrong_amounts(group: &str, kind: &str, object: &Value) -> Vec<(Path, String)> {
    let of_claim = |at: &str, claim: &Value| {
        let wrong = match claim.pointer("/spec/resources/requests/storage") {
            None | Some(Value::Null) => "a claim asks for storage: expected a size such as 10Gi".to_owned(),
            Some(size) => match Quantity::deserialize(size) {
                Ok(size) if !size.is_negative() => return None,
                Ok(_) => format!("{size} is negative: expected a size such as 10Gi"),
                Err(wrong) => wrong.to_string(),
            },
        };
        Some((Path::parse(&format!("{at}/spec/resources/requests/storage")).unwrap_or_default(), wrong))
    };
    let mut found: Vec<(Path, String)> = match (group, kind) {
        ("", "PersistentVolumeClaim") => of_claim("", object).into_iter().collect(),
        ("apps", "StatefulSet") => {
            let templates = object.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
            let each = templates.into_iter().flatten().enumerate();
            each.filter_map(|(at, claim)| of_claim(&format!("/spec/volumeClaimTemplates/{at}"), claim)).collect()
        }
        _ => Vec::new(),
    };
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let Some(native) = lookup_api_version(version, kind) else { return found };
    for (path, value) in quantities(native, object) {
        let of_pods = matches!(path.0.as_slice(), [Seg::Key(spec), Seg::Key(template), ..] if spec == "spec" && template == "template");
        if of_pods || found.iter().any(|(said, _)| *said == path) {
            continue;
        }
        let resource = match path.0.last() {
            Some(Seg::Key(name)) => unit(name).unwrap_or(name),
            Some(Seg::Index(_)) | None => "",
        };
        if let Err(wrong) = read_counted(resource, value) {
            found.push((path, wrong));
        }
    }
    found
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
    use crate::kinds::native::{self, Shape, type_def};

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
    fn amounts_that_kubernetes_does_not_take() {
        let beyond = |text: &str| format!("invalid quantity \"{text}\": expected at most 2^63-1 (");
        let facts = [
            (
                "v1",
                "PersistentVolumeClaim",
                json!({}),
                vec![("spec.resources.requests.storage", "a claim asks".into())],
            ),
            (
                "v1",
                "PersistentVolumeClaim",
                json!({"resources": {"requests": {"storage": "16Ei"}, "limits": {"storage": "8Ei"}}}),
                vec![
                    ("spec.resources.requests.storage", beyond("16Ei")),
                    ("spec.resources.limits.storage", beyond("8Ei")),
                ],
            ),
            (
                "v1",
                "PersistentVolume",
                json!({"capacity": {"storage": "8Ei"}}),
                vec![("spec.capacity.storage", beyond("8Ei"))],
            ),
            (
                "v1",
                "ResourceQuota",
                json!({"hard": {"requests.cpu": "1E", "limits.memory": "7Ei", "pods": "ten"}}),
                vec![
                    (
                        "spec.hard[\"requests.cpu\"]",
                        "invalid quantity \"1E\": expected at most 2^63-1 thousandths".into(),
                    ),
                    ("spec.hard.pods", "invalid quantity \"ten\": expected a number".into()),
                ],
            ),
            (
                "apps/v1",
                "StatefulSet",
                json!({
                    "volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "100E"}}}}],
                    // said where pods are read
                    "template": {"spec": {"containers": [{"resources": {"requests": {"memory": "16Ei"}}}]}},
                }),
                vec![("spec.volumeClaimTemplates[0].spec.resources.requests.storage", beyond("100E"))],
            ),
            (
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                json!({"metrics": [{"pods": {"target": {"averageValue": "8Ei"}}}]}),
                vec![("spec.metrics[0].pods.target.averageValue", beyond("8Ei"))],
            ),
        ];
        for (version, kind, spec, expected) in facts {
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let object = json!({"apiVersion": version, "kind": kind, "spec": spec});
            assert!(states_amounts(group, kind), "{kind}");
            let found: Vec<(String, String)> =
                wrong_amounts(group, kind, &object).into_iter().map(|(path, wrong)| (path.dotted(), wrong)).collect();
            assert_eq!(found.len(), expected.len(), "{kind}: {found:?}");
            for (path, wrong) in expected {
                let said = found.iter().any(|(at, said)| at == path && said.starts_with(&wrong));
                assert!(said, "{kind}: {path}: {wrong}: {found:?}");
            }
        }
    }

    /// The kinds that are asked are those that have quantities besides pods.
    #[test]
    fn kinds_with_amounts() {
        fn has(shape: &Shape, depth: usize) -> bool {
            match shape {
                Shape::Quantity => true,
                Shape::Struct(ty) => {
                    depth < 12
                        && type_def(*ty)
                            .fields
                            .iter()
                            .any(|(name, field)| name != "template" && has(&field.shape, depth + 1))
                }
                Shape::Map(of) | Shape::List(of, _) => has(of, depth + 1),
                _ => false,
            }
        }
        let mut wrong = Vec::new();
        for kind in native::all() {
            let spec =
                |name: &SmolStr| name != "status" && name != "template" && !(kind.kind == "Pod" && name == "spec");
            let any = type_def(kind.ty).fields.iter().any(|(name, field)| spec(name) && has(&field.shape, 0));
            // not every version of a kind has them
            let of_another = kind.group == "autoscaling";
            if states_amounts(&kind.group, &kind.kind) != any && !of_another {
                wrong.push(format!("{} {}: {any}", kind.group, kind.kind));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
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
