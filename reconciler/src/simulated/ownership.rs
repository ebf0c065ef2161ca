//! Server-side apply and updates with field ownership, as an API server keeps it in `metadata.managedFields`.
//!
//! A model, exact for what the applier relies on: who holds a field, what conflicts, what goes when it is no longer applied.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::flat::{FieldPath, Flat, field_set, flatten, unflatten};
use crate::apply::fields::{FieldSet, managed_entries};
use crate::cluster::FieldConflict;

/// One manager's claim.
#[derive(Clone, Debug)]
struct Claim {
    manager: String,
    operation: String,
    subresource: String,
    api_version: Value,
    fields: FieldSet,
}

impl Claim {
    fn is(&self, manager: &str, operation: &str, subresource: &str) -> bool {
        self.manager == manager && self.operation == operation && self.subresource == subresource
    }

    fn in_words(&self) -> String {
        let mut words = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            words.push_str(&format!(" with subresource {:?}", self.subresource));
        }
        if self.operation == "Update" {
            words.push_str(&format!(" using {}", self.api_version.as_str().unwrap_or_default()));
        }
        words
    }
}

fn claims(object: &Value) -> Vec<Claim> {
    let text = |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let read = |entry: &Value| Claim {
        manager: text(entry, "manager"),
        operation: text(entry, "operation"),
        subresource: text(entry, "subresource"),
        api_version: entry.get("apiVersion").cloned().unwrap_or_default(),
        fields: FieldSet::read(entry.get("fieldsV1").unwrap_or(&Value::Null)),
    };
    managed_entries(object).iter().map(read).collect()
}

fn write_claims(object: &mut Value, claims: &[Claim]) {
    let entries = claims.iter().filter(|claim| !claim.fields.is_empty()).map(|claim| {
        let mut entry = json!({
            "manager": claim.manager, "operation": claim.operation, "apiVersion": claim.api_version,
            "fieldsType": "FieldsV1", "fieldsV1": claim.fields.write(),
        });
        if !claim.subresource.is_empty() {
            entry["subresource"] = claim.subresource.as_str().into();
        }
        entry
    });
    object["metadata"]["managedFields"] = entries.collect();
}

fn holds(claim: &Claim, path: &FieldPath) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    claim.fields.contains(&path)
}

/// Applies a body to what is stored.
pub(super) fn apply(live: &Value, body: &Value, manager: &str, force: bool) -> Result<Value, Vec<FieldConflict>> {
    let mut stored = flatten(live);
    let wanted = flatten(body);
    let mut claims = claims(live);
    let ours = claims.iter().position(|claim| claim.is(manager, "Apply", ""));
    let mut conflicts = Vec::new();
    let mut taken = Flat::new();
    for (path, value) in wanted.iter().filter(|(path, value)| stored.get(*path) != Some(*value)) {
        for (index, claim) in claims.iter().enumerate() {
            if Some(index) != ours && holds(claim, path) {
                let mut one = Flat::new();
                one.insert(path.clone(), value.clone());
                let field = field_set(&one).paths().pop().unwrap_or_default();
                conflicts.push(FieldConflict { manager: claim.in_words(), applies: claim.operation == "Apply", field });
                taken.insert(path.clone(), value.clone());
            }
        }
    }
    if !conflicts.is_empty() && !force {
        conflicts.sort();
        return Err(conflicts);
    }
    for (index, claim) in claims.iter_mut().enumerate() {
        if Some(index) != ours {
            claim.fields.remove(&plain_set(&taken));
        }
    }
    let before = ours.map(|index| claims.remove(index)).map(|claim| claim.fields).unwrap_or_default();
    // What was ours, is applied no longer and is nobody else's goes.
    stored.retain(|path, _| {
        let was_ours = before.contains(&path.iter().map(String::as_str).collect::<Vec<_>>());
        let goes = was_ours && !wanted.contains_key(path) && !claims.iter().any(|claim| holds(claim, path));
        // An item that nobody holds any more goes with all its fields, defaults included.
        let goes_with_item = items_of(path).any(|item| {
            let item: FieldPath = item.to_vec();
            before.contains(&item.iter().map(String::as_str).collect::<Vec<_>>())
                && !wanted.keys().any(|path| path.starts_with(&item))
                && !claims.iter().any(|claim| holds(claim, &item))
        });
        !goes && !goes_with_item
    });
    stored.extend(wanted.clone());
    claims.push(Claim {
        manager: manager.to_owned(),
        operation: "Apply".to_owned(),
        subresource: String::new(),
        api_version: body.get("apiVersion").cloned().unwrap_or_default(),
        fields: field_set(&wanted),
    });
    let mut object = unflatten(live, &stored);
    write_claims(&mut object, &claims);
    Ok(object)
}

/// The items of lists that a field lies in.
fn items_of(path: &FieldPath) -> impl Iterator<Item = &[String]> {
    let ends = path.iter().enumerate().filter(|(_, element)| element.starts_with("k:")).map(|(index, _)| index);
    ends.filter_map(|end| path.get(..=end))
}

/// Fields alone, without the items they lie in.
fn plain_set(flat: &Flat) -> FieldSet {
    let mut set = FieldSet::default();
    for path in flat.keys() {
        set.insert(&path.iter().map(String::as_str).collect::<Vec<_>>());
    }
    set
}

/// Replaces what is stored, as `kubectl edit`, a scaler or a controller does: whoever changes a field holds it alone.
pub(super) fn update(live: &Value, new: &Value, manager: &str, subresource: &str) -> Value {
    let (before, after) = (flatten(live), flatten(new));
    let paths: BTreeSet<&FieldPath> = before.keys().chain(after.keys()).collect();
    let changed: Vec<&FieldPath> = paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    let mut lost = FieldSet::default();
    let mut gained = FieldSet::default();
    for path in changed {
        let elements: Vec<&str> = path.iter().map(String::as_str).collect();
        lost.insert(&elements);
        if after.contains_key(path) {
            gained.insert(&elements);
            // A new item of a list is held as a whole.
            for item in items_of(path).filter(|item| !before.keys().any(|other| other.starts_with(item))) {
                gained.insert(&item.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }
    let mut claims = claims(live);
    for claim in &mut claims {
        claim.fields.remove(&lost);
    }
    match claims.iter_mut().find(|claim| claim.is(manager, "Update", subresource)) {
        Some(claim) => claim.fields.add(&gained),
        None => claims.push(Claim {
            manager: manager.to_owned(),
            operation: "Update".to_owned(),
            subresource: subresource.to_owned(),
            api_version: live.get("apiVersion").or_else(|| new.get("apiVersion")).cloned().unwrap_or_default(),
            fields: gained,
        }),
    }
    let mut object = unflatten(new, &after);
    write_claims(&mut object, &claims);
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(image: &str, replicas: Option<u32>) -> Value {
        let mut body = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "b"}},
            "spec": {"template": {"spec": {"containers": [{"name": "web", "image": image, "ports": [{"containerPort": 80}]}]}}},
        });
        if let Some(replicas) = replicas {
            body["spec"]["replicas"] = replicas.into();
        }
        body
    }

    fn empty() -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}})
    }

    #[test]
    fn what_is_no_longer_applied_goes_unless_others_hold_it() {
        let one = apply(&empty(), &body("i:1", Some(3)), "fleetwright", false).expect("new");
        assert_eq!(one["spec"]["replicas"], json!(3));
        let two = apply(&one, &body("i:1", None), "fleetwright", false).expect("ours");
        assert_eq!(two["spec"].get("replicas"), None);
        let mut scaled = one.clone();
        scaled["spec"]["replicas"] = json!(8);
        let scaled = update(&one, &scaled, "hpa", "scale");
        let three = apply(&scaled, &body("i:2", None), "fleetwright", false).expect("not ours");
        assert_eq!(three["spec"]["replicas"], json!(8));
        assert_eq!(three["spec"]["template"]["spec"]["containers"][0]["image"], json!("i:2"));
    }

    #[test]
    fn others_fields_conflict_unless_equal_or_forced() {
        let one = apply(&empty(), &body("i:1", Some(3)), "fleetwright", false).expect("new");
        let mut edited = one.clone();
        edited["spec"]["template"]["spec"]["containers"][0]["image"] = json!("i:edit");
        let edited = update(&one, &edited, "kubectl-edit", "");
        let conflict = FieldConflict {
            manager: "\"kubectl-edit\" using apps/v1".to_owned(),
            applies: false,
            field: ".spec.template.spec.containers[name=web].image".to_owned(),
        };
        assert_eq!(apply(&edited, &body("i:1", Some(3)), "fleetwright", false), Err(vec![conflict]));
        assert!(apply(&edited, &body("i:edit", Some(3)), "fleetwright", false).is_ok());
        let forced = apply(&edited, &body("i:1", Some(3)), "fleetwright", true).expect("forced");
        assert_eq!(forced, one);
    }

    #[test]
    fn applying_again_changes_nothing() {
        let one = apply(&empty(), &body("i:1", Some(3)), "fleetwright", false).expect("new");
        assert_eq!(apply(&one, &body("i:1", Some(3)), "fleetwright", false), Ok(one));
    }
}
