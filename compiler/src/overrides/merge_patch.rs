//! JSON merge patch (RFC 7396), as the API server's library does it: how a custom resource is patched.
//!
//! A map is merged, `null` deletes, anything else replaces. Nulls inside a value that is new are dropped, inside a list
//! only in its maps.

use serde_json::{Map, Value};

use super::error::OpWarning;
use crate::base::{Path, Seg, SmolStr};

/// Neither map nor list: nothing that a document could become.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a merge patch is a map")]
pub struct NotAPatch;

/// Merges a patch into a document. Warns where a list with named items is replaced.
///
/// # Errors
/// When the patch is neither a map nor a list, or the document is `null`.
pub fn merge(document: &mut Value, patch: &Value) -> Result<Vec<OpWarning>, NotAPatch> {
    let mut warnings = Vec::new();
    match (&mut *document, patch) {
        (Value::Null, _) | (_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            return Err(NotAPatch);
        }
        (Value::Object(target), Value::Object(patch)) => members(target, patch, &mut Vec::new(), &mut warnings),
        (_, patch) => *document = without_nulls(patch),
    }
    Ok(warnings)
}

/// Merges the members of a map. Recurses as deep as both maps do.
pub(super) fn members(
    target: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    at: &mut Vec<Seg>,
    warnings: &mut Vec<OpWarning>,
) {
    for (key, value) in patch {
        at.push(Seg::Key(key.as_str().into()));
        match (target.get_mut(key), value) {
            (_, Value::Null) => {
                target.shift_remove(key);
            }
            (Some(Value::Object(target)), Value::Object(patch)) => members(target, patch, at, warnings),
            (Some(old @ Value::Object(_)), value) => *old = value.clone(),
            (Some(old), value) => {
                warnings.extend(named_list_replaced(old, value, at));
                *old = without_nulls(value);
            }
            (None, value) => {
                target.insert(key.clone(), without_nulls(value));
            }
        }
        at.pop();
    }
}

/// A copy without members that are `null`.
pub(super) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, member)| !member.is_null());
            Value::Object(kept.map(|(key, member)| (key.clone(), without_nulls(member))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

fn named_list_replaced(old: &Value, new: &Value, at: &[Seg]) -> Option<OpWarning> {
    let (old, new) = (old.as_array()?, new.as_array()?);
    let names = |items: &[Value]| -> Vec<SmolStr> {
        items.iter().filter_map(|item| item.get("name")?.as_str()).map(SmolStr::from).collect()
    };
    let (old_names, new_names) = (names(old), names(new));
    if old_names.is_empty() || old == new {
        return None;
    }
    let dropped = old_names.into_iter().filter(|name| !new_names.contains(name)).collect();
    Some(OpWarning::NamedListReplaced { path: Path(at.to_vec()), dropped })
}
