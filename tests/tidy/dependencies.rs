//! Licences, bans and purity, from `cargo metadata`: what `cargo deny` would check, without its download.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::root;

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--locked", "--all-features"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

const LICENCES: &[&str] = &[
    "0BSD",
    "CDLA-Permissive-2.0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether a licence expression can be met by what is allowed: each part of an AND, one part of an OR.
fn allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|all| all.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

#[test]
fn every_licence_is_known() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        if !allowed(text(package, "license")) {
            wrong.push(format!("{} {}: {}", text(package, "name"), text(package, "version"), package["license"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!allowed("GPL-3.0") && allowed("MIT OR GPL-3.0") && !allowed("MIT AND GPL-3.0"));
}

#[test]
fn nothing_banned_is_built() {
    let metadata = metadata();
    let names: BTreeSet<&str> =
        metadata["packages"].as_array().expect("packages").iter().map(|p| text(p, "name")).collect();
    for banned in ["openssl", "openssl-sys", "aws-lc-rs", "aws-lc-sys", "libssh2-sys", "reqwest", "native-tls"] {
        assert!(!names.contains(banned), "{banned} is in the dependency tree");
    }
}

/// The compiler builds on nothing that could read a file, a clock, the network or a cluster.
#[test]
fn the_compiler_is_pure() {
    let metadata = metadata();
    let packages: BTreeMap<&str, &Value> =
        metadata["packages"].as_array().expect("packages").iter().map(|p| (text(p, "id"), p)).collect();
    let nodes: BTreeMap<&str, &Value> =
        metadata["resolve"]["nodes"].as_array().expect("nodes").iter().map(|n| (text(n, "id"), n)).collect();
    let start = packages.iter().find(|(_, p)| text(p, "name") == "fleetwright-compiler").expect("the compiler").0;
    let mut open = vec![*start];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for dep in nodes[id]["deps"].as_array().expect("deps") {
            let normal = dep["dep_kinds"].as_array().expect("kinds").iter().any(|k| k["kind"].is_null());
            if normal {
                open.push(text(dep, "pkg"));
            }
        }
    }
    let names: BTreeSet<&str> = seen.iter().map(|id| text(packages[id], "name")).collect();
    for banned in ["git2", "tokio", "kube", "notify", "ureq", "hyper", "clap", "miette", "tempfile", "chrono", "rand"] {
        assert!(!names.contains(banned), "the compiler depends on {banned}");
    }
}
