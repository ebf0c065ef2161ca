//! The inventory: one object for each app in a cluster that says what was applied there, and nothing else may be pruned.
//!
//! It is the parent of an ApplySet (KEP-3659), so that `kubectl` and others can list the members: a ConfigMap in the
//! namespace of fleetwright, with `data.inventory` as JSON.
//! Invariants: an object is listed before it is written for the first time and until it is seen gone; a batch of writes
//! begins with a write of `term` and `live` that is conditioned on the resourceVersion; an inventory that cannot be read is
//! an error, never an empty one. Digests of Secrets are not stored, because a digest of few possible values gives the value
//! away to whoever reads the ConfigMap; after a restart each Secret is applied once more, which changes nothing.
//! Compatibility: fields may be added; `version` rises when one changes its meaning, and a higher one is refused.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use fleetwright_compiler::base::SmolStr;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::cluster::{GroupKind, Key};

/// The namespace inventories lie in.
pub const NAMESPACE: &str = "fleetwright-system";
/// Label of an ApplySet's parent: its id.
pub const ID_LABEL: &str = "applyset.kubernetes.io/id";
/// Label of an ApplySet's members: the id of their parent.
pub const PART_OF_LABEL: &str = "applyset.kubernetes.io/part-of";
/// The version of the format.
pub const VERSION: u32 = 1;

/// A team and an app; namespaces that are generated for all apps are kept under an empty team.
pub type AppName = (SmolStr, SmolStr);

/// The name under which generated Namespaces are kept.
#[must_use]
pub fn generated_namespaces() -> AppName {
    (SmolStr::default(), SmolStr::new_static("_namespaces"))
}

/// What was applied of one app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Inventory {
    /// Version of this format.
    pub version: u32,
    /// The fleet it belongs to: two fleets may share a cluster, and never an inventory.
    pub fleet: SmolStr,
    /// The team; empty for generated Namespaces.
    pub team: SmolStr,
    /// The app.
    pub app: SmolStr,
    /// The commit of `live` that was applied last.
    pub live: SmolStr,
    /// The term of the decider whose commit that is.
    pub term: u64,
    /// What was applied, or is about to be.
    #[serde(with = "by_text")]
    pub objects: BTreeMap<Key, Entry>,
}

/// One object of an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// Its UID; absent until it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<SmolStr>,
    /// Digest of what was applied; absent until it was, and always for a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<SmolStr>,
    /// The same without counts: a Job runs again only when this changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<SmolStr>,
    /// Digest of the fields that the server said we hold, after the last apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<SmolStr>,
    /// Replicas that were applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// The deletion was let through by budget or approval, and need not ask again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub going: bool,
}

/// Why an inventory could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("inventory {name}: {problem}; nothing of it is pruned until it can be read")]
pub struct InventoryError {
    /// The name of its ConfigMap.
    pub name: SmolStr,
    /// What is wrong.
    pub problem: String,
}

impl Inventory {
    /// Nothing applied yet.
    #[must_use]
    pub fn new(fleet: &str, app: &AppName) -> Self {
        Self {
            version: VERSION,
            fleet: fleet.into(),
            team: app.0.clone(),
            app: app.1.clone(),
            live: SmolStr::default(),
            term: 0,
            objects: BTreeMap::new(),
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn app_name(&self) -> AppName {
        (self.team.clone(), self.app.clone())
    }

    /// Reads one.
    ///
    /// # Errors
    /// Where it is no inventory, or of a newer version.
    pub fn read(object: &Value) -> Result<Self, InventoryError> {
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let wrong = |problem: String| InventoryError { name: name.into(), problem };
        let text = object.pointer("/data/inventory").and_then(Value::as_str);
        let text = text.ok_or_else(|| wrong("it has no data.inventory".to_owned()))?;
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version <= u64::from(VERSION) => {}
            version => return Err(wrong(format!("version {version:?} is not known, expected {VERSION}"))),
        }
        let inventory: Self = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
        if config_map_name(&inventory.app_name()) != name {
            return Err(wrong(format!("it is about {}/{}", inventory.team, inventory.app)));
        }
        Ok(inventory)
    }

    /// Its ConfigMap; `resource_version` is what the write is conditioned on, `None` to create it.
    #[must_use]
    pub fn object(&self, resource_version: Option<&str>) -> Value {
        let app = self.app_name();
        let kinds: BTreeSet<String> = self.objects.keys().map(|key| kind_dot_group(&key.kind)).collect();
        let namespaces: BTreeSet<&str> =
            self.objects.keys().map(|k| k.namespace.as_str()).filter(|n| !n.is_empty() && *n != NAMESPACE).collect();
        let mut metadata = json!({
            "name": config_map_name(&app),
            "namespace": NAMESPACE,
            "labels": {ID_LABEL: applyset_id(&app)},
            "annotations": {
                "applyset.kubernetes.io/tooling": concat!("fleetwright/v", env!("CARGO_PKG_VERSION")),
                "applyset.kubernetes.io/contains-group-kinds": kinds.into_iter().collect::<Vec<_>>().join(","),
                "applyset.kubernetes.io/additional-namespaces": namespaces.into_iter().collect::<Vec<_>>().join(","),
            },
        });
        if let Some(version) = resource_version {
            metadata["resourceVersion"] = version.into();
        }
        let mut stored = self.clone();
        for (key, entry) in &mut stored.objects {
            if key.kind.is("", "Secret") {
                entry.digest = None;
                entry.content = None;
            }
        }
        let text = serde_json::to_string(&stored).unwrap_or_default();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"inventory": text}})
    }
}

/// The name of an app's inventory. Names of teams and apps are DNS labels, so that the dots tell them apart.
#[must_use]
pub fn config_map_name(app: &AppName) -> String {
    if app.0.is_empty() { "inventory.namespaces".to_owned() } else { format!("inventory.{}.{}", app.0, app.1) }
}

/// The id of an app's ApplySet: `applyset-<base64url(sha256(name.namespace.kind.group))>-v1` (KEP-3659).
#[must_use]
pub fn applyset_id(app: &AppName) -> String {
    let parent = format!("{}.{NAMESPACE}.ConfigMap.", config_map_name(app));
    let hash = Sha256::digest(parent.as_bytes());
    format!("applyset-{}-v1", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hash))
}

/// `Kind.group`, as annotations of ApplySets name kinds.
fn kind_dot_group(kind: &GroupKind) -> String {
    if kind.group.is_empty() { kind.kind.to_string() } else { format!("{}.{}", kind.kind, kind.group) }
}

mod by_text {
    use std::collections::BTreeMap;

    use serde::de::Error as _;
    use serde::ser::SerializeMap as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{Entry, Key};

    pub(super) fn serialize<S: Serializer>(map: &BTreeMap<Key, Entry>, out: S) -> Result<S::Ok, S::Error> {
        let mut writer = out.serialize_map(Some(map.len()))?;
        for (key, entry) in map {
            writer.serialize_entry(&key.to_string(), entry)?;
        }
        writer.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<BTreeMap<Key, Entry>, D::Error> {
        let read = BTreeMap::<String, Entry>::deserialize(input)?;
        read.into_iter()
            .map(|(text, entry)| {
                let key = Key::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is no object")))?;
                Ok((key, entry))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Inventory {
        let mut inventory = Inventory::new("f", &("shop".into(), "web".into()));
        inventory.live = "4f1c".into();
        inventory.term = 3;
        let entry = |uid: &str| Entry { uid: Some(uid.into()), digest: Some("b3:1".into()), ..Entry::default() };
        inventory.objects.insert(Key::new("apps", "Deployment", "shop", "web"), entry("u1"));
        inventory.objects.insert(Key::new("", "Secret", "other", "s"), entry("u2"));
        inventory
    }

    #[test]
    fn an_inventory_is_read_as_it_was_written_but_for_digests_of_secrets() {
        let object = sample().object(Some("7"));
        assert_eq!(object.pointer("/metadata/resourceVersion"), Some(&json!("7")));
        let annotation =
            |name: &str| object["metadata"]["annotations"][format!("applyset.kubernetes.io/{name}")].clone();
        assert_eq!(annotation("contains-group-kinds"), json!("Deployment.apps,Secret"));
        assert_eq!(annotation("additional-namespaces"), json!("other,shop"));
        let mut expected = sample();
        expected.objects.get_mut(&Key::new("", "Secret", "other", "s")).unwrap().digest = None;
        assert_eq!(Inventory::read(&object), Ok(expected));
    }

    #[test]
    fn the_id_is_that_of_the_kep() {
        // sha256("inventory.shop.web.fleetwright-system.ConfigMap.")
        let id = applyset_id(&("shop".into(), "web".into()));
        assert_eq!(id, "applyset-gX2oo-DnDfoGVdiZQIEaeyoVzJR10fQxNLEPJVKDwew-v1");
        assert_ne!(id, applyset_id(&("shop".into(), "web2".into())));
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let good = sample().object(None);
        let with = |text: &str| {
            let mut object = good.clone();
            object["data"]["inventory"] = text.into();
            object
        };
        for (object, says) in [
            (with("{"), "EOF"),
            (with("{\"version\": 2}"), "version Some(2) is not known"),
            (with("{}"), "version None"),
            (
                with(
                    "{\"version\":1,\"fleet\":\"f\",\"team\":\"a\",\"app\":\"b\",\"live\":\"\",\"term\":0,\"objects\":{}}",
                ),
                "about a/b",
            ),
            (
                with(
                    "{\"version\":1,\"fleet\":\"f\",\"team\":\"shop\",\"app\":\"web\",\"live\":\"\",\"term\":0,\"objects\":{\"x\":{}}}",
                ),
                "no object",
            ),
            (json!({"metadata": {"name": "inventory.shop.web"}}), "no data.inventory"),
        ] {
            let error = Inventory::read(&object).expect_err("refused").to_string();
            assert!(error.contains(says) && error.contains("inventory.shop.web"), "{error}");
        }
    }
}
