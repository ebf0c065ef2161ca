use serde_json::{Value, json};

use super::*;
use crate::base::quantity::amount_text;
use crate::base::taint::{Taint, TaintEffect};

/// Facts of a pod that nothing is wrong with.
fn facts(spec: Value) -> PodFacts {
    let PodReading { facts, errors } = read(&spec);
    assert_eq!(errors, [], "{spec}");
    facts
}

/// The errors as `pointer: message`.
fn errors(spec: &Value) -> Vec<String> {
    read(spec).errors.iter().map(ToString::to_string).collect()
}

fn written(resources: &Resources) -> Vec<String> {
    resources.0.iter().map(|(resource, amount)| format!("{resource} {}", amount_text(resource, *amount))).collect()
}

fn container(name: &str, resources: Value) -> Value {
    json!({"name": name, "resources": resources})
}

/// A pod of one container with these further fields.
fn pod_with(field: &str, value: Value) -> Value {
    json!({"containers": [{"name": "web"}], field: value})
}

#[test]
fn requests_are_what_the_scheduler_counts() {
    let cpu = |amount: &str| json!({"requests": {"cpu": amount}});
    let sidecar = |name: &str, amount: &str| json!({"name": name, "restartPolicy": "Always", "resources": {"requests": {"cpu": amount}}});
    let rows: [(&str, Value, &[&str]); 12] = [
        ("nothing stated", json!({"containers": [{"name": "a"}]}), &[]),
        ("a sum", json!({"containers": [container("a", cpu("100m")), container("b", cpu("1"))]}), &["cpu 1100m"]),
        (
            "limits stand in for requests, resource by resource",
            json!({"containers": [container("a", json!({"requests": {"cpu": 0}, "limits": {"cpu": "1", "memory": "1Gi"}}))]}),
            &["cpu 0", "memory 1Gi"],
        ),
        (
            "init containers run alone: the largest counts",
            json!({"containers": [container("a", cpu("1"))], "initContainers": [container("i", cpu("3")), container("j", cpu("2"))]}),
            &["cpu 3"],
        ),
        (
            "sidecars stay",
            json!({"containers": [container("a", cpu("1"))], "initContainers": [sidecar("s", "1"), container("i", cpu("500m"))]}),
            &["cpu 2"],
        ),
        (
            "an init container runs beside the sidecars before it",
            json!({"containers": [container("a", cpu("1"))], "initContainers": [sidecar("s", "1"), container("i", cpu("2"))]}),
            &["cpu 3"],
        ),
        (
            "not beside those after it",
            json!({"containers": [container("a", cpu("1"))], "initContainers": [container("i", cpu("2")), sidecar("s", "1")]}),
            &["cpu 2"],
        ),
        (
            "overhead comes on top",
            json!({"containers": [container("a", cpu("1"))], "overhead": {"cpu": "50m", "memory": "64Mi"}}),
            &["cpu 1050m", "memory 64Mi"],
        ),
        (
            "what the pod states replaces what its containers do",
            json!({"containers": [container("a", cpu("1"))], "resources": {"requests": {"cpu": "2"}}, "overhead": {"cpu": "50m"}}),
            &["cpu 2050m"],
        ),
        (
            "a limit of the pod stands in where no container requests",
            json!({"containers": [container("a", cpu("1"))], "resources": {"limits": {"cpu": "3", "memory": "2Gi"}}}),
            &["cpu 1", "memory 2Gi"],
        ),
        (
            "fractions are rounded up to milli in each container",
            json!({"containers": [container("a", cpu("100u")), container("b", cpu("100u"))]}),
            &["cpu 2m"],
        ),
        (
            "extended resources are whole units",
            json!({"containers": [container("a", json!({"limits": {"nvidia.com/gpu": 2}}))]}),
            &["nvidia.com/gpu 2"],
        ),
    ];
    for (name, spec, requests) in rows {
        assert_eq!(written(&facts(spec).requests), requests, "{name}");
    }
}

#[test]
fn limits_count_what_has_one() {
    let pod = facts(json!({
        "containers": [
            container("a", json!({"limits": {"cpu": "1", "memory": "1Gi"}})),
            container("b", json!({"requests": {"memory": "1Gi"}, "limits": {"cpu": "0.5"}})),
        ],
        "initContainers": [container("i", json!({"limits": {"memory": "2Gi"}}))],
        "overhead": {"cpu": "50m", "ephemeral-storage": "1Gi"},
    }));
    assert_eq!(written(&pod.limits), ["cpu 1550m", "memory 2Gi"]);
    assert_eq!(written(&pod.requests), ["cpu 1550m", "ephemeral-storage 1Gi", "memory 2Gi"]);
    assert_eq!(written(&pod.overhead), ["cpu 50m", "ephemeral-storage 1Gi"]);
}

/// quota-07: a quota does not take what is not stated for zero.
#[test]
fn says_who_states_nothing_for_a_quota() {
    let spec = json!({
        "containers": [{"name": "bare"}, container("full", json!({"limits": {"cpu": "1", "memory": "1Gi"}}))],
        "initContainers": [container("init", json!({"requests": {"cpu": "0"}}))],
    });
    let pod = facts(spec.clone());
    let rows: [(&str, &[&str]); 6] = [
        ("requests.cpu", &["bare"]),
        ("cpu", &["bare"]),
        ("limits.cpu", &["bare", "init"]),
        ("requests.memory", &["bare", "init"]),
        ("requests.nvidia.com/gpu", &[]),
        ("pods", &[]),
    ];
    for (quota, containers) in rows {
        assert_eq!(pod.unset(quota), containers, "{quota}");
    }
    let mut stated = spec;
    stated["resources"] = json!({"limits": {"cpu": "2"}});
    assert!(
        facts(stated).unset("requests.memory").is_empty(),
        "what the pod as a whole states is enough for Kubernetes"
    );
}

#[test]
fn amounts_that_kubernetes_refuses_are_errors() {
    let rows = [
        (
            json!({"requests": {"cpu": "-1"}}),
            "/containers/0/resources/requests/cpu: -1 is negative: expected 0 or more",
        ),
        (
            json!({"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}),
            "/containers/0/resources/requests/memory: the request of 2Gi is more than the limit of 1Gi",
        ),
        (
            json!({"requests": {"cpu": "1x"}}),
            "/containers/0/resources/requests/cpu: invalid quantity \"1x\": unknown suffix",
        ),
        (
            json!({"requests": {"cpu": true}}),
            "/containers/0/resources/requests/cpu: invalid type: boolean `true`, expected a quantity",
        ),
        (json!({"requests": {"memory": "9Ei0"}}), "/containers/0/resources/requests/memory: invalid quantity"),
        (
            json!({"requests": {"memory": "100E"}}),
            "/containers/0/resources/requests/memory: invalid quantity \"100E\": expected at most 2^63-1",
        ),
        (
            json!({"requests": {"memory": "16Ei"}}),
            "/containers/0/resources/requests/memory: invalid quantity \"16Ei\": expected at most 2^63-1 (",
        ),
        (
            json!({"limits": {"nvidia.com/gpu": "8Ei"}}),
            "/containers/0/resources/limits/nvidia.com~1gpu: invalid quantity \"8Ei\": expected at most 2^63-1 (",
        ),
        (
            json!({"requests": {"cpu": "1E"}}),
            "/containers/0/resources/requests/cpu: invalid quantity \"1E\": expected at most 2^63-1 thousandths",
        ),
        (json!({"requests": {"gpu": 1}}), "/containers/0/resources/requests/gpu: gpu is no resource of containers"),
        (
            json!({"limits": {"storage": "1Gi"}}),
            "/containers/0/resources/limits/storage: storage is no resource of containers",
        ),
        (json!({"limits": {"a b": 1}}), "/containers/0/resources/limits/a b: \"a b\" is not a resource name"),
        (
            json!({"limits": {"nvidia.com/gpu": "500m"}}),
            "/containers/0/resources/limits/nvidia.com~1gpu: 500m is a fraction",
        ),
        (
            json!({"requests": {"nvidia.com/gpu": 1}}),
            "/containers/0/resources/requests/nvidia.com~1gpu: nvidia.com/gpu cannot be overcommitted: it needs a limit",
        ),
        (
            json!({"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}}),
            "/containers/0/resources/requests/nvidia.com~1gpu: nvidia.com/gpu cannot be overcommitted: the request of 1 must equal",
        ),
        (
            json!({"limits": {"cpu": 1, "hugepages-2Mi": "3Mi"}}),
            "/containers/0/resources/limits/hugepages-2Mi: 3Mi is not a multiple",
        ),
        (json!({"limits": {"hugepages-2Mi": "4Mi"}}), "/containers/0/resources: huge pages need a request or limit"),
        (json!([]), "/containers/0/resources: expected an object"),
    ];
    for (resources, start) in rows {
        let found = errors(&json!({"containers": [container("web", resources.clone())]}));
        assert!(found.len() == 1 && found[0].starts_with(start), "{resources}: {found:#?}");
    }
    let of_pod = [
        (
            json!({"requests": {"cpu": "1"}}),
            "/resources/requests/cpu: the pod's request of 1 is less than the 2 that its",
        ),
        (
            json!({"limits": {"cpu": "1"}}),
            "/resources/limits/cpu: the pod's limit of 1 is less than the 2 of its containers",
        ),
        (
            json!({"limits": {"cpu": "3", "memory": "1Gi"}}),
            "/resources/limits/memory: the pod's limit of 1Gi is less than the 2Gi",
        ),
        (
            json!({"limits": {"nvidia.com/gpu": 1}}),
            "/resources/limits/nvidia.com~1gpu: nvidia.com/gpu cannot be stated for a pod",
        ),
    ];
    for (resources, start) in of_pod {
        let stated = json!({"requests": {"cpu": "2"}, "limits": {"memory": "2Gi"}});
        let found = errors(&json!({"containers": [container("web", stated)], "resources": resources.clone()}));
        assert!(found.iter().any(|error| error.starts_with(start)), "{resources}: {found:#?}");
    }
    let huge = json!({"containers": [container("a", json!({"requests": {"cpu": 1}}))], "resources": {"limits": {"hugepages-2Mi": "4Mi"}}});
    assert_eq!(errors(&huge), [""; 0], "the containers' cpu becomes the pod's");
    let found = errors(&pod_with("overhead", json!({"cpu": "-50m"})));
    assert_eq!(found, ["/overhead/cpu: -0.05 is negative: expected 0 or more"]);
}

#[test]
fn amounts_are_counted_whatever_else_is_wrong() {
    let spec = json!({
        "containers": [container("a", json!({"requests": {"cpu": "1"}, "limits": {"cpu": "100m"}})), {"resources": {"requests": {"cpu": "2"}}}],
    });
    let PodReading { facts, errors } = read(&spec);
    assert_eq!(written(&facts.requests), ["cpu 3"]);
    assert_eq!(errors.len(), 2, "{errors:#?}");
}

#[test]
fn containers_need_names_of_their_own() {
    let rows = [
        (json!({"containers": []}), "/containers: a pod needs at least one container"),
        (json!({}), "/containers: a pod needs at least one container"),
        (json!({"containers": [{}]}), "/containers/0/name: a container needs a name"),
        (json!({"containers": [{"name": ""}]}), "/containers/0/name: a container needs a name"),
        (
            json!({"containers": [{"name": "a.b"}]}),
            "/containers/0/name: \"a.b\" is not a valid container name: expected a name without dots",
        ),
        (
            json!({"containers": [{"name": "a"}, {"name": "a"}]}),
            "/containers/1/name: another container is named \"a\" too",
        ),
        (
            json!({"containers": [{"name": "a"}], "initContainers": [{"name": "a"}]}),
            "/initContainers/0/name: another container",
        ),
        (json!({"containers": [{"name": 5}]}), "/containers/0/name: expected a text"),
        (json!({"containers": {"name": "a"}}), "/containers: expected a list"),
        (json!({"containers": [null]}), "/containers/0: expected an object"),
        (json!("web"), "expected an object"),
        (json!(null), "expected a pod spec"),
    ];
    for (spec, start) in rows {
        let found = errors(&spec);
        assert!(found.first().is_some_and(|error| error.starts_with(start)), "{spec}: {found:#?}");
    }
}

fn node(labels: &[(&str, &str)], taints: &[(&str, &str, TaintEffect)]) -> NodeFacts {
    NodeFacts {
        name: "n1".into(),
        labels: labels.iter().map(|(key, value)| (SmolStr::new(key), SmolStr::new(value))).collect(),
        taints: taints
            .iter()
            .map(|(key, value, effect)| Taint { key: SmolStr::new(key), value: SmolStr::new(value), effect: *effect })
            .collect(),
        unschedulable: false,
        of_pool: false,
    }
}

/// A pod whose node must satisfy one of the terms.
fn requiring(terms: Value) -> PodReading {
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    read(&pod_with("affinity", json!({"nodeAffinity": required})))
}

#[test]
fn node_affinity_is_kubernetes_own() {
    let gpu = node(&[("gpu", "v100"), ("zone", "a"), ("n", "16"), ("empty", "")], &[]);
    let expression = |key: &str, operator: &str, values: &[&str]| json!([{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]);
    let name = |operator: &str, value: &str| json!([{"matchFields": [{"key": "metadata.name", "operator": operator, "values": [value]}]}]);
    let rows = [
        (expression("gpu", "In", &["t4", "v100"]), true),
        (expression("gpu", "NotIn", &["v100"]), false),
        (expression("absent", "NotIn", &["v100"]), true),
        (expression("empty", "Exists", &[]), true),
        (expression("absent", "DoesNotExist", &[]), true),
        (expression("n", "Gt", &["8"]), true),
        (expression("n", "Gt", &["16"]), false),
        (expression("n", "Lt", &["17"]), true),
        (expression("gpu", "Lt", &["17"]), false),
        (expression("absent", "Lt", &["17"]), false),
        (name("In", "n1"), true),
        (name("NotIn", "n1"), false),
        (
            json!([{"matchExpressions": [{"key": "gpu", "operator": "Exists"}, {"key": "zone", "operator": "In", "values": ["b"]}]}]),
            false,
        ),
        (
            json!([{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}, {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]),
            true,
        ),
        // An empty term holds for no node.
        (json!([{}]), false),
        (json!([{"matchExpressions": [], "matchFields": null}]), false),
    ];
    for (terms, holds) in rows {
        let PodReading { facts, errors } = requiring(terms.clone());
        assert_eq!(errors, [], "{terms}");
        assert_eq!(fits_node(&facts, &gpu).map(|fit| fit.affinity), Ok(holds), "{terms}");
    }
    let none = requiring(json!([]));
    assert_eq!(none.errors.len(), 1);
    assert_eq!(fits_node(&none.facts, &gpu).map(|fit| fit.affinity), Ok(false), "no term holds for no node");
    let preferring = facts(pod_with(
        "affinity",
        json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["t4"]}]}}]}}),
    ));
    assert_eq!(fits_node(&preferring, &gpu).map(|fit| fit.fits()), Ok(true), "preferences keep no pod away");
}

#[test]
fn invalid_terms_are_errors_and_matter_when_no_other_holds() {
    let at = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/";
    let rows = [
        (
            json!({"matchExpressions": [{"key": "gpu", "operator": "In"}]}),
            "matchExpressions/0/values: In and NotIn need",
        ),
        (
            json!({"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["x"]}]}),
            "matchExpressions/0/values/0: \"x\" is not an integer",
        ),
        (
            json!({"matchExpressions": [{"key": "n", "operator": "Gt", "values": []}]}),
            "matchExpressions/0/values: Gt and Lt need exactly one",
        ),
        (
            json!({"matchExpressions": [{"key": "n", "operator": "in", "values": ["x"]}]}),
            "matchExpressions/0/operator: expected one of In",
        ),
        (
            json!({"matchExpressions": [{"key": "n o", "operator": "Exists"}]}),
            "matchExpressions/0/key: \"n o\" is not a valid label key",
        ),
        (
            json!({"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}),
            "matchFields/0/operator: expected In or NotIn",
        ),
        (
            json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}),
            "matchFields/0/values: expected exactly one",
        ),
        (
            json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["N 1"]}]}),
            "matchFields/0/values/0: \"N 1\" is not a node's name",
        ),
        (
            json!({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]}),
            "matchFields/0/key: nodes cannot be selected by this field",
        ),
    ];
    let node = node(&[("zone", "a")], &[]);
    for (term, message) in rows {
        let found = requiring(json!([term.clone()])).errors;
        let start = format!("{at}{message}");
        assert!(found.len() == 1 && found[0].to_string().starts_with(&start), "{term}: {found:#?}");
    }
    let wrong = json!({"matchExpressions": [{"key": "zone", "operator": "In"}]});
    let holds = json!({"matchExpressions": [{"key": "zone", "operator": "Exists"}]});
    assert!(fits_node(&requiring(json!([wrong])).facts, &node).is_err());
    assert_eq!(fits_node(&requiring(json!([wrong, holds])).facts, &node).map(|fit| fit.affinity), Ok(true));
    let mut elsewhere = requiring(json!([wrong])).facts;
    elsewhere.node_selector = [("zone".into(), "b".into())].into();
    assert_eq!(fits_node(&elsewhere, &node).map(|fit| fit.affinity), Ok(false), "the node selector is asked first");
}

#[test]
fn selectors_and_taints_keep_pods_away() {
    let tainted = node(
        &[("zone", "a")],
        &[("soft", "", TaintEffect::PreferNoSchedule), ("gpu", "v100", TaintEffect::NoSchedule)],
    );
    let cordoned = NodeFacts { unschedulable: true, ..node(&[("zone", "a")], &[]) };
    let rows = [
        (json!({}), &tainted, true, Some("gpu=v100:NoSchedule")),
        (
            json!({"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "gpu", "operator": "Exists", "effect": null}]}),
            &tainted,
            true,
            None,
        ),
        (json!({"nodeSelector": {"zone": "b"}, "tolerations": [{"operator": "Exists"}]}), &tainted, false, None),
        (
            json!({"nodeSelector": {"absent": ""}}),
            &cordoned,
            false,
            Some("node.kubernetes.io/unschedulable:NoSchedule"),
        ),
        (
            json!({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}),
            &cordoned,
            true,
            None,
        ),
    ];
    for (fields, node, affinity, untolerated) in rows {
        let mut spec = json!({"containers": [{"name": "web"}]});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let fit = fits_node(&facts(spec), node).unwrap();
        let found = fit.untolerated.as_ref().map(ToString::to_string);
        assert_eq!((fit.affinity, found.as_deref()), (affinity, untolerated), "{fields}");
        assert_eq!(fit.fits(), affinity && untolerated.is_none());
    }
}

#[test]
fn the_rest_of_the_pod() {
    let pod = facts(json!({
        "containers": [{"name": "web", "ports": [{"containerPort": 80}, {"containerPort": 443, "hostPort": 8443, "protocol": "UDP", "hostIP": "10.0.0.1"}]}],
        "initContainers": [{"name": "i", "ports": [{"containerPort": 1, "hostPort": 1}]}],
        "priorityClassName": "high",
        "tolerations": null,
        "volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "b", "emptyDir": {}}],
        "unknown": 1,
    }));
    assert_eq!(pod.host_ports, [HostPort { protocol: "UDP".into(), ip: "10.0.0.1".into(), port: 8443 }]);
    assert_eq!(pod.priority_class_name.as_deref(), Some("high"));
    assert_eq!(pod.pvc_claims, ["data"]);
    let on_host =
        facts(json!({"hostNetwork": true, "containers": [{"name": "web", "ports": [{"containerPort": 80}]}]}));
    assert_eq!(on_host.host_ports, [HostPort { protocol: "TCP".into(), ip: SmolStr::default(), port: 80 }]);

    let rows = [
        (pod_with("priorityClassName", json!("Not a name")), "/priorityClassName: \"Not a name\" is not a valid"),
        (
            pod_with(
                "tolerations",
                json!([{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 0}]),
            ),
            "/tolerations/0/tolerationSeconds: ",
        ),
        (
            pod_with("tolerations", json!([{"key": "a", "operator": "exists"}])),
            "/tolerations/0: invalid toleration: unknown variant `exists`",
        ),
        (pod_with("tolerations", json!({"key": "a"})), "/tolerations: expected a list"),
        (pod_with("nodeSelector", json!({"zone": 1})), "/nodeSelector/zone: expected a text"),
        (
            pod_with("nodeSelector", json!({"bad key": "a"})),
            "/nodeSelector/bad key: \"bad key\" is not a valid label key",
        ),
        (pod_with("volumes", json!([{"persistentVolumeClaim": {}}])), "/volumes/0/persistentVolumeClaim/claimName: "),
        (
            json!({"containers": [{"name": "a", "ports": [{"hostPort": 80}]}]}),
            "/containers/0/ports/0/containerPort: a container port needs a number",
        ),
        (
            json!({"hostNetwork": true, "containers": [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 81}]}]}),
            "/containers/0/ports/0/hostPort: on the host network a host port must equal its container port",
        ),
        (
            json!({"containers": [{"name": "a", "ports": [{"containerPort": 70000}]}]}),
            "/containers/0/ports/0/containerPort: expected a port",
        ),
        (
            json!({"containers": [{"name": "a", "ports": [{"containerPort": 1, "hostPort": 80}]}, {"name": "b", "ports": [{"containerPort": 2, "hostPort": 80}]}]}),
            "/containers/1/ports/0/hostPort: host port 80/TCP is taken twice",
        ),
    ];
    for (spec, start) in rows {
        let found = errors(&spec);
        assert!(found.len() == 1 && found[0].starts_with(start), "{spec}: {found:#?}");
    }
}

#[test]
fn what_every_node_has_and_a_pool_does_not_state_is_taken_to_hold() {
    let pool = NodeFacts { of_pool: true, ..node(&[("kubernetes.io/arch", "arm64")], &[]) };
    let real = node(&[("kubernetes.io/arch", "arm64")], &[]);
    let rows = [
        (json!({"kubernetes.io/os": "linux"}), true, false),
        (json!({"kubernetes.io/arch": "arm64"}), true, true),
        (json!({"kubernetes.io/arch": "amd64"}), false, false),
        (json!({"topology.kubernetes.io/zone": "a"}), true, false),
        (json!({"disk": "ssd"}), false, false),
    ];
    for (selector, of_pool, of_node) in rows {
        let pod = read(&json!({"nodeSelector": selector, "containers": [{"name": "a", "image": "a"}]})).facts;
        assert_eq!(fits_node(&pod, &pool).map(|fit| fit.fits()), Ok(of_pool), "{selector}");
        assert_eq!(fits_node(&pod, &real).map(|fit| fit.fits()), Ok(of_node), "{selector}");
    }
}
