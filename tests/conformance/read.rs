//! Reading the input of a case into types.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::asked::Unanswered;

/// The input of an op, or a part of it. A field that the type does not know makes the case unmapped: answering without
/// it would answer another question.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Unanswered> {
    let mut value = value.clone();
    if let Value::Object(map) = &mut value {
        map.shift_remove("op");
    }
    serde_json::from_value(value).map_err(|error| {
        let text = error.to_string();
        if text.starts_with("unknown field") { Unanswered::Unmapped(text) } else { Unanswered::Malformed(text) }
    })
}

/// As the library's own types are read: what cannot be is refused.
pub fn decode<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}
