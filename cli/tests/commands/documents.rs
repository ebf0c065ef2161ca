//! Commands that documents print.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{assert_code, git, line, new_fleet, workspace};

/// The commands of the binary in the fenced blocks of a document, without prompts and comments.
fn commands(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("the document is there");
    let mut fenced = false;
    let mut found = Vec::new();
    for written in text.lines() {
        if written.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let command = written.trim_start_matches("$ ").split(" #").next().unwrap_or_default().trim();
            let cargo = "cargo run -q --locked -p fleetwright -- ";
            if let Some(arguments) = command.strip_prefix("fleetwright ").or_else(|| command.strip_prefix(cargo)) {
                found.push(arguments.to_owned());
            }
        }
    }
    found
}

#[test]
fn of_the_readme_and_the_examples() {
    let root = workspace();
    let target = TempDir::new().expect("a temporary folder");
    let mut run = BTreeSet::new();
    for document in [
        "README.md",
        "examples/web-shop/README.md",
        "examples/ai-platform/README.md",
        "examples/add-ons/README.md",
        "examples/data-platform/README.md",
    ] {
        let found = commands(&root.join(document));
        assert!(!found.is_empty(), "{document} shows no command");
        for arguments in found {
            let arguments = arguments.replace("/tmp", &target.path().to_string_lossy());
            let result = line(&root, &arguments);
            assert_code(&result, 0);
            let said = format!("{}{}", result.stdout, result.stderr);
            assert!(!said.is_empty(), "`{arguments}` of {document} prints nothing");
            run.extend(
                arguments
                    .split_whitespace()
                    .find(|word| !word.starts_with('-') && !word.contains('/'))
                    .map(str::to_owned),
            );
        }
    }
    for name in ["plan", "check", "why", "render"] {
        assert!(run.contains(name), "no document runs `{name}`: {run:?}");
    }
}

#[test]
fn of_a_new_fleet() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    git(&fleet, "init -q -b main");
    git(&fleet, "add -A");
    git(&fleet, "commit -q -m first");
    let found = commands(&fleet.join("README.md"));
    assert!(found.len() >= 7, "{found:?}");
    for arguments in found {
        assert_code(&line(&fleet, &arguments), 0);
    }
    assert!(fleet.join("rendered/prod-eu/shop/web.yaml").is_file());
    assert_eq!(git(&fleet, "status --porcelain"), "", "what is rendered is not committed by accident");
}
