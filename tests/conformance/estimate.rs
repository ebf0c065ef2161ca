//! How many replicas fit: Karmada's general estimate from totals, and its accurate one, node by node.

use std::collections::BTreeMap;

use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::base::quantity::{Quantity, amount};
use fleetwright_compiler::base::taint::Taint;
use fleetwright_compiler::base::{ClusterId, Resources, SmolStr};
use fleetwright_compiler::kinds::pod::{self, NodeFacts, PodFacts};
use fleetwright_compiler::room::{EligiblePool, PoolSpec, Rooms, summary_room, summary_room_without_pods};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asked::{Deviation, Op, Unanswered, as_written};
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "max_replicas_summary", answer: from_summary, normal: as_written, deviations: &[] },
    Op { name: "general_max_replicas", answer: from_summaries, normal: as_written, deviations: &[] },
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
    #[serde(default, rename = "namespace")]
    _namespace: Option<String>,
    #[serde(default, rename = "priorityClassName")]
    _priority_class_name: Option<String>,
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
    allocatable_modelings: Option<Value>,
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
    resource_models: Option<Value>,
}

/// A workload on its way to the cluster.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Assumed {
    #[serde(default)]
    components: Vec<Component>,
    #[serde(default, rename = "namespace")]
    _namespace: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Component {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    #[serde(default)]
    replicas: u32,
    #[serde(default)]
    replica_requirements: Option<Requirements>,
}

fn from_summaries(input: &Value) -> Result<Value, Unanswered> {
    let FromSummaries { clusters, requirements, assumed, _feature_gates } = read(input)?;
    let request = requirements.unwrap_or_default().request();
    let mut answers = Vec::new();
    for cluster in clusters {
        let Some(summary) = cluster.resource_summary else {
            // Nothing is stated to be there.
            answers.push(summary_room(&Resources::default(), &Resources::default(), &request));
            continue;
        };
        if cluster.resource_models.is_some() && summary.allocatable_modelings.is_some() {
            return Err(Unanswered::Unmapped("resource models: our pools state their nodes".to_owned()));
        }
        let mut used = summary.used();
        for component in assumed.iter().flat_map(|workload| &workload.components) {
            let mut pod = component.replica_requirements.clone().unwrap_or_default().request();
            pod.add(&Resources(BTreeMap::from([("pods".into(), 1)])), 1);
            used.add(&pod, i128::from(component.replicas));
        }
        answers.push(replicas(summary_room(&resources(&summary.allocatable), &used, &request)));
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
    /// For another op: what is left in Karmada's own words.
    #[serde(default, rename = "available_override")]
    _available_override: Option<Value>,
}

impl Node {
    fn fits(&self, pod: &PodFacts) -> bool {
        let facts = NodeFacts {
            name: self.name.clone(),
            labels: self.labels.clone(),
            taints: self.taints.clone(),
            unschedulable: self.unschedulable,
            of_pool: false,
        };
        pod::fits_node(pod, &facts).is_ok_and(|fit| fit.fits())
    }
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
    let specs: Vec<PoolSpec> = nodes
        .iter()
        .map(|node| {
            let mut spec = PoolSpec::new(node.name.clone(), 1, resources(&node.allocatable));
            let running =
                |pod: &&RunningPod| pod.node == node.name && !matches!(pod.phase.as_str(), "Succeeded" | "Failed");
            for pod in pods.iter().filter(running) {
                spec.others.add(&Resources(BTreeMap::from([("pods".into(), 1)])), 1);
                for container in &pod.requests {
                    spec.others.add(&resources(container), 1);
                }
            }
            spec
        })
        .collect();
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
