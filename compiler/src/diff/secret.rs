//! Secrets: which keys differ, and nothing of what is in them.
//!
//! `data` and `stringData` are compared as the API server would store them, so that a value that moves from one to the
//! other is no change. Whatever is not known to be harmless is masked: annotations too, since tools keep copies there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::fields::{Edit, FieldChange, changes, push_key};
use crate::kinds::native::NativeKind;
use crate::parse::ObjKey;

/// Fields of a Secret that hold no secret. Of `metadata`, annotations are masked all the same.
const SHOWN: [&str; 5] = ["apiVersion", "immutable", "kind", "metadata", "type"];

/// Whether the values of an object are secret. By kind, whatever its group: a custom `Secret` is no less one, nor is a
/// misspelt `secret`.
pub(super) fn is_secret(key: &ObjKey) -> bool {
    key.kind.eq_ignore_ascii_case("Secret")
}

/// The changes from one Secret to another.
pub(super) fn secret_changes(kind: Option<&NativeKind>, mut before: Value, mut after: Value) -> Vec<FieldChange> {
    let mut hidden = masked("data", &stored(&before), &stored(&after));
    hidden.extend(masked("metadata.annotations", &annotations(&before), &annotations(&after)));
    hidden.extend(masked("", &unknown(&before), &unknown(&after)));
    for object in [&mut before, &mut after] {
        let Some(map) = object.as_object_mut() else { continue };
        map.retain(|key, _| SHOWN.contains(&key.as_str()));
        if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("annotations");
        }
    }
    let mut found = changes(kind, &before, &after);
    found.extend(hidden);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// One masked change for each key that differs.
fn masked(parent: &str, before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<FieldChange> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = keys.into_iter().filter_map(|key| {
        let edit = match (before.get(key), after.get(key)) {
            (None, None) => return None,
            (None, Some(_)) => Edit::SecretAdded,
            (Some(_), None) => Edit::SecretRemoved,
            (Some(before), Some(after)) if before == after => return None,
            (Some(_), Some(_)) => Edit::SecretChanged,
        };
        let mut path = parent.to_owned();
        push_key(&mut path, key);
        Some(FieldChange { path, edit })
    });
    differ.collect()
}

/// What the API server would store, as base64: `stringData` wins over `data`.
fn stored(secret: &Value) -> BTreeMap<String, String> {
    let entries = |field: &str| secret.get(field).and_then(Value::as_object).into_iter().flatten();
    let mut stored: BTreeMap<String, String> = entries("data")
        .map(|(key, value)| (key.clone(), value.as_str().map_or_else(|| value.to_string(), without_breaks)))
        .collect();
    stored.extend(entries("stringData").map(|(key, value)| {
        (key.clone(), value.as_str().map_or_else(|| value.to_string(), |text| base64(text.as_bytes())))
    }));
    stored
}

fn annotations(secret: &Value) -> BTreeMap<String, String> {
    let map = secret.get("metadata").and_then(|m| m.get("annotations")).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.clone(), value.to_string())).collect()
}

/// Fields that are neither data nor known to be harmless, as those that SOPS adds; `data` that is no map.
fn unknown(secret: &Value) -> BTreeMap<String, String> {
    let is_data = |key: &str, value: &Value| matches!(key, "data" | "stringData") && value.is_object();
    let map: Option<&Map<String, Value>> = secret.as_object();
    map.into_iter()
        .flatten()
        .filter(|(key, value)| !SHOWN.contains(&key.as_str()) && !is_data(key, value) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect()
}

/// Base64 may be broken into lines.
fn without_breaks(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect()
}

/// The standard alphabet, padded.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_usize, |word, at| word << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let index = word >> (18 - 6 * digit) & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    text
}
