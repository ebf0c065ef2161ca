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

/// The list of which an API server says that two items have one name: `spec.ports[1].name: Duplicate value: "http"`.
///
/// It happens where an item is identified by its number and named: the new item is ours, the old one another manager's,
/// and applying leaves both (kubernetes/kubernetes#118725).
#[must_use]
pub fn duplicated_list(message: &str) -> Option<Vec<String>> {
    let (before, _) = message.split_once(": Duplicate value")?;
    let field = before.rsplit(' ').next()?;
    let (list, _) = field.rsplit_once('[')?;
    let is_plain = list.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    (is_plain && !list.is_empty()).then(|| list.split('.').map(|name| format!("f:{name}")).collect())
}

/// The new `metadata.managedFields` in which the items of one list that managers set by hand are ours: what is not applied
/// any more goes with the next apply. Managers that apply keep theirs. `None` where there are none.
#[must_use]
pub fn list_adopted(object: &Value, list: &[String]) -> Option<Value> {
    let below = |set: &FieldSet| {
        let mut at = set;
        for element in list {
            at = at.children.get(element.as_str())?;
        }
        let mut taken = FieldSet::default();
        let mut place = &mut taken;
        for element in list {
            place = place.children.entry(element.as_str().into()).or_default();
        }
        *place = at.clone();
        Some(taken)
    };
    let mut taken = FieldSet::default();
    let mut entries = managed_entries(object).to_vec();
    for entry in entries.iter_mut().filter(|e| e["operation"] == "Update" && e.get("subresource").is_none()) {
        let mut set = FieldSet::read(&entry["fieldsV1"]);
        if let Some(items) = below(&set) {
            set.remove(&items);
            taken.add(&items);
            entry["fieldsV1"] = set.write();
        }
    }
    if taken.is_empty() {
        return None;
    }
    entries.retain(|entry| !FieldSet::read(&entry["fieldsV1"]).is_empty());
    match entries.iter_mut().find(|entry| is_applied_by(entry, MANAGER)) {
        Some(ours) => {
            let mut set = FieldSet::read(&ours["fieldsV1"]);
            set.add(&taken);
            ours["fieldsV1"] = set.write();
        }
        None => entries.push(json!({
            "manager": MANAGER, "operation": "Apply", "apiVersion": object.get("apiVersion"), "fieldsType": "FieldsV1",
            "fieldsV1": taken.write(),
        })),
    }
    Some(Value::Array(entries))
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

    #[test]
    fn lists_with_two_items_of_one_name() {
        let list = |message: &str| duplicated_list(message).map(|list| list.join("/"));
        for (message, expected) in [
            ("Service \"web\" is invalid: spec.ports[1].name: Duplicate value: \"http\"", Some("f:spec/f:ports")),
            ("spec.ports[1].name: Duplicate value: \"http\"", Some("f:spec/f:ports")),
            ("spec.name: Duplicate value", None),
            ("spec.ports[1].name: Required value", None),
        ] {
            assert_eq!(list(message).as_deref(), expected, "{message}");
        }
        let ports = json!({"f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:name": {}}}}});
        let mut theirs = ports.clone();
        theirs["f:spec"]["f:type"] = json!({});
        let object = |operation: &str| json!({"apiVersion": "v1", "metadata": {"managedFields": [entry("kubectl", operation, "", theirs.clone())]}});
        let list = ["f:spec".to_owned(), "f:ports".to_owned()];
        let rest = entry("kubectl", "Update", "", json!({"f:spec": {"f:type": {}}}));
        let ours = entry("fleetwright", "Apply", "", ports);
        assert_eq!(list_adopted(&object("Update"), &list), Some(json!([rest, ours])));
        assert_eq!(list_adopted(&object("Apply"), &list), None);
    }
}
