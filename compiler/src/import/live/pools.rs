//! Nodes as pools that labels tell apart.
//!
//! 1. Nodes with the same value of a label of a node pool (GKE, EKS, AKS, Karpenter and others) belong together; else those
//!    of one instance type; else those of equal shape. Control-plane nodes are apart. Within that, nodes with other taints,
//!    nodes whose labels of their own differ, and those that differ in what is split by, are apart.
//! 2. The labels of a pool are those that all its nodes have alike, but for what names one machine or one image.
//! 3. The pool with more labels comes first. Where a node would then be found in another pool than its own, both are one.

use std::collections::{BTreeMap, BTreeSet};

use super::super::repository::{Names, placeless};
use super::super::{About, Fate};
use super::node::{Away, Node};
use super::{ZONE, label, valid_name};
use crate::api::NodePoolSpec;
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::base::quantity::{Quantity, amount, plain_pair};
use crate::base::taint::Taint;

/// Labels by which providers and autoscalers name a node pool.
const POOL_LABELS: [&str; 9] = [
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
    "kops.k8s.io/instancegroup",
    "doks.digitalocean.com/node-pool",
    "alibabacloud.com/nodepool-id",
    "k8s.scaleway.com/pool-name",
];
const INSTANCE_TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

/// The name that a controller gives nodes of no pool.
const OTHER: &str = "other";

/// Labels of one machine, or of the image it happens to run: the next node of the pool has another value.
fn is_passing(key: &str) -> bool {
    const KEYS: [&str; 10] = [
        "kubernetes.io/hostname",
        "eks.amazonaws.com/nodegroup-image",
        "eks.amazonaws.com/sourceLaunchTemplateId",
        "eks.amazonaws.com/sourceLaunchTemplateVersion",
        "kubernetes.azure.com/node-image-version",
        "kubernetes.azure.com/cluster",
        "karpenter.sh/registered",
        "karpenter.sh/initialized",
        "node.kubernetes.io/exclude-from-external-load-balancers",
        "nvidia.com/gfd.timestamp",
    ];
    const PREFIXES: [&str; 4] = [
        "feature.node.kubernetes.io/kernel-version",
        "feature.node.kubernetes.io/system-os_release",
        "nfd.node.kubernetes.io/",
        "nvidia.com/cuda.",
    ];
    KEYS.contains(&key) || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Keys whose differing values do not make other nodes of them: where they stand, and what step 1 looks at itself.
fn is_place(key: &str) -> bool {
    key.ends_with("/zone") || key.ends_with("/region") || INSTANCE_TYPE.contains(&key)
}

/// Nodes that are one pool.
struct Pool<'n> {
    stem: SmolStr,
    /// By what they belong together, for people.
    by: String,
    nodes: Vec<&'n Node<'n>>,
    labels: Labels,
}

impl Pool<'_> {
    fn counted(&self) -> u32 {
        let counted = self.nodes.iter().filter(|node| node.away.is_none()).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    /// The node of which less of each resource is found: `min` over those that count, or over all where none does.
    fn judged(&self) -> Vec<&Node<'_>> {
        let ready: Vec<&Node<'_>> = self.nodes.iter().copied().filter(|node| node.away.is_none()).collect();
        if ready.is_empty() { self.nodes.clone() } else { ready }
    }
}

/// The pools, in the order in which a controller must look for their labels.
pub(super) fn pools(nodes: &[Node<'_>], split_by: &[SmolStr], about: &mut About<'_>) -> Vec<NodePoolSpec> {
    let mut pools: Vec<Pool<'_>> = Vec::new();
    for (seed, group) in seeds(nodes) {
        pools.extend(parts(&seed, &group, split_by));
    }
    for pool in &mut pools {
        pool.labels = shared_labels(&pool.nodes);
    }
    let pools = told_apart(pools, about);
    let mut names = Names::default();
    names.free(OTHER);
    let named: Vec<(SmolStr, Pool<'_>)> = pools.into_iter().map(|pool| (names.free(&pool.stem), pool)).collect();
    named.iter().map(|(name, pool)| spec(name, pool, split_by, about)).collect()
}

/// What nodes belong together by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Seed {
    /// Key and value of a label.
    Labelled(&'static str, SmolStr),
    ControlPlane,
    Unlabelled,
}

fn seeds<'n>(nodes: &'n [Node<'n>]) -> BTreeMap<Seed, Vec<&'n Node<'n>>> {
    let mut seeds: BTreeMap<Seed, Vec<&Node<'_>>> = BTreeMap::new();
    for node in nodes {
        let labelled = POOL_LABELS.iter().find_map(|key| Some((*key, node.labels.get(*key)?.clone())));
        let seed = match labelled {
            Some((key, value)) => Seed::Labelled(key, value),
            None if node.is_control_plane() => Seed::ControlPlane,
            None => Seed::Unlabelled,
        };
        seeds.entry(seed).or_default().push(node);
    }
    seeds
}

/// In what nodes of one seed differ, if they are no one pool.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    instance_type: SmolStr,
    shape: usize,
    split: Vec<Option<SmolStr>>,
    own: Vec<Option<SmolStr>>,
    taints: Vec<Taint>,
}

fn parts<'n>(seed: &Seed, nodes: &[&'n Node<'n>], split_by: &[SmolStr]) -> Vec<Pool<'n>> {
    let shapes = shapes(nodes);
    let types: BTreeSet<SmolStr> = nodes.iter().filter_map(|node| label(node, &INSTANCE_TYPE)).collect();
    let managed = matches!(seed, Seed::Labelled(..));
    let is_even = shapes.iter().all(|shape| *shape == 0);
    // a pool that somebody manages is one, unless it mixes sizes, as Karpenter's do
    let by_type = if managed { !is_even && types.len() > 1 } else { true };
    let by_shape = !managed;
    let own_keys = if managed { Vec::new() } else { own_keys(nodes) };
    let mut parts: BTreeMap<Difference, Vec<&Node<'_>>> = BTreeMap::new();
    for (node, shape) in nodes.iter().zip(&shapes) {
        let instance_type = if by_type { label(node, &INSTANCE_TYPE).unwrap_or_default() } else { SmolStr::default() };
        let difference = Difference {
            instance_type,
            shape: if by_shape { *shape } else { 0 },
            split: split_by.iter().map(|key| node.labels.get(key).cloned()).collect(),
            own: own_keys.iter().map(|key| node.labels.get(key).cloned()).collect(),
            taints: node.taints.clone(),
        };
        parts.entry(difference).or_default().push(node);
    }
    let several_types = parts.keys().map(|part| &part.instance_type).collect::<BTreeSet<_>>().len() > 1;
    let mut pools = Vec::new();
    for (difference, nodes) in parts {
        let (mut words, mut by): (Vec<SmolStr>, Vec<String>) = (Vec::new(), Vec::new());
        match seed {
            Seed::Labelled(key, value) => {
                words.push(value.clone());
                by.push(format!("{key}={value}"));
            }
            Seed::ControlPlane => {
                words.push("control-plane".into());
                by.push("node-role.kubernetes.io/control-plane".to_owned());
            }
            Seed::Unlabelled => {}
        }
        if !difference.instance_type.is_empty() {
            if several_types || matches!(seed, Seed::Unlabelled) {
                words.push(difference.instance_type.clone());
            }
            by.push(format!("instance type {}", difference.instance_type));
        } else if by_shape {
            by.push("equal allocatable resources".to_owned());
        }
        if words.is_empty() {
            words.push(device(&nodes).unwrap_or_else(|| "general".into()));
        }
        let told = split_by.iter().zip(&difference.split).chain(own_keys.iter().zip(&difference.own));
        for (key, value) in told {
            let Some(value) = value else { continue };
            by.push(format!("{key}={value}"));
            // a label without a value says what it says by its name
            let word = if value.is_empty() { key.rsplit('/').next().unwrap_or(key) } else { value };
            words.push(word.into());
        }
        let stem = valid_name(&words.join("-")).unwrap_or_else(|| "pool".into());
        pools.push(Pool { stem, by: by.join(", "), nodes, labels: Labels::new() });
    }
    pools
}

/// `gpu` where the nodes have `nvidia.com/gpu`.
fn device(nodes: &[&Node<'_>]) -> Option<SmolStr> {
    let extended = nodes.first()?.allocatable.keys().find_map(|resource| resource.split_once('/'))?;
    Some(extended.1.into())
}

/// For each node the number of its shape: nodes of one shape have the same resources, and of none less than nine tenths of
/// what the largest of them has. Kubelets on equal machines see a little more or less memory.
fn shapes(nodes: &[&Node<'_>]) -> Vec<usize> {
    let size = |node: &Node<'_>| -> BTreeMap<SmolStr, i128> {
        let counts = |resource: &str| !matches!(resource, "pods" | "ephemeral-storage");
        let counted = node.allocatable.iter().filter(|(resource, _)| counts(resource));
        counted.map(|(resource, quantity)| (resource.clone(), amount(resource, quantity))).collect()
    };
    let sizes: Vec<BTreeMap<SmolStr, i128>> = nodes.iter().map(|node| size(node)).collect();
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by(|a, b| sizes.get(*b).cmp(&sizes.get(*a)));
    let mut largest: Vec<&BTreeMap<SmolStr, i128>> = Vec::new();
    let mut shapes = vec![0; nodes.len()];
    for index in order {
        let (Some(size), Some(shape)) = (sizes.get(index), shapes.get_mut(index)) else { continue };
        let alike = |of: &&BTreeMap<SmolStr, i128>| {
            of.keys().eq(size.keys())
                && of
                    .values()
                    .zip(size.values())
                    .all(|(of, own)| of.saturating_sub(*own).saturating_abs().saturating_mul(10) <= *of.max(own))
        };
        *shape = match largest.iter().position(alike) {
            Some(known) => known,
            None => {
                largest.push(size);
                largest.len() - 1
            }
        };
    }
    shapes
}

/// Labels that people put on some of these nodes, or with several values: what pods may select by. A key of which every
/// node has a value of its own names machines.
fn own_keys(nodes: &[&Node<'_>]) -> Vec<SmolStr> {
    let keys: BTreeSet<&SmolStr> = nodes.iter().flat_map(|node| node.labels.keys()).collect();
    let tells = |key: &&SmolStr| {
        if is_passing(key) || is_place(key) {
            return false;
        }
        let values: BTreeSet<Option<&SmolStr>> = nodes.iter().map(|node| node.labels.get(*key)).collect();
        let with = nodes.iter().filter(|node| node.labels.contains_key(*key)).count();
        let named = values.iter().filter(|value| value.is_some()).count();
        values.len() > 1 && (with < 3 || named < with)
    };
    keys.into_iter().filter(tells).cloned().collect()
}

fn shared_labels(nodes: &[&Node<'_>]) -> Labels {
    let Some((first, rest)) = nodes.split_first() else { return Labels::new() };
    let mut labels = first.labels.clone();
    labels.retain(|key, value| !is_passing(key) && rest.iter().all(|node| node.labels.get(key) == Some(value)));
    labels
}

/// Sorts pools, and makes one of those that no label tells apart.
fn told_apart<'n>(mut pools: Vec<Pool<'n>>, about: &mut About<'_>) -> Vec<Pool<'n>> {
    loop {
        pools.sort_by(|a, b| b.labels.len().cmp(&a.labels.len()).then_with(|| a.stem.cmp(&b.stem)));
        let finds = |own: usize| {
            let pool = pools.get(own)?;
            let before = pools.iter().take(own).position(|other| pool.nodes.iter().any(|node| node.has(&other.labels)));
            before.map(|first| (first, own))
        };
        let Some((first, own)) = (0..pools.len()).find_map(finds) else { return pools };
        let merged = pools.remove(own);
        let Some(into) = pools.get_mut(first) else { return pools };
        if into.by != merged.by || into.stem != merged.stem {
            let text = format!(
                "no label tells `{}` ({}) from `{}` ({}): they are one pool; label their nodes differently to have two",
                merged.stem, merged.by, into.stem, into.by
            );
            about.say(Fate::Resolved, "spec.nodePools", text);
        }
        into.nodes.extend(merged.nodes);
        into.nodes.sort_by(|a, b| a.name.cmp(b.name));
        into.labels = shared_labels(&into.nodes);
    }
}

fn spec(name: &SmolStr, pool: &Pool<'_>, split_by: &[SmolStr], about: &mut About<'_>) -> NodePoolSpec {
    let field = format!("pool {name}");
    let by = if pool.by.is_empty() { "what is left" } else { &pool.by };
    about.say(Fate::Resolved, &field, format!("{}, by {by}", nodes_text(pool.nodes.len())));
    for (away, text) in [
        (Away::NotReady, "not Ready: not counted; raise `nodes` when they are back"),
        (Away::Cordoned, "cordoned: not counted; raise `nodes` when they take pods again"),
    ] {
        let names: Vec<&str> = pool.nodes.iter().filter(|node| node.away == Some(away)).map(|node| node.name).collect();
        if !names.is_empty() {
            about.say(Fate::Skipped, &field, format!("{}: {text}", names.join(", ")));
        }
    }
    say_differing_labels(&field, pool, split_by, about);
    NodePoolSpec {
        name: placeless(name.clone()),
        nodes: placeless(pool.counted()),
        allocatable: smallest(&field, pool, about).into_iter().map(|(k, v)| (placeless(k), placeless(v))).collect(),
        labels: pool.labels.clone(),
        taints: taints(&field, pool, about).into_iter().map(placeless).collect(),
        scalable_to: None,
    }
}

fn nodes_text(count: usize) -> String {
    if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") }
}

/// Of each resource that all nodes have, the least.
fn smallest(field: &str, pool: &Pool<'_>, about: &mut About<'_>) -> BTreeMap<SmolStr, Quantity> {
    let judged = pool.judged();
    let mut least: BTreeMap<SmolStr, Quantity> = BTreeMap::new();
    let resources: BTreeSet<&SmolStr> = judged.iter().flat_map(|node| node.allocatable.keys()).collect();
    for resource in resources {
        let amounts: Vec<(i128, &Quantity)> = judged
            .iter()
            .filter_map(|node| node.allocatable.get(resource).map(|quantity| (amount(resource, quantity), quantity)))
            .collect();
        if amounts.len() < judged.len() {
            let with = amounts.len();
            let text = format!("{resource} is on {with} of its {}: left out", nodes_text(judged.len()));
            about.say(Fate::Resolved, field, text);
            continue;
        }
        let (Some((min, quantity)), Some((max, _))) =
            (amounts.iter().min_by_key(|(amount, _)| *amount), amounts.iter().max_by_key(|(amount, _)| *amount))
        else {
            continue;
        };
        if min.saturating_mul(10) < max.saturating_mul(9) {
            let (min, max) = plain_pair(resource, *min, *max);
            let text = format!("its nodes have {min} to {max} of {resource}: the smallest counts for each");
            about.say(Fate::Differs, field, text);
        }
        least.insert(resource.clone(), (*quantity).clone());
    }
    least
}

/// Taints that at least half of the nodes have.
fn taints(field: &str, pool: &Pool<'_>, about: &mut About<'_>) -> Vec<Taint> {
    let mut counts: BTreeMap<&Taint, usize> = BTreeMap::new();
    for taint in pool.nodes.iter().flat_map(|node| &node.taints) {
        *counts.entry(taint).or_default() += 1;
    }
    let all = pool.nodes.len();
    let mut taints = Vec::new();
    for (taint, count) in counts {
        let counts = count.saturating_mul(2) >= all;
        if count < all {
            let stands = if counts { "it counts for the pool" } else { "it does not count for the pool" };
            let text =
                format!("taint {}:{:?} is on {count} of its {}: {stands}", taint.key, taint.effect, nodes_text(all));
            about.say(Fate::Differs, field, text);
        }
        if counts {
            taints.push(taint.clone());
        }
    }
    if taints.is_empty() && pool.nodes.iter().all(|node| node.is_control_plane()) {
        about.say(Fate::Resolved, field, "carries the control plane and has no taint: it counts as room for pods");
    }
    taints
}

/// Says which labels pods cannot select this pool by.
fn say_differing_labels(field: &str, pool: &Pool<'_>, split_by: &[SmolStr], about: &mut About<'_>) {
    let keys: BTreeSet<&SmolStr> = pool.nodes.iter().flat_map(|node| node.labels.keys()).collect();
    let differs = |key: &&&SmolStr| !pool.labels.contains_key(**key) && !is_passing(key) && !split_by.contains(key);
    let differing: Vec<&str> = keys.iter().filter(differs).map(|key| key.as_str()).collect();
    if differing.is_empty() {
        return;
    }
    let zones: BTreeSet<SmolStr> = pool.nodes.iter().filter_map(|node| label(node, &ZONE)).collect();
    let zone = match zones.len() {
        0 | 1 => String::new(),
        count => format!(" (its nodes stand in {count} zones)"),
    };
    let text = format!(
        "its nodes differ in {}{zone}: a pod that selects by these finds no room here; `--split-by KEY` makes a pool for each value",
        differing.join(", ")
    );
    about.say(Fate::Resolved, field, text);
}
