//! Taints and tolerations, of nodes and, in the same form, of clusters.
//!
//! Invariant: what tolerates what, and what is refused, is Kubernetes' rule (`core/v1` `ToleratesTaint`,
//! `ValidateTolerations`, 1.36).

use std::fmt;

use schemars::{JsonSchema, Schema};
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::FieldError;
use super::name::{NameRule, check};

/// Repels pods that do not tolerate it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Taint {
    /// A label key.
    #[schemars(with = "String")]
    pub key: SmolStr,
    /// A label value; empty when absent.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    #[schemars(with = "String")]
    pub value: SmolStr,
    /// What happens to pods that do not tolerate it.
    pub effect: TaintEffect,
}

/// What happens to pods that do not tolerate a taint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub enum TaintEffect {
    /// No new ones come; those that are there stay.
    NoSchedule,
    /// New ones come only where there is no better place.
    PreferNoSchedule,
    /// No new ones come, and those that are there leave.
    NoExecute,
}

/// Lets pods stand a taint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Toleration {
    /// The taint's key; empty, with `Exists`, is every key.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    #[schemars(with = "String")]
    pub key: SmolStr,
    /// How the taint's value is compared.
    #[serde(default = "equal")]
    pub operator: TolerationOperator,
    /// The value to compare with; none with `Exists`.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    #[schemars(with = "String")]
    pub value: SmolStr,
    /// The effect that is tolerated; absent is every effect.
    #[serde(default, deserialize_with = "effect_or_every", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = or_empty)]
    pub effect: Option<TaintEffect>,
    /// How many seconds a `NoExecute` taint is tolerated; absent is for ever, 0 and less not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

/// How a taint's value is compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = or_empty)]
pub enum TolerationOperator {
    /// It is the same.
    #[serde(alias = "")]
    Equal,
    /// It may be any.
    Exists,
    /// It is an integer less than the toleration's (KEP-5471, off by default in Kubernetes 1.36).
    Lt,
    /// It is an integer greater than the toleration's (KEP-5471, off by default in Kubernetes 1.36).
    Gt,
}

/// The schema of a word that may also be empty, which to Kubernetes is as if it were absent.
fn or_empty(schema: &mut Schema) {
    for forms in ["oneOf", "anyOf"] {
        if let Some(forms) = schema.get_mut(forms).and_then(|forms| forms.as_array_mut()) {
            forms.push(serde_json::json!({"description": "As if absent.", "const": ""}));
        }
    }
}

fn equal() -> TolerationOperator {
    TolerationOperator::Equal
}

/// Kubernetes reads `effect: ""` as an absent one.
fn effect_or_every<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TaintEffect>, D::Error> {
    #[derive(Deserialize)]
    #[serde(expecting = "NoSchedule, PreferNoSchedule or NoExecute")]
    enum Written {
        #[serde(rename = "")]
        Every,
        NoSchedule,
        PreferNoSchedule,
        NoExecute,
    }
    Ok(match Option::deserialize(deserializer)? {
        None | Some(Written::Every) => None,
        Some(Written::NoSchedule) => Some(TaintEffect::NoSchedule),
        Some(Written::PreferNoSchedule) => Some(TaintEffect::PreferNoSchedule),
        Some(Written::NoExecute) => Some(TaintEffect::NoExecute),
    })
}

impl TaintEffect {
    /// Whether new pods are kept away: all effects but `PreferNoSchedule`.
    #[must_use]
    pub fn forbids_scheduling(self) -> bool {
        match self {
            Self::NoSchedule | Self::NoExecute => true,
            Self::PreferNoSchedule => false,
        }
    }
}

impl Taint {
    /// Checks what Kubernetes would refuse on a node.
    ///
    /// # Errors
    /// A key that is no label key, or a value that is no label value.
    pub fn validate(&self) -> Result<(), FieldError> {
        check_key(&self.key)?;
        check_value(&self.value)
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, effect } = self;
        if value.is_empty() { write!(f, "{key}:{effect}") } else { write!(f, "{key}={value}:{effect}") }
    }
}

impl fmt::Display for TaintEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        })
    }
}

impl Toleration {
    /// Checks what Kubernetes would refuse.
    ///
    /// # Errors
    /// The first field that is wrong: a key that is no label key, or empty without `Exists`; `tolerationSeconds` with
    /// another effect than `NoExecute`; a value that is no label value, or given with `Exists`, or, with `Lt` and `Gt`,
    /// no decimal integer.
    pub fn validate(&self) -> Result<(), FieldError> {
        if self.key.is_empty() {
            if self.operator != TolerationOperator::Exists {
                return Err(FieldError::new(
                    ["operator"],
                    "a toleration without a key (every key) needs operator Exists",
                ));
            }
        } else {
            check_key(&self.key)?;
        }
        if self.toleration_seconds.is_some() && self.effect != Some(TaintEffect::NoExecute) {
            return Err(FieldError::new(
                ["tolerationSeconds"],
                "tolerationSeconds needs effect NoExecute: only that makes pods leave",
            ));
        }
        match self.operator {
            TolerationOperator::Equal => check_value(&self.value),
            TolerationOperator::Exists if self.value.is_empty() => Ok(()),
            TolerationOperator::Exists => Err(FieldError::new(["value"], "operator Exists takes no value")),
            TolerationOperator::Lt | TolerationOperator::Gt if integer(&self.value).is_some() => Ok(()),
            TolerationOperator::Lt | TolerationOperator::Gt => Err(FieldError::new(
                ["value"],
                format!(
                    "{:?} is not a decimal integer of 64 bits without leading zeros, as Lt and Gt need",
                    self.value
                ),
            )),
        }
    }

    /// Whether it lets pods stand the taint: the effect is the same or absent, the key is the same or absent, and the
    /// value compares. `tolerationSeconds` does not count here: for how long is another question than whether.
    #[must_use]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let numbers = || integer(&taint.value).zip(integer(&self.value));
        self.effect.is_none_or(|effect| effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && match self.operator {
                TolerationOperator::Equal => self.value == taint.value,
                TolerationOperator::Exists => true,
                TolerationOperator::Lt => numbers().is_some_and(|(taint, bound)| taint < bound),
                TolerationOperator::Gt => numbers().is_some_and(|(taint, bound)| taint > bound),
            }
    }
}

/// The first taint that keeps pods with these tolerations away (`NoSchedule` or `NoExecute`).
#[must_use]
pub fn first_untolerated<'a>(
    taints: impl IntoIterator<Item = &'a Taint>,
    tolerations: &[Toleration],
) -> Option<&'a Taint> {
    taints
        .into_iter()
        .filter(|taint| taint.effect.forbids_scheduling())
        .find(|taint| !tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}

fn check_key(key: &str) -> Result<(), FieldError> {
    check(NameRule::QualifiedName, key)
        .map_err(|expected| FieldError::new(["key"], format!("{key:?} is not a valid taint key: expected {expected}")))
}

fn check_value(value: &str) -> Result<(), FieldError> {
    check(NameRule::LabelValue, value)
        .map_err(|expected| FieldError::new(["value"], format!("{value:?} is not a valid value: expected {expected}")))
}

/// Kubernetes' `IsDecimalInteger`: no `+`, no leading zeros, no `-0`.
fn integer(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taint(text: &str) -> Taint {
        let (key_value, effect) = text.split_once(':').unwrap();
        let (key, value) = key_value.split_once('=').unwrap_or((key_value, ""));
        let effect = serde_json::from_value(effect.into()).unwrap();
        Taint { key: key.into(), value: value.into(), effect }
    }

    fn toleration(json: &str) -> Toleration {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn tolerates_as_kubernetes_does() {
        let rows = [
            // Effects must be the same, or the toleration's absent (taint-01).
            (r#"{"key": "maint", "operator": "Exists", "effect": "NoSchedule"}"#, "maint:NoExecute", false),
            (r#"{"key": "maint", "operator": "Exists"}"#, "maint:NoExecute", true),
            (r#"{"key": "maint", "operator": "Exists", "effect": ""}"#, "maint:NoExecute", true),
            (
                r#"{"key": "maint", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}"#,
                "maint:NoExecute",
                true,
            ),
            (r#"{"operator": "Exists"}"#, "anything=x:NoSchedule", true),
            (r#"{"operator": "Exists", "effect": "NoSchedule"}"#, "x:NoExecute", false),
            (r#"{"key": "gpu", "value": "v100"}"#, "gpu=v100:NoSchedule", true),
            (r#"{"key": "gpu", "operator": "", "value": "v100"}"#, "gpu=v100:NoSchedule", true),
            (r#"{"key": "gpu", "operator": "Equal", "value": "t4"}"#, "gpu=v100:NoSchedule", false),
            (r#"{"key": "gpu", "operator": "Equal"}"#, "gpu=v100:NoSchedule", false),
            (r#"{"key": "gpu", "operator": "Equal"}"#, "gpu:NoSchedule", true),
            (r#"{"key": "gpu", "operator": "Exists"}"#, "gpus:NoSchedule", false),
            (r#"{"key": "n", "operator": "Gt", "value": "4"}"#, "n=5:NoSchedule", true),
            (r#"{"key": "n", "operator": "Gt", "value": "4"}"#, "n=4:NoSchedule", false),
            (r#"{"key": "n", "operator": "Lt", "value": "4"}"#, "n=-3:NoSchedule", true),
            (r#"{"key": "n", "operator": "Lt", "value": "4"}"#, "n=03:NoSchedule", false),
            (r#"{"key": "n", "operator": "Lt", "value": "4"}"#, "n:NoSchedule", false),
        ];
        for (json, tainted, tolerated) in rows {
            assert_eq!(toleration(json).tolerates(&taint(tainted)), tolerated, "{json} {tainted}");
        }
    }

    #[test]
    fn refuses_what_kubernetes_refuses() {
        let rows = [
            (r#"{"operator": "Exists"}"#, None),
            (r#"{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1}"#, None),
            (r#"{"key": "a", "operator": "Gt", "value": "-5"}"#, None),
            (
                r#"{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 0}"#,
                Some("/tolerationSeconds"),
            ),
            (r#"{"key": "a", "operator": "Exists", "tolerationSeconds": 60}"#, Some("/tolerationSeconds")),
            (r#"{"key": "a", "operator": "Exists", "value": "x"}"#, Some("/value")),
            (r#"{"operator": "Equal", "value": "x"}"#, Some("/operator")),
            ("{}", Some("/operator")),
            (r#"{"key": "not a key", "operator": "Exists"}"#, Some("/key")),
            (r#"{"key": "a", "value": "not a value"}"#, Some("/value")),
            (r#"{"key": "a", "operator": "Gt", "value": "05"}"#, Some("/value")),
            (r#"{"key": "a", "operator": "Lt", "value": "9223372036854775808"}"#, Some("/value")),
        ];
        for (json, wrong) in rows {
            let error = toleration(json).validate().err();
            assert_eq!(error.as_ref().map(FieldError::pointer).as_deref(), wrong, "{json}: {error:?}");
        }
        for json in [r#"{"effect": "noschedule"}"#, r#"{"operator": "exists"}"#, r#"{"seconds": 1}"#] {
            assert!(serde_json::from_str::<Toleration>(json).is_err(), "{json}");
        }
        assert_eq!(taint("a b:NoSchedule").validate().unwrap_err().pointer(), "/key");
        assert_eq!(taint("a=b c:NoSchedule").validate().unwrap_err().pointer(), "/value");
        assert_eq!(taint("example.com/a=b:NoSchedule").validate(), Ok(()));
    }

    #[test]
    fn finds_the_first_taint_that_keeps_pods_away() {
        let taints = ["soft:PreferNoSchedule", "gpu=v100:NoSchedule", "maint:NoExecute"].map(taint);
        let rows: [(&[&str], Option<&str>); 3] = [
            (&[], Some("gpu=v100:NoSchedule")),
            (&[r#"{"key": "gpu", "operator": "Exists"}"#], Some("maint:NoExecute")),
            (&[r#"{"key": "gpu", "operator": "Exists"}"#, r#"{"operator": "Exists", "effect": "NoExecute"}"#], None),
        ];
        for (tolerations, found) in rows {
            let tolerations: Vec<_> = tolerations.iter().map(|json| toleration(json)).collect();
            assert_eq!(first_untolerated(&taints, &tolerations).map(ToString::to_string).as_deref(), found);
        }
    }

    #[test]
    fn is_written_as_it_is_read() {
        let json = r#"{"key":"gpu","operator":"Equal","value":"v100","effect":"NoExecute","tolerationSeconds":60}"#;
        assert_eq!(serde_json::to_string(&toleration(json)).unwrap(), json);
        assert_eq!(serde_json::to_string(&toleration(r#"{"operator":"Exists"}"#)).unwrap(), r#"{"operator":"Exists"}"#);
    }
}
