//! What we write is read back as it was, by us here and by other readers in the workspace's tests.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{read, remarks};
use crate::yaml::{emit, emit_documents};

fn text_of(value: &Value) -> String {
    let mut out = String::new();
    emit(value, &mut out);
    out
}

#[test]
fn layout_is_that_of_kubectl() {
    let value = json!({
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {}, "on": "yes"},
        "spec": {
            "containers": [
                {"name": "c", "args": ["--x", "no", "a: b"], "command": []},
                {"name": "d", "env": null}
            ],
            "matrix": [[1, [2]], [{"k": [3]}]],
            "script": "#!/bin/sh\nset -e\n\nrun\n",
            "stripped": "a\nb",
            "kept": "a\n\n",
            "m": [1, -2, 18446744073709551615u64, 1.5, 1e21, 1.5e-7]
        }
    });
    let expected = "\
apiVersion: v1
metadata:
  name: a
  labels: {}
  \"on\": \"yes\"
spec:
  containers:
  - name: c
    args:
    - \"--x\"
    - \"no\"
    - \"a: b\"
    command: []
  - name: d
    env: null
  matrix:
  - - 1
    - - 2
  - - k:
      - 3
  script: |
    #!/bin/sh
    set -e

    run
  stripped: |-
    a
    b
  kept: |+
    a

  m:
  - 1
  - -2
  - 18446744073709551615
  - 1.5
  - 1.0e+21
  - 1.5e-7
";
    assert_eq!(text_of(&value), expected);
    assert_eq!(read(expected), [value]);
}

#[test]
fn documents_are_separated_and_no_more() {
    assert_eq!(emit_documents(&[]), "");
    assert_eq!(emit_documents(&[json!({"a": 1})]), "a: 1\n");
    let values = [json!({"a": "x\n\n"}), json!([]), json!({}), json!("s")];
    let text = emit_documents(&values);
    assert_eq!(text, "a: |+\n  x\n\n---\n[]\n---\n{}\n---\ns\n");
    assert_eq!(read(&text), values);
}

#[test]
fn strings_are_bare_only_when_every_reader_agrees() {
    for text in ["a", "/bin/sh", "nginx:1.25", "a b", "x=1, y (z)", "v1.2-rc_3+4", "http://x:80/y", "$", "*"] {
        let bare = text_of(&json!(text)) == format!("{text}\n");
        assert_eq!(bare, !matches!(text, "$" | "*"), "{text}");
    }
    for text in [
        "",
        "yes",
        "No",
        "ON",
        "off",
        "y",
        "N",
        "true",
        "FALSE",
        "null",
        "NULL",
        "~",
        "nan",
        ".inf",
        "Inf",
        "=",
        "<<",
        "1",
        "-1",
        "+1",
        "1_000",
        "1_",
        "0_7",
        "0x1F",
        "0b1",
        "0o7",
        "1e3",
        ".5",
        "1.5",
        "2024-01-01",
        "12:30",
        "190:20:30",
        "a: b",
        "a:",
        "a ",
        " a",
        "a #b",
        "#a",
        "- a",
        "---",
        "...",
        "[a",
        "{a",
        "a]",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "\"",
        "'",
        "a\tb",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{feff}",
        "\u{fffe}",
        "é",
        "a\\b",
        "?",
        ",",
    ] {
        let written = text_of(&json!({ text: text }));
        assert!(written.starts_with('"') && written.ends_with("\"\n"), "{text:?} {written:?}");
        assert_eq!(read(&written), [json!({ text: text })], "{text:?}");
        assert_eq!(remarks(&written), [], "{text:?}");
    }
}

#[test]
fn text_that_a_block_would_lose_is_quoted() {
    for text in [
        "\n",
        "\na",
        " a\nb",
        "\ta\nb",
        "a \nb",
        "a\nb ",
        "a\t\nb",
        "a\r\nb",
        "a\n \nb",
        "a\nb\u{85}",
        "a\n\u{2028}",
        "a\n\u{feff}b",
        "a\n\u{1}",
    ] {
        let written = text_of(&json!([text]));
        assert!(written.starts_with("- \"") && written.lines().count() == 1, "{written:?}");
        assert_eq!(read(&written), [json!([text])]);
    }
    for text in ["a\nb", "a\nb\n", "a\n\n\n", "a\n\n b\n", "# a\n---\n", "a\n\tb\n", "é\n😀"] {
        let written = text_of(&json!({"k": [text]}));
        assert!(written.starts_with("k:\n- |"), "{written:?}");
        assert_eq!(read(&written), [json!({"k": [text]})]);
    }
}

#[test]
fn long_keys_are_marked() {
    let key = "k".repeat(1100);
    let value = json!({ "a": { &key: {"b": [1]} }, &key: 2 });
    let text = text_of(&value);
    assert!(text.contains("\n  ? kkk") && text.contains("\n  :\n    b:"));
    assert_eq!(read(&text), [value]);
}

/// Text with much of what is special, and values of it.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z0-9:#\\-\\[\\]{},&*!|>'\"%@`?=<~._ \n\t\r\\\\é\u{85}\u{2028}\u{feff}]{0,8}",
        "(yes|no|on|off|y|n|null|true|inf|nan|~|=|<<|[0-9_.:xobe+-]{1,6})",
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("an integer is written and read as one", |f| f.is_finite() && f.fract() != 0.0)
            .prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_is_read_back(value in values().prop_filter("null is no document", |value| !value.is_null())) {
        let text = text_of(&value);
        prop_assert_eq!(read(&text), vec![value.clone()], "{}", text);
        prop_assert_eq!(remarks(&text), vec![]);
        prop_assert!(text.ends_with('\n'));
    }
}
