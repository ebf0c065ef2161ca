//! What Kubernetes' own libraries answer: quantities, names, labels, taints, pods, patches, health.

use fleetwright_compiler::base::labels::{LabelQuery, LabelSelector, Labels};
use fleetwright_compiler::base::name::{NameRule, check};
use fleetwright_compiler::base::quantity::{Quantity, amount, amount_text};
use fleetwright_compiler::base::taint::{Taint, Toleration};
use fleetwright_compiler::kinds::pod::{self, NodeFacts};
use fleetwright_compiler::overrides::{json_patch, merge_patch};
use fleetwright_reconciler::health::{Health, assess};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asked::{Deviation, Op, Unanswered, as_written, refused};
use crate::read::{decode, read};

pub const OPS: &[Op] = &[
    Op { name: "quantity", answer: quantity, normal: as_written, deviations: QUANTITY },
    Op { name: "name", answer: name, normal: as_written, deviations: &[] },
    Op { name: "label_query", answer: label_query, normal: as_written, deviations: &[] },
    Op { name: "label_selector", answer: label_selector, normal: as_written, deviations: &[] },
    Op { name: "toleration", answer: toleration, normal: as_written, deviations: &[] },
    Op { name: "pod_requests", answer: pod_requests, normal: amounts, deviations: &[] },
    Op { name: "pod_fits_node", answer: pod_fits_node, normal: as_written, deviations: &[] },
    Op { name: "json_patch", answer: json_patch, normal: as_written, deviations: &[] },
    Op { name: "json_merge_patch", answer: json_merge_patch, normal: as_written, deviations: &[] },
    Op { name: "kstatus", answer: kstatus, normal: as_written, deviations: KSTATUS },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

fn quantity(input: &Value) -> Result<Value, Unanswered> {
    let Text { text } = read(input)?;
    let Ok(quantity) = text.parse::<Quantity>() else { return Ok(refused()) };
    let mut answer = json!({ "canonical": quantity.canonical(), "value": quantity.int64_value().to_string() });
    // The cases ask for thousandths only where they fit.
    if let (Value::Object(map), Ok(_)) = (&mut answer, i64::try_from(quantity.milli_value())) {
        map.insert("milli".to_owned(), quantity.int64_milli_value().to_string().into());
    }
    Ok(answer)
}

const QUANTITY: &[Deviation] = &[Deviation {
    why: "more than 38 significant digits: refused, Kubernetes counts on with the wrong number",
    holds: |asked| {
        let text = asked.input.get("text").and_then(Value::as_str).unwrap_or_default();
        *asked.answer == refused() && text.bytes().filter(u8::is_ascii_digit).count() > 38
    },
}];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    rule: String,
    text: String,
}

fn name(input: &Value) -> Result<Value, Unanswered> {
    let Name { rule, text } = read(input)?;
    let rule = match rule.as_str() {
        "dns1123_label" => NameRule::Dns1123Label,
        "dns1123_subdomain" => NameRule::Dns1123Subdomain,
        "dns1035_label" => NameRule::Dns1035Label,
        "qualified_name" => NameRule::QualifiedName,
        "label_value" => NameRule::LabelValue,
        "config_map_key" => NameRule::ConfigMapKey,
        "env_var_name" => NameRule::EnvVarName,
        "relaxed_env_var_name" => NameRule::RelaxedEnvVarName,
        "path_segment" | "path_segment_name" => NameRule::PathSegment,
        "port_name" => NameRule::PortName,
        "wildcard_dns1123_subdomain" => NameRule::WildcardDns1123Subdomain,
        "c_identifier" => NameRule::CIdentifier,
        other => return Err(Unanswered::Unmapped(format!("no such rule of names: {other}"))),
    };
    Ok(json!({ "valid": check(rule, &text).is_ok() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    text: String,
    labels: Option<Labels>,
}

fn label_query(input: &Value) -> Result<Value, Unanswered> {
    let Query { text, labels } = read(input)?;
    Ok(match LabelQuery::parse(&text) {
        Ok(query) => json!({ "matches": query.matches(&labels.unwrap_or_default()) }),
        Err(_) => refused(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection {
    selector: Value,
    labels: Option<Labels>,
}

fn label_selector(input: &Value) -> Result<Value, Unanswered> {
    let Selection { selector, labels } = read(input)?;
    let selector = decode::<LabelSelector>(&selector).filter(|selector| selector.validate().is_ok());
    Ok(match selector {
        Some(selector) => json!({ "matches": selector.matches(&labels.unwrap_or_default()) }),
        None => refused(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerations {
    taint: Taint,
    tolerations: Vec<Toleration>,
}

fn toleration(input: &Value) -> Result<Value, Unanswered> {
    let Tolerations { taint, tolerations } = read(input)?;
    Ok(json!({ "tolerated": tolerations.iter().any(|toleration| toleration.tolerates(&taint)) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PodSpec {
    pod_spec: Value,
}

fn pod_requests(input: &Value) -> Result<Value, Unanswered> {
    let PodSpec { pod_spec } = read(input)?;
    let requests = pod::read(&pod_spec).facts.requests;
    let texts: Map<String, Value> =
        requests.iter().map(|(name, amount)| (name.to_string(), amount_text(name, amount).into())).collect();
    Ok(json!({ "requests": texts }))
}

/// Amounts as the integers they stand for; what amounts to nothing is left out.
fn amounts(_: &Value, mut value: Value) -> Value {
    if let Some(Value::Object(requests)) = value.get_mut("requests") {
        let exact = |name: &str, text: &Value| -> Option<i128> {
            Some(amount(name, &text.as_str()?.parse::<Quantity>().ok()?))
        };
        let numbers = requests.iter().map(|(name, text)| match exact(name, text) {
            Some(number) => (name.clone(), Value::String(number.to_string())),
            None => (name.clone(), text.clone()),
        });
        *requests = numbers.filter(|(_, number)| number.as_str() != Some("0")).collect();
    }
    value
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PodAndNode {
    pod_spec: Value,
    node: Node,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    metadata: NodeMetadata,
    #[serde(default)]
    spec: NodeSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeMetadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    labels: Labels,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct NodeSpec {
    #[serde(default)]
    taints: Vec<Taint>,
    #[serde(default)]
    unschedulable: bool,
}

fn pod_fits_node(input: &Value) -> Result<Value, Unanswered> {
    let PodAndNode { pod_spec, node } = read(input)?;
    let node = NodeFacts {
        name: node.metadata.name.into(),
        labels: node.metadata.labels,
        taints: node.spec.taints,
        unschedulable: node.spec.unschedulable,
        of_pool: false,
    };
    Ok(match pod::fits_node(&pod::read(&pod_spec).facts, &node) {
        Ok(fit) => match fit.untolerated {
            Some(taint) => json!({ "affinity": fit.affinity, "taints": false, "untolerated": taint.to_string() }),
            None => json!({ "affinity": fit.affinity, "taints": true }),
        },
        Err(_) => refused(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    document: Value,
    patch: Value,
}

fn json_patch(input: &Value) -> Result<Value, Unanswered> {
    let Patch { mut document, patch } = read(input)?;
    let steps = patch.as_array().and_then(|steps| json_patch::parse(steps).ok());
    let applied = steps.map(|steps| json_patch::apply(&mut document, &steps, json_patch::Rules::ApiServer));
    Ok(if matches!(applied, Some(Ok(()))) { json!({ "value": document }) } else { refused() })
}

fn json_merge_patch(input: &Value) -> Result<Value, Unanswered> {
    let Patch { mut document, patch } = read(input)?;
    Ok(match merge_patch::merge(&mut document, &patch) {
        Ok(_) => json!({ "value": document }),
        Err(_) => refused(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Judged {
    object: Value,
}

/// What we call Unknown is where kstatus gives an error.
fn kstatus(input: &Value) -> Result<Value, Unanswered> {
    let Judged { object } = read(input)?;
    Ok(match assess(&object).0 {
        Health::Unknown => refused(),
        health => json!({ "status": health.word() }),
    })
}

const KSTATUS: &[Deviation] = &[
    Deviation {
        why: "a kind that kstatus takes for Current unseen, and that Argo CD and we look at",
        holds: |asked| {
            let kind = asked.input.pointer("/object/kind").and_then(Value::as_str).unwrap_or_default();
            let looked_at = ["APIService", "HorizontalPodAutoscaler", "Namespace", "PersistentVolume"];
            asked.expected == &json!({ "status": "Current" }) && looked_at.contains(&kind)
        },
    },
    Deviation {
        why: "a field of the wrong type: unknown, kstatus goes on with its default",
        holds: |asked| {
            let object = asked.input.get("object").unwrap_or(&Value::Null);
            *asked.answer == refused() && assess(object).1.contains(" is not a ")
        },
    },
];
