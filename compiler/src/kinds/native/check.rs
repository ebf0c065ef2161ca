//! Whether an object has the fields and JSON types that the API server will decode.
//!
//! Structure only: unknown fields, wrong types, missing required fields. Rules between values are the API server's.
//! `null` counts as absent, as it does for the API server. Messages never hold a value, so a Secret may be checked.

use std::fmt;

use serde_json::Value;

use super::{ListKind, NativeKind, Shape, TypeId, type_def};
use crate::base::name::nearest;
use crate::base::{Path, Seg, SmolStr};

/// Deeper than any manifest the reader lets through; what lies below is left to the API server.
const DEPTH_LIMIT: usize = 200;

/// One thing that the API server would refuse or silently drop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldProblem {
    /// Where: the value; for an unknown field the field itself; for a missing one the map it is missing from.
    pub path: Path,
    /// What.
    pub problem: Problem,
}

/// What is wrong with a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The type has no such field; the API server would drop it or refuse the object.
    UnknownField {
        /// A field of the type with almost that name.
        nearest: Option<SmolStr>,
    },
    /// The value is of another JSON type.
    WrongType {
        /// What the field holds.
        expected: &'static Shape,
        /// What was found.
        found: JsonType,
    },
    /// Bytes that are not base64.
    NotBase64,
    /// A required field is absent.
    MissingRequired {
        /// The field.
        field: SmolStr,
    },
}

/// The type of a JSON value, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonType {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any other number.
    Number,
    /// A string.
    String,
    /// A list.
    List,
    /// A map.
    Map,
}

impl JsonType {
    /// The type of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) if is_integer(value) => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Map,
        }
    }
}

/// Checks an object against the type of its kind. The problems are in document order; a missing field comes before the
/// problems inside the map it is missing from. `status` is not looked at.
#[must_use]
pub fn check_fields(kind: &NativeKind, object: &Value) -> Vec<FieldProblem> {
    let mut check = Check { at: Vec::new(), problems: Vec::new() };
    match object {
        Value::Object(_) => check.members(kind.ty, object),
        other => check.report(Problem::WrongType { expected: &Shape::Object, found: JsonType::of(other) }),
    }
    check.problems
}

/// The values that stand where a kind has quantities, with their paths. What is neither a text nor a number
/// [`check_fields`] tells; a variable, where one is to be put in, is not judged. `status` is not looked at.
#[must_use]
pub fn quantities<'v>(kind: &NativeKind, object: &'v Value) -> Vec<(Path, &'v Value)> {
    fn walk<'v>(shape: &Shape, value: &'v Value, at: &mut Vec<Seg>, found: &mut Vec<(Path, &'v Value)>) {
        let mut within = |seg: Seg, shape: &Shape, value: &'v Value| {
            at.push(seg);
            if at.len() <= DEPTH_LIMIT {
                walk(shape, value, at, found);
            }
            at.pop();
        };
        match (shape, value) {
            (Shape::Quantity, Value::String(_) | Value::Number(_)) => found.push((Path(at.clone()), value)),
            (Shape::Struct(ty), Value::Object(map)) => {
                let fields = &type_def(*ty).fields;
                for (key, value) in map {
                    let Some(field) = fields.get(key.as_str()) else { continue };
                    within(Seg::Key(key.as_str().into()), &field.shape, value);
                }
            }
            (Shape::Map(shape), Value::Object(map)) => {
                map.iter().for_each(|(key, value)| within(Seg::Key(key.as_str().into()), shape, value));
            }
            (Shape::List(shape, _), Value::Array(items)) => {
                items.iter().enumerate().for_each(|(index, value)| within(Seg::Index(index), shape, value));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&Shape::Struct(kind.ty), object, &mut Vec::new(), &mut found);
    found
}

struct Check {
    at: Vec<Seg>,
    problems: Vec<FieldProblem>,
}

impl Check {
    fn report(&mut self, problem: Problem) {
        self.problems.push(FieldProblem { path: Path(self.at.clone()), problem });
    }

    fn within(&mut self, seg: Seg, check: impl FnOnce(&mut Self)) {
        self.at.push(seg);
        check(self);
        self.at.pop();
    }

    fn members(&mut self, ty: TypeId, value: &Value) {
        let Value::Object(map) = value else { return };
        let def = type_def(ty);
        for field in &def.required {
            if map.get(field.as_str()).is_none_or(Value::is_null) {
                self.report(Problem::MissingRequired { field: field.clone() });
            }
        }
        for (key, value) in map {
            self.within(Seg::Key(key.as_str().into()), |check| match def.fields.get(key.as_str()) {
                Some(field) => check.value(&field.shape, value),
                None => {
                    let names = def.fields.keys().map(SmolStr::as_str);
                    check.report(Problem::UnknownField { nearest: nearest(key, names).map(SmolStr::from) });
                }
            });
        }
    }

    fn value(&mut self, shape: &'static Shape, value: &Value) {
        if value.is_null() || self.at.len() > DEPTH_LIMIT {
            return;
        }
        match (shape, value) {
            (Shape::Struct(ty), Value::Object(_)) => self.members(*ty, value),
            (Shape::Map(shape), Value::Object(map)) => {
                for (key, value) in map {
                    self.within(Seg::Key(key.as_str().into()), |check| check.value(shape, value));
                }
            }
            (Shape::List(shape, _), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.within(Seg::Index(index), |check| match item {
                        // An absent field is fine, an absent item is not.
                        Value::Null if !matches!(**shape, Shape::Any) => {
                            check.report(Problem::WrongType { expected: shape, found: JsonType::Null });
                        }
                        item => check.value(shape, item),
                    });
                }
            }
            (Shape::Bytes, Value::String(text)) => {
                if base64_len(text).is_none() {
                    self.report(Problem::NotBase64);
                }
            }
            (shape, value) => {
                if !scalar_fits(shape, value) {
                    self.report(Problem::WrongType { expected: shape, found: JsonType::of(value) });
                }
            }
        }
    }
}

fn scalar_fits(shape: &Shape, value: &Value) -> bool {
    match shape {
        Shape::Any => true,
        Shape::String | Shape::Time => value.is_string(),
        Shape::Boolean => value.is_boolean(),
        Shape::Integer => is_integer(value),
        Shape::Number => value.is_number(),
        Shape::Quantity => value.is_string() || value.is_number(),
        Shape::IntOrString => value.is_string() || is_integer(value),
        Shape::Object => value.is_object(),
        Shape::Bytes | Shape::Struct(_) | Shape::List(..) | Shape::Map(_) => false,
    }
}

impl Shape {
    /// Whether a value has the JSON type of this shape. What is inside a map or list is not looked at.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Bytes => value.is_string(),
            Self::Struct(_) | Self::Map(_) => value.is_object(),
            Self::List(..) => value.is_array(),
            scalar => scalar_fits(scalar, value),
        }
    }
}

/// `3.0` in YAML reaches the API server as `3`; what does not fit 64 bits is refused there.
fn is_integer(value: &Value) -> bool {
    /// Above it a float no longer names one integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.is_i64() || value.as_f64().is_some_and(|float| value.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT)
}

/// How many bytes a base64 text stands for; `None` when it is none. As the API server reads it: the standard alphabet,
/// padding required, line ends ignored.
pub(super) fn base64_len(text: &str) -> Option<usize> {
    let mut digits = 0_usize;
    let mut padding = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'\n' | b'\r' => {}
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => digits += 1,
            _ => return None,
        }
    }
    let whole = (digits.checked_add(padding)?).is_multiple_of(4);
    (whole && padding <= 2 && (padding == 0 || digits > 0)).then(|| digits / 4 * 3 + (digits % 4).saturating_sub(1))
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.dotted();
        match &self.problem {
            Problem::UnknownField { nearest: None } => write!(f, "{path}: there is no such field"),
            Problem::UnknownField { nearest: Some(name) } => {
                write!(f, "{path}: there is no such field; did you mean {name}?")
            }
            Problem::WrongType { expected, found } => {
                write!(f, "{path} must be {expected}, got {found}")?;
                match (expected, found) {
                    (Shape::String | Shape::Bytes, JsonType::Boolean | JsonType::Integer | JsonType::Number) => {
                        f.write_str("; quote it")
                    }
                    (Shape::Integer | Shape::Boolean | Shape::Number, JsonType::String) => {
                        f.write_str("; write it without quotes")
                    }
                    _ => Ok(()),
                }
            }
            Problem::NotBase64 => write!(f, "{path} must be base64"),
            Problem::MissingRequired { field } if self.path.is_root() => write!(f, "{field} is required"),
            Problem::MissingRequired { field } => write!(f, "{path}: {field} is required"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "a string",
            Self::Bytes => "base64",
            Self::Integer => "an integer",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Quantity => "a quantity such as 500m or 2Gi",
            Self::Time => "a time as a string",
            Self::IntOrString => "an integer or a string",
            Self::Object | Self::Struct(_) | Self::Map(_) => "a map",
            Self::Any => "any value",
            Self::List(items, kind) => return list_text(items, kind, f),
        })
    }
}

fn list_text(items: &Shape, kind: &ListKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(match items {
        Shape::String | Shape::Time => "a list of strings",
        Shape::Integer => "a list of integers",
        Shape::Struct(_) | Shape::Map(_) | Shape::Object => "a list of maps",
        _ => "a list",
    })?;
    match kind {
        ListKind::Map(keys) => write!(f, " with {}", keys.join(" and ")),
        ListKind::Atomic | ListKind::Set { .. } => Ok(()),
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        })
    }
}
