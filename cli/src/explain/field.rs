//! What may be written in a field, out of the JSON Schema of its kind: the doc comments of the API's types.

use fleetwright_compiler::api::not_yet::NOT_YET;
use fleetwright_compiler::api::schema;
use fleetwright_compiler::base::name::nearest;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::schema::kind_named;

/// References and alternatives followed one after another: the schemas are ours and shallow, a loop in them is not.
const MAX_DEPTH: usize = 16;
/// Levels below a field that a hint looks at.
const MAX_HINT_DEPTH: usize = 4;

/// A field as people need to know it.
#[derive(Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldDoc {
    /// `app.spec.placement`
    pub path: String,
    /// `list of string`
    #[serde(rename = "type")]
    pub form: String,
    /// What it says.
    pub description: Vec<String>,
    /// Refused for now, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_yet: Option<String>,
    /// What may be written, where that is a list of words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Member>,
    /// Fields below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Member>,
}

/// A value or a field below.
#[derive(Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it holds; empty for a value.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub form: String,
    /// Whether it must be written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Its first line.
    pub description: String,
}

/// Finds the field of a path such as `app.spec.placement.replicas`.
///
/// # Errors
/// A usage error with the nearest name.
pub fn find(topic: &str) -> Result<FieldDoc, Failure> {
    let mut names = topic.split('.').map(|name| name.trim_end_matches("[]")).filter(|name| !name.is_empty());
    let kind = kind_named(names.next().unwrap_or_default())?;
    let root = schema::of_kind(kind)
        .map(Value::from)
        .ok_or_else(|| Failure::Bug(format!("{kind} is listed and has no schema")))?;
    let mut node = &root;
    let mut at = kind.to_ascii_lowercase();
    let mut path: Vec<&str> = Vec::new();
    for name in names {
        node = step(&root, node, name)
            .ok_or_else(|| Failure::Usage(format!("`{at}` has no field `{name}`; {}", hint(&root, node, &at, name))))?;
        path.push(name);
        at = format!("{at}.{name}");
    }
    let mut description: Vec<String> = Vec::new();
    for text in chain(&root, node).into_iter().filter_map(|one| one.get("description")?.as_str()) {
        // What a field says and what its type says often begin with the same words.
        if description.last().is_some_and(|last| text.starts_with(last.as_str())) {
            description.pop();
        }
        if !description.iter().any(|said| said.starts_with(text)) {
            description.push(text.to_owned());
        }
    }
    Ok(FieldDoc {
        path: at,
        form: form(&root, node, 0),
        description,
        not_yet: not_yet(kind, &path).map(str::to_owned),
        values: values(&root, node),
        fields: fields(&root, node),
    })
}

/// A schema without the `null` that every optional field allows, references and alternatives followed.
fn shapes<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s Value> {
    let mut found = Vec::new();
    collect(root, node, 0, &mut found);
    found
}

fn collect<'s>(root: &'s Value, node: &'s Value, depth: usize, found: &mut Vec<&'s Value>) {
    if depth > MAX_DEPTH || node.get("type").and_then(Value::as_str) == Some("null") {
        return;
    }
    if let Some(target) = node.get("$ref").and_then(Value::as_str) {
        if let Some(target) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            collect(root, target, depth + 1, found);
        }
        return;
    }
    match alternatives(node) {
        Some(alternatives) => alternatives.iter().for_each(|one| collect(root, one, depth + 1, found)),
        None => found.push(node),
    }
}

fn alternatives(node: &Value) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf"].iter().find_map(|key| node.get(*key)).and_then(Value::as_array)
}

/// The field itself and what it refers to, for their descriptions: those of single alternatives are theirs alone.
fn chain<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s Value> {
    let mut chain = vec![node];
    let mut at = node;
    for _ in 0..MAX_DEPTH {
        let only = alternatives(at).and_then(|all| {
            let mut real = all.iter().filter(|one| one.get("type").and_then(Value::as_str) != Some("null"));
            real.next().filter(|_| real.next().is_none())
        });
        let next = only.or_else(|| {
            let pointer = at.get("$ref").and_then(Value::as_str)?.strip_prefix('#')?;
            root.pointer(pointer)
        });
        let Some(next) = next.or_else(|| at.get("items")) else { break };
        chain.push(next);
        at = next;
    }
    chain
}

/// The schema of a field: lists are entered without a word, and in a map every name is a field.
fn step<'s>(root: &'s Value, node: &'s Value, name: &str) -> Option<&'s Value> {
    let shapes = objects(root, node);
    let property = shapes.iter().find_map(|shape| shape.get("properties")?.get(name));
    property.or_else(|| shapes.iter().find_map(|shape| shape.get("additionalProperties").filter(|s| s.is_object())))
}

/// The shapes that may have fields, inside any lists.
fn objects<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s Value> {
    let mut found = shapes(root, node);
    for _ in 0..MAX_DEPTH {
        if !found.iter().any(|shape| shape.get("items").is_some()) {
            break;
        }
        found = found
            .into_iter()
            .flat_map(|shape| shape.get("items").map_or_else(|| vec![shape], |items| shapes(root, items)))
            .collect();
    }
    found
}

/// Where a field that is not here may be: a name like it here, then deeper, then all there are.
fn hint(root: &Value, node: &Value, at: &str, name: &str) -> String {
    let here = field_names(root, node);
    if let Some(near) = nearest(name, here.iter().copied()) {
        return format!("did you mean `{at}.{near}`?");
    }
    let mut deeper = Vec::new();
    paths_below(root, node, at, 0, &mut deeper);
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let names: Vec<String> = deeper.iter().map(|path| last(path)).collect();
    if let Some(near) = nearest(name, names.iter().map(String::as_str))
        && let Some(path) = deeper.iter().find(|path| last(path) == near)
    {
        return format!("did you mean `{path}`?");
    }
    if here.is_empty() { "nothing is below it".into() } else { format!("there are {}", here.join(", ")) }
}

/// The paths of all fields below, shallow ones first among those of one branch.
fn paths_below(root: &Value, node: &Value, at: &str, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_HINT_DEPTH {
        return;
    }
    for name in field_names(root, node) {
        let path = format!("{at}.{name}");
        found.push(path.clone());
        if let Some(below) = step(root, node, name) {
            paths_below(root, below, &path, depth + 1, found);
        }
    }
}

fn field_names<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s str> {
    let of = |shape: &'s Value| shape.get("properties").and_then(Value::as_object);
    objects(root, node).into_iter().filter_map(of).flat_map(Map::keys).map(String::as_str).collect()
}

fn fields(root: &Value, node: &Value) -> Vec<Member> {
    let mut members = Vec::new();
    for shape in objects(root, node) {
        let required = shape.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|r| r.iter().any(|one| one == name));
        for (name, field) in shape.get("properties").and_then(Value::as_object).into_iter().flatten() {
            members.push(Member {
                name: name.clone(),
                form: form(root, field, 0),
                required: is_required(name),
                description: first_line(root, field),
            });
        }
    }
    members
}

fn values(root: &Value, node: &Value) -> Vec<Member> {
    let mut values = Vec::new();
    for shape in objects(root, node) {
        let stated =
            shape.get("const").into_iter().chain(shape.get("enum").and_then(Value::as_array).into_iter().flatten());
        for value in stated.filter_map(Value::as_str) {
            values.push(Member {
                name: value.to_owned(),
                form: String::new(),
                required: false,
                description: first_line(root, shape),
            });
        }
    }
    values
}

fn first_line(root: &Value, node: &Value) -> String {
    let text = chain(root, node).into_iter().find_map(|one| one.get("description").and_then(Value::as_str));
    text.and_then(|text| text.split("\n\n").next()).unwrap_or_default().replace('\n', " ")
}

/// What a field holds, in words.
fn form(root: &Value, node: &Value, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "any".into();
    }
    let mut words: Vec<String> = Vec::new();
    for shape in shapes(root, node) {
        let word = match base_type(shape) {
            Some("array") => {
                format!("list of {}", shape.get("items").map_or_else(|| "any".into(), |i| form(root, i, depth + 1)))
            }
            Some("object") => match shape.get("additionalProperties") {
                Some(value) if value.is_object() => format!("map of {}", form(root, value, depth + 1)),
                Some(Value::Bool(true)) => "map".into(),
                Some(_) | None => "object".into(),
            },
            Some(word) => word.to_owned(),
            None => "any".into(),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.is_empty() { "any".into() } else { words.join(" or ") }
}

fn base_type(shape: &Value) -> Option<&str> {
    match shape.get("type")? {
        Value::String(word) => Some(word),
        Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| *word != "null"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Why the field at a path, or one it lies in, is refused for now.
fn not_yet(kind: &str, path: &[&str]) -> Option<&'static str> {
    let placement = path.iter().position(|name| *name == "placement").and_then(|at| path.get(at + 1..));
    let begins = |path: &[&str], row: &[&str]| {
        let mut row = row.iter().filter(|name| **name != "[]");
        let mut path = path.iter();
        row.all(|name| path.next() == Some(name))
    };
    NOT_YET
        .iter()
        .filter(|row| row.value.is_none())
        .find(|row| {
            (row.kind == kind && begins(path, row.path))
                || (row.kind == "*" && placement.is_some_and(|below| begins(below, row.path)))
        })
        .map(|row| row.will)
}

impl FieldDoc {
    /// The text for people.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}\n", self.path, self.form);
        for description in &self.description {
            text.push_str(&format!("\n{description}\n"));
        }
        if let Some(why) = &self.not_yet {
            text.push_str(&format!("\nRefused for now: {why}.\n"));
        }
        for (title, members) in [("Values", &self.values), ("Fields", &self.fields)] {
            if members.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{title}:\n"));
            let width = members.iter().map(|m| m.name.chars().count()).max().unwrap_or(0);
            for Member { name, form, required, description } in members {
                let form = match (form.as_str(), *required) {
                    ("", _) => String::new(),
                    (form, true) => format!("({form}, required) "),
                    (form, false) => format!("({form}) "),
                };
                text.push_str(format!("  {name:width$}  {form}{description}").trim_end());
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fields_hold() {
        for (topic, form) in [
            ("app", "object"),
            ("App.spec.namespace", "string"),
            ("app.spec.manifests", "list of string"),
            ("app.spec.images", "list of object"),
            ("app.spec.images.newTag", "string"),
            ("app.spec.images[].newTag", "string"),
            ("app.spec.objects.divide", "boolean"),
            ("app.spec.placement.replicas.total", "integer"),
            ("app.spec.placement.replicas.weights", "list of object or map of integer"),
            ("app.spec.placement.replicas.weights.weight", "integer"),
            ("app.metadata.labels", "map of string"),
            // in a map, every name is a field
            ("app.metadata.labels.env", "string"),
            ("fleet.spec.defaults.placement.spread.topologyKey", "string"),
            ("priorityclass.value", "integer"),
        ] {
            assert_eq!(find(topic).map(|doc| doc.form).as_deref(), Ok(form), "{topic}");
        }
    }

    #[test]
    fn values_and_fields() {
        let strategy = find("app.spec.placement.replicas.strategy").unwrap();
        let names: Vec<&str> = strategy.values.iter().map(|value| value.name.as_str()).collect();
        assert_eq!(names, ["Duplicated", "StaticWeight", "DynamicWeight", "Aggregated"]);
        assert_eq!(
            strategy.description,
            ["The rule of division. Must be stated in some layer as soon as more than one cluster is selected."]
        );
        let images = find("app.spec.images").unwrap();
        let fields: Vec<(&str, bool)> = images.fields.iter().map(|f| (f.name.as_str(), f.required)).collect();
        assert_eq!(fields, [("name", true), ("newName", false), ("newTag", false), ("digest", false)]);
        assert!(
            images.to_text().ends_with(
                "\nFields:\n  \
                 name     (string, required) The image as manifests name it, without tag or digest.\n  \
                 newName  (string) Another name.\n  \
                 newTag   (string) Another tag.\n  \
                 digest   (string) A digest, `sha256:…`; replaces the tag.\n"
            ),
            "{}",
            images.to_text()
        );
    }

    #[test]
    fn every_field_of_every_kind_is_explained() {
        for kind in fleetwright_compiler::api::KINDS {
            let root = Value::from(schema::of_kind(kind).unwrap());
            let mut paths = Vec::new();
            paths_below(&root, &root, &kind.to_ascii_lowercase(), 0, &mut paths);
            assert!(paths.len() >= 10, "{kind}");
            for path in paths {
                let doc = find(&path).unwrap();
                assert!(!doc.description.is_empty(), "{path} has no description");
                assert_eq!(doc.path, path);
            }
        }
    }

    #[test]
    fn fields_that_are_refused_for_now() {
        for (topic, refused) in [
            ("app.spec.rollout", true),
            ("app.spec.dependsOn", false),
            ("app.spec.placement.affinity", false),
            ("fleet.spec.limits.moves", true),
            ("fleet.spec.limits.deletions", false),
            ("team.spec.placement.move", false),
            ("team.spec.placement.move.max", false),
            ("tide.spec.move.wait", false),
            ("app.spec.placement.move.minAvailable", false),
            ("app.spec.placement.clusters", false),
            ("app.spec.suspend", false),
            ("app.spec.traffic", true),
            ("app.spec.objects.replicas", false),
        ] {
            assert_eq!(find(topic).unwrap().not_yet.is_some(), refused, "{topic}");
        }
    }

    #[test]
    fn hints() {
        for (topic, expected) in [
            ("apq.spec", "there is no kind `apq`; did you mean App?"),
            ("app.spec.placment", "`app.spec` has no field `placment`; did you mean `app.spec.placement`?"),
            (
                "app.spec.placement.weigths",
                "`app.spec.placement` has no field `weigths`; did you mean `app.spec.placement.replicas.weights`?",
            ),
            ("app.spec.namespace.x", "`app.spec.namespace` has no field `x`; nothing is below it"),
        ] {
            assert_eq!(find(topic), Err(Failure::Usage(expected.into())), "{topic}");
        }
    }
}
