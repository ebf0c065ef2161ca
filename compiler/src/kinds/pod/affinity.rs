//! Which nodes a pod may run on: node selector, required node affinity, taints (`GetRequiredNodeAffinity` and
//! `FindMatchingUntoleratedTaint` of component-helpers).

use smol_str::SmolStr;

use super::PodFacts;
use super::field::Field;
use crate::base::FieldError;
use crate::base::labels::{Labels, Operator, Requirement};
use crate::base::name::{NameRule, check};
use crate::base::taint::{Taint, TaintEffect, first_untolerated};

/// The taint that a cordoned node has, or is about to get.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const NAME_FIELD: &str = "metadata.name";
/// Labels that the kubelet or the cloud provider puts on every node, so that nobody states them of a pool
/// (<https://kubernetes.io/docs/reference/labels-annotations-taints/>).
const LABELS_OF_EVERY_NODE: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// `requiredDuringSchedulingIgnoredDuringExecution`: one of the terms must hold. None never holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RequiredAffinity {
    /// The terms that say anything; one that is invalid as its error: the scheduler minds it only when no other holds.
    pub terms: Vec<Result<NodeSelectorTerm, FieldError>>,
}

/// Conditions all of which must hold for a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NodeSelectorTerm {
    labels: Vec<Requirement>,
    fields: Vec<NameRequirement>,
}

/// A condition on `metadata.name`. Kubernetes refuses other fields; the scheduler would find them empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct NameRequirement {
    is_name: bool,
    /// Whether it must be the value, or must not.
    equal: bool,
    value: SmolStr,
}

/// What a pod's fit depends on in a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NodeFacts {
    /// Its name; empty for a pool, where no condition on the name can be judged and so each is taken to hold.
    pub name: SmolStr,
    /// Its labels.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Whether it is cordoned.
    pub unschedulable: bool,
    /// Whether this is what is stated of a pool. A label that every node has and nobody stated cannot be judged, so each
    /// condition on it is taken to hold.
    pub of_pool: bool,
}

/// How a pod fits a node, room aside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fit {
    /// Whether node selector and required affinity hold.
    pub affinity: bool,
    /// The first taint that keeps the pod away.
    pub untolerated: Option<Taint>,
}

impl NodeFacts {
    /// Whether these facts cannot say what a label is.
    fn leaves_open(&self, key: &str) -> bool {
        self.of_pool && LABELS_OF_EVERY_NODE.binary_search(&key).is_ok() && !self.labels.contains_key(key)
    }
}

impl Fit {
    /// Whether nothing keeps the pod from the node.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.affinity && self.untolerated.is_none()
    }
}

/// Whether the scheduler would consider the node for the pod.
///
/// # Errors
/// The first invalid term of the required affinity, when the node selector holds and no valid term does.
pub fn fits_node(pod: &PodFacts, node: &NodeFacts) -> Result<Fit, FieldError> {
    let selected =
        pod.node_selector.iter().all(|(key, value)| node.leaves_open(key) || node.labels.get(key) == Some(value));
    let affinity = match &pod.required_affinity {
        Some(required) if selected => required.matches(node)?,
        _ => selected,
    };
    let cordoned = Taint { key: UNSCHEDULABLE.into(), value: SmolStr::default(), effect: TaintEffect::NoSchedule };
    let taints = node.taints.iter().chain(node.unschedulable.then_some(&cordoned));
    Ok(Fit { affinity, untolerated: first_untolerated(taints, &pod.tolerations).cloned() })
}

impl RequiredAffinity {
    fn matches(&self, node: &NodeFacts) -> Result<bool, FieldError> {
        if self.terms.iter().flatten().any(|term| term.matches(node)) {
            return Ok(true);
        }
        match self.terms.iter().find_map(|term| term.as_ref().err()) {
            Some(error) => Err(error.clone()),
            None => Ok(false),
        }
    }

    /// Reads a pod's affinity. Preferences are not read: they decide among nodes, not among clusters.
    pub(super) fn read(affinity: &Field<'_>, errors: &mut Vec<FieldError>) -> Option<Self> {
        let node_affinity = affinity.expect_object(errors)?.get("nodeAffinity");
        let required = node_affinity.expect_object(errors)?.get("requiredDuringSchedulingIgnoredDuringExecution");
        let terms_field = required.expect_object(errors)?.get("nodeSelectorTerms");
        let mut terms = Vec::new();
        let mut count = 0;
        for term in terms_field.items(errors) {
            count += 1;
            check_match_fields(&term, errors);
            match NodeSelectorTerm::read(&term) {
                Ok(term) if term.labels.is_empty() && term.fields.is_empty() => {}
                Ok(term) => terms.push(Ok(term)),
                Err(found) => {
                    terms.extend(found.first().cloned().map(Err));
                    errors.extend(found);
                }
            }
        }
        if count == 0 {
            errors.push(terms_field.error("needs at least one term"));
        }
        Some(Self { terms })
    }
}

impl NodeSelectorTerm {
    fn matches(&self, node: &NodeFacts) -> bool {
        let holds =
            |requirement: &Requirement| node.leaves_open(requirement.key()) || requirement.matches(&node.labels);
        self.labels.iter().all(holds)
            && (node.name.is_empty() || self.fields.iter().all(|requirement| requirement.matches(&node.name)))
    }

    fn read(term: &Field<'_>) -> Result<Self, Vec<FieldError>> {
        let mut errors = Vec::new();
        term.expect_object(&mut errors);
        let mut labels = Vec::new();
        for expression in term.get("matchExpressions").items(&mut errors) {
            match read_requirement(&expression) {
                Ok(requirement) => labels.push(requirement),
                Err(error) => errors.push(error),
            }
        }
        let mut fields = Vec::new();
        for expression in term.get("matchFields").items(&mut errors) {
            match NameRequirement::read(&expression) {
                Ok(requirement) => fields.push(requirement),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Self { labels, fields }) } else { Err(errors) }
    }
}

impl NameRequirement {
    fn matches(&self, node_name: &str) -> bool {
        (self.value == if self.is_name { node_name } else { "" }) == self.equal
    }

    fn read(expression: &Field<'_>) -> Result<Self, FieldError> {
        let Expression { key, operator, values } = Expression::read(expression)?;
        let equal = match operator {
            Some(Operator::In) => true,
            Some(Operator::NotIn) => false,
            _ => return Err(expression.get("operator").error("expected In or NotIn for a node field")),
        };
        let [value] = values.as_slice() else {
            return Err(expression.get("values").error("expected exactly one value for a node field"));
        };
        Ok(Self { is_name: key == NAME_FIELD, equal, value: value.clone() })
    }
}

fn read_requirement(expression: &Field<'_>) -> Result<Requirement, FieldError> {
    let Expression { key, operator, values } = Expression::read(expression)?;
    let Some(operator) = operator else {
        return Err(expression.get("operator").error("expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt"));
    };
    Requirement::new(&key, operator, &values).map_err(|error| expression.inside(error))
}

/// The parts of a `NodeSelectorRequirement`; an operator that there is not is `None`.
struct Expression {
    key: SmolStr,
    operator: Option<Operator>,
    values: Vec<SmolStr>,
}

impl Expression {
    fn read(expression: &Field<'_>) -> Result<Self, FieldError> {
        let mut errors = Vec::new();
        expression.expect_object(&mut errors);
        let key = expression.get("key").text(&mut errors).unwrap_or_default().into();
        let operator = match expression.get("operator").text(&mut errors) {
            Some("In") => Some(Operator::In),
            Some("NotIn") => Some(Operator::NotIn),
            Some("Exists") => Some(Operator::Exists),
            Some("DoesNotExist") => Some(Operator::DoesNotExist),
            Some("Gt") => Some(Operator::Gt),
            Some("Lt") => Some(Operator::Lt),
            _ => None,
        };
        let values_field = expression.get("values");
        let values =
            values_field.items(&mut errors).map(|value| value.text(&mut errors).unwrap_or_default().into()).collect();
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Self { key, operator, values }),
        }
    }
}

/// What the API server refuses although the scheduler would understand it.
fn check_match_fields(term: &Field<'_>, errors: &mut Vec<FieldError>) {
    // Wrong types are reported where the term is read.
    let elsewhere = &mut Vec::new();
    for expression in term.get("matchFields").items(elsewhere) {
        let key = expression.get("key");
        if key.value() != NAME_FIELD {
            errors.push(key.error(format!("nodes cannot be selected by this field: expected {NAME_FIELD}")));
            continue;
        }
        for value in expression.get("values").items(elsewhere) {
            let name = value.text(elsewhere).unwrap_or_default();
            if let Err(expected) = check(NameRule::Dns1123Subdomain, name) {
                errors.push(value.error(format!("{name:?} is not a node's name: expected {expected}")));
            }
        }
    }
}

/// What the API server refuses in a node selector.
pub(super) fn check_label(field: &Field<'_>, key: &str, value: &str) -> Result<(), FieldError> {
    check(NameRule::QualifiedName, key)
        .map_err(|expected| field.error(format!("{key:?} is not a valid label key: expected {expected}")))?;
    check(NameRule::LabelValue, value)
        .map_err(|expected| field.error(format!("{value:?} is not a valid label value: expected {expected}")))
}
