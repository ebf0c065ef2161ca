//! A running cluster: a Cluster file from its nodes.
//!
//! ```text
//! nodes --node--> what lasts of each --pools--> pools that labels tell apart --> Cluster + notes
//! ```
//!
//! Invariants: a controller counts a node in the first pool of the file whose labels it has; every node that is read here is
//! in the pool that this rule gives it. Nothing is promised that the smallest node of a pool does not have. What was guessed
//! is a note.
//! Asking the cluster is the shell's business: here are JSON objects and what discovery said.

mod node;
mod pools;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::node::Node;
use super::repository::{Names, Repository, placeless, placeless_all};
use super::{About, Fate, Imported};
use crate::api::{ApiGroupSpec, ClusterSpec, ConnectionSpec};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::base::name::{NameRule, check};
use crate::kinds::native;

const REGION: [&str; 2] = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE: [&str; 2] = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

/// A cluster as it was found.
#[derive(Clone, Debug)]
pub struct LiveCluster {
    /// The context by which it was reached.
    pub context: SmolStr,
    /// What to call it; `None`: after its context.
    pub name: Option<SmolStr>,
    /// Its Node objects.
    pub nodes: Vec<Value>,
    /// The kinds it serves, by `group/version`; `None`: nobody asked.
    pub served: Option<BTreeMap<SmolStr, BTreeSet<SmolStr>>>,
}

/// A Cluster file for each cluster, and a `fleet.yaml` that sets nothing. Nodes that differ in the value of a label of
/// `split_by` are in different pools.
#[must_use]
pub fn import(clusters: &[LiveCluster], split_by: &[SmolStr]) -> Imported {
    let mut notes = Vec::new();
    let mut repository = Repository::new();
    let mut names = Names::default();
    for found in clusters {
        let wanted = found.name.clone().unwrap_or_else(|| named_after(&found.context));
        let name = names.free(&wanted);
        let title = SmolStr::from(format!("Cluster {name}"));
        let mut about = About { file: found.context.clone(), object: title, notes: &mut notes };
        if found.name.is_none() && name != found.context {
            about.say(
                Fate::Resolved,
                "metadata.name",
                format!("is `{name}` after the context; `--name` gives another"),
            );
        }
        let spec = cluster(found, split_by, &mut about);
        let path = format!("clusters/{name}.yaml");
        repository.put(path, ("Cluster", &name), &Labels::new(), &spec, &mut about);
    }
    Imported { files: repository.files(), notes, ..Imported::default() }
}

/// The part of a context's name that names the cluster: the last of `arn:aws:eks:REGION:ACCOUNT:cluster/NAME`, of
/// `gke_PROJECT_LOCATION_NAME`, and of `USER@NAME`.
fn named_after(context: &str) -> SmolStr {
    let last = context.rsplit(['/', '@']).next().unwrap_or(context);
    let last = match last.strip_prefix("gke_").map(|rest| rest.splitn(3, '_').collect::<Vec<_>>()) {
        Some(parts) if parts.len() == 3 => parts.last().copied().unwrap_or(last),
        Some(_) | None => last,
    };
    valid_name(last).unwrap_or_else(|| "cluster".into())
}

/// A text as a DNS-1123 subdomain; `None` where nothing of it is left.
fn valid_name(text: &str) -> Option<SmolStr> {
    let lower = text.to_lowercase();
    let letter = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' { c } else { '-' };
    let mapped: String = lower.chars().map(letter).take(200).collect();
    let labels = mapped.split('.').map(|label| label.trim_matches('-')).filter(|label| !label.is_empty());
    let cut = labels.map(|label| label.chars().take(63).collect::<String>().trim_end_matches('-').to_owned());
    let name = cut.collect::<Vec<_>>().join(".");
    check(NameRule::Dns1123Subdomain, &name).is_ok().then(|| name.into())
}

fn cluster(found: &LiveCluster, split_by: &[SmolStr], about: &mut About<'_>) -> ClusterSpec {
    let mut nodes: Vec<Node<'_>> = Vec::new();
    for value in &found.nodes {
        match node::read(value) {
            Ok(node) => nodes.push(node),
            Err(left_out) => about.say(Fate::Skipped, &left_out.field(), left_out.why),
        }
    }
    nodes.sort_by(|a, b| a.name.cmp(b.name));
    let zones: BTreeSet<SmolStr> = nodes.iter().filter_map(|node| label(node, &ZONE)).collect();
    let pools = pools::pools(&nodes, split_by, about);
    if pools.is_empty() {
        about.say(Fate::NoCounterpart, "spec.nodePools", "there is no node to read: its capacity is left unknown");
    } else {
        let text = "what runs there already takes its part of this: a controller sees it and records it; for checks without one, state \
                    what the system and other users take in `reserved`";
        about.say(Fate::Differs, "spec.nodePools", text);
        let text =
            "how far an autoscaler may grow a pool cannot be seen on nodes: state `scalableTo` where there is one";
        about.say(Fate::NoCounterpart, "spec.nodePools", text);
    }
    let provider = common(&nodes, "spec.provider", |node| node.provider(), about);
    if provider.is_none() && !nodes.is_empty() {
        let text =
            "no node has a `spec.providerID`: the provider is left out; state it if a selector or a spread asks for it";
        about.say(Fate::Resolved, "spec.provider", text);
    }
    let region = common(&nodes, "spec.region", |node| label(node, &REGION), about);
    if region.is_none() && !nodes.is_empty() {
        let text = "no node has the label topology.kubernetes.io/region: the region is left out";
        about.say(Fate::Resolved, "spec.region", text);
    }
    ClusterSpec {
        provider: provider.map(placeless),
        region: region.map(placeless),
        zones: placeless_all(&zones),
        node_pools: (!pools.is_empty()).then(|| pools.into_iter().map(placeless).collect()),
        apis: found.served.as_ref().map(apis),
        connection: Some(placeless(ConnectionSpec {
            context: Some(placeless(found.context.clone())),
            secret_ref: None,
        })),
        ..ClusterSpec::default()
    }
}

/// The first of these labels that a node has.
fn label(node: &Node<'_>, keys: &[&str]) -> Option<SmolStr> {
    keys.iter().find_map(|key| node.labels.get(*key)).filter(|value| !value.is_empty()).cloned()
}

/// What most nodes say, by name where as many say another thing.
fn common(
    nodes: &[Node<'_>],
    field: &str,
    of: impl Fn(&Node<'_>) -> Option<SmolStr>,
    about: &mut About<'_>,
) -> Option<SmolStr> {
    let mut counts: BTreeMap<SmolStr, usize> = BTreeMap::new();
    for said in nodes.iter().filter_map(of) {
        *counts.entry(said).or_default() += 1;
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| **count).map(|(said, _)| said.clone())?;
    if counts.len() > 1 {
        let all: Vec<String> = counts.iter().map(|(said, count)| format!("{said} ({count})")).collect();
        about.say(Fate::Resolved, field, format!("its nodes say {}: most of them count", all.join(", ")));
    }
    Some(most)
}

/// What is served beyond Kubernetes' own.
fn apis(served: &BTreeMap<SmolStr, BTreeSet<SmolStr>>) -> Vec<crate::base::Spanned<ApiGroupSpec>> {
    let foreign = |group_version: &str| !native::known_group(native::split_api_version(group_version).0);
    let spec = |(group_version, kinds): (&SmolStr, &BTreeSet<SmolStr>)| {
        let kinds = Some(kinds.iter().cloned().collect());
        placeless(ApiGroupSpec { group_version: placeless(group_version.clone()), kinds })
    };
    served.iter().filter(|(group_version, _)| foreign(group_version)).map(spec).collect()
}
