//! Nodes. There is no machine behind one: kwok keeps it Ready, and the scheduler reads its capacity.

use serde_json::{Value, json};

/// A node to create.
#[derive(Debug, Clone)]
pub struct NodeSpec {
    /// Its name.
    pub name: String,
    /// Cores, in thousandths.
    pub cpu_milli: u64,
    /// Memory, in MiB.
    pub memory_mib: u64,
    /// How many pods it takes.
    pub pods: u64,
    /// Labels beside `kubernetes.io/hostname`.
    pub labels: Vec<(String, String)>,
}

impl NodeSpec {
    /// `count` nodes `node-1` and so on of 32 cores, 128 GiB and 110 pods.
    pub fn fleet(count: usize) -> Vec<NodeSpec> {
        let node = |number| NodeSpec {
            name: format!("node-{number}"),
            cpu_milli: 32_000,
            memory_mib: 128 << 10,
            pods: 110,
            labels: Vec::new(),
        };
        (1..=count).map(node).collect()
    }

    /// The object. Capacity and allocatable are equal: nothing is reserved.
    pub(super) fn manifest(&self) -> Value {
        let mut labels = json!({"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux"});
        for (key, value) in &self.labels {
            labels[key] = json!(value);
        }
        let room = json!({
            "cpu": format!("{}m", self.cpu_milli),
            "memory": format!("{}Mi", self.memory_mib),
            "pods": self.pods.to_string(),
        });
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": labels},
            "status": {"capacity": room, "allocatable": room},
        })
    }
}

/// Whether pods are scheduled to it: Ready, and without the taint that a node has until the controller manager saw it Ready.
pub(super) fn is_open(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let taints = node["spec"]["taints"].as_array().map_or(&[][..], Vec::as_slice);
    conditions.iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
        && !taints.iter().any(|t| t["key"] == "node.kubernetes.io/not-ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_open_when_it_is_ready_and_its_first_taint_is_gone() {
        let ready = json!([{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}]);
        let taints = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
        for (node, open) in [
            (json!({}), false),
            (json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}), false),
            (json!({"status": {"conditions": ready}, "spec": {"taints": taints}}), false),
            (json!({"status": {"conditions": ready}, "spec": {"taints": [{"key": "gpu"}]}}), true),
            (json!({"status": {"conditions": ready}, "spec": {}}), true),
        ] {
            assert_eq!(is_open(&node), open, "{node}");
        }
    }

    #[test]
    fn a_manifest_holds_room_and_labels() {
        let mut node = NodeSpec::fleet(2).remove(1);
        node.labels.push(("pool".to_owned(), "general".to_owned()));
        let manifest = node.manifest();
        assert_eq!(manifest["metadata"]["labels"]["kubernetes.io/hostname"], "node-2");
        assert_eq!(manifest["metadata"]["labels"]["pool"], "general");
        assert_eq!(manifest["status"]["allocatable"], json!({"cpu": "32000m", "memory": "131072Mi", "pods": "110"}));
    }
}
