//! Quotas: Karmada's FederatedResourceQuota, as the quota of a team.
//!
//! A namespace becomes a team, `overall` its quota, a binding an app of the team. A resource `x` of Karmada's is our
//! `requests.x`.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::quantity::{Quantity, amount, amount_text};
use fleetwright_compiler::base::{ClusterId, SmolStr, TeamId};
use fleetwright_compiler::kinds::pod::PodFacts;
use fleetwright_compiler::model::{App, Fleet};
use fleetwright_compiler::schedule::quota::{AppUsage, Left, Pods, Usage, usage};
use fleetwright_tests::fleet::{FleetBuilder, open_team};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asked::{Deviation, Op, Unanswered, as_written};
use crate::estimate::{Amounts, Assumed, Component, Requirements, resources};
use crate::lowered::lowered;
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "binding_usage", answer: binding_usage, normal: amounts, deviations: &[] },
    Op { name: "overall_used", answer: overall_used, normal: amounts, deviations: &[] },
    Op { name: "static_cluster_hard", answer: static_cluster_hard, normal: amounts, deviations: &[] },
    Op { name: "component_set_usage", answer: component_set_usage, normal: amounts, deviations: &[] },
    Op { name: "quota_max_replicas", answer: quota_max_replicas, normal: as_written, deviations: &[] },
    Op { name: "quota_max_sets", answer: quota_max_sets, normal: as_written, deviations: &[] },
    Op { name: "admit_binding", answer: admit_binding, normal: as_written, deviations: ADMIT },
];

/// Quantities as the amounts they stand for; what amounts to nothing is left out.
fn amounts(_: &Value, mut value: Value) -> Value {
    for key in ["expected", "expectedResult"] {
        if let Some(list) = value.get_mut(key) {
            let Ok(quantities) = serde_json::from_value::<Amounts>(list.clone()) else { continue };
            let exact = resources(&quantities);
            *list = exact.iter().map(|(name, amount)| (name.to_string(), Value::from(amount.to_string()))).collect();
        }
    }
    value
}

/// The part of a ResourceBinding's spec that quota looks at.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Binding {
    #[serde(default)]
    clusters: Vec<Target>,
    #[serde(default)]
    replica_requirements: Option<Requirements>,
    #[serde(default)]
    components: Vec<Component>,
}

#[derive(Deserialize)]
struct Target {
    #[serde(default)]
    replicas: u32,
}

impl Binding {
    fn pod(&self) -> Option<PodFacts> {
        self.replica_requirements.as_ref().map(Requirements::pod)
    }

    /// What the binding asks for, as an app of the fleet's team.
    fn usage(&self, fleet: &Fleet, app: &App) -> AppUsage {
        // A set of components is whole in each of its clusters.
        let parts: Vec<(Option<u32>, Option<PodFacts>)> = match self.components.as_slice() {
            [] => vec![(None, self.pod())],
            several => several.iter().map(|part| (Some(part.replicas), Some(part.pod()))).collect(),
        };
        let pods = self.clusters.iter().flat_map(|target| {
            parts.iter().map(|(count, facts)| Pods {
                cluster: ClusterId(0),
                count: count.unwrap_or(target.replicas),
                facts: facts.as_ref(),
            })
        });
        usage(fleet, app, pods)
    }
}

fn ours(name: &SmolStr) -> String {
    format!("requests.{name}")
}

fn quota(hard: &Amounts, clusters: Option<&str>) -> Value {
    let hard: Map<String, Value> =
        hard.iter().map(|(name, quantity)| (ours(name), quantity.canonical().into())).collect();
    match clusters {
        Some(cluster) => json!({ "hard": hard, "clusters": { "names": [cluster] } }),
        None => json!({ "hard": hard }),
    }
}

/// A team with these quotas, one app, and these clusters.
fn fleet(quotas: &[Value], clusters: &BTreeSet<&str>) -> Result<Fleet, Unanswered> {
    let mut team = open_team();
    team["quota"] = quotas.into();
    let mut fleet = FleetBuilder::new().team("t", team).app("t", "a", json!({}), &[]);
    for cluster in clusters {
        fleet = fleet.cluster(*cluster, json!({}));
    }
    lowered(&fleet)
}

fn only_app(fleet: &Fleet) -> Result<&App, Unanswered> {
    let app = fleet.apps.first().map(AsRef::as_ref);
    app.ok_or_else(|| Unanswered::Malformed("the case makes no app".to_owned()))
}

/// Usage by quota and resource as Karmada's list: its names, and quantities.
fn listed(fleet: &Fleet, used: &[Vec<i128>]) -> Map<String, Value> {
    let quotas = fleet.team(TeamId(0)).quota.iter();
    let rows = quotas.zip(used).flat_map(|(quota, used)| quota.hard.keys().zip(used));
    rows.map(|(name, used)| karmadas(name, *used)).collect()
}

/// Karmada's name of a resource, and a quantity.
fn karmadas(name: &SmolStr, amount: i128) -> (String, Value) {
    let name = name.strip_prefix("requests.").unwrap_or(name);
    (name.to_owned(), amount_text(name, amount).into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneBinding {
    rb: Value,
}

/// A binding, whole or its spec alone.
fn spec_of(object: &Value) -> Result<Binding, Unanswered> {
    read::<Binding>(object.get("spec").unwrap_or(object))
}

/// What a binding asks for of every resource that it requests.
fn binding_usage(input: &Value) -> Result<Value, Unanswered> {
    let OneBinding { rb } = read(input)?;
    let binding = spec_of(&rb)?;
    let request = binding.replica_requirements.as_ref().and_then(|r| r.resource_request.clone()).unwrap_or_default();
    let fleet = fleet(&[quota(&request, None)], &BTreeSet::from(["c"]))?;
    let used = binding.usage(&fleet, only_app(&fleet)?);
    Ok(json!({ "expected": listed(&fleet, &used) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneSet {
    components: Vec<Component>,
}

/// What one set asks for of every resource that any of its components requests.
fn component_set_usage(input: &Value) -> Result<Value, Unanswered> {
    let OneSet { components } = read(input)?;
    let requests = components.iter().filter_map(|part| part.replica_requirements.as_ref()?.resource_request.clone());
    let requested: Amounts = requests.flatten().collect();
    let fleet = fleet(&[quota(&requested, None)], &BTreeSet::from(["c"]))?;
    let binding = Binding { clusters: vec![Target { replicas: 0 }], components, ..Binding::default() };
    let used = if binding.components.is_empty() { Vec::new() } else { binding.usage(&fleet, only_app(&fleet)?) };
    Ok(json!({ "expected": listed(&fleet, &used) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MaxReplicas {
    enabled: bool,
    requirements: Option<Requirements>,
    quotas: Vec<ClusterQuota>,
    #[serde(default)]
    assumed: Vec<Assumed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MaxSets {
    enabled: bool,
    namespace: String,
    components: Vec<Component>,
    quotas: Vec<ClusterQuota>,
    #[serde(default)]
    assumed: Vec<Assumed>,
}

/// A ResourceQuota of a member cluster.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterQuota {
    namespace: String,
    #[serde(rename = "name")]
    _name: String,
    #[serde(default)]
    scope_selector: Option<ScopeSelector>,
    #[serde(default)]
    scopes: Option<Vec<String>>,
    #[serde(default)]
    hard: Amounts,
    #[serde(default)]
    used: Amounts,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScopeSelector {
    #[serde(default)]
    match_expressions: Vec<ScopeExpression>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScopeExpression {
    operator: String,
    scope_name: String,
    #[serde(default)]
    values: Vec<String>,
}

impl ClusterQuota {
    /// Whether it is one of a workload's team: of its namespace and priority class.
    fn is_for(&self, namespace: &str, class: Option<&str>) -> bool {
        let class = class.unwrap_or_default();
        let holds = |expression: &ScopeExpression| {
            let listed = expression.values.iter().any(|value| value == class);
            expression.scope_name == "PriorityClass"
                && match expression.operator.as_str() {
                    "In" => listed,
                    "NotIn" => !listed,
                    "Exists" => !class.is_empty(),
                    "DoesNotExist" => class.is_empty(),
                    _ => false,
                }
        };
        let scoped = self.scope_selector.as_ref().is_some_and(|s| s.match_expressions.iter().any(holds));
        let named = self.scopes.iter().flatten().any(|scope| scope == "PriorityClass" && !class.is_empty());
        let unscoped = self.scope_selector.is_none() && self.scopes.as_ref().is_none_or(Vec::is_empty);
        self.namespace == namespace && (unscoped || scoped || named)
    }
}

/// The most sets that the quotas of one cluster leave; what is on its way counts as used.
fn most_sets(
    namespace: &str,
    set: &[(u32, PodFacts, Option<String>)],
    quotas: &[ClusterQuota],
    assumed: &[Assumed],
) -> Result<Option<u32>, Unanswered> {
    let class = set.iter().find_map(|(.., class)| class.as_deref());
    let stated: Vec<&ClusterQuota> = quotas.iter().filter(|quota| quota.is_for(namespace, class)).collect();
    let rows: Vec<Value> = stated
        .iter()
        .map(|stated| {
            let mut row = quota(&stated.hard, None);
            row["scope"] = "PerCluster".into();
            row
        })
        .collect();
    let fleet = fleet(&rows, &BTreeSet::from(["c"]))?;
    let app = only_app(&fleet)?;
    let coming: Vec<(u32, PodFacts)> = assumed
        .iter()
        .filter(|workload| workload.namespace.as_deref().is_none_or(|other| other == namespace))
        .flat_map(|workload| &workload.components)
        .filter(|part| {
            let other = part.replica_requirements.as_ref().and_then(|r| r.priority_class_name.as_deref());
            other == class
        })
        .map(|part| (part.replicas, part.pod()))
        .collect();
    let pods = coming.iter().map(|(count, facts)| Pods { cluster: ClusterId(0), count: *count, facts: Some(facts) });
    let mut used = usage(&fleet, app, pods);
    for ((quota, stated), used) in fleet.team(app.team).quota.iter().zip(&stated).zip(&mut used) {
        for (name, used) in quota.hard.keys().zip(used) {
            let karmadas = name.strip_prefix("requests.").unwrap_or(name);
            *used += stated.used.get(karmadas).map_or(0, |quantity| amount(karmadas, quantity));
        }
    }
    let left = Left::new(&fleet.team(app.team).quota, &used, 1);
    let parts: Vec<(u32, Option<&PodFacts>)> = set.iter().map(|(count, facts, _)| (*count, Some(facts))).collect();
    Ok(left.cap_of_sets(ClusterId(0), &parts))
}

/// Karmada counts in 32 bits.
const MOST: u32 = i32::MAX as u32;

/// With Karmada's verdict: 0 some fit, 1 none does, 2 the estimator is off.
fn with_code(what: &str, enabled: bool, most: Option<u32>) -> Value {
    let most = if enabled { most.unwrap_or(MOST).min(MOST) } else { MOST };
    let code = if enabled { u32::from(most == 0) } else { 2 };
    json!({ what: most, "code": code })
}

fn quota_max_replicas(input: &Value) -> Result<Value, Unanswered> {
    let MaxReplicas { enabled, requirements, quotas, assumed } = read(input)?;
    let requirements = requirements.unwrap_or_default();
    let namespace = requirements.namespace.clone().unwrap_or_default();
    let set = [(1, requirements.pod(), requirements.priority_class_name.clone())];
    let most = most_sets(&namespace, &set, &quotas, &assumed)?;
    Ok(with_code("replicas", enabled, most))
}

fn quota_max_sets(input: &Value) -> Result<Value, Unanswered> {
    let MaxSets { enabled, namespace, components, quotas, assumed } = read(input)?;
    let class = |part: &Component| part.replica_requirements.as_ref().and_then(|r| r.priority_class_name.clone());
    let set: Vec<_> = components.iter().map(|part| (part.replicas, part.pod(), class(part))).collect();
    let most = most_sets(&namespace, &set, &quotas, &assumed)?;
    Ok(with_code("sets", enabled, most))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Overall {
    bindings: Vec<Value>,
    overall: Amounts,
}

/// What all bindings ask for of the resources that the quota names.
fn overall_used(input: &Value) -> Result<Value, Unanswered> {
    let Overall { bindings, overall } = read(input)?;
    let fleet = fleet(&[quota(&overall, None)], &BTreeSet::from(["c"]))?;
    let app = only_app(&fleet)?;
    let mut used = Usage::new(&fleet);
    let nothing = Binding::default().usage(&fleet, app);
    for binding in bindings {
        used.replace(app, &nothing, &spec_of(&binding)?.usage(&fleet, app));
    }
    Ok(json!({ "expected": listed(&fleet, used.of_team(app.team)) }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StaticHard {
    cluster_name: String,
    spec: StaticSpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StaticSpec {
    #[serde(default)]
    static_assignments: Vec<Assignment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Assignment {
    cluster_name: String,
    hard: Amounts,
}

/// The quota of a team that counts in one cluster.
fn static_cluster_hard(input: &Value) -> Result<Value, Unanswered> {
    let StaticHard { cluster_name, spec } = read(input)?;
    let assigned = &spec.static_assignments;
    let quotas: Vec<Value> =
        assigned.iter().map(|assignment| quota(&assignment.hard, Some(&assignment.cluster_name))).collect();
    let mut clusters: BTreeSet<&str> = assigned.iter().map(|assignment| assignment.cluster_name.as_str()).collect();
    clusters.insert(&cluster_name);
    let fleet = fleet(&quotas, &clusters)?;
    let cluster = fleet.cluster_id(&cluster_name);
    let mut here =
        fleet.team(TeamId(0)).quota.iter().filter(|quota| cluster.is_some_and(|id| quota.clusters.contains(id)));
    let hard: Option<Map<String, Value>> =
        here.next().map(|quota| quota.hard.iter().map(|(name, amount)| karmadas(name, *amount)).collect());
    Ok(json!({ "expectedResult": hard }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Admission {
    #[serde(rename = "operation")]
    _operation: String,
    dry_run: bool,
    quota_enforcement: bool,
    multi_component: bool,
    namespace: String,
    new: Option<Binding>,
    old: Option<Binding>,
    #[serde(rename = "annotations")]
    _annotations: Option<Value>,
    quotas: Vec<KarmadaQuota>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KarmadaQuota {
    #[serde(rename = "name")]
    _name: String,
    namespace: String,
    #[serde(default)]
    overall: Option<Amounts>,
    #[serde(default)]
    used: Option<Amounts>,
}

/// Whether a binding may ask for more than it did. What the quota says is used counts what the binding used before.
fn admit_binding(input: &Value) -> Result<Value, Unanswered> {
    let admission: Admission = read(input)?;
    let allowed = json!({ "allowed": true, "code": 200, "reason": null });
    let quotas: Vec<KarmadaQuota> =
        admission.quotas.into_iter().filter(|quota| quota.namespace == admission.namespace).collect();
    // A feature that is off is a team without a quota.
    let stated = if admission.quota_enforcement { quotas.as_slice() } else { &[] };
    let rows: Vec<Value> =
        stated.iter().map(|stated| quota(stated.overall.as_ref().unwrap_or(&Amounts::new()), None)).collect();
    let fleet = fleet(&rows, &BTreeSet::from(["c"]))?;
    let app = only_app(&fleet)?;
    let before = admission.old.unwrap_or_default().usage(&fleet, app);
    let now = admission.new.unwrap_or_default().usage(&fleet, app);
    let recorded: AppUsage = fleet
        .team(TeamId(0))
        .quota
        .iter()
        .zip(stated)
        .map(|(quota, stated)| {
            let used = stated.used.as_ref().map(|used| used.iter().map(|(name, quantity)| (ours(name), quantity)));
            let used: BTreeMap<String, &Quantity> = used.into_iter().flatten().collect();
            let recorded = |name: &SmolStr| used.get(name.as_str()).map_or(0, |quantity| amount(name, quantity));
            quota.hard.keys().map(recorded).collect()
        })
        .collect();
    let mut usage = Usage::new(&fleet);
    usage.replace(app, &Binding::default().usage(&fleet, app), &recorded);
    Ok(match usage.refuses(&fleet, app, &before, &now) {
        None => allowed,
        Some(_) => json!({ "allowed": false, "code": 403, "reason": "QuotaExceeded" }),
    })
}

const ADMIT: &[Deviation] = &[
    LESS,
    Deviation {
        why: "parts of a set get their names from their kind, which tells equal and empty ones apart: nobody writes them",
        holds: |asked| {
            read::<Admission>(asked.input).is_ok_and(|admission| admission.multi_component)
                && asked.expected.get("reason").and_then(Value::as_str) == Some("Forbidden")
        },
    },
    Deviation {
        why: "a dry run is judged like any other: nothing else tells before the merge",
        holds: |asked| {
            read::<Admission>(asked.input).is_ok_and(|admission| admission.dry_run)
                && asked.expected.get("allowed") == Some(&true.into())
        },
    },
];

const LESS: Deviation = Deviation {
    why: "asking for less is never refused, even of a quota that is exceeded already",
    holds: |asked| {
        let Ok(admission) = read::<Admission>(asked.input) else { return false };
        let exceeded = admission.quotas.iter().any(|quota| {
            let hard = quota.overall.as_ref().map(resources).unwrap_or_default();
            let used = quota.used.as_ref().map(resources).unwrap_or_default();
            hard.0.iter().any(|(name, most)| used.get(name) > *most)
        });
        exceeded
            && asked.answer.get("allowed") == Some(&true.into())
            && asked.expected.get("reason").and_then(Value::as_str) == Some("QuotaExceeded")
    },
};
