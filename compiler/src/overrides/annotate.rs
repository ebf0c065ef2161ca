//! `labels` and `annotations` of the object itself.
//!
//! Never of selectors, pod templates or volume claim templates: those are immutable or restart pods. Who wants them
//! there says so with a patch.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::error::OpError;
use super::substitute::{self, Variables};
use crate::base::{Path, SmolStr};
use crate::kinds::native::JsonType;

/// Adds, changes and takes away members of `metadata.<field>`. One that is to go and is not there is fine; the map goes
/// with its last member.
pub(super) fn edit(
    object: &mut Value,
    field: &'static str,
    changes: &BTreeMap<SmolStr, Option<String>>,
    vars: &Variables,
) -> Result<(), OpError> {
    let found = JsonType::of(object);
    let Value::Object(object) = object else {
        return Err(OpError::NotA { path: Path::root(), found, needed: "a map" });
    };
    let meta = map_in(object, "metadata", || Path::of_keys(["metadata"]))?;
    let had_some = meta.get(field).and_then(Value::as_object).is_some_and(|map| !map.is_empty());
    let map = map_in(meta, field, || Path::of_keys(["metadata", field]))?;
    for (key, value) in changes {
        match value {
            None => {
                map.shift_remove(key.as_str());
            }
            Some(text) => {
                let at = || Path::of_keys([key.as_str()]);
                let text = substitute::in_text(text, vars).map_err(|error| OpError::Template { at: at(), error })?;
                map.insert(key.to_string(), Value::String(text));
            }
        }
    }
    if map.is_empty() && (had_some || !changes.is_empty()) {
        meta.shift_remove(field);
    }
    Ok(())
}

fn map_in<'v>(
    parent: &'v mut Map<String, Value>,
    key: &str,
    path: impl FnOnce() -> Path,
) -> Result<&'v mut Map<String, Value>, OpError> {
    let value = parent.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    let found = JsonType::of(value);
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(OpError::NotA { path: path(), found, needed: "a map" }),
    }
}
