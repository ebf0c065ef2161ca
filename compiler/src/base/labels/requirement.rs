//! One checked condition on a label, with the numeric operators that queries and node affinity have besides.

use std::collections::BTreeSet;
use std::fmt;

use smol_str::SmolStr;

use super::{FieldError, Labels};
use crate::base::name::{NameRule, check};

/// How a label is compared: the operators of `NodeSelectorRequirement` and of label queries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operator {
    /// The label is there, with one of the values.
    In,
    /// The label is absent, or its value is none of these.
    NotIn,
    /// The label is there, whatever its value.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is there, an integer, and greater than the value.
    Gt,
    /// The label is there, an integer, and less than the value.
    Lt,
}

/// A condition on a label that Kubernetes accepts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Requirement {
    key: SmolStr,
    test: Test,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Test {
    In(BTreeSet<SmolStr>),
    NotIn(BTreeSet<SmolStr>),
    Exists,
    DoesNotExist,
    Gt(i64),
    Lt(i64),
}

impl Requirement {
    /// Checks a condition as `labels.NewRequirement` does.
    ///
    /// # Errors
    /// At `key` or `values`: a key that is no label key; values that are no label values; none where `In` or `NotIn`
    /// need some, some where `Exists` or `DoesNotExist` take none, other than one integer for `Gt` or `Lt`.
    pub fn new(key: &str, operator: Operator, values: &[SmolStr]) -> Result<Self, FieldError> {
        check(NameRule::QualifiedName, key).map_err(|expected| {
            FieldError::new(["key"], format!("{key:?} is not a valid label key: expected {expected}"))
        })?;
        let at_values = |message: &str| FieldError::new(["values"], message);
        let test = match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                return Err(at_values("In and NotIn need at least one value"));
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                return Err(at_values("Exists and DoesNotExist take no values"));
            }
            Operator::In => Test::In(values.iter().cloned().collect()),
            Operator::NotIn => Test::NotIn(values.iter().cloned().collect()),
            Operator::Exists => Test::Exists,
            Operator::DoesNotExist => Test::DoesNotExist,
            Operator::Gt => Test::Gt(one_integer(values)?),
            Operator::Lt => Test::Lt(one_integer(values)?),
        };
        for (i, value) in values.iter().enumerate() {
            check(NameRule::LabelValue, value).map_err(|expected| {
                FieldError::new(
                    ["values".to_owned(), i.to_string()],
                    format!("{value:?} is not a valid label value: expected {expected}"),
                )
            })?;
        }
        Ok(Self { key: SmolStr::new(key), test })
    }

    /// The label's key.
    #[must_use]
    pub fn key(&self) -> &SmolStr {
        &self.key
    }

    /// Whether the labels satisfy it. An absent label satisfies `NotIn` and `DoesNotExist`, and no other.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            Test::In(values) => value.is_some_and(|value| values.contains(value)),
            Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
            Test::Gt(bound) => number().is_some_and(|number| number > *bound),
            Test::Lt(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

fn one_integer(values: &[SmolStr]) -> Result<i64, FieldError> {
    let [value] = values else {
        return Err(FieldError::new(["values"], format!("Gt and Lt need exactly one value, not {}", values.len())));
    };
    value
        .parse()
        .map_err(|_| FieldError::new(["values", "0"], format!("{value:?} is not an integer, as Gt and Lt need")))
}

/// In the syntax of label queries: `env in (dev,prod)`, `!x`, `n>4`.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let listed = |values: &BTreeSet<SmolStr>| values.iter().map(SmolStr::as_str).collect::<Vec<_>>().join(",");
        match &self.test {
            Test::In(values) if values.len() == 1 => write!(f, "{key}={}", listed(values)),
            Test::In(values) => write!(f, "{key} in ({})", listed(values)),
            Test::NotIn(values) if values.len() == 1 => write!(f, "{key}!={}", listed(values)),
            Test::NotIn(values) => write!(f, "{key} notin ({})", listed(values)),
            Test::Exists => f.write_str(key),
            Test::DoesNotExist => write!(f, "!{key}"),
            Test::Gt(bound) => write!(f, "{key}>{bound}"),
            Test::Lt(bound) => write!(f, "{key}<{bound}"),
        }
    }
}
