//! What plain scalars, quotes, blocks and tags mean. The right values are those of sigs.k8s.io/yaml 1.6.

use serde_json::{Value, json};

use super::{mistakes, read, remarks};
use crate::yaml::YamlErrorKind as Kind;

fn value(text: &str) -> Value {
    read(&format!("a: {text}\n")).remove(0)["a"].clone()
}

#[test]
fn plain_scalars_are_what_kubernetes_reads() {
    for (text, expected) in [
        ("", json!(null)),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("nULL", json!("nULL")),
        ("yes", json!(true)),
        ("Y", json!(true)),
        ("ON", json!(true)),
        ("oN", json!("oN")),
        ("n", json!(false)),
        ("off", json!(false)),
        ("0644", json!(420)),
        ("-0644", json!(-420)),
        ("0o644", json!(420)),
        ("0O17", json!(15)),
        ("0o8", json!("0o8")),
        ("08", json!(8)),
        ("0888", json!(888)),
        ("0", json!(0)),
        ("00", json!(0)),
        ("0x1F", json!(31)),
        ("-0x1f", json!(-31)),
        ("0x", json!("0x")),
        ("0x-1", json!("0x-1")),
        ("0b11", json!(3)),
        ("0b-1", json!(-1)),
        ("0b+1", json!(1)),
        ("-0b-1", json!("-0b-1")),
        ("0b2", json!("0b2")),
        ("+1", json!(1)),
        ("++1", json!("++1")),
        ("1_000", json!(1000)),
        ("1__0", json!(10)),
        ("1_", json!(1)),
        ("_1", json!("_1")),
        ("0_7", json!(7)),
        ("9223372036854775807", json!(i64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775809", json!(-9223372036854776000.0)),
        ("123456789012345678901234567890", json!(1.2345678901234568e29)),
        ("1.5", json!(1.5)),
        ("1.0", json!(1)),
        ("1.", json!(1)),
        (".5", json!(0.5)),
        ("+.5", json!(0.5)),
        (".5_0", json!(0.5)),
        (".5_", json!(".5_")),
        ("._5", json!("._5")),
        (".", json!(".")),
        ("1e3", json!(1000)),
        ("1E-3", json!(0.001)),
        ("1e1_0", json!(10_000_000_000_i64)),
        ("1e19", json!(10_000_000_000_000_000_000_u64)),
        ("4611686018427387904.0", json!(4_611_686_018_427_388_000_i64)),
        ("1e400", json!("1e400")),
        ("1e", json!("1e")),
        ("0x1p4", json!("0x1p4")),
        ("12:30", json!("12:30")),
        ("190:20:30", json!("190:20:30")),
        ("2001-12-14", json!("2001-12-14")),
        ("2001-12-14T21:59:43.10-05:00", json!("2001-12-14T21:59:43.10-05:00")),
        ("=", json!("=")),
        ("<<", json!("<<")),
        ("inf", json!("inf")),
        ("NaN", json!("NaN")),
        ("100m", json!("100m")),
        ("1.2.3", json!("1.2.3")),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn keys_are_text() {
    for (text, expected) in [
        ("1", "1"),
        ("0644", "420"),
        ("yes", "true"),
        ("OFF", "false"),
        ("'yes'", "yes"),
        ("1.5e3", "1500"),
        ("1e6", "1e+06"),
        ("685230.15", "685230.1"),
        ("0.00001", "1e-05"),
        ("3.14159265358979323846", "3.1415927"),
        ("123456789012345678901234567890", "1.2345679e+29"),
        ("1e300", ".inf"),
        ("-.INF", "-.inf"),
        (".NaN", ".nan"),
        ("2001-12-14", "2001-12-14"),
        ("! 5", "5"),
    ] {
        assert_eq!(read(&format!("{text}: v\n")), [json!({ expected: "v" })], "{text:?}");
    }
    assert_eq!(read("a: &x 0644\n*x : v\n"), [json!({"a": 420, "420": "v"})]);
    for (text, place, kind) in [
        ("~: v\n", "~", Kind::KeyNull),
        ("9223372036854775808: v\n", "9223372036854775808", Kind::KeyTooLarge),
        ("? {a: 1}\n: v\n", "{a: 1}", Kind::KeyNotScalar),
        ("? [a]\n: v\n", "[a]", Kind::KeyNotScalar),
        ("a: &x [1]\n*x : v\n", "*x", Kind::KeyNotScalar),
        ("a: {{ .Values.x }}\n", "{ .Values.x }", Kind::Template),
    ] {
        assert_eq!(mistakes(text), [(place, kind)], "{text:?}");
    }
}

#[test]
fn quotes_blocks_and_lines() {
    for (text, expected) in [
        ("'it''s'", json!("it's")),
        ("\"\\x41\\u00e9\\U0001F600\\e\\_\\N\"", json!("Aé😀\u{1b}\u{a0}\u{85}")),
        ("\"a\\\n   b\"", json!("ab")),
        ("'a\n\n  b'", json!("a\nb")),
        ("x\n  y\n\n  z", json!("x y\nz")),
        ("|\n  one\n   two\n", json!("one\n two\n")),
        ("|-\n  one\n\n", json!("one")),
        ("|+\n  one\n\n", json!("one\n\n\n")),
        (">\n  one\n  two\n\n  three\n", json!("one two\nthree\n")),
        (">-\n  one\n   more\n  two\n", json!("one\n more\ntwo")),
        ("|2\n   one\n", json!(" one\n")),
        ("|1-\n  one\n", json!(" one")),
        ("|\n  last line", json!("last line\n")),
        ("|\n", json!("")),
        ("|\n\n  first empty\n", json!("\nfirst empty\n")),
        ("|\n  a\tb\n  \tc\n", json!("a\tb\n\tc\n")),
        ("[a, 'b', \"c\", [1], {d: 2, e}, f: 3]", json!(["a", "b", "c", [1], {"d": 2, "e": null}, {"f": 3}])),
        ("[\n  a,\n  b,\n]", json!(["a", "b"])),
        ("# c\n  b: 1", json!({"b": 1})),
        ("\t1\t# c", json!(1)),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
    assert_eq!(
        read("a:\r\n- b: |\r\n    x\r\n    y\r\n- 'q\r\n\r\n  r'\r\n"),
        [json!({"a": [{"b": "x\ny\n"}, "q\nr"]})]
    );
    assert_eq!(read("? |\n  multi\n: - v\n"), [json!({"multi\n": ["v"]})]);
}

#[test]
fn tags_change_only_what_they_may() {
    for (text, expected) in [
        ("!!str yes", json!("yes")),
        ("!!str", json!("")),
        ("!<tag:yaml.org,2002:str> 1", json!("1")),
        ("! 5", json!("5")),
        ("!!int \"0x10\"", json!(16)),
        ("!!float 3", json!(3)),
        ("!!bool \"on\"", json!(true)),
        ("!!null ''", json!(null)),
        ("!!binary aGk=", json!("hi")),
        ("!!binary aG\\\n\n", json!(null)),
        ("!!timestamp 2001-12-14", json!("2001-12-14")),
        ("!!timestamp 2001-12-14t21:59:43.10-05:00", json!("2001-12-14t21:59:43.10-05:00")),
        ("!!set {a, b}", json!({"a": null, "b": null})),
        ("!!omap [a: 1]", json!([{"a": 1}])),
    ] {
        if text.starts_with("!!binary aG\\") {
            assert_eq!(mistakes(&format!("a: {text}")), [("aG\\", Kind::InvalidBase64)]);
            continue;
        }
        assert_eq!(value(text), expected, "{text:?}");
    }
    let mismatch = |tag: &'static str| Kind::TagMismatch { tag };
    for (text, place, kind) in [
        ("!!int abc", "abc", mismatch("!!int")),
        ("!!int 1.0", "1.0", mismatch("!!int")),
        ("!!float 18446744073709551615", "18446744073709551615", mismatch("!!float")),
        ("!!null x", "x", mismatch("!!null")),
        ("!!timestamp 2001-13-14", "2001-13-14", mismatch("!!timestamp")),
        ("!!timestamp 2001-02-29", "2001-02-29", mismatch("!!timestamp")),
        ("!!binary aGk", "aGk", Kind::InvalidBase64),
        ("!!binary a===", "a===", Kind::InvalidBase64),
        ("!!binary /w==", "/w==", Kind::BinaryNotText),
    ] {
        assert_eq!(mistakes(&format!("a: {text}\n")), [(place, kind)], "{text:?}");
    }
    for (text, place) in [("a: !Ref b\n", "b"), ("a: !x [1]\n", "[1]"), ("a: !!seq {b: 1}\n", "{b: 1}")] {
        let found = remarks(text);
        assert!(
            found.len() == 1 && found[0].0.starts_with(&place[..1]) && found[0].1.contains("ignores the tag"),
            "{text:?} {found:?}"
        );
    }
}

#[test]
fn json_has_no_infinity() {
    for text in [".inf", "-.Inf", "+.INF", ".nan"] {
        assert_eq!(mistakes(&format!("a: [{text}]\n")), [(text, Kind::NotFinite)]);
    }
    assert_eq!(mistakes("&x .inf: *x\n"), [("*x", Kind::NotFinite)]);
}

#[test]
fn only_scalars_that_readers_take_differently_are_remarked_on() {
    for (text, kubernetes, core) in [
        ("yes", "the boolean true", "text"),
        ("n", "the boolean false", "text"),
        ("Off", "the boolean false", "text"),
        ("0644", "the number 420", "the number 644"),
        ("010", "the number 8", "the number 10"),
        ("1_000", "the number 1000", "text"),
        ("0b11", "the number 3", "text"),
        ("-0x1F", "the number -31", "text"),
        ("0O7", "the number 7", "text"),
        ("0X1F", "the number 31", "text"),
        (".5_0", "the number 0.5", "text"),
        ("1e400", "text", "the number inf"),
    ] {
        let expected = format!("`{text}` is {kubernetes} for Kubernetes and {core} for YAML 1.2");
        for line in [format!("a: {text}\n"), format!("- {text}\n"), format!("{text}: a\n"), format!("[{text}]\n")] {
            assert_eq!(remarks(&line), [(text, expected.clone())], "{line:?}");
        }
        assert_eq!(remarks(&format!("a: '{text}'\n")), [], "{text:?}");
    }
    for text in [
        "true",
        "null",
        "~",
        "",
        "0",
        "-1",
        "+1",
        "12",
        "08",
        "1.5",
        "1e3",
        "+.5",
        "1.",
        "0o644",
        "0x1F",
        "12:30",
        "2001-12-14",
        "00",
        "x",
        "123456789012345678901234567890",
        "18446744073709551616",
        "-9223372036854775809",
        "4611686018427387904.0",
        "0o8",
        "no1",
        "truE",
    ] {
        assert_eq!(remarks(&format!("a: {text}\n")), [], "{text:?}");
    }
}

#[test]
fn remarks_can_be_made_without_the_value() {
    let (documents, _) = crate::yaml::compose("pin: 0123\n", &crate::yaml::Limits::default());
    let warning = &documents[0].warnings[0];
    assert_eq!(
        warning.message("pin: 0123\n"),
        "`0123` is the number 83 for Kubernetes and the number 123 for YAML 1.2"
    );
    assert_eq!(warning.hint(), "write `83` if the number is meant, quote it if text is meant");
    assert_eq!(warning.masked(), "this is an integer for Kubernetes and another integer for YAML 1.2");
    assert_eq!(warning.masked_hint(), "quote it, or write it so that every reader agrees");
}
