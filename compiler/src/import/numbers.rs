//! Numbers of a source that make sense for a node, and words for those that do not.

use serde_json::Value;

use crate::base::quantity::{Quantity, QuantityError, counted};

/// The most nodes of a pool: what Kubernetes counts replicas with.
const MOST_NODES: u64 = i32::MAX as u64;
/// Characters of an odd value that are shown.
const SHOWN: usize = 40;

/// A number of nodes. The text says what is wrong with it.
pub(super) fn node_count(value: &Value) -> Result<u32, String> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let counted = number.filter(|number| *number <= MOST_NODES).and_then(|number| u32::try_from(number).ok());
    counted.ok_or_else(|| format!("{} is no number of nodes, 0 to {MOST_NODES}", shown(value)))
}

/// An amount of a resource that Kubernetes can count, of a machine or of a quota. The text says what is wrong with it.
pub(super) fn machine_amount(resource: &str, value: &Value) -> Result<Quantity, String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let refused = |error: QuantityError| format!("{} is no amount of {resource}: {error}", shown(value));
    let quantity: Quantity = text.parse().map_err(refused)?;
    match counted(resource, &quantity).map_err(refused)? {
        negative if negative < 0 => Err(format!("{} is less than nothing", shown(value))),
        _ => Ok(quantity),
    }
}

/// A value as it was written, cut short.
pub(super) fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let short: String = text.chars().take(SHOWN).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    format!("`{}{rest}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_of_nodes() {
        for (value, expected) in [
            (json!(0), Some(0)),
            (json!(3), Some(3)),
            (json!("12"), Some(12)),
            (json!(2_147_483_647), Some(2_147_483_647)),
            (json!(2_147_483_648_u64), None),
            (json!(-1), None),
            (json!(1.5), None),
            (json!(1e99), None),
            (json!("many"), None),
            (json!([3]), None),
        ] {
            assert_eq!(node_count(&value).ok(), expected, "{value}");
        }
        let text = node_count(&json!(-1)).unwrap_err();
        assert_eq!(text, "`-1` is no number of nodes, 0 to 2147483647");
    }

    #[test]
    fn amounts_of_machines() {
        for (resource, value, wrong) in [
            ("cpu", json!(8), None),
            ("memory", json!("32Gi"), None),
            ("memory", json!("-1Gi"), Some("`-1Gi` is less than nothing")),
            ("cpu", json!("1e99"), Some("`1e99` is no amount of cpu: expected at most 2^63-1 thousandths")),
            ("memory", json!("9223372036854775807"), None),
            (
                "memory",
                json!("16Ei"),
                Some("`16Ei` is no amount of memory: expected at most 2^63-1 (9223372036854775807"),
            ),
            (
                "cpu",
                json!("9223372036854775807"),
                Some("`9223372036854775807` is no amount of cpu: expected at most 2^63-1"),
            ),
            ("cpu", json!("eight"), Some("`eight` is no amount of cpu: expected a number")),
            ("cpu", json!({"a": 1}), Some("`{\"a\":1}` is no amount of cpu: expected a number")),
        ] {
            let got = machine_amount(resource, &value).err().map(|text| text.replace("\\\"", "\""));
            match (&got, wrong) {
                (None, None) => {}
                (Some(got), Some(wrong)) => assert!(got.starts_with(wrong), "{value}: {got}"),
                _ => panic!("{value}: {got:?}"),
            }
        }
        assert_eq!(shown(&json!("x".repeat(50))), format!("`{}…`", "x".repeat(40)));
    }
}
