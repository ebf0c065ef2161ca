//! Random small fleets: a few clusters, teams and apps with everything that placement depends on.

use std::fmt::Write as _;

use fleetwright_tests::fleet::{FleetBuilder, config_map, deployment, open_team, pool};
use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A fleet as numbers, so that a failing one shrinks.
#[derive(Clone, Debug)]
pub struct SmallFleet {
    pub clusters: Vec<SmallCluster>,
    pub apps: Vec<SmallApp>,
    /// CPUs that team t0 may ask for.
    pub quota_cpu: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct SmallCluster {
    pub region: u8,
    pub env: bool,
    /// Nodes and CPUs of a node; without pools the capacity is unknown.
    pub pools: Option<Vec<(u32, u32)>>,
    pub taint: Option<&'static str>,
    pub lifecycle: &'static str,
}

#[derive(Clone, Debug)]
pub struct SmallApp {
    pub team: u8,
    pub strategy: &'static str,
    pub capacity: Option<&'static str>,
    /// Replicas and thousandths of CPU of each Deployment.
    pub workloads: Vec<(u32, u32)>,
    /// By cluster number.
    pub weights: Option<Vec<u32>>,
    /// Topology key, `min`, and how much more `max` is.
    pub spread: Vec<(&'static str, u32, Option<u32>)>,
    /// Only clusters of this environment.
    pub only_prod: bool,
    pub per_cluster: Option<(u32, u32)>,
    pub tolerates: bool,
}

/// Small fleets that compile.
pub fn small_fleet() -> impl Strategy<Value = SmallFleet> {
    (vec(cluster(), 1..7), vec(app(), 1..6), weighted(0.3, 1_u32..30))
        .prop_map(|(clusters, apps, quota_cpu)| SmallFleet { clusters, apps, quota_cpu })
}

fn cluster() -> impl Strategy<Value = SmallCluster> {
    let nodes = prop_oneof![1 => Just(0_u32), 8 => 1_u32..8];
    let pools = weighted(0.8, vec((nodes, 1_u32..12), 1..3));
    let taint =
        weighted(0.2, prop_oneof![2 => Just("NoSchedule"), 3 => Just("NoExecute"), 1 => Just("PreferNoSchedule")]);
    let lifecycle = prop_oneof![20 => Just("Active"), 1 => Just("Cordoned"), 1 => Just("Draining")];
    (0_u8..3, any::<bool>(), pools, taint, lifecycle).prop_map(|(region, env, pools, taint, lifecycle)| SmallCluster {
        region,
        env,
        pools,
        taint,
        lifecycle,
    })
}

fn app() -> impl Strategy<Value = SmallApp> {
    let strategy = prop_oneof![Just("Duplicated"), Just("StaticWeight"), Just("DynamicWeight"), Just("Aggregated")];
    let capacity = weighted(0.3, prop_oneof![Just("Cap"), Just("Ignore"), Just("Require")]);
    let cpu_milli = prop_oneof![2 => Just(100_u32), 3 => Just(700), 3 => Just(1000), 1 => Just(3000)];
    let replicas = prop_oneof![1 => Just(0_u32), 9 => 1_u32..16];
    let workloads = prop_oneof![
        1 => Just(Vec::new()),
        8 => vec((replicas.clone(), cpu_milli.clone()), 1),
        3 => vec((replicas, cpu_milli), 2),
    ];
    let spread = prop_oneof![
        4 => Just(Vec::new()),
        1 => one_spread("cluster").prop_map(|one| vec![one]),
        1 => one_spread("region").prop_map(|one| vec![one]),
        1 => (one_spread("cluster"), one_spread("region")).prop_map(|(a, b)| vec![a, b]),
    ];
    let per_cluster = weighted(0.2, (0_u32..3, 0_u32..8));
    let weight = prop_oneof![1 => Just(0_u32), 6 => 1_u32..6];
    (
        (0_u8..2, strategy, capacity, workloads),
        (
            weighted(0.6, vec(weight, 6)),
            spread,
            proptest::bool::weighted(0.3),
            per_cluster,
            proptest::bool::weighted(0.4),
        ),
    )
        .prop_map(
            |((team, strategy, capacity, workloads), (weights, spread, only_prod, per_cluster, tolerates))| SmallApp {
                team,
                strategy,
                capacity,
                workloads,
                weights,
                spread,
                only_prod,
                per_cluster,
                tolerates,
            },
        )
}

fn one_spread(key: &'static str) -> impl Strategy<Value = (&'static str, u32, Option<u32>)> {
    (Just(key), prop_oneof![3 => Just(1_u32), 3 => Just(2), 1 => Just(3)], of(0_u32..3))
}

impl SmallFleet {
    /// This fleet with some of its clusters and apps as they are in another: where `take` is true. No cluster goes.
    pub fn mixed(&self, other: &Self, take: &[bool]) -> Self {
        let mut take = take.iter().copied().cycle();
        let mut mixed = self.clone();
        for (own, other) in mixed.clusters.iter_mut().zip(&other.clusters) {
            if take.next() == Some(true) {
                own.clone_from(other);
            }
        }
        for (own, other) in mixed.apps.iter_mut().zip(&other.apps) {
            if take.next() == Some(true) {
                own.clone_from(other);
            }
        }
        mixed.clusters.extend(other.clusters.iter().skip(self.clusters.len()).cloned());
        mixed.apps.extend(other.apps.iter().skip(self.apps.len()).cloned());
        mixed
    }

    /// The files.
    pub fn build(&self) -> FleetBuilder {
        self.build_named(&|number| (format!("a{number}"), None))
    }

    /// The same, each app under another name: those that came first come last.
    pub fn renamed(&self) -> FleetBuilder {
        let last = self.apps.len();
        self.build_named(&|number| (format!("b{}", last - number), Some(format!("a{number}"))))
    }

    /// The files, with the names of apps, and the names they had before.
    fn build_named(&self, name: &dyn Fn(usize) -> (String, Option<String>)) -> FleetBuilder {
        let mut fleet = FleetBuilder::new().open_team("t1");
        let mut team = open_team();
        if let Some(cpu) = self.quota_cpu {
            team["quota"] = json!([{ "hard": { "requests.cpu": cpu.to_string() } }]);
        }
        fleet = fleet.team("t0", team);
        for (number, cluster) in self.clusters.iter().enumerate() {
            let env = if cluster.env { "prod" } else { "dev" };
            let name = format!("c{number}");
            fleet = fleet.cluster((name.as_str(), json!({ "env": env })), cluster.spec());
        }
        let some_prod = self.clusters.iter().any(|cluster| cluster.env);
        for (number, app) in self.apps.iter().enumerate() {
            fleet = app.add_to(fleet, (number, name(number)), self.clusters.len(), some_prod);
        }
        fleet
    }
}

impl SmallCluster {
    fn spec(&self) -> Value {
        let mut spec = json!({ "region": format!("r{}", self.region), "lifecycle": self.lifecycle });
        if let Some(pools) = &self.pools {
            let pools: Vec<Value> = pools
                .iter()
                .enumerate()
                .map(|(number, (nodes, cpu))| pool(&format!("p{number}"), *nodes, &cpu.to_string(), "64Gi"))
                .collect();
            spec["nodePools"] = pools.into();
        }
        if let Some(effect) = self.taint {
            spec["taints"] = json!([{ "key": "maintenance", "effect": effect }]);
        }
        spec
    }
}

impl SmallApp {
    fn add_to(
        &self,
        fleet: FleetBuilder,
        (number, (name, was)): (usize, (String, Option<String>)),
        clusters: usize,
        some_prod: bool,
    ) -> FleetBuilder {
        let mut replicas = json!({ "strategy": self.strategy });
        if let Some(capacity) = self.capacity {
            replicas["capacity"] = capacity.into();
        }
        if let (Some(weights), "StaticWeight") = (&self.weights, self.strategy) {
            let rule = |(cluster, weight): (usize, &u32)| json!({ "clusters": { "names": [format!("c{cluster}")] }, "weight": weight });
            replicas["weights"] = weights.iter().take(clusters).enumerate().map(rule).collect();
        }
        if let Some((min, more)) = self.per_cluster {
            replicas["perCluster"] = json!({ "min": min, "max": (min + more).max(1) });
        }
        let mut placement = json!({ "replicas": replicas });
        if self.only_prod && some_prod {
            placement["clusters"] = json!({ "matchLabels": { "env": "prod" } });
        }
        if !self.spread.is_empty() {
            let one = |(key, min, more): &(&str, u32, Option<u32>)| {
                let mut one = json!({ "topologyKey": key, "min": min });
                if let Some(more) = more {
                    one["max"] = (min + more).into();
                }
                one
            };
            placement["spread"] = self.spread.iter().map(one).collect();
        }
        if self.tolerates {
            placement["tolerations"] = json!([{ "key": "maintenance", "operator": "Exists" }]);
        }
        let mut manifests = vec![config_map("settings", json!({ "number": number.to_string() }))];
        for (index, (replicas, cpu_milli)) in self.workloads.iter().enumerate() {
            let mut name = format!("w{index}");
            let _ = write!(name, "-{number}");
            manifests.push(deployment(&name, *replicas, &format!("{cpu_milli}m"), "64Mi"));
        }
        let team = format!("t{}", self.team);
        let namespace = format!("{team}-a{number}");
        let was: Vec<String> = was.into_iter().collect();
        let spec = json!({ "namespace": namespace, "placement": placement, "previousNames": was });
        fleet.app(&team, name.as_str(), spec, &manifests)
    }
}

/// What a property over these fleets proves depends on what is in them.
#[test]
fn small_fleets_hold_everything_that_matters() {
    use std::collections::BTreeMap;

    use fleetwright_compiler::plan::Cause;
    use fleetwright_compiler::schedule::Deficit;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    use crate::{compile_fresh, tree};

    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut note = |what: &str| *seen.entry(what.to_owned()).or_default() += 1;
    let mut drawn = || small_fleet().new_tree(&mut runner).expect("a fleet can be drawn").current();
    for _ in 0..200 {
        let (before, other) = (drawn(), drawn());
        let after = before.mixed(&other, &[true, false, false]);
        let Ok(first) = compile_fresh(&tree(&before.build())) else { continue };
        note("compiles");
        if first.target.apps.iter().filter(|app| app.seats.len() > 1).count() > 1 {
            note("several apps on several seats");
        }
        for deficit in first.target.apps.iter().flat_map(|app| &app.deficits) {
            match deficit {
                Deficit::Unplaced { .. } => note("unplaced"),
                Deficit::Spread { .. } => note("spread"),
                Deficit::Quota { .. } => note("quota"),
                Deficit::Group { .. } => note("group"),
                _ => note("other deficit"),
            }
        }
        let Ok(second) = compile_fresh(&tree(&after.build().placed(&first))) else { continue };
        note("changed and compiles");
        for change in second.plan.apps.iter().flat_map(|app| &app.moves) {
            match change.cause {
                Cause::Taint => note("taint"),
                Cause::Lifecycle => note("lifecycle"),
                Cause::Displaced | Cause::Lost => note("displaced"),
                Cause::Weights => note("weights"),
                Cause::Total => note("total"),
                Cause::Intent => note("intent"),
                _ => note("other cause"),
            }
        }
    }
    assert!(seen.get("compiles").copied() > Some(190), "{seen:?}");
    assert!(seen.get("changed and compiles").copied() > Some(150), "{seen:?}");
    let rare = ["several apps on several seats", "unplaced", "spread", "quota"];
    let causes = ["taint", "lifecycle", "displaced", "weights", "total", "intent"];
    for what in rare.into_iter().chain(causes) {
        assert!(seen.get(what).copied() > Some(2), "{what}: {seen:?}");
    }
}
