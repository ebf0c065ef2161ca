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
use super::numbers::{machine_amount, shown};
use super::repository::{Repository, placeless, placeless_all};
use super::{About, Fate, Imported, InputFile, Note, Unreadable};
use crate::api::{ClusterSpec, NodePoolSpec};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::base::quantity::Quantity;
use crate::base::taint::Taint;
use crate::yaml;

/// Imports inventories. One that lies in no folder of its own is named `name`.
///
/// # Errors
/// Files that are no YAML, inventories of which it cannot be said who is in them, or nobody is, and two of one name.
pub fn import(files: &[InputFile], name: &str) -> Result<Imported, Vec<Unreadable>> {
    let mut notes = Vec::new();
    let mut repository = Repository::new();
    let mut unreadable = Vec::new();
    let mut named: BTreeMap<String, &str> = BTreeMap::new();
    for (file, inventory) in inventories(files, &mut unreadable, &mut notes) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = match folder.rsplit('/').next() {
            Some(last) if !last.is_empty() => last,
            Some(_) | None => name,
        };
        let name = name.replace('_', "-").to_lowercase();
        if let Some(other) = named.insert(name.clone(), &file.path) {
            let text = format!(
                "this is the inventory of cluster {}, and so is {other}: leave one of them out, or put it into a folder of another \
                 name, which the cluster is called after",
                name.escape_debug()
            );
            unreadable.push(Unreadable { file: file.path.clone(), line: 1, text });
            continue;
        }
        let mut about =
            About { file: file.path.as_str().into(), object: format!("inventory {name}").into(), notes: &mut notes };
        for odd in inventory.odd() {
            about.say(Fate::NoCounterpart, "", odd.clone());
        }
        let nodes = nodes(&inventory, folder, files, &mut unreadable, &mut about);
        let spec = cluster(&nodes, &mut about);
        repository.put(format!("clusters/{name}.yaml"), ("Cluster", &name), &Labels::new(), &spec, &mut about);
    }
    if unreadable.is_empty() {
        Ok(Imported { files: repository.files(), notes, ..Imported::default() })
    } else {
        Err(unreadable)
    }
}

/// The inventories among the files, by path: those that have a group of nodes, or are called as one and could not be read.
fn inventories<'f>(
    files: &'f [InputFile],
    unreadable: &mut Vec<Unreadable>,
    notes: &mut Vec<Note>,
) -> Vec<(&'f InputFile, Inventory)> {
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
        let has_odd = !inventory.odd().is_empty() || !inventory.wrong().is_empty();
        let means_to_be_one = is_inventory(name) && has_odd;
        if !(inventory.has_nodes() || means_to_be_one) {
            if is_inventory(name) {
                let mut about = About { file: file.path.as_str().into(), object: SmolStr::default(), notes };
                about.say(Fate::Skipped, "", "has no group `kube_node`: it is no inventory of Kubespray's");
            }
            continue;
        }
        let wrong =
            |(line, text): &(u32, String)| Unreadable { file: file.path.clone(), line: *line, text: text.clone() };
        unreadable.extend(inventory.wrong().iter().map(wrong));
        if inventory.nodes().is_empty() && inventory.wrong().is_empty() {
            unreadable.push(wrong(&(line_of_nodes(file), nobody(&inventory))));
        }
        if !inventory.nodes().is_empty() {
            found.push((file, inventory));
        }
    }
    found.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    found
}

/// Why no host of an inventory runs pods.
fn nobody(inventory: &Inventory) -> String {
    let why = match inventory.odd() {
        [] if inventory.has_nodes() => "it is empty, and so are its children".to_owned(),
        [] => "there is none".to_owned(),
        odd => odd.join("; "),
    };
    format!("no host is left in group `kube_node`, whose hosts run pods: {why}")
}

/// The line, from 1, that first names the group of nodes; else the first.
fn line_of_nodes(file: &InputFile) -> u32 {
    let text = String::from_utf8_lossy(&file.bytes);
    let names = |(_, line): &(u32, &str)| line.contains("kube_node") || line.contains("kube-node");
    (1..).zip(text.lines()).find(names).map_or(1, |(number, _)| number)
}

/// The names that Kubespray's own samples give an inventory: other files may hold anything.
fn is_inventory(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    matches!(stem, "hosts" | "inventory")
}

/// A node, as far as a pool asks.
#[derive(PartialEq)]
struct Node {
    labels: Labels,
    taints: Vec<Taint>,
    facts: Option<BTreeMap<SmolStr, Quantity>>,
}

/// The nodes of an inventory, with the variables of their groups and their own: the more special wins.
fn nodes(
    inventory: &Inventory,
    folder: &str,
    files: &[InputFile],
    unreadable: &mut Vec<Unreadable>,
    about: &mut About<'_>,
) -> Vec<Node> {
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
    let mut groups = Vec::new();
    for (group, members) in inventory.memberships() {
        let mut variables = inventory.group_variables(&group);
        variables.extend(of_file("group_vars", &group));
        groups.push((group, members, variables));
    }
    for host in inventory.nodes() {
        let mut variables = Variables::new();
        for (group, members, of_group) in &groups {
            if group == "all" || members.contains(&host) {
                variables.extend(of_group.clone());
            }
        }
        variables.extend(inventory.host_variables(&host));
        variables.extend(of_file("host_vars", &host));
        if let Some(version) = variables.get("kube_version") {
            let text = format!("{} is no business of a Cluster file: `apis` there says what is served", shown(version));
            about.say(Fate::Skipped, "kube_version", text);
        }
        nodes.push(Node {
            labels: labels(variables.get("node_labels"), about),
            taints: taints(variables.get("node_taints"), about),
            facts: facts(&host, files, about),
        });
    }
    unreadable.dedup();
    nodes
}

/// A value, or in an INI file the text of one.
fn meant(value: Option<&Value>) -> Value {
    let Some(value) = value else { return Value::Null };
    let Some(text) = value.as_str() else { return value.clone() };
    let (documents, errors) = yaml::compose(text, &yaml::Limits::default());
    match documents.iter().find_map(|document| document.root.as_ref()) {
        Some(root) if errors.is_empty() => root.to_json(),
        Some(_) | None => value.clone(),
    }
}

/// A map.
fn labels(value: Option<&Value>, about: &mut About<'_>) -> Labels {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match meant(value) {
        Value::Null => Labels::new(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.into(), text(value).into())).collect(),
        other => {
            about.say(Fate::NoCounterpart, "node_labels", format!("{} is no map of labels: left out", shown(&other)));
            Labels::new()
        }
    }
}

/// A list of `key=value:effect`.
fn taints(value: Option<&Value>, about: &mut About<'_>) -> Vec<Taint> {
    let mut odd = |value: &Value| {
        let text = format!("{} is no `key=value:effect` in a list: left out", shown(value));
        about.say(Fate::NoCounterpart, "node_taints", text);
    };
    match meant(value) {
        Value::Null => Vec::new(),
        Value::Array(items) => {
            let read = |item: &Value| {
                let taint = item.as_str().and_then(super::taint);
                if taint.is_none() {
                    odd(item);
                }
                taint
            };
            items.iter().filter_map(read).collect()
        }
        other => {
            odd(&other);
            Vec::new()
        }
    }
}

/// Processors and memory from the cache of facts. The file has the name of the host.
fn facts(host: &str, files: &[InputFile], about: &mut About<'_>) -> Option<BTreeMap<SmolStr, Quantity>> {
    let named = |file: &&InputFile| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        name == host || name.strip_suffix(".json") == Some(host)
    };
    let value = files.iter().filter(named).find_map(|file| serde_json::from_slice::<Value>(&file.bytes).ok())?;
    let mut read = |key: &str, resource: &str, unit: &str| {
        let fact = value.get(key).or_else(|| value.pointer(&format!("/ansible_facts/{key}")))?;
        let quantity = match fact {
            Value::Number(number) => machine_amount(resource, &format!("{number}{unit}").into()),
            other => Err(format!("{} is no number", shown(other))),
        };
        match quantity {
            Ok(quantity) => Some(quantity),
            Err(wrong) => {
                about.say(Fate::NoCounterpart, &format!("{key} of {host}"), format!("{wrong}: left out"));
                None
            }
        }
    };
    let (cpu, memory) = (read("ansible_processor_vcpus", "cpu", ""), read("ansible_memtotal_mb", "memory", "Mi"));
    Some(BTreeMap::from([("cpu".into(), cpu?), ("memory".into(), memory?)]))
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
        let labels: BTreeSet<&SmolStr> = nodes.iter().flat_map(|node| node.labels.keys()).collect();
        let taints: BTreeSet<&SmolStr> = nodes.iter().flat_map(|node| &node.taints).map(|taint| &taint.key).collect();
        for (field, keys) in [("node_labels", labels), ("node_taints", taints)] {
            if !keys.is_empty() {
                let keys: Vec<&str> = keys.into_iter().map(SmolStr::as_str).collect();
                let text = format!("{} belong to node pools, which are left out with the capacity", keys.join(", "));
                about.say(Fate::NoCounterpart, field, text);
            }
        }
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

    /// Lists of hosts are read; what cannot be read, and what has no place in a Cluster file, is said.
    #[test]
    fn nothing_of_an_inventory_is_dropped_in_silence() {
        let text = "\
=== hosts.yaml
all:
  vars: {kube_version: v1.34.0}
  hosts: [node1, node2, 'big[001:999999]']
  children:
    kube_node:
      hosts: [node1, node2, 'big[001:999999]', 'x[3:1]']
      vars: {node_labels: [ssd], node_taints: ['gpu=yes:NoSchedule', broken]}
    other: {hosts: 7}
=== fact_cache/node1
{\"ansible_processor_vcpus\": -8, \"ansible_memtotal_mb\": 32000}
=== fact_cache/node2
{\"ansible_processor_vcpus\": \"many\", \"ansible_memtotal_mb\": 1e99}
";
        let imported = import(&files(text), "lab").unwrap();
        compiled(&imported);
        let said = notes(&imported).join("\n");
        for line in [
            "big[001:999999] stands for more than 10000 hosts: left out. Write smaller ranges",
            "x[3:1]: [3:1] is no range such as [01:20]: left out",
            "`hosts` of group other is no map of names: left out",
            "kube_version: `v1.34.0` is no business of a Cluster file: `apis` there says what is served",
            "node_labels: `[\"ssd\"]` is no map of labels: left out",
            "node_taints: `broken` is no `key=value:effect` in a list: left out",
            "ansible_processor_vcpus of node1: `-8` is less than nothing: left out",
            "ansible_processor_vcpus of node2: `many` is no number: left out",
            "ansible_memtotal_mb of node2: `",
            "nothing says what 2 of its 2 nodes have",
            "node_taints: gpu belong to node pools, which are left out with the capacity",
        ] {
            assert!(said.replace('\\', "").contains(line), "{line}\n{said}");
        }
    }

    #[test]
    fn inventories_that_cannot_be_read_are_refused() {
        let good = "[kube_node]\na\n";
        for (text, expected) in [
            (
                "=== a/inventory.ini\n[all]\nx\n[kube_node\nx\n".to_owned(),
                vec!["a/inventory.ini:3: `[kube_node` has no `]`: expected a header such as [kube_node]"],
            ),
            (
                // not called as an inventory, and means to be one
                "=== a/prod.ini\n[kube_node\nx\n".to_owned(),
                vec!["a/prod.ini:1: `[kube_node` has no `]`: expected a header such as [kube_node]"],
            ),
            (
                "=== hosts.ini\n[kube_node]\nx\n[etcd:childern]\nkube_node\n".to_owned(),
                vec!["hosts.ini:3: `[etcd:childern]` is neither a group, nor its hosts, children or vars"],
            ),
            (
                "=== hosts.ini\n[all]\nx\n[kube_node]\n# x\n".to_owned(),
                vec![
                    "hosts.ini:3: no host is left in group `kube_node`, whose hosts run pods: it is empty, and so are its children",
                ],
            ),
            (
                "=== hosts.yaml\nall:\n  children:\n    kube_node: {hosts: ['x[3:1]']}\n".to_owned(),
                vec![
                    "hosts.yaml:3: no host is left in group `kube_node`, whose hosts run pods: x[3:1]: [3:1] is no range such as \
                     [01:20]: left out",
                ],
            ),
            (
                format!("=== east/hosts.ini\n{good}=== east/inventory.ini\n{good}"),
                vec![
                    "east/inventory.ini:1: this is the inventory of cluster east, and so is east/hosts.ini: leave one of them out, or \
                     put it into a folder of another name, which the cluster is called after",
                ],
            ),
            (
                format!("=== a/my_lab/hosts.ini\n{good}=== b/My-Lab/hosts.ini\n{good}"),
                vec![
                    "b/My-Lab/hosts.ini:1: this is the inventory of cluster my-lab, and so is a/my_lab/hosts.ini: leave one of them \
                     out, or put it into a folder of another name, which the cluster is called after",
                ],
            ),
        ] {
            let wrong = import(&files(&text), "lab").unwrap_err();
            assert_eq!(wrong.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{text}");
        }
        // what is no inventory may hold anything, and one that is of somebody else is said
        let text = format!("=== a/ansible.cfg\n[defaults\n=== b/hosts\n[web]\nx\n=== c/hosts.ini\n{good}");
        let imported = import(&files(&text), "lab").unwrap();
        assert!(imported.files.contains_key("clusters/c.yaml") && imported.files.len() == 2, "{:?}", imported.files);
        assert_eq!(notes(&imported)[0], "Skipped  : has no group `kube_node`: it is no inventory of Kubespray's");
    }

    /// Ansible writes Python, and people YAML, into values of INI files.
    #[test]
    fn maps_and_lists_in_ini_files() {
        let text = "=== inventory.ini\n[kube_node]\na node_labels=\"{'disk': 'ssd'}\" node_taints=\"['gpu=yes:NoSchedule']\"\n\
                    === fact_cache/a\n{\"ansible_processor_vcpus\": 8, \"ansible_memtotal_mb\": 32000}\n";
        let imported = import(&files(text), "lab").unwrap();
        let file = &imported.files["clusters/lab.yaml"];
        assert!(file.contains("disk: ssd") && file.contains("key: gpu"), "{file}");
    }
}
