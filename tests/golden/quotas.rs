//! What a team's quota counts, in every sort of resource, from the files that people write to the plan they read.
//!
//! The next sort of resource is a row.

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{Compiled, Session, compile, diff, report};
use fleetwright_tests::fleet::{FleetBuilder, config_map, deployment, pool};
use serde_json::{Value, json};

fn compiled(fleet: &FleetBuilder) -> Compiled {
    let files = fleet.files().expect("the paths are inside");
    compile(&Session::new(), &Overlay::same(&files), &Scenario::default()).unwrap_or_else(|error| panic!("{error:?}"))
}

fn short(compiled: &Compiled) -> Vec<String> {
    report::plan(compiled).shortfalls.iter().map(|short| short.shortfall.to_string()).collect()
}

fn replicas(compiled: &Compiled) -> u32 {
    compiled.target.apps.iter().flat_map(|app| &app.seats).map(|seat| seat.replicas).sum()
}

/// Pods of 2 CPU and 4 Gi, limits of 3 CPU and 6 Gi, one GPU, 10 Gi of scratch space, and a volume of 10 Gi that is made for each.
fn web(replicas: u32) -> Value {
    let mut web = deployment("web", replicas, "2", "4Gi");
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({
        "requests": { "cpu": "2", "memory": "4Gi", "ephemeral-storage": "10Gi" },
        "limits": { "cpu": "3", "memory": "6Gi", "nvidia.com/gpu": "1" },
    });
    web["spec"]["template"]["spec"]["volumes"] =
        json!([{ "name": "data", "ephemeral": { "volumeClaimTemplate": claim("gold", "10Gi") } }]);
    web
}

fn claim(class: &str, size: &str) -> Value {
    json!({ "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class,
        "resources": { "requests": { "storage": size } },
    }})
}

/// Two large clusters, a team with a quota, and an app of these pods and two ConfigMaps.
fn fleet(quota: &Value, replicas: u32) -> FleetBuilder {
    let nodes = || {
        let mut nodes = pool("general", 10, "64", "512Gi");
        nodes["allocatable"]["nvidia.com/gpu"] = json!("8");
        nodes["allocatable"]["ephemeral-storage"] = json!("1Ti");
        json!({ "nodePools": [nodes] })
    };
    FleetBuilder::new()
        .cluster("a", nodes())
        .cluster("b", nodes())
        .team("t", json!({ "namespaces": [{ "name": "t" }], "quota": [quota] }))
        .app(
            "t",
            "web",
            json!({ "namespace": "t", "placement": { "replicas": { "strategy": "StaticWeight" } } }),
            &[web(replicas), config_map("one", json!({})), config_map("two", json!({}))],
        )
}

/// The most replicas that pass with equality; one more is refused, with the resource and the figures.
#[test]
fn every_resource_is_counted_and_equality_passes() {
    let facts: [(&str, &str, u32, &str); 19] = [
        ("cpu", "8", 4, "10"),
        ("requests.cpu", "8", 4, "10"),
        ("limits.cpu", "12", 4, "15"),
        ("memory", "16Gi", 4, "20Gi"),
        ("requests.memory", "16Gi", 4, "20Gi"),
        ("limits.memory", "24Gi", 4, "30Gi"),
        ("requests.ephemeral-storage", "40Gi", 4, "50Gi"),
        ("limits.nvidia.com/gpu", "4", 4, "5"),
        ("requests.nvidia.com/gpu", "4", 4, "5"),
        ("pods", "4", 4, "5"),
        ("count/pods", "4", 4, "5"),
        ("requests.storage", "40Gi", 4, "50Gi"),
        ("persistentvolumeclaims", "4", 4, "5"),
        ("count/persistentvolumeclaims", "4", 4, "5"),
        ("gold.storageclass.storage.k8s.io/requests.storage", "40Gi", 4, "50Gi"),
        ("gold.storageclass.storage.k8s.io/persistentvolumeclaims", "4", 4, "5"),
        ("silver.storageclass.storage.k8s.io/requests.storage", "0", 5, ""),
        // one in each of two clusters, whatever the replicas
        ("count/deployments.apps", "2", 5, ""),
        ("count/configmaps", "4", 5, ""),
    ];
    for (resource, hard, most, more) in facts {
        let quota = json!({ "hard": { resource: hard } });
        let at_most = compiled(&fleet(&quota, most));
        assert_eq!((replicas(&at_most), short(&at_most)), (most, Vec::new()), "{resource}");
        if more.is_empty() {
            continue;
        }
        let over = compiled(&fleet(&quota, most + 1));
        assert_eq!(replicas(&over), 0, "{resource}: all or nothing");
        let said = format!("the team's quota allows {hard} {resource}: 0 are used, {more} more are asked for");
        assert_eq!(short(&over), [said]);
        // what runs stays, and a person's change is an error
        let running = fleet(&quota, most).placed(&at_most);
        let grown = running.clone().app(
            "t",
            "web",
            json!({ "namespace": "t", "placement": { "replicas": { "strategy": "StaticWeight" } } }),
            &[web(most + 1), config_map("one", json!({})), config_map("two", json!({}))],
        );
        let (before, after) = (compiled(&running), compiled(&grown));
        assert_eq!(replicas(&after), most, "{resource}");
        let review = diff::diff(&before, &after);
        let errors: Vec<String> = review.errors.iter().map(|error| error.shortfall.to_string()).collect();
        assert!(errors.len() == 1 && errors[0].contains(resource), "{resource}: {errors:?}");
    }
}

/// One object less than two clusters need is refused as a whole.
#[test]
fn objects_are_refused_like_pods() {
    for (resource, hard) in [("count/deployments.apps", "1"), ("count/configmaps", "3")] {
        let over = compiled(&fleet(&json!({ "hard": { resource: hard } }), 4));
        assert_eq!(replicas(&over), 0, "{resource}");
        assert!(short(&over).iter().any(|said| said.contains(resource)), "{resource}: {:?}", short(&over));
    }
}

/// What Services and claims ask for counts in each cluster as its overrides have it.
#[test]
fn what_objects_ask_for_is_counted_after_overrides() {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" },
        "spec": { "type": "LoadBalancer", "ports": [{ "name": "a", "port": 80 }, { "name": "b", "port": 81 }] },
    });
    let mut volume = claim("gold", "10Gi");
    volume["apiVersion"] = json!("v1");
    volume["kind"] = json!("PersistentVolumeClaim");
    volume["metadata"] = json!({ "name": "cache" });
    let spec = json!({
        "namespace": "t",
        "placement": { "replicas": { "strategy": "Duplicated" } },
        "overrides": [
            { "clusters": { "names": ["b"] }, "target": { "kind": "Service" }, "patch": { "spec": { "type": "NodePort" } } },
            { "clusters": { "names": ["b"] }, "target": { "kind": "PersistentVolumeClaim" },
              "patch": { "spec": { "storageClassName": "silver" } } },
        ],
    });
    // how much all ask for
    let facts = [
        ("services", 2),
        ("services.loadbalancers", 1),
        ("services.nodeports", 4),
        ("persistentvolumeclaims", 2),
        ("requests.storage", 20 << 30),
        ("gold.storageclass.storage.k8s.io/requests.storage", 10 << 30),
        ("silver.storageclass.storage.k8s.io/persistentvolumeclaims", 1),
    ];
    for (resource, asked) in facts {
        let of = |hard: i64| {
            let quota = json!({ "hard": { resource: hard.to_string() } });
            let fleet = fleet(&quota, 1).app(
                "t",
                "web",
                spec.clone(),
                &[deployment("web", 1, "2", "4Gi"), service.clone(), volume.clone()],
            );
            compiled(&fleet)
        };
        let (most, over) = (of(asked), of(asked - 1));
        assert_eq!((replicas(&most), short(&most)), (2, Vec::new()), "{resource}");
        assert_eq!(replicas(&over), 0, "{resource}");
        assert!(short(&over).iter().any(|said| said.contains(resource)), "{resource}: {:?}", short(&over));
    }
}

/// What an override makes of an autoscaler's maximum counts, and a size that nobody can read is no way around a quota.
#[test]
fn what_overrides_and_odd_sizes_ask_for_is_counted() {
    let scaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": { "name": "web" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" },
            "minReplicas": 2, "maxReplicas": 4,
        },
    });
    let spec = json!({
        "namespace": "t", "placement": { "replicas": { "strategy": "StaticWeight" } },
        "overrides": [{ "target": { "kind": "HorizontalPodAutoscaler" }, "patch": { "spec": { "maxReplicas": 50 } } }],
    });
    let quota = |pods: u32| json!({ "hard": { "pods": pods } });
    let of = |pods: u32| compiled(&fleet(&quota(pods), 1).app("t", "web", spec.clone(), &[web(1), scaler.clone()]));
    assert_eq!((replicas(&of(100)), short(&of(100))), (2, Vec::new()));
    assert_eq!(short(&of(99)), ["the team's quota allows 99 pods: 0 are used, 100 more are asked for"]);

    for size in [json!("9223372036854775808"), json!("abc"), json!("-1Gi"), json!(null)] {
        let mut volume = claim("gold", "10Gi");
        volume["apiVersion"] = json!("v1");
        volume["kind"] = json!("PersistentVolumeClaim");
        volume["metadata"] = json!({ "name": "cache" });
        volume["spec"]["resources"]["requests"]["storage"] = size.clone();
        let fleet = fleet(&quota(9), 1).app("t", "web", json!({ "namespace": "t" }), &[web(1), volume]);
        let files = fleet.files().expect("the paths are inside");
        let refused = compile(&Session::new(), &Overlay::same(&files), &Scenario::default()).err();
        let said = format!("{refused:?}");
        assert!(said.contains("`spec.resources.requests.storage`: "), "{size}: {said}");
    }
}

/// The parts of a set count like other pods: a head and workers with 10 Gi each.
#[test]
fn storage_of_the_parts_of_a_set_is_counted() {
    let template = web(1)["spec"]["template"].clone();
    let cluster = |workers: u32| {
        json!({
            "apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": { "name": "web" },
            "spec": {
                "headGroupSpec": { "rayStartParams": {}, "template": template },
                "workerGroupSpecs": [{ "groupName": "all", "replicas": workers, "minReplicas": 0, "maxReplicas": workers,
                    "rayStartParams": {}, "template": template }],
            },
        })
    };
    let spec = json!({ "namespace": "t", "placement": { "replicas": { "strategy": "StaticWeight" } } });
    let of = |workers: u32| {
        let quota = json!({ "hard": { "requests.storage": "40Gi" } });
        let kinds = json!({ "allow": [{ "group": "ray.io", "kind": "RayCluster" }] });
        let team = json!({ "namespaces": [{ "name": "t" }], "kinds": kinds, "quota": [quota] });
        compiled(&fleet(&quota, 1).team("t", team).app("t", "web", spec.clone(), &[web(1), cluster(workers)]))
    };
    // beside the pod of the Deployment
    assert_eq!((replicas(&of(2)), short(&of(2))), (4, Vec::new()));
    assert_eq!(replicas(&of(3)), 0);
    let said = "the team's quota allows 40Gi requests.storage: 0 are used, 50Gi more are asked for";
    assert_eq!(short(&of(3)), [said]);
}

/// A quota of each cluster caps the division there, names the cluster, and is kept by Kubernetes, too.
#[test]
fn a_quota_of_each_cluster_is_rendered() {
    let quota = json!({ "scope": "PerCluster", "hard": { "requests.cpu": "8", "limits.nvidia.com/gpu": "9",
        "requests.storage": "500Gi", "gold.storageclass.storage.k8s.io/requests.storage": "400Gi" } });
    let full = compiled(&fleet(&quota, 8));
    assert_eq!((replicas(&full), short(&full)), (8, Vec::new()));
    let over = compiled(&fleet(&quota, 9));
    assert_eq!(replicas(&over), 8, "what fits runs: the quota of a cluster is a cap");
    assert!(short(&over).iter().any(|said| said.contains("in cluster a") && said.contains("requests.cpu")), "{over:?}");
    for cluster in full.fleet.cluster_ids() {
        let mut text = String::new();
        full.rendered.files(cluster).iter().for_each(|file| file.write(&full.fleet, &mut text));
        let quota =
            text.split("---\n").find(|document| document.contains("kind: ResourceQuota")).expect("there is one");
        let kept = [
            "namespace: t",
            "requests.cpu: \"8\"",
            "requests.storage: \"500Gi\"",
            "k8s.io/requests.storage: \"400Gi\"",
        ];
        assert!(kept.iter().all(|line| quota.contains(line)), "{quota}");
    }
    let total = compiled(&fleet(&json!({ "hard": { "requests.cpu": "16" } }), 8));
    let mut text = String::new();
    total
        .rendered
        .files(fleetwright_compiler::base::ClusterId(0))
        .iter()
        .for_each(|f| f.write(&total.fleet, &mut text));
    assert!(!text.contains("ResourceQuota"), "what holds over all clusters is nothing that one of them can keep");
}
