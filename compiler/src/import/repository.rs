//! The repository that an import writes: intents and manifests, in files.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::documents::is_segment;
use super::{About, Fate};
use crate::api::not_yet::{NOT_YET, NotYet, PLACEMENTS};
use crate::api::{API_VERSION, FleetSpec};
use crate::base::labels::Labels;
use crate::base::{SmolStr, Span, Spanned};
use crate::yaml;

/// Files of a fleet repository, by path; a file holds documents.
#[derive(Default)]
pub(super) struct Repository {
    files: BTreeMap<String, Vec<Value>>,
}

impl Repository {
    /// A repository of a fleet that sets nothing.
    pub(super) fn new() -> Self {
        let mut repository = Self::default();
        let spec = serde_json::to_value(FleetSpec::default()).unwrap_or_default();
        repository.manifest("fleet.yaml".to_owned(), intent("Fleet", "fleet", &Labels::new(), spec));
        repository
    }

    /// Adds an intent. What the API does not take yet is left out, and said.
    pub(super) fn put(
        &mut self,
        path: String,
        (kind, name): (&'static str, &str),
        labels: &Labels,
        spec: &impl Serialize,
        about: &mut About<'_>,
    ) {
        if !path.split('/').all(is_segment) {
            let text = format!("`{}` is no name of a file, so this is left out", name.escape_debug());
            return about.say(Fate::Skipped, "", text);
        }
        let spec = match serde_json::to_value(spec) {
            Ok(spec) => spec,
            Err(error) => return about.say(Fate::Skipped, "", format!("cannot be written: {error}")),
        };
        let mut document = intent(kind, name, labels, spec);
        for row in NOT_YET {
            for path in places(row, kind) {
                if take(&mut document, &path, row.value) {
                    let text = format!("`{}` of {kind} is not supported yet: {}", path.join("."), row.will);
                    about.say(Fate::NoCounterpart, "", text);
                }
            }
        }
        self.manifest(path, document);
    }

    /// Adds a document as it is.
    pub(super) fn manifest(&mut self, path: String, document: Value) {
        self.files.entry(path).or_default().push(document);
    }

    /// As texts.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(path, documents)| (path.clone(), yaml::emit_documents(documents))).collect()
    }
}

fn intent(kind: &str, name: &str, labels: &Labels, spec: Value) -> Value {
    let mut metadata = json!({ "name": name });
    if !labels.is_empty() {
        metadata["labels"] = json!(labels);
    }
    json!({ "apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec })
}

/// Where a row of the table stands in documents of a kind.
fn places(row: &NotYet, kind: &str) -> Vec<Vec<&'static str>> {
    match row.kind {
        "*" => {
            let prefixes = PLACEMENTS.iter().filter(|(of, _)| *of == kind);
            prefixes.map(|(_, prefix)| prefix.iter().chain(row.path).copied().collect()).collect()
        }
        of if of == kind => vec![row.path.to_vec()],
        _ => Vec::new(),
    }
}

/// Takes a field away where it is, or where it holds the value; whether it was.
fn take(document: &mut Value, path: &[&str], value: Option<&str>) -> bool {
    match (path, document) {
        ([last], Value::Object(map)) => {
            let hit = map.get(*last).is_some_and(|held| value.is_none_or(|value| held.as_str() == Some(value)));
            hit && map.shift_remove(*last).is_some()
        }
        (["[]", rest @ ..], Value::Array(items)) => {
            let taken: Vec<bool> = items.iter_mut().map(|item| take(item, rest, value)).collect();
            taken.contains(&true)
        }
        ([first, rest @ ..], Value::Object(map)) => map.get_mut(*first).is_some_and(|next| take(next, rest, value)),
        _ => false,
    }
}

/// A value that stands at no place.
pub(super) fn placeless<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

/// Names that stand at no place.
pub(super) fn placeless_all<'a>(names: impl IntoIterator<Item = &'a SmolStr>) -> Vec<Spanned<SmolStr>> {
    names.into_iter().cloned().map(placeless).collect()
}

/// Gives each thing a name of its own.
#[derive(Default)]
pub(super) struct Names(BTreeSet<SmolStr>);

impl Names {
    /// The name if it is free, else the first free one of it with a number.
    pub(super) fn free(&mut self, wanted: &str) -> SmolStr {
        let numbered = (2_u32..).map(|number| SmolStr::from(format!("{wanted}-{number}")));
        let name = std::iter::once(SmolStr::from(wanted)).chain(numbered).find(|name| !self.0.contains(name));
        let name = name.unwrap_or_else(|| wanted.into());
        self.0.insert(name.clone());
        name
    }
}

/// What only an API server writes into an object, and what tools keep there for themselves. `foreign` says which keys of
/// labels and annotations are the source's own.
pub(super) fn bare(value: &Value, foreign: impl Fn(&str) -> bool) -> Value {
    const SERVER: [&str; 9] = [
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "managedFields",
        "selfLink",
        "ownerReferences",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ];
    let mut value = value.clone();
    let Some(object) = value.as_object_mut() else { return value };
    object.shift_remove("status");
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return value };
    metadata.retain(|key, _| !SERVER.contains(&key.as_str()) && key != "finalizers");
    for field in ["labels", "annotations"] {
        let Some(map) = metadata.get_mut(field).and_then(Value::as_object_mut) else { continue };
        map.retain(|key, _| !foreign(key) && !KEPT_BY_TOOLS.contains(&key.as_str()));
        if map.is_empty() {
            metadata.shift_remove(field);
        }
    }
    value
}

const KEPT_BY_TOOLS: [&str; 2] =
    ["kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"];

/// Sets an annotation of an object.
pub(super) fn annotate(object: &mut Value, key: &str, text: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(key.to_owned(), text.into());
    }
}
