//! `matching_override_order`: which override policies reach an object in a cluster, in which order.

use fleetwright_compiler::base::ClusterId;
use fleetwright_compiler::base::labels::Labels;
use fleetwright_compiler::overrides::Operation;
use fleetwright_tests::fleet::FleetBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered, as_written};
use crate::lowered::lowered;
use crate::read::read;

pub const OPS: &[Op] =
    &[Op { name: "matching_override_order", answer: matching_order, normal: as_written, deviations: ORDER }];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matching {
    cluster: Object,
    policies: Vec<Policy>,
    resource: Value,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    labels: Labels,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    metadata: Metadata,
    spec: PolicySpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PolicySpec {
    #[serde(default)]
    resource_selectors: Vec<ResourceSelector>,
    #[serde(default)]
    override_rules: Vec<Rule>,
    /// The form before `overrideRules`: one rule.
    #[serde(default)]
    target_cluster: Option<TargetCluster>,
    #[serde(default)]
    overriders: Option<Value>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    target_cluster: Option<TargetCluster>,
    overriders: Value,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TargetCluster {
    #[serde(default)]
    cluster_names: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    label_selector: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceSelector {
    api_version: String,
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    label_selector: Option<LabelSelector>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LabelSelector {
    #[serde(default)]
    match_labels: Labels,
}

impl TargetCluster {
    fn selector(&self) -> Value {
        let mut selector = json!({});
        if !self.cluster_names.is_empty() {
            selector["names"] = json!(self.cluster_names);
        }
        if !self.exclude.is_empty() {
            selector["exclude"] = json!(self.exclude);
        }
        for (key, value) in self.label_selector.iter().filter_map(Value::as_object).flatten() {
            selector[key] = value.clone();
        }
        selector
    }
}

impl ResourceSelector {
    fn target(&self) -> Value {
        let mut target = json!({ "kind": self.kind });
        if let Some((group, _)) = self.api_version.split_once('/') {
            target["group"] = json!(group);
        }
        for (key, text) in [("name", &self.name), ("namespace", &self.namespace)] {
            if let Some(text) = text.as_ref().filter(|text| !text.is_empty()) {
                target[key] = json!(text);
            }
        }
        if let Some(labels) = &self.label_selector {
            target["labels"] = json!(labels.match_labels);
        }
        target
    }
}

/// A fleet of one cluster, one app with the object, and a policy of the fleet for each of Karmada's: the rules that reach
/// the object there, in the order in which the library runs them. Each rule is told by an annotation.
fn matching_order(input: &Value) -> Result<Value, Unanswered> {
    let Matching { cluster, policies, resource } = read(input)?;
    let mut fleet = FleetBuilder::new()
        .cluster((cluster.metadata.name.as_str(), json!(cluster.metadata.labels)), json!({}))
        .open_team("t")
        .app("t", "a", json!({ "namespace": "default" }), &[resource]);
    let mut told = Vec::new();
    for (number, Policy { metadata, spec }) in policies.into_iter().enumerate() {
        let older = spec.overriders.map(|overriders| Rule { target_cluster: spec.target_cluster, overriders });
        let mut overrides = Vec::new();
        for rule in older.into_iter().chain(spec.override_rules) {
            let clusters = rule.target_cluster.as_ref().map_or_else(|| json!({}), TargetCluster::selector);
            let marked = |target: Option<Value>| {
                let mut entry = json!({ "clusters": clusters, "annotations": { "rule": told.len().to_string() } });
                entry["target"] = target.unwrap_or_else(|| json!({}));
                entry
            };
            if spec.resource_selectors.is_empty() {
                overrides.push(marked(None));
            }
            overrides.extend(spec.resource_selectors.iter().map(|selector| marked(Some(selector.target()))));
            let (name, namespace) = (&metadata.name, &metadata.namespace);
            told.push(json!({ "name": name, "namespace": namespace, "overriders": rule.overriders }));
        }
        let spec = json!({ "apps": {}, "overrides": overrides });
        fleet = fleet.intent(&format!("policies/{number:04}.yaml"), "OverridePolicy", &metadata.name, spec);
    }
    let fleet = lowered(&fleet)?;
    let Some(app) = fleet.apps.first() else {
        return Err(Unanswered::Malformed("the object of the case makes no app".to_owned()));
    };
    let mut order: Vec<Value> = Vec::new();
    for rule in app.overrides.iter().filter(|rule| rule.clusters.contains(ClusterId(0))) {
        for (operation, _) in &rule.operations {
            let Operation::Annotations(marks) = operation else { continue };
            let number = marks.values().flatten().next().and_then(|mark| mark.parse::<usize>().ok());
            let entry = number.and_then(|number| told.get(number)).cloned().unwrap_or_default();
            if order.last() != Some(&entry) {
                order.push(entry);
            }
        }
    }
    Ok(json!({ "wantedOverriders": order }))
}

const ORDER: &[Deviation] = &[Deviation {
    why: "the order of override policies is layer, precedence, name: stated, not derived from how exact a selector is",
    holds: |asked: &Asked<'_>| {
        let rules = |answer: &Value| -> Option<Vec<String>> {
            let list = answer.get("wantedOverriders")?.as_array()?;
            let mut texts: Vec<String> = list.iter().map(Value::to_string).collect();
            texts.sort();
            Some(texts)
        };
        let policies = asked.input.get("policies").and_then(Value::as_array).map_or(0, Vec::len);
        policies > 1 && rules(asked.answer) == rules(asked.expected)
    },
}];
