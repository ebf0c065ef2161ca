//! Files of manifests as objects.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{About, Fate, InputFile, Note, Unreadable};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::yaml;

/// An object of the source: `apiVersion`, `kind`, `metadata.name` are texts. Keys that hold null are left out.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The file.
    pub file: SmolStr,
    /// The line that it begins in, from 1.
    pub line: u32,
    /// The API group; empty for the core group.
    pub group: SmolStr,
    /// `group/version`.
    pub api_version: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// The namespace; empty where there is none.
    pub namespace: SmolStr,
    /// The name.
    pub name: SmolStr,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Labels,
    /// All of it.
    pub value: Value,
}

impl Object {
    /// `Deployment shop/web`
    pub(super) fn title(&self) -> SmolStr {
        title(&self.kind, &self.namespace, &self.name)
    }
}

/// `Deployment shop/web`, `Cluster a`
pub(super) fn title(kind: &str, namespace: &str, name: &str) -> SmolStr {
    match namespace {
        "" => format!("{kind} {name}").into(),
        _ => format!("{kind} {namespace}/{name}").into(),
    }
}

/// Every object of every file, lists opened, in the order of the paths. Other documents are left out.
///
/// # Errors
/// Every mistake of YAML.
pub(super) fn read(files: &[InputFile]) -> Result<Vec<Object>, Vec<Unreadable>> {
    let mut sorted: Vec<&InputFile> = files.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let (mut objects, mut unreadable) = (Vec::new(), Vec::new());
    for file in sorted {
        match objects_of(file) {
            Ok(found) => objects.extend(found),
            Err(wrong) => unreadable.extend(wrong),
        }
    }
    let odd = objects
        .iter()
        .filter(|object| !is_segment(&object.name) || !(object.namespace.is_empty() || is_segment(&object.namespace)));
    unreadable.extend(odd.map(|object| Unreadable {
        file: object.file.to_string(),
        line: object.line,
        text: format!("`{}` is no name that an API server takes", object.title().escape_debug()),
    }));
    if unreadable.is_empty() { Ok(objects) } else { Err(unreadable) }
}

/// Whether a text can be one part of a path, as the names of all objects can (`IsValidPathSegmentName` of the API
/// machinery); control characters and backslashes, which no kind allows, cannot either.
pub(super) fn is_segment(text: &str) -> bool {
    let odd = |c: char| matches!(c, '/' | '%' | '\\') || c.is_control();
    !text.is_empty() && !matches!(text, "." | "..") && !text.contains(odd)
}

/// The documents of a file, without nulls.
///
/// # Errors
/// Every mistake of YAML.
pub(super) fn values(file: &InputFile) -> Result<Vec<Value>, Vec<Unreadable>> {
    Ok(written_values(file)?.into_iter().map(without_nulls).collect())
}

/// The documents of a file, as they are written.
///
/// # Errors
/// Every mistake of YAML.
pub(super) fn written_values(file: &InputFile) -> Result<Vec<Value>, Vec<Unreadable>> {
    composed(file, |root, _| vec![root.to_json()])
}

/// What is made of each document of a file.
fn composed<T>(
    file: &InputFile,
    make: impl Fn(&yaml::Node<'_>, &yaml::LineIndex) -> Vec<T>,
) -> Result<Vec<T>, Vec<Unreadable>> {
    let whole = |text: String| Unreadable { file: file.path.clone(), line: 0, text };
    let text = yaml::decode_utf8(&file.bytes).map_err(|error| vec![whole(error.to_string())])?;
    let (documents, errors) = yaml::compose(text, &yaml::Limits::default());
    let lines = yaml::LineIndex::new(text);
    if !errors.is_empty() {
        let at = |error: &yaml::YamlError| Unreadable {
            file: file.path.clone(),
            line: lines.position(error.span.start).0,
            text: error.to_string(),
        };
        return Err(errors.iter().map(at).collect());
    }
    let roots = documents.iter().filter_map(|document| document.root.as_ref());
    Ok(roots.flat_map(|root| make(root, &lines)).collect())
}

/// Kubernetes takes a key that holds null for an absent one. The depth of a document is bounded by `yaml::Limits`.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        leaf => leaf,
    }
}

/// The objects of a file, and those of its lists. A list in a list is left out, as `kubectl` has none.
fn objects_of(file: &InputFile) -> Result<Vec<Object>, Vec<Unreadable>> {
    let text = |node: &yaml::Node<'_>| match &node.value {
        yaml::Yaml::Str(text) => text.to_string(),
        _ => String::new(),
    };
    composed(file, |root, lines| {
        let one = |node: &yaml::Node<'_>| {
            object(&file.path, lines.position(node.span.start).0, without_nulls(node.to_json()))
        };
        let is_list = root.get("kind").is_some_and(|kind| text(kind).ends_with("List"));
        match root.get("items").map(|items| &items.value) {
            Some(yaml::Yaml::Seq(items)) if is_list => items.iter().filter_map(one).collect(),
            _ => one(root).into_iter().collect(),
        }
    })
}

/// Each object once. What is there twice and the same is said; what is there twice and differs cannot be told apart.
///
/// # Errors
/// Every object that is there with two contents.
pub(super) fn once(objects: Vec<Object>, notes: &mut Vec<Note>) -> Result<Vec<Object>, Vec<Unreadable>> {
    type Key = (SmolStr, SmolStr, SmolStr, SmolStr);
    let mut known: BTreeMap<Key, usize> = BTreeMap::new();
    let (mut kept, mut unreadable): (Vec<Object>, Vec<Unreadable>) = (Vec::new(), Vec::new());
    for object in objects {
        let key = (object.group.clone(), object.kind.clone(), object.namespace.clone(), object.name.clone());
        let Some(first) = known.get(&key).and_then(|at| kept.get(*at)) else {
            known.insert(key, kept.len());
            kept.push(object);
            continue;
        };
        let title = object.title();
        if first.value == object.value {
            let mut about = About { file: object.file.clone(), object: title, notes };
            about.say(Fate::Skipped, "", format!("is in {} as well, and the same there", at(first)));
            continue;
        }
        unreadable.push(Unreadable {
            file: object.file.to_string(),
            line: object.line,
            text: format!(
                "{} is in {} as well, and differs there: leave one of them out",
                title.escape_debug(),
                at(first)
            ),
        });
    }
    if unreadable.is_empty() { Ok(kept) } else { Err(unreadable) }
}

/// `a.yaml:3`
fn at(object: &Object) -> String {
    format!("{}:{}", object.file, object.line)
}

fn object(file: &str, line: u32, value: Value) -> Option<Object> {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(SmolStr::from);
    let map = |pointer: &str| -> Labels {
        let entries = value.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
        entries.filter_map(|(key, value)| Some((key.into(), value.as_str()?.into()))).collect()
    };
    let api_version = text("/apiVersion")?;
    Some(Object {
        file: file.into(),
        line,
        group: api_version.split_once('/').map_or("", |(group, _)| group).into(),
        kind: text("/kind")?,
        namespace: text("/metadata/namespace").unwrap_or_default(),
        name: text("/metadata/name")?,
        labels: map("/metadata/labels"),
        annotations: map("/metadata/annotations"),
        api_version,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_there_once() {
        let map = |name: &str, data: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns}}\ndata: {{a: {data}}}\n")
        };
        let outcome = |texts: &[(&str, String)]| {
            let files: Vec<InputFile> = texts
                .iter()
                .map(|(path, text)| InputFile { path: (*path).to_owned(), bytes: text.clone().into_bytes() })
                .collect();
            let mut notes = Vec::new();
            let kept = once(read(&files).unwrap(), &mut notes);
            let said =
                notes.iter().map(|note| format!("{}: {}: {}", note.file, note.object, note.text)).collect::<Vec<_>>();
            let wrong = |wrong: Vec<Unreadable>| wrong.iter().map(ToString::to_string).collect::<Vec<_>>();
            (kept.map(|kept| kept.len()).map_err(wrong), said)
        };
        let (one, same, other) = (map("m", "x"), map("m", "x"), map("m", "y"));
        assert_eq!(outcome(&[("a.yaml", one.clone()), ("b.yaml", map("o", "x"))]), (Ok(2), vec![]));
        assert_eq!(
            outcome(&[("a.yaml", one.clone()), ("b.yaml", same)]),
            (Ok(1), vec!["b.yaml: ConfigMap ns/m: is in a.yaml:1 as well, and the same there".to_owned()])
        );
        let list = format!("kind: List\napiVersion: v1\nitems:\n- {}", other.trim_end().replace('\n', "\n  "));
        let expected = "b.yaml:4: ConfigMap ns/m is in a.yaml:1 as well, and differs there: leave one of them out";
        assert_eq!(outcome(&[("a.yaml", one.clone()), ("b.yaml", list)]), (Err(vec![expected.to_owned()]), vec![]));
        let twice = format!("{one}---\n{other}");
        assert!(outcome(&[("a.yaml", twice)]).0.unwrap_err()[0].starts_with("a.yaml:6: ConfigMap ns/m is in a.yaml:1"));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for (metadata, expected) in [
            ("{name: a}", true),
            ("{name: \"system:node\"}", true),
            ("{name: a, namespace: n}", true),
            ("{name: ../../a}", false),
            ("{name: /a}", false),
            ("{name: ..}", false),
            ("{name: \"a\\nb\"}", false),
            ("{name: \"\"}", false),
            ("{name: a, namespace: ../b}", false),
            ("{name: a, namespace: .}", false),
            ("{name: \"a\\\\b\"}", false),
        ] {
            let text = format!("apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {metadata}\n");
            let file = InputFile { path: "x.yaml".to_owned(), bytes: text.into_bytes() };
            let read = read(&[file]);
            assert_eq!(read.is_ok(), expected, "{metadata}: {read:?}");
            if let Err(wrong) = read {
                assert!(wrong[0].to_string().ends_with("is no name that an API server takes"), "{wrong:?}");
            }
        }
    }
}
