//! Rules about the source itself: who may import whom, names of files, where a crate may be named, licences, bans, purity.

#![cfg(test)]

mod dependencies;
mod files;
mod imports;
mod source;

use std::path::{Path, PathBuf};

/// The root of the workspace.
fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("tests/ lies in the workspace").to_path_buf()
}

/// Every Rust file of the product below a folder, tests left out, as (path relative to the root, text), ascending.
fn sources(below: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(below)];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                if name != "target" && name != "tests" {
                    open.push(path);
                }
            } else if name.ends_with(".rs") && !is_test(&name) {
                let text = std::fs::read_to_string(&path).expect("a source file is text");
                let relative =
                    path.strip_prefix(root()).expect("it lies below the root").to_string_lossy().into_owned();
                found.push((relative, text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources below {below}");
    found
}

/// Unit tests and property tests that lie beside what they test.
fn is_test(name: &str) -> bool {
    name == "tests.rs" || name == "properties.rs" || name.ends_with("_tests.rs")
}
