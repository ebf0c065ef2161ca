//! Random fleets of every kind of workload and every word of the record: what is divided, copied, kept whole, autoscaled,
//! bound to its data or one of several parts, in clusters that are lost, drained, observed and overcommitted.

use fleetwright_tests::fleet::{FleetBuilder, config_map, deployment, open_team, pool};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A fleet as numbers.
#[derive(Clone, Debug)]
pub struct VariedFleet {
    pub clusters: Vec<VariedCluster>,
    pub apps: Vec<VariedApp>,
    /// Resource, how much of it, and whether in each cluster; of team t0.
    pub quotas: Vec<(&'static str, u32, bool)>,
}

/// Nodes, CPUs of one, whether it has a GPU, and how many nodes it may have.
type Pool = (u32, u32, bool, Option<u32>);

#[derive(Clone, Debug)]
pub struct VariedCluster {
    region: u8,
    pools: Option<Vec<Pool>>,
    taint: Option<&'static str>,
    lifecycle: &'static str,
    overcommit: bool,
    reserved: bool,
    /// What `state/` says of it.
    observed_nodes: Option<Vec<u32>>,
    outage: Option<&'static str>,
    drained: Option<&'static str>,
    observed_taint: Option<&'static str>,
}

/// A kind of workload, with what is particular to it.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Deployment,
    /// The least, and how much more it may be.
    Autoscaled(u32, u32),
    /// Whether it numbers its pods, and whether it has storage.
    StatefulSet(bool, bool),
    /// A Deployment that mounts a claim.
    Bound,
    DaemonSet,
    /// Completions, and whether they are indexed.
    Job(Option<u32>, bool),
    CronJob,
    /// Workers beside a master.
    PyTorchJob,
    RayCluster,
}

#[derive(Clone, Debug)]
pub struct VariedApp {
    team: u8,
    priority: usize,
    strategy: &'static str,
    capacity: Option<&'static str>,
    /// Kind, replicas, thousandths of CPU.
    workloads: Vec<(Kind, u32, u32)>,
    weights: Option<Vec<u32>>,
    estimated: bool,
    per_cluster: Option<(u32, u32)>,
    spread: Vec<(&'static str, u32, Option<u32>)>,
    tiers: Option<(bool, Vec<bool>)>,
    /// Whether it shares no cluster, in place of all; and with whom.
    group: Option<(bool, bool)>,
    tolerates: bool,
    gpu: bool,
    divides: bool,
    exclusive: bool,
    suspended: bool,
    /// A cluster in which an override writes another number of replicas, and the number.
    written: Option<(usize, u32)>,
    /// What of an autoscaled workload takes room, and what quota.
    books: (&'static str, &'static str),
    /// How many replicas of an autoscaled workload are observed in each cluster.
    observed: Vec<Option<u32>>,
    survives: bool,
}

const PRIORITIES: [(&str, i32, &str); 3] =
    [("usual", 0, "Never"), ("high", 100, "PreemptLowerPriority"), ("low", -10, "Never")];

pub fn varied_fleet() -> impl Strategy<Value = VariedFleet> {
    let quota = (
        prop_oneof![
            3 => Just("requests.cpu"),
            1 => Just("limits.cpu"),
            1 => Just("requests.nvidia.com/gpu"),
            2 => Just("pods"),
            1 => Just("count/deployments.apps"),
            1 => Just("count/jobs.batch"),
            1 => Just("count/configmaps"),
            1 => Just("persistentvolumeclaims"),
            1 => Just("requests.storage"),
        ],
        0_u32..16,
        proptest::bool::weighted(0.3),
    );
    let quotas = prop_oneof![2 => Just(Vec::new()), 1 => vec(quota, 1..3)];
    (vec(cluster(), 2..6), vec(app(), 1..6), quotas).prop_map(|(clusters, apps, quotas)| {
        let mut fleet = VariedFleet { clusters, apps, quotas };
        fleet.make_valid();
        fleet
    })
}

fn cluster() -> impl Strategy<Value = VariedCluster> {
    let nodes = prop_oneof![1 => Just(0_u32), 9 => 1_u32..5];
    let pool = (nodes, prop_oneof![2 => Just(4_u32), 1 => Just(8), 1 => Just(3)], proptest::bool::weighted(0.3));
    let pool = (pool, weighted(0.15, 0_u32..4))
        .prop_map(|((nodes, cpus, gpu), more)| (nodes, cpus, gpu, more.map(|n| nodes + n)));
    let effect = || prop_oneof![2 => Just("NoSchedule"), 2 => Just("NoExecute"), 1 => Just("PreferNoSchedule")];
    let lifecycle = prop_oneof![18 => Just("Active"), 1 => Just("Cordoned"), 1 => Just("Draining")];
    let stated = (0_u8..3, weighted(0.9, vec(pool, 1..3)), weighted(0.1, effect()), lifecycle);
    let sizes = (proptest::bool::weighted(0.1), proptest::bool::weighted(0.1), weighted(0.2, vec(0_u32..5, 2)));
    let outage = weighted(0.1, prop_oneof![Just("Lost"), Just("Quarantined"), Just("Ready")]);
    let drained = weighted(0.1, prop_oneof![Just("Cordoned"), Just("Draining"), Just("Active")]);
    (stated, sizes, outage, drained, weighted(0.1, effect())).prop_map(|(stated, sizes, outage, drained, seen)| {
        let (region, pools, taint, lifecycle) = stated;
        let (overcommit, reserved, observed_nodes) = sizes;
        VariedCluster {
            region,
            pools,
            taint,
            lifecycle,
            overcommit,
            reserved,
            observed_nodes,
            outage,
            drained,
            observed_taint: seen,
        }
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        6 => Just(Kind::Deployment),
        3 => (1_u32..5, 0_u32..6).prop_map(|(min, more)| Kind::Autoscaled(min, more)),
        3 => (any::<bool>(), proptest::bool::weighted(0.3)).prop_map(|(numbers, stores)| Kind::StatefulSet(numbers, stores)),
        1 => Just(Kind::Bound),
        2 => Just(Kind::DaemonSet),
        2 => (weighted(0.7, 0_u32..8), any::<bool>()).prop_map(|(completions, indexed)| {
            Kind::Job(completions.or(if indexed { Some(3) } else { None }), indexed)
        }),
        2 => Just(Kind::CronJob),
        2 => Just(Kind::PyTorchJob),
        1 => Just(Kind::RayCluster),
    ]
}

fn app() -> impl Strategy<Value = VariedApp> {
    let strategy = prop_oneof![
        2 => Just("Duplicated"),
        4 => Just("StaticWeight"),
        3 => Just("DynamicWeight"),
        3 => Just("Aggregated"),
    ];
    let capacity = weighted(0.4, prop_oneof![3 => Just("Cap"), 1 => Just("Ignore"), 2 => Just("Require")]);
    let replicas = prop_oneof![1 => Just(0_u32), 12 => 1_u32..9];
    let cpu_milli = prop_oneof![Just(500_u32), Just(1000), Just(1500), Just(3000)];
    let workloads = vec((kind(), replicas, cpu_milli), 1..3);
    let one_spread = (
        prop_oneof![Just("cluster"), Just("region")],
        prop_oneof![3 => Just(1_u32), 2 => Just(2)],
        weighted(0.5, 0_u32..2),
    )
        .prop_map(|(key, min, more)| (key, min, more.map(|more| min + more)));
    let spread = prop_oneof![2 => Just(Vec::new()), 1 => vec(one_spread, 1)];
    let weights = weighted(0.5, vec(prop_oneof![1 => Just(0_u32), 5 => 1_u32..5], 5));
    let per_cluster = weighted(0.2, (0_u32..3, 0_u32..6).prop_map(|(min, more)| (min, (min + more).max(1))));
    let tiers = weighted(0.15, (any::<bool>(), vec(any::<bool>(), 5)));
    let group = weighted(0.25, (any::<bool>(), any::<bool>()));
    let rarely = || proptest::bool::weighted(0.1);
    let books = (
        prop_oneof![2 => Just("Min"), 1 => Just("Max"), 3 => Just("Observed")],
        prop_oneof![1 => Just("Max"), 1 => Just("Min")],
    );
    (
        (0_u8..2, 0_usize..3, strategy, capacity, workloads),
        (weights, per_cluster, spread, tiers, group, rarely()),
        (any::<bool>(), proptest::bool::weighted(0.2), any::<bool>(), rarely(), rarely()),
        (weighted(0.1, (0_usize..5, 0_u32..8)), books, vec(weighted(0.7, 0_u32..12), 5), rarely()),
    )
        .prop_map(|(what, bounds, flags, rest)| {
            let (team, priority, strategy, capacity, workloads) = what;
            let (weights, per_cluster, spread, tiers, group, estimated) = bounds;
            let (tolerates, gpu, divides, exclusive, suspended) = flags;
            let (written, books, observed, survives) = rest;
            VariedApp {
                team,
                priority,
                strategy,
                capacity,
                workloads,
                weights,
                estimated,
                per_cluster,
                spread,
                tiers,
                group,
                tolerates,
                gpu,
                divides,
                exclusive,
                suspended,
                written,
                books,
                observed,
                survives,
            }
        })
}

impl VariedFleet {
    /// Without what the compiler refuses.
    fn make_valid(&mut self) {
        let clusters = self.clusters.len();
        for app in &mut self.apps {
            app.weights.take_if(|_| app.strategy != "StaticWeight");
            app.estimated &= app.strategy == "DynamicWeight";
            if let Some((overflows, first)) = &mut app.tiers {
                first.resize(clusters, false);
                *overflows &= app.strategy != "Duplicated";
            }
            app.tiers.take_if(|(_, first)| !first.contains(&true) || !first.contains(&false));
            if app.strategy == "Duplicated" && app.group.is_some_and(|(anti, _)| anti) {
                app.spread = vec![("cluster", 1, Some(1))];
            }
            app.exclusive &= app.strategy != "Duplicated" && app.spread.iter().all(|(_, min, _)| *min < 2);
            app.written.take_if(|(cluster, _)| *cluster >= clusters);
        }
    }

    /// This fleet with some of its clusters, apps and quotas as they are in another: where `take` is true. No cluster goes.
    pub fn mixed(&self, other: &Self, take: &[bool]) -> Self {
        let mut take = take.iter().copied().cycle();
        let mut taken = || take.next() == Some(true);
        let mut mixed = self.clone();
        if taken() {
            mixed.quotas.clone_from(&other.quotas);
        }
        for (own, other) in mixed.clusters.iter_mut().zip(&other.clusters) {
            if taken() {
                own.clone_from(other);
            }
        }
        for (own, other) in mixed.apps.iter_mut().zip(&other.apps) {
            if taken() {
                // of another team it would be another app
                *own = VariedApp { team: own.team, ..other.clone() };
            }
        }
        mixed.apps.extend(other.apps.iter().skip(self.apps.len()).cloned());
        mixed.make_valid();
        mixed
    }

    /// The files.
    pub fn build(&self) -> FleetBuilder {
        let names: Vec<&str> = PRIORITIES.iter().map(|(name, ..)| *name).collect();
        let team = |quota: Vec<Value>| {
            let mut team = open_team();
            team["priorityClassNames"] = json!(names);
            team["quota"] = quota.into();
            team
        };
        let quota = |(name, most, each): &(&str, u32, bool)| {
            let scope = if *each { "PerCluster" } else { "Total" };
            let unit = if *name == "requests.storage" { "Gi" } else { "" };
            json!({ "hard": { *name: format!("{most}{unit}") }, "scope": scope })
        };
        let mut fleet =
            FleetBuilder::new().team("t0", team(self.quotas.iter().map(quota).collect())).team("t1", team(Vec::new()));
        for (name, value, preempts) in PRIORITIES {
            let text = format!(
                "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\npreemptionPolicy: {preempts}\n"
            );
            fleet = fleet.file(&format!("policies/{name}.yaml"), text);
        }
        for (number, cluster) in self.clusters.iter().enumerate() {
            fleet = cluster.add_to(fleet, &format!("c{number}"));
        }
        for (number, app) in self.apps.iter().enumerate() {
            fleet = app.add_to(fleet, number, self.clusters.len());
        }
        let room = |number: usize| {
            let clusters = (0..self.clusters.len()).map(move |cluster| {
                json!({ "team": format!("t{number}"), "cluster": format!("c{cluster}"), "room": (cluster * 3) % 7 })
            });
            clusters.collect::<Vec<_>>()
        };
        if self.apps.iter().any(|app| app.estimated) {
            let rooms: Vec<Value> = [0, 1].into_iter().flat_map(room).collect();
            fleet = fleet.file("state/estimates/outside.yaml", Value::from(rooms).to_string());
        }
        fleet
    }

    /// With what is observed of autoscaled workloads.
    pub fn observing(&self, fleet: FleetBuilder) -> FleetBuilder {
        self.apps.iter().enumerate().fold(fleet, |fleet, (number, app)| {
            match app.observations(number, self.clusters.len()) {
                Some(observed) => fleet.file(
                    &format!("state/apps/t{}/a{number}.yaml", app.team),
                    json!({ "observed": observed }).to_string(),
                ),
                None => fleet,
            }
        })
    }

    /// What `state/` says of apps, which it may say of those alone that run.
    pub fn suspending(&self, fleet: FleetBuilder) -> FleetBuilder {
        let suspended = self.apps.iter().enumerate().filter(|(_, app)| app.suspended);
        let names: Vec<String> = suspended.map(|(number, app)| format!("t{}/a{number}", app.team)).collect();
        if names.is_empty() { fleet } else { fleet.file("state/suspended.yaml", Value::from(names).to_string()) }
    }
}

impl VariedCluster {
    fn add_to(&self, fleet: FleetBuilder, name: &str) -> FleetBuilder {
        let mut spec = json!({ "region": format!("r{}", self.region), "lifecycle": self.lifecycle });
        let numbered = || self.pools.iter().flatten().enumerate();
        if self.pools.is_some() {
            let pool = |(number, (nodes, cpus, gpu, scalable_to)): (usize, &Pool)| {
                let mut pool = pool(&format!("p{number}"), *nodes, &cpus.to_string(), "64Gi");
                if *gpu {
                    pool["labels"] = json!({ "gpu": "yes" });
                    pool["allocatable"]["nvidia.com/gpu"] = "2".into();
                }
                if let Some(most) = scalable_to {
                    pool["scalableTo"] = (*most).into();
                }
                pool
            };
            spec["nodePools"] = numbered().map(pool).collect();
        }
        if let Some(effect) = self.taint {
            spec["taints"] = json!([{ "key": "maintenance", "effect": effect }]);
        }
        if self.overcommit {
            spec["overcommit"] = json!({ "cpu": "1.5" });
        }
        if self.reserved {
            spec["reserved"] = json!({ "cpu": "1500m" });
        }
        let mut fleet = fleet.cluster(name, spec);
        if let (Some(nodes), true) = (&self.observed_nodes, self.pools.is_some()) {
            let pool = |((number, (_, cpus, gpu, _)), nodes): ((usize, &Pool), &u32)| {
                let mut pool = pool(&format!("p{number}"), *nodes, &cpus.to_string(), "60Gi");
                if *gpu {
                    pool["allocatable"]["nvidia.com/gpu"] = "2".into();
                }
                pool["others"] =
                    json!([{ "owner": "apps/DaemonSet/kube-system/proxy", "requests": { "cpu": "700m" } }]);
                pool
            };
            let pools: Vec<Value> = numbered().zip(nodes).map(pool).collect();
            fleet = fleet.file(&format!("state/capacity/{name}.yaml"), json!({ "pools": pools }).to_string());
        }
        if let Some(outage) = self.outage {
            fleet = fleet.file(&format!("state/outages/{name}.yaml"), json!({ "state": outage }).to_string());
        }
        if let Some(lifecycle) = self.drained {
            fleet = fleet.file(&format!("state/lifecycle/{name}.yaml"), json!({ "lifecycle": lifecycle }).to_string());
        }
        if let Some(effect) = self.observed_taint {
            let taints = json!([{ "key": "seen", "effect": effect }]).to_string();
            fleet = fleet.file(&format!("state/taints/{name}.yaml"), taints);
        }
        fleet
    }
}

impl VariedApp {
    fn add_to(&self, fleet: FleetBuilder, number: usize, clusters: usize) -> FleetBuilder {
        let mut manifests = vec![config_map("settings", json!({ "number": number.to_string() }))];
        for (index, workload) in self.workloads.iter().enumerate() {
            manifests.extend(self.objects(&format!("w{index}-{number}"), *workload));
        }
        let mut spec = json!({ "namespace": format!("n{number}"), "placement": self.placement(clusters) });
        if let Some((name, ..)) = PRIORITIES.get(self.priority) {
            spec["priorityClassName"] = (*name).into();
        }
        if self.divides {
            let rule = |(index, _)| json!({ "match": { "name": format!("w{index}-{number}") }, "divide": true });
            let divisible = |(_, (kind, ..)): &(usize, &(Kind, u32, u32))| {
                matches!(kind, Kind::Job(Some(_), false) | Kind::StatefulSet(..))
            };
            let rules: Vec<Value> = self.workloads.iter().enumerate().filter(divisible).map(rule).collect();
            if !rules.is_empty() {
                spec["objects"] = rules.into();
            }
        }
        if self.exclusive {
            spec["exclusive"] = true.into();
        }
        if self.survives {
            spec["survive"] = "any-cluster".into();
        }
        let deployments = self.workloads.iter().any(|(kind, ..)| matches!(kind, Kind::Deployment));
        // numbered apart, whether they are divided or not
        let numbers = |cluster: usize| {
            json!({
                "target": { "kind": "StatefulSet" },
                "clusters": { "names": [format!("c{cluster}")] },
                "patch": { "spec": { "ordinals": { "start": cluster * 100 } } },
            })
        };
        let sets = self.workloads.iter().any(|(kind, ..)| matches!(kind, Kind::StatefulSet(..)));
        let mut overrides: Vec<Value> = (0..clusters).filter(|_| sets).map(numbers).collect();
        overrides.extend(self.written.filter(|_| deployments).map(|(cluster, replicas)| {
            json!({
                "target": { "kind": "Deployment" },
                "clusters": { "names": [format!("c{cluster}")] },
                "patch": { "spec": { "replicas": replicas } },
            })
        }));
        if !overrides.is_empty() {
            spec["overrides"] = overrides.into();
        }
        let labels = self.group.map_or(json!({}), |(_, one)| json!({ "set": if one { "one" } else { "two" } }));
        fleet.app(&format!("t{}", self.team), (format!("a{number}").as_str(), labels), spec, &manifests)
    }

    /// By workload and cluster; `None` where nothing is autoscaled.
    fn observations(&self, number: usize, clusters: usize) -> Option<Value> {
        let there = self.observed.iter().take(clusters).enumerate();
        let there = there.filter_map(|(cluster, seen)| Some((format!("c{cluster}"), json!({ "replicas": (*seen)? }))));
        let there: serde_json::Map<String, Value> = there.collect();
        let scaled = self.workloads.iter().enumerate().filter(|(_, (kind, ..))| matches!(kind, Kind::Autoscaled(..)));
        let of = |(index, _)| (format!("apps/Deployment/w{index}-{number}"), Value::from(there.clone()));
        let all: serde_json::Map<String, Value> = scaled.map(of).collect();
        (!all.is_empty()).then(|| all.into())
    }

    fn placement(&self, clusters: usize) -> Value {
        let name = |cluster: usize| format!("c{cluster}");
        let mut replicas = json!({ "strategy": self.strategy });
        if let Some(capacity) = self.capacity {
            replicas["capacity"] = capacity.into();
        }
        if let Some(weights) = &self.weights {
            let rule = |(cluster, weight): (usize, &u32)| json!({ "clusters": { "names": [name(cluster)] }, "weight": weight });
            replicas["weights"] = weights.iter().take(clusters).enumerate().map(rule).collect();
        }
        if self.estimated {
            replicas["weighBy"] = "outside".into();
        }
        if let Some((min, max)) = self.per_cluster {
            replicas["perCluster"] = json!({ "min": min, "max": max });
        }
        if self.workloads.iter().any(|(kind, ..)| matches!(kind, Kind::Autoscaled(..))) {
            replicas["autoscaled"] = json!({ "room": self.books.0, "quota": self.books.1 });
        }
        let mut placement = json!({ "replicas": replicas });
        if let Some((overflows, first)) = &self.tiers {
            let tier = |own: bool| -> Vec<String> {
                (0..clusters).filter(|at| first.get(*at) == Some(&own)).map(name).collect()
            };
            let mode = if *overflows { "Overflow" } else { "FirstFit" };
            placement["clusters"] = json!({ "tiers": { "mode": mode, "groups": [
                { "name": "own", "clusters": { "names": tier(true) } },
                { "name": "other", "clusters": { "names": tier(false) } },
            ] } });
        }
        if !self.spread.is_empty() {
            let one = |(key, min, max): &(&str, u32, Option<u32>)| {
                let mut one = json!({ "topologyKey": key, "min": min });
                if let Some(max) = max {
                    one["max"] = (*max).into();
                }
                one
            };
            placement["spread"] = self.spread.iter().map(one).collect();
        }
        if self.tolerates {
            placement["tolerations"] = json!([{ "key": "maintenance", "operator": "Exists" }]);
        }
        if let Some((anti, _)) = self.group {
            placement[if anti { "antiAffinity" } else { "affinity" }] = json!({ "groupBy": "set" });
        }
        placement
    }

    /// The manifests of a workload.
    fn objects(&self, name: &str, (kind, replicas, cpu_milli): (Kind, u32, u32)) -> Vec<Value> {
        let mut object = deployment(name, replicas, &format!("{cpu_milli}m"), "64Mi");
        let pod = &mut object["spec"]["template"]["spec"];
        if self.gpu {
            pod["nodeSelector"] = json!({ "gpu": "yes" });
            pod["containers"][0]["resources"]["limits"] = json!({ "nvidia.com/gpu": "1" });
        }
        let template = object["spec"]["template"].clone();
        let with = |api: &str, kind: &str, spec: Value| json!({ "apiVersion": api, "kind": kind, "metadata": { "name": name }, "spec": spec });
        let task = || {
            let mut template = template.clone();
            template["spec"]["restartPolicy"] = "Never".into();
            template
        };
        match kind {
            Kind::Deployment => vec![object],
            Kind::Autoscaled(min, more) => {
                let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": name });
                let bounds = json!({ "scaleTargetRef": target, "minReplicas": min, "maxReplicas": min + more });
                vec![object, with("autoscaling/v2", "HorizontalPodAutoscaler", bounds)]
            }
            Kind::StatefulSet(numbers, stores) => {
                object["kind"] = "StatefulSet".into();
                object["spec"]["serviceName"] = name.into();
                if numbers {
                    object["spec"]["ordinals"] = json!({ "start": 0 });
                }
                if stores {
                    object["spec"]["volumeClaimTemplates"] = json!([{
                        "metadata": { "name": "data" },
                        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
                    }]);
                }
                vec![object]
            }
            Kind::Bound => {
                object["spec"]["template"]["spec"]["volumes"] =
                    json!([{ "name": "data", "persistentVolumeClaim": { "claimName": name } }]);
                let claim =
                    json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
                vec![object, with("v1", "PersistentVolumeClaim", claim)]
            }
            Kind::DaemonSet => {
                let selector = object["spec"]["selector"].clone();
                vec![with("apps/v1", "DaemonSet", json!({ "selector": selector, "template": template }))]
            }
            Kind::Job(completions, indexed) => {
                let mut spec = json!({ "parallelism": replicas, "template": task() });
                if let Some(completions) = completions {
                    spec["completions"] = completions.into();
                }
                if indexed {
                    spec["completionMode"] = "Indexed".into();
                }
                vec![with("batch/v1", "Job", spec)]
            }
            Kind::CronJob => {
                let job = json!({ "spec": { "template": task() } });
                vec![with("batch/v1", "CronJob", json!({ "schedule": "0 3 * * *", "jobTemplate": job }))]
            }
            Kind::PyTorchJob => {
                let part = |replicas: u32| json!({ "replicas": replicas, "template": template });
                let parts = json!({ "Master": part(1), "Worker": part(replicas) });
                vec![with("kubeflow.org/v1", "PyTorchJob", json!({ "pytorchReplicaSpecs": parts }))]
            }
            Kind::RayCluster => {
                let head = json!({ "rayStartParams": {}, "template": template });
                let workers = json!([{ "groupName": "all", "replicas": replicas, "minReplicas": 0, "maxReplicas": replicas,
                    "rayStartParams": {}, "template": template }]);
                vec![with("ray.io/v1", "RayCluster", json!({ "headGroupSpec": head, "workerGroupSpecs": workers }))]
            }
        }
    }
}
