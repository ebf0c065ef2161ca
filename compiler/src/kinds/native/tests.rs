use serde_json::{Value, json};

use super::*;

fn kind(api_version: &str, kind: &str) -> &'static NativeKind {
    lookup_api_version(api_version, kind).unwrap_or_else(|| panic!("{api_version} {kind}"))
}

#[test]
fn the_table_loads() {
    assert_eq!(source(), "api/openapi-spec/swagger.json of k8s.io/kubernetes v1.36.1");
    assert_eq!(all().len(), 94);
    let facts = [
        ("v1", "ConfigMap", Scope::Namespaced, "configmaps"),
        ("v1", "Namespace", Scope::Cluster, "namespaces"),
        ("apps/v1", "Deployment", Scope::Namespaced, "deployments"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", Scope::Cluster, "clusterroles"),
        ("networking.k8s.io/v1", "NetworkPolicy", Scope::Namespaced, "networkpolicies"),
    ];
    for (api_version, name, scope, plural) in facts {
        let found = kind(api_version, name);
        assert_eq!((found.scope, found.plural.as_str()), (scope, plural), "{name}");
        assert_eq!(found.api_version(), api_version);
    }
    for (api_version, name) in [("v1", "Deployment"), ("apps/v1", "deployment"), ("argoproj.io/v1alpha1", "Rollout")] {
        assert_eq!(lookup_api_version(api_version, name), None, "{api_version} {name}");
    }
}

#[test]
fn lists_merge_by_their_keys() {
    let spec = |kind: &NativeKind, field: &str| match &type_def(kind.ty).fields[field].shape {
        Shape::Struct(ty) => *ty,
        other => panic!("{other:?}"),
    };
    let pod = spec(kind("v1", "Pod"), "spec");
    let service = spec(kind("v1", "Service"), "spec");
    let meta = spec(kind("v1", "Pod"), "metadata");
    let keys = |names: &[&str]| Some(ListKind::Map(names.iter().map(|name| (*name).into()).collect()));
    assert_eq!(list_kind(pod, "containers").cloned(), keys(&["name"]));
    assert_eq!(list_kind(pod, "topologySpreadConstraints").cloned(), keys(&["topologyKey", "whenUnsatisfiable"]));
    assert_eq!(list_kind(pod, "tolerations").cloned(), Some(ListKind::Atomic));
    assert_eq!(list_kind(service, "ports").cloned(), keys(&["port", "protocol"]));
    assert_eq!(list_kind(meta, "finalizers").cloned(), Some(ListKind::Set { merged: true }));
    assert_eq!(list_kind(pod, "nodeSelector"), None);
    assert_eq!(type_def(pod).fields["volumes"].strategy, Strategy::RetainKeys);
}

#[test]
fn scope_outlives_versions() {
    let facts = [
        ("storage.k8s.io", "v1", "StorageClass", Some(Scope::Cluster)),
        ("storage.k8s.io", "v1beta1", "StorageClass", Some(Scope::Cluster)),
        ("rbac.authorization.k8s.io", "v1alpha1", "ClusterRoleBinding", Some(Scope::Cluster)),
        ("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition", Some(Scope::Cluster)),
        ("policy", "v1beta1", "PodSecurityPolicy", Some(Scope::Cluster)),
        ("policy", "v1beta1", "PodDisruptionBudget", Some(Scope::Namespaced)),
        ("extensions", "v1beta1", "Ingress", Some(Scope::Namespaced)),
        ("example.org", "v1", "StorageClass", None),
        ("apps", "v1", "Wibble", None),
    ];
    for (group, version, name, expected) in facts {
        assert_eq!(scope(group, version, name), expected, "{group}/{version} {name}");
    }
}

#[test]
fn advice_on_versions() {
    let facts = [
        ("extensions/v1beta1", "Deployment", Some("there is no Deployment in extensions/v1beta1; use apps/v1")),
        ("apps/v1beta2", "StatefulSet", Some("there is no StatefulSet in apps/v1beta2; use apps/v1")),
        (
            "networking.k8s.io/v1beta1",
            "Ingress",
            Some("there is no Ingress in networking.k8s.io/v1beta1; use networking.k8s.io/v1"),
        ),
        ("batch/v1beta1", "CronJob", Some("there is no CronJob in batch/v1beta1; use batch/v1")),
        (
            "autoscaling/v2beta2",
            "HorizontalPodAutoscaler",
            Some("there is no HorizontalPodAutoscaler in autoscaling/v2beta2; use autoscaling/v2"),
        ),
        ("v1", "Deployment", Some("there is no Deployment in v1; use apps/v1")),
        ("apps/v1", "Deploymnet", Some("apps/v1 has no kind Deploymnet; did you mean Deployment?")),
        ("v1", "Wibble", Some("v1 has no kind Wibble")),
        (
            "policy/v1beta1",
            "PodSecurityPolicy",
            Some(
                "policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25: use the Pod Security admission labels of the Namespace",
            ),
        ),
        ("apps/v1", "Deployment", None),
        ("v1", "List", None),
        ("rbac.authorization.k8s.io/v1", "RoleBindingList", None),
        ("v1", "WibbleList", Some("v1 has no kind WibbleList")),
        ("gateway.networking.k8s.io/v1", "HTTPRoute", None),
        ("ray.io/v1", "RayCluster", None),
    ];
    for (api_version, name, message) in facts {
        let (group, version) = split_api_version(api_version);
        let found = version_advice(group, version, name).map(|advice| advice.to_string());
        assert_eq!(found.as_deref(), message, "{api_version} {name}");
    }
    assert!(known_group("") && known_group("apps") && known_group("extensions"));
    assert!(!known_group("ray.io"));
}

fn deployment(container: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"containers": [container]}}}})
}

#[test]
fn fields() {
    let config_map =
        |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data});
    let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data});
    let c = "spec.template.spec.containers[0]";
    let facts: Vec<(Value, Vec<String>)> = vec![
        (deployment(json!({"name": "a", "image": "i"})), vec![]),
        (
            config_map(json!({"A": true, "D": "yes", "E": null, "n": 1, "f": 1.5, "m": {}, "l": []})),
            vec![
                "data.A must be a string, got a boolean; quote it".into(),
                "data.n must be a string, got an integer; quote it".into(),
                "data.f must be a string, got a number; quote it".into(),
                "data.m must be a string, got a map".into(),
                "data.l must be a string, got a list".into(),
            ],
        ),
        (
            deployment(json!({"name": "a", "args": {"level": "high"}, "imag": "i", "env": [{"value": "v"}, null]})),
            vec![
                format!("{c}.args must be a list of strings, got a map"),
                format!("{c}.imag: there is no such field; did you mean image?"),
                format!("{c}.env[0]: name is required"),
                format!("{c}.env[1] must be a map, got null"),
            ],
        ),
        (
            deployment(json!({"name": "a", "args": [1, "b", false], "ports": [{"containerPort": "80"}], "tty": "yes"})),
            vec![
                format!("{c}.args[0] must be a string, got an integer; quote it"),
                format!("{c}.args[2] must be a string, got a boolean; quote it"),
                format!("{c}.ports[0].containerPort must be an integer, got a string; write it without quotes"),
                format!("{c}.tty must be a boolean, got a string; write it without quotes"),
            ],
        ),
        (
            deployment(json!({"name": "a", "resources": {"limits": {"cpu": 1, "memory": "1Gi", "x": true}},
                "livenessProbe": {"httpGet": {"port": "web"}, "periodSeconds": 3.0},
                "readinessProbe": {"httpGet": {"port": 1.5}, "periodSeconds": 3.5}})),
            vec![
                format!("{c}.resources.limits.x must be a quantity such as 500m or 2Gi, got a boolean"),
                format!("{c}.readinessProbe.httpGet.port must be an integer or a string, got a number"),
                format!("{c}.readinessProbe.periodSeconds must be an integer, got a number"),
            ],
        ),
        (
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}, "status": {"anything": [1]}}),
            vec!["spec: selector is required".into(), "spec: template is required".into()],
        ),
        (
            secret(
                json!({"good": "aGVsbG8=", "lines": "aGVs\nbG8=\n", "bad": "hello!", "short": "aGVsbG8", "empty": ""}),
            ),
            vec!["data.bad must be base64".into(), "data.short must be base64".into()],
        ),
        (json!([1]), vec!["the object must be a map, got a list".into()]),
    ];
    for (object, problems) in facts {
        let of = match object.get("kind").and_then(Value::as_str) {
            Some(name @ ("ConfigMap" | "Secret")) => kind("v1", name),
            _ => kind("apps/v1", "Deployment"),
        };
        let found: Vec<String> = check_fields(of, &object).iter().map(ToString::to_string).collect();
        assert_eq!(found, problems, "{object}");
    }
}

#[test]
fn a_type_that_holds_itself_ends() {
    let mut schema = json!({"type": "string"});
    for _ in 0..60 {
        schema = json!({"properties": {"x": schema}});
    }
    let crd = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    let object = json!({"spec": {"group": "g", "names": {"plural": "p", "kind": "K"}, "scope": "Cluster", "versions": [
        {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    assert_eq!(check_fields(crd, &object), vec![]);
}

#[test]
fn sizes() {
    let text = |len: usize| "x".repeat(len);
    let config_map = kind("v1", "ConfigMap");
    let secret = kind("v1", "Secret");
    let annotated = |len: usize| json!({"metadata": {"annotations": {"k": text(len)}}});
    type Fact<'a> = (Option<&'a NativeKind>, Value, Option<(&'a str, usize)>);
    let facts: Vec<Fact<'_>> = vec![
        (Some(config_map), json!({"data": {"a": text(400 * 1024)}}), None),
        (Some(config_map), json!({"data": {"a": text(1_048_576)}}), None),
        (Some(config_map), json!({"data": {"a": text(1_048_576), "b": "x"}}), Some(("/data", 1_048_577))),
        (Some(config_map), json!({"binaryData": {"a": "AAAA".repeat(349_525)}}), None),
        (Some(config_map), json!({"binaryData": {"a": "AAAA".repeat(349_526)}}), Some(("/binaryData", 1_048_578))),
        (
            Some(secret),
            json!({"data": {"a": "AAA="}, "stringData": {"b": text(1_048_575)}}),
            Some(("/stringData", 1_048_577)),
        ),
        (Some(kind("apps/v1", "Deployment")), json!({"data": {"a": text(2_000_000)}}), None),
        (None, annotated(262_143), None),
        (None, annotated(262_144), Some(("/metadata/annotations", 262_145))),
    ];
    for (kind, object, problem) in facts {
        let found = check_sizes(kind, &object);
        let found: Vec<(String, usize)> = found.iter().map(|p| (p.path.to_string(), p.bytes)).collect();
        let expected: Vec<(String, usize)> =
            problem.into_iter().map(|(path, bytes)| (path.to_owned(), bytes)).collect();
        assert_eq!(found, expected);
    }
    let problem = &check_sizes(Some(config_map), &json!({"data": {"small": "x", "big": text(1_200_000)}}))[0];
    assert_eq!(problem.largest.as_deref(), Some("big"));
    assert_eq!(
        problem.to_string(),
        "data holds 1200001 bytes; the API server allows 1048576; split it into several objects"
    );
}

#[test]
fn where_the_pods_are() {
    let facts: &[(&str, &str, Option<&str>)] = &[
        ("v1", "Pod", Some("spec")),
        ("v1", "PodTemplate", Some("template.spec")),
        ("v1", "ReplicationController", Some("spec.template.spec")),
        ("apps/v1", "Deployment", Some("spec.template.spec")),
        ("apps/v1", "StatefulSet", Some("spec.template.spec")),
        ("apps/v1", "DaemonSet", Some("spec.template.spec")),
        ("apps/v1", "ReplicaSet", Some("spec.template.spec")),
        ("batch/v1", "Job", Some("spec.template.spec")),
        ("batch/v1", "CronJob", Some("spec.jobTemplate.spec.template.spec")),
        ("v1", "ConfigMap", None),
    ];
    for (api_version, name, path) in facts {
        assert_eq!(pod_spec_path(kind(api_version, name)).map(|keys| keys.join(".")).as_deref(), *path, "{name}");
    }
}

#[test]
fn every_pod_spec_path_ends_at_a_pod_spec() {
    for kind in all() {
        let Some(path) = pod_spec_path(kind) else { continue };
        let mut ty = kind.ty;
        for key in path {
            match type_def(ty).fields[*key].shape {
                Shape::Struct(next) => ty = next,
                ref other => panic!("{}: {key}: {other:?}", kind.kind),
            }
        }
        assert_eq!(type_def(ty).name, "core.v1.PodSpec", "{}", kind.kind);
    }
}
