//! Resource quantities as Kubernetes reads and writes them (`k8s.io/apimachinery/pkg/api/resource`, 1.36): fixed point,
//! never floating point.
//!
//! Invariants: a value is `mantissa x 10^exponent` with no trailing zero in the mantissa and an exponent of -9 or more,
//! so that equal values have equal parts; finer fractions are rounded away from zero to nano, as Kubernetes does.
//! The form it was written in (family of suffixes, and for some the text) matters to [`Quantity::canonical`] only.
//! The text is read and written in `text`; `int64` tells what Kubernetes computes; what is booked are [`amount`]s, and
//! `plain` is how people read those.

mod int64;
mod plain;
mod text;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use smol_str::SmolStr;
use thiserror::Error;

pub use plain::{amount_at_least, plain_amount, plain_pair};

/// The finest fraction kept: 10^-9.
const NANO: i32 = -9;

/// An amount of a resource: `500m`, `1.5`, `2Gi`, `1e3`. Equality, order and hash are those of the value: `1` is `1000m`.
#[derive(Clone)]
pub struct Quantity {
    mantissa: i128,
    exponent: i32,
    family: Family,
    /// The text, where Kubernetes gives it back as it was written although it would compute another.
    kept: Option<SmolStr>,
    /// Whether its text says more than it holds: with a binary suffix Kubernetes reads what is beyond `int64` as its bound.
    capped: bool,
    /// The power of ten of the `int64` that Kubernetes holds it as; `None` where it needs a decimal of any length.
    short_exponent: Option<i32>,
}

/// The family of suffixes it was written with; it is written with the same again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    /// `n u m k M G T P E`, or none.
    DecimalSi,
    /// `e3`, `E3`.
    DecimalExponent,
    /// `Ki Mi Gi Ti Pi Ei`.
    BinarySi,
}

/// Why a text is no quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum QuantityError {
    /// It does not begin as a number.
    #[error("expected a number and an optional suffix, like 500m, 1.5, 2Gi or 1e3")]
    NotANumber,
    /// A number, then something that is no suffix.
    #[error(
        "unknown suffix: expected one of n u m k M G T P E (powers of 1000), Ki Mi Gi Ti Pi Ei (powers of 1024), \
         an exponent like e3, or none"
    )]
    UnknownSuffix,
    /// More digits than are kept exactly. (Kubernetes keeps any number of them.)
    #[error("expected at most 38 significant digits")]
    TooManyDigits,
    /// Whole units beyond `int64`. (Kubernetes reads them and then computes with wrong numbers.)
    #[error("expected at most 2^63-1 (9223372036854775807, 8Ei less one): Kubernetes cannot count further")]
    OutOfRange,
    /// Thousandths of a CPU beyond `int64`: that is how Kubernetes counts those.
    #[error("expected at most 2^63-1 thousandths of a CPU (9223372036854775807m): Kubernetes cannot count further")]
    CpuOutOfRange,
}

impl Quantity {
    /// `mantissa x 10^exponent`, brought to the form that the invariants ask for. `exponent` is not below [`NANO`].
    fn new(mut mantissa: i128, mut exponent: i32, family: Family) -> Self {
        if mantissa == 0 {
            exponent = 0;
        }
        while mantissa != 0 && mantissa % 10 == 0 && exponent < i32::MAX {
            mantissa /= 10;
            exponent += 1;
        }
        Self { mantissa, exponent, family, kept: None, capped: false, short_exponent: None }
    }

    /// The number of whole units, rounded away from zero; beyond `i128` its nearest bound.
    #[must_use]
    pub fn value(&self) -> i128 {
        self.in_units_of(0)
    }

    /// The number of thousandths, rounded away from zero; beyond `i128` its nearest bound.
    #[must_use]
    pub fn milli_value(&self) -> i128 {
        self.in_units_of(-3)
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.mantissa < 0
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// Whether it is a whole number of units, as `pods`, GPUs and the like must be.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// Itself, if the whole units that were written fit `int64`. All that users write is held to this, or to [`counted`] where
    /// it is known what of: Kubernetes would read on and count something else.
    ///
    /// # Errors
    /// [`QuantityError::OutOfRange`] otherwise.
    pub fn in_range(self) -> Result<Self, QuantityError> {
        if !self.capped && i64::try_from(self.value()).is_ok() { Ok(self) } else { Err(QuantityError::OutOfRange) }
    }

    /// The sum, written in the suffixes of the first unless that is zero, as Kubernetes does. `None` if it has more
    /// digits than are kept.
    #[must_use]
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let mantissa = self.mantissa_at(exponent)?.checked_add(other.mantissa_at(exponent)?)?;
        Some(Self::new(mantissa, exponent, if self.is_zero() { other.family } else { self.family }))
    }

    /// The mantissa that goes with a smaller exponent.
    fn mantissa_at(&self, exponent: i32) -> Option<i128> {
        if self.mantissa == 0 {
            return Some(0);
        }
        let shift = u32::try_from(i64::from(self.exponent) - i64::from(exponent)).ok()?;
        self.mantissa.checked_mul(10_i128.checked_pow(shift)?)
    }

    fn in_units_of(&self, exponent: i32) -> i128 {
        let bound = if self.is_negative() { i128::MIN } else { i128::MAX };
        if self.exponent >= exponent {
            return self.mantissa_at(exponent).unwrap_or(bound);
        }
        // At most 10^9: a mantissa's exponent is not below nano.
        let divisor =
            u32::try_from(i64::from(exponent) - i64::from(self.exponent)).ok().and_then(|n| 10_i128.checked_pow(n));
        match divisor {
            Some(divisor) => self.mantissa / divisor + (self.mantissa % divisor).signum(),
            None => self.mantissa.signum(),
        }
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.mantissa.signum().cmp(&other.mantissa.signum());
        if by_sign.is_ne() || self.mantissa == 0 {
            return by_sign;
        }
        let exponent = self.exponent.min(other.exponent);
        match (self.mantissa_at(exponent), other.mantissa_at(exponent)) {
            (Some(mine), Some(theirs)) => mine.cmp(&theirs),
            // One is beyond what the other's digits can express: the larger exponent is the larger magnitude.
            _ if self.is_negative() => other.exponent.cmp(&self.exponent),
            _ => self.exponent.cmp(&other.exponent),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        (self.mantissa, self.exponent) == (other.mantissa, other.exponent)
    }
}

impl Eq for Quantity {}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.mantissa, self.exponent).hash(state);
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.canonical())
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.canonical())
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.canonical())
    }
}

/// From a string, white space around it ignored, or from a number (`cpu: 1`), as the API server does. Only what is
/// [`in_range`](Quantity::in_range).
impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct QuantityVisitor;

        impl QuantityVisitor {
            fn read<E: de::Error>(text: &str) -> Result<Quantity, E> {
                Quantity::from_str(text.trim())
                    .and_then(Quantity::in_range)
                    .map_err(|error| E::custom(refusal(text, error)))
            }
        }

        impl Visitor<'_> for QuantityVisitor {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity like 500m, 1.5, 2Gi or 1e3")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                Self::read(text)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
                Self::read(&number.to_string())
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity, E> {
                Self::read(&number.to_string())
            }
            /// The reader has made a float of `0.1`; its shortest decimal text is what was written.
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quantity, E> {
                Self::read(&number.to_string())
            }
        }

        deserializer.deserialize_any(QuantityVisitor)
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An amount of a resource: a number and an optional suffix, like 500m, 1.5, 2Gi or 1e3.",
            "anyOf": [
                {
                    "type": "string",
                    "pattern": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$",
                },
                { "type": "number", "minimum": -i64::MAX, "maximum": i64::MAX },
            ],
        })
    }
}

/// The amount in the unit in which [`Resources`](super::Resources) counts that resource: `cpu` in milli, all others in
/// whole units, rounded away from zero and clamped to `int64`. Quota names count like the resource they limit
/// (`requests.cpu`).
#[must_use]
pub fn amount(resource: &str, quantity: &Quantity) -> i128 {
    let exact = if counts_in_milli(resource) { quantity.milli_value() } else { quantity.value() };
    exact.clamp(i128::from(i64::MIN), i128::from(i64::MAX))
}

/// The [`amount`] of what was written, exactly.
///
/// # Errors
/// When Kubernetes does not count so far.
pub fn counted(resource: &str, quantity: &Quantity) -> Result<i128, QuantityError> {
    let is_cpu = counts_in_milli(resource);
    let exact = if is_cpu { quantity.milli_value() } else { quantity.value() };
    match i64::try_from(exact) {
        Ok(fits) if !quantity.capped => Ok(fits.into()),
        _ if is_cpu => Err(QuantityError::CpuOutOfRange),
        _ => Err(QuantityError::OutOfRange),
    }
}

/// A quantity as JSON has it, if it is one of this resource. The text says what is wrong with it.
///
/// # Errors
/// When it is none, or Kubernetes does not count so far.
pub fn read_counted(resource: &str, value: &serde_json::Value) -> Result<Quantity, String> {
    let quantity = Quantity::deserialize(value).map_err(|error| error.to_string())?;
    counted(resource, &quantity).map_err(|error| refusal(&quantity.canonical(), error))?;
    Ok(quantity)
}

/// What is said of a text that is no quantity, or of one that is too much.
#[must_use]
pub fn refusal(text: &str, error: QuantityError) -> String {
    format!("invalid quantity {text:?}: {error}")
}

/// The text of an amount counted in the unit of [`amount`]: `1500m` CPU, `1536Mi` memory, `3` pods.
#[must_use]
pub fn amount_text(resource: &str, amount: i128) -> String {
    let (exponent, family) = match base_resource(resource) {
        "cpu" => (-3, Family::DecimalSi),
        "memory" | "storage" | "ephemeral-storage" => (0, Family::BinarySi),
        name if name.starts_with("hugepages-") => (0, Family::BinarySi),
        _ => return amount.to_string(),
    };
    Quantity::new(amount, exponent, family).canonical()
}

fn counts_in_milli(resource: &str) -> bool {
    base_resource(resource) == "cpu"
}

/// The resource that a quota name limits: `cpu` of `requests.cpu`, `storage` of what claims of a class ask for.
fn base_resource(resource: &str) -> &str {
    let resource = resource.split_once(".storageclass.storage.k8s.io/").map_or(resource, |(_, counted)| counted);
    resource.strip_prefix("requests.").or_else(|| resource.strip_prefix("limits.")).unwrap_or(resource)
}

#[cfg(test)]
mod tests;
