//! Counts and values that reach a cluster: what placements fill in, what overrides keep for themselves, and whose values a
//! cluster gets that keeps replicas for want of another place.

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{Compiled, Session, compile, diff};
use fleetwright_tests::fleet::{FleetBuilder, deployment, open_team, pool};
use serde_json::{Value, json};

fn compiled(fleet: &FleetBuilder) -> Compiled {
    let files = fleet.files().unwrap();
    compile(&Session::new(), &Overlay::same(&files), &Scenario::default()).unwrap()
}

/// Every object of a kind that a cluster gets.
fn objects(compiled: &Compiled, cluster: &str, kind: &str) -> Vec<Value> {
    let id = compiled.fleet.cluster_id(cluster).unwrap();
    let files = compiled.rendered.files(id).iter();
    let values = files.flat_map(|file| file.objects.iter().map(|o| o.value(file.key(&compiled.fleet, o))));
    values.filter(|value| value["kind"] == kind).collect()
}

fn spec(compiled: &Compiled, cluster: &str, kind: &str) -> Value {
    let mut found = objects(compiled, cluster, kind);
    assert_eq!(found.len(), 1, "{kind} in {cluster}: {found:?}");
    found.remove(0)["spec"].take()
}

fn fleet() -> FleetBuilder {
    FleetBuilder::new().open_team("shop").cluster("eu", json!({"region": "eu"})).cluster("us", json!({"region": "us"}))
}

#[test]
fn a_cluster_that_keeps_replicas_keeps_its_own_values() {
    let overrides = json!([{"target": {"kind": "Deployment"}, "env": {"REGION": "${cluster.region}"}}]);
    let app = |clusters: Value| {
        let placement = json!({"clusters": clusters, "replicas": {"strategy": "StaticWeight"}});
        json!({"namespace": "shop", "placement": placement, "overrides": overrides})
    };
    let manifests = [deployment("web", 3, "1", "1Gi")];
    let full = fleet().cluster("us", json!({"region": "us", "nodePools": [pool("p", 0, "8", "32Gi")]}));
    let runs = compiled(&full.clone().app("shop", "web", app(json!({"names": ["eu", "us"]})), &manifests));
    // us has no node, and eu is none of the app's clusters any more: what runs there stays
    let leaving = full.app("shop", "web", app(json!({"names": ["us"]})), &manifests).placed(&runs);
    let result = compiled(&leaving);
    let kept = spec(&result, "eu", "Deployment");
    assert_eq!(kept["replicas"], 3);
    assert_eq!(kept["template"]["spec"]["containers"][0]["env"], json!([{"name": "REGION", "value": "eu"}]));
}

#[test]
fn what_an_override_writes_or_removes_is_not_filled_in() {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sweep"}, "spec": {
        "parallelism": 4, "completions": 8,
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a:1"}]}}}});
    let facts = [
        (json!([]), json!(2), (json!(2), json!(4))),
        (json!([{"target": {"kind": "Deployment"}, "remove": ["/spec/replicas"]}]), Value::Null, (json!(2), json!(4))),
        (json!([{"target": {"kind": "Deployment"}, "set": {"/spec/replicas": 7}}]), json!(7), (json!(2), json!(4))),
        (json!([{"target": {"kind": "Job"}, "set": {"/spec/completions": 100}}]), json!(2), (json!(2), json!(100))),
        (json!([{"target": {"kind": "Job"}, "set": {"/spec/parallelism": 9}}]), json!(2), (json!(9), json!(4))),
    ];
    for (overrides, replicas, (parallelism, completions)) in facts {
        let app = json!({
            "namespace": "shop",
            "placement": {"replicas": {"strategy": "StaticWeight"}},
            "objects": [{"match": {"kind": "Job"}, "divide": true}],
            "overrides": overrides,
        });
        let fleet = fleet().app("shop", "web", app, &[deployment("web", 4, "1", "1Gi"), job.clone()]);
        let result = compiled(&fleet);
        for cluster in ["eu", "us"] {
            let (web, sweep) = (spec(&result, cluster, "Deployment"), spec(&result, cluster, "Job"));
            assert_eq!(web["replicas"], replicas, "{overrides}");
            assert_eq!((&sweep["parallelism"], &sweep["completions"]), (&parallelism, &completions), "{overrides}");
        }
        let again = compiled(&fleet.clone().placed(&result));
        assert!(diff::diff(&result, &again).is_empty(), "{overrides}");
    }
}

#[test]
fn a_total_that_is_refused_changes_no_object() {
    let team = || {
        let mut team = open_team();
        team["quota"] = json!([{"hard": {"requests.cpu": "4"}}]);
        team
    };
    let with = |replicas: u32| {
        let app = json!({"namespace": "shop", "placement": {"replicas": {"strategy": "StaticWeight"}}});
        fleet().team("shop", team()).app("shop", "web", app, &[deployment("web", replicas, "1", "1Gi")])
    };
    let runs = compiled(&with(4));
    let refused = compiled(&with(9).placed(&runs));
    let found = diff::diff(&runs, &refused);
    assert_eq!(found.errors.len(), 1);
    assert_eq!((found.objects.len(), found.rewritten_objects), (0, 0));
}

#[test]
fn floors_that_starve_a_group_of_the_spread_add_nothing() {
    let app = json!({
        "namespace": "shop",
        "placement": {
            "spread": [{"topologyKey": "region", "min": 2}],
            "replicas": {"strategy": "StaticWeight", "weights": [{"clusters": {}, "weight": 1, "min": 4}]},
        },
    });
    let result = compiled(&fleet().app("shop", "web", app, &[deployment("web", 6, "1", "1Gi")]));
    assert_eq!(result.target.apps[0].seats, []);
    assert!(!result.target.apps[0].deficits.is_empty());
}

#[test]
fn a_pool_that_is_renamed_or_not_stated_takes_no_node_away() {
    let seen = "pools: [{name: general, nodes: 4, allocatable: {cpu: \"8\", memory: 16Gi, pods: \"50\"}}]\n";
    let app = json!({"namespace": "shop", "placement": {"replicas": {"strategy": "StaticWeight"}}});
    let with = |pools: Option<&str>| {
        let mut eu = json!({"region": "eu"});
        if let Some(name) = pools {
            eu["nodePools"] = json!([pool(name, 4, "8", "16Gi")]);
        }
        let fleet = fleet().cluster("eu", eu).file("state/capacity/eu.yaml", seen);
        fleet.app("shop", "web", app.clone(), &[deployment("web", 6, "1", "1Gi")])
    };
    let runs = compiled(&with(Some("general")));
    assert_eq!(spec(&runs, "eu", "Deployment")["replicas"], 3);
    for pools in [Some("workers"), None] {
        let renamed = compiled(&with(pools).placed(&runs));
        assert_eq!(spec(&renamed, "eu", "Deployment")["replicas"], 3, "{pools:?}");
        let told = renamed.diagnostics.iter().any(|d| d.message.contains("general"));
        assert!(told, "{pools:?}: nothing says that the observed pool is unknown");
    }
}
