//! Kinds of several components: what Karmada's interpreters make of them, and where a set of them goes.

use fleetwright_compiler::kinds::custom::{Component, find};
use fleetwright_compiler::kinds::native::split_api_version;
use fleetwright_compiler::model::lower::shipped_kinds;
use fleetwright_compiler::schedule::select::{Candidate, Class, Constraint, Need, select};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Deviation, Op, Unanswered, as_written};
use crate::estimate::{Amounts, resources};
use crate::interpreter::requirements;
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "components", answer: of_object, normal: amounts, deviations: OF_OBJECT },
    Op { name: "assign_components", answer: assigned, normal: as_written, deviations: &[] },
];

/// Quantities as the amounts they stand for, and nothing where nothing is asked for.
fn amounts(_: &Value, mut value: Value) -> Value {
    for part in value.get_mut("components").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(requirements) = part.get_mut("replicaRequirements") else { continue };
        if let Some(list) = requirements.get_mut("resourceRequest")
            && let Ok(quantities) = serde_json::from_value::<Amounts>(list.clone())
        {
            let exact = resources(&quantities);
            let named = exact.iter().filter(|(_, amount)| *amount > 0);
            *list = named.map(|(name, amount)| (name.to_string(), Value::from(amount.to_string()))).collect();
        }
        let empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty) || value.is_null();
        if let Value::Object(fields) = requirements {
            fields.retain(|_, field| !empty(field));
        }
        if empty(requirements)
            && let Value::Object(fields) = part
        {
            fields.shift_remove("replicaRequirements");
        }
    }
    value
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OfObject {
    api_version: String,
    kind: String,
    #[serde(default)]
    desired: Option<Value>,
    #[serde(default)]
    observed: Option<Value>,
    #[serde(default, rename = "desiredReplicas")]
    _desired_replicas: Option<Value>,
}

fn of_object(input: &Value) -> Result<Value, Unanswered> {
    let OfObject { api_version, kind, desired, observed, _desired_replicas } = read(input)?;
    let object = desired.or(observed).unwrap_or_default();
    let (group, _) = split_api_version(&api_version);
    match find(shipped_kinds(), group, &kind).map(|known| known.components(&object)) {
        None => Err(Unanswered::Unmapped(format!("{api_version} {kind} has no components here"))),
        Some(components) => Ok(json!({ "components": components.iter().map(karmadas).collect::<Vec<_>>() })),
    }
}

/// A component in Karmada's words.
fn karmadas(component: &Component) -> Value {
    let mut part = json!({ "name": component.name.as_str(), "replicas": component.replicas });
    if let Some(spec) = &component.pod {
        part["replicaRequirements"] = requirements(spec);
    }
    part
}

const OF_OBJECT: &[Deviation] = &[
    Deviation {
        why: "Flink's `2048m` are mebibytes: Karmada reads thousandths of a byte",
        holds: |asked| {
            asked.input.get("kind").and_then(Value::as_str) == Some("FlinkDeployment")
                && without_memory(asked.expected) == without_memory(asked.answer)
        },
    },
    Deviation {
        why: "room is booked for all tasks of a gang: Karmada books the least it starts with",
        holds: |asked| {
            let is_volcano = asked.input.get("apiVersion").and_then(Value::as_str) == Some("batch.volcano.sh/v1alpha1");
            let tasks =
                asked.input.pointer("/observed/spec/tasks").or_else(|| asked.input.pointer("/desired/spec/tasks"));
            let tasks = tasks.and_then(Value::as_array).into_iter().flatten();
            is_volcano && tasks.into_iter().any(|task| task.get("replicas").is_some())
        },
    },
    Deviation {
        why: "Scala runs on the JVM, whose overhead is a tenth: Karmada takes it for Python",
        holds: |asked| asked.input.to_string().contains("\"type\":\"Scala\""),
    },
];

fn without_memory(answer: &Value) -> Value {
    let mut answer = answer.clone();
    for part in answer.get_mut("components").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::Object(requests)) = part.pointer_mut("/replicaRequirements/resourceRequest") {
            requests.shift_remove("memory");
        }
    }
    answer
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Assign {
    feature_enabled: bool,
    candidates: Vec<String>,
    components: Vec<Value>,
    #[serde(rename = "replicas")]
    _replicas: u32,
    spread_constraints: Vec<Spread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spread {
    #[serde(default)]
    spread_by_field: Option<String>,
    #[serde(default)]
    min_groups: Option<u32>,
    #[serde(default)]
    max_groups: Option<u32>,
}

/// One whole set goes to the cluster that the constraints select. Without the feature a set is an object like any other.
fn assigned(input: &Value) -> Result<Value, Unanswered> {
    let Assign { feature_enabled, mut candidates, components, _replicas, spread_constraints } = read(input)?;
    candidates.sort();
    if spread_constraints.iter().any(|spread| !matches!(spread.spread_by_field.as_deref(), None | Some("cluster"))) {
        return Err(Unanswered::Unmapped("components spread over more than clusters".to_owned()));
    }
    let constraints: Vec<Constraint> = spread_constraints
        .iter()
        .map(|spread| Constraint { min: spread.min_groups.unwrap_or(1), max: spread.max_groups })
        .collect();
    let clusters: Vec<Candidate> = (0_u32..)
        .zip(&candidates)
        .map(|(position, _)| Candidate {
            room: None,
            held: false,
            kept: 0,
            pinned: false,
            weight: 1,
            tier: 0,
            groups: vec![Some(position); constraints.len()],
        })
        .collect();
    let need = Need { replicas: 1, per_cluster_min: 0, class: Class::Widest, all_or_nothing: true, fresh: false };
    let chosen = select(&clusters, &constraints, &need).chosen;
    let targets: Vec<Value> =
        chosen
            .iter()
            .filter_map(|at| candidates.get(*at))
            .map(|name| {
                if feature_enabled {
                    json!({ "name": name, "components": components })
                } else {
                    json!({ "name": name })
                }
            })
            .collect();
    Ok(json!({ "targets": targets }))
}
