//! Which manifests hold secret values in the clear.

use serde_json::Value;

use super::ObjKey;

/// Whether an object is a Secret, or so misspelt a one that a person would take it for a Secret.
#[must_use]
pub fn is_secret(key: &ObjKey) -> bool {
    key.group.is_empty() && key.kind.eq_ignore_ascii_case("Secret")
}

/// Whether a Secret holds data, or the copy of it that `kubectl apply` keeps in an annotation. Any field that a Secret
/// does not have counts as data: `stringdata` is a password in the clear as well.
#[must_use]
pub fn holds_secret(secret: &Value) -> bool {
    /// What may stand in a Secret without being secret.
    const HARMLESS: [&str; 5] = ["apiVersion", "immutable", "kind", "metadata", "type"];
    let filled = |value: &Value| match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Number(_) => true,
    };
    let holds = |secret: &Value| {
        let fields = secret.as_object().into_iter().flatten();
        fields.filter(|(field, _)| !HARMLESS.contains(&field.as_str())).any(|(_, value)| filled(value))
    };
    let annotations = secret.get("metadata").and_then(|m| m.get("annotations"));
    let copy = annotations.and_then(|a| a.get("kubectl.kubernetes.io/last-applied-configuration"));
    let copied = copy.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    holds(secret) || copied.is_some_and(|copied| holds(&copied))
}
