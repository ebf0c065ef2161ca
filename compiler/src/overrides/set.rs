//! `set` and `remove`: one value by its JSON pointer.

use serde_json::Value;

use super::error::OpError;
use super::pointer::{DEPTH_LIMIT, depth, find_mut, missing};
use crate::base::{Path, Seg};

/// Puts a value at a place whose parent exists: a key of a map, new or not; an item of a list, which it replaces; `-`
/// or the index behind the last item, which appends.
pub(super) fn set(object: &mut Value, pointer: &Path, value: Value) -> Result<(), OpError> {
    let (last, parent_segs) = pointer.split_last().ok_or(OpError::WholeObject)?;
    if pointer.0.len() + depth(&value) > DEPTH_LIMIT {
        return Err(OpError::TooDeep { path: pointer.clone() });
    }
    let parent = find_mut(object, parent_segs, pointer)?;
    match (&mut *parent, last) {
        (Value::Object(map), seg) => {
            map.insert(seg.as_key().into(), value);
        }
        (Value::Array(items), Seg::Key(key)) if key == "-" => items.push(value),
        (Value::Array(items), Seg::Index(index)) if *index == items.len() => items.push(value),
        (Value::Array(items), Seg::Index(index)) if *index < items.len() => {
            if let Some(item) = items.get_mut(*index) {
                *item = value;
            }
        }
        _ => return Err(missing(parent, parent_segs, last, pointer)),
    }
    Ok(())
}

/// Takes a value away that exists.
pub(super) fn remove(object: &mut Value, pointer: &Path) -> Result<(), OpError> {
    let (last, parent_segs) = pointer.split_last().ok_or(OpError::WholeObject)?;
    let parent = find_mut(object, parent_segs, pointer)?;
    let removed = match (&mut *parent, last) {
        (Value::Object(map), seg) => map.shift_remove(seg.as_key().as_str()),
        (Value::Array(items), Seg::Index(index)) if *index < items.len() => Some(items.remove(*index)),
        _ => None,
    };
    removed.map(drop).ok_or_else(|| missing(parent, parent_segs, last, pointer))
}
