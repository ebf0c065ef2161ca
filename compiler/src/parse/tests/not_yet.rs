//! Each row of the table of refused fields is refused where it is written.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{rich, with_root};
use crate::api::not_yet::{NOT_YET, NotYet, PLACEMENTS, findings};
use crate::base::{Path, Seg, Span};
use crate::yaml;

/// The document of a kind with every refused field and value in it.
fn document(kind: &str) -> Value {
    let text = |kind| rich::ALL.iter().find(|(k, _)| *k == kind).unwrap().1;
    let mut value = with_root(text(kind), |node| node.to_json());
    let placement = with_root(rich::FLEET, |node| node.to_json())["spec"]["defaults"]["placement"].clone();
    for (_, path) in PLACEMENTS.iter().filter(|(k, _)| *k == kind) {
        let pointer = Path::of_keys(path.iter().copied()).to_string();
        *value.pointer_mut(&pointer).unwrap() = placement.clone();
    }
    for row in NOT_YET.iter().filter(|row| row.kind == kind) {
        if let Some(refused) = row.value {
            write(&mut value, row.path, refused);
        }
    }
    for row in NOT_YET.iter().filter(|row| row.kind == "*") {
        for (_, prefix) in PLACEMENTS.iter().filter(|(k, _)| *k == kind) {
            if let Some(refused) = row.value {
                write(&mut value, &[prefix, row.path].concat(), refused);
            }
        }
    }
    value
}

/// Writes a value, and what is missing on the way to it.
fn write(value: &mut Value, path: &[&str], refused: &str) {
    let at = path.iter().fold(value, |at, key| if *key == "[]" { &mut at[0] } else { &mut at[*key] });
    *at = refused.into();
}

/// The path with the first item of every list.
fn place(path: &[&str]) -> Path {
    Path(path.iter().map(|key| if *key == "[]" { Seg::Index(0) } else { Seg::Key((*key).into()) }).collect())
}

/// The places of a row in a kind.
fn places(row: &NotYet, kind: &str) -> Vec<Path> {
    if row.kind == kind {
        return vec![place(row.path)];
    }
    let prefixes = PLACEMENTS.iter().filter(|(k, _)| row.kind == "*" && *k == kind);
    prefixes.map(|(_, prefix)| place(&[prefix, row.path].concat())).collect()
}

#[test]
fn every_row_is_refused_at_its_place() {
    for (kind, _) in rich::ALL {
        let mut text = String::new();
        yaml::emit(&document(kind), &mut text);
        with_root(&text, |node| {
            let expected: BTreeSet<(Span, &str)> = NOT_YET
                .iter()
                .flat_map(|row| places(row, kind).into_iter().map(move |path| (row, path)))
                .map(|(row, path)| {
                    assert!(node.to_json().pointer(&path.to_string()).is_some(), "{kind} {path} is not written");
                    (if row.value.is_some() { node.span_of(&path) } else { node.key_span_of(&path) }, row.will)
                })
                .collect();
            let found = findings(kind, node);
            for finding in &found {
                assert_eq!(finding.code.to_string(), "FW1024");
            }
            let said: BTreeSet<(Span, &str)> = found
                .iter()
                .map(|f| (f.span, f.message.split_once("not supported yet: ").map_or("", |(_, will)| will)))
                .collect();
            assert_eq!(said, expected, "{kind}");
        });
    }
}

#[test]
fn a_field_that_says_nothing_is_not_refused() {
    let text = "spec: {suspend: null, placement: {move: null}, objects: [{replicas: {autoscaled: null}}]}\n";
    with_root(text, |node| assert_eq!(findings("App", node), []));
}
