//! Following the paths of a WorkloadKind into an object. A step `*` is every item of a list.

use serde_json::{Map, Value};

use crate::base::{Path, Seg};

/// The values at a path; none where it ends nowhere or at null.
#[must_use]
pub fn all<'v>(value: &'v Value, path: &Path) -> Vec<&'v Value> {
    let mut found = vec![value];
    for seg in &path.0 {
        found = found.into_iter().flat_map(|value| step(value, seg)).collect();
    }
    found.retain(|value| !value.is_null());
    found
}

/// The first value at a path.
#[must_use]
pub fn first<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    all(value, path).into_iter().next()
}

/// The paths without `*` that a path stands for in an object.
pub(super) fn each(value: &Value, path: &Path) -> Vec<Path> {
    let mut found = vec![(Path::root(), value)];
    for seg in &path.0 {
        let mut next = Vec::new();
        for (at, value) in found {
            match value {
                Value::Array(items) if is_any(seg) => {
                    next.extend(items.iter().enumerate().map(|(index, item)| (at.join(Seg::Index(index)), item)));
                }
                value => next.extend(step(value, seg).into_iter().map(|child| (at.join(seg.clone()), child))),
            }
        }
        found = next;
    }
    found.into_iter().filter(|(_, value)| !value.is_null()).map(|(path, _)| path).collect()
}

fn is_any(seg: &Seg) -> bool {
    matches!(seg, Seg::Key(key) if key == "*")
}

fn step<'v>(value: &'v Value, seg: &Seg) -> Vec<&'v Value> {
    match (value, seg) {
        (Value::Array(items), seg) if is_any(seg) => items.iter().collect(),
        (Value::Array(items), Seg::Index(index)) => items.get(*index).into_iter().collect(),
        (Value::Object(map), seg) => map.get(seg.as_key().as_str()).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Writes a value, with the maps on the way where they are not there. Nothing where another value is in the way.
pub(super) fn set(object: &mut Value, path: &Path, written: Value) {
    let Some((last, way)) = path.split_last() else { return };
    let mut at = object;
    for seg in way {
        let next = match (at, seg) {
            (Value::Object(map), seg) => {
                let entry = map.entry(seg.as_key().as_str()).or_insert(Value::Null);
                if entry.is_null() {
                    *entry = Value::Object(Map::new());
                }
                Some(entry)
            }
            (Value::Array(items), Seg::Index(index)) => items.get_mut(*index),
            _ => None,
        };
        let Some(next) = next else { return };
        at = next;
    }
    match (at, last) {
        (Value::Object(map), last) => {
            map.insert(last.as_key().to_string(), written);
        }
        (Value::Array(items), Seg::Index(index)) => {
            if let Some(item) = items.get_mut(*index) {
                *item = written;
            }
        }
        _ => {}
    }
}

/// Removes a field.
pub(super) fn remove(object: &mut Value, path: &Path) {
    let Some((last, way)) = path.split_last() else { return };
    let mut at = object;
    for seg in way {
        let next = match (at, seg) {
            (Value::Object(map), seg) => map.get_mut(seg.as_key().as_str()),
            (Value::Array(items), Seg::Index(index)) => items.get_mut(*index),
            _ => None,
        };
        let Some(next) = next else { return };
        at = next;
    }
    if let Value::Object(map) = at {
        map.shift_remove(last.as_key().as_str());
    }
}
