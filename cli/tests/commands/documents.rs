//! Commands that documents print.

use std::fs;
use std::path::Path;

use snapbox::{Assert, Data};
use tempfile::TempDir;

use super::{assert_code, finished, git, line, new_fleet, program, workspace};

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
fn of_the_readme() {
    let root = workspace();
    let found = commands(&root.join("README.md"));
    assert!(!found.is_empty(), "README.md shows no command");
    for arguments in found {
        let result = line(&root, &arguments);
        assert_code(&result, 0);
        assert!(!format!("{}{}", result.stdout, result.stderr).is_empty(), "`{arguments}` prints nothing");
    }
}

/// The lines of the `sh` blocks of a document, without comments.
fn shell_lines(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("the document is there");
    let mut found = Vec::new();
    let mut shell = false;
    for written in text.lines() {
        if written.starts_with("```") {
            shell = written == "```sh";
        } else if shell {
            found.push(written.split(" #").next().unwrap_or_default().trim().to_owned());
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder is made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("the folder can be read");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("it has a type").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("the file is copied");
        }
    }
}

/// Every line that a README of an example shows, run in a copy of `examples/` as a reader would, and all that it says. What
/// is said is in `examples/` beside this file; `SNAPSHOTS=overwrite` writes it anew.
#[test]
fn of_the_examples() {
    let root = workspace();
    let mut names: Vec<String> = fs::read_dir(root.join("examples"))
        .expect("there are examples")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let readme = fs::read_to_string(root.join("README.md")).expect("there is a README");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/examples");
    let mut path =
        vec![Path::new(env!("CARGO_BIN_EXE_fleetwright")).parent().expect("it lies in a folder").to_path_buf()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).expect("a path");
    for name in names {
        assert!(readme.contains(&format!("examples/{name}")), "README.md does not name examples/{name}");
        let folder = TempDir::new().expect("a temporary folder");
        let other = TempDir::new().expect("a temporary folder");
        copy(&root.join("examples"), &folder.path().join("examples"));
        let other_name = other.path().to_string_lossy().into_owned();
        let mut said = String::new();
        for shown in shell_lines(&root.join("examples").join(&name).join("README.md")) {
            let mut shell = program("sh", folder.path());
            let output = shell.env("PATH", &path).arg("-c").arg(shown.replace("/tmp", &other_name)).output();
            let result = finished(output.expect("a shell starts"));
            let text = format!("{}{}", result.stdout, result.stderr).replace(&other_name, "/tmp");
            let code = if result.code == 0 { String::new() } else { format!("(exit code {})\n", result.code) };
            said.push_str(&format!("$ {shown}\n{text}{code}\n"));
        }
        let assert = Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
        assert.eq(Data::text(said), Data::read_from(&golden.join(format!("{name}.txt")), None).raw());
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
