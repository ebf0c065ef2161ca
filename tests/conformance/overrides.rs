//! Overrides: labels, annotations, arguments, images, image references.
//!
//! Karmada's facts are JSON patches; ours are objects after an operation. So the patches of a case are run by the
//! library's own JSON patch, and objects are compared.

use std::collections::BTreeMap;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::kinds::native::lookup_api_version;
use fleetwright_compiler::overrides::image::{ImageRef, split_host};
use fleetwright_compiler::overrides::{
    Containers, ImageRule, ListEdit, Operation, Subject, Variables, apply, json_patch,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Deviation, Op, Unanswered, as_written, refused};
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "labels_result", answer: labels_result, normal: texts, deviations: METADATA },
    Op { name: "annotations_result", answer: annotations_result, normal: texts, deviations: METADATA },
    Op { name: "command_patches", answer: command_patches, normal: patched, deviations: LISTS },
    Op { name: "args_patches", answer: args_patches, normal: patched, deviations: LISTS },
    Op { name: "image_patches", answer: image_patches, normal: patched, deviations: &[] },
    Op { name: "parse_image", answer: parse_image, normal: as_written, deviations: &[] },
    Op { name: "split_image_host", answer: split_image_host, normal: as_written, deviations: &[] },
];

fn subject(object: &Value) -> Subject {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    lookup_api_version(text("apiVersion"), text("kind")).map_or_else(|| Subject::custom(Vec::new()), Subject::native)
}

/// The object after an operation; `None` where it is refused.
fn after(operation: &Operation, mut object: Value) -> Option<Value> {
    let subject = subject(&object);
    apply(operation, &mut object, &subject, &Variables::default()).ok().map(|_| object)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MetadataEdits {
    command_overriders: Vec<MetadataEdit>,
    raw_obj: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetadataEdit {
    operator: String,
    #[serde(default)]
    value: BTreeMap<SmolStr, String>,
}

fn labels_result(input: &Value) -> Result<Value, Unanswered> {
    metadata_result(input, "labels", Operation::Labels)
}

fn annotations_result(input: &Value) -> Result<Value, Unanswered> {
    metadata_result(input, "annotations", Operation::Annotations)
}

fn metadata_result(
    input: &Value,
    field: &str,
    operation: fn(BTreeMap<SmolStr, Option<String>>) -> Operation,
) -> Result<Value, Unanswered> {
    let MetadataEdits { command_overriders, raw_obj } = read(input)?;
    let mut object = raw_obj;
    for MetadataEdit { operator, value } in command_overriders {
        let operation = match operator.as_str() {
            "add" => operation(value.into_iter().map(|(key, text)| (key, Some(text))).collect()),
            "remove" => operation(value.into_keys().map(|key| (key, None)).collect()),
            "replace" => {
                let step = |(key, text): (SmolStr, String)| {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    json!({ "op": "replace", "path": format!("/metadata/{field}/{key}"), "value": text })
                };
                let steps: Vec<Value> = value.into_iter().map(step).collect();
                let steps = json_patch::parse(&steps).map_err(|error| Unanswered::Malformed(error.to_string()))?;
                Operation::JsonPatch(steps)
            }
            other => return Err(Unanswered::Unmapped(format!("no such operator: {other}"))),
        };
        match after(&operation, object) {
            Some(changed) => object = changed,
            None => return Ok(json!({ "want": null, "wantErr": true })),
        }
    }
    Ok(json!({ "want": object.pointer(&format!("/metadata/{field}")), "wantErr": false }))
}

/// No texts and an absent map are the same.
fn texts(_: &Value, mut value: Value) -> Value {
    if let Some(want) = value.get_mut("want").filter(|want| want.as_object().is_some_and(serde_json::Map::is_empty)) {
        *want = Value::Null;
    }
    value
}

const METADATA: &[Deviation] = &[Deviation {
    why: "replacing what is not there is a mistake: Karmada does nothing and says nothing",
    holds: |asked| {
        let edits = asked.input.get("commandOverriders").and_then(Value::as_array).into_iter().flatten();
        let replaces = |edit: &Value| edit.get("operator").and_then(Value::as_str) == Some("replace");
        asked.answer.get("wantErr") == Some(&true.into()) && edits.into_iter().any(replaces)
    },
}];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListPatches {
    #[serde(rename = "CommandArgsOverrider")]
    overrider: ListOverrider,
    #[serde(rename = "rawObj")]
    object: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListOverrider {
    container_name: SmolStr,
    operator: String,
    #[serde(default)]
    value: Vec<String>,
}

fn command_patches(input: &Value) -> Result<Value, Unanswered> {
    list_patches(input, |containers, edit| Operation::Command { containers, edit })
}

fn args_patches(input: &Value) -> Result<Value, Unanswered> {
    list_patches(input, |containers, edit| Operation::Args { containers, edit })
}

fn list_patches(input: &Value, operation: fn(Containers, ListEdit) -> Operation) -> Result<Value, Unanswered> {
    let ListPatches { overrider, object } = read(input)?;
    let edit = match overrider.operator.as_str() {
        "add" => ListEdit::Append(overrider.value),
        "remove" => ListEdit::Remove(overrider.value),
        other => return Err(Unanswered::Unmapped(format!("no such operator: {other}"))),
    };
    Ok(object_answer(after(&operation(Containers::Named(overrider.container_name), edit), object)))
}

fn object_answer(object: Option<Value>) -> Value {
    json!({ "wantErr": object.is_none(), "object": object })
}

/// The object that the patches of a case make.
fn patched(input: &Value, value: Value) -> Value {
    let Some(want) = value.get("want") else { return value };
    if value.get("wantErr") == Some(&true.into()) {
        return object_answer(None);
    }
    let mut object = input.get("rawObj").cloned().unwrap_or_default();
    let steps: Vec<Value> = want.as_array().cloned().unwrap_or_default();
    let applied = json_patch::parse(&steps)
        .and_then(|steps| json_patch::apply(&mut object, &steps, json_patch::Rules::ApiServer));
    match applied {
        Ok(()) => object_answer(Some(object)),
        Err(error) => json!({ "patch of the case": error.to_string() }),
    }
}

const LISTS: &[Deviation] = &[
    Deviation {
        why: "a container that the object does not have is a mistake: Karmada does nothing and says nothing",
        holds: |asked| {
            let wanted = asked.input.pointer("/CommandArgsOverrider/containerName").and_then(Value::as_str);
            let named = |container: &Value| container.get("name").and_then(Value::as_str) == wanted;
            asked.answer.get("wantErr") == Some(&true.into()) && !containers(asked.input).iter().any(named)
        },
    },
    Deviation {
        why: "a list without items is left out, which Kubernetes reads alike",
        holds: |asked| {
            let mut expected = asked.expected.clone();
            without_empty_lists(&mut expected);
            let mut answer = asked.answer.clone();
            without_empty_lists(&mut answer);
            expected == answer
        },
    },
];

fn containers(input: &Value) -> Vec<Value> {
    let lists = ["/rawObj/spec", "/rawObj/spec/template/spec", "/rawObj/spec/jobTemplate/spec/template/spec"];
    let specs = lists.iter().filter_map(|pointer| input.pointer(pointer));
    let of = |spec: &Value| spec.get("containers").and_then(Value::as_array).cloned().unwrap_or_default();
    specs.flat_map(of).collect()
}

fn without_empty_lists(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, member| member.as_array().is_none_or(|items| !items.is_empty()));
            map.values_mut().for_each(without_empty_lists);
        }
        Value::Array(items) => items.iter_mut().for_each(without_empty_lists),
        _ => {}
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImagePatches {
    image_overrider: ImageOverrider,
    raw_obj: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageOverrider {
    component: String,
    operator: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    predicate: Option<Predicate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Predicate {
    path: String,
}

/// The edits that have a counterpart: a registry becomes `newRegistry`, a repository `newName`, a tag `newTag`.
fn image_patches(input: &Value) -> Result<Value, Unanswered> {
    let ImagePatches { image_overrider, raw_obj } = read(input)?;
    let ImageOverrider { component, operator, value, predicate } = image_overrider;
    let images: Vec<String> = containers(input)
        .iter()
        .filter_map(|container| container.get("image").and_then(Value::as_str).map(str::to_owned))
        .collect();
    let only_one = |predicate: &Predicate| images.len() == 1 && predicate.path.ends_with("/containers/0/image");
    if predicate.as_ref().is_some_and(|predicate| !only_one(predicate)) {
        return Err(Unanswered::Unmapped("one place among several images: a `set`, not `images`".to_owned()));
    }
    let references: Vec<ImageRef> = images.iter().filter_map(|image| ImageRef::parse(image).ok()).collect();
    let bare = |reference: &ImageRef| ImageRef { tag: None, digest: None, ..reference.clone() }.to_string();
    let rule = |reference: &ImageRef, new_name: Option<String>, new_tag: Option<String>| ImageRule {
        name: bare(reference).into(),
        new_name,
        new_tag,
        digest: None,
    };
    let named = |host: &Option<SmolStr>| match host {
        Some(host) => format!("{host}/{value}"),
        None => value.clone(),
    };
    let operation = match (component.as_str(), operator.as_str()) {
        ("Registry", "replace") => Operation::Images { rules: Vec::new(), new_registry: Some(value) },
        ("Registry", "add") if references.iter().all(|reference| reference.host.is_none()) => {
            Operation::Images { rules: Vec::new(), new_registry: Some(value) }
        }
        ("Repository", "replace") => Operation::Images {
            rules: references.iter().map(|reference| rule(reference, Some(named(&reference.host)), None)).collect(),
            new_registry: None,
        },
        // Where Karmada adds to a part or removes one, a person writes the whole new name.
        ("Repository", "add") => Operation::Images {
            rules: references
                .iter()
                .map(|reference| rule(reference, Some(format!("{}{value}", bare(reference))), None))
                .collect(),
            new_registry: None,
        },
        ("Registry", "remove") => Operation::Images {
            rules: references
                .iter()
                .map(|reference| rule(reference, Some(bare(&ImageRef { host: None, ..reference.clone() })), None))
                .collect(),
            new_registry: None,
        },
        ("Tag", "replace") => Operation::Images {
            rules: references.iter().map(|reference| rule(reference, None, Some(value.clone()))).collect(),
            new_registry: None,
        },
        _ => return Err(Unanswered::Unmapped(format!("images: {operator} of a part of the {component}"))),
    };
    Ok(object_answer(after(&operation, raw_obj)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Image {
    image: String,
}

fn parse_image(input: &Value) -> Result<Value, Unanswered> {
    let Image { image } = read(input)?;
    let Ok(ImageRef { host, repository, tag, digest }) = ImageRef::parse(&image) else { return Ok(refused()) };
    Ok(json!({
        "expectHostname": host.unwrap_or_default(),
        "expectRepository": repository,
        "expectTag": tag.unwrap_or_default(),
        "expectDigest": digest.unwrap_or_default(),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    input: String,
}

fn split_image_host(input: &Value) -> Result<Value, Unanswered> {
    let Text { input } = read(input)?;
    let (host, repository) = split_host(&input);
    Ok(json!({ "expectedHostname": host, "expectedRepository": repository }))
}
