//! Which fields of an object differ, by meaning.
//!
//! Maps are compared by key and lists as [`lists`](super::lists) says; what means the same is no change. A value that is
//! there on one side alone is one change, whatever is below it.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::absent::is_absent;
use crate::base::quantity::Quantity;
use crate::kinds::native::{NativeKind, Shape, lookup, type_def};

/// A field that differs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// Where: `spec.template.spec.containers[name=web].image`. Items of a list are named by their merge keys, else by
    /// their position: in the list as it will be, for an item that goes in the list as it was.
    pub path: String,
    /// How.
    #[serde(flatten)]
    pub edit: Edit,
}

/// How a field differs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "change", rename_all_fields = "camelCase")]
pub enum Edit {
    /// It is new.
    Added {
        /// Its value.
        after: Value,
    },
    /// It is gone.
    Removed {
        /// The value it had.
        before: Value,
    },
    /// It has another value.
    Changed {
        /// The value it had.
        before: Value,
        /// Its value.
        after: Value,
    },
    /// The items of a list whose order counts are in another order.
    Reordered {
        /// The items as they were, those alone that stay.
        before: Vec<String>,
        /// The same items as they will be.
        after: Vec<String>,
    },
    /// A secret value that is new.
    SecretAdded,
    /// A secret value that is gone.
    SecretRemoved,
    /// A secret value that is another. Neither value is kept here.
    SecretChanged,
}

/// The changes from one object of a kind to another; `None` for a custom resource.
///
/// The fields that the API server writes itself are to be taken out before.
pub(super) fn changes(kind: Option<&NativeKind>, before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut walk = Walk::default();
    match kind {
        Some(kind) => walk.values(&Shape::Struct(kind.ty), Some(before), Some(after)),
        None => walk.custom(before, after),
    }
    walk.found
}

/// A walk down two values at once.
#[derive(Default)]
pub(super) struct Walk {
    path: String,
    pub(super) found: Vec<FieldChange>,
}

impl Walk {
    /// A custom resource: of its fields only `metadata` is known.
    fn custom(&mut self, before: &Value, after: &Value) {
        for key in keys(before, after) {
            let metadata = if key == "metadata" { metadata_shape() } else { None };
            let shape = metadata.unwrap_or(&Shape::Any);
            self.at_key(key, |walk| walk.values(shape, before.get(key), after.get(key)));
        }
    }

    /// Two values of one shape; `None` where there is none.
    pub(super) fn values(&mut self, shape: &Shape, before: Option<&Value>, after: Option<&Value>) {
        let before = before.filter(|value| !is_absent(shape, value));
        let after = after.filter(|value| !is_absent(shape, value));
        match (before, after) {
            (None, None) => {}
            (None, Some(after)) => self.push(Edit::Added { after: after.clone() }),
            (Some(before), None) => self.push(Edit::Removed { before: before.clone() }),
            (Some(before), Some(after)) if before == after => {}
            (Some(before @ Value::Object(_)), Some(after @ Value::Object(_))) => {
                for key in keys(before, after) {
                    let shape = field_shape(shape, key);
                    self.at_key(key, |walk| walk.values(shape, before.get(key), after.get(key)));
                }
            }
            (Some(Value::Array(before)), Some(Value::Array(after))) => self.lists(shape, before, after),
            (Some(before), Some(after)) => {
                if !(*shape == Shape::Quantity && same_quantity(before, after)) {
                    self.push(Edit::Changed { before: before.clone(), after: after.clone() });
                }
            }
        }
    }

    /// Notes a change here.
    pub(super) fn push(&mut self, edit: Edit) {
        let path = if self.path.is_empty() { "(the whole object)".to_owned() } else { self.path.clone() };
        self.found.push(FieldChange { path, edit });
    }

    /// Goes down to a key and back.
    pub(super) fn at_key(&mut self, key: &str, inside: impl FnOnce(&mut Self)) {
        let depth = self.path.len();
        push_key(&mut self.path, key);
        inside(self);
        self.path.truncate(depth);
    }

    /// Goes down to an item of a list, named by the text in brackets, and back.
    pub(super) fn at_item(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        let depth = self.path.len();
        self.path.push('[');
        self.path.push_str(name);
        self.path.push(']');
        inside(self);
        self.path.truncate(depth);
    }
}

/// Adds a key to a path for messages; one that is no plain word is quoted.
pub(super) fn push_key(path: &mut String, key: &str) {
    let is_word = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'$'));
    if is_word {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    } else {
        path.push_str("[\"");
        path.push_str(key);
        path.push_str("\"]");
    }
}

/// The keys of either, ascending.
fn keys<'v>(before: &'v Value, after: &'v Value) -> BTreeSet<&'v str> {
    [before, after].into_iter().filter_map(Value::as_object).flat_map(|map| map.keys().map(String::as_str)).collect()
}

/// The shape of a key's value.
pub(super) fn field_shape<'s>(shape: &'s Shape, key: &str) -> &'s Shape {
    match shape {
        Shape::Struct(id) => type_def(*id).fields.get(key).map_or(&Shape::Any, |field| &field.shape),
        Shape::Map(values) => values,
        _ => &Shape::Any,
    }
}

/// The shape of `metadata`, the same for every kind.
fn metadata_shape() -> Option<&'static Shape> {
    let config_map = lookup("", "v1", "ConfigMap")?;
    type_def(config_map.ty).fields.get("metadata").map(|field| &field.shape)
}

/// Whether two values are the same amount: `1`, `"1"`, `"1000m"`.
fn same_quantity(before: &Value, after: &Value) -> bool {
    quantity(before).is_some_and(|before| quantity(after) == Some(before))
}

/// A quantity as JSON has it: text or a number.
pub(super) fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}
