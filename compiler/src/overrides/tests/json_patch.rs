use super::super::json_patch::{Rules, apply as apply_steps, parse};
use super::*;

fn patched(document: &Value, steps: Value, rules: Rules) -> Result<Value, String> {
    let mut document = document.clone();
    let steps = parse(steps.as_array().unwrap()).map_err(|error| error.to_string())?;
    apply_steps(&mut document, &steps, rules).map_err(|error| error.to_string())?;
    Ok(document)
}

/// The answers of the library that the API server uses.
#[test]
fn as_the_api_server() {
    let document = json!({"a": 1, "l": [1, 2, {"d": null}], "n": null, "": 0, "x/y": {"m~n": "v"}});
    let with = |key: &str, value: Value| {
        let mut document = document.clone();
        document[key] = value;
        Ok(document)
    };
    let with_list = |list: Value| with("l", list);
    let facts: Vec<(Value, Result<Value, &str>)> = vec![
        (json!([]), Ok(document.clone())),
        (json!([{"op": "add", "path": "/l/0", "value": 9}]), with_list(json!([9, 1, 2, {"d": null}]))),
        (json!([{"op": "add", "path": "/l/3", "value": 9}]), with_list(json!([1, 2, {"d": null}, 9]))),
        (json!([{"op": "add", "path": "/l/-", "value": 9}]), with_list(json!([1, 2, {"d": null}, 9]))),
        (json!([{"op": "add", "path": "/l/-1", "value": 9}]), with_list(json!([1, 2, {"d": null}, 9]))),
        (json!([{"op": "add", "path": "/l/-4", "value": 9}]), with_list(json!([9, 1, 2, {"d": null}]))),
        (json!([{"op": "add", "path": "/l/+1", "value": 9}]), with_list(json!([1, 9, 2, {"d": null}]))),
        (json!([{"op": "add", "path": "/l/01", "value": 9}]), with_list(json!([1, 9, 2, {"d": null}]))),
        (
            json!([{"op": "add", "path": "/l/-5", "value": 9}]),
            Err("jsonPatch[0] add /l/-5: l is a list of 3, items are counted from 0"),
        ),
        (
            json!([{"op": "add", "path": "/l/4", "value": 9}]),
            Err("jsonPatch[0] add /l/4: l is a list of 3, items are counted from 0"),
        ),
        (
            json!([{"op": "add", "path": "/l/x", "value": 9}]),
            Err("jsonPatch[0] add /l/x: l is a list of 3, items are counted from 0"),
        ),
        (
            json!([{"op": "add", "path": "/l/-1/d/e", "value": 9}]),
            Err("jsonPatch[0] add /l/-1/d/e: l.-1.d is neither map nor list"),
        ),
        (json!([{"op": "add", "path": "/l/-1/d", "value": 9}]), with_list(json!([1, 2, {"d": 9}]))),
        (json!([{"op": "add", "path": "/n/x", "value": 9}]), Err("jsonPatch[0] add /n/x: n is neither map nor list")),
        (json!([{"op": "add", "path": "/a/x", "value": 9}]), Err("jsonPatch[0] add /a/x: a is neither map nor list")),
        (json!([{"op": "add", "path": "/new"}]), with("new", json!(null))),
        (json!([{"op": "add", "path": "/", "value": 9}]), with("", json!(9))),
        (
            json!([{"op": "add", "path": "", "value": {}}]),
            Err("jsonPatch[0] add : the pointer is empty; only replace and test take the whole object"),
        ),
        (json!([{"op": "replace", "path": "/new", "value": 9}]), with("new", json!(9))),
        (json!([{"op": "replace", "path": "/l/-1", "value": 9}]), with_list(json!([1, 2, 9]))),
        (
            json!([{"op": "replace", "path": "/l/3", "value": 9}]),
            Err("jsonPatch[0] replace /l/3: l is a list of 3, items are counted from 0"),
        ),
        (
            json!([{"op": "replace", "path": "/l/-", "value": 9}]),
            Err("jsonPatch[0] replace /l/-: l is a list of 3, items are counted from 0"),
        ),
        (json!([{"op": "replace", "path": "", "value": {"z": 1}}]), Ok(json!({"z": 1}))),
        (json!([{"op": "replace", "path": "", "value": [1]}]), Ok(json!([1]))),
        (
            json!([{"op": "replace", "path": "", "value": 1}]),
            Err("jsonPatch[0] replace : the whole object must stay a map"),
        ),
        (json!([{"op": "replace", "path": "/x~1y/m~0n", "value": "w"}]), with("x/y", json!({"m~n": "w"}))),
        (json!([{"op": "remove", "path": "/l/-1"}]), with_list(json!([1, 2]))),
        (
            json!([{"op": "remove", "path": "/l/3"}]),
            Err("jsonPatch[0] remove /l/3: l is a list of 3, items are counted from 0"),
        ),
        (json!([{"op": "remove", "path": "/new"}]), Err("jsonPatch[0] remove /new: the object has no key new")),
        (json!([{"op": "move", "from": "/l/0", "path": "/l/-"}]), with_list(json!([2, {"d": null}, 1]))),
        (json!([{"op": "move", "from": "/new", "path": "/m"}]), Err("jsonPatch[0] move /m: the object has no key new")),
        (json!([{"op": "move", "from": "/l", "path": "/l/0"}]), Err("jsonPatch[0] move /l/0: the object has no key l")),
        (json!([{"op": "move", "path": "/m"}]), Err("jsonPatch[0] move /m: it needs from")),
        (json!([{"op": "copy", "from": "/x~1y", "path": "/m"}]), with("m", json!({"m~n": "v"}))),
        (json!([{"op": "copy", "from": "/new", "path": "/m"}]), with("m", json!(null))),
        (
            json!([{"op": "copy", "from": "/l/3", "path": "/m"}]),
            Err("jsonPatch[0] copy /m: l is a list of 3, items are counted from 0"),
        ),
        (
            json!([{"op": "copy", "from": "", "path": "/m"}]),
            Err("jsonPatch[0] copy /m: the pointer is empty; only replace and test take the whole object"),
        ),
        (json!([{"op": "test", "path": "/l", "value": [1, 2, {"d": null}]}]), Ok(document.clone())),
        (json!([{"op": "test", "path": "/new", "value": null}]), Ok(document.clone())),
        (json!([{"op": "test", "path": "/n", "value": null}]), Ok(document.clone())),
        (json!([{"op": "test", "path": "/a", "value": null}]), Err("jsonPatch[0] test /a: the value is another one")),
        (json!([{"op": "test", "path": "/a"}]), Err("jsonPatch[0] test /a: it needs value")),
        (json!([{"op": "test", "path": "/a", "value": 1.0}]), Err("jsonPatch[0] test /a: the value is another one")),
        (
            json!([{"op": "test", "path": "/b/c", "value": null}]),
            Err("jsonPatch[0] test /b/c: the object has no key b"),
        ),
        (json!([{"op": "test", "path": "", "value": document}]), Ok(document.clone())),
        (
            json!([{"op": "remove", "path": "/a"}, {"op": "remove", "path": "/a"}]),
            Err("jsonPatch[1] remove /a: the object has no key a"),
        ),
        (
            json!([{"op": "frob", "path": "/a"}]),
            Err("jsonPatch[0] frob /a: op must be one of add, remove, replace, move, copy, test"),
        ),
        (json!([{"path": "/a"}]), Err("jsonPatch[0]  /a: op must be one of add, remove, replace, move, copy, test")),
        (json!([{"op": "add"}]), Err("jsonPatch[0] add : it needs path")),
        (
            json!([{"op": "add", "path": "a"}]),
            Err("jsonPatch[0] add a: path: a JSON pointer begins with `/`, as in `/spec/replicas`"),
        ),
        (json!([1]), Err("jsonPatch[0]  : a step is a map with op and path")),
    ];
    for (steps, after) in facts {
        let found = patched(&document, steps.clone(), Rules::ApiServer);
        assert_eq!(found.as_ref().map_err(String::as_str), after.as_ref().map_err(|text| *text), "{steps}");
    }
}

#[test]
fn an_override_refuses_what_is_likely_a_mistake() {
    let document = json!({"spec": {"replicas": 1}});
    let facts = [
        (
            json!([{"op": "replace", "path": "/spec/replica", "value": 2}]),
            "jsonPatch[0] replace /spec/replica: spec has no key replica; did you mean replicas?",
        ),
        (
            json!([{"op": "copy", "from": "/spec/replica", "path": "/spec/x"}]),
            "jsonPatch[0] copy /spec/x: spec has no key replica; did you mean replicas?",
        ),
        (json!([{"op": "add", "path": "/spec/paused"}]), "jsonPatch[0] add /spec/paused: it needs value"),
    ];
    for (steps, message) in facts {
        assert_eq!(patched(&document, steps.clone(), Rules::Override), Err(message.to_owned()));
        assert!(patched(&document, steps, Rules::ApiServer).is_ok());
    }
}

#[test]
fn copies_do_not_grow_without_end() {
    let mut wide = vec![json!({"op": "add", "path": "/a", "value": "x".repeat(1000)})];
    let mut deep = vec![json!({"op": "add", "path": "/a", "value": {}})];
    let mut place = "/a".to_owned();
    for step in 0..40 {
        wide.push(json!({"op": "copy", "from": "/a", "path": format!("/{step}")}));
        wide.push(json!({"op": "replace", "path": "/a", "value": {}}));
        wide.push(json!({"op": "move", "from": format!("/{step}"), "path": "/a/x"}));
        wide.push(json!({"op": "copy", "from": "/a/x", "path": "/a/y"}));
        deep.push(json!({"op": "copy", "from": "/a", "path": format!("{place}/b")}));
        place = format!("{place}{}", "/b".repeat(1 << step.min(8)));
    }
    let wide = patched(&json!({}), Value::Array(wide), Rules::ApiServer).unwrap_err();
    assert!(wide.ends_with("the steps copy more than 3 MiB together"), "{wide}");
    let deep = patched(&json!({}), Value::Array(deep), Rules::ApiServer).unwrap_err();
    assert!(deep.ends_with("the object would be nested too deep"), "{deep}");
}
