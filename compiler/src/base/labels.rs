//! Labels and what selects by them: the selector of the API ([`LabelSelector`]), single requirements, and the `-l` text.
//!
//! Invariant: matching and refusing are those of `k8s.io/apimachinery` 1.36 (`pkg/labels`, `LabelSelectorAsSelector`).

mod query;
mod requirement;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

pub use query::{LabelQuery, LabelQueryError};
pub use requirement::{Operator, Requirement};

use super::FieldError;

/// Labels (or annotations) by key.
pub type Labels = BTreeMap<SmolStr, SmolStr>;

/// Selects by labels, as `metav1.LabelSelector`: all parts must hold, and `{}` selects everything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels that must be present with exactly these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub match_labels: Labels,
    /// Further conditions, all of which must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<LabelRequirement>,
}

/// One condition on a label.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelRequirement {
    /// The label's key.
    #[schemars(with = "String")]
    pub key: SmolStr,
    /// How the label is compared.
    pub operator: LabelOperator,
    /// The values of `In` and `NotIn`; none for `Exists` and `DoesNotExist`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub values: Vec<SmolStr>,
}

/// How a label is compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub enum LabelOperator {
    /// The label is there, with one of the values.
    In,
    /// The label is absent, or its value is none of these.
    NotIn,
    /// The label is there, whatever its value.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

impl LabelSelector {
    /// The selector as requirements, each checked: valid keys and values, values exactly where the operator takes some.
    ///
    /// # Errors
    /// The first field that is wrong, `matchLabels` before `matchExpressions`.
    pub fn requirements(&self) -> Result<Vec<Requirement>, FieldError> {
        let equal = self.match_labels.iter().map(|(key, value)| {
            // The only field that can be wrong is a label, whichever of its two sides it is.
            Requirement::new(key, Operator::In, std::slice::from_ref(value))
                .map_err(|error| FieldError::new(["matchLabels", key], error.message))
        });
        let expressions = self.match_expressions.iter().enumerate().map(|(i, expression)| {
            Requirement::new(&expression.key, expression.operator.into(), &expression.values)
                .map_err(|error| error.under([SmolStr::new("matchExpressions"), SmolStr::from(i.to_string())]))
        });
        equal.chain(expressions).collect()
    }

    /// Checks what Kubernetes would refuse.
    ///
    /// # Errors
    /// As [`LabelSelector::requirements`].
    pub fn validate(&self) -> Result<(), FieldError> {
        self.requirements().map(|_| ())
    }

    /// Whether the labels satisfy all parts. Meaningful for a selector that is valid.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|expression| expression.matches(labels))
    }

    /// Whether it selects everything.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

impl LabelRequirement {
    /// Whether the labels satisfy this condition.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            LabelOperator::In => value.is_some_and(|value| self.values.contains(value)),
            LabelOperator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::DoesNotExist => value.is_none(),
        }
    }
}

impl From<LabelOperator> for Operator {
    fn from(operator: LabelOperator) -> Self {
        match operator {
            LabelOperator::In => Self::In,
            LabelOperator::NotIn => Self::NotIn,
            LabelOperator::Exists => Self::Exists,
            LabelOperator::DoesNotExist => Self::DoesNotExist,
        }
    }
}

#[cfg(test)]
mod tests;
