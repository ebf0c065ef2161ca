//! Running the steps of a JSON patch.

use serde_json::Value;

use super::super::pointer::{DEPTH_LIMIT, child, depth};
use super::{Reason, Rules, Step, StepError};
use crate::base::name::nearest;
use crate::base::{Path, Seg, SmolStr};

/// All that the copies of one patch may add up to. Source: `JSONPatchMaxCopyBytes` of the API server.
const COPY_LIMIT_BYTES: usize = 3 * 1024 * 1024;

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
