use super::*;

const SHA: &str = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c";

fn images(rules: Vec<ImageRule>, new_registry: Option<&str>) -> Operation {
    Operation::Images { rules, new_registry: new_registry.map(ToOwned::to_owned) }
}

fn rule(name: &str, new_name: Option<&str>, new_tag: Option<&str>, digest: Option<&str>) -> ImageRule {
    let text = |text: Option<&str>| text.map(ToOwned::to_owned);
    ImageRule { name: name.into(), new_name: text(new_name), new_tag: text(new_tag), digest: text(digest) }
}

fn image_after(image: &str, op: &Operation) -> Result<String, String> {
    let after = pod_spec_after(json!({"containers": [{"name": "a", "image": image}]}), op)?;
    Ok(after["containers"][0]["image"].as_str().unwrap().to_owned())
}

#[test]
fn a_registry_for_all() {
    let by_digest = format!("team/app@{SHA}");
    let moved = format!("r.local:5000/team/app@{SHA}");
    let facts = [
        ("nginx", "r.local:5000", Ok("r.local:5000/nginx")),
        ("nginx:1.2", "r.local:5000", Ok("r.local:5000/nginx:1.2")),
        (&by_digest, "r.local:5000", Ok(&moved)),
        ("localhost:5000/x:v1", "r.local:5000", Ok("r.local:5000/x:v1")),
        ("localhost/x:v1", "r.local:5000", Ok("r.local:5000/x:v1")),
        ("docker.io/library/nginx", "r.local:5000", Ok("r.local:5000/library/nginx")),
        ("r.local:5000/x", "r.local:5000", Ok("r.local:5000/x")),
        ("quay.io/x/y:1", "mirror.example/quay", Ok("mirror.example/quay/x/y:1")),
        ("mirror.example/quay/x/y:1", "mirror.example/quay", Ok("mirror.example/quay/x/y:1")),
        ("quay.io/x/y:1", "${cluster.values.mirror}", Ok("mirror.example/x/y:1")),
        (
            "nginx",
            "mirror",
            Err(
                "newRegistry must be a registry host, with an optional path, as in registry.example:5000/mirror; a host has a `.`, a `:` or is localhost",
            ),
        ),
        (
            "nginx",
            "https://mirror.example",
            Err(
                "newRegistry must be a registry host, with an optional path, as in registry.example:5000/mirror; a host has a `.`, a `:` or is localhost",
            ),
        ),
        (
            "nginx",
            "mirror.example/",
            Err(
                "newRegistry must be a registry host, with an optional path, as in registry.example:5000/mirror; a host has a `.`, a `:` or is localhost",
            ),
        ),
        (
            "NGINX",
            "mirror.example",
            Err(
                "spec.template.spec.containers[0].image would not be an image reference: [registry/]repository[:tag][@digest]",
            ),
        ),
        (
            "nginx",
            "${cluster.value.mirror}",
            Err(
                "newRegistry: unknown variable cluster.value.mirror; did you mean cluster.values.mirror? There are cluster.name, cluster.region, cluster.values.mirror; a literal `${` is written `$${`",
            ),
        ),
    ];
    for (image, registry, right) in facts {
        let found = image_after(image, &images(vec![], Some(registry)));
        assert_eq!(found.as_deref().map_err(String::as_str), right, "{image} {registry}");
    }
}

#[test]
fn image_rules() {
    let by_digest = format!("app@{SHA}");
    let tag_and_digest = format!("app:v2@{SHA}");
    let facts = [
        ("app:v1", rule("app", None, Some("v2"), None), Ok("app:v2")),
        ("app", rule("app", None, Some("v2"), None), Ok("app:v2")),
        ("app:v1", rule("app", Some("host.example/other"), None, None), Ok("host.example/other:v1")),
        ("app:v1", rule("app", None, None, Some(SHA)), Ok(&by_digest)),
        ("app:v1", rule("app", None, Some("v2"), Some(SHA)), Ok(&tag_and_digest)),
        // A new tag drops a digest: the image would else stay the one of the digest.
        (&by_digest, rule("app", None, Some("v2"), None), Ok("app:v2")),
        (&by_digest, rule("app", Some("other"), None, None), Ok(&*format!("other@{SHA}").leak())),
        ("docker.io/library/app:v1", rule("app", None, Some("v2"), None), Ok("docker.io/library/app:v1")),
        (
            "host.example:5000/app:v1",
            rule("host.example:5000/app", None, Some("v2"), None),
            Ok("host.example:5000/app:v2"),
        ),
        (
            "PLACEHOLDER",
            rule("PLACEHOLDER", Some("host.example/app"), Some("${cluster.name}"), None),
            Ok("host.example/app:eu-a"),
        ),
        ("PLACEHOLDER", rule("app", None, Some("v2"), None), Ok("PLACEHOLDER")),
        (
            "app:v1",
            rule("app", None, Some("not a tag"), None),
            Err(
                "spec.template.spec.containers[0].image would not be an image reference: [registry/]repository[:tag][@digest]",
            ),
        ),
    ];
    for (image, rule, right) in facts {
        let found = image_after(image, &images(vec![rule.clone()], None));
        assert_eq!(found.as_deref().map_err(String::as_str), right, "{image} {rule:?}");
    }
    let chain = images(vec![rule("app", Some("b"), None, None), rule("b", None, Some("v2"), None)], None);
    assert_eq!(image_after("app:v1", &chain), Ok("b:v2".to_owned()));
    let both = images(vec![rule("app", Some("quay.io/team/app"), Some("v2"), None)], Some("r.local:5000"));
    assert_eq!(image_after("app:v1", &both), Ok("r.local:5000/team/app:v2".to_owned()));
}

#[test]
fn images_are_found_wherever_pods_have_them() {
    let spec = json!({"containers": [{"name": "a", "image": "a"}, {"name": "none"}], "initContainers": [{"name": "i", "image": "i:1"}],
        "ephemeralContainers": [{"name": "e", "image": "e"}], "volumes": [{"name": "v", "image": {"reference": "v"}}, {"name": "w"}]});
    let right = json!({"containers": [{"name": "a", "image": "r.io/a"}, {"name": "none"}], "initContainers": [{"name": "i", "image": "r.io/i:1"}],
        "ephemeralContainers": [{"name": "e", "image": "r.io/e"}], "volumes": [{"name": "v", "image": {"reference": "r.io/v"}}, {"name": "w"}]});
    let op = images(vec![], Some("r.io"));
    let object = |api_version: &str, kind: &str, place: &[&str], spec: &Value| {
        let inner = place.iter().rev().fold(spec.clone(), |value, key| json!({*key: value}));
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
        object.as_object_mut().unwrap().extend(inner.as_object().unwrap().clone());
        object
    };
    let template = ["spec", "template", "spec"];
    let facts: &[(&str, &str, &[&str])] = &[
        ("v1", "Pod", &["spec"]),
        ("v1", "PodTemplate", &["template", "spec"]),
        ("v1", "ReplicationController", &template),
        ("apps/v1", "Deployment", &template),
        ("apps/v1", "StatefulSet", &template),
        ("apps/v1", "DaemonSet", &template),
        ("apps/v1", "ReplicaSet", &template),
        ("batch/v1", "Job", &template),
        ("batch/v1", "CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
    ];
    for (api_version, kind, place) in facts {
        let (found, _) = run(&object(api_version, kind, place, &spec), &op).unwrap();
        assert_eq!(found, object(api_version, kind, place, &right), "{kind}");
    }
    let config_map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"image": "a"}});
    assert_eq!(run(&config_map, &op), Ok((config_map, vec![])), "no pods, nothing to do");

    let mut ray = json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": {
        "head": {"template": {"spec": {"containers": [{"name": "h", "image": "ray:1"}]}}},
        "groups": [{"template": {"spec": {"containers": [{"name": "w", "image": "ray:1"}]}}}, {"name": "empty"}]}});
    let subject = Subject::custom(vec![pointer("/spec/head/template/spec"), pointer("/spec/groups/*/template/spec")]);
    let op = images(vec![rule("ray", None, Some("2"), None), rule("other", None, Some("2"), None)], None);
    let report = apply(&op, &mut ray, &subject, &vars()).unwrap();
    assert_eq!(report.unmatched_images, ["other"]);
    assert_eq!(ray["spec"]["head"]["template"]["spec"]["containers"][0]["image"], "ray:2");
    assert_eq!(ray["spec"]["groups"][0]["template"]["spec"]["containers"][0]["image"], "ray:2");
}

fn env(container: Option<&str>, set: &[(&str, &str)], remove: &[&str]) -> Operation {
    let remove = remove.iter().map(|name| (*name).into()).collect();
    Operation::Env { containers: Containers::from_target(container), set: text_map(set), remove }
}

#[test]
fn environment() {
    let x = || json!([{"name": "X", "value": "1"}, {"name": "Y", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}]);
    let before =
        || json!({"containers": [{"name": "a", "env": x()}, {"name": "b"}], "initContainers": [{"name": "i"}]});
    let with = |a: Value, b: Option<Value>, i: Option<Value>| {
        let mut spec =
            json!({"containers": [{"name": "a", "env": a}, {"name": "b"}], "initContainers": [{"name": "i"}]});
        if let Some(b) = b {
            spec["containers"][1]["env"] = b;
        }
        if let Some(i) = i {
            spec["initContainers"][0]["env"] = i;
        }
        Ok(spec)
    };
    let z = || Some(json!([{"name": "Z", "value": "eu"}]));
    let facts = [
        (
            env(None, &[("Z", "${cluster.region}")], &[]),
            with(
                json!([{"name": "X", "value": "1"}, {"name": "Y", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}, {"name": "Z", "value": "eu"}]),
                z(),
                z(),
            ),
        ),
        (env(Some("i"), &[("Z", "eu")], &[]), with(x(), None, z())),
        (
            env(Some("a"), &[("X", ""), ("Y", "2")], &[]),
            with(json!([{"name": "X", "value": ""}, {"name": "Y", "value": "2"}]), None, None),
        ),
        (
            env(None, &[], &["X"]),
            with(json!([{"name": "Y", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}]), None, None),
        ),
        (
            env(Some("a"), &[("Q", "1")], &["XX", "X"]),
            Err("there is no environment variable XX to remove; did you mean X?"),
        ),
        (env(Some("c"), &[("Q", "1")], &[]), Err("there is no container c; there are a, b, i")),
        (
            env(Some("a"), &[("Q", "${no}")], &[]),
            Err(
                "Q: unknown variable no; there are cluster.name, cluster.region, cluster.values.mirror; a literal `${` is written `$${`",
            ),
        ),
    ];
    for (op, after) in facts {
        let found = pod_spec_after(before(), &op);
        assert_eq!(found.as_ref().map_err(String::as_str), after.as_ref().map_err(|text| *text), "{op:?}");
    }
    let twice =
        json!({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "X", "value": "2"}]}]});
    let found = pod_spec_after(twice, &env(None, &[("X", "3")], &[])).unwrap();
    assert_eq!(
        found["containers"][0]["env"],
        json!([{"name": "X", "value": "1"}, {"name": "X", "value": "3"}]),
        "the last counts"
    );
}

#[test]
fn args_and_command() {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
    let args = |container: Option<&str>, edit: ListEdit| Operation::Args {
        containers: Containers::from_target(container),
        edit,
    };
    let command = |container: Option<&str>, edit: ListEdit| Operation::Command {
        containers: Containers::from_target(container),
        edit,
    };
    let one = || json!({"containers": [{"name": "web", "args": ["x", "-t", "-t"], "command": ["c"]}], "initContainers": [{"name": "i"}]});
    let two = || json!({"containers": [{"name": "web", "args": ["x"]}, {"name": "side"}]});
    let facts = [
        (one(), args(None, ListEdit::Set(list(&["y", "${cluster.name}"]))), Ok(("args", json!(["y", "eu-a"])))),
        (one(), args(None, ListEdit::Append(list(&["y"]))), Ok(("args", json!(["x", "-t", "-t", "y"])))),
        (one(), args(None, ListEdit::Remove(list(&["-t", "none"]))), Ok(("args", json!(["x"])))),
        (one(), args(None, ListEdit::Set(vec![])), Ok(("args", json!(null)))),
        (one(), command(Some("web"), ListEdit::Append(list(&["d"]))), Ok(("command", json!(["c", "d"])))),
        (two(), command(Some("web"), ListEdit::Append(list(&["d"]))), Ok(("command", json!(["d"])))),
        (two(), args(Some("*"), ListEdit::Append(list(&["y"]))), Ok(("args", json!(["x", "y"])))),
        (
            two(),
            args(None, ListEdit::Set(vec![])),
            Err("there are 2 containers; say which one in target.container, or * for all: web, side"),
        ),
        (two(), args(Some("wbe"), ListEdit::Set(vec![])), Err("there is no container wbe; did you mean web?")),
        (
            json!({}),
            args(None, ListEdit::Set(vec![])),
            Err("the object has no pod template, so it has no containers to change"),
        ),
        (
            json!({"containers": [{"name": "web", "args": "x"}]}),
            args(None, ListEdit::Append(list(&["y"]))),
            Err("spec.template.spec.containers[0].args is a string, not a list"),
        ),
    ];
    for (before, op, right) in facts {
        let found = pod_spec_after(before, &op);
        match right {
            Ok((field, right)) => {
                assert_eq!(found.unwrap()["containers"][0].get(field).unwrap_or(&Value::Null), &right, "{op:?}")
            }
            Err(message) => assert_eq!(found, Err(message.to_owned()), "{op:?}"),
        }
    }
    let found = pod_spec_after(two(), &args(Some("*"), ListEdit::Append(list(&["y"])))).unwrap();
    assert_eq!(found["containers"][1]["args"], json!(["y"]));
}
