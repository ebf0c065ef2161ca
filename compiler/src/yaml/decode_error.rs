//! What is wrong with a value of the wrong shape.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::resolve::{Scalar, kubernetes};
use crate::base::Span;

/// A mistake in a typed value and its place. `Display` says what is wrong, [`DecodeError::hint`] how to fix it; neither
/// holds a number or a text of the value itself, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where, in bytes of the file: the key for an unknown field, the value for a wrong one, for a missing field the key
    /// above it (at the root and in a list, the first key beside it).
    pub span: Span,
    /// What.
    pub kind: DecodeErrorKind,
    place: Placed,
    written: Option<String>,
}

/// How sure the place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    No,
    /// The mapping itself; the key above it is better.
    Mapping,
    Yes,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// A key that the type does not have.
    UnknownField { name: String, expected: &'static [&'static str] },
    /// A key that the type needs.
    MissingField { name: &'static str },
    /// Text that is none of the names the type knows.
    UnknownVariant { name: String, expected: &'static [&'static str] },
    /// Another type than expected.
    WrongType { expected: String, found: Found },
    /// The right type and a value out of its range.
    OutOfRange { expected: String, found: Found },
    /// A list of the wrong length.
    Length { expected: String, found: usize },
    /// A rule of the type, in its own words.
    Custom(String),
}

/// The type that was found, as its writer would call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing, or `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer,
    /// A number that is not an integer.
    Number,
    /// Text that would be a number or a boolean without its quotes.
    QuotedScalar,
    /// Other text.
    Text,
    /// A sequence.
    List,
    /// A mapping.
    Mapping,
    /// Something else of serde's data model.
    Other,
}

impl DecodeError {
    pub(super) fn new(kind: DecodeErrorKind) -> Self {
        Self { span: Span::default(), kind, place: Placed::No, written: None }
    }

    /// The place, unless something further inside has one.
    pub(super) fn or_at(mut self, span: Span) -> Self {
        if self.place == Placed::No {
            self.span = span;
            self.place =
                if matches!(self.kind, DecodeErrorKind::MissingField { .. }) { Placed::Mapping } else { Placed::Yes };
        }
        self
    }

    /// The key above the mapping that lacks a field.
    pub(super) fn below(mut self, key: Span) -> Self {
        if self.place != Placed::Yes {
            self.span = key;
            self.place = Placed::Yes;
        }
        self
    }

    /// The same error, with how the value is written in the text (`yes`, `0644`) where that is shorter than a line and
    /// differs from what was found. Not for places that may hold secrets.
    #[must_use]
    pub fn with_source(mut self, text: &str) -> Self {
        let (DecodeErrorKind::WrongType { found, .. } | DecodeErrorKind::OutOfRange { found, .. }) = &self.kind else {
            return self;
        };
        let written = text.get(self.span.range()).unwrap_or_default();
        let plain = match found {
            Found::Bool(value) => written != if *value { "true" } else { "false" },
            Found::Integer | Found::Number => true,
            _ => false,
        };
        if plain && !written.is_empty() && written.len() <= 40 && !written.contains('\n') {
            self.written = Some(written.to_owned());
        }
        self
    }

    /// How to fix it, where that can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.kind {
            DecodeErrorKind::UnknownField { name, expected } => Some(names(name, expected, "fields")),
            DecodeErrorKind::UnknownVariant { name, expected } => Some(names(name, expected, "values")),
            DecodeErrorKind::MissingField { name } => Some(format!("add `{name}:`")),
            DecodeErrorKind::WrongType { expected, found } => match found {
                Found::Bool(_) | Found::Integer | Found::Number if expected == "a string" => {
                    Some("quote it".to_owned())
                }
                Found::QuotedScalar if expected != "a string" => Some("write it without quotes".to_owned()),
                Found::Null => Some("give a value, or remove the key".to_owned()),
                Found::List | Found::Mapping | Found::Text | Found::Other => None,
                Found::Bool(_) | Found::Integer | Found::Number | Found::QuotedScalar => None,
            },
            DecodeErrorKind::OutOfRange { .. } | DecodeErrorKind::Length { .. } | DecodeErrorKind::Custom(_) => None,
        }
    }
}

/// The nearest name, or all of them.
fn names(name: &str, expected: &[&str], what: &str) -> String {
    let close = expected.iter().find(|candidate| candidate.eq_ignore_ascii_case(name));
    match (close, expected) {
        (Some(close), _) => format!("write `{close}`: names are case-sensitive"),
        (None, []) => format!("no {what} are expected here"),
        (None, _) => format!("expected {what}: {}", expected.join(", ")),
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            DecodeErrorKind::UnknownField { name, .. } => write!(f, "unknown field `{name}`"),
            DecodeErrorKind::MissingField { name } => write!(f, "missing field `{name}`"),
            DecodeErrorKind::UnknownVariant { name, .. } => write!(f, "unknown value `{name}`"),
            DecodeErrorKind::WrongType { expected, found } => {
                write!(f, "expected {expected}, found {found}")?;
                self.spelling(f)
            }
            DecodeErrorKind::OutOfRange { expected, found } => {
                write!(f, "expected {expected}, found {found} outside of that")?;
                self.spelling(f)
            }
            DecodeErrorKind::Length { expected, found } => write!(f, "expected {expected}, found {found} elements"),
            DecodeErrorKind::Custom(message) => f.write_str(message),
        }
    }
}

impl DecodeError {
    fn spelling(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Some(written) => write!(f, " (written `{written}`)"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "nothing (null)",
            Self::Bool(true) => "the boolean true",
            Self::Bool(false) => "the boolean false",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::QuotedScalar | Self::Text => "a string",
            Self::List => "a list",
            Self::Mapping => "a mapping",
            Self::Other => "something else",
        })
    }
}

impl From<Unexpected<'_>> for Found {
    fn from(found: Unexpected<'_>) -> Self {
        match found {
            Unexpected::Bool(value) => Self::Bool(value),
            Unexpected::Unsigned(_) | Unexpected::Signed(_) => Self::Integer,
            Unexpected::Float(_) => Self::Number,
            Unexpected::Str(text) if !matches!(kubernetes(text), Scalar::Text | Scalar::Null) => Self::QuotedScalar,
            Unexpected::Str(_) | Unexpected::Char(_) => Self::Text,
            Unexpected::Unit | Unexpected::Option => Self::Null,
            Unexpected::Seq => Self::List,
            Unexpected::Map => Self::Mapping,
            _ => Self::Other,
        }
    }
}

/// serde's words for what a type expects, in a user's words.
fn expectation(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    let range = |low: i128, high: i128| format!("an integer from {low} to {high}");
    match words.as_str() {
        "u8" => range(0, u8::MAX.into()),
        "u16" => range(0, u16::MAX.into()),
        "u32" => range(0, u32::MAX.into()),
        "u64" | "usize" => range(0, u64::MAX.into()),
        "i8" => range(i8::MIN.into(), i8::MAX.into()),
        "i16" => range(i16::MIN.into(), i16::MAX.into()),
        "i32" => range(i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => range(i64::MIN.into(), i64::MAX.into()),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a mapping".to_owned(),
        "unit" => "nothing (null)".to_owned(),
        words
            if words.starts_with("struct ")
                || words.starts_with("variant ")
                || words.starts_with("internally tagged") =>
        {
            "a mapping".to_owned()
        }
        words if words.starts_with("tuple ") => match words.rsplit_once(" with ") {
            Some((_, elements)) => format!("a list of {elements}"),
            None => "a list".to_owned(),
        },
        words if words.starts_with("enum ") => "one of its names, or a mapping with one key".to_owned(),
        _ => words,
    }
}

impl std::error::Error for DecodeError {}

impl Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(DecodeErrorKind::Custom(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(DecodeErrorKind::WrongType { expected: expectation(expected), found: found.into() })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(DecodeErrorKind::OutOfRange { expected: expectation(expected), found: found.into() })
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        Self::new(DecodeErrorKind::Length { expected: expectation(expected), found })
    }

    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> Self {
        Self::new(DecodeErrorKind::UnknownVariant { name: name.to_owned(), expected })
    }

    fn unknown_field(name: &str, expected: &'static [&'static str]) -> Self {
        Self::new(DecodeErrorKind::UnknownField { name: name.to_owned(), expected })
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(DecodeErrorKind::MissingField { name })
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(DecodeErrorKind::Custom(format!("the field `{name}` is set twice")))
    }
}
