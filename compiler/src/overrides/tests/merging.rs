use super::*;

#[test]
fn native_lists_merge_by_their_keys() {
    let facts: Vec<(Value, Value, Result<Value, &str>)> = vec![
        // Containers by name: the order of the object stays, new ones go to the end.
        (
            json!({"containers": [{"name": "a", "image": "a:1", "args": ["x"]}, {"name": "b", "image": "b:1"}]}),
            json!({"containers": [{"name": "c", "image": "c:1"}, {"name": "b", "image": "b:2"},
                {"name": "a", "resources": {"limits": {"memory": "2Gi"}}}]}),
            Ok(json!({"containers": [
                {"name": "a", "image": "a:1", "args": ["x"], "resources": {"limits": {"memory": "2Gi"}}},
                {"name": "b", "image": "b:2"}, {"name": "c", "image": "c:1"}]})),
        ),
        // Lists of strings and other atomic lists are replaced.
        (
            json!({"containers": [{"name": "a", "args": ["x", "y"]}], "tolerations": [{"key": "a"}, {"key": "b"}]}),
            json!({"containers": [{"name": "a", "args": ["z"]}], "tolerations": [{"key": "c"}]}),
            Ok(json!({"containers": [{"name": "a", "args": ["z"]}], "tolerations": [{"key": "c"}]})),
        ),
        // Ports by number and protocol; a port without protocol is a TCP port.
        (
            json!({"containers": [{"name": "a", "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]}]}),
            json!({"containers": [{"name": "a", "ports": [{"containerPort": 53, "protocol": "TCP", "name": "t"},
                {"containerPort": 53, "protocol": "UDP", "name": "u"}, {"containerPort": 80}]}]}),
            Ok(json!({"containers": [{"name": "a", "ports": [{"containerPort": 53, "protocol": "TCP", "name": "t"},
                {"containerPort": 53, "protocol": "UDP", "name": "u"}, {"containerPort": 80}]}]})),
        ),
        // `null` deletes, and is not written where there is nothing.
        (
            json!({"containers": [{"name": "a", "image": "a:1", "env": [{"name": "X", "value": "1"}]}], "hostNetwork": true}),
            json!({"containers": [{"name": "a", "image": null, "env": null, "tty": null}], "hostNetwork": null,
                "affinity": {"nodeAffinity": null}}),
            Ok(json!({"containers": [{"name": "a"}], "affinity": {}})),
        ),
        // `$patch: delete` takes an item or a map away, `$patch: replace` puts the patch in its place.
        (
            json!({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}, {"name": "b"}],
                "nodeSelector": {"a": "1"}, "securityContext": {"runAsUser": 1, "fsGroup": 2}}),
            json!({"containers": [{"name": "a", "env": [{"name": "X", "$patch": "delete"}]}, {"$patch": "delete", "name": "b"}],
                "nodeSelector": {"$patch": "replace", "b": "2"}, "securityContext": {"$patch": "delete"}}),
            Ok(
                json!({"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}], "nodeSelector": {"b": "2"}}),
            ),
        ),
        (
            json!({"containers": [{"name": "a", "image": "a:1", "tty": true}]}),
            json!({"containers": [{"name": "a", "image": "a:2", "$patch": "replace"}]}),
            Ok(json!({"containers": [{"name": "a", "image": "a:2"}]})),
        ),
        (
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"$patch": "replace"}, {"name": "c", "image": "c:1"}]}),
            Ok(json!({"containers": [{"name": "c", "image": "c:1"}]})),
        ),
        // Two keys, one of them left out: the other decides while it fits one item only.
        (
            json!({"containers": [{"name": "a"}], "topologySpreadConstraints": [
                {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}]}),
            json!({"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 2}]}),
            Ok(json!({"containers": [{"name": "a"}], "topologySpreadConstraints": [
                {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2}]})),
        ),
        (
            json!({"containers": [{"name": "a"}], "topologySpreadConstraints": [
                {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1},
                {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}]}),
            json!({"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 2}]}),
            Err(
                "spec.template.spec.topologySpreadConstraints[0] fits several items; give all of topologyKey, whenUnsatisfiable",
            ),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"image": "x"}]}),
            Err("spec.template.spec.containers[0] has no name, which tells the items of this list apart"),
        ),
        // Types.
        (
            json!({"containers": [{"name": "a", "args": ["x"]}]}),
            json!({"containers": [{"name": "a", "args": {"level": "high"}}]}),
            Err("spec.template.spec.containers[0].args must be a list of strings, got a map"),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"name": "a", "env": [{"name": "X", "value": 1}]}]}),
            Err("spec.template.spec.containers[0].env[0].value must be a string, got an integer"),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": {"a": {"image": "x"}}}),
            Err("spec.template.spec.containers must be a list of maps with name, got a map"),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"name": "a", "args": [1]}]}),
            Err("spec.template.spec.containers[0].args[0] must be a string, got an integer"),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": ["a"]}),
            Err("spec.template.spec.containers[0] must be a map, got a string"),
        ),
        // Directives.
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"name": "a", "$patch": "remove"}]}),
            Err("spec.template.spec.containers[0]: $patch must be delete, replace or merge"),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"$setElementOrder/containers": [{"name": "a"}]}),
            Err(
                "spec.template.spec: $setElementOrder/containers is not a directive that an override knows; there are $patch: delete, $patch: replace, $patch: merge, $retainKeys and $deleteFromPrimitiveList/<field>",
            ),
        ),
        (
            json!({"containers": [{"name": "a"}], "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/p"}}]}),
            Ok(
                json!({"containers": [{"name": "a"}], "volumes": [{"name": "v", "hostPath": {"path": "/p"}}, {"name": "w", "emptyDir": {}}]}),
            ),
        ),
        (
            json!({"containers": [{"name": "a"}], "volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "$retainKeys": ["name"], "hostPath": {"path": "/p"}}]}),
            Err(
                "spec.template.spec.volumes[0]: $retainKeys must be a list with every key that the map may have afterwards, those of the patch among them",
            ),
        ),
        // Variables.
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"name": "a", "env": [{"name": "R", "value": "${cluster.region}-$(POD)-$${x}"}]}]}),
            Ok(json!({"containers": [{"name": "a", "env": [{"name": "R", "value": "eu-$(POD)-${x}"}]}]})),
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"name": "a", "args": ["${cluster.regoin}"]}]}),
            Err(
                "spec.template.spec.containers[0].args[0]: unknown variable cluster.regoin; did you mean cluster.region? There are cluster.name, cluster.region, cluster.values.mirror; a literal `${` is written `$${`",
            ),
        ),
    ];
    for (before, patch, after) in facts {
        let found = pod_spec_after(before, &in_pod_spec(patch.clone()));
        assert_eq!(found.as_ref().map_err(String::as_str), after.as_ref().map_err(|text| *text), "{patch}");
    }
}

#[test]
fn sets_of_metadata() {
    let with = |finalizers: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "finalizers": finalizers}});
    let facts = [
        (json!({"metadata": {"finalizers": ["b", "c"]}}), json!(["a", "b", "c"])),
        (json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "z"]}}), json!(["b"])),
        (json!({"metadata": {"finalizers": [{"$patch": "replace"}, "c"]}}), json!(["c"])),
    ];
    for (patch, finalizers) in facts {
        let found = run(&with(json!(["a", "b"])), &Operation::Patch(patch)).unwrap();
        assert_eq!(found, (with(finalizers), vec![]));
    }
}

#[test]
fn what_may_not_be_meant_is_warned_of() {
    let facts: Vec<(Value, Value, Vec<&str>)> = vec![
        (
            json!({"containers": [], "volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}),
            vec![
                "spec.template.spec.volumes[0] keeps emptyDir beside what the patch sets, and they exclude each other; set emptyDir to null in the patch",
            ],
        ),
        (
            json!({"containers": [], "volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "emptyDir": null, "persistentVolumeClaim": {"claimName": "c"}}]}),
            vec![],
        ),
        (
            json!({"containers": [], "volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "w", "emptyDir": {}}]}),
            vec![],
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"name": "b", "$patch": "delete"}]}),
            vec!["spec.template.spec.containers[0] deletes an item that does not exist"],
        ),
        (
            json!({"containers": [{"name": "a", "ports": [{"name": "http", "containerPort": 80}]}]}),
            json!({"containers": [{"name": "a", "ports": [{"name": "http", "containerPort": 8080}]}]}),
            vec![
                "spec.template.spec.containers[0].ports[0]: an item of the name http exists with another containerPort or protocol; the patch adds a second one",
            ],
        ),
    ];
    for (before, patch, warnings) in facts {
        let (_, found) = run(&deployment(before), &in_pod_spec(patch.clone())).unwrap();
        assert_eq!(found, warnings, "{patch}");
    }
    let mut object = deployment(json!({"containers": []}));
    object["spec"]["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}});
    let strategy = |value: Value| Operation::Patch(json!({"spec": {"strategy": value}}));
    let facts = [
        (json!({"rollingUpdate": {"maxSurge": 2}}), 0),
        (json!({"type": "Recreate"}), 1),
        (json!({"type": "Recreate", "rollingUpdate": null}), 0),
        (json!({"type": "Recreate", "$retainKeys": ["type"]}), 0),
    ];
    for (patch, warnings) in facts {
        assert_eq!(run(&object, &strategy(patch.clone())).unwrap().1.len(), warnings, "{patch}");
    }
}

#[test]
fn a_disruption_budget_selector_is_replaced() {
    let with = |selector: Value| json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "p"}, "spec": {"selector": selector}});
    let patch = Operation::Patch(json!({"spec": {"selector": {"matchLabels": {"b": "2"}}}}));
    let (found, _) = run(&with(json!({"matchLabels": {"a": "1"}})), &patch).unwrap();
    assert_eq!(found, with(json!({"matchLabels": {"b": "2"}})));
}

#[test]
fn custom_resources_merge_as_json() {
    let ray =
        |spec: Value| json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": spec});
    let facts: Vec<(Value, Value, Value, Vec<&str>)> = vec![
        (
            json!({"a": 1, "b": {"c": [1], "d": 2}}),
            json!({"b": {"c": [3], "d": null}}),
            json!({"a": 1, "b": {"c": [3]}}),
            vec![],
        ),
        (
            json!({"groups": [{"name": "small", "replicas": 1}, {"name": "big"}]}),
            json!({"groups": [{"name": "small", "replicas": 2}]}),
            json!({"groups": [{"name": "small", "replicas": 2}]}),
            vec![
                "spec.groups is replaced as a whole, since Kubernetes merges no lists of custom resources: big no longer there",
            ],
        ),
        (
            json!({"groups": [{"name": "small", "replicas": 1}]}),
            json!({"groups": [{"name": "small"}]}),
            json!({"groups": [{"name": "small"}]}),
            vec![
                "spec.groups is replaced as a whole, since Kubernetes merges no lists of custom resources: the new items keep the names",
            ],
        ),
        (json!({"groups": [{"name": "a"}]}), json!({"groups": null}), json!({}), vec![]),
        (
            json!({}),
            json!({"$patch": "x", "n": {"x": null, "y": [null, {"z": null}]}}),
            json!({"$patch": "x", "n": {"y": [null, {}]}}),
            vec![],
        ),
    ];
    for (before, patch, after, warnings) in facts {
        let (found, said) = run(&ray(before), &Operation::Patch(json!({"spec": patch}))).unwrap();
        assert_eq!((found, said), (ray(after), warnings.iter().map(ToString::to_string).collect()), "{patch}");
    }
}

#[test]
fn patches_that_are_none() {
    let object = deployment(json!({"containers": []}));
    let custom = json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}});
    for object in [&object, &custom] {
        for patch in [json!(null), json!("x"), json!(1)] {
            assert_eq!(
                run(object, &Operation::Patch(patch)),
                Err("a patch is a map with the fields to change".to_owned())
            );
        }
    }
    assert_eq!(
        run(&object, &Operation::Patch(json!({"$patch": "delete"}))),
        Err("an override cannot delete the object; an `objects` rule with `clusters` keeps it away from clusters"
            .to_owned())
    );
}
