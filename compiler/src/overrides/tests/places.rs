use super::*;

fn set(place: &str, value: Value) -> Operation {
    Operation::Set { pointer: pointer(place), value }
}

#[test]
fn set_and_remove() {
    let spec = || json!({"containers": [{"name": "a", "args": ["x", "y"]}], "nodeSelector": {"0": "zero"}});
    let at = |place: &str| format!("/spec/template/spec{place}");
    let args = |args: Value| Ok(json!({"containers": [{"name": "a", "args": args}], "nodeSelector": {"0": "zero"}}));
    let facts: Vec<(Operation, Result<Value, &str>)> = vec![
        (set(&at("/containers/0/args"), json!(["z"])), args(json!(["z"]))),
        (set(&at("/containers/0/args/0"), json!("z")), args(json!(["z", "y"]))),
        (set(&at("/containers/0/args/2"), json!("z")), args(json!(["x", "y", "z"]))),
        (set(&at("/containers/0/args/-"), json!("${cluster.name}")), args(json!(["x", "y", "eu-a"]))),
        (
            set(&at("/nodeSelector/0"), json!("one")),
            Ok(json!({"containers": [{"name": "a", "args": ["x", "y"]}], "nodeSelector": {"0": "one"}})),
        ),
        (Operation::Remove(pointer(&at("/containers/0/args/0"))), args(json!(["y"]))),
        (
            Operation::Remove(pointer(&at("/nodeSelector"))),
            Ok(json!({"containers": [{"name": "a", "args": ["x", "y"]}]})),
        ),
        (
            set(&at("/containers/0/args/3"), json!("z")),
            Err(
                "/spec/template/spec/containers/0/args/3 does not exist: spec.template.spec.containers[0].args is a list of 2, items are counted from 0",
            ),
        ),
        (
            set(&at("/container/0/args"), json!([])),
            Err(
                "/spec/template/spec/container/0/args does not exist: spec.template.spec has no key container; did you mean containers?",
            ),
        ),
        (
            set(&at("/affinity/nodeAffinity"), json!({})),
            Err("/spec/template/spec/affinity/nodeAffinity does not exist: spec.template.spec has no key affinity"),
        ),
        (
            set("/spec/replicas/x", json!(1)),
            Err("/spec/replicas/x does not exist: spec.replicas is an integer and has nothing inside"),
        ),
        (
            Operation::Remove(pointer("/spec/replica")),
            Err("/spec/replica does not exist: spec has no key replica; did you mean replicas?"),
        ),
        (
            Operation::Remove(pointer(&at("/containers/0/args/-"))),
            Err(
                "/spec/template/spec/containers/0/args/- does not exist: spec.template.spec.containers[0].args is a list of 2; only `set` appends with -",
            ),
        ),
        (
            Operation::Remove(Path::root()),
            Err("the pointer is empty; an override changes parts of an object, not the object itself"),
        ),
        (
            set("", json!({})),
            Err("the pointer is empty; an override changes parts of an object, not the object itself"),
        ),
    ];
    for (op, after) in facts {
        let found = pod_spec_after(spec(), &op);
        assert_eq!(found.as_ref().map_err(String::as_str), after.as_ref().map_err(|text| *text), "{op:?}");
    }
}

#[test]
fn removing_keeps_the_order_of_what_stays() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "b": "2", "c": "3", "d": "4"}});
    let ops = [
        Operation::Remove(pointer("/data/a")),
        Operation::Patch(json!({"data": {"a": null}})),
        Operation::JsonPatch(super::super::json_patch::parse(&[json!({"op": "remove", "path": "/data/a"})]).unwrap()),
    ];
    for op in ops {
        let (found, _) = run(&object, &op).unwrap();
        let keys: Vec<&String> = found["data"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["b", "c", "d"], "{op:?}");
    }
}

#[test]
fn labels_and_annotations_stay_on_the_object() {
    let changes = |pairs: &[(&str, Option<&str>)]| {
        pairs.iter().map(|(key, value)| ((*key).into(), value.map(ToOwned::to_owned))).collect::<BTreeMap<_, _>>()
    };
    let with = |meta: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"selector": {"app": "x"}}});
    let facts = [
        (json!({"name": "s"}), vec![("version", Some("v2"))], json!({"name": "s", "labels": {"version": "v2"}})),
        (
            json!({"name": "s", "labels": {"a": "1", "b": "2", "c": "3"}}),
            vec![("a", None), ("b", Some("${cluster.name}")), ("none", None)],
            json!({"name": "s", "labels": {"b": "eu-a", "c": "3"}}),
        ),
        (json!({"name": "s", "labels": {"a": "1"}}), vec![("a", None)], json!({"name": "s"})),
        (json!({"name": "s", "labels": null}), vec![("a", Some(""))], json!({"name": "s", "labels": {"a": ""}})),
        (json!({"name": "s"}), vec![("a", None)], json!({"name": "s"})),
    ];
    for (before, pairs, after) in facts {
        let (found, _) = run(&with(before.clone()), &Operation::Labels(changes(&pairs))).unwrap();
        assert_eq!(found, with(after.clone()));
        let renamed = |meta: &Value| {
            let mut meta = meta.clone();
            if let Some(labels) = meta.as_object_mut().unwrap().shift_remove("labels") {
                meta["annotations"] = labels;
            }
            with(meta)
        };
        let (found, _) = run(&renamed(&before), &Operation::Annotations(changes(&pairs))).unwrap();
        assert_eq!(found, renamed(&after));
    }
    assert_eq!(
        run(&with(json!({"name": "s", "labels": ["a"]})), &Operation::Labels(changes(&[("a", None)]))),
        Err("metadata.labels is a list, not a map".to_owned())
    );
}

#[test]
fn labels_reach_no_selector_and_no_template() {
    let kinds = ["Deployment", "StatefulSet", "DaemonSet"].map(|kind| ("apps/v1", kind));
    for (api_version, kind) in kinds.into_iter().chain([("batch/v1", "Job"), ("v1", "Service")]) {
        let spec = json!({"selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}},
            "volumeClaimTemplates": [{"metadata": {"labels": {"app": "x"}}}]});
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec});
        let op = Operation::Labels([("version".into(), Some("v2".to_owned()))].into());
        let (found, _) = run(&object, &op).unwrap();
        assert_eq!((&found["metadata"]["labels"], &found["spec"]), (&json!({"version": "v2"}), &spec), "{kind}");
    }
}
