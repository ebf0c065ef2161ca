//! An object as text that means the same whoever wrote it.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::Digest;

/// An object without its tree: compact JSON in one order of keys, so that objects that mean the same are the same bytes,
/// and the digest of those bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Compact JSON: `apiVersion`, `kind`, `metadata` first, `name` and `namespace` first in maps, the rest by name.
    pub text: Box<[u8]>,
    /// Digest of `text`.
    pub digest: Digest,
}

impl Template {
    /// The template of a value.
    #[must_use]
    pub fn of(value: &Value) -> Arc<Self> {
        let text = serde_json::to_vec(&canonical(value)).unwrap_or_default().into_boxed_slice();
        let digest = Digest::of(&text);
        Arc::new(Self { text, digest })
    }

    /// The value. A template is made from a value, so it always reads; a broken one would be `null`.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.text).unwrap_or_default()
    }
}

/// Keys that people expect first.
fn rank(key: &str) -> u8 {
    match key {
        "apiVersion" => 0,
        "kind" => 1,
        "metadata" => 2,
        "name" => 3,
        "namespace" => 4,
        _ => 5,
    }
}

/// The value with its keys in the one order.
#[must_use]
pub fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
            Value::Object(entries.into_iter().map(|(k, v)| (k.clone(), canonical(v))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
