//! Adoption: fields that other tools applied become ours, so that what is later removed from Git really goes.
//!
//! Only named managers, only when an object is applied here for the first time, and only by editing
//! `metadata.managedFields`: nothing of the object itself changes, so no pod restarts (the way of `csaupgrade` in client-go).

use std::collections::BTreeSet;

use fleetwright_compiler::base::SmolStr;
use serde_json::{Value, json};

use super::fields::{FieldSet, is_applied_by, managed_entries};
use crate::cluster::MANAGER;

/// The new `metadata.managedFields` in which the fields of the named managers are ours; `None` where they hold none.
/// Subresources stay with whoever wrote them: `status` is never ours.
#[must_use]
pub fn adopted(object: &Value, managers: &[SmolStr]) -> Option<Value> {
    let is_named = |entry: &Value| {
        let manager = entry.get("manager").and_then(Value::as_str).unwrap_or_default();
        let subresource = entry.get("subresource").and_then(Value::as_str).unwrap_or_default();
        subresource.is_empty() && manager != MANAGER && managers.iter().any(|named| named == manager)
    };
    let entries = managed_entries(object);
    if !entries.iter().any(is_named) {
        return None;
    }
    let mut ours = FieldSet::default();
    let mut versions = BTreeSet::new();
    let mut kept = Vec::new();
    let mut api_version = object.get("apiVersion").cloned().unwrap_or_default();
    for entry in entries {
        let applied = is_applied_by(entry, MANAGER);
        if !applied && !is_named(entry) {
            kept.push(entry.clone());
            continue;
        }
        ours.add(&FieldSet::read(entry.get("fieldsV1").unwrap_or(&Value::Null)));
        if let Some(version) = entry.get("apiVersion") {
            versions.insert(version.to_string());
            if applied || versions.len() == 1 {
                api_version = version.clone();
            }
        }
    }
    kept.push(json!({
        "manager": MANAGER,
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": ours.write(),
    }));
    Some(Value::Array(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, subresource: &str, fields: Value) -> Value {
        let mut entry = json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields});
        if !subresource.is_empty() {
            entry["subresource"] = subresource.into();
        }
        entry
    }

    #[test]
    fn named_managers_hand_over_and_others_keep_theirs() {
        let kubectl =
            entry("kubectl-client-side-apply", "Update", "", json!({"f:data": {"f:mode": {}, "f:oldmode": {}}}));
        let status = entry("kubectl-client-side-apply", "Update", "status", json!({"f:status": {}}));
        let other = entry("vpa", "Update", "", json!({"f:data": {"f:size": {}}}));
        let object = json!({"apiVersion": "v1", "metadata": {"managedFields": [kubectl, status, other]}});
        let managers = ["kubectl-client-side-apply".into(), "helm".into()];
        let ours = entry("fleetwright", "Apply", "", json!({"f:data": {"f:mode": {}, "f:oldmode": {}}}));
        assert_eq!(adopted(&object, &managers), Some(json!([status, other, ours])));
        assert_eq!(adopted(&object, &["helm".into()]), None);
        assert_eq!(adopted(&json!({}), &managers), None);
    }
}
