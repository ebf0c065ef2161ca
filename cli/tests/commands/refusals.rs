//! Exit codes, and what is said with them.

use std::fs;

use super::{assert_code, git, line, new_fleet, workspace, write};

#[test]
fn called_wrongly() {
    let root = workspace();
    let facts = [
        ("", "Usage"),
        ("frobnicate", "frobnicate"),
        ("-C examples/web-shop plan -o sarif", "plan"),
        ("-C examples/web-shop why shop/nothing", "nothing"),
        ("-C examples/web-shop why shop/jobs mars-1", "mars-1"),
        ("-C examples/web-shop plan --write --rev HEAD", "--rev"),
        ("--rev HEAD explain FW1130", "--rev"),
        ("explain FW9999", "FW9999"),
        ("explain app.spec.nothing", "nothing"),
        ("--threads 0 -C examples/web-shop check", "threads"),
    ];
    for (words, named) in facts {
        let result = line(&root, words);
        assert_eq!(result.code, 2, "`{words}`: {}{}", result.stdout, result.stderr);
        assert!(result.stderr.contains(named), "`{words}`: {}", result.stderr);
        assert_eq!(result.stdout, "", "`{words}` writes data");
    }
}

#[test]
fn a_wrong_repository_says_where_and_writes_nothing() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    let app = fs::read_to_string(fleet.join("teams/shop/web/app.yaml")).expect("it is there");
    write(&fleet, "teams/shop/web/app.yaml", &app.replace("spec:", "spec:\n  regoin: eu"));
    for words in ["check", "plan", "plan --write", "render --to ../out", "why shop/web"] {
        let result = line(&fleet, words);
        assert_eq!(result.code, 3, "`{words}`: {}", result.stderr);
        let said = format!("{}{}", result.stdout, result.stderr);
        assert!(said.contains("teams/shop/web/app.yaml") && said.contains("regoin"), "`{words}`: {said}");
    }
    assert!(!fleet.join("placements").exists() && !folder.path().join("out").exists());
}

#[test]
fn what_is_not_there() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    for (words, code) in
        [("-C ../nowhere plan", 5), ("plan --rev main", 2), ("diff ../nowhere", 2), ("plan --record ../nowhere", 2)]
    {
        let result = line(&fleet, words);
        assert_eq!(result.code, code, "`{words}`: {}", result.stderr);
        assert!(!result.stderr.is_empty(), "`{words}` says nothing");
    }
    // a folder that is no fleet is not an empty one
    assert_code(&line(folder.path(), "plan"), 5);
    git(&fleet, "init -q -b main");
    git(&fleet, "add -A");
    git(&fleet, "commit -q -m intents");
    assert_code(&line(&fleet, "plan --rev no-such-branch"), 5);
}

#[test]
fn init_never_writes_over_anything() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    let before = fs::read_to_string(fleet.join("fleet.yaml")).expect("it is there");
    write(&fleet, "fleet.yaml", &format!("{before}# mine\n"));
    let again = line(folder.path(), "init fleet");
    assert_ne!(again.code, 0);
    assert!(again.stderr.contains("fleet"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(fleet.join("fleet.yaml")).expect("it stays"), format!("{before}# mine\n"));
}

#[test]
fn secrets_are_named_and_never_shown() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter2-correct-horse}\n";
    write(&fleet, "teams/shop/web/secret.yaml", secret);
    for form in ["text", "json", "sarif", "github"] {
        let result = line(&fleet, &format!("check -o {form}"));
        assert_eq!(result.code, 3);
        let said = format!("{}{}", result.stdout, result.stderr);
        assert!(said.contains("secret.yaml") && !said.contains("hunter2"), "{form}: {said}");
    }
}
