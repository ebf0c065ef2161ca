//! What a team asks for, read from rendered manifests: no help from what the compiler thinks it placed.

use std::collections::BTreeMap;

use serde_json::Value;

/// Thousandths of CPU and bytes of memory, by cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// `requests.cpu`, in thousandths.
    pub cpu_milli: BTreeMap<String, u64>,
    /// `requests.memory`, in bytes.
    pub memory_bytes: BTreeMap<String, u64>,
    /// Pods.
    pub pods: BTreeMap<String, u64>,
}

impl Asked {
    /// Adds the pods of one rendered object of a cluster; objects without a pod template have none.
    ///
    /// # Errors
    /// When a quantity is not one that a test writes.
    pub fn add(&mut self, cluster: &str, object: &Value) -> Result<(), String> {
        let Some(containers) = object.pointer("/spec/template/spec/containers").and_then(Value::as_array) else {
            return Ok(());
        };
        let replicas = object.pointer("/spec/replicas").and_then(Value::as_u64).unwrap_or(1);
        *self.pods.entry(cluster.to_owned()).or_default() += replicas;
        for container in containers {
            let request =
                |name: &str| container.pointer(&format!("/resources/requests/{name}")).and_then(Value::as_str);
            let cpu_milli = request("cpu").map_or(Ok(0), cpu_milli)?;
            let memory_bytes = request("memory").map_or(Ok(0), memory_bytes)?;
            *self.cpu_milli.entry(cluster.to_owned()).or_default() += cpu_milli * replicas;
            *self.memory_bytes.entry(cluster.to_owned()).or_default() += memory_bytes * replicas;
        }
        Ok(())
    }

    /// The sums over all clusters: thousandths of CPU, bytes of memory, pods.
    #[must_use]
    pub fn total(&self) -> (u64, u64, u64) {
        let sum = |of: &BTreeMap<String, u64>| of.values().sum();
        (sum(&self.cpu_milli), sum(&self.memory_bytes), sum(&self.pods))
    }
}

/// `2` or `250m`.
fn cpu_milli(text: &str) -> Result<u64, String> {
    let number = |digits: &str| digits.parse::<u64>().map_err(|_| format!("not a CPU quantity of a test: {text}"));
    match text.strip_suffix('m') {
        Some(milli) => number(milli),
        None => Ok(number(text)? * 1000),
    }
}

/// `512Mi` or `2Gi`.
fn memory_bytes(text: &str) -> Result<u64, String> {
    let unknown = || format!("not a memory quantity of a test: {text}");
    let (digits, factor) = match (text.strip_suffix("Mi"), text.strip_suffix("Gi")) {
        (Some(digits), _) => (digits, 1 << 20),
        (None, Some(digits)) => (digits, 1 << 30),
        (None, None) => return Err(unknown()),
    };
    Ok(digits.parse::<u64>().map_err(|_| unknown())? * factor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn replicas_times_requests() {
        let container =
            |cpu: &str, memory: &str| json!({ "resources": { "requests": { "cpu": cpu, "memory": memory } } });
        let containers = [container("250m", "512Mi"), container("1", "1Gi")];
        let object = json!({ "spec": { "replicas": 3, "template": { "spec": { "containers": containers } } } });
        let mut asked = Asked::default();
        asked.add("a", &object).unwrap();
        asked.add("b", &object).unwrap();
        asked.add("b", &json!({ "kind": "ConfigMap" })).unwrap();
        assert_eq!(asked.cpu_milli.get("a"), Some(&3750));
        assert_eq!(asked.total(), (7500, 6 * ((512 << 20) + (1 << 30)), 6));
    }
}
