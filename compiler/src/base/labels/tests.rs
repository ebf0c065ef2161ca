use proptest::prelude::*;

use super::*;

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| (SmolStr::new(key), SmolStr::new(value))).collect()
}

fn selector(json: &str) -> LabelSelector {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[test]
fn selectors_match_as_in_kubernetes() {
    let web = labels(&[("tier", "web"), ("env", "prod"), ("empty", "")]);
    let rows = [
        ("{}", true),
        (r#"{"matchLabels": {"tier": "web"}}"#, true),
        (r#"{"matchLabels": {"tier": "web", "env": "dev"}}"#, false),
        (r#"{"matchLabels": {"empty": ""}}"#, true),
        (r#"{"matchLabels": {"absent": ""}}"#, false),
        (r#"{"matchExpressions": [{"key": "env", "operator": "In", "values": ["dev", "prod"]}]}"#, true),
        (r#"{"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}"#, false),
        (r#"{"matchExpressions": [{"key": "absent", "operator": "NotIn", "values": ["prod"]}]}"#, true),
        (r#"{"matchExpressions": [{"key": "empty", "operator": "Exists"}]}"#, true),
        (r#"{"matchExpressions": [{"key": "absent", "operator": "DoesNotExist"}]}"#, true),
        (
            r#"{"matchLabels": {"tier": "web"}, "matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}"#,
            false,
        ),
    ];
    for (json, matches) in rows {
        let selector = selector(json);
        assert_eq!(selector.validate(), Ok(()), "{json}");
        assert_eq!(selector.matches(&web), matches, "{json}");
        // The checked form says the same.
        assert_eq!(selector.requirements().unwrap().iter().all(|r| r.matches(&web)), matches, "{json}");
    }
}

#[test]
fn invalid_selectors_are_refused_where_they_are_wrong() {
    let rows = [
        (r#"{"matchLabels": {"a": "not valid!"}}"#, "/matchLabels/a: \"not valid!\" is not a valid label value"),
        (r#"{"matchLabels": {"bad key": "x"}}"#, "/matchLabels/bad key: \"bad key\" is not a valid label key"),
        (r#"{"matchExpressions": [{"key": "a", "operator": "In"}]}"#, "/matchExpressions/0/values: In and NotIn need"),
        (
            r#"{"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["1"]}]}"#,
            "/matchExpressions/0/values: Exists",
        ),
        (
            r#"{"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "In", "values": ["ok", "n o"]}]}"#,
            "/matchExpressions/1/values/1: \"n o\" is not a valid label value",
        ),
    ];
    for (json, start) in rows {
        let error = selector(json).validate().unwrap_err().to_string();
        assert!(error.starts_with(start), "{json}: {error}");
    }
    for json in [
        r#"{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["0"]}]}"#,
        r#"{"matchExpressions": [{"key": "a", "operator": "in", "values": ["0"]}]}"#,
        r#"{"matchExpressions": [{"operator": "Exists"}]}"#,
        r#"{"matchLabel": {"a": "b"}}"#,
    ] {
        assert!(serde_json::from_str::<LabelSelector>(json).is_err(), "{json}");
    }
}

#[test]
fn queries_match_as_kubectl_does() {
    let one = labels(&[("a", "1"), ("n", "16"), ("in", "in"), ("example.com/x", "y")]);
    let empty = labels(&[("a", "")]);
    // query, matches `one`, matches `empty`
    let rows = [
        ("", true, true),
        (" \t\n", true, true),
        ("a", true, true),
        ("!a", false, false),
        ("!b", true, true),
        ("a=1", true, false),
        ("a == 1", true, false),
        ("a!=1", false, true),
        ("b!=1", true, true),
        ("a=", false, true),
        ("a=,n", false, false),
        ("a in (1,2)", true, false),
        ("a in(1)", true, false),
        ("a in ()", false, true),
        ("a in (,)", false, true),
        ("a in (1, )", true, true),
        ("a in (,1)", true, true),
        ("a in (2,,3)", false, true),
        ("a notin (1)", false, true),
        ("a notin ()", true, false),
        ("n>4", true, false),
        ("n < 4", false, false),
        ("a>0", true, false),
        ("b>0", false, false),
        ("in in (in)", true, false),
        ("in", true, false),
        ("in=in,notin!=x", true, false),
        ("example.com/x=y, !b , a", true, false),
        ("a=1,a=2", false, false),
    ];
    for (text, in_one, in_empty) in rows {
        let query = LabelQuery::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((query.matches(&one), query.matches(&empty)), (in_one, in_empty), "{text:?}");
        assert_eq!(LabelQuery::parse(&query.to_string()).unwrap(), query, "{text:?} written as {query}");
    }
}

#[test]
fn queries_say_what_was_expected() {
    let rows = [
        (",a", "found \",\", expected a label key or '!'"),
        ("a=1,", "found the end, expected a label key or '!'"),
        ("=1", "found \"=\", expected a label key or '!'"),
        ("!", "found the end, expected a label key after '!'"),
        ("!a=1", "found \"=\", expected ',' or the end"),
        ("a b", "found \"b\", expected one of in notin = == != > < after \"a\""),
        ("a in 1", "found \"1\", expected '('"),
        ("a in", "found the end, expected '('"),
        ("a in (1", "found the end, expected ',' or ')'"),
        ("a in (1 2)", "found \"2\", expected ',' or ')'"),
        ("a in (=)", "found \"=\", expected ',' or ')'"),
        ("a=(1)", "found \"(\", expected a value"),
        ("a=1 b=2", "found \"b\", expected ',' or the end"),
        ("a>x", "\"x\" is not an integer, as Gt and Lt need"),
        ("a>-1", "\"-1\" is not a valid label value"),
        ("a>", "\"\" is not an integer"),
        ("a=1;b", "\"1;b\" is not a valid label value"),
        ("a~1", "\"a~1\" is not a valid label key"),
    ];
    for (text, expected) in rows {
        let error = LabelQuery::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("invalid label query {text:?}: {expected}")), "{text:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_query_breaks_the_parser_and_what_is_read_is_written_and_read_again(text in r"([a-c,=!<>() ]|in|notin|[0-9]){0,12}") {
        if let Ok(query) = LabelQuery::parse(&text) {
            prop_assert_eq!(LabelQuery::parse(&query.to_string()), Ok(query));
        }
    }
}
