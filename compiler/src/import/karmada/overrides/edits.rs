//! Commands, arguments, labels, annotations, fields that hold documents, and plain patches.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Aim, containers, exactly};
use crate::api::{OverrideSpec, OverrideTarget};
use crate::base::{SmolStr, Spanned};
use crate::import::documents::{self, Object};
use crate::import::karmada::objects::{
    FieldOverrider, ListOverrider, MetadataOverrider, Operator, Overriders, Plaintext, SubPatch,
};
use crate::import::repository::placeless;
use crate::import::{About, Fate, InputFile};
use crate::overrides::{Operation, Subject, Variables, apply, json_patch};
use crate::yaml;

/// All but images, in Karmada's order: what is patched at last sees what was done before.
pub(super) fn entries(
    overriders: &Overriders,
    aims: &[Aim<'_>],
    field: &str,
    entries: &mut Vec<OverrideSpec>,
    about: &mut About<'_>,
) {
    let Overriders {
        image_overrider: _, // images.rs
        command_overrider,
        args_overrider,
        labels_overrider,
        annotations_overrider,
        field_overrider,
        plaintext,
        rest: _, // said by the caller
    } = overriders;
    for object in aims.iter().flat_map(|aim| &aim.objects) {
        lists(command_overrider, object, "command", field, entries, about);
        lists(args_overrider, object, "args", field, entries, about);
    }
    for (overriders, name) in [(labels_overrider, "labels"), (annotations_overrider, "annotations")] {
        metadata(overriders, aims, name, entries);
    }
    for object in aims.iter().flat_map(|aim| &aim.objects) {
        inner(field_overrider, object, field, entries, about);
    }
    patches(plaintext, aims, field, entries, about);
}

/// The command or the arguments of containers, as lists that are whole.
fn lists(
    overriders: &[ListOverrider],
    object: &Object,
    name: &str,
    field: &str,
    entries: &mut Vec<OverrideSpec>,
    about: &mut About<'_>,
) {
    for container in containers(object).into_iter().flat_map(|(_, containers)| containers) {
        let Some(container_name) = container.get("name").and_then(Value::as_str) else { continue };
        let items = container.get(name).and_then(Value::as_array).into_iter().flatten();
        let before: Vec<SmolStr> = items.filter_map(Value::as_str).map(escaped).collect();
        let mut list = before.clone();
        for ListOverrider { operator, value, .. } in overriders.iter().filter(|o| o.container_name == container_name) {
            let value: Vec<SmolStr> = value.iter().map(|text| escaped(text)).collect();
            match operator {
                Operator::Add => list.extend(value),
                Operator::Remove => list.retain(|item| !value.contains(item)),
                // the webhook refuses it
                Operator::Replace => {}
            }
        }
        if list == before {
            continue;
        }
        let text =
            format!("the {name} of container {container_name} of {} is the list that comes out today", object.title());
        about.say(Fate::Resolved, &format!("{field}.{name}Overrider"), text);
        let target = OverrideTarget { container: Some(placeless(container_name.into())), ..exactly(object) };
        let list = Some(placeless(list));
        let (args, command) = if name == "args" { (list, None) } else { (None, list) };
        entries.push(OverrideSpec { target: Some(placeless(target)), args, command, ..OverrideSpec::default() });
    }
}

type Texts = BTreeMap<Spanned<SmolStr>, Option<SmolStr>>;

/// Labels or annotations. `remove` and `replace` touch only what is there, so they are for the objects that have it.
fn metadata(overriders: &[MetadataOverrider], aims: &[Aim<'_>], name: &str, entries: &mut Vec<OverrideSpec>) {
    if overriders.is_empty() {
        return;
    }
    let mut push = |target: &OverrideTarget, texts: Texts| {
        if texts.is_empty() {
            return;
        }
        let target = (*target != OverrideTarget::default()).then(|| placeless(target.clone()));
        let (labels, annotations) = if name == "labels" { (texts, Texts::new()) } else { (Texts::new(), texts) };
        entries.push(OverrideSpec { target, labels, annotations, ..OverrideSpec::default() });
    };
    for aim in aims {
        if overriders.iter().all(|overrider| overrider.operator == Operator::Add) {
            let added = overriders.iter().flat_map(|overrider| &overrider.value);
            push(&aim.target, added.map(|(key, text)| (placeless(key.clone()), Some(escaped(text)))).collect());
            continue;
        }
        for object in &aim.objects {
            let there = if name == "labels" { &object.labels } else { &object.annotations };
            let mut texts = Texts::new();
            for MetadataOverrider { operator, value } in overriders {
                for (key, text) in value {
                    let spanned = placeless(key.clone());
                    let present = texts.get(&spanned).map_or(there.contains_key(key), Option::is_some);
                    match operator {
                        Operator::Add => texts.insert(spanned, Some(escaped(text))),
                        Operator::Replace if present => texts.insert(spanned, Some(escaped(text))),
                        Operator::Remove if present && there.contains_key(key) => texts.insert(spanned, None),
                        Operator::Remove if present => texts.remove(&spanned).flatten().map(Some),
                        Operator::Replace | Operator::Remove => None,
                    };
                }
            }
            push(&exactly(object), texts);
        }
    }
}

/// A field that holds JSON or YAML: the text that comes out of the manifest of today.
fn inner(
    overriders: &[FieldOverrider],
    object: &Object,
    field: &str,
    entries: &mut Vec<OverrideSpec>,
    about: &mut About<'_>,
) {
    let mut set = BTreeMap::new();
    for FieldOverrider { field_path, json, yaml } in overriders {
        let field = format!("{field}.fieldOverrider");
        let text = object.value.pointer(field_path).and_then(Value::as_str);
        match text.and_then(|text| rewritten(text, json, yaml)) {
            Some(text) => {
                let said = format!("{field_path} of {} is the text that comes out today", object.title());
                about.say(Fate::Resolved, &field, said);
                set.insert(placeless(field_path.clone()), placeless(escaped_value(&Value::String(text))));
            }
            None => {
                let said =
                    format!("{field_path} of {} holds no such document, or the patch fails on it", object.title());
                about.say(Fate::NoCounterpart, &field, said);
            }
        }
    }
    if !set.is_empty() {
        entries.push(OverrideSpec { target: Some(placeless(exactly(object))), set, ..OverrideSpec::default() });
    }
}

fn rewritten(text: &str, json: &[SubPatch], yaml: &[SubPatch]) -> Option<String> {
    let step = |patch: &SubPatch| step(&patch.sub_path, patch.operator, patch.value.as_ref());
    if yaml.is_empty() {
        let value = serde_json::from_str(text).ok()?;
        let value = patched(value, &json.iter().map(step).collect::<Vec<_>>())?;
        return serde_json::to_string(&value).ok();
    }
    let file = InputFile { path: String::new(), bytes: text.into() };
    let [value] = <[Value; 1]>::try_from(documents::values(&file).ok()?).ok()?;
    let value = patched(value, &yaml.iter().map(step).collect::<Vec<_>>())?;
    let mut out = String::new();
    yaml::emit(&value, &mut out);
    Some(out)
}

/// RFC 6902. A patch that fails on an object keeps Karmada from dispatching it.
fn patches(
    plaintext: &[Plaintext],
    aims: &[Aim<'_>],
    field: &str,
    entries: &mut Vec<OverrideSpec>,
    about: &mut About<'_>,
) {
    if plaintext.is_empty() {
        return;
    }
    let steps: Vec<Value> =
        plaintext.iter().map(|Plaintext { path, operator, value }| step(path, *operator, value.as_ref())).collect();
    let json_patch: Vec<Spanned<Value>> = steps.iter().map(|step| placeless(escaped_value(step))).collect();
    let mut push = |target: &OverrideTarget| {
        let target = (*target != OverrideTarget::default()).then(|| placeless(target.clone()));
        entries.push(OverrideSpec { target, json_patch: json_patch.clone(), ..OverrideSpec::default() });
    };
    for aim in aims {
        let (good, bad): (Vec<&Object>, Vec<&Object>) =
            aim.objects.iter().partition(|object| patched(object.value.clone(), &steps).is_some());
        for object in &bad {
            let text = format!("the patch fails on {} as it is written, and is left out for it", object.title());
            about.say(Fate::NoCounterpart, &format!("{field}.plaintext"), text);
        }
        if bad.is_empty() {
            push(&aim.target);
        } else {
            good.iter().for_each(|object| push(&exactly(object)));
        }
    }
}

fn step(path: &str, operator: Operator, value: Option<&Value>) -> Value {
    let mut step = json!({ "op": match operator {
        Operator::Add => "add",
        Operator::Remove => "remove",
        Operator::Replace => "replace",
    }, "path": path });
    if operator != Operator::Remove {
        step["value"] = value.cloned().unwrap_or_default();
    }
    step
}

/// The value after the steps; `None` where one fails.
fn patched(mut value: Value, steps: &[Value]) -> Option<Value> {
    let steps = json_patch::parse(steps).ok()?;
    let subject = Subject::custom(Vec::new());
    apply(&Operation::JsonPatch(steps), &mut value, &subject, &Variables::default()).ok()?;
    Some(value)
}

/// `${` stands for a variable in overrides, `$${` for itself.
fn escaped(text: &str) -> SmolStr {
    text.replace("${", "$${").into()
}

/// All texts of a value. Its depth is that of a document.
fn escaped_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(escaped(text).to_string()),
        Value::Array(items) => items.iter().map(escaped_value).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), escaped_value(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
