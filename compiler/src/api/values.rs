//! Scalars of the API that have more than one spelling.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{ClusterSelector, WeightRule};
use crate::base::{SmolStr, Spanned};

/// A count (`3`) or a share (`20%`, an integer percentage from 0% to 100%).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOrPercent {
    /// An absolute count.
    Int(u32),
    /// Percent, 0 to 100.
    Percent(u32),
}

impl<'de> Deserialize<'de> for IntOrPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = IntOrPercent;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count such as 3 or a share such as 20%")
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<IntOrPercent, E> {
                u32::try_from(v)
                    .map(IntOrPercent::Int)
                    .map_err(|_| E::custom("expected a count of at most 4294967295, or a share such as 20%"))
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<IntOrPercent, E> {
                u64::try_from(v)
                    .map_err(|_| E::custom("expected a count of at least 0, or a share such as 20%"))
                    .and_then(|v| self.visit_u64(v))
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<IntOrPercent, E> {
                let digits = v.strip_suffix('%').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
                match digits.and_then(|d| d.parse::<u32>().ok()) {
                    Some(p) if p <= 100 => Ok(IntOrPercent::Percent(p)),
                    _ => Err(E::custom("expected a count such as 3 or a share from 0% to 100%")),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Percent(p) => write!(f, "{p}%"),
        }
    }
}

impl Serialize for IntOrPercent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(n) => serializer.serialize_u32(*n),
            Self::Percent(_) => serializer.collect_str(self),
        }
    }
}

impl JsonSchema for IntOrPercent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IntOrPercent".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A count (3) or a share from 0% to 100% (20%).",
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32},
                {"type": "string", "pattern": "^0*(100|[1-9]?[0-9])%$"}
            ]
        })
    }
}

/// A span of time: whole numbers with the units `h`, `m`, `s`, largest first (`90s`, `1h30m`, `24h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    /// Its length in seconds.
    pub secs: u64,
}

impl Duration {
    /// Reads `1h30m`; `None` where it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut secs: u64 = 0;
        let mut rest = text;
        let mut seen = false;
        for (unit, factor) in [('h', 3600), ('m', 60), ('s', 1)] {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits > 0 && rest[digits..].starts_with(unit) {
                let n: u64 = rest[..digits].parse().ok()?;
                secs = secs.checked_add(n.checked_mul(factor)?)?;
                rest = &rest[digits + 1..];
                seen = true;
            }
        }
        (seen && rest.is_empty()).then_some(Self { secs })
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("expected a duration such as 90s, 30m or 1h30m"))
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}s", self.secs))
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A span of time: 90s, 30m, 1h30m.",
            "type": "string",
            "pattern": "^([0-9]+h([0-9]+m)?([0-9]+s)?|[0-9]+m([0-9]+s)?|[0-9]+s)$"
        })
    }
}

/// Weight rules: a list, or in short a map of cluster names to weights (`weights: {dc-gpu: 80, us-gcp: 20}`).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Weights(pub Vec<Spanned<WeightRule>>);

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Weights;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of weight rules, or a map of cluster names to weights")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Weights, A::Error> {
                let mut rules = Vec::new();
                while let Some(rule) = seq.next_element()? {
                    rules.push(rule);
                }
                Ok(Weights(rules))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Weights, A::Error> {
                let mut rules = Vec::new();
                while let Some(name) = map.next_key::<Spanned<SmolStr>>()? {
                    let weight: Spanned<u32> = map.next_value()?;
                    let span = name.span;
                    let rule = WeightRule {
                        clusters: Some(ClusterSelector { names: Some(vec![name]), ..ClusterSelector::default() }),
                        weight,
                        min: None,
                        max: None,
                    };
                    rules.push(Spanned::new(rule, span));
                }
                Ok(Weights(rules))
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Weights {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Weights".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<WeightRule>();
        json_schema!({
            "description": "A list of weight rules, or a map of cluster names to weights.",
            "anyOf": [
                {"type": "array", "items": rule},
                {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32}}
            ]
        })
    }
}
