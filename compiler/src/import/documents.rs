//! Files of manifests as objects.

use serde_json::Value;

use super::{InputFile, Unreadable};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::yaml;

/// An object of the source: `apiVersion`, `kind`, `metadata.name` are texts. Keys that hold null are left out.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The file.
    pub file: SmolStr,
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
        match values(file) {
            Ok(values) => values.into_iter().for_each(|value| open(&file.path, value, &mut objects)),
            Err(wrong) => unreadable.extend(wrong),
        }
    }
    let odd = objects
        .iter()
        .filter(|object| !is_segment(&object.name) || !(object.namespace.is_empty() || is_segment(&object.namespace)));
    unreadable.extend(odd.map(|object| Unreadable {
        file: object.file.to_string(),
        line: 0,
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
    let whole = |text: String| Unreadable { file: file.path.clone(), line: 0, text };
    let text = yaml::decode_utf8(&file.bytes).map_err(|error| vec![whole(error.to_string())])?;
    let (documents, errors) = yaml::compose(text, &yaml::Limits::default());
    if !errors.is_empty() {
        let lines = yaml::LineIndex::new(text);
        let at = |error: &yaml::YamlError| Unreadable {
            file: file.path.clone(),
            line: lines.position(error.span.start).0,
            text: error.to_string(),
        };
        return Err(errors.iter().map(at).collect());
    }
    let roots = documents.iter().filter_map(|document| document.root.as_ref());
    Ok(roots.map(yaml::Node::to_json).collect())
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

/// The object, or the objects of a list. A list in a list is left out, as `kubectl` has none.
fn open(file: &str, value: Value, objects: &mut Vec<Object>) {
    let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    match value.get("items") {
        Some(Value::Array(items)) if is_list => {
            objects.extend(items.iter().filter_map(|item| object(file, item.clone())));
        }
        _ => objects.extend(object(file, value)),
    }
}

fn object(file: &str, value: Value) -> Option<Object> {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(SmolStr::from);
    let map = |pointer: &str| -> Labels {
        let entries = value.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
        entries.filter_map(|(key, value)| Some((key.into(), value.as_str()?.into()))).collect()
    };
    let api_version = text("/apiVersion")?;
    Some(Object {
        file: file.into(),
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
