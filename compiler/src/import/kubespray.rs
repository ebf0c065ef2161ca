//! Kubespray: a Cluster file for each inventory.
//!
//! An inventory (`hosts.yaml`, `inventory.ini`; one folder each) lists hosts and groups: those in `kube_node` run pods.
//! `node_labels` and `node_taints` of hosts and groups are those of their nodes; nodes that agree in them are a pool. What a
//! node has is no part of an inventory: it is read from Ansible's cache of facts, where one lies in the same folder
//! (`fact_cache = jsonfile`), and left unknown otherwise.

mod inventory;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::inventory::{Inventory, Variables};
use super::documents;
use super::repository::{Repository, placeless, placeless_all};
use super::{About, Fate, Imported, InputFile, Unreadable};
use crate::api::{ClusterSpec, NodePoolSpec};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::base::quantity::Quantity;
use crate::base::taint::Taint;

/// Imports inventories. One that lies in no folder of its own is named `name`.
///
/// # Errors
/// Files that are no YAML.
pub fn import(files: &[InputFile], name: &str) -> Result<Imported, Vec<Unreadable>> {
    let mut notes = Vec::new();
    let mut repository = Repository::new();
    let mut unreadable = Vec::new();
    for (file, inventory) in inventories(files, &mut unreadable) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = match folder.rsplit('/').next() {
            Some(last) if !last.is_empty() => last,
            Some(_) | None => name,
        };
        let name = name.replace('_', "-").to_lowercase();
        let nodes = nodes(&inventory, folder, files, &mut unreadable);
        let mut about =
            About { file: file.path.as_str().into(), object: format!("inventory {name}").into(), notes: &mut notes };
        let spec = cluster(&nodes, &mut about);
        repository.put(format!("clusters/{name}.yaml"), ("Cluster", &name), &Labels::new(), &spec, &mut about);
    }
    if unreadable.is_empty() {
        Ok(Imported { files: repository.files(), notes, ..Imported::default() })
    } else {
        Err(unreadable)
    }
}

/// The inventories among the files, by path: those that have the group of nodes.
fn inventories<'f>(files: &'f [InputFile], unreadable: &mut Vec<Unreadable>) -> Vec<(&'f InputFile, Inventory)> {
    let mut found: Vec<(&InputFile, Inventory)> = Vec::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let inside = ["group_vars/", "host_vars/"].iter().any(|folder| file.path.contains(folder));
        let inventory = match name.rsplit_once('.') {
            _ if inside => continue,
            Some((_, "ini" | "cfg")) | None => match std::str::from_utf8(&file.bytes) {
                Ok(text) => Inventory::of_ini(text),
                Err(_) => continue,
            },
            Some((_, "yaml" | "yml" | "json")) => match documents::written_values(file) {
                Ok(values) => values.iter().fold(Inventory::default(), |inventory, value| inventory.with_yaml(value)),
                Err(wrong) => {
                    unreadable.extend(wrong);
                    continue;
                }
            },
            Some(_) => continue,
        };
        if !inventory.nodes().is_empty() {
            found.push((file, inventory));
        }
    }
    found.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    found
}

/// A node, as far as a pool asks.
#[derive(PartialEq)]
struct Node {
    labels: Labels,
    taints: Vec<Taint>,
    facts: Option<BTreeMap<SmolStr, Quantity>>,
}

/// The nodes of an inventory, with the variables of their groups and their own: the more special wins.
fn nodes(inventory: &Inventory, folder: &str, files: &[InputFile], unreadable: &mut Vec<Unreadable>) -> Vec<Node> {
    let mut of_file = |kind: &str, name: &str| -> Variables {
        let stem = if folder.is_empty() { format!("{kind}/{name}") } else { format!("{folder}/{kind}/{name}") };
        let mut variables = Variables::new();
        for file in files {
            let rest = file.path.strip_prefix(&stem);
            if rest.is_none_or(|rest| !matches!(rest, ".yml" | ".yaml" | ".json" | "") && !rest.starts_with('/')) {
                continue;
            }
            match documents::values(file) {
                Ok(values) => {
                    let maps = values.into_iter().filter_map(|value| value.as_object().cloned());
                    variables.extend(maps.flatten().map(|(key, value)| (key.into(), value)));
                }
                Err(wrong) => unreadable.extend(wrong),
            }
        }
        variables
    };
    let mut nodes = Vec::new();
    for host in inventory.nodes() {
        let mut variables = Variables::new();
        for group in inventory.groups_of(&host) {
            variables.extend(inventory.group_variables(&group));
            variables.extend(of_file("group_vars", &group));
        }
        variables.extend(inventory.host_variables(&host));
        variables.extend(of_file("host_vars", &host));
        nodes.push(Node {
            labels: labels(variables.get("node_labels")),
            taints: taints(variables.get("node_taints")),
            facts: facts(&host, files),
        });
    }
    unreadable.dedup();
    nodes
}

/// A map, or in an INI file the text of one.
fn labels(value: Option<&Value>) -> Labels {
    let parsed = value.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let map = parsed.as_ref().or(value).and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    map.map(|(key, value)| (key.into(), text(value).into())).collect()
}

/// A list of `key=value:effect`, or in an INI file the text of one.
fn taints(value: Option<&Value>) -> Vec<Taint> {
    let parsed = value.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let list = parsed.as_ref().or(value).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).filter_map(super::taint).collect()
}

/// Processors and memory from the cache of facts. The file has the name of the host.
fn facts(host: &str, files: &[InputFile]) -> Option<BTreeMap<SmolStr, Quantity>> {
    let named = |file: &&InputFile| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        name == host || name.strip_suffix(".json") == Some(host)
    };
    let value = files.iter().filter(named).find_map(|file| serde_json::from_slice::<Value>(&file.bytes).ok())?;
    let number = |key: &str| value.get(key).or_else(|| value.pointer(&format!("/ansible_facts/{key}")))?.as_u64();
    let cpu = number("ansible_processor_vcpus")?.to_string().parse().ok()?;
    let memory = format!("{}Mi", number("ansible_memtotal_mb")?).parse().ok()?;
    Some(BTreeMap::from([("cpu".into(), cpu), ("memory".into(), memory)]))
}

fn cluster(nodes: &[Node], about: &mut About<'_>) -> ClusterSpec {
    let values =
        |key: &str| -> BTreeSet<SmolStr> { nodes.iter().filter_map(|node| node.labels.get(key).cloned()).collect() };
    let regions: Vec<SmolStr> = values("topology.kubernetes.io/region").into_iter().collect();
    let mut pools: Vec<(&Node, u32)> = Vec::new();
    for node in nodes {
        match pools.iter_mut().find(|(like, _)| *like == node) {
            Some((_, count)) => *count += 1,
            None => pools.push((node, 1)),
        }
    }
    let unknown = nodes.iter().filter(|node| node.facts.is_none()).count();
    if unknown > 0 {
        let text = format!(
            "nothing says what {unknown} of its {} nodes have: the capacity of the cluster is left unknown. State `nodePools`, or \
             import with Ansible's cache of facts in the folder",
            nodes.len()
        );
        about.say(Fate::NoCounterpart, "", text);
    } else {
        let text = "the processors and the memory of its machines are taken for what is allocatable: state less where the system needs some";
        about.say(Fate::Differs, "", text);
    }
    let numbered = (1..).zip(pools).map(|(number, (Node { labels, taints, facts }, count))| {
        placeless(NodePoolSpec {
            name: placeless(format!("pool-{number}").into()),
            nodes: placeless(count),
            allocatable: facts
                .iter()
                .flatten()
                .map(|(name, of)| (placeless(name.clone()), placeless(of.clone())))
                .collect(),
            labels: labels.clone(),
            taints: taints.iter().cloned().map(placeless).collect(),
            scalable_to: None,
        })
    });
    let numbered: Vec<_> = numbered.collect();
    ClusterSpec {
        region: if let [region] = regions.as_slice() { Some(placeless(region.clone())) } else { None },
        zones: placeless_all(&values("topology.kubernetes.io/zone")),
        node_pools: (unknown == 0).then_some(numbered),
        ..ClusterSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::tests::{compiled, files, notes};

    const INI: &str = "\
=== east/inventory.ini
# hosts
[all]
cp1 ansible_host=10.0.0.1
node[01:02] ansible_host=10.0.0.2
gpu1 node_labels='{\"accelerator\": \"v100\"}' node_taints='[\"gpu=yes:NoSchedule\"]'
[kube_control_plane]
cp1
[etcd:children]
kube_control_plane
[workers]
node[01:02]
[kube_node:children]
workers
[kube_node]
gpu1
[k8s_cluster:children]
kube_control_plane
kube_node
=== east/group_vars/k8s_cluster/k8s-cluster.yml
kube_version: v1.34.0
=== east/group_vars/workers.yml
node_labels: {topology.kubernetes.io/region: east, topology.kubernetes.io/zone: east-1, ssd: true}
=== east/fact_cache/node01
{\"ansible_processor_vcpus\": 8, \"ansible_memtotal_mb\": 32000}
=== east/fact_cache/node02
{\"ansible_processor_vcpus\": 8, \"ansible_memtotal_mb\": 32000}
=== east/fact_cache/gpu1
{\"ansible_processor_vcpus\": 16, \"ansible_memtotal_mb\": 64000}
";

    #[test]
    fn nodes_that_agree_are_a_pool() {
        let imported = import(&files(INI), "unused").unwrap();
        compiled(&imported);
        assert_eq!(
            imported.files["clusters/east.yaml"],
            "\
apiVersion: fleetwright.io/v1alpha1
kind: Cluster
metadata:
  name: east
spec:
  region: east
  zones:
  - east-1
  nodePools:
  - name: pool-1
    nodes: 1
    allocatable:
      cpu: \"16\"
      memory: \"64000Mi\"
    labels:
      accelerator: v100
    taints:
    - key: gpu
      value: \"yes\"
      effect: NoSchedule
  - name: pool-2
    nodes: 2
    allocatable:
      cpu: \"8\"
      memory: \"32000Mi\"
    labels:
      ssd: \"true\"
      topology.kubernetes.io/region: east
      topology.kubernetes.io/zone: east-1
"
        );
    }

    #[test]
    fn an_inventory_in_yaml_and_no_facts() {
        let imported = import(
            &files(
                "\
=== hosts.yaml
all:
  hosts: {node1: {ip: 10.0.0.1}, node2: {}}
  children:
    kube_control_plane: {hosts: {node1: null}}
    kube_node: {hosts: {node1: null, node2: null}}
    k8s_cluster: {children: {kube_control_plane: null, kube_node: null}}
",
            ),
            "lab",
        )
        .unwrap();
        compiled(&imported);
        assert_eq!(
            imported.files["clusters/lab.yaml"],
            "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: lab\nspec: {}\n"
        );
        assert!(notes(&imported)[0].contains("nothing says what 2 of its 2 nodes have"));
    }
}
