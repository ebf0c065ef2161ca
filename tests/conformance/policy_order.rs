//! `matching_override_order`: which override policies reach an object in a cluster, in which order: what an import makes of
//! Karmada's rule.

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::base::labels::{LabelSelector, Labels};
use fleetwright_compiler::import::karmada::{ResourceSelector, Template, order};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Op, Unanswered, as_written};
use crate::read::read;

pub const OPS: &[Op] =
    &[Op { name: "matching_override_order", answer: matching_order, normal: as_written, deviations: &[] }];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matching {
    cluster: Object,
    policies: Vec<Policy>,
    resource: Resource,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    api_version: SmolStr,
    kind: SmolStr,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: SmolStr,
    #[serde(default)]
    namespace: SmolStr,
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
    cluster_names: Vec<SmolStr>,
    #[serde(default)]
    exclude: Vec<SmolStr>,
    #[serde(default)]
    label_selector: Option<LabelSelector>,
}

impl TargetCluster {
    fn matches(&self, cluster: &Metadata) -> bool {
        let Self { cluster_names, exclude, label_selector } = self;
        (cluster_names.is_empty() || cluster_names.contains(&cluster.name))
            && !exclude.contains(&cluster.name)
            && label_selector.as_ref().is_none_or(|selector| selector.matches(&cluster.labels))
    }
}

/// The rules that reach the object in the cluster, policy after policy.
fn matching_order(input: &Value) -> Result<Value, Unanswered> {
    let Matching { cluster, policies, resource } = read(input)?;
    let Resource { api_version, kind, metadata: Metadata { name, namespace, labels } } = &resource;
    let template = Template { api_version, kind, namespace, name, labels };
    let named: Vec<(&str, &str, &[ResourceSelector])> = policies
        .iter()
        .map(|Policy { metadata, spec }| {
            (metadata.namespace.as_str(), metadata.name.as_str(), spec.resource_selectors.as_slice())
        })
        .collect();
    let mut answer: Vec<Value> = Vec::new();
    for Policy { metadata, spec } in order(&named, template).into_iter().filter_map(|at| policies.get(at)) {
        let older = spec.overriders.as_ref().filter(|_| spec.override_rules.is_empty());
        let older = older
            .map(|overriders| Rule { target_cluster: spec.target_cluster.clone(), overriders: overriders.clone() });
        for rule in older.iter().chain(&spec.override_rules) {
            if rule.target_cluster.as_ref().is_none_or(|target| target.matches(&cluster.metadata)) {
                let Metadata { name, namespace, .. } = metadata;
                answer.push(json!({ "name": name, "namespace": namespace, "overriders": rule.overriders }));
            }
        }
    }
    Ok(json!({ "wantedOverriders": answer }))
}
