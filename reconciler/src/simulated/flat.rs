//! Objects as a flat table of fields: the form in which server-side apply is a handful of set operations.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::apply::fields::FieldSet;

/// A field's path, in elements of FieldsV1.
pub(super) type FieldPath = Vec<String>;

/// Values by path. Lists whose items have a merge key are taken apart, every other list is one value.
pub(super) type Flat = BTreeMap<FieldPath, Value>;

/// The fields that a manager can hold: everything but identity and what the server sets.
pub(super) fn flatten(object: &Value) -> Flat {
    let mut flat = Flat::new();
    let Some(map) = object.as_object() else { return flat };
    for (key, value) in map {
        match key.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if matches!(key.as_str(), "labels" | "annotations" | "finalizers" | "ownerReferences") {
                        take_apart(vec!["f:metadata".to_owned(), format!("f:{key}")], key, value, &mut flat);
                    }
                }
            }
            _ => take_apart(vec![format!("f:{key}")], key, value, &mut flat),
        }
    }
    flat
}

fn take_apart(path: FieldPath, field: &str, value: &Value, flat: &mut Flat) {
    let below = |element: String| path.iter().cloned().chain([element]).collect::<FieldPath>();
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                take_apart(below(format!("f:{key}")), key, value, flat);
            }
        }
        Value::Array(items) if !items.is_empty() => match items.iter().map(|item| merge_key(field, item)).collect() {
            None => {
                flat.insert(path, value.clone());
            }
            Some(keys) => {
                let keys: Vec<Value> = keys;
                for (key, item) in keys.into_iter().zip(items) {
                    take_apart(below(format!("k:{key}")), "", item, flat);
                }
            }
        },
        _ => {
            flat.insert(path, value.clone());
        }
    }
}

/// The merge key of a list's item, as the API's schemas state it for pods and Services.
fn merge_key(field: &str, item: &Value) -> Option<Value> {
    let item = item.as_object()?;
    let protocol = item.get("protocol").cloned().unwrap_or_else(|| "TCP".into());
    let mut key = Map::new();
    match field {
        "ports" => {
            let port = ["containerPort", "port"].into_iter().find(|name| item.contains_key(*name))?;
            key.insert(port.to_owned(), item.get(port)?.clone());
            key.insert("protocol".to_owned(), protocol);
        }
        "containers" | "initContainers" | "volumes" | "env" | "imagePullSecrets" => {
            key.insert("name".to_owned(), item.get("name")?.clone());
        }
        "conditions" => {
            key.insert("type".to_owned(), item.get("type")?.clone());
        }
        _ => return None,
    }
    Some(Value::Object(key))
}

/// Puts fields back into an object of which only identity and what the server sets is kept.
pub(super) fn unflatten(object: &Value, flat: &Flat) -> Value {
    let mut out = Map::new();
    for (key, value) in object.as_object().into_iter().flatten() {
        match key.as_str() {
            "apiVersion" | "kind" => {
                out.insert(key.clone(), value.clone());
            }
            "metadata" => {
                let mut metadata = value.as_object().cloned().unwrap_or_default();
                metadata
                    .retain(|k, _| !matches!(k.as_str(), "labels" | "annotations" | "finalizers" | "ownerReferences"));
                out.insert(key.clone(), Value::Object(metadata));
            }
            _ => {}
        }
    }
    let mut out = Value::Object(out);
    for (path, value) in flat {
        put(&mut out, path, value);
    }
    out
}

fn put(at: &mut Value, path: &[String], value: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *at = value.clone();
        return;
    };
    if let Some(name) = first.strip_prefix("f:") {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        if let Some(map) = at.as_object_mut() {
            put(map.entry(name).or_insert(Value::Null), rest, value);
        }
    } else if let Some(key) = first.strip_prefix("k:") {
        let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
        if !at.is_array() {
            *at = Value::Array(Vec::new());
        }
        if let Some(items) = at.as_array_mut() {
            let matches = |item: &Value| key.iter().all(|(k, v)| item.get(k).unwrap_or(&"TCP".into()) == v);
            let index = match items.iter().position(matches) {
                Some(index) => index,
                None => {
                    items.push(Value::Object(key.clone()));
                    items.len() - 1
                }
            };
            if let Some(item) = items.get_mut(index) {
                put(item, rest, value);
            }
        }
    }
}

/// The set of the fields of a table.
pub(super) fn field_set(flat: &Flat) -> FieldSet {
    let mut set = FieldSet::default();
    for path in flat.keys() {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        set.insert(&path);
        // An item of a list with merge keys is a member itself.
        for (index, element) in path.iter().enumerate() {
            if element.starts_with("k:") {
                set.insert(&path[..=index]);
            }
        }
    }
    set
}
