//! What is rendered for a new fleet is allowed, and as much as can be placed is: judged from the manifests alone, by what
//! the fleet's numbers say.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::Compiled;
use fleetwright_tests::oracle;
use fleetwright_tests::oracle::quota::Asked;
use proptest::prelude::*;
use serde::Deserialize as _;
use serde_json::Value;

use crate::small_fleet::{SmallApp, SmallCluster, SmallFleet, small_fleet};
use crate::{cases, compile_fresh, tree};

/// Replicas by app, workload and cluster, as the manifests say.
type Rendered = BTreeMap<(usize, usize), BTreeMap<usize, u32>>;

/// All rendered objects with their cluster.
fn objects(compiled: &Compiled) -> Vec<(usize, Value)> {
    let mut objects = Vec::new();
    for cluster in compiled.fleet.cluster_ids() {
        for file in compiled.rendered.files(cluster) {
            let mut text = String::new();
            file.write(&compiled.fleet, &mut text);
            for document in serde_yaml::Deserializer::from_str(&text) {
                objects.push((cluster.index(), Value::deserialize(document).expect("rendered YAML can be read")));
            }
        }
    }
    objects
}

fn rendered(compiled: &Compiled) -> Rendered {
    let mut rendered = Rendered::new();
    for (cluster, object) in objects(compiled) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if text("/kind") != "Deployment" {
            continue;
        }
        // w<workload>-<app>
        let (workload, app) = text("/metadata/name").split_once('-').expect("a name of small_fleet");
        let key = (app.parse().expect("a number"), workload.trim_start_matches('w').parse().expect("a number"));
        let replicas = object.pointer("/spec/replicas").and_then(Value::as_u64).expect("replicas are stated");
        rendered.entry(key).or_default().insert(cluster, u32::try_from(replicas).expect("32 bits"));
    }
    rendered
}

/// Whether new replicas may come here at all.
fn allowed(app: &SmallApp, number: usize, cluster: &SmallCluster, fleet: &SmallFleet) -> bool {
    let some_prod = fleet.clusters.iter().any(|cluster| cluster.env);
    let weight = match (&app.weights, app.strategy) {
        (Some(weights), "StaticWeight") => weights.get(number).copied().unwrap_or(0),
        _ => 1,
    };
    let tainted = matches!(cluster.taint, Some("NoSchedule" | "NoExecute")) && !app.tolerates;
    weight > 0 && !tainted && cluster.lifecycle == "Active" && (cluster.env || !app.only_prod || !some_prod)
}

/// Pods of so many thousandths of CPU that an empty cluster holds; a node holds 110.
fn room(cluster: &SmallCluster, cpu_milli: u32) -> Option<u32> {
    let pools = cluster.pools.as_ref()?;
    Some(pools.iter().map(|(nodes, cpu)| nodes * (cpu * 1000 / cpu_milli).min(110)).sum())
}

fn group(key: &str, number: usize, cluster: &SmallCluster) -> u32 {
    if key == "region" { u32::from(cluster.region) } else { u32::try_from(number).unwrap_or(u32::MAX) }
}

proptest! {
    #![proptest_config(cases(150, 100_000))]

    #[test]
    fn placements_of_a_new_fleet_are_allowed(fleet in small_fleet()) {
        let compiled = match compile_fresh(&tree(&fleet.build())) {
            Ok(compiled) => compiled,
            Err(error) => return Err(TestCaseError::reject(error.to_string())),
        };
        let rendered = rendered(&compiled);
        for (number, app) in fleet.apps.iter().enumerate() {
            let duplicated = app.strategy == "Duplicated";
            for (workload, (wanted, _)) in app.workloads.iter().enumerate() {
                let Some(places) = rendered.get(&(number, workload)) else { continue };
                let total: u32 = places.values().sum();
                let label = format!("app {number}, workload {workload}: {places:?}");
                for (at, replicas) in places {
                    let cluster = fleet.clusters.get(*at).expect("a cluster of the fleet");
                    prop_assert!(allowed(app, *at, cluster, &fleet) || *replicas == 0, "{}", label);
                    if duplicated {
                        prop_assert_eq!(replicas, wanted, "{}", label);
                    } else if let Some((min, more)) = app.per_cluster {
                        prop_assert!(*replicas <= (min + more).max(1), "{}", label);
                    }
                }
                if !duplicated {
                    prop_assert!(total <= *wanted, "{}", label);
                }
                // Several workloads share a set, and one may be missing from a part of it.
                if total > 0 && app.workloads.len() == 1 {
                    for (key, min, more) in &app.spread {
                        let groups: BTreeSet<u32> = places
                            .iter()
                            .filter(|(_, replicas)| **replicas > 0)
                            .filter_map(|(at, _)| Some(group(key, *at, fleet.clusters.get(*at)?)))
                            .collect();
                        let groups = u32::try_from(groups.len()).unwrap_or(u32::MAX);
                        prop_assert!(groups >= *min, "{} over {} {}s", label, groups, key);
                        prop_assert!(more.is_none_or(|more| groups <= min + more), "{} over {} {}s", label, groups, key);
                    }
                }
            }
        }
        // Room, where no app was told to ignore it.
        if fleet.apps.iter().all(|app| app.capacity != Some("Ignore")) {
            let mut asked = Asked::default();
            for (cluster, object) in objects(&compiled) {
                asked.add(&cluster.to_string(), &object).map_err(TestCaseError::fail)?;
            }
            for (number, cluster) in fleet.clusters.iter().enumerate() {
                let Some(pools) = &cluster.pools else { continue };
                let offered: u64 = pools.iter().map(|(nodes, cpu)| u64::from(*nodes) * u64::from(*cpu) * 1000).sum();
                let used = asked.cpu_milli.get(&number.to_string()).copied().unwrap_or(0);
                prop_assert!(used <= offered, "cluster {}: {} of {}", number, used, offered);
            }
        }
        if let Some(cpu) = fleet.quota_cpu {
            let mut asked = Asked::default();
            for (cluster, object) in objects(&compiled) {
                let team = object.pointer("/metadata/labels/fleetwright.io~1team").and_then(Value::as_str);
                if team == Some("t0") {
                    asked.add(&cluster.to_string(), &object).map_err(TestCaseError::fail)?;
                }
            }
            prop_assert!(asked.total().0 <= u64::from(cpu) * 1000, "{:?} of {} CPUs", asked, cpu);
        }
    }

    /// One app with one workload, divided: as many replicas as any allowed set of clusters holds.
    #[test]
    fn a_single_app_is_placed_as_far_as_possible(fleet in small_fleet()) {
        let mut fleet = fleet;
        fleet.quota_cpu = None;
        fleet.apps.truncate(1);
        let Some(app) = fleet.apps.first_mut() else { return Ok(()) };
        app.workloads.truncate(1);
        app.per_cluster = None;
        if app.strategy == "Duplicated" {
            app.strategy = "DynamicWeight";
        }
        let app = app.clone();
        let Some((wanted, cpu_milli)) = app.workloads.first().copied().filter(|(wanted, _)| *wanted > 0) else {
            return Ok(());
        };
        let compiled = match compile_fresh(&tree(&fleet.build())) {
            Ok(compiled) => compiled,
            Err(error) => return Err(TestCaseError::reject(error.to_string())),
        };
        let placed: u32 = rendered(&compiled).get(&(0, 0)).map_or(0, |places| places.values().sum());
        let clusters: Vec<oracle::spread::Cluster> = fleet
            .clusters
            .iter()
            .enumerate()
            .map(|(number, cluster)| {
                let room = if app.capacity == Some("Ignore") { None } else { room(cluster, cpu_milli) };
                let room = if allowed(&app, number, cluster, &fleet) { room.unwrap_or(wanted) } else { 0 };
                let groups = app.spread.iter().map(|(key, ..)| Some(group(key, number, cluster))).collect();
                oracle::spread::Cluster { room: u64::from(room), groups }
            })
            .collect();
        let constraints: Vec<oracle::spread::Constraint> = app
            .spread
            .iter()
            .map(|(_, min, more)| oracle::spread::Constraint { min: *min, max: more.map(|more| min + more) })
            .collect();
        let most = oracle::spread::most_placed(&clusters, &constraints, u64::from(wanted)).unwrap_or(0);
        let all_or_nothing = match app.capacity {
            Some(capacity) => capacity == "Require",
            None => app.strategy != "StaticWeight",
        };
        let right = if all_or_nothing && most < u64::from(wanted) { 0 } else { most };
        prop_assert_eq!(u64::from(placed), right, "{:?}", compiled.target);
    }
}
