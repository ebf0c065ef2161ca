//! Sets of fields, as `metadata.managedFields` writes them (FieldsV1 of server-side apply, KEP-555).
//!
//! Invariants: reading and writing keeps every member; unknown kinds of path elements are kept as they are; nesting is as
//! deep as the JSON that was read, which its reader bounds.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{Digest, SmolStr};
use serde_json::{Map, Value};

use crate::cluster::MANAGER;

/// A set of fields: a tree of path elements as FieldsV1 writes them (`f:spec`, `k:{"name":"web"}`, `v:"x"`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether the field itself is in the set.
    pub member: bool,
    /// What is below it.
    pub children: BTreeMap<SmolStr, FieldSet>,
}

impl FieldSet {
    /// Reads FieldsV1.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let mut set = Self::read_below(value);
        set.member = false;
        set
    }

    fn read_below(value: &Value) -> Self {
        let Some(map) = value.as_object() else { return Self { member: true, children: BTreeMap::new() } };
        let children = map.iter().filter(|(key, _)| *key != ".").map(|(k, v)| (k.into(), Self::read_below(v)));
        Self { member: map.is_empty() || map.contains_key("."), children: children.collect() }
    }

    /// Writes FieldsV1.
    #[must_use]
    pub fn write(&self) -> Value {
        let mut map = Map::new();
        if self.member && !self.children.is_empty() {
            map.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (key, child) in &self.children {
            map.insert(key.to_string(), child.write());
        }
        Value::Object(map)
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.values().all(Self::is_empty)
    }

    /// Adds a field by its path elements.
    pub fn insert(&mut self, path: &[&str]) {
        let mut at = self;
        for element in path {
            at = at.children.entry((*element).into()).or_default();
        }
        at.member = true;
    }

    /// Whether a field is in it.
    #[must_use]
    pub fn contains(&self, path: &[&str]) -> bool {
        let mut at = self;
        for element in path {
            let Some(child) = at.children.get(*element) else { return false };
            at = child;
        }
        at.member
    }

    /// Adds all of another.
    pub fn add(&mut self, other: &Self) {
        self.member |= other.member;
        for (key, child) in &other.children {
            self.children.entry(key.clone()).or_default().add(child);
        }
    }

    /// Takes out all of another.
    pub fn remove(&mut self, other: &Self) {
        self.member &= !other.member;
        for (key, child) in &other.children {
            if let Some(mine) = self.children.get_mut(key) {
                mine.remove(child);
                if mine.is_empty() {
                    self.children.remove(key);
                }
            }
        }
    }

    /// The fields of this set that are also in another.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        let shared = self.children.iter().filter_map(|(key, child)| {
            let both = child.common(other.children.get(key)?);
            (!both.is_empty()).then(|| (key.clone(), both))
        });
        Self { member: self.member && other.member, children: shared.collect() }
    }

    /// Every path in it, as the server writes paths in conflicts but for quotes: `.spec.containers[name=web].image`.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect("", &mut out);
        out
    }

    fn collect(&self, prefix: &str, out: &mut Vec<String>) {
        if self.member {
            out.push(prefix.to_owned());
        }
        for (key, child) in &self.children {
            let element = match key.split_once(':') {
                Some(("f", name)) => format!(".{name}"),
                Some((_, rest)) => format!(
                    "[{}]",
                    rest.trim_start_matches('{').trim_end_matches('}').replace("\":", "=").replace('"', "")
                ),
                None => format!(".{key}"),
            };
            child.collect(&format!("{prefix}{element}"), out);
        }
    }
}

/// One entry of `metadata.managedFields`, as it is written.
#[must_use]
pub fn managed_entries(object: &Value) -> &[Value] {
    object.get("metadata").and_then(|m| m.get("managedFields")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether an entry is what a manager applied to the main resource.
#[must_use]
pub fn is_applied_by(entry: &Value, manager: &str) -> bool {
    let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
    text("manager") == manager && text("operation") == "Apply" && text("subresource").is_empty()
}

/// Digest of the fields that fleetwright holds of an object; `None` where it holds none.
///
/// The server takes a field out of our set as soon as somebody else changes or removes it, and an unchanged set therefore
/// says that every value is still the applied one, whatever else changed. That is the whole of drift detection.
#[must_use]
pub fn held_digest(object: &Value) -> Option<Digest> {
    let entry = managed_entries(object).iter().find(|entry| is_applied_by(entry, MANAGER))?;
    let fields = serde_json::to_vec(entry.get("fieldsV1")?).ok()?;
    Some(Digest::of(&fields))
}

/// Whether fleetwright holds `spec.replicas` of an object.
#[must_use]
pub fn holds_replicas(object: &Value) -> bool {
    let ours = managed_entries(object).iter().find(|entry| is_applied_by(entry, MANAGER));
    ours.and_then(|e| e.get("fieldsV1")?.get("f:spec")?.get("f:replicas")).is_some()
}

/// The fields that fleetwright holds of an object, as [`FieldSet::paths`] writes them.
#[must_use]
pub fn held_paths(object: &Value) -> BTreeSet<String> {
    let ours = managed_entries(object).iter().find(|entry| is_applied_by(entry, MANAGER));
    ours.and_then(|entry| entry.get("fieldsV1"))
        .map(|fields| FieldSet::read(fields).paths())
        .into_iter()
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {"f:replicas": {}, "f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}, "f:name": {}}}},
        })
    }

    #[test]
    fn reads_writes_and_finds() {
        let set = FieldSet::read(&sample());
        assert_eq!(FieldSet::read(&set.write()), set);
        for (path, inside) in [
            (&["f:spec", "f:replicas"][..], true),
            (&["f:spec"][..], false),
            (&["f:metadata", "f:labels"][..], true),
            (&["f:spec", "f:containers", "k:{\"name\":\"web\"}"][..], true),
            (&["f:spec", "f:paused"][..], false),
        ] {
            assert_eq!(set.contains(path), inside, "{path:?}");
        }
        assert_eq!(
            set.paths(),
            [
                ".metadata.labels",
                ".metadata.labels.app",
                ".spec.containers[name=web]",
                ".spec.containers[name=web].image",
                ".spec.containers[name=web].name",
                ".spec.replicas"
            ]
        );
    }

    #[test]
    fn union_difference_and_intersection() {
        let mut set = FieldSet::read(&sample());
        let other = FieldSet::read(&json!({"f:spec": {"f:replicas": {}, "f:paused": {}}}));
        assert_eq!(set.common(&other).paths(), [".spec.replicas"]);
        set.add(&other);
        assert!(set.contains(&["f:spec", "f:paused"]));
        set.remove(&other);
        assert!(!set.contains(&["f:spec", "f:replicas"]) && set.contains(&["f:metadata", "f:labels"]));
        let all = set.clone();
        set.remove(&all);
        assert!(set.is_empty() && set.children.is_empty());
    }

    #[test]
    fn what_is_held_is_our_apply_entry_of_the_main_resource() {
        let entry = |manager: &str, operation: &str, sub: &str| json!({"manager": manager, "operation": operation, "subresource": sub, "fieldsV1": sample()});
        let of = |entries: Vec<Value>| json!({"metadata": {"managedFields": entries}});
        let ours = of(vec![entry("kubectl", "Update", ""), entry("fleetwright", "Apply", "")]);
        assert!(held_digest(&ours).is_some() && holds_replicas(&ours));
        for other in
            [entry("fleetwright", "Update", ""), entry("fleetwright", "Apply", "status"), entry("helm", "Apply", "")]
        {
            let object = of(vec![other]);
            assert!(held_digest(&object).is_none() && !holds_replicas(&object), "{object}");
        }
        assert_eq!(held_digest(&json!({})), None);
    }
}
