//! Documents, anchors and merge keys, and the mistakes that end or spoil a document.

use serde_json::json;

use super::{mistakes, read, remarks};
use crate::base::Span;
use crate::yaml::{Limits, YamlErrorKind as Kind, compose};

#[test]
fn documents_are_counted_with_the_empty_ones() {
    for (text, expected) in [
        ("", vec![]),
        ("# only a comment\n", vec![]),
        ("---\n# only a comment\n---\n---\na: 1\n---\n", vec![(1, json!({"a": 1}))]),
        ("# licence\n---\na: 1\n--- # next\nb: 2\n", vec![(1, json!({"a": 1})), (2, json!({"b": 2}))]),
        ("null\n---\n~\n---\n1\n", vec![(2, json!(1))]),
        ("a: 1\n...\n# end\n", vec![(0, json!({"a": 1}))]),
        ("\u{feff}a: 1\n---\n\u{feff}b: 2\n", vec![(0, json!({"a": 1})), (1, json!({"b": 2}))]),
        ("\u{feff}---\na: 1\n", vec![(0, json!({"a": 1}))]),
        (
            "s: |\r\n  l1\r\n  ---\r\n  l2\r\n---\r\nb: 2",
            vec![(0, json!({"s": "l1\n---\nl2\n"})), (1, json!({"b": 2}))],
        ),
        ("a: ---\n", vec![(0, json!({"a": "---"}))]),
    ] {
        let (documents, errors) = compose(text, &Limits::default());
        assert_eq!(errors, [], "{text:?}");
        let found: Vec<_> = documents.iter().map(|d| (d.index, d.root.as_ref().unwrap().to_json())).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn places_are_those_of_the_file() {
    let text = "\u{feff}a: 1\n---\n# é\nb:\n  - x\n  - u: 'z'\n    w: {v: [1]}\nc: |\n  t\n\n";
    let (documents, _) = compose(text, &Limits::default());
    let root = documents[1].root.as_ref().unwrap();
    for (pointer, key, value) in [
        ("/b", Some("b"), "- x\n  - u: 'z'\n    w: {v: [1]}"),
        ("/b/0", None, "x"),
        ("/b/1", None, "u: 'z'\n    w: {v: [1]}"),
        ("/b/1/u", Some("u"), "'z'"),
        ("/b/1/w", Some("w"), "{v: [1]}"),
        ("/b/1/w/v/0", None, "1"),
        ("/c", Some("c"), "t"),
    ] {
        let (_, place) = root.nearest(&crate::base::Path::parse(pointer).unwrap());
        assert_eq!(place.key.map(|key| &text[key.span.range()]), key, "{pointer}");
        assert_eq!(&text[place.node.span.range()], value, "{pointer}");
    }
    assert_eq!(&text[documents[0].span.range()], "a: 1\n");
    assert!(text[documents[1].span.range()].starts_with("# é"));
}

#[test]
fn a_broken_document_spoils_no_other() {
    let text = "a: [1\n---\nb: 2\n--- c: 3\n---\nd: 4\nd: 5\ne: *x\n---\nf: 6\n";
    let (documents, errors) = compose(text, &Limits::default());
    let found: Vec<_> = documents.iter().map(|d| (d.index, d.root.as_ref().map(crate::yaml::Node::to_json))).collect();
    assert_eq!(found, [(0, None), (1, Some(json!({"b": 2}))), (2, None), (3, None), (4, Some(json!({"f": 6})))]);
    let kinds: Vec<_> = errors.iter().map(|error| &error.kind).collect();
    assert!(matches!(
        kinds.as_slice(),
        [Kind::Syntax(_), Kind::Separator, Kind::DuplicateKey { .. }, Kind::UnknownAnchor]
    ));
    assert!(errors.is_sorted_by_key(|error| error.span));
}

#[test]
fn keys_are_set_once() {
    let duplicate = |key: &str, start, end| Kind::DuplicateKey { key: key.to_owned(), first: Span::new(start, end) };
    assert_eq!(mistakes("a: 1\nb: 2\n\"a\": 3\n"), [("\"a\"", duplicate("a", 0, 1))]);
    assert_eq!(mistakes("{a: {b: 1, b: 2}}"), [("b", duplicate("b", 5, 6))]);
    assert_eq!(mistakes("1: a\n'1': b\n0x1: c\n"), [("'1'", duplicate("1", 0, 1)), ("0x1", duplicate("1", 0, 1))]);
    assert_eq!(mistakes("yes: a\n'true': b\n"), [("'true'", duplicate("true", 0, 3))]);
    assert_eq!(read("yes: a\n'yes': b\n"), [json!({"true": "a", "yes": "b"})]);
    // More keys than are compared one by one.
    let many: String = (0..40).map(|n| format!("k{n:02}: {n}\n")).collect();
    assert_eq!(mistakes(&format!("{many}k07: x\n")), [("k07", duplicate("k07", 49, 52))]);
    assert_eq!(read(&many)[0].as_object().unwrap().len(), 40);
}

#[test]
fn anchors_and_merges() {
    for (text, expected) in [
        ("a: &x {b: 1}\nc: *x\n", json!({"a": {"b": 1}, "c": {"b": 1}})),
        ("a: &x\nb: *x\n", json!({"a": null, "b": null})),
        ("a: &x 1\nb: &x 2\nc: *x\n", json!({"a": 1, "b": 2, "c": 2})),
        ("d: {<<: {a: 1}, b: 2}\n", json!({"d": {"a": 1, "b": 2}})),
        (
            "x: &x {b: 1}\nz: &z {b: 2, e: 3}\nd:\n  <<: [*x, *z]\n  f: 4\n",
            json!({"x": {"b": 1}, "z": {"b": 2, "e": 3}, "d": {"b": 1, "e": 3, "f": 4}}),
        ),
        ("x: &x {k: old}\nd:\n  <<: *x\n  k: new\n", json!({"x": {"k": "old"}, "d": {"k": "new"}})),
        ("x: &x {k: v}\nd:\n  <<: *x\n  <<: {k: w}\n", json!({"x": {"k": "v"}, "d": {"k": "w"}})),
        ("a: {\"<<\": {b: 1}}\n", json!({"a": {"<<": {"b": 1}}})),
        ("a: {!!merge <<: {b: 1}}\n", json!({"a": {"b": 1}})),
        ("a: [<<, b]\n", json!({"a": ["<<", "b"]})),
    ] {
        assert_eq!(read(text), [expected], "{text:?}");
    }
    for (text, place, kind) in [
        ("a: *x\n", "*x", Kind::UnknownAnchor),
        ("a: &x 1\n---\nb: *x\n", "*x", Kind::UnknownAnchor),
        ("*x : 1\n", "*x", Kind::UnknownAnchor),
        ("&x <<: {a: 1}\nb: *x\n", "*x", Kind::UnknownAnchor),
        ("a: &x {*x : 1}\n", "*x", Kind::RecursiveAnchor),
        ("a: &x [*x]\n", "*x", Kind::RecursiveAnchor),
        ("a: {<<: 5}\n", "5", Kind::Merge),
        ("a: {<<: }\n", "<<", Kind::Merge),
        ("a: {<<: [{b: 1}, 2]}\n", "[{b: 1}, 2]", Kind::Merge),
        ("x: &x [{b: 1}]\na: {<<: *x}\n", "*x", Kind::Merge),
        ("a: &x.y 1\n", "&x.y", Kind::AnchorName),
    ] {
        assert_eq!(mistakes(text), [(place, kind)], "{text:?}");
    }
}

/// Kubernetes' reader sets keys in the order of the text; see issue kubernetes-sigs/kustomize#5073 for the surprise.
#[test]
fn a_merge_below_a_key_wins_with_a_remark() {
    let text = "x: &x {k: old, m: 1}\nd:\n  k: new\n  m: 1\n  <<: *x\n";
    assert_eq!(read(text)[0]["d"], json!({"k": "old", "m": 1}));
    let found = remarks(text);
    assert_eq!(found.iter().map(|(place, _)| *place).collect::<Vec<_>>(), ["<<"]);
    assert!(found[0].1.contains("`k`"), "{found:?}");
}

#[test]
fn what_readers_take_differently_is_refused() {
    for (text, place, kind) in [
        ("%YAML 1.2\n---\na: 1\n", "%YAML 1.2", Kind::Directive),
        ("a: 1\n...\nb: 2\n", "b: 2", Kind::AfterEnd),
        ("a:\n\tb: 1\n", "\t", Kind::Tab),
        ("a:\n  b: 1\n \tc: 2\n", "\t", Kind::Tab),
        ("a: 1\n\t# c\nb: 2\n", "\t", Kind::Tab),
        ("-\ta\n", "\t", Kind::Tab),
        ("a: |\n  \tx\n", "\t", Kind::Tab),
        ("[x:]\n", "x", Kind::Brackets),
        ("{a:, b: 1}\n", "a", Kind::Brackets),
        ("[:x]\n", ":x", Kind::Brackets),
        ("[http://x/y?z]\n", "http://x/y?z", Kind::Brackets),
        ("|\nnot indented\n", "not indented", Kind::BlockAtMargin),
        ("a: |+\n  x\n ", " ", Kind::BlankLastLine),
        ("- \"\\ud83d\\ude00\"\n", "\\u", Kind::Surrogates),
        ("- \"\\/\"\n", "\\/", Kind::JsonEscape),
        ("a: \u{2028}x\n", "\u{2028}", Kind::OldLineBreak('\u{2028}')),
        ("a: \u{7}x\n", "\u{7}", Kind::ControlCharacter('\u{7}')),
        ("\u{feff}\u{feff}a: 1\n", "\u{feff}", Kind::ByteOrderMark),
        ("a: 1\n\u{feff}b: 2\n", "\u{feff}", Kind::ByteOrderMark),
    ] {
        let found = mistakes(text);
        assert_eq!(found, [(place, kind)], "{text:?}");
    }
    for text in [
        "a: b: c\n",
        "a: [1, 2\n",
        "a: 'x' y\n",
        "a: [a,,b]\n",
        "a: -\n",
        "a: \"\\q\"\n",
        "a: @x\n",
        "...\na: 1\n",
        "{a\n: b}\n",
    ] {
        assert!(matches!(mistakes(text).as_slice(), [(_, Kind::Syntax(problem))] if !problem.is_empty()), "{text:?}");
    }
}

#[test]
fn json_documents_have_json_escapes() {
    let text = "{\n\t\"a\": \"\\ud83d\\ude00\\/\\b\",\n\t\"b\": [1e3, -0.5, true, null, \"\"]\n}\n";
    assert_eq!(read(text), [json!({"a": "😀/\u{8}", "b": [1000, -0.5, true, null, ""]})]);
    assert_eq!(mistakes("{\"a\": \"\\ud83d\"}")[0].1, Kind::Surrogates);
}
