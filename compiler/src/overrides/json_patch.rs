//! JSON patch (RFC 6902), as the API server's library does it.
//!
//! It differs from the RFC, and so does this: an index may be negative (`-1` is the last item; for `add` the place behind
//! it) or have a sign or leading zeros; `replace` of a key that is not there adds it; `copy` of one adds `null`; `test`
//! for `null` holds when the key is not there; a missing `value` is `null`; only `replace` and `test` take the whole
//! document. Under [`Rules::Override`] what is likely a mistake is refused: `replace` and `copy` of what is not there,
//! and a missing `value`.

use std::fmt;

use serde_json::Value;

use super::error::OpError;
use super::pointer::{DEPTH_LIMIT, child, depth};
use super::substitute::{self, Variables};
use crate::base::{Path, Seg, SmolStr};
use crate::kinds::native::nearest;

/// All that the copies of one patch may add up to. Source: `JSONPatchMaxCopyBytes` of the API server.
const COPY_LIMIT_BYTES: usize = 3 * 1024 * 1024;

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

/// Runs all steps in order.
///
/// # Errors
/// At the first step that cannot be taken; the document is then half changed and must not be used.
pub fn apply(document: &mut Value, steps: &[Step], rules: Rules) -> Result<(), StepError> {
    let mut copied_bytes = 0;
    for (index, step) in steps.iter().enumerate() {
        run(document, step, rules, &mut copied_bytes).map_err(|reason| {
            let path = smol_str::format_smolstr!("{}", step.path());
            StepError { index, op: step.op().into(), path, reason: Box::new(reason) }
        })?;
    }
    Ok(())
}

fn run(document: &mut Value, step: &Step, rules: Rules, copied_bytes: &mut usize) -> Result<(), Reason> {
    let needed = |value: &Option<Value>| match (value, rules) {
        (Some(value), _) => Ok(value.clone()),
        (None, Rules::ApiServer) => Ok(Value::Null),
        (None, Rules::Override) => Err(Reason::NoField("value")),
    };
    match step {
        Step::Add { path, value } => add(document, path, needed(value)?),
        Step::Remove { path } => take(document, path).map(drop),
        Step::Replace { path, value } => replace(document, path, needed(value)?, rules),
        Step::Move { from, path } => {
            let value = take(document, from)?;
            add(document, path, value)
        }
        Step::Copy { from, path } => {
            let value = match (get(document, from)?, rules) {
                (Some(value), _) => value.clone(),
                (None, Rules::ApiServer) => Value::Null,
                (None, Rules::Override) => return Err(no_key_at(document, from)),
            };
            *copied_bytes = copied_bytes.saturating_add(size(&value));
            if *copied_bytes > COPY_LIMIT_BYTES {
                return Err(Reason::TooMuchCopied);
            }
            add(document, path, value)
        }
        Step::Test { path, value } => {
            let expected = value.as_ref().ok_or(Reason::NoField("value"))?;
            let found = if path.is_root() { Some(&*document) } else { get(document, path)? };
            if found.unwrap_or(&Value::Null) == expected { Ok(()) } else { Err(Reason::TestFailed) }
        }
    }
}

fn add(document: &mut Value, path: &Path, value: Value) -> Result<(), Reason> {
    let (last, parent) = path.split_last().ok_or(Reason::WholeDocument)?;
    check_depth(path, &value)?;
    match container(document, parent)? {
        Value::Object(map) => {
            map.insert(last.as_key().into(), value);
        }
        Value::Array(items) => {
            let behind = items.len();
            let at = if *last == Seg::Key("-".into()) { Some(behind) } else { index(last, behind + 1) };
            let at = at.ok_or_else(|| Reason::NoItem { at: Path(parent.to_vec()), len: behind })?;
            items.insert(at, value);
        }
        _ => return Err(Reason::Scalar { at: Path(parent.to_vec()) }),
    }
    Ok(())
}

fn take(document: &mut Value, path: &Path) -> Result<Value, Reason> {
    let (last, parent) = path.split_last().ok_or(Reason::WholeDocument)?;
    let container = container(document, parent)?;
    match &mut *container {
        Value::Object(map) => map.shift_remove(last.as_key().as_str()),
        Value::Array(items) => index(last, items.len()).map(|at| items.remove(at)),
        _ => None,
    }
    .ok_or_else(|| not_there(container, parent, last))
}

fn replace(document: &mut Value, path: &Path, value: Value, rules: Rules) -> Result<(), Reason> {
    let Some((last, parent)) = path.split_last() else {
        if !value.is_object() && !value.is_array() {
            return Err(Reason::NotADocument);
        }
        *document = value;
        return Ok(());
    };
    check_depth(path, &value)?;
    let container = container(document, parent)?;
    match (&mut *container, rules) {
        (Value::Object(map), Rules::ApiServer) => {
            map.insert(last.as_key().into(), value);
            return Ok(());
        }
        (Value::Object(map), Rules::Override) => {
            if let Some(old) = map.get_mut(last.as_key().as_str()) {
                *old = value;
                return Ok(());
            }
        }
        (Value::Array(items), _) => {
            if let Some(old) = index(last, items.len()).and_then(|at| items.get_mut(at)) {
                *old = value;
                return Ok(());
            }
        }
        _ => {}
    }
    Err(not_there(container, parent, last))
}

/// Steps that copy a value into itself would nest without end.
fn check_depth(path: &Path, value: &Value) -> Result<(), Reason> {
    if path.0.len() + depth(value) > DEPTH_LIMIT { Err(Reason::TooDeep) } else { Ok(()) }
}

/// About the bytes of a value as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.iter().fold(2, |sum, (key, member)| sum + key.len() + 4 + size(member)),
        Value::Array(items) => items.iter().fold(2, |sum, item| sum + 1 + size(item)),
        Value::String(text) => text.len() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
    }
}

/// The value at a path whose parent exists; `None` when the parent is a map without that key.
fn get<'v>(document: &'v mut Value, path: &Path) -> Result<Option<&'v Value>, Reason> {
    let (last, parent) = path.split_last().ok_or(Reason::WholeDocument)?;
    match &*container(document, parent)? {
        Value::Object(map) => Ok(map.get(last.as_key().as_str())),
        list @ Value::Array(items) => match index(last, items.len()).and_then(|at| items.get(at)) {
            Some(item) => Ok(Some(item)),
            None => Err(not_there(list, parent, last)),
        },
        other => Err(not_there(other, parent, last)),
    }
}

fn no_key_at(document: &mut Value, path: &Path) -> Reason {
    let Some((last, parent)) = path.split_last() else { return Reason::WholeDocument };
    match container(document, parent) {
        Ok(container) => not_there(container, parent, last),
        Err(reason) => reason,
    }
}

/// Follows the steps to a map or list; negative indexes count from the end.
fn container<'v>(document: &'v mut Value, segs: &[Seg]) -> Result<&'v mut Value, Reason> {
    let mut value = document;
    for (done, seg) in segs.iter().enumerate() {
        let seg = match &*value {
            Value::Array(items) => index(seg, items.len()).map_or_else(|| seg.clone(), Seg::Index),
            _ => seg.clone(),
        };
        if child(value, &seg).is_none() {
            return Err(not_there(value, segs.get(..done).unwrap_or_default(), &seg));
        }
        value = match (value, &seg) {
            (Value::Object(map), seg) => map.get_mut(seg.as_key().as_str()),
            (Value::Array(items), Seg::Index(at)) => items.get_mut(*at),
            _ => None,
        }
        .ok_or(Reason::WholeDocument)?;
    }
    Ok(value)
}

/// The index that a token names in a list with `len` places.
fn index(seg: &Seg, len: usize) -> Option<usize> {
    let number = match seg {
        Seg::Index(index) => i64::try_from(*index).ok()?,
        Seg::Key(text) => text.parse::<i64>().ok()?,
    };
    let len = i64::try_from(len).ok()?;
    let from_start = if number < 0 { number.checked_add(len)? } else { number };
    usize::try_from(from_start).ok().filter(|_| from_start < len)
}

fn not_there(value: &Value, at: &[Seg], seg: &Seg) -> Reason {
    let at = Path(at.to_vec());
    match value {
        Value::Object(map) => {
            let key = seg.as_key();
            let nearest = nearest(&key, map.keys().map(String::as_str)).map(SmolStr::from);
            Reason::NoKey { at, key, nearest }
        }
        Value::Array(items) => Reason::NoItem { at, len: items.len() },
        _ => Reason::Scalar { at },
    }
}
