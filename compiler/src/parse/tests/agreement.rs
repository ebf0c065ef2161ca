//! Decoding decides what is valid, the schema lists what is wrong: the two must agree on every document.
//!
//! Every value of a document that has every field is removed, renamed, and replaced by values of every type. No chance is
//! involved: the mutants are all there are.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::mistakes;
use super::{rich, told, with_root};
use crate::api::{self, KINDS, schema};
use crate::base::{Path, Seg, Span};
use crate::yaml::{self, DecodeError, Node};

/// Whether a document of this kind decodes, header aside.
fn typed_by_kind(node: &Node<'_>, kind: &str) -> Result<(), DecodeError> {
    match kind {
        "Fleet" => yaml::decode::<api::Object<api::FleetSpec>>(node).map(drop),
        "Cluster" => yaml::decode::<api::Object<api::ClusterSpec>>(node).map(drop),
        "Team" => yaml::decode::<api::Object<api::TeamSpec>>(node).map(drop),
        "App" => yaml::decode::<api::Object<api::AppSpec>>(node).map(drop),
        "PlacementPolicy" => yaml::decode::<api::Object<api::PlacementPolicySpec>>(node).map(drop),
        "OverridePolicy" => yaml::decode::<api::Object<api::OverridePolicySpec>>(node).map(drop),
        "Tide" => yaml::decode::<api::Object<api::TideSpec>>(node).map(drop),
        "Calendar" => yaml::decode::<api::Object<api::CalendarSpec>>(node).map(drop),
        "WorkloadKind" => yaml::decode::<api::Object<api::WorkloadKindSpec>>(node).map(drop),
        "PriorityClass" => yaml::decode::<api::PriorityClass>(node).map(drop),
        other => panic!("no kind {other}"),
    }
}

/// A value in place of another, or none.
fn replacements() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(2_147_483_648_u32),
        json!(4_294_967_296_u64),
        json!(-2_147_483_649_i64),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("text"),
        json!("-5%"),
        json!("101%"),
        json!("1h30"),
        json!("5 Gi"),
        json!([]),
        json!([[]]),
        json!([null]),
        json!({}),
        json!({"a": null}),
        json!({"a": 1}),
        json!({"": ""}),
    ]
}

/// The paths of all values below the root.
fn paths(value: &Value, at: &Path, found: &mut Vec<Path>) {
    let steps: Vec<(Seg, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(k, v)| (Seg::Key(k.as_str().into()), v)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, v)| (Seg::Index(i), v)).collect(),
        _ => Vec::new(),
    };
    for (step, below) in steps {
        let path = at.join(step);
        found.push(path.clone());
        paths(below, &path, found);
    }
}

/// Changes the map or list that holds the value at a path.
fn edit(document: &Value, path: &Path, change: impl FnOnce(&mut Value, &Seg)) -> Value {
    let (last, parent) = path.split_last().unwrap();
    let mut mutant = document.clone();
    let pointer = Path(parent.to_vec()).to_string();
    change(mutant.pointer_mut(&pointer).unwrap(), last);
    mutant
}

fn put(parent: &mut Value, step: &Seg, value: Option<Value>) {
    match (parent, step, value) {
        (Value::Object(map), step, Some(value)) => _ = map.insert(step.as_key().to_string(), value),
        (Value::Object(map), step, None) => _ = map.shift_remove(step.as_key().as_str()),
        (Value::Array(items), Seg::Index(i), Some(value)) => items[*i] = value,
        (Value::Array(items), Seg::Index(i), None) => _ = items.remove(*i),
        (parent, step, _) => panic!("no {step:?} in {parent}"),
    }
}

/// Holds the two against each other, and the places of what was found against the place of the change; what is wrong.
fn check(kind: &str, mutant: &Value, changed: &Path, what: &str) -> Option<String> {
    let mut text = String::new();
    yaml::emit(mutant, &mut text);
    with_root(&text, |node| {
        let decoded = typed_by_kind(node, kind);
        let listed = mistakes::list(node, kind);
        let verdicts = (decoded.as_ref().map_err(ToString::to_string).err(), told(&text, &listed));
        if decoded.is_ok() != listed.is_empty() {
            return Some(format!("{kind} {what} {changed}: {verdicts:?}\n"));
        }
        if listed.is_empty() {
            return None;
        }
        // the value with its key; of what is missing, what it is missing from
        let whole = Span::new(node.key_span_of(changed).start, node.span_of(changed).end);
        let parent = Path(changed.split_last().unwrap().1.to_vec());
        let near = |f: &crate::diag::Finding| {
            (whole.start <= f.span.start && f.span.end <= whole.end.max(node.key_span_of(changed).end))
                || f.span == node.key_span_of(&parent)
        };
        let somewhere = listed.iter().all(|f| text.get(f.span.range()).is_some_and(|t| !t.is_empty()));
        (!somewhere || !listed.iter().any(near))
            .then(|| format!("{kind} {what} {changed}: nothing is said there: {verdicts:?}\n"))
    })
}

fn documents() -> impl Iterator<Item = (&'static str, Value)> {
    rich::ALL.iter().map(|(kind, text)| (*kind, with_root(text, |node| node.to_json())))
}

#[test]
fn whole_documents_are_valid() {
    assert_eq!(documents().map(|(kind, _)| kind).collect::<Vec<_>>(), KINDS);
    for (kind, document) in documents() {
        let mut text = String::new();
        yaml::emit(&document, &mut text);
        with_root(&text, |node| {
            assert_eq!(typed_by_kind(node, kind).map_err(|e| e.to_string()), Ok(()), "{kind}");
            assert_eq!(told(&text, &mistakes::list(node, kind)), [""; 0], "{kind}");
        });
    }
}

#[test]
fn the_documents_have_every_field() {
    let mut written: BTreeSet<String> = BTreeSet::new();
    for (_, document) in documents() {
        let mut found = Vec::new();
        paths(&document, &Path::root(), &mut found);
        written.extend(found.iter().filter_map(|path| path.0.last().map(|seg| seg.as_key().to_string())));
    }
    for kind in KINDS {
        let schema = schema::of_kind(kind).unwrap().to_value();
        let types = schema["$defs"].as_object().into_iter().flatten().map(|(_, s)| s).chain([&schema]);
        for field in types.filter_map(|s| s["properties"].as_object()).flat_map(|p| p.keys()) {
            assert!(written.contains(field), "{kind}: no document has `{field}`");
        }
    }
}

/// Checks a change to each value of each document.
fn check_all(mutants: impl Fn(&Value, &Path) -> Vec<(Value, Path, String)>) {
    let mut wrong = String::new();
    for (kind, document) in documents() {
        let mut all = Vec::new();
        paths(&document, &Path::root(), &mut all);
        for (mutant, place, what) in all.iter().flat_map(|path| mutants(&document, path)) {
            wrong.extend(check(kind, &mutant, &place, &what));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_removed() {
    check_all(|document, path| {
        let mutant = edit(document, path, |parent, step| put(parent, step, None));
        vec![(mutant, path.clone(), "without".to_owned())]
    });
}

#[test]
fn what_is_renamed() {
    check_all(|document, path| {
        let Some((Seg::Key(key), parent)) = path.split_last() else { return Vec::new() };
        let renamed = Path(parent.to_vec()).join(Seg::Key(format!("{key}x").into()));
        let mutant = edit(document, path, |parent, step| {
            let value = parent[step.as_key().as_str()].clone();
            put(parent, step, None);
            parent[format!("{key}x")] = value;
        });
        vec![(mutant, renamed, "renamed".to_owned())]
    });
}

#[test]
fn what_is_of_another_type_or_out_of_range() {
    check_all(|document, path| {
        // which document it is was settled before
        if matches!(path.to_string().as_str(), "/apiVersion" | "/kind") {
            return Vec::new();
        }
        let mutant = |value: Value| {
            let what = format!("with {value} at");
            (edit(document, path, |parent, step| put(parent, step, Some(value))), path.clone(), what)
        };
        replacements().into_iter().map(mutant).collect()
    });
}
