//! Typed values, and the places of mistakes in them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::base::Spanned;
use crate::yaml::{DecodeError, DecodeErrorKind, Limits, compose, decode};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Workload {
    name: Spanned<String>,
    replicas: Option<Spanned<u32>>,
    #[serde(default)]
    labels: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    ports: Vec<Spanned<u16>>,
    #[serde(default)]
    by_port: BTreeMap<u16, String>,
    #[serde(default)]
    by_mode: BTreeMap<Mode, i64>,
    #[serde(default)]
    spots: BTreeMap<Spanned<String>, u64>,
    mode: Option<Spanned<Mode>>,
    rule: Option<Spanned<Rule>>,
    weight: Option<f64>,
    #[serde(default)]
    inner: Vec<Inner>,
    wrapped: Option<Wrapped>,
    maybe: Option<Spanned<Option<bool>>>,
    big: Option<u64>,
    small: Option<i64>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum Mode {
    Fast,
    Slow,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Rule {
    Nothing,
    Fixed(u32),
    Range { low: u32, high: u32 },
    Pair(u8, u8),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    id: u32,
    deeper: Option<Box<Inner>>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(Spanned<String>);

fn workload(text: &str) -> Result<Workload, DecodeError> {
    let (documents, errors) = compose(text, &Limits::default());
    assert_eq!(errors, [], "{text:?}");
    decode(documents[0].root.as_ref().unwrap()).map_err(|error| error.with_source(text))
}

#[test]
fn places_are_exact_at_every_position() {
    let text = "\
name: web
replicas: 3
labels: {app: 'web', tier: x}
ports: [80, 0x1F]
byPort: {80: http, '443': https}
byMode: {Fast: -1}
spots: {a: 1, b: 18446744073709551615}
mode: Slow
rule:
  range: {low: 1, high: 2}
weight: 2
inner:
- id: 1
  deeper: {id: 2, deeper: ~}
wrapped: w
maybe: ~
";
    let value = workload(text).unwrap();
    let cut = |span: crate::base::Span| &text[span.range()];
    assert_eq!((value.name.value.as_str(), cut(value.name.span)), ("web", "web"));
    assert_eq!(value.replicas.as_ref().map(|r| (r.value, cut(r.span))), Some((3, "3")));
    let labels: Vec<_> = value.labels.iter().map(|(k, v)| (k.as_str(), v.value.as_str(), cut(v.span))).collect();
    assert_eq!(labels, [("app", "web", "'web'"), ("tier", "x", "x")]);
    let ports: Vec<_> = value.ports.iter().map(|p| (p.value, cut(p.span))).collect();
    assert_eq!(ports, [(80, "80"), (31, "0x1F")]);
    assert_eq!(value.by_port, BTreeMap::from([(80, "http".to_owned()), (443, "https".to_owned())]));
    assert_eq!(value.by_mode, BTreeMap::from([(Mode::Fast, -1)]));
    let spots: Vec<_> = value.spots.iter().map(|(k, v)| (k.value.as_str(), cut(k.span), *v)).collect();
    assert_eq!(spots, [("a", "a", 1), ("b", "b", u64::MAX)]);
    assert_eq!(value.mode.as_ref().map(|m| (&m.value, cut(m.span))), Some((&Mode::Slow, "Slow")));
    let rule = value.rule.unwrap();
    assert_eq!((&rule.value, cut(rule.span)), (&Rule::Range { low: 1, high: 2 }, "range: {low: 1, high: 2}"));
    assert_eq!(value.weight, Some(2.0));
    assert_eq!(value.inner[0].deeper.as_ref().unwrap().id, 2);
    assert_eq!(cut(value.wrapped.unwrap().0.span), "w");
    assert_eq!(value.maybe, None);
    for (text, expected) in [
        ("rule: nothing", Rule::Nothing),
        ("rule: {fixed: 3}", Rule::Fixed(3)),
        ("rule: {pair: [1, 2]}", Rule::Pair(1, 2)),
    ] {
        assert_eq!(workload(&format!("name: a\n{text}\n")).unwrap().rule.unwrap().value, expected);
    }
}

#[test]
fn a_mistake_is_named_where_it_is() {
    for (text, place, message, hint) in [
        ("replica: 1\n", "replica", "unknown field `replica`", Some("expected fields: name, replicas")),
        ("Replicas: 1\n", "Replicas", "unknown field `Replicas`", Some("write `replicas`: names are case-sensitive")),
        ("replicas: x\n", "x", "expected an integer from 0 to 4294967295, found a string", None),
        (
            "replicas: '3'\n",
            "'3'",
            "expected an integer from 0 to 4294967295, found a string",
            Some("write it without quotes"),
        ),
        ("replicas: ''\n", "''", "expected an integer from 0 to 4294967295, found a string", None),
        (
            "replicas: -1\n",
            "-1",
            "expected an integer from 0 to 4294967295, found an integer outside of that (written `-1`)",
            None,
        ),
        (
            "replicas: 4294967296\n",
            "4294967296",
            "expected an integer from 0 to 4294967295, found an integer outside of that (written `4294967296`)",
            None,
        ),
        ("replicas: 1.5\n", "1.5", "expected an integer from 0 to 4294967295, found a number (written `1.5`)", None),
        (
            "small: 9223372036854775808\n",
            "9223372036854775808",
            "expected an integer from -9223372036854775808 to 9223372036854775807, found an integer outside of that (written `9223372036854775808`)",
            None,
        ),
        (
            "big: -1\n",
            "-1",
            "expected an integer from 0 to 18446744073709551615, found an integer outside of that (written `-1`)",
            None,
        ),
        ("labels: {a: yes}\n", "yes", "expected a string, found the boolean true (written `yes`)", Some("quote it")),
        ("labels: {a: true}\n", "true", "expected a string, found the boolean true", Some("quote it")),
        ("labels: {a: 0644}\n", "0644", "expected a string, found an integer (written `0644`)", Some("quote it")),
        ("labels: {a: }\n", "", "expected a string, found nothing (null)", Some("give a value, or remove the key")),
        ("labels: [a]\n", "[a]", "expected a mapping, found a list", None),
        ("ports: {a: 1}\n", "{a: 1}", "expected a list, found a mapping", None),
        (
            "ports: [1, 2, 70000]\n",
            "70000",
            "expected an integer from 0 to 65535, found an integer outside of that (written `70000`)",
            None,
        ),
        ("byPort: {http: a}\n", "http", "expected an integer from 0 to 65535, found a string", None),
        ("byMode: {Quick: 1}\n", "Quick", "unknown value `Quick`", Some("expected values: Fast, Slow")),
        ("mode: fast\n", "fast", "unknown value `fast`", Some("write `Fast`: names are case-sensitive")),
        ("mode: 1\n", "1", "expected a name, or a mapping with one key, found an integer (written `1`)", None),
        ("rule: {range: {low: 1}}\n", "range", "missing field `high`", Some("add `high:`")),
        ("rule: {range: {low: 1, high: x}}\n", "x", "expected an integer from 0 to 4294967295, found a string", None),
        (
            "rule: {fixed: 1, range: 2}\n",
            "{fixed: 1, range: 2}",
            "expected a mapping with exactly one key, found 2 keys",
            None,
        ),
        ("rule: fixed\n", "fixed", "expected a mapping with this name as its key, found a string", None),
        ("rule: {nothing: 1}\n", "1", "expected nothing under this name, found an integer (written `1`)", None),
        ("rule: {pair: [1]}\n", "[1]", "expected a list of 2 elements, found 1 elements", None),
        ("inner:\n- deeper: {id: 1}\n", "deeper", "missing field `id`", Some("add `id:`")),
        ("inner:\n- id: 1\n  deeper: {}\n", "deeper", "missing field `id`", Some("add `id:`")),
        (
            "inner:\n- id: 1\n  deeper:\n    id: 2\n    idd: 3\n",
            "idd",
            "unknown field `idd`",
            Some("expected fields: id, deeper"),
        ),
        ("inner: [{}]\n", "{}", "missing field `id`", Some("add `id:`")),
        ("inner: [3]\n", "3", "expected a mapping, found an integer (written `3`)", None),
        ("wrapped: [x]\n", "[x]", "expected a string, found a list", None),
        ("weight: heavy\n", "heavy", "expected a number, found a string", None),
    ] {
        let text = format!("name: a\n{text}");
        let error = workload(&text).unwrap_err();
        assert_eq!(&text[error.span.range()], place, "{text:?}");
        assert_eq!(error.to_string(), message, "{text:?}");
        match hint {
            Some(hint) => assert!(error.hint().unwrap_or_default().starts_with(hint), "{text:?} {:?}", error.hint()),
            None => assert_eq!(error.hint(), None, "{text:?}"),
        }
    }
}

#[test]
fn a_missing_field_of_the_root_is_at_its_first_key() {
    let error = workload("replicas: 1\nmode: Fast\n").unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::MissingField { name: "name" });
    assert_eq!((error.span.start, error.span.end), (0, 8));
}

#[test]
fn messages_hold_no_value_unless_asked() {
    let (documents, _) = compose("name: a\nlabels: {pin: 123456}\n", &Limits::default());
    let error = decode::<Workload>(documents[0].root.as_ref().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "expected a string, found an integer");
}

#[test]
fn aliases_point_at_themselves_and_into_their_definition() {
    let text = "name: &n a\nlabels: {x: *n, y: &t true, z: *t}\n";
    let error = workload(text).unwrap_err();
    assert_eq!(&text[error.span.range()], "true");
    let text = "replicas: &r x\nname: *r\n";
    assert_eq!(workload(text).unwrap_err().span.start, 13);
}
