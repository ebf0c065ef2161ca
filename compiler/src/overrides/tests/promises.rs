//! What holds for every operation.

use proptest::prelude::*;

use super::super::json_patch::parse;
use super::*;
use crate::kinds::native::{check_fields, lookup};

fn operations_on(meta: Value) -> Vec<Operation> {
    let steps = |steps: Value| Operation::JsonPatch(parse(steps.as_array().unwrap()).unwrap());
    vec![
        Operation::Patch(json!({"metadata": meta})),
        Operation::Set { pointer: pointer("/metadata"), value: meta.clone() },
        steps(json!([{"op": "add", "path": "/metadata", "value": meta}])),
    ]
}

#[test]
fn identity_never_changes() {
    let message = |field: &str| format!("{field} cannot be changed by an override: it would be another object");
    let object = deployment(json!({"containers": []}));
    for op in operations_on(json!({"name": "other", "namespace": "shop"})) {
        assert_eq!(run(&object, &op).unwrap_err(), message("metadata.name"), "{op:?}");
    }
    for op in operations_on(json!({"name": "web", "namespace": "other"})) {
        assert_eq!(run(&object, &op).unwrap_err(), message("metadata.namespace"), "{op:?}");
    }
    for op in operations_on(json!({"name": "web", "namespace": "shop", "labels": {"a": "b"}})) {
        assert_eq!(run(&object, &op).unwrap().0["metadata"]["labels"], json!({"a": "b"}), "{op:?}");
    }
    let facts = [
        (Operation::Remove(pointer("/metadata/namespace")), "metadata.namespace"),
        (Operation::Remove(pointer("/metadata")), "metadata.name"),
        (Operation::Patch(json!({"kind": "StatefulSet"})), "kind"),
        (Operation::Patch(json!({"$patch": "replace"})), "apiVersion"),
        (Operation::Patch(json!({"apiVersion": "apps/v2"})), "apiVersion"),
        (Operation::Set { pointer: pointer("/metadata/name"), value: json!("${cluster.name}") }, "metadata.name"),
        (Operation::JsonPatch(parse(&[json!({"op": "replace", "path": "", "value": {}})]).unwrap()), "apiVersion"),
    ];
    for (op, field) in facts {
        assert_eq!(run(&object, &op).unwrap_err(), message(field), "{op:?}");
    }
}

#[test]
fn a_namespace_is_not_added_either() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
    let op = Operation::Patch(json!({"metadata": {"namespace": "x"}}));
    assert!(run(&object, &op).unwrap_err().starts_with("metadata.namespace"));
}

#[test]
fn what_an_operation_broke_is_found_afterwards() {
    let kind = lookup("apps", "v1", "Deployment").unwrap();
    let before = deployment(json!({"containers": [{"name": "a", "args": ["x"], "imag": "typo"}]}));
    let known = check_fields(kind, &before);
    assert_eq!(known.len(), 1);
    let set = |place: &str, value: Value| Operation::Set { pointer: pointer(place), value };
    let insert = json!({"op": "add", "path": "/spec/template/spec/containers/0", "value": {"name": "first"}});
    let facts = [
        (set("/spec/replicas", json!(5)), None),
        (Operation::JsonPatch(parse(&[insert]).unwrap()), None),
        (
            set("/spec/template/spec/containers/0/args", json!({"level": "high"})),
            Some("spec.template.spec.containers[0].args must be a list of strings, got a map"),
        ),
        (
            set("/spec/replicas", json!("${cluster.name}")),
            Some("spec.replicas must be an integer, got a string; write it without quotes"),
        ),
        (
            Operation::Patch(json!({"spec": {"replica": 1}})),
            Some("spec.replica: there is no such field; did you mean replicas?"),
        ),
        (
            Operation::Remove(pointer("/spec/template/spec/containers/0/name")),
            Some("spec.template.spec.containers[0]: name is required"),
        ),
        (
            set("/spec/template/spec", json!({"containrs": [], "x": 1})),
            Some("spec.template.spec: containers is required (and 2 more)"),
        ),
    ];
    for (op, message) in facts {
        let (after, _) = run(&before, &op).unwrap();
        let found = check_after(&after, kind, &known).map_err(|error| error.to_string());
        assert_eq!(found.err().as_deref(), message, "{op:?}");
    }
}

#[test]
fn variables_are_known_without_a_cluster() {
    let names = |names: &[&str]| Ok(names.iter().map(|name| SmolStr::from(*name)).collect::<BTreeSet<_>>());
    let rule = ImageRule { name: "a".into(), new_name: None, new_tag: Some("${t}".to_owned()), digest: None };
    let facts = [
        (Operation::Patch(json!({"${no}": ["${b}-${a}", {"x": "${a}"}], "y": "$${c}"})), names(&["a", "b"])),
        (Operation::Set { pointer: pointer("/x"), value: json!("${a}") }, names(&["a"])),
        (Operation::Remove(pointer("/${a}")), names(&[])),
        (Operation::JsonPatch(parse(&[json!({"op": "add", "path": "/x", "value": ["${a}"]})]).unwrap()), names(&["a"])),
        (Operation::Images { rules: vec![rule], new_registry: Some("${r}".to_owned()) }, names(&["r", "t"])),
        (
            Operation::Env { containers: Containers::All, set: text_map(&[("X", "${a}")]), remove: BTreeSet::new() },
            names(&["a"]),
        ),
        (
            Operation::Args { containers: Containers::All, edit: ListEdit::Append(vec!["${a}".to_owned()]) },
            names(&["a"]),
        ),
        (Operation::Labels([("x".into(), Some("${a}".to_owned())), ("y".into(), None)].into()), names(&["a"])),
        (
            Operation::Patch(json!({"data": {"x": "${"}})),
            Err("data.x: `${` without `}`; a literal `${` is written `$${`".to_owned()),
        ),
    ];
    for (op, right) in facts {
        assert_eq!(op.variables().map_err(|error| error.to_string()), right, "{op:?}");
    }
}

#[test]
fn no_message_holds_a_value() {
    const VALUE: &str = "hunter2hunter2";
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": VALUE, "user": VALUE}});
    let kind = lookup("", "v1", "Secret").unwrap();
    let steps = |steps: Value| Operation::JsonPatch(parse(steps.as_array().unwrap()).unwrap());
    let ops = [
        Operation::Patch(json!({"data": {"password": [VALUE]}})),
        Operation::Patch(json!({"data": {"password": {"$patch": VALUE}}})),
        Operation::Patch(json!({"data": VALUE})),
        Operation::Patch(json!({"data": {"password": format!("${{{VALUE}")}})),
        Operation::Set { pointer: pointer("/data/password/x"), value: json!(VALUE) },
        Operation::Set { pointer: pointer("/data/passwrd/x"), value: json!(VALUE) },
        Operation::Set { pointer: pointer("/data/password"), value: json!([VALUE]) },
        Operation::Set { pointer: pointer("/data/password"), value: json!(format!("${{{VALUE}!}}")) },
        Operation::Set { pointer: pointer("/data/password"), value: json!(format!("!{VALUE}")) },
        Operation::Set { pointer: pointer("/metadata/name"), value: json!(VALUE) },
        Operation::Remove(pointer("/data/password/x")),
        steps(json!([{"op": "test", "path": "/data/password", "value": "x"}])),
        steps(json!([{"op": "test", "path": "/data/user", "value": [VALUE]}])),
        steps(json!([{"op": "add", "path": "/data/password/x", "value": VALUE}])),
        Operation::Labels([("x".into(), Some(format!("${{{VALUE}")))].into()),
    ];
    for op in ops {
        let mut object = secret.clone();
        let error = match apply(&op, &mut object, &Subject::native(kind), &vars()) {
            Err(error) => error,
            Ok(_) => check_after(&object, kind, &[]).unwrap_err(),
        };
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains(VALUE), "{op:?}: {text}");
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "(web|shop|apps/v1|Deployment|delete|replace|a|\\$\\{cluster.name\\}|\\$\\{)".prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::vec((key(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    "(apiVersion|kind|metadata|name|namespace|spec|template|containers|volumes|\\$patch|\\$retainKeys|labels|x)"
}

fn place() -> impl Strategy<Value = Path> {
    let seg = prop_oneof![
        key().prop_map(|key| crate::base::Seg::Key(key.into())),
        (0..3_usize).prop_map(crate::base::Seg::Index)
    ];
    proptest::collection::vec(seg, 0..5).prop_map(Path)
}

fn operation() -> impl Strategy<Value = Operation> {
    use super::super::json_patch::Step;
    let some = || value().prop_map(Some);
    let step = prop_oneof![
        (place(), some()).prop_map(|(path, value)| Step::Add { path, value }),
        place().prop_map(|path| Step::Remove { path }),
        (place(), some()).prop_map(|(path, value)| Step::Replace { path, value }),
        (place(), place()).prop_map(|(from, path)| Step::Move { from, path }),
        (place(), place()).prop_map(|(from, path)| Step::Copy { from, path }),
    ];
    let labels =
        || proptest::collection::btree_map(key().prop_map(SmolStr::from), proptest::option::of("[a-z]{0,3}"), 0..3);
    prop_oneof![
        4 => value().prop_map(Operation::Patch),
        2 => (place(), value()).prop_map(|(pointer, value)| Operation::Set { pointer, value }),
        1 => place().prop_map(Operation::Remove),
        2 => proptest::collection::vec(step, 1..4).prop_map(Operation::JsonPatch),
        1 => labels().prop_map(Operation::Labels),
        1 => labels().prop_map(Operation::Annotations),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_operations_the_object_stays_itself(ops in proptest::collection::vec(operation(), 1..4), native: bool) {
        let mut object = deployment(json!({"containers": [{"name": "a"}], "volumes": [{"name": "v", "emptyDir": {}}]}));
        if !native {
            object["apiVersion"] = json!("example.io/v1");
        }
        let before = identity(&object);
        let subject = subject(&object);
        for op in ops {
            let mut next = object.clone();
            if apply(&op, &mut next, &subject, &vars()).is_ok() {
                prop_assert_eq!(&identity(&next), &before);
                object = next;
            }
        }
    }

    /// A patch merged twice is a patch merged once.
    #[test]
    fn a_patch_holds(patch in value()) {
        let object = deployment(json!({"containers": [{"name": "a"}], "volumes": [{"name": "v", "emptyDir": {}}]}));
        if let Ok((once, _)) = run(&object, &Operation::Patch(patch.clone())) {
            let (twice, _) = run(&once, &Operation::Patch(patch)).unwrap();
            prop_assert_eq!(twice, once);
        }
    }
}
