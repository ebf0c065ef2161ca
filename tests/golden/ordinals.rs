//! StatefulSets that are divided: only where no two clusters can run a pod of the same name.

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Compiled, Session, compile};
use fleetwright_tests::fleet::{FleetBuilder, deployment, open_team, pool};
use serde_json::{Value, json};

const NIGHT: &str = "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {name: day}\nspec:\n  timeZone: UTC\n  apps: {names: \
                     [db]}\n  phases: [{name: day, from: \"07:00\", replicas: 100%}, {name: night, from: \"19:00\", replicas: 8}]\n";

fn set(replicas: u32) -> Value {
    let mut set = deployment("db", replicas, "1", "1Gi");
    set["kind"] = json!("StatefulSet");
    set["spec"]["serviceName"] = json!("db");
    set
}

/// A StatefulSet over two clusters, 3:2, whose pods begin in `b` at `start`.
fn fleet(replicas: u32, start: Option<u32>, rules: &Value, per_cluster: Option<&Value>) -> FleetBuilder {
    let nodes = || json!({ "nodePools": [pool("general", 10, "8", "64Gi")] });
    let weight = |name: &str, weight: u32| json!({ "clusters": { "names": [name] }, "weight": weight });
    let mut replicated = json!({ "strategy": "StaticWeight", "weights": [weight("a", 3), weight("b", 2)] });
    if let Some(per_cluster) = per_cluster {
        replicated["perCluster"] = per_cluster.clone();
    }
    let overrides: Value = start
        .into_iter()
        .map(|start| {
            json!({
                "target": { "kind": "StatefulSet" },
                "clusters": { "names": ["b"] },
                "patch": { "spec": { "ordinals": { "start": start } } },
            })
        })
        .collect();
    let spec = json!({
        "namespace": "t", "placement": { "replicas": replicated }, "objects": rules, "overrides": overrides,
    });
    FleetBuilder::new().cluster("a", nodes()).cluster("b", nodes()).team("t", open_team()).app(
        "t",
        "db",
        spec,
        &[set(replicas)],
    )
}

fn compiled(fleet: &FleetBuilder) -> Result<Compiled, String> {
    let files = fleet.files().expect("the paths are inside");
    compile(&Session::new(), &Overlay::same(&files), &Scenario::default()).map_err(|error| match error {
        CompileError::Refused(refusal) => {
            let said = refusal.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message));
            said.collect::<Vec<_>>().join("; ")
        }
        error => format!("{error:?}"),
    })
}

/// Replicas and first number by cluster, as the manifests say.
fn rendered(compiled: &Compiled) -> Vec<(String, Value, Value)> {
    let mut found = Vec::new();
    for (id, cluster) in compiled.fleet.cluster_ids().zip(&compiled.fleet.clusters) {
        let mut text = String::new();
        compiled.rendered.files(id).iter().for_each(|file| file.write(&compiled.fleet, &mut text));
        for document in text.split("---\n").filter(|document| document.contains("kind: StatefulSet")) {
            let object: Value = serde_yaml::from_str(document).expect("what is rendered can be read");
            let spec = &object["spec"];
            found.push((cluster.name.to_string(), spec["replicas"].clone(), spec["ordinals"]["start"].clone()));
        }
    }
    found
}

#[test]
fn numbered_apart_they_are_divided() {
    let divide = json!([{ "match": { "kind": "StatefulSet" }, "divide": true }]);
    let compiled = compiled(&fleet(5, Some(100), &divide, None)).expect("numbers apart");
    let row = |name: &str, replicas: u32, start: Value| (name.to_owned(), json!(replicas), start);
    assert_eq!(rendered(&compiled), [row("a", 3, Value::Null), row("b", 2, json!(100))]);
}

#[test]
fn unless_asked_they_stay_whole() {
    for rules in [json!([]), json!([{ "match": { "kind": "StatefulSet" }, "divide": false }])] {
        let compiled = compiled(&fleet(5, Some(100), &rules, None)).expect("it stays in one cluster");
        assert_eq!(rendered(&compiled).len(), 1, "{rules}");
    }
}

/// Ranges are as long as the most that a cluster may get, so that they stay apart however replicas are divided later.
#[test]
fn no_two_clusters_can_run_the_same_pod() {
    let divide = json!([{ "match": { "kind": "StatefulSet" }, "divide": true }]);
    let max = |max: u32| json!({ "max": max });
    let facts = [
        (
            5,
            None,
            None,
            "FW1139: StatefulSet t/db cannot be divided: `db-0` could run in two clusters, a (db-0 to db-4) and b (db-0 to db-4)",
        ),
        (
            5,
            Some(4),
            None,
            "FW1139: StatefulSet t/db cannot be divided: `db-4` could run in two clusters, a (db-0 to db-4) and b (db-4 to db-8)",
        ),
        (5, Some(5), None, ""),
        (5, Some(4), Some(max(4)), ""),
        (
            5,
            Some(3),
            Some(max(4)),
            "FW1139: StatefulSet t/db cannot be divided: `db-3` could run in two clusters, a (db-0 to db-3) and b (db-3 to db-6)",
        ),
        // nothing runs
        (0, None, None, ""),
    ];
    for (replicas, start, per_cluster, expected) in facts {
        let said =
            compiled(&fleet(replicas, start, &divide, per_cluster.as_ref())).map(|_| ()).err().unwrap_or_default();
        assert_eq!(said, expected, "{replicas} replicas from {start:?}, {per_cluster:?}");
    }
}

/// What can never run there takes no numbers, and what may run in another phase or is recorded does.
#[test]
fn numbers_are_taken_where_pods_may_be() {
    let divide = |only: Value| json!([{ "match": { "kind": "StatefulSet" }, "clusters": only, "divide": true }]);
    let anywhere = json!([{ "match": { "kind": "StatefulSet" }, "divide": true }]);
    let c = |fleet: FleetBuilder| fleet.cluster("c", json!({ "nodePools": [pool("general", 10, "8", "64Gi")] }));
    // `c` has no weight
    assert_eq!(compiled(&c(fleet(5, Some(100), &anywhere, None))).map(|_| ()), Ok(()));
    // nor may it be in `c`, where the pods are numbered as in `a`
    let spec = |start: u32, only: Value| {
        json!({
            "namespace": "t",
            "placement": { "replicas": { "strategy": "DynamicWeight" } },
            "objects": divide(only),
            "overrides": [{
                "target": { "kind": "StatefulSet" },
                "clusters": { "names": ["b"] },
                "patch": { "spec": { "ordinals": { "start": start } } },
            }],
        })
    };
    let of = |spec: Value| c(fleet(4, None, &json!([]), None)).app("t", "db", spec, &[set(4)]);
    assert_eq!(compiled(&of(spec(5, json!({ "names": ["a", "b"] })))).map(|_| ()), Ok(()));
    let said = compiled(&of(spec(5, json!({})))).err().unwrap_or_default();
    assert!(said.contains("a (db-0 to db-3) and c (db-0 to db-3)"), "{said}");
    // 4 by day, 8 by night
    let night = of(spec(5, json!({ "names": ["a", "b"] }))).file("policies/day.yaml", NIGHT);
    let said = compiled(&night).err().unwrap_or_default();
    assert!(said.contains("a (db-0 to db-7) and b (db-5 to db-12)"), "{said}");
    let apart = of(spec(8, json!({ "names": ["a", "b"] }))).file("policies/day.yaml", NIGHT);
    assert_eq!(compiled(&apart).map(|_| ()), Ok(()));
    // it goes from `a` to `c`, and until it has, its pods are in both
    let row = |cluster: &str, replicas: u32| json!({ "cluster": cluster, "replicas": replicas });
    let placed = json!([{ "app": "db", "clusters": ["a", "b"], "workloads": [
        { "workload": "apps/StatefulSet/db", "weights": "b3:0", "seats": [row("a", 2), row("b", 2)] },
    ] }]);
    let moved = of(spec(5, json!({ "names": ["b", "c"] })));
    assert_eq!(compiled(&moved).map(|_| ()), Ok(()));
    let said = compiled(&moved.placements("t", placed)).err().unwrap_or_default();
    assert!(said.contains("a (db-0 to db-1) and c (db-0 to db-3)"), "{said}");
}

/// A count that an override writes is what runs there, before and after it is recorded; an autoscaler minds no such count.
#[test]
fn a_written_count_is_the_length_of_a_range() {
    let divide = json!([{ "match": { "kind": "StatefulSet" }, "divide": true }]);
    let set_of = |cluster: &str, spec: Value| {
        json!({
            "target": { "kind": "StatefulSet" },
            "clusters": { "names": [cluster] },
            "patch": { "spec": spec },
        })
    };
    let spec = json!({
        "namespace": "t",
        "placement": { "replicas": { "strategy": "DynamicWeight" } },
        "objects": divide,
        "overrides": [set_of("a", json!({ "replicas": 3 })), set_of("b", json!({ "ordinals": { "start": 3 } }))],
    });
    let of = |manifests: &[Value]| fleet(10, None, &json!([]), None).app("t", "db", spec.clone(), manifests);
    let plain = of(&[set(10)]);
    let first = compiled(&plain).expect("3 from 0 in a, the others from 3 in b");
    assert_eq!(compiled(&plain.placed(&first)).map(|_| ()), Ok(()));
    let scaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": { "name": "db" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db" },
            "minReplicas": 2, "maxReplicas": 10,
        },
    });
    let said = compiled(&of(&[set(10), scaler])).err().unwrap_or_default();
    assert!(said.contains("a (db-0 to db-9) and b (db-3 to db-12)"), "{said}");
}

/// The maximum of an autoscaler follows no bound of what is divided, and what an override makes of it counts.
#[test]
fn what_an_autoscaler_may_reach_is_the_length_of_a_range() {
    let divide = json!([{ "match": { "kind": "StatefulSet" }, "divide": true }]);
    let scaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": { "name": "db" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db" },
            "minReplicas": 2, "maxReplicas": 10,
        },
    });
    let of = |start: i64, per_cluster: Value, most: Option<u32>| {
        let start = json!({ "spec": { "ordinals": { "start": start } } });
        let mut overrides =
            vec![json!({ "target": { "kind": "StatefulSet" }, "clusters": { "names": ["b"] }, "patch": start })];
        overrides.extend(most.map(|most| {
            json!({ "target": { "kind": "HorizontalPodAutoscaler" }, "patch": { "spec": { "maxReplicas": most } } })
        }));
        let spec = json!({
            "namespace": "t",
            "placement": { "replicas": { "strategy": "DynamicWeight", "perCluster": per_cluster } },
            "objects": divide,
            "overrides": overrides,
        });
        let fleet = fleet(10, None, &json!([]), None).app("t", "db", spec, &[set(10), scaler.clone()]);
        compiled(&fleet).map(|compiled| fleet.placed(&compiled))
    };
    let said = |fleet: Result<FleetBuilder, String>| fleet.err().unwrap_or_default();
    let most = json!({ "max": 2 });
    assert!(said(of(4, most.clone(), None)).contains("a (db-0 to db-9) and b (db-4 to db-13)"));
    let apart = of(10, most.clone(), None).expect("ten from 0 and from 10");
    assert_eq!(compiled(&apart).map(|_| ()), Ok(()), "as it is recorded");
    assert!(said(of(10, most.clone(), Some(50))).contains("a (db-0 to db-49) and b (db-10 to db-59)"));
    let odd = said(of(-1, most, None));
    assert!(odd.contains("`spec.ordinals.start`: -1 is no number of a pod: expected 0 to 2147483647"), "{odd}");
}
