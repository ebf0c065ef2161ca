//! Cluster API: a Cluster file for each `Cluster`, with a node pool for each MachineDeployment and MachinePool.
//!
//! What a node has is in `status.capacity` of its infrastructure template, or in the annotations that a cluster autoscaler
//! reads to scale from nothing (`capacity.cluster-autoscaler.kubernetes.io/*`); `…node-group-max-size` says how far it may
//! grow. Of labels, Cluster API puts on nodes those of three domains; taints are those that kubeadm registers.
//! Source: the API of Cluster API `v1beta1` and `v1beta2`, its proposals of opt-in autoscaling from zero and of label sync.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::documents::{self, Object};
use super::numbers::{machine_amount, node_count, shown};
use super::repository::{Names, Repository, placeless, placeless_all};
use super::{About, Fate, Imported, InputFile, Note, Unreadable};
use crate::api::{ClusterSpec, NodePoolSpec};
use crate::base::labels::Labels;
use crate::base::quantity::Quantity;
use crate::base::taint::Taint;
use crate::base::{SmolStr, Spanned};

const CAPACITY: &str = "capacity.cluster-autoscaler.kubernetes.io/";
const MAX_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";
/// Domains whose labels Cluster API puts on nodes.
const NODE_LABELS: [&str; 3] = ["node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io"];

/// Imports a management cluster's objects.
///
/// # Errors
/// Files that are no YAML, and objects that are there twice and differ.
pub fn import(files: &[InputFile]) -> Result<Imported, Vec<Unreadable>> {
    let mut notes = Vec::new();
    let objects = documents::once(documents::read(files)?, &mut notes)?;
    let mut repository = Repository::new();
    let mut names = Names::default();
    for cluster in objects.iter().filter(|o| o.group == "cluster.x-k8s.io" && o.kind == "Cluster") {
        let name = names.free(&cluster.name);
        let spec = self::cluster(cluster, &objects, &mut notes);
        let mut about = About { file: cluster.file.clone(), object: cluster.title(), notes: &mut notes };
        if name != cluster.name {
            about.say(Fate::Resolved, "metadata.name", format!("there are two of this name: this one is `{name}`"));
        }
        let path = format!("clusters/{name}.yaml");
        repository.put(path, ("Cluster", &name), &cluster.labels, &spec, &mut about);
    }
    Ok(Imported { files: repository.files(), notes, ..Imported::default() })
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
}

fn cluster(cluster: &Object, objects: &[Object], notes: &mut Vec<Note>) -> ClusterSpec {
    let infrastructure = referred(objects, cluster, cluster.value.pointer("/spec/infrastructureRef"));
    let provider = text(&cluster.value, "/spec/infrastructureRef/kind").and_then(provider);
    let place = ["/spec/region", "/spec/location"];
    let region = infrastructure.and_then(|of| place.iter().find_map(|pointer| text(&of.value, pointer)));
    let mut zones: BTreeSet<SmolStr> = BTreeSet::new();
    let mut pools: Vec<Spanned<NodePoolSpec>> = Vec::new();
    let mut known = true;
    let mut names = Names::default();
    for group in node_groups(cluster, objects) {
        zones.extend(group.zones.iter().cloned());
        let mut about = About { file: group.file.clone(), object: group.title.clone(), notes };
        for (field, text) in &group.odd {
            about.say(Fate::NoCounterpart, field, text.clone());
        }
        match group.pool(&mut names, &mut about) {
            Some(pool) => pools.push(placeless(pool)),
            None => {
                known = false;
                let said = "nothing says what a node of it has: the capacity of the cluster is left unknown. State `nodePools`, or \
                            annotate it with capacity.cluster-autoscaler.kubernetes.io/cpu and /memory";
                about.say(Fate::NoCounterpart, "", said);
            }
        }
    }
    ClusterSpec {
        provider: provider.map(|text| placeless(text.into())),
        region: region.map(|text| placeless(text.into())),
        zones: placeless_all(&zones),
        node_pools: (known && !pools.is_empty()).then_some(pools),
        ..ClusterSpec::default()
    }
}

/// `aws` of `AWSCluster`, `AWSManagedCluster`.
fn provider(kind: &str) -> Option<String> {
    let stem = kind.strip_suffix("Cluster")?;
    let stem = stem.strip_suffix("Managed").unwrap_or(stem);
    (!stem.is_empty()).then(|| stem.to_lowercase())
}

/// The object that a reference names, in the namespace of whoever refers to it.
fn referred<'o>(objects: &'o [Object], from: &Object, reference: Option<&Value>) -> Option<&'o Object> {
    let (kind, name) = (text(reference?, "/kind")?, text(reference?, "/name")?);
    objects.iter().find(|of| of.kind == kind && of.name == name && of.namespace == from.namespace)
}

/// Nodes of one kind.
struct NodeGroup {
    file: SmolStr,
    title: SmolStr,
    name: SmolStr,
    nodes: u32,
    annotations: Labels,
    labels: Labels,
    zones: Vec<SmolStr>,
    /// `status.capacity` of its template.
    capacity: BTreeMap<SmolStr, Quantity>,
    taints: Vec<Taint>,
    /// What could not be read: the field, and why.
    odd: Vec<(String, String)>,
}

fn node_groups(cluster: &Object, objects: &[Object]) -> Vec<NodeGroup> {
    let of_cluster = |of: &&Object| {
        of.group == "cluster.x-k8s.io"
            && matches!(of.kind.as_str(), "MachineDeployment" | "MachinePool")
            && of.namespace == cluster.namespace
            && text(&of.value, "/spec/clusterName") == Some(&cluster.name)
    };
    let mut groups: Vec<NodeGroup> = objects.iter().filter(of_cluster).map(|of| node_group(of, objects)).collect();
    // a topology is turned into MachineDeployments; where these are not among the files, it says as much itself
    if groups.is_empty() {
        for list in ["machineDeployments", "machinePools"] {
            let workers = cluster.value.pointer(&format!("/spec/topology/workers/{list}")).and_then(Value::as_array);
            groups.extend(workers.into_iter().flatten().filter_map(|worker| topology(cluster, worker)));
        }
    }
    groups
}

fn node_group(of: &Object, objects: &[Object]) -> NodeGroup {
    let template = referred(objects, of, of.value.pointer("/spec/template/spec/infrastructureRef"));
    let bootstrap = referred(objects, of, of.value.pointer("/spec/template/spec/bootstrap/configRef"));
    let capacity = template.and_then(|template| template.value.pointer("/status/capacity"));
    let registration = "/joinConfiguration/nodeRegistration/taints";
    let taints = bootstrap.and_then(|bootstrap| {
        let places = ["/spec/template/spec", "/spec"];
        places.iter().find_map(|place| bootstrap.value.pointer(&format!("{place}{registration}")))
    });
    let mut odd = Vec::new();
    let one = text(&of.value, "/spec/template/spec/failureDomain").map(SmolStr::from);
    let several = of.value.pointer("/spec/failureDomains").and_then(Value::as_array).into_iter().flatten();
    NodeGroup {
        file: of.file.clone(),
        title: of.title(),
        name: of.name.clone(),
        nodes: nodes(of.value.pointer("/spec/replicas"), "spec.replicas", &mut odd),
        annotations: of.annotations.clone(),
        labels: texts(of.value.pointer("/spec/template/metadata/labels")),
        zones: several.filter_map(Value::as_str).map(SmolStr::from).chain(one).collect(),
        capacity: capacity.map(|capacity| quantities(capacity, &mut odd)).unwrap_or_default(),
        taints: taints.map(|taints| self::taints(taints, &mut odd)).unwrap_or_default(),
        odd,
    }
}

fn topology(cluster: &Object, worker: &Value) -> Option<NodeGroup> {
    let name = text(worker, "/name")?;
    let mut odd = Vec::new();
    Some(NodeGroup {
        file: cluster.file.clone(),
        title: format!("{} workers {name}", cluster.title()).into(),
        name: name.into(),
        nodes: nodes(worker.get("replicas"), "replicas", &mut odd),
        annotations: texts(worker.pointer("/metadata/annotations")),
        labels: texts(worker.pointer("/metadata/labels")),
        zones: text(worker, "/failureDomain").map(SmolStr::from).into_iter().collect(),
        capacity: BTreeMap::new(),
        taints: Vec::new(),
        odd,
    })
}

/// Absent is 1, as the API has it. What is no number of nodes counts as none, so that nothing is placed on nodes that nobody
/// has.
fn nodes(value: Option<&Value>, field: &str, odd: &mut Vec<(String, String)>) -> u32 {
    let Some(value) = value else { return 1 };
    node_count(value).unwrap_or_else(|wrong| {
        odd.push((field.to_owned(), format!("{wrong}: written as 0 nodes")));
        0
    })
}

fn texts(value: Option<&Value>) -> Labels {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.into(), value.as_str()?.into()))).collect()
}

fn quantities(value: &Value, odd: &mut Vec<(String, String)>) -> BTreeMap<SmolStr, Quantity> {
    let entries = value.as_object().into_iter().flatten();
    let read = |(key, value): (&String, &Value)| match machine_amount(key, value) {
        Ok(quantity) => Some((key.into(), quantity)),
        Err(wrong) => {
            odd.push((format!("status.capacity.{key}"), format!("{wrong}: left out")));
            None
        }
    };
    entries.filter_map(read).collect()
}

fn taints(value: &Value, odd: &mut Vec<(String, String)>) -> Vec<Taint> {
    let items = value.as_array().into_iter().flatten();
    let read = |item: &Value| match serde_json::from_value(item.clone()) {
        Ok(taint) => Some(taint),
        Err(_) => {
            odd.push(("nodeRegistration.taints".to_owned(), format!("{} is no taint: left out", shown(item))));
            None
        }
    };
    items.filter_map(read).collect()
}

impl NodeGroup {
    /// The pool; `None` where nothing says what a node has.
    fn pool(&self, names: &mut Names, about: &mut About<'_>) -> Option<NodePoolSpec> {
        let mut allocatable = self.capacity.clone();
        let mut gpu: (Option<&str>, Option<&str>) = (None, None);
        for (key, value) in &self.annotations {
            let resource = match key.strip_prefix(CAPACITY) {
                Some(resource @ ("cpu" | "memory")) => resource,
                Some("ephemeral-disk") => "ephemeral-storage",
                Some("maxPods") => "pods",
                Some("gpu-type") => {
                    gpu.0 = Some(value);
                    continue;
                }
                Some("gpu-count") => {
                    gpu.1 = Some(value);
                    continue;
                }
                Some(_) | None => continue,
            };
            match machine_amount(resource, &value.as_str().into()) {
                Ok(quantity) => {
                    allocatable.insert(resource.into(), quantity);
                }
                Err(wrong) => about.say(Fate::NoCounterpart, key, format!("{wrong}: left out")),
            }
        }
        match gpu {
            (Some(resource), Some(count)) => match machine_amount(resource, &count.into()) {
                Ok(count) => {
                    allocatable.insert(resource.into(), count);
                }
                Err(wrong) => {
                    about.say(Fate::NoCounterpart, &format!("{CAPACITY}gpu-count"), format!("{wrong}: left out"));
                }
            },
            (Some(_), None) | (None, Some(_)) => {
                let text = "gpu-type and gpu-count are stated together, or not at all: left out";
                about.say(Fate::NoCounterpart, &format!("{CAPACITY}gpu-type"), text);
            }
            (None, None) => {}
        }
        if !["cpu", "memory"].iter().all(|resource| allocatable.contains_key(*resource)) {
            return None;
        }
        let said =
            "the capacity of its machines is taken for what is allocatable: state less where the system needs some";
        about.say(Fate::Differs, "", said);
        let reaches = |key: &str| {
            let domain = key.split_once('/').map_or("", |(domain, _)| domain);
            NODE_LABELS
                .iter()
                .any(|known| domain == *known || domain.strip_suffix(known).is_some_and(|sub| sub.ends_with('.')))
        };
        let mut labels: Labels =
            self.labels.iter().filter(|(key, _)| reaches(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        if let [zone] = self.zones.as_slice() {
            labels.insert("topology.kubernetes.io/zone".into(), zone.clone());
        }
        // `key=value,key=value`, and for taints `key=value:effect`
        let listed = |key: &str| {
            self.annotations
                .get(&SmolStr::from(format!("{CAPACITY}{key}")))
                .map(SmolStr::as_str)
                .unwrap_or_default()
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
        };
        let mut odd = |key: &str, what: &str, item: &str| {
            let text = format!("{} is no {what}: left out", shown(&item.into()));
            about.say(Fate::NoCounterpart, &format!("{CAPACITY}{key}"), text);
        };
        for label in listed("labels") {
            match label.split_once('=') {
                Some((key, value)) => {
                    labels.insert(key.into(), value.into());
                }
                None => odd("labels", "`key=value`", label),
            }
        }
        let mut taints = self.taints.clone();
        for item in listed("taints") {
            match super::taint(item) {
                Some(taint) if taints.contains(&taint) => {}
                Some(taint) => taints.push(taint),
                None => odd("taints", "`key=value:effect`", item),
            }
        }
        let max = match self.annotations.get(MAX_SIZE).map(|max| node_count(&max.as_str().into())) {
            None => None,
            Some(Ok(max)) => Some(max),
            Some(Err(wrong)) => {
                about.say(Fate::NoCounterpart, MAX_SIZE, format!("{wrong}: left out, so the pool does not grow"));
                None
            }
        };
        Some(NodePoolSpec {
            name: placeless(names.free(&self.name)),
            nodes: placeless(self.nodes),
            allocatable: allocatable.into_iter().map(|(name, of)| (placeless(name), placeless(of))).collect(),
            labels,
            taints: taints.into_iter().map(placeless).collect(),
            scalable_to: max.filter(|max| *max > self.nodes).map(placeless),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::import::tests::{compiled, files, notes};

    const MANAGED: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: eu-a, namespace: fleet, labels: {env: prod}}
spec: {infrastructureRef: {kind: AWSCluster, name: eu-a}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata: {name: eu-a, namespace: fleet}
spec: {region: eu-west-1}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: general
  namespace: fleet
  annotations: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '10'}
spec:
  clusterName: eu-a
  replicas: 3
  template:
    metadata: {labels: {node-role.kubernetes.io/web: '', unrelated: x}}
    spec:
      failureDomain: eu-west-1a
      infrastructureRef: {kind: AWSMachineTemplate, name: general}
      bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: general}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: general, namespace: fleet}
status: {capacity: {cpu: 8, memory: 32Gi}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: general, namespace: fleet}
spec: {template: {spec: {joinConfiguration: {nodeRegistration: {taints: [{key: web, effect: NoSchedule}]}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata:
  name: gpu
  namespace: fleet
  annotations:
    capacity.cluster-autoscaler.kubernetes.io/cpu: '16'
    capacity.cluster-autoscaler.kubernetes.io/memory: 64Gi
    capacity.cluster-autoscaler.kubernetes.io/maxPods: '58'
    capacity.cluster-autoscaler.kubernetes.io/gpu-type: nvidia.com/gpu
    capacity.cluster-autoscaler.kubernetes.io/gpu-count: '2'
    capacity.cluster-autoscaler.kubernetes.io/labels: accelerator=v100,tier=gpu
    capacity.cluster-autoscaler.kubernetes.io/taints: gpu=yes:NoSchedule,broken
spec: {clusterName: eu-a, replicas: 2, failureDomains: [eu-west-1b, eu-west-1c]}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: dev, namespace: fleet}
spec: {topology: {workers: {machineDeployments: [{class: default, name: md, replicas: 2}]}}}
";

    #[test]
    fn node_groups_become_pools() {
        let imported = super::import(&files(MANAGED)).unwrap();
        compiled(&imported);
        assert_eq!(
            imported.files["clusters/eu-a.yaml"],
            "\
apiVersion: fleetwright.io/v1alpha1
kind: Cluster
metadata:
  name: eu-a
  labels:
    env: prod
spec:
  provider: aws
  region: eu-west-1
  zones:
  - eu-west-1a
  - eu-west-1b
  - eu-west-1c
  nodePools:
  - name: general
    nodes: 3
    allocatable:
      cpu: \"8\"
      memory: \"32Gi\"
    labels:
      node-role.kubernetes.io/web: \"\"
      topology.kubernetes.io/zone: eu-west-1a
    taints:
    - key: web
      effect: NoSchedule
    scalableTo: 10
  - name: gpu
    nodes: 2
    allocatable:
      cpu: \"16\"
      memory: \"64Gi\"
      nvidia.com/gpu: \"2\"
      pods: \"58\"
    labels:
      accelerator: v100
      tier: gpu
    taints:
    - key: gpu
      value: \"yes\"
      effect: NoSchedule
"
        );
        assert_eq!(
            imported.files["clusters/dev.yaml"],
            "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: dev\nspec: {}\n"
        );
        let unknown: Vec<String> =
            notes(&imported).into_iter().filter(|note| note.starts_with("NoCounterpart")).collect();
        assert_eq!(unknown.len(), 2, "{unknown:?}");
        let broken = "`broken` is no `key=value:effect`: left out";
        assert!(unknown[0].starts_with("NoCounterpart MachinePool fleet/gpu ") && unknown[0].ends_with(broken));
        assert!(
            unknown[1].starts_with("NoCounterpart Cluster fleet/dev workers md : nothing says what a node of it has")
        );
    }

    /// What is no number of nodes and no amount of a machine is said, never guessed at and never clamped.
    #[test]
    fn odd_numbers_are_said() {
        let odd = MANAGED
            .replace("replicas: 3", "replicas: -3")
            .replace("{cpu: 8, memory: 32Gi}", "{cpu: 8, memory: 32Gi, ephemeral-storage: 1e99}")
            .replace("group-max-size: '10'", "group-max-size: '1e9'")
            .replace("maxPods: '58'", "maxPods: '-58'")
            .replace("gpu-count: '2'", "gpu-count: two")
            .replace("spec: {clusterName: eu-a, replicas: 2,", "spec: {clusterName: eu-a, replicas: 99999999999,");
        let imported = super::import(&files(&odd)).unwrap();
        compiled(&imported);
        let said = notes(&imported).join("\n");
        for line in [
            "spec.replicas: `-3` is no number of nodes, 0 to 2147483647: written as 0 nodes",
            "spec.replicas: `99999999999` is no number of nodes, 0 to 2147483647: written as 0 nodes",
            "status.capacity.ephemeral-storage: `1e+99` is no amount of ephemeral-storage: expected at most 2^63-1",
            "node-group-max-size: `1e9` is no number of nodes, 0 to 2147483647: left out, so the pool does not grow",
            "maxPods: `-58` is less than nothing: left out",
            "gpu-count: `two` is no amount of",
        ] {
            assert!(said.contains(line), "{line}\n{said}");
        }
        let file = &imported.files["clusters/eu-a.yaml"];
        assert!(
            file.contains("nodes: 0") && !file.contains("nvidia.com/gpu") && !file.contains("scalableTo"),
            "{file}"
        );
    }
}
