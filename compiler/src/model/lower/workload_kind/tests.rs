use serde_json::{Value, json};

use super::*;
use crate::diff::tests::fixture::Files;
use crate::kinds::custom::find;
use crate::kinds::pod;

fn shipped_kind(group: &str, kind: &str) -> &'static CustomKind {
    find(shipped_kinds(), group, kind).unwrap_or_else(|| panic!("{group} {kind}"))
}

#[test]
fn shipped_kinds_are_whole() {
    let mut documents = 0;
    for (name, text) in shipped::FILES {
        let ir = parse::parse(text.as_bytes(), FileForm::of(FileClass::Policy, name), &Limits::default());
        assert_eq!(ir.findings, [], "{name}");
        for doc in &ir.docs {
            let DocBody::Intent(intent) = &doc.body else { panic!("{name}") };
            let Intent::WorkloadKind(object) = &**intent else { panic!("{name}") };
            let mut findings = Vec::new();
            teach(&object.spec, &mut findings);
            assert_eq!(findings, [], "{name}: {}", object.metadata.name.value);
            documents += 1;
        }
    }
    assert_eq!(shipped_kinds().len(), documents);
    assert!(shipped_kinds().is_sorted_by_key(|kind| (&kind.group, &kind.kind)));
    for (group, kinds) in [
        ("apps.kruise.io", "AdvancedCronJob BroadcastJob CloneSet DaemonSet SidecarSet StatefulSet UnitedDeployment"),
        ("argoproj.io", "Workflow"),
        ("batch.volcano.sh", "Job"),
        ("flink.apache.org", "FlinkDeployment"),
        ("helm.toolkit.fluxcd.io", "HelmRelease"),
        ("kubeflow.org", "MPIJob Notebook PyTorchJob TFJob"),
        ("kustomize.toolkit.fluxcd.io", "Kustomization"),
        ("kyverno.io", "ClusterPolicy Policy"),
        ("ray.io", "RayCluster RayJob RayService"),
        ("source.toolkit.fluxcd.io", "Bucket GitRepository HelmChart HelmRepository OCIRepository"),
        ("sparkoperator.k8s.io", "SparkApplication"),
    ] {
        for kind in kinds.split(' ') {
            shipped_kind(group, kind);
        }
    }
}

/// `name=replicas:cpu` of each part.
fn parts(group: &str, kind: &str, spec: &Value) -> String {
    let components = shipped_kind(group, kind).components(&json!({ "spec": spec }));
    let each = components.iter().map(|component| {
        let requests = component.pod.as_ref().map(|spec| pod::read(spec).facts.requests).unwrap_or_default();
        format!("{}={}:{}", component.name, component.replicas, requests.get("cpu"))
    });
    each.collect::<Vec<_>>().join(" ")
}

#[test]
fn sets_as_their_operators_read_them() {
    let template =
        |cpu: &str| json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}});
    let facts = [
        (
            ("flink.apache.org", "FlinkDeployment"),
            json!({"jobManager": {"resource": {"cpu": 1}}, "taskManager": {"replicas": 5, "resource": {"cpu": 2}}}),
            "jobmanager=1:1000 taskmanager=5:2000",
        ),
        (
            ("kubeflow.org", "PyTorchJob"),
            json!({"pytorchReplicaSpecs": {
                "Worker": {"replicas": "3", "template": template("2")}, "Master": {"template": template("1")},
            }}),
            "master=1:1000 worker=3:2000",
        ),
        (
            ("kubeflow.org", "TFJob"),
            json!({"tfReplicaSpecs": {"Evaluator": {}, "PS": {"replicas": 2}, "Chief": {"replicas": 0}}}),
            "ps=2:0 chief=0:0 evaluator=1:0",
        ),
        (("kubeflow.org", "MPIJob"), json!({"mpiReplicaSpecs": {"Worker": {}}}), "Worker=1:0"),
        (
            ("ray.io", "RayService"),
            json!({"rayClusterConfig": {
                "headGroupSpec": {"template": template("1")},
                "workerGroupSpecs": [{"replicas": 2, "template": template("4")}, {"groupName": "idle"}],
            }}),
            "ray-head=1:1000 worker-1=2:4000 idle=0:0",
        ),
        (("ray.io", "RayJob"), json!({}), ""),
        (
            ("batch.volcano.sh", "Job"),
            json!({"tasks": [
                {"name": "ps", "replicas": 2, "minAvailable": 1, "template": template("1")}, {"minAvailable": 3},
            ]}),
            "ps=2:1000 task-1=3:0",
        ),
    ];
    for ((group, kind), spec, expected) in facts {
        assert_eq!(parts(group, kind, &spec), expected, "{kind} {spec}");
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    let component = "components: [{name: a}]";
    for (spec, code, at) in [
        ("replicas: [spec.size]", codes::kinds::BAD_POINTER, "spec.size"),
        ("components: [{name: a, template: spec}]", codes::kinds::BAD_POINTER, "spec"),
        ("dividable: true", codes::kinds::BAD_TEACHING, "true"),
        ("replicas: [/spec/size], dividable: true, perNode: true", codes::kinds::BAD_TEACHING, "true"),
        (&format!("{component}, dividable: true"), codes::kinds::BAD_TEACHING, "true"),
        (&format!("{component}, replicas: [/spec/size]"), codes::kinds::BAD_TEACHING, "[/spec/size]"),
        (&format!("{component}, componentsAs: SparkApplication"), codes::kinds::BAD_TEACHING, "SparkApplication"),
        ("dependencies: [{kind: Secret}]", codes::kinds::BAD_TEACHING, "{kind: Secret}"),
        (
            "dependencies: [{podSpec: /spec, kind: Secret}]",
            codes::kinds::BAD_TEACHING,
            "{podSpec: /spec, kind: Secret}",
        ),
        ("health: {current: stauts.ready}", codes::kinds::BAD_EXPRESSION, "stauts"),
    ] {
        let text = format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: WorkloadKind\nmetadata: {{name: a}}\nspec: {{group: example.com, kind: \
             Thing, {spec}}}\n"
        );
        let ir = parse::parse(text.as_bytes(), FileForm::of(FileClass::Policy, "policies/a.yaml"), &Limits::default());
        assert_eq!(ir.findings, [], "{spec}");
        let DocBody::Intent(intent) = &ir.docs[0].body else { panic!("{spec}") };
        let Intent::WorkloadKind(object) = &**intent else { panic!("{spec}") };
        let mut findings = Vec::new();
        teach(&object.spec, &mut findings);
        let found: Vec<_> = findings.iter().map(|f| (f.code, &text[f.span.range()])).collect();
        assert_eq!(found, [(code, at)], "{spec}");
    }
}

/// Each workload of the app `own` with its share of each cluster.
fn placed(files: &Files) -> Vec<String> {
    let compiled = files.compiled();
    let id = compiled.fleet.app_id("shop", "own").unwrap();
    let app = compiled.fleet.app(id);
    let mut seats: Vec<String> = compiled.target.apps[id.index()]
        .seats
        .iter()
        .map(|seat| {
            let key = &app.workloads[usize::from(seat.workload)].key;
            format!("{key} {} {}", compiled.fleet.cluster(seat.cluster).name, seat.replicas)
        })
        .collect();
    let mut text = String::new();
    for cluster in compiled.fleet.cluster_ids() {
        let files = compiled.rendered.files(cluster).iter().filter(|file| file.app == Some(id));
        files.for_each(|file| file.write(&compiled.fleet, &mut text));
    }
    seats.extend(text.lines().filter(|line| line.trim_start().starts_with("size:")).map(str::to_owned));
    seats
}

#[test]
fn a_custom_resource_is_divided_as_its_kind_says() {
    let kind = |spec: &str| {
        format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: WorkloadKind\nmetadata: {{name: things}}\nspec: {{group: example.com, \
             kind: Thing, replicas: [/spec/size], templates: [/spec/pods]{spec}}}\n"
        )
    };
    let thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: shop}\nspec:\n  size: 6\n  pods: {spec: \
                 {containers: [{name: c, image: a, resources: {requests: {cpu: 1}}}]}}\n";
    let placement = "{namespace: shop, placement: {clusters: {regions: [eu]}, replicas: {strategy: StaticWeight, weights: \
                     {eu-a: 2, eu-b: 1}}}}";
    let files = Files::shop().app("own", placement).with("teams/shop/own/t.yaml", thing);
    let taught = |spec: &str| files.clone().with("policies/things.yaml", &kind(spec));
    assert_eq!(
        placed(&taught(", dividable: true")),
        ["example.com/Thing/t eu-a 4", "example.com/Thing/t eu-b 2", "  size: 4", "  size: 2"]
    );
    assert_eq!(placed(&taught("")), ["example.com/Thing/t eu-a 6", "  size: 6"], "whole unless told otherwise");
    assert_eq!(placed(&files), ["  size: 6", "  size: 6"], "nothing is known of it");

    // a number that an override writes counts, as for a Deployment
    let overridden = "{namespace: shop, placement: {clusters: {regions: [eu]}, replicas: {strategy: StaticWeight}}, overrides: \
                      [{target: {kind: Thing}, clusters: {names: [eu-a]}, set: {/spec/size: 9}}]}";
    assert_eq!(
        placed(&taught(", dividable: true").app("own", overridden)),
        ["example.com/Thing/t eu-a 3", "example.com/Thing/t eu-b 3", "  size: 9", "  size: 3"]
    );
}

#[test]
fn a_fleet_teaches_a_shipped_kind_its_own_way() {
    let set = "apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec: {replicas: 4}\n";
    let placement = "{namespace: shop, placement: {clusters: {regions: [eu]}, replicas: {strategy: StaticWeight, weights: {eu-a: 1, eu-b: 1}}}}";
    let files = Files::shop().app("own", placement).with("teams/shop/own/db.yaml", set);
    assert_eq!(placed(&files), ["apps.kruise.io/StatefulSet/db eu-a 4"]);
    let own = "apiVersion: fleetwright.io/v1alpha1\nkind: WorkloadKind\nmetadata: {name: sets}\nspec: {group: apps.kruise.io, kind: \
               StatefulSet, replicas: [/spec/replicas], dividable: true}\n";
    assert_eq!(
        placed(&files.with("policies/own.yaml", own)),
        ["apps.kruise.io/StatefulSet/db eu-a 2", "apps.kruise.io/StatefulSet/db eu-b 2"]
    );
}
