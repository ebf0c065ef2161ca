//! Names and sizes of files.

use crate::source::code;
use crate::{root, sources};

const FOLDERS: [&str; 5] = ["compiler/src", "compiler/files/src", "reconciler/src", "cli/src", "tests/src"];

#[test]
fn no_file_is_named_after_nothing() {
    let empty = ["util", "utils", "helper", "helpers", "common", "misc", "part2", "stuff"];
    for below in FOLDERS {
        for (path, _) in sources(below) {
            let named = path.split(['/', '.']).any(|part| empty.contains(&part));
            assert!(!named, "{path}: name the idea");
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for below in FOLDERS {
        for (path, text) in sources(below) {
            assert!(text.starts_with("//!"), "{path} has no module documentation");
        }
    }
}

/// Lines up to the last one that holds code of the product.
fn product_lines(text: &str) -> usize {
    code(text).trim_end().lines().count()
}

/// A report, not a limit: a file past 400 lines is two ideas.
#[test]
fn sizes_of_files_are_reported() {
    let mut long: Vec<(usize, String)> = FOLDERS
        .iter()
        .flat_map(|below| sources(below))
        .map(|(path, text)| (product_lines(&text), path))
        .filter(|(lines, _)| *lines > 400)
        .collect();
    long.sort();
    for (lines, path) in long.iter().rev() {
        println!("{lines:5} lines  {path}");
    }
    println!("{} files past 400 lines", long.len());
}

#[test]
fn the_root_holds_what_the_architecture_names_and_nothing_else() {
    let known = [
        ".cargo",
        ".ci",
        ".git",
        ".gitignore",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "NOTICE",
        "README.md",
        "cli",
        "clippy.toml",
        "compiler",
        "deny.toml",
        "examples",
        "fleet-repo-template",
        "reconciler",
        "rustfmt.toml",
        "schemas",
        "target",
        "tests",
    ];
    for entry in std::fs::read_dir(root()).expect("the root can be read") {
        let name = entry.expect("an entry can be read").file_name().to_string_lossy().into_owned();
        assert!(known.contains(&name.as_str()), "{name} does not belong into the root");
    }
}
