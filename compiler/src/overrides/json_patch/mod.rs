//! JSON patch (RFC 6902), as the API server's library does it.
//!
//! It differs from the RFC, and so does this: an index may be negative (`-1` is the last item; for `add` the place behind
//! it) or have a sign or leading zeros; `replace` of a key that is not there adds it; `copy` of one adds `null`; `test`
//! for `null` holds when the key is not there; a missing `value` is `null`; only `replace` and `test` take the whole
//! document. Under [`Rules::Override`] what is likely a mistake is refused: `replace` and `copy` of what is not there,
//! and a missing `value`.

mod run;

use std::fmt;

use serde_json::Value;

use super::error::OpError;
use super::substitute::{self, Variables};
use crate::base::{Path, SmolStr};

pub use run::apply;

/// One step of a patch.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Adds a member or inserts an item.
    Add {
        /// Where.
        path: Path,
        /// What; `None` when the patch has no `value`.
        value: Option<Value>,
    },
    /// Takes a value away.
    Remove {
        /// Where.
        path: Path,
    },
    /// Puts a value in place of another.
    Replace {
        /// Where.
        path: Path,
        /// What; `None` when the patch has no `value`.
        value: Option<Value>,
    },
    /// Takes a value away and adds it elsewhere.
    Move {
        /// From where.
        from: Path,
        /// To where.
        path: Path,
    },
    /// Adds a value that is elsewhere too.
    Copy {
        /// From where.
        from: Path,
        /// To where.
        path: Path,
    },
    /// Goes on only when the value is equal.
    Test {
        /// Where.
        path: Path,
        /// What; `None` when the patch has no `value`.
        value: Option<Value>,
    },
}

/// How strict [`apply`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// As the API server.
    ApiServer,
    /// As overrides are: a place that does not exist is a mistake.
    Override,
}

/// A step that cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("jsonPatch[{index}] {op} {path}: {reason}")]
pub struct StepError {
    /// Which step, from 0.
    pub index: usize,
    /// Its `op` as written.
    pub op: SmolStr,
    /// Its `path` as written.
    pub path: SmolStr,
    /// Why.
    pub reason: Box<Reason>,
}

/// Why a step cannot be taken, or is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The step is no map.
    NotAMap,
    /// There is no such `op`.
    UnknownOp,
    /// A field is absent or no string.
    NoField(&'static str),
    /// `path` or `from` is no JSON pointer.
    BadPointer(&'static str, crate::base::PathError),
    /// The step cannot be about the whole document.
    WholeDocument,
    /// A map on the way, or at the end of it, has no such key.
    NoKey {
        /// The map.
        at: Path,
        /// The key.
        key: SmolStr,
        /// A key with almost that name.
        nearest: Option<SmolStr>,
    },
    /// A list has no such item.
    NoItem {
        /// The list.
        at: Path,
        /// How many items it has.
        len: usize,
    },
    /// What is neither map nor list has nothing inside.
    Scalar {
        /// It.
        at: Path,
    },
    /// A `test` found another value.
    TestFailed,
    /// The document would be neither map nor list.
    NotADocument,
    /// The document would be nested deeper than any manifest is.
    TooDeep,
    /// The steps copy more than the API server lets a patch copy.
    TooMuchCopied,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAMap => f.write_str("a step is a map with op and path"),
            Self::UnknownOp => f.write_str("op must be one of add, remove, replace, move, copy, test"),
            Self::NoField(field) => write!(f, "it needs {field}"),
            Self::BadPointer(field, error) => write!(f, "{field}: {error}"),
            Self::WholeDocument => f.write_str("the pointer is empty; only replace and test take the whole object"),
            Self::NoKey { at, key, nearest } => {
                write!(f, "{} has no key {key}{}", at.dotted(), super::error::did_you_mean(nearest.as_ref()))
            }
            Self::NoItem { at, len } => write!(f, "{} is a list of {len}, items are counted from 0", at.dotted()),
            Self::Scalar { at } => write!(f, "{} is neither map nor list", at.dotted()),
            Self::TestFailed => f.write_str("the value is another one"),
            Self::NotADocument => f.write_str("the whole object must stay a map"),
            Self::TooDeep => f.write_str("the object would be nested too deep"),
            Self::TooMuchCopied => f.write_str("the steps copy more than 3 MiB together"),
        }
    }
}

/// Reads the steps of a patch. Fields that a step does not need are ignored, as the API server does.
///
/// # Errors
/// The first step that is none.
pub fn parse(steps: &[Value]) -> Result<Vec<Step>, StepError> {
    steps.iter().enumerate().map(|(index, step)| parse_step(index, step)).collect()
}

fn parse_step(index: usize, step: &Value) -> Result<Step, StepError> {
    let text = |field: &str| step.get(field).and_then(Value::as_str);
    let op = text("op").unwrap_or_default();
    let fail = |reason| {
        let path = text("path").unwrap_or_default().into();
        StepError { index, op: op.into(), path, reason: Box::new(reason) }
    };
    if !step.is_object() {
        return Err(fail(Reason::NotAMap));
    }
    let pointer = |field: &'static str| {
        let pointer = text(field).ok_or_else(|| fail(Reason::NoField(field)))?;
        Path::parse(pointer).map_err(|error| fail(Reason::BadPointer(field, error)))
    };
    let value = || step.get("value").cloned();
    Ok(match op {
        "add" => Step::Add { path: pointer("path")?, value: value() },
        "remove" => Step::Remove { path: pointer("path")? },
        "replace" => Step::Replace { path: pointer("path")?, value: value() },
        "move" => Step::Move { from: pointer("from")?, path: pointer("path")? },
        "copy" => Step::Copy { from: pointer("from")?, path: pointer("path")? },
        "test" => Step::Test { path: pointer("path")?, value: value() },
        _ => return Err(fail(Reason::UnknownOp)),
    })
}

impl Step {
    /// Its value, if it has one.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } | Self::Test { value, .. } => value.as_ref(),
            Self::Remove { .. } | Self::Move { .. } | Self::Copy { .. } => None,
        }
    }

    fn op(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Remove { .. } => "remove",
            Self::Replace { .. } => "replace",
            Self::Move { .. } => "move",
            Self::Copy { .. } => "copy",
            Self::Test { .. } => "test",
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Add { path, .. }
            | Self::Remove { path }
            | Self::Replace { path, .. }
            | Self::Move { path, .. }
            | Self::Copy { path, .. }
            | Self::Test { path, .. } => path,
        }
    }
}

/// The steps with the variables in their values replaced.
pub(super) fn substituted(steps: &[Step], vars: &Variables) -> Result<Vec<Step>, OpError> {
    let mut steps = steps.to_vec();
    for step in &mut steps {
        if let Step::Add { value: Some(value), .. }
        | Step::Replace { value: Some(value), .. }
        | Step::Test { value: Some(value), .. } = step
        {
            *value = substitute::in_value(value, vars)?;
        }
    }
    Ok(steps)
}
