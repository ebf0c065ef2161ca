//! Every diagnostic at its exact place, and nothing besides.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::diag::codes;

use crate::fixture::{Fixture, differences, folder};

/// Codes that no repository alone can show.
const WITHOUT_FIXTURE: &[(&str, &str)] = &[("FW9001", "our bug: the checker found the schedule wrong")];

fn fixtures() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder().join("diagnostics")).unwrap().map(|e| e.unwrap().path());
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn the_base_fleet_is_clean() {
    assert_eq!(differences(&[], &Fixture::read("").said()), "");
}

#[test]
fn each_fixture_says_exactly_what_it_expects() {
    let mut wrong = String::new();
    for (name, text) in fixtures() {
        let fixture = Fixture::read(&text);
        let code = name.split('-').next().unwrap_or_default();
        if code != "clean" && !fixture.expected.iter().any(|e| e.code == code) {
            wrong.push_str(&format!("-- {name}\nexpects no {code}\n"));
        }
        let differences = differences(&fixture.expected, &fixture.said());
        if !differences.is_empty() {
            wrong.push_str(&format!("-- {name}\n{differences}"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_code_has_a_fixture() {
    let shown: BTreeSet<String> = fixtures().keys().filter_map(|n| n.split('-').next().map(str::to_owned)).collect();
    for entry in codes::table() {
        let code = entry.code.to_string();
        let excused = WITHOUT_FIXTURE.iter().any(|(c, _)| *c == code);
        assert!(
            shown.contains(&code) != excused,
            "{code}: {}",
            if excused { "excused, and shown" } else { "no fixture" }
        );
    }
}
