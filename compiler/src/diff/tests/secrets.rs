//! Secrets: what differs is told, what it is is not.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::diff::absent::drop_undeclared;
use crate::diff::fields::{Edit, FieldChange};
use crate::diff::secret::secret_changes;
use crate::kinds::native::lookup;

fn found(before: &Value, after: &Value) -> Vec<FieldChange> {
    let (mut before, mut after) = (before.clone(), after.clone());
    drop_undeclared(&mut before);
    drop_undeclared(&mut after);
    secret_changes(lookup("", "v1", "Secret"), before, after)
}

fn secret(fields: Value) -> Value {
    let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "ns"}});
    secret.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    secret
}

fn change(path: &str, edit: Edit) -> FieldChange {
    FieldChange { path: path.to_owned(), edit }
}

#[test]
fn keys_that_differ_are_named() {
    let facts: Vec<(Value, Value, Vec<FieldChange>)> = vec![
        (
            secret(json!({"data": {"pw": "YQ=="}})),
            secret(json!({"data": {"pw": "Yg=="}})),
            vec![change("data.pw", Edit::SecretChanged)],
        ),
        (
            secret(json!({"data": {"pw": "YQ=="}})),
            secret(json!({"stringData": {"tls.crt": "x"}})),
            vec![change("data.pw", Edit::SecretRemoved), change("data[\"tls.crt\"]", Edit::SecretAdded)],
        ),
        // the same value in the other field, or broken into lines, is no change
        (secret(json!({"data": {"pw": "aGVsbG8="}})), secret(json!({"stringData": {"pw": "hello"}})), vec![]),
        (secret(json!({"data": {"pw": "aGVs\nbG8=\n"}})), secret(json!({"data": {"pw": "aGVsbG8="}})), vec![]),
        (secret(json!({"stringData": {"a": ""}})), secret(json!({"data": {"a": ""}})), vec![]),
        // what is not secret is shown
        (
            secret(json!({"type": "Opaque"})),
            secret(json!({"type": "kubernetes.io/tls"})),
            vec![change("type", Edit::Changed { before: json!("Opaque"), after: json!("kubernetes.io/tls") })],
        ),
        // what is not known is not
        (
            secret(json!({"sops": {"mac": "a"}})),
            secret(json!({"sops": {"mac": "b"}})),
            vec![change("sops", Edit::SecretChanged)],
        ),
        (secret(json!({})), secret(json!({"data": "text"})), vec![change("data", Edit::SecretAdded)]),
    ];
    for (before, after, expected) in facts {
        assert_eq!(found(&before, &after), expected, "{before} {after}");
    }
}

#[test]
fn annotations_of_secrets_are_masked_and_the_one_of_kubectl_is_dropped() {
    let with = |annotations: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "annotations": annotations}});
    let applied = "kubectl.kubernetes.io/last-applied-configuration";
    assert_eq!(found(&with(json!({applied: "{\"stringData\":{\"pw\":\"a\"}}"})), &with(json!({applied: "b"}))), []);
    assert_eq!(
        found(&with(json!({"copy": "clear"})), &with(json!({"copy": "other"}))),
        [change("metadata.annotations.copy", Edit::SecretChanged)]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_value_is_in_a_change(
        before in proptest::collection::btree_map("[a-c]", "Q[a-z0-9]{12,30}", 0..4),
        after in proptest::collection::btree_map("[a-c]", "Q[a-z0-9]{12,30}", 0..4),
        field in prop::sample::select(vec!["data", "stringData", "other"]),
    ) {
        let (was, is) = (secret(json!({field: before})), secret(json!({"stringData": after})));
        let text = serde_json::to_string(&found(&was, &is)).unwrap();
        for value in before.values().chain(after.values()) {
            prop_assert!(!text.contains(value.as_str()));
        }
        prop_assert_eq!(found(&was, &was), vec![]);
    }
}
