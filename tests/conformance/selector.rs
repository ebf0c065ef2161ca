//! Selecting clusters, and, as an import decides it, which of Karmada's policies a resource belongs to.

use fleetwright_compiler::api::Lifecycle;
use fleetwright_compiler::base::labels::{LabelSelector, Labels};
use fleetwright_compiler::base::{FileId, Resources, SmolStr, Span};
use fleetwright_compiler::import::karmada::{Implicit, ResourceSelector, Template, implicit, rank};
use fleetwright_compiler::model::{Cluster, Selector, TopologyKey};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered, as_written, refused};
use crate::read::{decode, read};

pub const OPS: &[Op] = &[
    Op { name: "resource_matches", answer: resource_matches, normal: as_written, deviations: &[] },
    Op { name: "resource_selector_priority", answer: selector_priority, normal: as_written, deviations: &[] },
    Op { name: "resource_match_selectors", answer: match_selectors, normal: as_written, deviations: &[] },
    Op { name: "resource_match_selectors_priority", answer: selectors_priority, normal: as_written, deviations: &[] },
    Op { name: "highest_priority_policy", answer: highest_policy, normal: as_written, deviations: &[] },
    Op { name: "highest_priority_cluster_policy", answer: highest_policy, normal: as_written, deviations: &[] },
    Op { name: "cluster_matches", answer: cluster_matches, normal: as_written, deviations: INVALID },
    Op { name: "match_zones", answer: match_zones, normal: as_written, deviations: ZONES },
];

/// The selector that selects everything.
const ANY_LABELS: LabelSelector = LabelSelector { match_labels: Labels::new(), match_expressions: Vec::new() };

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    api_version: SmolStr,
    kind: SmolStr,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    name: SmolStr,
    #[serde(default)]
    namespace: SmolStr,
    #[serde(default)]
    labels: Labels,
}

/// What is no label selector at all is refused; one with keys that no label can have matches nothing, here as there.
fn labels(selector: Option<Value>) -> Result<LabelSelector, Unanswered> {
    match selector {
        None | Some(Value::Null) => Ok(ANY_LABELS),
        Some(selector) => decode(&selector).ok_or(Unanswered::Refused),
    }
}

impl Resource {
    fn template(&self) -> Template<'_> {
        let Self { api_version, kind, metadata: Metadata { name, namespace, labels } } = self;
        Template { api_version, kind, namespace, name, labels }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    rs: ResourceSelector,
    resource: Resource,
}

fn resource_matches(input: &Value) -> Result<Value, Unanswered> {
    let One { rs, resource } = read(input)?;
    Ok(json!({ "want": rs.implicit(resource.template()) != Implicit::Miss }))
}

fn selector_priority(input: &Value) -> Result<Value, Unanswered> {
    let One { rs, resource } = read(input)?;
    Ok(json!({ "priority": rs.implicit(resource.template()) as u8 }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Several {
    selectors: Vec<ResourceSelector>,
    resource: Resource,
}

fn match_selectors(input: &Value) -> Result<Value, Unanswered> {
    let Several { selectors, resource } = read(input)?;
    Ok(json!({ "want": implicit(&selectors, resource.template()) != Implicit::Miss }))
}

fn selectors_priority(input: &Value) -> Result<Value, Unanswered> {
    let Several { selectors, resource } = read(input)?;
    Ok(json!({ "priority": implicit(&selectors, resource.template()) as u8 }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Policies {
    policies: Vec<Policy>,
    resource: Resource,
}

#[derive(Deserialize)]
struct Policy {
    metadata: Metadata,
    spec: PolicySpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicySpec {
    #[serde(default)]
    priority: i32,
    resource_selectors: Vec<ResourceSelector>,
}

fn highest_policy(input: &Value) -> Result<Value, Unanswered> {
    let Policies { policies, resource } = read(input)?;
    let ranked = policies.iter().filter_map(|Policy { metadata, spec }| {
        let name = (metadata.namespace.as_str(), metadata.name.as_str());
        rank(&spec.resource_selectors, name, spec.priority, resource.template())
    });
    Ok(json!({ "policy": ranked.min().map(|(.., name)| name) }))
}

/// What Karmada answers for what never matches.
fn nothing(expected: &Value) -> bool {
    [json!({ "want": false }), json!({ "priority": 0 }), json!({ "policy": null })].contains(expected)
}

const REFUSED: Deviation = Deviation {
    why: "what is no label selector is refused, not one that never matches",
    holds: |asked| *asked.answer == refused() && nothing(asked.expected),
};

const INVALID: &[Deviation] = &[REFUSED];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AffinityAndCluster {
    affinity: Affinity,
    cluster: KarmadaCluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Affinity {
    #[serde(default)]
    cluster_names: Vec<SmolStr>,
    #[serde(default)]
    exclude: Vec<SmolStr>,
    #[serde(default)]
    label_selector: Option<Value>,
    #[serde(default)]
    field_selector: Option<FieldSelector>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FieldSelector {
    #[serde(default)]
    match_expressions: Vec<FieldExpression>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldExpression {
    key: SmolStr,
    operator: SmolStr,
    #[serde(default)]
    values: Vec<SmolStr>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KarmadaCluster {
    name: SmolStr,
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    zones: Vec<SmolStr>,
    #[serde(default)]
    region: Option<SmolStr>,
    #[serde(default)]
    provider: Option<SmolStr>,
}

impl KarmadaCluster {
    fn cluster(self) -> Cluster {
        let stated = |text: Option<SmolStr>| text.filter(|text| !text.is_empty());
        cluster(self.name, self.labels, self.zones, stated(self.region), stated(self.provider))
    }
}

fn cluster(
    name: SmolStr,
    labels: Labels,
    zones: Vec<SmolStr>,
    region: Option<SmolStr>,
    provider: Option<SmolStr>,
) -> Cluster {
    Cluster {
        name,
        file: FileId(0),
        name_span: Span::default(),
        provider,
        region,
        zones,
        labels,
        taints: Vec::new(),
        pools: None,
        overcommit: Default::default(),
        reserved: Resources::default(),
        apis: None,
        values: Default::default(),
        lifecycle: Lifecycle::default(),
        mode: fleetwright_compiler::api::ClusterMode::Apply,
        connection: None,
    }
}

fn everything() -> Selector {
    Selector { labels: ANY_LABELS, names: None, exclude: Vec::new(), providers: None, regions: None, zones: None }
}

impl FieldExpression {
    /// `In` as a selector of its own; `None` for a key that no cluster has: then `In` selects nothing.
    fn is_in(&self) -> Option<Selector> {
        let values = Some(self.values.clone());
        match self.key.as_str() {
            "provider" => Some(Selector { providers: values, ..everything() }),
            "region" => Some(Selector { regions: values, ..everything() }),
            "zone" => Some(Selector { zones: values, ..everything() }),
            _ => None,
        }
    }
}

/// One selector of ours for each expression of Karmada's; all must hold. `NotIn` is written as `exclude`, with the names
/// of what `In` selects.
fn cluster_matches(input: &Value) -> Result<Value, Unanswered> {
    let AffinityAndCluster { affinity, cluster } = read(input)?;
    let cluster = cluster.cluster();
    let mut selectors = vec![Selector {
        labels: labels(affinity.label_selector)?,
        names: Some(affinity.cluster_names).filter(|names| !names.is_empty()),
        exclude: affinity.exclude,
        ..everything()
    }];
    for expression in affinity.field_selector.map(|selector| selector.match_expressions).unwrap_or_default() {
        let Some(is_in) = expression.is_in() else { return Ok(json!({ "want": false })) };
        match expression.operator.as_str() {
            "In" => selectors.push(is_in),
            "NotIn" => {
                let exclude = if is_in.matches(&cluster) { vec![cluster.name.clone()] } else { Vec::new() };
                selectors.push(Selector { exclude, ..everything() });
            }
            other => return Err(Unanswered::Unmapped(format!("fields of clusters with operator {other}"))),
        }
    }
    Ok(json!({ "want": selectors.iter().all(|selector| selector.matches(&cluster)) }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Zones {
    zone_match_expression: FieldExpression,
    #[serde(default)]
    zones: Vec<SmolStr>,
}

fn match_zones(input: &Value) -> Result<Value, Unanswered> {
    let Zones { zone_match_expression: expression, zones } = read(input)?;
    let cluster = cluster("c".into(), Labels::new(), zones, None, None);
    let is_in = || Selector { zones: Some(expression.values.clone()), ..everything() }.matches(&cluster);
    let has_some = || TopologyKey::Zone.group(&cluster).is_some();
    Ok(match expression.operator.as_str() {
        "In" => json!({ "matched": is_in() }),
        "NotIn" => json!({ "matched": !is_in() }),
        "Exists" => json!({ "matched": has_some() }),
        "DoesNotExist" => json!({ "matched": !has_some() }),
        _ => refused(),
    })
}

const ZONES: &[Deviation] = &[Deviation {
    why: "there is no such operator on zones: refused, not a selector that never matches",
    holds: |asked: &Asked<'_>| *asked.answer == refused() && asked.expected.get("matched") == Some(&false.into()),
}];
