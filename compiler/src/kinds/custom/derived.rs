//! What operators derive from the rest of an object: Flink's task managers, Spark's memory overhead. Facts of each are those
//! of its operator, where Karmada's interpreters agree (`pkg/resourceinterpreter`).
//!
//! The next derivation is a variant of [`Derivation`] and a function here.

use serde_json::{Map, Value, json};

use super::sets::{Component, Derivation, count as count_of};
use crate::base::quantity::{Quantity, amount};

/// The parts of an object. Sizes that cannot be read are left out.
pub(super) fn components(derivation: Derivation, object: &Value) -> Vec<Component> {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    match derivation {
        Derivation::Flink => flink(spec),
        Derivation::Spark => spark(spec),
    }
}

fn count(value: Option<&Value>) -> Option<u32> {
    value.and_then(count_of)
}

/// Job managers, and as many task managers as the job's parallelism needs slots, where their number is not stated.
fn flink(spec: &Value) -> Vec<Component> {
    let part = |field: &str| spec.get(field).unwrap_or(&Value::Null);
    let slots = spec.get("flinkConfiguration").and_then(|c| count(c.get("taskmanager.numberOfTaskSlots")));
    let parallelism = spec.get("job").and_then(|job| count(job.get("parallelism")));
    let needed = || match (parallelism, slots) {
        (Some(parallelism), Some(slots)) if slots > 0 => parallelism.div_ceil(slots),
        _ => 1,
    };
    let pod = |part: &Value| {
        let resource = part.get("resource").unwrap_or(&Value::Null);
        let mut requests = Map::new();
        if let Some(cpu) = resource.get("cpu").and_then(text_of) {
            requests.insert("cpu".to_owned(), cpu.into());
        }
        if let Some(bytes) = resource.get("memory").and_then(text_of).and_then(|text| bytes(&text)) {
            requests.insert("memory".to_owned(), bytes.to_string().into());
        }
        // What a part says of its pods stands before what is said of all.
        let own = part.get("podTemplate").and_then(|template| template.get("spec"));
        let all = spec.get("podTemplate").and_then(|template| template.get("spec"));
        pod_with(requests, [own, all])
    };
    let (job, task) = (part("jobManager"), part("taskManager"));
    vec![
        Component { name: "jobmanager".into(), replicas: count(job.get("replicas")).unwrap_or(1), pod: Some(pod(job)) },
        Component {
            name: "taskmanager".into(),
            replicas: count(task.get("replicas")).unwrap_or_else(needed),
            pod: Some(pod(task)),
        },
    ]
}

/// The least memory beyond a heap that Spark asks for.
const MIN_OVERHEAD_BYTES: u64 = 384 << 20;

/// A driver, and executors: as many as are stated, or as many as dynamic allocation starts with.
fn spark(spec: &Value) -> Vec<Component> {
    let jvm = !matches!(spec.get("type").and_then(Value::as_str), Some("Python" | "R"));
    // Parts of a thousand: a heap needs a tenth more, other interpreters two fifths.
    let stated = spec.get("memoryOverheadFactor").and_then(text_of).and_then(|text| text.parse::<Quantity>().ok());
    let factor_milli =
        stated.and_then(|factor| u64::try_from(amount("cpu", &factor)).ok()).unwrap_or(if jvm { 100 } else { 400 });
    let pod = |part: &Value| {
        let memory = part.get("memory").and_then(text_of).and_then(|text| bytes(&text)).unwrap_or(1 << 30);
        let overhead = part.get("memoryOverhead").and_then(text_of).and_then(|text| bytes(&text));
        let overhead =
            overhead.unwrap_or_else(|| memory.saturating_mul(factor_milli).div_ceil(1000).max(MIN_OVERHEAD_BYTES));
        let mut requests = Map::new();
        let cpu = part.get("coreRequest").or_else(|| part.get("cores")).and_then(text_of);
        requests.insert("cpu".to_owned(), cpu.unwrap_or_else(|| "1".to_owned()).into());
        requests.insert("memory".to_owned(), memory.saturating_add(overhead).to_string().into());
        if let Some(gpu) = part.get("gpu")
            && let (Some(name), Some(quantity)) = (gpu.get("name").and_then(Value::as_str), count(gpu.get("quantity")))
            && quantity > 0
        {
            requests.insert(name.to_owned(), quantity.to_string().into());
        }
        pod_with(requests, [Some(part), Some(spec)])
    };
    let (driver, executor) = (spec.get("driver").unwrap_or(&Value::Null), spec.get("executor").unwrap_or(&Value::Null));
    let dynamic = spec.get("dynamicAllocation").filter(|d| d.get("enabled") == Some(&Value::Bool(true)));
    let started = dynamic.into_iter().flat_map(|d| [count(d.get("initialExecutors")), count(d.get("minExecutors"))]);
    let executors = started.flatten().fold(count(executor.get("instances")).unwrap_or(1), u32::max);
    vec![
        Component { name: "driver".into(), replicas: 1, pod: Some(pod(driver)) },
        Component { name: "executor".into(), replicas: executors, pod: Some(pod(executor)) },
    ]
}

/// A text, or a number as one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A pod with one container that requests so much; each other field of the first that states it.
fn pod_with(requests: Map<String, Value>, specs: [Option<&Value>; 2]) -> Value {
    let mut pod = json!({ "containers": [{ "name": "main", "resources": { "requests": requests } }] });
    for field in ["nodeSelector", "tolerations", "affinity", "priorityClassName", "volumes"] {
        if let Some(stated) = specs.iter().flatten().find_map(|spec| spec.get(field)) {
            pod[field] = stated.clone();
        }
    }
    pod
}

/// Bytes of a size as the Java world writes it (`2048m` and `2g` are binary), or as Kubernetes does (`2Gi`).
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" | "bytes" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        _ => return u64::try_from(amount("memory", &text.parse::<Quantity>().ok()?)).ok(),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::pod;

    /// `name=replicas:cpu/memory in Mi` of each component.
    fn read(derivation: Derivation, spec: Value) -> String {
        let components = components(derivation, &json!({ "spec": spec }));
        let each = components.iter().map(|component| {
            let requests = component.pod.as_ref().map(|spec| pod::read(spec).facts.requests).unwrap_or_default();
            let (cpu, memory) = (requests.get("cpu"), requests.get("memory") >> 20);
            format!("{}={}:{cpu}/{memory}", component.name, component.replicas)
        });
        each.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sets_as_their_operators_read_them() {
        let part = |cpu: u32, memory: &str| json!({ "resource": { "cpu": cpu, "memory": memory } });
        let facts = [
            (
                Derivation::Flink,
                json!({
                    "flinkConfiguration": { "taskmanager.numberOfTaskSlots": "4" },
                    "jobManager": part(1, "2048m"), "taskManager": part(2, "4Gi"), "job": { "parallelism": 10 },
                }),
                "jobmanager=1:1000/2048 taskmanager=3:2000/4096",
            ),
            (
                Derivation::Flink,
                json!({ "jobManager": { "replicas": 2 }, "taskManager": { "replicas": 5 } }),
                "jobmanager=2:0/0 taskmanager=5:0/0",
            ),
            (
                Derivation::Spark,
                json!({
                    "type": "Scala", "driver": { "cores": 2, "memory": "8g" },
                    "executor": { "instances": 2, "memory": "4g", "memoryOverhead": "1g" },
                }),
                "driver=1:2000/9011 executor=2:1000/5120",
            ),
            (
                Derivation::Spark,
                json!({
                    "type": "Python", "memoryOverheadFactor": "0.5", "executor": { "coreRequest": "500m" },
                    "dynamicAllocation": { "enabled": true, "minExecutors": 4 },
                }),
                "driver=1:1000/1536 executor=4:500/1536",
            ),
        ];
        for (derivation, spec, expected) in facts {
            assert_eq!(read(derivation, spec.clone()), expected, "{derivation:?} {spec}");
        }
    }

    #[test]
    fn sizes_of_two_worlds() {
        for (text, expected) in [
            ("2048m", Some(2 << 30)),
            ("2g", Some(2 << 30)),
            ("1 GB", Some(1 << 30)),
            ("2Gi", Some(2 << 30)),
            ("1024", Some(1024)),
            ("1.5Gi", Some(3 << 29)),
            ("many", None),
            ("99999999999999999999g", None),
            ("18446744073709551615t", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
