//! What Karmada's interpreters make of objects: counts, requirements of pods, health, references. Native kinds and the
//! WorkloadKinds that the compiler ships.

use fleetwright_compiler::base::quantity::amount_text;
use fleetwright_compiler::kinds::custom::{CustomKind, find};
use fleetwright_compiler::kinds::dependencies;
use fleetwright_compiler::kinds::native::split_api_version;
use fleetwright_compiler::kinds::pod;
use fleetwright_compiler::kinds::replicas::Counter;
use fleetwright_compiler::model::lower::shipped_kinds;
use fleetwright_reconciler::health::{Health, assess_by};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered};
use crate::estimate::{Amounts, resources};
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "health", answer: health, normal: healthy, deviations: HEALTH },
    Op { name: "dependencies", answer: references, normal: sorted, deviations: REFERENCES },
    Op { name: "replica", answer: replica, normal: counted, deviations: REPLICA },
    Op { name: "revise", answer: revise, normal: revised, deviations: REVISE },
    Op { name: "pod_template_requirements", answer: of_template, normal: required, deviations: &[] },
    Op { name: "pod_node_claim", answer: of_pod, normal: claimed, deviations: &[] },
];

/// An object in any of the forms in which cases give one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    #[serde(default)]
    object: Option<Value>,
    #[serde(default)]
    desired: Option<Value>,
    #[serde(default)]
    observed: Option<Value>,
    #[serde(default)]
    api_version: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    replica: Option<u32>,
    #[serde(default)]
    replicas: Option<u32>,
    #[serde(default, rename = "desiredReplicas")]
    desired_replicas: Option<u32>,
}

/// An object, and what is known of its kind.
struct Known {
    object: Value,
    group: String,
    kind: String,
    custom: Option<&'static CustomKind>,
    replicas: Option<u32>,
}

/// Kinds that cases give without their version, which every manifest states.
const VERSIONS: &[(&str, &str)] = &[
    ("CronJob", "batch/v1"),
    ("DaemonSet", "apps/v1"),
    ("Deployment", "apps/v1"),
    ("Ingress", "networking.k8s.io/v1"),
    ("Job", "batch/v1"),
    ("PodDisruptionBudget", "policy/v1"),
    ("ReplicaSet", "apps/v1"),
    ("StatefulSet", "apps/v1"),
];

fn known(input: &Value) -> Result<Known, Unanswered> {
    let Given { object, desired, observed, api_version, kind, replica, replicas, desired_replicas } = read(input)?;
    let mut object = object.or(desired).or(observed).unwrap_or_default();
    let text = |field: &str| object.get(field).and_then(Value::as_str).map(str::to_owned);
    let kind = kind.or_else(|| text("kind")).unwrap_or_default();
    let stated = api_version.or_else(|| text("apiVersion"));
    let usual = || VERSIONS.iter().find(|(known, _)| *known == kind).map_or("v1", |(_, version)| version).to_owned();
    let api_version = stated.unwrap_or_else(usual);
    if let Value::Object(fields) = &mut object {
        fields.entry("apiVersion").or_insert_with(|| api_version.as_str().into());
        fields.entry("kind").or_insert_with(|| kind.as_str().into());
    }
    let (group, _) = split_api_version(&api_version);
    let custom = find(shipped_kinds(), group, &kind).map(|kind| &**kind);
    let replicas = replica.or(replicas).or(desired_replicas);
    Ok(Known { group: group.to_owned(), object, kind, custom, replicas })
}

/// Karmada's healthy is our Current.
fn health(input: &Value) -> Result<Value, Unanswered> {
    let known = known(input)?;
    Ok(match assess_by(&known.object, shipped_kinds()).0 {
        Health::Unknown => json!({ "healthy": null }),
        health => json!({ "healthy": health == Health::Current }),
    })
}

fn healthy(_: &Value, value: Value) -> Value {
    if value.get("wantErr") == Some(&Value::Bool(true)) {
        return json!({ "healthy": null });
    }
    value.get("want").map_or(value.clone(), |want| json!({ "healthy": want }))
}

fn status<'v>(asked: &'v Asked<'_>, pointer: &str) -> &'v Value {
    let object = ["object", "observed", "desired"].iter().find_map(|field| asked.input.get(field));
    object.and_then(|object| object.pointer(pointer)).unwrap_or(&Value::Null)
}

fn is_kind(asked: &Asked<'_>, kinds: &[&str]) -> bool {
    asked.input.get("kind").and_then(Value::as_str).is_some_and(|kind| kinds.contains(&kind))
}

/// Karmada calls it healthy and we do not, or the other way around.
fn stricter(asked: &Asked<'_>) -> bool {
    asked.expected.get("healthy") == Some(&Value::Bool(true))
}

const HEALTH: &[Deviation] = &[
    Deviation {
        why: "Flink: a job that failed, or has an error before it runs, is not Current; Karmada's healthy means that moving it \
              would not help",
        holds: |asked| {
            let state = status(asked, "/status/jobStatus/state").as_str().unwrap_or_default();
            stricter(asked) && is_kind(asked, &["FlinkDeployment"]) && !matches!(state, "RUNNING" | "FINISHED")
        },
    },
    Deviation {
        why: "Spark, Volcano, Argo: what has not started, or was stopped, is not Current; Karmada's healthy is all but failed",
        holds: |asked| {
            let job = asked.input.get("apiVersion").and_then(Value::as_str) == Some("batch.volcano.sh/v1alpha1");
            stricter(asked) && (job || is_kind(asked, &["SparkApplication", "Workflow"]))
        },
    },
    Deviation {
        why: "Ready is True, whatever the reason: Karmada knows one reason by name",
        holds: |asked| {
            let conditions = status(asked, "/status/conditions").as_array().map_or(&[][..], Vec::as_slice);
            let ready = |c: &Value| c.get("type") == Some(&json!("Ready")) && c.get("status") == Some(&json!("True"));
            let flux = asked.input.get("apiVersion").and_then(Value::as_str).is_some_and(|v| v.contains("fluxcd.io"));
            !stricter(asked) && flux && conditions.iter().any(ready)
        },
    },
    Deviation {
        why: "a disruption budget is Current whatever its pods are, as kstatus has it: what runs them tells that",
        holds: |asked| is_kind(asked, &["PodDisruptionBudget"]),
    },
    Deviation {
        why: "a Deployment whose status counts no pods: kstatus asks for `replicas` and `readyReplicas`, Karmada for neither",
        holds: |asked| {
            let counts = ["/status/replicas", "/status/readyReplicas"];
            stricter(asked)
                && is_kind(asked, &["Deployment", "StatefulSet", "ReplicaSet"])
                && counts.iter().any(|count| status(asked, count).is_null())
        },
    },
    Deviation {
        why: "a status of an earlier generation is no verdict of this one",
        holds: |asked| {
            let (now, seen) = (status(asked, "/metadata/generation"), status(asked, "/status/observedGeneration"));
            stricter(asked) && seen.is_i64() && now != seen
        },
    },
];

fn references(input: &Value) -> Result<Value, Unanswered> {
    let known = known(input)?;
    let namespace = known.object.pointer("/metadata/namespace").cloned();
    let found = dependencies::of_object(&known.group, &known.kind, &known.object, known.custom);
    let karmadas = |reference: dependencies::Reference| {
        let dependencies::Reference { api_version, kind, name } = reference;
        let mut entry = json!({ "apiVersion": api_version.as_str(), "kind": kind.as_str(), "name": name.as_str() });
        if let Some(namespace) = &namespace {
            entry["namespace"] = namespace.clone();
        }
        entry
    };
    Ok(json!({ "dependencies": found.into_keys().map(karmadas).collect::<Vec<_>>() }))
}

/// In one order: a set has none.
fn sorted(_: &Value, value: Value) -> Value {
    let list = value.get("dependencies").or_else(|| value.get("want")).cloned().unwrap_or_default();
    let mut list = list.as_array().cloned().unwrap_or_default();
    list.sort_by_key(Value::to_string);
    json!({ "dependencies": list })
}

const REFERENCES: &[Deviation] = &[
    Deviation {
        why: "a ServiceImport is Karmada's own: there are no derived Services here",
        holds: |asked| is_kind(asked, &["ServiceImport"]),
    },
    Deviation {
        why: "claims that an object makes from its own templates are no references",
        holds: |asked| {
            let made = status(asked, "/spec/volumeClaimTemplates").as_array().map_or(&[][..], Vec::as_slice);
            let names: Vec<_> = made.iter().filter_map(|claim| claim.pointer("/metadata/name")).collect();
            let without = |answer: &Value| {
                let list = answer.get("dependencies").and_then(Value::as_array).cloned().unwrap_or_default();
                let own = |r: &Value| {
                    r.get("kind") == Some(&json!("PersistentVolumeClaim"))
                        && names.iter().any(|n| r.get("name") == Some(n))
                };
                list.into_iter().filter(|r| !own(r)).collect::<Vec<_>>()
            };
            !names.is_empty() && without(asked.expected) == without(asked.answer)
        },
    },
    Deviation {
        why: "references that Karmada's interpreter of the kind does not read",
        holds: |asked| {
            let list =
                |answer: &Value| answer.get("dependencies").and_then(Value::as_array).cloned().unwrap_or_default();
            let (theirs, ours) = (list(asked.expected), list(asked.answer));
            asked.input.get("apiVersion").is_some() && theirs.iter().all(|reference| ours.contains(reference))
        },
    },
];

fn counter(known: &Known) -> Option<Counter<'_>> {
    let custom = known.custom.filter(|custom| !custom.replicas.is_empty());
    Counter::of(&known.group, &known.kind, custom)
}

/// A pod spec in Karmada's words; nothing where it asks for nothing.
pub fn requirements(spec: &Value) -> Value {
    let facts = pod::read(spec).facts;
    let requests: Map<String, Value> = facts
        .requests
        .iter()
        .filter(|(_, amount)| *amount > 0)
        .map(|(name, amount)| (name.to_string(), Value::from(amount_text(name, amount))))
        .collect();
    let mut required = json!({ "nodeClaim": node_claim(spec), "resourceRequest": requests });
    if let Some(class) = spec.get("priorityClassName") {
        required["priorityClassName"] = class.clone();
    }
    required
}

/// What binds a pod to nodes, in Karmada's words.
pub fn node_claim(spec: &Value) -> Value {
    let mut claim = json!({});
    for (field, karmadas) in [
        ("/nodeSelector", "nodeSelector"),
        ("/tolerations", "tolerations"),
        ("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution", "hardNodeAffinity"),
    ] {
        if let Some(stated) = spec.pointer(field) {
            claim[karmadas] = stated.clone();
        }
    }
    claim
}

/// Replicas, and what each asks for. Parts of a set ask for different things.
fn replica(input: &Value) -> Result<Value, Unanswered> {
    let known = known(input)?;
    let parts = known.custom.map(|custom| custom.components(&known.object)).unwrap_or_default();
    if !parts.is_empty() {
        return Ok(json!({ "replica": parts.iter().map(|part| u64::from(part.replicas)).sum::<u64>() }));
    }
    let native = fleetwright_compiler::kinds::replicas::WorkloadKind::of(&known.group, &known.kind);
    let of_native = native.and_then(|kind| kind.pod_spec_keys().iter().try_fold(&known.object, |v, key| v.get(key)));
    let spec = of_native.or_else(|| known.custom.and_then(|custom| Some(custom.pod_spec(&known.object)?.1)));
    let counts = match counter(&known) {
        Some(counter) => counter.counts(&known.object).map_err(|_| Unanswered::Refused)?,
        None => Default::default(),
    };
    let runs = native.is_some() || known.custom.is_some_and(|custom| custom.form().is_some());
    let replicas = if runs { counts.replicas.unwrap_or(1) } else { 0 };
    let replicas = counts.completions.map_or(replicas, |completions| replicas.min(completions));
    Ok(json!({ "replica": replicas, "requires": spec.map(requirements) }))
}

fn counted(_: &Value, value: Value) -> Value {
    let field = |names: [&str; 3]| names.iter().find_map(|name| value.get(name)).cloned().unwrap_or_default();
    let requires = bare(field(["requires", "requirement", "wantRequirement"]));
    let mut counted = json!({ "replica": field(["replica", "wantReplica", "replicas"]) });
    if requires != json!({}) {
        counted["requires"] = requires;
    }
    counted
}

/// Requirements without what is empty, their amounts as integers. The namespace is the object's own.
fn bare(mut requires: Value) -> Value {
    if let Some(list) = requires.get_mut("resourceRequest")
        && let Ok(quantities) = serde_json::from_value::<Amounts>(list.clone())
    {
        let exact = resources(&quantities);
        let named = exact.iter().filter(|(_, amount)| *amount > 0);
        *list = named.map(|(name, amount)| (name.to_string(), Value::from(amount.to_string()))).collect();
    }
    let empty = |value: &Value| value.as_object().is_some_and(Map::is_empty) || value.is_null();
    match &mut requires {
        Value::Object(fields) => fields.retain(|name, field| name != "namespace" && !empty(field)),
        other => *other = json!({}),
    }
    requires
}

const REPLICA: &[Deviation] = &[Deviation {
    why: "parts of a set are booked each with what it asks for: no one requirement stands for all of its pods",
    holds: |asked| {
        asked.answer.get("replica") == asked.expected.get("replica") && asked.answer.get("requires").is_none()
    },
}];

/// A count written into an object; a set stays as it is.
fn revise(input: &Value) -> Result<Value, Unanswered> {
    let mut known = known(input)?;
    let mut object = std::mem::take(&mut known.object);
    if let Some(counter) = counter(&known) {
        counter.set_counts(&mut object, known.replicas, None);
    }
    Ok(json!({ "revised": object }))
}

fn revised(_: &Value, value: Value) -> Value {
    match value.get("expectError") {
        Some(Value::Bool(true)) => json!({ "error": true }),
        _ => json!({ "revised": value.get("revised").or_else(|| value.get("expected")) }),
    }
}

const REVISE: &[Deviation] = &[
    Deviation {
        why: "a set runs as a whole: the counts of its parts are never rewritten",
        holds: |asked| {
            let object = ["desired", "observed", "object"].iter().find_map(|field| asked.input.get(field));
            asked.answer.get("revised") == object && object != asked.expected.get("revised")
        },
    },
    Deviation {
        why: "a count of another Go type than Karmada reads: in JSON there is one type of number",
        holds: |asked| asked.expected == &json!({ "error": true }),
    },
];

fn of_template(input: &Value) -> Result<Value, Unanswered> {
    Ok(json!({ "want": input.pointer("/podTemplate/spec").map(requirements) }))
}

fn required(_: &Value, value: Value) -> Value {
    json!({ "want": bare(value.get("want").cloned().unwrap_or_default()) })
}

fn of_pod(input: &Value) -> Result<Value, Unanswered> {
    Ok(json!({ "expected": input.get("podSpec").map(node_claim) }))
}

fn claimed(_: &Value, value: Value) -> Value {
    let claim = value.get("expected").cloned().unwrap_or_default();
    json!({ "expected": if claim.is_null() { json!({}) } else { claim } })
}
