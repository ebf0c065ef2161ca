//! Hostile and broken input through the whole compile: no panic, every diagnostic inside its file, nothing half read.

use std::collections::BTreeSet;

use fleetwright_compiler::diag::{Diagnostics, Place};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{Limits, MemoryFiles, Overlay, RepoPath, SourceFile};
use fleetwright_compiler::{CompileError, Session, compile};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::fixture::{folder, tree};

/// Compiles, holds every place against its file, and gives the codes that were said.
fn judge(session: &Session, files: &MemoryFiles) -> BTreeSet<String> {
    let overlay = Overlay::same(files);
    match compile(session, &overlay, &Scenario::default()) {
        Ok(compiled) => {
            assert!(!compiled.diagnostics.has_errors());
            places(&overlay, &compiled.files, &compiled.diagnostics)
        }
        Err(CompileError::Refused(refusal)) => {
            assert!(refusal.diagnostics.has_errors());
            places(&overlay, &refusal.files, &refusal.diagnostics)
        }
        Err(error) => panic!("{error}"),
    }
}

fn places(overlay: &Overlay<'_>, files: &[SourceFile], diagnostics: &Diagnostics) -> BTreeSet<String> {
    for diagnostic in diagnostics.iter() {
        assert!(!diagnostic.message.is_empty());
        let related = diagnostic.related.iter().map(|(place, _)| place);
        for place in std::iter::once(&diagnostic.place).chain(related) {
            match place {
                Place::Call | Place::Path(_) => {}
                Place::File(id) => assert!(id.index() < files.len(), "{diagnostic:?}"),
                Place::Span(id, span) => {
                    let bytes = overlay.read(&files[id.index()], &Limits::STANDARD).unwrap();
                    assert!(span.range().end <= bytes.len(), "{diagnostic:?}: the file has {} bytes", bytes.len());
                    if let Ok(text) = std::str::from_utf8(&bytes) {
                        assert!(text.get(span.range()).is_some(), "{diagnostic:?} cuts a character");
                    }
                }
                Place::Object(_) => panic!("{diagnostic:?} has no span yet"),
            }
        }
    }
    diagnostics.iter().map(|d| d.code.to_string()).collect()
}

fn with(files: &MemoryFiles, path: &str, bytes: impl AsRef<[u8]>) -> MemoryFiles {
    files.with(&RepoPath::new(path).unwrap(), bytes.as_ref())
}

fn base() -> MemoryFiles {
    tree(&folder().join("base"))
}

/// A file of each kind that is read.
const PLACES: &[&str] = &[
    "fleet.yaml",
    "clusters/x.yaml",
    "policies/x.json",
    "teams/x.yaml",
    "teams/search/index/x.yaml",
    "teams/search/index/x.json",
    "placements/search.yaml",
    "state/capacity/eu-a.yaml",
];

#[test]
fn nasty_texts_in_every_kind_of_file() {
    let deep_flow = format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_maps = "{a: ".repeat(50_000);
    let deep_block: String = (0..2_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    let deep_items = "- ".repeat(50_000) + "x";
    let bomb = {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..30 {
            text += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", "));
        }
        text
    };
    let merge_bomb = {
        let mut text = "a0: &a0 {x: 1}\n".to_owned();
        for i in 1..40 {
            text += &format!("a{i}: &a{i} {{<<: [*a{0}, *a{0}], k{i}: *a{0}}}\n", i - 1);
        }
        text
    };
    let nested_lists = {
        let mut text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}".to_owned();
        for _ in 0..50 {
            text = format!("{{apiVersion: v1, kind: List, items: [{text}]}}");
        }
        text
    };
    let texts: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("one byte", vec![0xff]),
        ("nul", b"a: \0".to_vec()),
        ("bom alone", vec![0xef, 0xbb, 0xbf]),
        ("two boms", "\u{feff}\u{feff}a: b".into()),
        ("utf-16 le", vec![0xff, 0xfe, b'a', 0, b':', 0]),
        ("utf-16 be", vec![0xfe, 0xff, 0, b'a', 0, b':']),
        ("utf-16 without bom", vec![b'a', 0, b':', 0, b' ', 0, b'b', 0]),
        ("surrogates as bytes", vec![b'a', b':', b' ', 0xed, 0xa0, 0x80]),
        ("overlong", vec![b'a', b':', b' ', 0xc0, 0xaf]),
        ("cut character", "a: ü".as_bytes()[..4].to_vec()),
        ("lone surrogate", br#"{"a": "\ud800"}"#.to_vec()),
        ("surrogate pair", br#"{"a": "\ud83d\ude00"}"#.to_vec()),
        ("half an escape", br#"{"a": "\u12"#.to_vec()),
        ("old line breaks", "a: b\u{85}c: d\u{2028}e: f\r".into()),
        ("controls", "a: \u{1}\u{7f}\u{9f}".into()),
        ("wide characters first", "ü: [ß, {é: 1}]\n日本: 語\n".into()),
        (
            "wide unknown fields",
            "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata: {ñame: ü}\nspéc: {}\n".into(),
        ),
        ("wide list", "- é\n- ü: ö\n".into()),
        ("wide scalar", "日本語".into()),
        ("null", "null".into()),
        ("tilde", "~".into()),
        ("number", "-0".into()),
        ("separators", "---\n---\n...\n---\n".into()),
        ("comment", "# nothing\n".into()),
        (
            "numbers",
            "[1e400, -1e400, .inf, -.inf, .nan, 99999999999999999999999999, 0x7fffffffffffffffff, 1e-400, 0o9, 1:2:3]"
                .into(),
        ),
        ("keys", "? [a]\n: b\n? {c: d}\n: e\nnull: f\n1.5: g\n~: h\n".into()),
        ("anchors", "a: &a {b: *a}\nc: *d\ne: &e\nf: &f *e\n".into()),
        ("merges", "<<: 3\na: {<<: [1, {b: c}], <<: {d: e}}\n".into()),
        ("tags", "!a !b c: !!binary '*'\nd: !!int x\ne: !!set {f}\ng: !<tag:x> h\n".into()),
        ("directives", "%YAML 9.9\n%TAG ! tag:x\n--- a\n".into()),
        ("quotes", "a: 'b\nc: \"d\ne: |9\n  f\n".into()),
        ("tabs", "a:\n\tb: c\n\t- d\n".into()),
        ("template", "{{ range .x }}\na: {{ . }}\n{{ end }}\n".into()),
        ("merge conflict", "<<<<<<< HEAD\na: b\n=======\na: c\n>>>>>>> x\n".into()),
        ("deep flow", deep_flow.into()),
        ("deep maps", deep_maps.into()),
        ("deep block", deep_block.into()),
        ("deep items", deep_items.into()),
        ("alias bomb", bomb.into()),
        ("merge bomb", merge_bomb.into()),
        ("five MiB", format!("a: {}", "x".repeat(5 << 20)).into()),
        ("long key", format!("{}: 1", "k".repeat(1 << 20)).into()),
        ("many documents", "---\na: b\n".repeat(70_000).into()),
        ("many keys", (0..20_000).map(|i| format!("k{i}: {i}\n")).collect::<String>().into()),
        ("same keys", "k: 1\n".repeat(2_000).into()),
        ("nested lists", nested_lists.into()),
    ];
    let base = base();
    for (name, bytes) in texts {
        for place in PLACES {
            eprintln!("{name} in {place}");
            judge(&Session::new(), &with(&base, place, &bytes));
        }
    }
}

#[test]
fn nasty_manifests() {
    let deployment =
        |spec: &str| format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {spec}\n");
    let replicas = |value: &str| {
        deployment(&format!(
            "{{replicas: {value}, selector: {{}}, template: {{spec: {{containers: [{{name: a, image: a}}]}}}}}}"
        ))
    };
    let container =
        |fields: &str| deployment(&format!("{{selector: {{}}, template: {{spec: {{containers: {fields}}}}}}}"));
    let named = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \"{name}\"}}\n");
    let facts: Vec<(String, &[&str])> = vec![
        (replicas("-1"), &["FW1096"]),
        (replicas("2147483648"), &["FW1096"]),
        (replicas("1e9"), &["FW1132"]),
        (replicas("1e10"), &["FW1096"]),
        (replicas("\"3\""), &["FW1086"]),
        (replicas("3.0"), &[]),
        (replicas("3.5"), &["FW1086"]),
        (replicas("[]"), &["FW1086"]),
        (replicas("null"), &[]),
        (replicas("1e400"), &["FW1007", "FW1086"]),
        (named("cоnfig"), &["FW1095"]),
        (named("a\u{200b}b"), &["FW1095"]),
        (named("\u{202e}a"), &["FW1095"]),
        (named("../../etc"), &["FW1095"]),
        (named("a\\nb"), &["FW1095"]),
        (named(&"a".repeat(254)), &["FW1095"]),
        (named(""), &["FW1080"]),
        (container("{}"), &["FW1086"]),
        (container("[]"), &["FW1093"]),
        (container("[null]"), &["FW1086"]),
        (container("[{name: a, image: a, resources: {requests: {cpu: 1e999999999}}}]"), &["FW1007", "FW1093"]),
        (container("[{name: a, image: a, resources: {requests: {cpu: \"1e999999999\"}}}]"), &["FW1093"]),
        (container("[{name: a, image: a, resources: {requests: {cpu: \"-1\"}}}]"), &["FW1093"]),
        (container("[{name: a, image: a, resources: {requests: {cpu: \"9223372036854775807E\"}}}]"), &["FW1093"]),
        (container("[{name: a, image: a, resources: {requests: [1]}}]"), &["FW1086"]),
        ("apiVersion: v1\nkind: List\n".into(), &["FW1080"]),
        ("apiVersion: v1\nkind: List\nitems: null\n".into(), &["FW1080"]),
        ("apiVersion: v1\nkind: List\nitems: []\n".into(), &[]),
        (
            "apiVersion: v1\nkind: List\nitems: [1, null, [], {kind: List, apiVersion: v1, items: [2]}]\n".into(),
            &["FW1080"],
        ),
        ("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]\n".into(), &[]),
        ("apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}, {metadata: {name: b}}]\n".into(), &[]),
        ("apiVersion: v1\nkind: SecretList\nitems: [{metadata: {name: a}, stringData: {a: b}}]\n".into(), &["FW1088"]),
        (
            "apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {}}, {kind: null, metadata: {name: b}}, 1]\n"
                .into(),
            &["FW1080"],
        ),
        ("apiVersion: v1/v2/v3\nkind: ConfigMap\nmetadata: {name: a}\n".into(), &["FW1095"]),
        ("apiVersion: /\nkind: ConfigMap\nmetadata: {name: a}\n".into(), &["FW1095"]),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: [name]\n".into(), &["FW1080"]),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: [b], annotations: 3}\n".into(), &["FW1086"]),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: 3}\n".into(), &["FW1080"]),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: null}\n".into(), &[]),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: 3}\n".into(), &["FW1086", "FW1088"]),
    ];
    let base = base();
    let mut wrong = String::new();
    for (text, expected) in facts {
        let said = judge(&Session::new(), &with(&base, "teams/search/index/x.yaml", &text));
        if !said.iter().eq(expected) {
            wrong += &format!("{said:?}, not {expected:?}:\n{text}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn numbers_at_the_edge_of_their_types() {
    let base = base();
    let cluster = |pool: &str, rest: &str| {
        format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata: {{name: eu-b}}\n\
             spec: {{provider: gcp, region: eu, zones: [eu-1], values: {{domain: b}}, nodePools: [{pool}]{rest}}}\n"
        )
    };
    let app = |replicas: &str| {
        format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: App\nmetadata: {{name: index}}\n\
             spec: {{namespace: search, placement: {{replicas: {replicas}}}}}\n"
        )
    };
    for text in [
        cluster(
            "{name: a, nodes: 4294967295, allocatable: {cpu: \"9223372036854775807\", memory: 9223372036854775807E}}",
            "",
        ),
        cluster("{name: a, nodes: 0, allocatable: {}}", ""),
        cluster("{name: a, nodes: 4294967295, scalableTo: 4294967295, allocatable: {cpu: 9E, pods: \"0\"}}", ""),
        cluster("{name: a, nodes: 1, allocatable: {cpu: \"8\"}}", ", reserved: {cpu: 9E}, overcommit: {cpu: \"1000\"}"),
        cluster("{name: a, nodes: 1, allocatable: {cpu: 1n}}", ", overcommit: {cpu: \"0.001\"}"),
    ] {
        judge(&Session::new(), &with(&base, "clusters/eu-b.yaml", text));
    }
    for text in [
        app("{strategy: StaticWeight, weights: {eu-a: 4294967295, eu-b: 4294967295}, total: 2147483647}"),
        app("{strategy: StaticWeight, weights: {eu-a: 0, eu-b: 0}}"),
        app("{strategy: StaticWeight, weights: {}}"),
        app("{strategy: StaticWeight, weights: []}"),
        app("{strategy: Aggregated, total: 2147483647, capacity: Ignore}"),
        app("{strategy: DynamicWeight, total: 2147483647, perCluster: {min: 4294967295}}"),
        app("{strategy: StaticWeight, weights: [{weight: 1, min: 4294967295, max: 4294967295}], capacity: Ignore}"),
        app("{strategy: Duplicated, total: 0, perCluster: {max: 0}}"),
    ] {
        judge(&Session::new(), &with(&base, "teams/search/index/app.yaml", text));
    }
}

/// One change to the bytes of a file; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Change {
    Flip { at: usize, bit: u8 },
    Put { at: usize, bytes: &'static [u8] },
    Delete { at: usize, len: usize },
    Repeat { at: usize, len: usize },
    SwapLines { a: usize, b: usize },
    LineFrom { file: usize, from: usize, to: usize },
    Truncate { at: usize },
}

const TOKENS: &[&[u8]] = &[
    b"\n",
    b": ",
    b"- ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b"#",
    b"&a ",
    b"*a",
    b"!!str ",
    b"|\n",
    b"?",
    b"~",
    b"\0",
    b"\t",
    b"\xff",
    "é".as_bytes(),
    "\u{feff}".as_bytes(),
    b"---\n",
    b"null",
    b"-1",
    b"4294967296",
    b"yes",
    b"${",
    b"$${x}",
    b"<<: ",
    b"\r\n",
    b"\\",
    b"%",
    b"@",
    b"`",
    b"9999999999999999999999",
];

fn change() -> impl Strategy<Value = (usize, Change)> {
    let at = 0_usize..100_000;
    let change = prop_oneof![
        (at.clone(), 0_u8..8).prop_map(|(at, bit)| Change::Flip { at, bit }),
        (at.clone(), prop::sample::select(TOKENS)).prop_map(|(at, bytes)| Change::Put { at, bytes }),
        (at.clone(), 1_usize..60).prop_map(|(at, len)| Change::Delete { at, len }),
        (at.clone(), 1_usize..60).prop_map(|(at, len)| Change::Repeat { at, len }),
        (at.clone(), at.clone()).prop_map(|(a, b)| Change::SwapLines { a, b }),
        (at.clone(), at.clone(), at.clone()).prop_map(|(file, from, to)| Change::LineFrom { file, from, to }),
        at.clone().prop_map(|at| Change::Truncate { at }),
    ];
    (at, change)
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

fn apply(files: &mut [(String, Vec<u8>)], (file, change): &(usize, Change)) {
    let other = match change {
        Change::LineFrom { file, .. } => files[file % files.len()].1.clone(),
        _ => Vec::new(),
    };
    let index = file % files.len();
    let bytes = &mut files[index].1;
    let len = bytes.len();
    if len == 0 {
        return;
    }
    let range = |at: usize, count: usize| at % len..(at % len + count).min(len);
    match change {
        Change::Flip { at, bit } => bytes[at % len] ^= 1 << bit,
        Change::Put { at, bytes: token } => drop(bytes.splice(at % len..at % len, token.iter().copied())),
        Change::Delete { at, len } => drop(bytes.drain(range(*at, *len))),
        Change::Repeat { at, len } => {
            let piece = bytes[range(*at, *len)].to_vec();
            let start = range(*at, *len).start;
            bytes.splice(start..start, piece);
        }
        Change::SwapLines { a, b } => {
            let mut all = lines(bytes);
            let count = all.len();
            all.swap(a % count, b % count);
            *bytes = all.concat();
        }
        Change::LineFrom { from, to, .. } => {
            let source = lines(&other);
            if !source.is_empty() {
                let mut all = lines(bytes);
                let to = to % (all.len() + 1);
                all.insert(to, source[from % source.len()].clone());
                *bytes = all.concat();
            }
        }
        Change::Truncate { at } => bytes.truncate(at % len),
    }
}

#[test]
fn random_damage() {
    let mut texts = Vec::new();
    crate::fixture::list(&folder().join("base"), "", &mut texts);
    crate::fixture::list(&folder().join("fifteen/fleet/placements"), "placements/", &mut texts);
    texts.sort();
    let session = Session::new();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000);
    TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
        .run(&prop::collection::vec(change(), 1..8), |changes| {
            let mut files = texts.clone();
            changes.iter().for_each(|change| apply(&mut files, change));
            let tree = MemoryFiles::new(files).unwrap();
            let warm = judge(&session, &tree);
            prop_assert_eq!(
                warm,
                judge(&Session::new(), &tree),
                "a session that has seen other files says something else"
            );
            Ok(())
        })
        .unwrap();
}
