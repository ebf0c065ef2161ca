//! Random fleets so small that everything can be tried, and so crowded that it matters what is tried: at most five clusters
//! whose providers, regions and zones nest, few nodes, and everything that narrows where an app may go.
//!
//! Pods are of sizes that pack without waste (each divides the next and every node), or all of one size: what a pool holds
//! is then a matter of counting.

use fleetwright_tests::fleet::{FleetBuilder, deployment, pool};
use fleetwright_tests::oracle::room::Nodes;
use fleetwright_tests::oracle::spread::Constraint;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A fleet as numbers.
#[derive(Clone, Debug)]
pub struct CrowdedFleet {
    pub sites: Vec<Site>,
    pub wishes: Vec<Wish>,
    /// Thousandths of CPU of the sizes that workloads name.
    pub sizes: [u32; 3],
    /// Of team t0.
    pub limits: Limits,
}

/// What a team may ask for.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// `requests.cpu` in all.
    pub cpus: Option<u32>,
    /// `requests.cpu` in each cluster.
    pub cpus_each: Option<u32>,
    /// `pods` in all.
    pub pods: Option<u32>,
    /// `count/deployments.apps` in all.
    pub deployments: Option<u32>,
}

/// A cluster.
#[derive(Clone, Debug)]
pub struct Site {
    /// Provider, region and zone; `None` where the cluster says none of them.
    pub place: Option<[u32; 3]>,
    /// Without pools its capacity is unknown.
    pub pools: Option<Vec<Pool>>,
    pub taint: Option<&'static str>,
    pub lifecycle: &'static str,
}

/// Equal nodes.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    pub nodes: u32,
    pub cpus: u32,
    pub gpu: bool,
}

/// An app.
#[derive(Clone, Debug)]
pub struct Wish {
    pub team: u8,
    /// 2 before 1 before 0.
    pub priority: usize,
    pub strategy: &'static str,
    pub capacity: Option<&'static str>,
    /// Replicas and the size of each Deployment.
    pub workloads: Vec<(u32, usize)>,
    /// By cluster.
    pub weights: Option<Vec<u32>>,
    /// `min` and `max` of each cluster.
    pub per_cluster: Option<(u32, u32)>,
    /// Topology key, `min` and `max`.
    pub spread: Vec<(&'static str, u32, Option<u32>)>,
    /// By cluster: whether it is allowed.
    pub allowed: Vec<bool>,
    pub tolerates: bool,
    pub gpu: bool,
    /// Whether tiers overflow, and by cluster whether it is in the first of two.
    pub tiers: Option<(bool, Vec<bool>)>,
    /// Whether the group shares no cluster, in place of all; and which group.
    pub group: Option<(bool, bool)>,
}

const PRIORITIES: [(Option<&str>, i32); 3] = [(None, 0), (Some("low"), 1), (Some("high"), 100)];

/// What a fleet shall have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub apps: usize,
    /// Whether apps may have two workloads.
    pub pairs: bool,
    pub quotas: bool,
    pub groups: bool,
}

pub fn crowded_fleet(shape: Shape) -> impl Strategy<Value = CrowdedFleet> {
    let sizes = prop_oneof![
        3 => Just([1000_u32, 2000, 4000]),
        1 => Just([700; 3]),
        1 => Just([1500; 3]),
        1 => Just([3000; 3]),
    ];
    let limit = |most: u32| weighted(0.25, 0..most).prop_map(move |limit| limit.filter(|_| shape.quotas));
    let limits = (limit(24), limit(8), limit(16), limit(6)).prop_map(|(cpus, cpus_each, pods, deployments)| Limits {
        cpus,
        cpus_each,
        pods,
        deployments,
    });
    (sites(), vec(wish(shape), 1..=shape.apps), sizes, limits).prop_map(|(sites, mut wishes, sizes, limits)| {
        wishes.iter_mut().for_each(|wish| wish.make_valid(sites.len()));
        CrowdedFleet { sites, wishes, sizes, limits }
    })
}

/// Clusters in zones, zones in regions, regions of providers.
fn sites() -> impl Strategy<Value = Vec<Site>> {
    let pool =
        (prop_oneof![1 => Just(0_u32), 9 => 1_u32..5], prop_oneof![3 => Just(4_u32), 1 => Just(8)], any::<bool>())
            .prop_map(|(nodes, cpus, gpu)| Pool { nodes, cpus, gpu });
    let taint = weighted(0.15, prop_oneof![Just("NoSchedule"), Just("NoExecute"), Just("PreferNoSchedule")]);
    let lifecycle = prop_oneof![18 => Just("Active"), 1 => Just("Cordoned"), 1 => Just("Draining")];
    let site = (weighted(0.95, 0_usize..4), weighted(0.92, vec(pool, 1..3)), taint, lifecycle);
    (vec(site, 2..6), vec(0_usize..3, 4), vec(0_u32..2, 3)).prop_map(|(sites, regions, providers)| {
        let place = |zone: usize| {
            let region = regions.get(zone).copied().unwrap_or_default();
            [providers.get(region).copied().unwrap_or_default(), number(region), number(zone)]
        };
        let site = |(zone, pools, taint, lifecycle): (Option<usize>, _, _, _)| Site {
            place: zone.map(place),
            pools,
            taint,
            lifecycle,
        };
        sites.into_iter().map(site).collect()
    })
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn wish(shape: Shape) -> impl Strategy<Value = Wish> {
    let strategy = prop_oneof![
        2 => Just("Duplicated"),
        4 => Just("StaticWeight"),
        3 => Just("DynamicWeight"),
        3 => Just("Aggregated"),
    ];
    let capacity = weighted(0.5, prop_oneof![4 => Just("Cap"), 1 => Just("Ignore"), 3 => Just("Require")]);
    let workload = || (prop_oneof![1 => Just(0_u32), 12 => 1_u32..9], 0_usize..3);
    let workloads = prop_oneof![5 => vec(workload(), 1), u32::from(shape.pairs) => vec(workload(), 2)];
    let keys = proptest::sample::subsequence(vec!["provider", "region", "zone", "cluster"], 1..=3);
    let min = || prop_oneof![4 => Just(1_u32), 3 => Just(2), 1 => Just(3)];
    let bounds = move || (min(), weighted(0.6, 0_u32..2));
    let spread = prop_oneof![
        1 => Just(Vec::new()),
        1 => (keys, bounds(), bounds(), bounds()).prop_map(|(keys, a, b, c)| {
            let one = |(key, (min, more)): (&'static str, (u32, Option<u32>))| (key, min, more.map(|more| min + more));
            keys.into_iter().zip([a, b, c]).map(one).collect::<Vec<_>>()
        }),
    ];
    let allowed = prop_oneof![2 => Just(vec![true; 5]), 1 => vec(proptest::bool::weighted(0.8), 5)];
    let per_cluster = weighted(0.25, (0_u32..4, 0_u32..6).prop_map(|(min, more)| (min, (min + more).max(1))));
    let weights = weighted(0.6, vec(prop_oneof![1 => Just(0_u32), 5 => 1_u32..5], 5));
    let tiers = weighted(0.15, (any::<bool>(), vec(any::<bool>(), 5)));
    let group = weighted(0.4, (any::<bool>(), any::<bool>())).prop_map(move |group| group.filter(|_| shape.groups));
    let who = (0_u8..2, prop_oneof![3 => Just(0_usize), 1 => Just(1), 1 => Just(2)]);
    (
        (who, strategy, capacity, workloads),
        (weights, per_cluster, spread, allowed),
        (proptest::bool::weighted(0.3), proptest::bool::weighted(0.15), tiers, group),
    )
        .prop_map(|(who, bounds, rest)| {
            let ((team, priority), strategy, capacity, workloads) = who;
            let (weights, per_cluster, spread, allowed) = bounds;
            let (tolerates, gpu, tiers, group) = rest;
            let weights = weights.filter(|_| strategy == "StaticWeight");
            Wish {
                team,
                priority,
                strategy,
                capacity,
                workloads,
                weights,
                per_cluster,
                spread,
                allowed,
                tolerates,
                gpu,
                tiers,
                group,
            }
        })
}

impl CrowdedFleet {
    /// The files.
    pub fn build(&self) -> FleetBuilder {
        let names: Vec<&str> = PRIORITIES.iter().filter_map(|(name, _)| *name).collect();
        let team = |quota: Vec<Value>| {
            json!({
                "namespaces": [{ "prefix": "" }],
                "kinds": { "allow": [{ "group": "*", "kind": "*" }] },
                "priorityClassNames": names,
                "quota": quota,
            })
        };
        let mut fleet = FleetBuilder::new().team("t0", team(self.limits.spec())).team("t1", team(Vec::new()));
        for (name, value) in PRIORITIES.iter().filter_map(|(name, value)| Some(((*name)?, value))) {
            let text = format!(
                "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n"
            );
            fleet = fleet.file(&format!("policies/{name}.yaml"), text);
        }
        for (number, site) in self.sites.iter().enumerate() {
            fleet = fleet.cluster(&format!("c{number}"), site.spec());
        }
        for (number, wish) in self.wishes.iter().enumerate() {
            fleet = self.add(fleet, number, wish);
        }
        fleet
    }

    fn add(&self, fleet: FleetBuilder, number: usize, wish: &Wish) -> FleetBuilder {
        let workload = |(index, (replicas, size)): (usize, &(u32, usize))| {
            let cpu_milli = self.sizes.get(*size).copied().unwrap_or(1000);
            let mut object = deployment(&format!("w{index}-{number}"), *replicas, &format!("{cpu_milli}m"), "64Mi");
            if wish.gpu {
                object["spec"]["template"]["spec"]["nodeSelector"] = json!({ "gpu": "yes" });
            }
            object
        };
        let manifests: Vec<Value> = wish.workloads.iter().enumerate().map(workload).collect();
        let mut spec = json!({ "namespace": format!("n{number}"), "placement": wish.placement(self.sites.len()) });
        if let Some((Some(name), _)) = PRIORITIES.get(wish.priority) {
            spec["priorityClassName"] = (*name).into();
        }
        let labels = wish.group.map_or(json!({}), |(_, one)| json!({ "set": if one { "one" } else { "two" } }));
        fleet.app(&format!("t{}", wish.team), (format!("a{number}").as_str(), labels), spec, &manifests)
    }

    /// This fleet with some of its clusters, apps and quotas as they are in another: where `take` is true. No cluster goes.
    pub fn mixed(&self, other: &Self, take: &[bool]) -> Self {
        let mut take = take.iter().copied().cycle();
        let mut taken = || take.next() == Some(true);
        let mut mixed = self.clone();
        if taken() {
            mixed.limits = other.limits.clone();
        }
        if taken() {
            mixed.sizes = other.sizes;
        }
        for (own, other) in mixed.sites.iter_mut().zip(&other.sites) {
            if taken() {
                own.clone_from(other);
            }
        }
        for (own, other) in mixed.wishes.iter_mut().zip(&other.wishes) {
            if taken() {
                // of another team it would be another app
                *own = Wish { team: own.team, ..other.clone() };
            }
        }
        mixed.wishes.extend(other.wishes.iter().skip(self.wishes.len()).cloned());
        let clusters = mixed.sites.len();
        mixed.wishes.iter_mut().for_each(|wish| wish.make_valid(clusters));
        mixed
    }

    /// Apps in the order in which they are placed.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.wishes.len()).collect();
        let key = |number: &usize| self.wishes.get(*number).map(|wish| (std::cmp::Reverse(wish.priority), wish.team));
        order.sort_by_key(|number| (key(number), *number));
        order
    }

    /// Thousandths of CPU of a workload's pods.
    pub fn cpu_milli(&self, app: usize, workload: usize) -> u32 {
        let size = self.wishes.get(app).and_then(|wish| wish.workloads.get(workload)).map_or(0, |(_, size)| *size);
        self.sizes.get(size).copied().unwrap_or(1000)
    }

    /// What a cluster counts as by each key of an app's spread.
    pub fn groups(&self, wish: &Wish, cluster: usize) -> Vec<Option<u32>> {
        let place = self.sites.get(cluster).and_then(|site| site.place);
        let of = |(key, ..): &(&str, u32, Option<u32>)| match *key {
            "cluster" => Some(number(cluster)),
            "provider" => place.map(|[provider, ..]| provider),
            "region" => place.map(|[_, region, _]| region),
            _ => place.map(|[.., zone]| zone),
        };
        wish.spread.iter().map(of).collect()
    }

    /// Whether new replicas of an app may come to a cluster, whatever runs.
    pub fn may_come(&self, wish: &Wish, cluster: usize) -> bool {
        let Some(site) = self.sites.get(cluster) else { return false };
        let tainted = matches!(site.taint, Some("NoSchedule" | "NoExecute")) && !wish.tolerates;
        site.lifecycle == "Active" && !tainted && wish.is_allowed(cluster) && wish.weight(cluster) > 0
    }
}

impl Limits {
    pub fn are_any(&self) -> bool {
        let Self { cpus, cpus_each, pods, deployments } = self;
        [cpus, cpus_each, pods, deployments].into_iter().any(Option::is_some)
    }

    fn spec(&self) -> Vec<Value> {
        let Self { cpus, cpus_each, pods, deployments } = self;
        let total = |name: &str, most: &Option<u32>| most.map(|most| json!({ "hard": { name: most.to_string() } }));
        let each = cpus_each.map(|most| json!({ "hard": { "requests.cpu": most.to_string() }, "scope": "PerCluster" }));
        let all =
            [total("requests.cpu", cpus), each, total("pods", pods), total("count/deployments.apps", deployments)];
        all.into_iter().flatten().collect()
    }
}

impl Site {
    fn spec(&self) -> Value {
        let mut spec = json!({ "lifecycle": self.lifecycle });
        if let Some([provider, region, zone]) = self.place {
            spec["provider"] = format!("p{provider}").into();
            spec["region"] = format!("r{region}").into();
            spec["zones"] = json!([format!("z{zone}")]);
        }
        if let Some(pools) = &self.pools {
            let pool = |(number, of): (usize, &Pool)| {
                let mut pool = pool(&format!("p{number}"), of.nodes, &of.cpus.to_string(), "64Gi");
                if of.gpu {
                    pool["labels"] = json!({ "gpu": "yes" });
                }
                pool
            };
            spec["nodePools"] = pools.iter().enumerate().map(pool).collect();
        }
        if let Some(effect) = self.taint {
            spec["taints"] = json!([{ "key": "maintenance", "effect": effect }]);
        }
        spec
    }
}

impl Pool {
    pub fn nodes(self) -> Nodes {
        Nodes { count: self.nodes, cpu_milli: self.cpus * 1000 }
    }
}

impl Wish {
    /// Without what the compiler refuses.
    pub fn make_valid(&mut self, clusters: usize) {
        self.allowed.resize(clusters, true);
        if !self.allowed.contains(&true) {
            self.allowed = vec![true; clusters];
        }
        if let Some((overflows, first)) = &mut self.tiers {
            first.resize(clusters, false);
            *overflows &= self.strategy != "Duplicated";
        }
        self.tiers.take_if(|(_, first)| !first.contains(&true) || !first.contains(&false));
        if self.strategy == "Duplicated" && self.group.is_some_and(|(anti, _)| anti) {
            self.spread.retain(|(key, ..)| *key != "cluster");
            self.spread.push(("cluster", 1, Some(1)));
        }
    }

    pub fn is_allowed(&self, cluster: usize) -> bool {
        self.allowed.get(cluster).copied().unwrap_or(false)
    }

    pub fn weight(&self, cluster: usize) -> u32 {
        self.weights.as_ref().map_or(1, |weights| weights.get(cluster).copied().unwrap_or(0))
    }

    pub fn is_copied(&self) -> bool {
        self.strategy == "Duplicated"
    }

    /// What short room does.
    pub fn capacity(&self) -> &'static str {
        match (self.capacity, self.strategy) {
            (Some(capacity), _) => capacity,
            (None, "StaticWeight") => "Cap",
            (None, _) => "Require",
        }
    }

    pub fn constraints(&self) -> Vec<Constraint> {
        self.spread.iter().map(|(_, min, max)| Constraint { min: *min, max: *max }).collect()
    }

    /// The tiers as sets of clusters, where the app is in one of them at a time.
    pub fn one_of_tiers(&self) -> Option<[Vec<usize>; 2]> {
        let (_, first) = self.tiers.as_ref().filter(|(overflows, _)| !overflows)?;
        Some([true, false].map(|own| (0..first.len()).filter(|at| first.get(*at) == Some(&own)).collect()))
    }

    fn placement(&self, clusters: usize) -> Value {
        let name = |cluster: usize| format!("c{cluster}");
        let allowed: Vec<usize> = (0..clusters).filter(|cluster| self.is_allowed(*cluster)).collect();
        let mut replicas = json!({ "strategy": self.strategy });
        if let Some(capacity) = self.capacity {
            replicas["capacity"] = capacity.into();
        }
        if let Some(weights) = &self.weights {
            let rule = |(cluster, weight): (usize, &u32)| json!({ "clusters": { "names": [name(cluster)] }, "weight": weight });
            replicas["weights"] = weights.iter().take(clusters).enumerate().map(rule).collect();
        }
        if let Some((min, max)) = self.per_cluster {
            replicas["perCluster"] = json!({ "min": min, "max": max });
        }
        let mut placement = json!({ "replicas": replicas });
        let names: Vec<String> = allowed.iter().copied().map(name).collect();
        placement["clusters"] = json!({ "names": names });
        if let Some((overflows, first)) = &self.tiers {
            let tier = |own: bool| -> Vec<String> {
                (0..clusters).filter(|at| first.get(*at) == Some(&own)).map(name).collect()
            };
            let mode = if *overflows { "Overflow" } else { "FirstFit" };
            placement["clusters"]["tiers"] = json!({ "mode": mode, "groups": [
                { "name": "own", "clusters": { "names": tier(true) } },
                { "name": "other", "clusters": { "names": tier(false) } },
            ] });
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
}
