//! How many replicas fit: Karmada's general estimate from totals, and its accurate one, node by node.

use std::collections::BTreeMap;

use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::base::quantity::{Quantity, amount};
use fleetwright_compiler::base::taint::Taint;
use fleetwright_compiler::base::{ClusterId, Resources, SmolStr};
use fleetwright_compiler::kinds::pod::{self, NodeFacts, PodFacts};
use fleetwright_compiler::room::{
    EligiblePool, Excess, PoolSpec, Rooms, SetPart, summary_room, summary_room_without_pods, summary_sets,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asked::{Deviation, Op, Unanswered, as_written};
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "max_replicas_summary", answer: from_summary, normal: as_written, deviations: &[] },
    Op { name: "general_max_replicas", answer: from_summaries, normal: as_written, deviations: &[] },
    Op { name: "max_replicas_resource_models", answer: from_models, normal: as_written, deviations: &[] },
    Op { name: "max_sets_resource_models", answer: sets_from_models, normal: as_written, deviations: &[] },
    Op { name: "general_max_sets", answer: sets_from_summary, normal: as_written, deviations: &[] },
    Op { name: "simulate_sets", answer: simulated_sets, normal: as_written, deviations: &[] },
    Op { name: "accurate_sets", answer: accurate_sets, normal: as_written, deviations: PODS },
    Op { name: "match_node", answer: match_node, normal: as_written, deviations: &[] },
    Op { name: "accurate_max_replicas", answer: from_nodes, normal: as_written, deviations: PODS },
];

/// Quantities by name.
pub type Amounts = BTreeMap<SmolStr, Quantity>;

/// Quantities as the amounts that are booked.
pub fn resources(amounts: &Amounts) -> Resources {
    Resources(amounts.iter().map(|(name, quantity)| (name.clone(), amount(name, quantity))).collect())
}

/// Karmada's `ReplicaRequirements`.
#[derive(Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Requirements {
    #[serde(default)]
    pub resource_request: Option<Amounts>,
    #[serde(default)]
    node_claim: Option<NodeClaim>,
    #[serde(default)]
    pub namespace: Option<String>,
    #[serde(default)]
    pub priority_class_name: Option<String>,
}

/// Karmada's `NodeClaim`: parts of a pod spec.
#[derive(Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NodeClaim {
    #[serde(default)]
    hard_node_affinity: Option<Value>,
    #[serde(default)]
    node_selector: Option<Value>,
    #[serde(default)]
    tolerations: Option<Value>,
}

impl Requirements {
    /// What one replica requests.
    pub fn request(&self) -> Resources {
        self.resource_request.as_ref().map(resources).unwrap_or_default()
    }

    /// A pod that requests as much on such nodes.
    pub fn pod(&self) -> PodFacts {
        let claim = self.node_claim.clone().unwrap_or_default();
        let mut spec = Map::new();
        let mut put = |key: &str, value: Option<Value>| value.map(|value| spec.insert(key.to_owned(), value));
        put("nodeSelector", claim.node_selector);
        put("tolerations", claim.tolerations);
        let affinity = claim
            .hard_node_affinity
            .map(|required| json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": required } }));
        put("affinity", affinity);
        let request = self.resource_request.clone().unwrap_or_default();
        let requests: Map<String, Value> =
            request.iter().map(|(name, quantity)| (name.to_string(), quantity.canonical().into())).collect();
        put("containers", Some(json!([{ "name": "c", "resources": { "requests": requests } }])));
        pod::read(&Value::Object(spec)).facts
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Summary {
    #[serde(default)]
    allocatable: Amounts,
    #[serde(default)]
    allocated: Amounts,
    #[serde(default)]
    allocating: Amounts,
    #[serde(default)]
    allocatable_modelings: Option<Vec<Count>>,
}

impl Summary {
    fn used(&self) -> Resources {
        let mut used = resources(&self.allocated);
        used.add(&resources(&self.allocating), 1);
        used
    }
}

/// Karmada counts in 32 bits.
fn replicas(room: u64) -> u64 {
    room.min(i32::MAX as u64)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromSummary {
    summary: Summary,
    requirements: Option<Requirements>,
}

fn from_summary(input: &Value) -> Result<Value, Unanswered> {
    let FromSummary { summary, requirements } = read(input)?;
    let request = requirements.unwrap_or_default().request();
    // Inside Karmada's estimate, which counts `pods` before: 64 bits here.
    Ok(json!({ "replicas": summary_room_without_pods(&resources(&summary.allocatable), &summary.used(), &request) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromSummaries {
    clusters: Vec<SummarisedCluster>,
    requirements: Option<Requirements>,
    #[serde(default)]
    assumed: Vec<Assumed>,
    #[serde(default, rename = "feature_gates")]
    _feature_gates: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SummarisedCluster {
    #[serde(rename = "name")]
    _name: String,
    #[serde(default)]
    resource_summary: Option<Summary>,
    #[serde(default)]
    resource_models: Option<Vec<Grade>>,
}

/// Nodes of about one size.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grade {
    grade: u32,
    ranges: Vec<Range>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    name: SmolStr,
    min: Quantity,
    #[serde(default, rename = "max")]
    _max: Option<Quantity>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    grade: u32,
    count: u32,
}

/// Nodes as pools.
struct Nodes {
    rooms: Rooms,
    /// What decides which pods may use a pool.
    facts: Vec<NodeFacts>,
}

impl Nodes {
    /// Each grade is a pool of nodes that have the least of it.
    fn of_models(grades: &[Grade], counts: &[Count]) -> Self {
        let spec = |count: &Count| {
            let grade = grades.iter().find(|grade| grade.grade == count.grade);
            let ranges = grade.into_iter().flat_map(|grade| &grade.ranges);
            let offers = ranges.map(|range| (range.name.clone(), amount(&range.name, &range.min))).collect();
            PoolSpec::new(format!("grade-{}", count.grade), count.count, Resources(offers))
        };
        let specs: Vec<PoolSpec> = counts.iter().map(spec).collect();
        let any = NodeFacts {
            name: SmolStr::default(),
            labels: Labels::new(),
            taints: Vec::new(),
            unschedulable: false,
            of_pool: false,
        };
        let facts = vec![any; counts.len()];
        Self { rooms: Rooms::new([specs]), facts }
    }

    fn eligible(&self, pod: &PodFacts) -> Vec<EligiblePool> {
        let pools = self.rooms.pools(ClusterId(0)).zip(&self.facts);
        let fit = pools.filter(|(_, node)| pod::fits_node(pod, node).is_ok_and(|fit| fit.fits()));
        fit.map(|(pool, node)| EligiblePool { pool, tainted: !node.taints.is_empty() }).collect()
    }

    /// What is on its way takes its place first, as far as there is one.
    fn assume(&mut self, assumed: &[Assumed]) {
        for component in assumed.iter().flat_map(|workload| &workload.components) {
            let pod = component.pod();
            let pools = self.eligible(&pod);
            let request = self.rooms.request(&pod.requests);
            let spread = self.rooms.spread_over_pools(&pools, request, component.replicas, Excess::Leave);
            for (pool, replicas) in spread.seats {
                self.rooms.book(pool, request, replicas);
            }
        }
    }

    fn room(&mut self, requirements: &Requirements) -> u64 {
        let pod = requirements.pod();
        let pools = self.eligible(&pod);
        let request = self.rooms.request(&pod.requests);
        self.rooms.sum_room(&pools, request).map_or(0, |room| room.replicas)
    }

    fn sets(&mut self, components: &[Component], most: u32) -> u32 {
        let part = |component: &Component| {
            let pod = component.pod();
            let pools = self.eligible(&pod);
            SetPart { pools, request: self.rooms.request(&pod.requests), replicas: component.replicas }
        };
        let parts: Vec<SetPart> = components.iter().map(part).collect();
        self.rooms.max_sets(&parts, most)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromModels {
    cluster: SummarisedCluster,
    #[serde(default)]
    requirements: Option<Requirements>,
    #[serde(default)]
    components: Vec<Component>,
    #[serde(default)]
    upper_bound: Option<u32>,
    #[serde(default)]
    assumed: Vec<Assumed>,
    #[serde(default, rename = "feature_gates")]
    _feature_gates: Vec<String>,
}

impl FromModels {
    /// The nodes; a cluster that states no models, or none of their counts, has none to ask.
    fn nodes(&self) -> Result<Nodes, Unanswered> {
        let counts = self.cluster.resource_summary.as_ref().and_then(|summary| summary.allocatable_modelings.as_ref());
        let (Some(models), Some(counts)) = (&self.cluster.resource_models, counts) else {
            return Err(Unanswered::Refused);
        };
        let mut nodes = Nodes::of_models(models, counts);
        nodes.assume(&self.assumed);
        Ok(nodes)
    }
}

fn from_models(input: &Value) -> Result<Value, Unanswered> {
    let asked: FromModels = read(input)?;
    let requirements = asked.requirements.clone().unwrap_or_default();
    Ok(json!({ "replicas": replicas(asked.nodes()?.room(&requirements)) }))
}

fn sets_from_models(input: &Value) -> Result<Value, Unanswered> {
    let asked: FromModels = read(input)?;
    Ok(json!({ "sets": asked.nodes()?.sets(&asked.components, asked.upper_bound.unwrap_or(MOST)) }))
}

/// From totals alone; from models, too, where they are counted.
fn sets_from_summary(input: &Value) -> Result<Value, Unanswered> {
    let asked: FromModels = read(input)?;
    let Some(summary) = &asked.cluster.resource_summary else { return Ok(json!({ "sets": 0 })) };
    let mut used = summary.used();
    for component in asked.assumed.iter().flat_map(|workload| &workload.components) {
        let mut pod = component.replica_requirements.clone().unwrap_or_default().request();
        pod.add(&Resources(BTreeMap::from([("pods".into(), 1)])), 1);
        used.add(&pod, i128::from(component.replicas));
    }
    let part = |component: &Component| {
        (component.replicas, component.replica_requirements.clone().unwrap_or_default().request())
    };
    let parts: Vec<(u32, Resources)> = asked.components.iter().map(part).collect();
    let sets = replicas(summary_sets(&resources(&summary.allocatable), &used, &parts));
    let by_nodes =
        asked.nodes().ok().map(|mut nodes| nodes.sets(&asked.components, u32::try_from(sets).unwrap_or(MOST)));
    Ok(json!({ "sets": by_nodes.map_or(sets, |by_nodes| sets.min(u64::from(by_nodes))) }))
}

/// Karmada counts in 32 bits.
const MOST: u32 = i32::MAX as u32;

/// A workload on its way to the cluster.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    #[serde(default)]
    pub components: Vec<Component>,
    #[serde(default)]
    pub namespace: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Component {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    #[serde(default)]
    pub replicas: u32,
    #[serde(default)]
    pub replica_requirements: Option<Requirements>,
}

impl Component {
    /// One of its pods.
    pub fn pod(&self) -> PodFacts {
        self.replica_requirements.clone().unwrap_or_default().pod()
    }
}

fn from_summaries(input: &Value) -> Result<Value, Unanswered> {
    let FromSummaries { clusters, requirements, assumed, _feature_gates } = read(input)?;
    let request = requirements.clone().unwrap_or_default().request();
    let mut answers = Vec::new();
    for cluster in clusters {
        let Some(summary) = cluster.resource_summary else {
            // Nothing is stated to be there.
            answers.push(summary_room(&Resources::default(), &Resources::default(), &request));
            continue;
        };
        let by_nodes = cluster.resource_models.as_ref().zip(summary.allocatable_modelings.as_ref());
        let by_nodes = by_nodes.map(|(models, counts)| {
            let mut nodes = Nodes::of_models(models, counts);
            nodes.assume(&assumed);
            nodes.room(&requirements.clone().unwrap_or_default())
        });
        let mut used = summary.used();
        for component in assumed.iter().flat_map(|workload| &workload.components) {
            let mut pod = component.replica_requirements.clone().unwrap_or_default().request();
            pod.add(&Resources(BTreeMap::from([("pods".into(), 1)])), 1);
            used.add(&pod, i128::from(component.replicas));
        }
        let room = summary_room(&resources(&summary.allocatable), &used, &request);
        answers.push(replicas(by_nodes.map_or(room, |by_nodes| room.min(by_nodes))));
    }
    Ok(json!({ "replicas": answers }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    #[serde(default)]
    name: SmolStr,
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    taints: Vec<Taint>,
    #[serde(default)]
    unschedulable: bool,
    #[serde(default)]
    allocatable: Amounts,
    /// What is left, in Karmada's own words.
    #[serde(default)]
    available_override: Option<Left>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Left {
    #[serde(default)]
    allowed_pod_number: i64,
    #[serde(default)]
    memory: i64,
    #[serde(default, rename = "MilliCPU")]
    milli_cpu: i64,
    #[serde(default)]
    ephemeral_storage: i64,
    #[serde(default)]
    scalar_resources: BTreeMap<SmolStr, i64>,
}

impl Left {
    fn resources(&self) -> Resources {
        let Self { allowed_pod_number, memory, milli_cpu, ephemeral_storage, scalar_resources } = self;
        let named = [
            ("pods", allowed_pod_number),
            ("memory", memory),
            ("cpu", milli_cpu),
            ("ephemeral-storage", ephemeral_storage),
        ];
        let named = named.into_iter().map(|(name, amount)| (SmolStr::from(name), *amount));
        let scalar = scalar_resources.iter().map(|(name, amount)| (name.clone(), *amount));
        Resources(named.chain(scalar).map(|(name, amount)| (name, i128::from(amount))).collect())
    }
}

impl Node {
    fn facts(&self) -> NodeFacts {
        NodeFacts {
            name: self.name.clone(),
            labels: self.labels.clone(),
            taints: self.taints.clone(),
            unschedulable: self.unschedulable,
            of_pool: false,
        }
    }

    fn fits(&self, pod: &PodFacts) -> bool {
        pod::fits_node(pod, &self.facts()).is_ok_and(|fit| fit.fits())
    }

    /// A pool of one node, other pods as the usage of others.
    fn spec(&self, pods: &[RunningPod]) -> PoolSpec {
        let offers = self.available_override.as_ref().map_or_else(|| resources(&self.allocatable), Left::resources);
        let mut spec = PoolSpec::new(self.name.clone(), 1, offers);
        let running =
            |pod: &&RunningPod| pod.node == self.name && !matches!(pod.phase.as_str(), "Succeeded" | "Failed");
        for pod in pods.iter().filter(running) {
            spec.others.add(&Resources(BTreeMap::from([("pods".into(), 1)])), 1);
            for container in &pod.requests {
                spec.others.add(&resources(container), 1);
            }
        }
        spec
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetsOnNodes {
    #[serde(default = "on")]
    enabled: bool,
    nodes: Vec<Node>,
    #[serde(default)]
    pods: Vec<RunningPod>,
    components: Vec<Component>,
    #[serde(default)]
    upper_bound: Option<u32>,
    #[serde(default)]
    assumed: Vec<Assumed>,
    #[serde(default, rename = "cluster")]
    _cluster: Option<String>,
    #[serde(default, rename = "namespace")]
    _namespace: Option<String>,
}

fn on() -> bool {
    true
}

impl SetsOnNodes {
    fn sets(&self) -> u32 {
        let specs: Vec<PoolSpec> = self.nodes.iter().map(|node| node.spec(&self.pods)).collect();
        let facts = self.nodes.iter().map(Node::facts).collect();
        let mut nodes = Nodes { rooms: Rooms::new([specs]), facts };
        nodes.assume(&self.assumed);
        nodes.sets(&self.components, self.upper_bound.unwrap_or(MOST))
    }
}

fn simulated_sets(input: &Value) -> Result<Value, Unanswered> {
    Ok(json!({ "sets": read::<SetsOnNodes>(input)?.sets() }))
}

/// With Karmada's verdict: 0 some fit, 1 none does, 2 the estimator is off.
fn accurate_sets(input: &Value) -> Result<Value, Unanswered> {
    let asked: SetsOnNodes = read(input)?;
    if !asked.enabled {
        return Ok(json!({ "sets": MOST, "code": 2 }));
    }
    let sets = asked.sets();
    Ok(json!({ "sets": sets, "code": u32::from(sets == 0) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchNode {
    node: Option<Node>,
    requirements: Option<Requirements>,
}

fn match_node(input: &Value) -> Result<Value, Unanswered> {
    let MatchNode { node, requirements } = read(input)?;
    let requirements = requirements.unwrap_or_default();
    let matches = match node {
        Some(node) => node.fits(&requirements.pod()),
        // A node of which nothing is known rules nothing out, as a pool of unknown capacity does not.
        None => {
            let mut rooms = Rooms::new([vec![PoolSpec::unknown("node")]]);
            let request = rooms.request(&requirements.request());
            rooms.all_pools().all(|pool| rooms.room(pool, request).is_none())
        }
    };
    Ok(json!({ "match": matches }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromNodes {
    requirements: Option<Requirements>,
    nodes: Vec<Node>,
    #[serde(default)]
    pods: Vec<RunningPod>,
    #[serde(rename = "cluster")]
    _cluster: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunningPod {
    #[serde(rename = "name")]
    _name: String,
    #[serde(default, rename = "namespace")]
    _namespace: String,
    #[serde(default)]
    node: SmolStr,
    #[serde(default)]
    requests: Vec<Amounts>,
    #[serde(default)]
    phase: String,
}

/// Each node is a pool of one node, other pods are the usage of others.
fn from_nodes(input: &Value) -> Result<Value, Unanswered> {
    let FromNodes { requirements, nodes, pods, _cluster } = read(input)?;
    let requirements = requirements.unwrap_or_default();
    let pod = requirements.pod();
    let specs: Vec<PoolSpec> = nodes.iter().map(|node| node.spec(&pods)).collect();
    let mut rooms = Rooms::new([specs]);
    let request = rooms.request(&requirements.request());
    let eligible: Vec<EligiblePool> = rooms
        .pools(ClusterId(0))
        .zip(&nodes)
        .filter(|(_, node)| node.fits(&pod))
        .map(|(pool, node)| EligiblePool { pool, tainted: !node.taints.is_empty() })
        .collect();
    let room = rooms.sum_room(&eligible, request);
    Ok(json!({ "replicas": room.map(|room| replicas(room.replicas)) }))
}

const PODS: &[Deviation] = &[Deviation {
    why: "a node that does not say how many pods it takes takes as many as a kubelet does by default",
    holds: |asked| {
        let nodes = asked.input.get("nodes").and_then(Value::as_array).into_iter().flatten();
        nodes.into_iter().any(|node| node.pointer("/allocatable/pods").is_none())
    },
}];
