//! Days in the life of a fleet, each with the plan that people would read; the plans are in `scenarios/` beside this file.
//! `SNAPSHOTS=overwrite` writes them anew.
//!
//! The next scenario is a function here that says what must hold, and shows what is planned.

use std::path::Path;

use fleetwright_compiler::base::{AppId, ClusterId};
use fleetwright_compiler::rebalance::Budget;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::what_if::{Loss, World, settled, without};
use fleetwright_compiler::{CompileError, Compiled, Session, compile, diff, report};
use fleetwright_reconciler::decide::orders::rebalance_of;
use fleetwright_tests::fleet::{FleetBuilder, config_map, deployment, pool};
use serde_json::{Value, json};
use snapbox::{Assert, Data};

fn compiled_at(fleet: &FleetBuilder, instant: Option<&str>) -> Compiled {
    let files = fleet.files().expect("the paths are inside");
    let scenario = Scenario { instant: instant.map(|text| text.parse().expect("an instant")), ..Scenario::default() };
    match compile(&Session::new(), &Overlay::same(&files), &scenario) {
        Ok(compiled) => compiled,
        Err(CompileError::Refused(refusal)) => panic!("{:#?}", refusal.diagnostics),
        Err(error) => panic!("{error}"),
    }
}

fn compiled(fleet: &FleetBuilder) -> Compiled {
    compiled_at(fleet, None)
}

/// Holds texts against a golden file, one part for each.
fn golden(name: &str, parts: &[(&str, String)]) {
    let text: String = parts.iter().map(|(title, text)| format!("# {title}\n{text}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/scenarios").join(format!("{name}.txt"));
    let assert = Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    assert.eq(Data::text(text), Data::read_from(&path, None).raw());
}

fn plan(compiled: &Compiled) -> String {
    report::plan(compiled).to_text(false)
}

fn app_of(compiled: &Compiled, name: &str) -> AppId {
    compiled.fleet.app_ids().find(|id| compiled.fleet.app_name(*id) == name).expect("the app is there")
}

/// `a 8, b 2`
fn seats(compiled: &Compiled, name: &str) -> String {
    let target = &compiled.target.apps[app_of(compiled, name).index()];
    let seats =
        target.seats.iter().map(|seat| format!("{} {}", compiled.fleet.cluster(seat.cluster).name, seat.replicas));
    seats.collect::<Vec<_>>().join(", ")
}

fn gpu_pool(nodes: u32) -> Value {
    json!({
        "name": "gpu",
        "nodes": nodes,
        "allocatable": { "cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "1" },
        "labels": { "accelerator": "v100" },
    })
}

fn with_gpu(mut manifest: Value) -> Value {
    let container = manifest.pointer_mut("/spec/template/spec/containers/0").expect("a container");
    container["resources"]["limits"] = json!({ "nvidia.com/gpu": "1" });
    container["resources"]["requests"]["nvidia.com/gpu"] = json!("1");
    manifest
}

/// The weights turn with the day, 80:20 to 20:80, and the cluster of the night has four GPUs: what fits moves, the rest
/// stays where it runs, and nothing waits for a node.
#[test]
fn tides_turn_and_a_cluster_is_short_of_gpus() {
    let fleet = FleetBuilder::new()
        .cluster("dc", json!({ "region": "cn", "nodePools": [gpu_pool(8)] }))
        .cluster("cloud", json!({ "region": "us", "nodePools": [gpu_pool(4)] }))
        .open_team("ml")
        .app(
            "ml",
            "inference",
            json!({ "placement": { "replicas": { "strategy": "StaticWeight", "weights": { "dc": 80, "cloud": 20 } } } }),
            &[with_gpu(deployment("serve", 10, "4", "16Gi"))],
        )
        .intent(
            "policies/tide.yaml",
            "Tide",
            "daily",
            json!({
                "timeZone": "Asia/Shanghai",
                "apps": { "teams": ["ml"] },
                "phases": [
                    { "name": "day", "from": "07:00", "weights": { "dc": 80, "cloud": 20 } },
                    { "name": "night", "from": "23:00", "weights": { "dc": 20, "cloud": 80 } },
                ],
            }),
        );
    let day = compiled_at(&fleet, Some("2026-11-30T04:00:00Z"));
    assert_eq!(seats(&day, "ml/inference"), "cloud 2, dc 8");
    let fleet = fleet.placed(&day);
    let night = compiled_at(&fleet, Some("2026-11-30T16:00:00Z"));
    assert_eq!(seats(&night, "ml/inference"), "cloud 4, dc 6");
    let back = compiled_at(&fleet.clone().placed(&night), Some("2026-12-01T04:00:00Z"));
    assert_eq!(seats(&back, "ml/inference"), "cloud 2, dc 8");
    golden("tide-short-of-gpus", &[("Day", plan(&day)), ("Night", plan(&night)), ("The next day", plan(&back))]);
}

fn job(name: &str) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name },
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "template": { "spec": {
                "restartPolicy": "Never",
                "containers": [{
                    "name": "main",
                    "image": "registry.example/train:1",
                    "resources": { "requests": { "cpu": "10" } },
                }],
            } },
        },
    })
}

/// Two jobs of 10 CPUs use up a quota of 20. A lost cluster must not be refused by it: the job rehomes. A third job is, at
/// review, by the quota's name.
#[test]
fn a_quota_holds_for_people_and_not_for_a_failover() {
    let job_app = |fleet: FleetBuilder, name: &str| {
        let placement = json!({ "placement": { "replicas": { "strategy": "StaticWeight" } } });
        fleet.app("batch", name, placement, &[job(name)])
    };
    let fleet = FleetBuilder::new()
        .cluster("a", json!({ "nodePools": [pool("general", 1, "24", "64Gi")] }))
        .cluster("b", json!({ "nodePools": [pool("general", 1, "24", "64Gi")] }))
        .team("batch", json!({ "namespaces": [{ "name": "batch" }], "quota": [{ "hard": { "requests.cpu": "20" } }] }));
    let fleet = job_app(job_app(fleet, "first"), "second");
    let two = compiled(&fleet);
    assert_eq!((seats(&two, "batch/first"), seats(&two, "batch/second")), ("a 1".into(), "b 1".into()));

    let record = settled(&two.fleet, &two.record, &two.target);
    let world = World { fleet: &two.fleet, variants: &two.variants, settled: &record };
    let lost = without(&world, &[Loss::Cluster("a".into())]).expect("the schedule holds");
    let after = Compiled { target: lost, ..two.clone() };
    assert_eq!((seats(&after, "batch/first"), seats(&after, "batch/second")), ("b 1".into(), "b 1".into()));
    assert!(after.target.apps.iter().all(|app| app.deficits.is_empty()));

    let running = fleet.placed(&two);
    let (before, three) = (compiled(&running), compiled(&job_app(running.clone(), "third")));
    let review = diff::diff(&before, &three);
    let errors: Vec<String> = review.errors.iter().map(|error| format!("{}: {}", error.app, error.shortfall)).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("batch/third") && errors[0].contains("requests.cpu"), "{errors:?}");
    golden("quota-and-failover", &[("Two jobs", plan(&two)), ("Review of a third", report::diff_text(&review))]);
}

/// A notebook asks for nodes with a V100: there is one cluster that has some, and the others say why not.
#[test]
fn a_notebook_lands_where_its_gpu_is() {
    let mut notebook = with_gpu(deployment("notebook", 1, "2", "8Gi"));
    notebook["spec"]["template"]["spec"]["nodeSelector"] = json!({ "accelerator": "v100" });
    let fleet = FleetBuilder::new()
        .cluster("cpu-1", json!({ "nodePools": [pool("general", 10, "16", "64Gi")] }))
        .cluster("cpu-2", json!({ "nodePools": [pool("general", 10, "16", "64Gi")] }))
        .cluster("gpu", json!({ "nodePools": [pool("general", 10, "16", "64Gi"), gpu_pool(2)] }))
        .open_team("research")
        .app("research", "notebook", json!({ "placement": { "replicas": { "strategy": "Aggregated" } } }), &[notebook]);
    let compiled = compiled(&fleet);
    assert_eq!(seats(&compiled, "research/notebook"), "gpu 1");
    golden("notebook-with-a-gpu", &[("Plan", report::plan(&compiled).to_text(true))]);
}

/// A cache of models on every cluster with GPUs, and nowhere else; a new one gets it at once.
#[test]
fn a_model_cache_on_every_gpu_cluster() {
    let cluster = |fleet: FleetBuilder, name: &str, gpu: bool| {
        let spec = json!({ "nodePools": [if gpu { gpu_pool(4) } else { pool("general", 4, "16", "64Gi") }] });
        fleet.cluster((name, json!({ "gpu": gpu.to_string() })), spec)
    };
    let fleet = ["gpu-1", "gpu-2"].iter().fold(FleetBuilder::new(), |fleet, name| cluster(fleet, name, true));
    let fleet = cluster(fleet, "plain", false).open_team("ml").app(
        "ml",
        "cache",
        json!({ "placement": {
            "clusters": { "matchLabels": { "gpu": "true" } },
            "replicas": { "strategy": "Duplicated" },
        } }),
        &[deployment("cache", 2, "1", "8Gi"), config_map("models", json!({ "list": "a b" }))],
    );
    let two = compiled(&fleet);
    assert_eq!(seats(&two, "ml/cache"), "gpu-1 2, gpu-2 2");
    let three = compiled(&cluster(fleet.placed(&two), "gpu-3", true));
    assert_eq!(seats(&three, "ml/cache"), "gpu-1 2, gpu-2 2, gpu-3 2");
    golden("model-cache", &[("Two clusters", plan(&two)), ("A third", plan(&three))]);
}

/// What is rendered for a cluster, as one text.
fn rendered(compiled: &Compiled, cluster: ClusterId) -> String {
    let mut text = String::new();
    compiled.rendered.files(cluster).iter().for_each(|file| file.write(&compiled.fleet, &mut text));
    text
}

/// Add-ons go to a 41st cluster at once; nothing that runs in the other 40 changes by a byte.
#[test]
fn a_new_cluster_gets_the_add_ons_and_the_others_stay() {
    let cluster = |fleet: FleetBuilder, number: usize| {
        fleet.cluster(&format!("c{number:02}"), json!({ "nodePools": [pool("general", 3, "8", "32Gi")] }))
    };
    let fleet = (1..=40).fold(FleetBuilder::new(), cluster).open_team("platform").open_team("shop");
    let addon = |fleet: FleetBuilder, name: &str, after: &[&str]| {
        let spec = json!({ "placement": { "replicas": { "strategy": "Duplicated" } }, "dependsOn": after });
        fleet.app("platform", name, spec, &[deployment(name, 1, "100m", "64Mi")])
    };
    let fleet = addon(fleet, "cert-manager", &[]);
    let fleet = addon(fleet, "ingress", &["platform/cert-manager"]);
    let fleet = fleet.app(
        "shop",
        "web",
        json!({ "placement": { "replicas": { "strategy": "StaticWeight" } } }),
        &[deployment("web", 120, "100m", "64Mi")],
    );
    let before = compiled(&fleet);
    let fleet = fleet.placed(&before);
    let before = compiled(&fleet);
    let after = compiled(&cluster(fleet, 41));
    for cluster in before.fleet.cluster_ids() {
        assert_eq!(rendered(&after, cluster), rendered(&before, cluster), "{}", before.fleet.cluster(cluster).name);
    }
    let new = after.fleet.cluster_id("c41").expect("it is there");
    let text = rendered(&after, new);
    assert!(text.contains("name: cert-manager") && text.contains("name: ingress") && !text.contains("name: web"));
    golden("a-41st-cluster", &[("Moves", plan(&after).split_once("\nMoves").expect("there are some").1.to_owned())]);
}

/// 300,000 replicas leave a full data centre for the cloud, at most a fifth of them in a step, and then there is nothing
/// to do.
#[test]
fn a_large_migration_goes_in_steps() {
    let fleet = FleetBuilder::new()
        .cluster("dc", json!({ "nodePools": [pool("general", 10_000, "64", "256Gi")] }))
        .open_team("shop")
        .app(
            "shop",
            "web",
            json!({ "placement": { "replicas": { "strategy": "StaticWeight" } } }),
            &[deployment("web", 300_000, "1", "1Gi")],
        );
    let fleet = fleet.clone().placed(&compiled(&fleet));
    let mut fleet = fleet.cluster("cloud", json!({ "nodePools": [pool("general", 10_000, "64", "256Gi")] }));
    let mut steps = Vec::new();
    let mut shown = Vec::new();
    for number in 1..=4 {
        let now = compiled(&fleet);
        let found = rebalance_of(&now, &now.fleet.app_ids().collect(), Budget::Percent(20));
        steps.push(found.moved);
        let mut placed = now.record.apps.clone();
        placed.extend(found.placed.clone());
        fleet = fleet.recorded(&placed);
        shown.push((format!("After step {number}"), plan(&compiled(&fleet))));
    }
    assert_eq!(steps, [60_000, 60_000, 30_000, 0]);
    assert_eq!(seats(&compiled(&fleet), "shop/web"), "cloud 150000, dc 150000");
    let parts: Vec<(&str, String)> = shown.iter().map(|(title, text)| (title.as_str(), text.clone())).collect();
    golden("migration-in-steps", &parts);
}
