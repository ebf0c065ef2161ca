//! Which fields of two objects differ.

use serde_json::{Value, json};

use crate::diff::absent::drop_undeclared;
use crate::diff::fields::{Edit, changes};
use crate::kinds::native::lookup_api_version;

/// The changes as `path`, with `+`, `-`, `~` or `order` before it.
fn found(before: Value, after: Value) -> Vec<String> {
    let text = |key: &str| after.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = lookup_api_version(&text("apiVersion"), &text("kind"));
    let (mut before, mut after) = (before, after);
    drop_undeclared(&mut before);
    drop_undeclared(&mut after);
    let mark = |edit: &Edit| match edit {
        Edit::Added { .. } => "+",
        Edit::Removed { .. } => "-",
        Edit::Changed { .. } => "~",
        Edit::Reordered { .. } => "order",
        Edit::SecretAdded | Edit::SecretRemoved | Edit::SecretChanged => "secret",
    };
    changes(kind, &before, &after).iter().map(|change| format!("{} {}", mark(&change.edit), change.path)).collect()
}

fn deployment(pod: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": pod}}})
}

fn container(fields: Value) -> Value {
    let mut container = json!({"name": "web"});
    container.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    deployment(json!({"containers": [container]}))
}

fn hpa(metrics: Value) -> Value {
    json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"metrics": metrics}})
}

fn custom(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "web"}, "spec": spec})
}

const POD: &str = "spec.template.spec";
const WEB: &str = "spec.template.spec.containers[name=web]";

#[test]
fn what_the_server_writes_is_no_change() {
    let crd = |status: Value, metadata: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": metadata, "status": status})
    };
    let stub = json!({"acceptedNames": {"kind": "", "plural": ""}, "conditions": [], "storedVersions": []});
    let server = json!({"name": "a", "managedFields": [{"manager": "x"}], "resourceVersion": "7", "uid": "u",
        "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z", "selfLink": "/x",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}});
    assert_eq!(
        found(crd(stub, json!({"name": "a", "creationTimestamp": null})), crd(json!({"x": 1}), server)),
        [""; 0]
    );
}

#[test]
fn empty_is_absent_where_the_server_drops_it() {
    let service = |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec});
    let no_change = [
        (deployment(json!({"tolerations": null, "nodeSelector": {}})), deployment(json!({}))),
        (container(json!({"resources": {}})), container(json!({}))),
        (container(json!({"resources": {"limits": {}}})), container(json!({}))),
        (service(json!({"loadBalancerSourceRanges": []})), service(json!({}))),
        (
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "annotations": {}}, "spec": {}}),
            service(json!({})),
        ),
        (
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
                "spec": {"strategy": {}, "template": {"metadata": {"creationTimestamp": null}}}}),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {}}}),
        ),
    ];
    for (before, after) in no_change {
        assert_eq!(found(before.clone(), after.clone()), [""; 0], "{before} {after}");
        assert_eq!(found(after, before), [""; 0]);
    }
    let volume = |source: Value| deployment(json!({"volumes": [source]}));
    let changes = [
        (
            volume(json!({"name": "a"})),
            volume(json!({"name": "a", "emptyDir": {}})),
            format!("+ {POD}.volumes[name=a].emptyDir"),
        ),
        (container(json!({})), container(json!({"securityContext": {}})), format!("+ {WEB}.securityContext")),
        (container(json!({})), container(json!({"workingDir": ""})), format!("+ {WEB}.workingDir")),
        (
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}, "spec": {}}),
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"},
                "spec": {"podSelector": {}}}),
            "+ spec.podSelector".to_owned(),
        ),
        (custom(json!({})), custom(json!({"list": []})), "+ spec.list".to_owned()),
        (custom(json!({})), custom(json!({"field": null})), "+ spec.field".to_owned()),
    ];
    for (before, after, expected) in changes {
        assert_eq!(found(before, after), [expected]);
    }
}

#[test]
fn amounts_are_equal_by_meaning_where_the_field_is_an_amount() {
    let request = |cpu: Value| container(json!({"resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}));
    let path = format!("~ {WEB}.resources.requests.cpu");
    let facts: [(Value, Value, &[&str]); 6] = [
        (json!("1"), json!("1000m"), &[]),
        (json!(1), json!("1"), &[]),
        (json!("0.5"), json!("500m"), &[]),
        (json!("1e3"), json!("1k"), &[]),
        (json!("1"), json!("1001m"), &[&path]),
        (json!("1"), json!("many"), &[&path]),
    ];
    for (before, after, expected) in facts {
        assert_eq!(found(request(before.clone()), request(after.clone())), expected, "{before} {after}");
    }
    // elsewhere text is text
    let map =
        |data: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"cpu": data}});
    assert_eq!(found(map("1"), map("1000m")), ["~ data.cpu"]);
    assert_eq!(found(custom(json!({"cpu": "1"})), custom(json!({"cpu": "1000m"}))), ["~ spec.cpu"]);
    let port = |port: Value| container(json!({"livenessProbe": {"httpGet": {"port": port}}}));
    assert_eq!(found(port(json!(80)), port(json!("80"))), [format!("~ {WEB}.livenessProbe.httpGet.port")]);
}

#[test]
fn lists_with_merge_keys_are_matched_by_them() {
    let env = |list: Value| container(json!({"env": list}));
    let ports = |list: Value| container(json!({"ports": list}));
    let volumes = |list: Value| deployment(json!({"volumes": list}));
    let (a, b) = (json!({"name": "A", "value": "1"}), json!({"name": "B", "value": "2"}));
    let tls = json!({"containerPort": 443});
    let facts: Vec<(Value, Value, Vec<String>)> = vec![
        (env(json!([a])), env(json!([b, a])), vec![format!("+ {WEB}.env[name=B]")]),
        (env(json!([a, b])), env(json!([b])), vec![format!("- {WEB}.env[name=A]")]),
        (env(json!([a, b])), env(json!([a, {"name": "B", "value": "3"}])), vec![format!("~ {WEB}.env[name=B].value")]),
        // the order of variables and containers counts
        (env(json!([a, b])), env(json!([b, a])), vec![format!("order {WEB}.env")]),
        (
            deployment(json!({"initContainers": [{"name": "a"}, {"name": "b"}]})),
            deployment(json!({"initContainers": [{"name": "b"}, {"name": "a"}]})),
            vec![format!("order {POD}.initContainers")],
        ),
        // that of volumes and ports does not
        (volumes(json!([{"name": "a"}, {"name": "b"}])), volumes(json!([{"name": "b"}, {"name": "a"}])), vec![]),
        (ports(json!([{"containerPort": 80}, tls])), ports(json!([tls, {"containerPort": 80}])), vec![]),
        // a protocol that is left out is TCP
        (
            ports(json!([{"containerPort": 80}])),
            ports(json!([{"containerPort": 80, "protocol": "TCP"}])),
            vec![format!("+ {WEB}.ports[containerPort=80,protocol=TCP].protocol")],
        ),
        (
            ports(json!([{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}])),
            ports(
                json!([{"containerPort": 53, "protocol": "UDP", "name": "dns"}, {"containerPort": 53, "protocol": "TCP"}]),
            ),
            vec![format!("+ {WEB}.ports[containerPort=53,protocol=UDP].name")],
        ),
        // two of one name: compared by position
        (env(json!([a, a])), env(json!([a, b])), vec![format!("~ {WEB}.env[1].name"), format!("~ {WEB}.env[1].value")]),
        (
            custom(json!({"steps": [{"name": "x", "run": 1}, {"name": "y"}]})),
            custom(json!({"steps": [{"name": "y"}, {"name": "x", "run": 2}]})),
            vec!["~ spec.steps[name=x].run".to_owned(), "order spec.steps".to_owned()],
        ),
    ];
    for (before, after, expected) in facts {
        assert_eq!(found(before.clone(), after.clone()), expected, "{before} {after}");
    }
}

#[test]
fn other_lists_are_sets_or_sequences() {
    let args = |list: Value| container(json!({"args": list}));
    let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}});
    let cpu_90 = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 90}}});
    let memory = json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}});
    let memory_mi = json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1024Mi"}}});
    let finalizers =
        |list: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": list}});
    let facts: Vec<(Value, Value, Vec<String>)> = vec![
        (hpa(json!([cpu, memory])), hpa(json!([memory_mi, cpu])), vec![]),
        (
            hpa(json!([cpu, memory])),
            hpa(json!([memory, cpu_90])),
            vec!["~ spec.metrics[type=Resource,name=cpu].resource.target.averageUtilization".to_owned()],
        ),
        (
            args(json!(["-a", "-b"])),
            args(json!(["-b", "-a"])),
            vec![format!("+ {WEB}.args[0]"), format!("- {WEB}.args[1]")],
        ),
        (args(json!(["-a", "-b", "-c"])), args(json!(["-a", "-x", "-c"])), vec![format!("~ {WEB}.args[1]")]),
        (args(json!(["-a", "-c"])), args(json!(["-a", "-b", "-c"])), vec![format!("+ {WEB}.args[1]")]),
        (finalizers(json!(["a/x", "b/y"])), finalizers(json!(["b/y", "a/x"])), vec![]),
        (
            finalizers(json!(["a/x"])),
            finalizers(json!(["b/y"])),
            vec!["- metadata.finalizers[a/x]".to_owned(), "+ metadata.finalizers[b/y]".to_owned()],
        ),
        // inside a list without keys, a change is found where it is
        (
            custom(json!({"rules": [{"host": "a", "port": 1}, {"host": "b", "port": 2}]})),
            custom(json!({"rules": [{"host": "a", "port": 1}, {"host": "b", "port": 3}]})),
            vec!["~ spec.rules[1].port".to_owned()],
        ),
    ];
    for (before, after, expected) in facts {
        assert_eq!(found(before.clone(), after.clone()), expected, "{before} {after}");
    }
}

#[test]
fn long_lists_are_compared_in_bounded_time() {
    let list = |from: u32| custom(json!({"list": (from..from + 6_000).collect::<Vec<u32>>()}));
    let found = found(list(0), list(10_000));
    assert_eq!((found.len(), found[0].as_str(), found[5_999].as_str()), (6_000, "~ spec.list[0]", "~ spec.list[5999]"));
}

#[test]
fn values_and_keys_are_kept_as_written() {
    let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
    let kind = lookup_api_version("v1", "ConfigMap");
    let found = changes(kind, &map(json!({"a.conf": "x\n", "b": "1"})), &map(json!({"a.conf": "y\n", "c": "2"})));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(
        json,
        json!([
            {"path": "data[\"a.conf\"]", "change": "Changed", "before": "x\n", "after": "y\n"},
            {"path": "data.b", "change": "Removed", "before": "1"},
            {"path": "data.c", "change": "Added", "after": "2"},
        ])
    );
}
