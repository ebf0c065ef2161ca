//! Following a path into a value, strictly: every step must exist.

use serde_json::Value;

use super::error::{Missing, MissingAt, OpError};
use crate::base::name::nearest;
use crate::base::{Path, Seg, SmolStr};
use crate::kinds::native::JsonType;

/// Deeper than any manifest or patch the reader lets through.
pub(super) const DEPTH_LIMIT: usize = 200;

/// The value at the steps `segs`; `pointer` is the whole path for the message.
pub(super) fn find_mut<'v>(mut value: &'v mut Value, segs: &[Seg], pointer: &Path) -> Result<&'v mut Value, OpError> {
    for (done, seg) in segs.iter().enumerate() {
        // Looked up twice: a failed look-up through `&mut` would keep the value borrowed.
        if child(value, seg).is_none() {
            return Err(missing(value, segs.get(..done).unwrap_or_default(), seg, pointer));
        }
        value = match value {
            Value::Object(map) => map.get_mut(seg.as_key().as_str()),
            Value::Array(items) => match seg {
                Seg::Index(index) => items.get_mut(*index),
                Seg::Key(_) => None,
            },
            _ => None,
        }
        .ok_or_else(|| {
            let exists = Path(segs.get(..done).unwrap_or_default().to_vec());
            let at = MissingAt::Map { nearest: None };
            OpError::NoSuchPath(Box::new(Missing { pointer: pointer.clone(), exists, step: seg.as_key(), at }))
        })?;
    }
    Ok(value)
}

/// How deep maps and lists nest in a value: 0 for a scalar.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The value one step further.
pub(super) fn child<'v>(value: &'v Value, seg: &Seg) -> Option<&'v Value> {
    match (value, seg) {
        (Value::Object(map), seg) => map.get(seg.as_key().as_str()),
        (Value::Array(items), Seg::Index(index)) => items.get(*index),
        _ => None,
    }
}

/// The error for a step that cannot be taken from `value`, which is at `exists`.
pub(super) fn missing(value: &Value, exists: &[Seg], seg: &Seg, pointer: &Path) -> OpError {
    let step = seg.as_key();
    let at = match value {
        Value::Object(map) => {
            MissingAt::Map { nearest: nearest(&step, map.keys().map(String::as_str)).map(SmolStr::from) }
        }
        Value::Array(items) => MissingAt::List { len: items.len() },
        other => MissingAt::Scalar(JsonType::of(other)),
    };
    OpError::NoSuchPath(Box::new(Missing { pointer: pointer.clone(), exists: Path(exists.to_vec()), step, at }))
}
