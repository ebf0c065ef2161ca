//! Selecting resources, policies and clusters.
//!
//! What Karmada selects by kind and namespace, our policies select by team: a policy reaches the apps of a team, and all
//! objects of an app go together. So `apiVersion`, `kind` and `namespace` of a resource become the name of a team, and
//! its `name` that of an app.

use fleetwright_compiler::api::Lifecycle;
use fleetwright_compiler::base::labels::{LabelSelector, Labels};
use fleetwright_compiler::base::{FileId, Resources, SmolStr, Span};
use fleetwright_compiler::model::{AppSelector, Cluster, Rank, Selector, Specificity, TopologyKey};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered, as_written, refused};
use crate::read::{decode, read};

pub const OPS: &[Op] = &[
    Op { name: "resource_matches", answer: resource_matches, normal: as_written, deviations: RESOURCES },
    Op { name: "resource_selector_priority", answer: selector_priority, normal: as_written, deviations: RESOURCES },
    Op { name: "resource_match_selectors", answer: match_selectors, normal: as_written, deviations: RESOURCES },
    Op {
        name: "resource_match_selectors_priority",
        answer: selectors_priority,
        normal: as_written,
        deviations: RESOURCES,
    },
    Op { name: "highest_priority_policy", answer: highest_policy, normal: as_written, deviations: RESOURCES },
    Op { name: "highest_priority_cluster_policy", answer: highest_policy, normal: as_written, deviations: RESOURCES },
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceSelector {
    api_version: SmolStr,
    kind: SmolStr,
    #[serde(default)]
    namespace: Option<SmolStr>,
    #[serde(default)]
    name: Option<SmolStr>,
    #[serde(default)]
    label_selector: Option<Value>,
}

/// What is no label selector at all is refused; one with keys that no label can have matches nothing, here as there.
fn labels(selector: Option<Value>) -> Result<LabelSelector, Unanswered> {
    match selector {
        None | Some(Value::Null) => Ok(ANY_LABELS),
        Some(selector) => decode(&selector).ok_or(Unanswered::Refused),
    }
}

fn team(api_version: &str, kind: &str, namespace: &str) -> SmolStr {
    format!("{api_version} {kind} {namespace}").into()
}

impl ResourceSelector {
    /// `any_namespace` stands for an absent namespace, which is any.
    fn app_selector(self, any_namespace: &str) -> Result<AppSelector, Unanswered> {
        let namespace = self.namespace.filter(|namespace| !namespace.is_empty());
        Ok(AppSelector {
            labels: labels(self.label_selector)?,
            names: self.name.filter(|name| !name.is_empty()).map(|name| vec![name]),
            teams: Some(vec![team(&self.api_version, &self.kind, namespace.as_deref().unwrap_or(any_namespace))]),
        })
    }

    fn specificity(self, resource: &Resource) -> Result<Option<Specificity>, Unanswered> {
        let Metadata { name, namespace, labels } = &resource.metadata;
        let team = team(&resource.api_version, &resource.kind, namespace);
        Ok(self.app_selector(namespace)?.matches(&team, name, labels))
    }
}

fn best(selectors: Vec<ResourceSelector>, resource: &Resource) -> Result<Option<Specificity>, Unanswered> {
    let mut found = Vec::new();
    for selector in selectors {
        found.extend(selector.specificity(resource)?);
    }
    Ok(found.into_iter().min_by_key(|specificity| Rank::new(0, *specificity, "")))
}

/// Karmada's numbers for how specific a selector is.
fn number(specificity: Option<Specificity>) -> u8 {
    match specificity {
        None => 0,
        Some(Specificity::All) => 1,
        Some(Specificity::Label) => 2,
        Some(Specificity::Name) => 3,
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
    Ok(json!({ "want": rs.specificity(&resource)?.is_some() }))
}

fn selector_priority(input: &Value) -> Result<Value, Unanswered> {
    let One { rs, resource } = read(input)?;
    Ok(json!({ "priority": number(rs.specificity(&resource)?) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Several {
    selectors: Vec<ResourceSelector>,
    resource: Resource,
}

fn match_selectors(input: &Value) -> Result<Value, Unanswered> {
    let Several { selectors, resource } = read(input)?;
    Ok(json!({ "want": best(selectors, &resource)?.is_some() }))
}

fn selectors_priority(input: &Value) -> Result<Value, Unanswered> {
    let Several { selectors, resource } = read(input)?;
    Ok(json!({ "priority": number(best(selectors, &resource)?) }))
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
    let mut reaching = Vec::new();
    for Policy { metadata, spec } in policies {
        if let Some(specificity) = best(spec.resource_selectors, &resource)? {
            reaching.push((metadata.name, spec.priority, specificity));
        }
    }
    let first =
        reaching.iter().min_by_key(|(name, precedence, specificity)| Rank::new(*precedence, *specificity, name));
    Ok(json!({ "policy": first.map(|(name, ..)| name) }))
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

const RESOURCES: &[Deviation] = &[
    REFUSED,
    Deviation {
        why: "all parts of a selector must hold: Karmada ignores the labels of one with a name",
        holds: |asked| {
            let one = asked.input.get("rs").into_iter();
            let several = asked.input.get("selectors").and_then(Value::as_array).into_iter().flatten();
            let policies = asked.input.get("policies").and_then(Value::as_array).into_iter().flatten();
            let of_policies = policies
                .filter_map(|policy| policy.pointer("/spec/resourceSelectors").and_then(Value::as_array))
                .flatten();
            let stated = |selector: &Value, part: &str| {
                selector.get(part).is_some_and(|part| !part.is_null() && part.as_str() != Some(""))
            };
            one.chain(several).chain(of_policies).any(|rs| stated(rs, "name") && stated(rs, "labelSelector"))
        },
    },
];

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
