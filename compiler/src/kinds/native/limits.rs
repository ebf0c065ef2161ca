//! Sizes that the API server refuses, so that the compiler refuses them first.
//!
//! Source: `MaxSecretSize` and the ConfigMap check of `pkg/apis/core/validation`, `TotalAnnotationSizeLimitB` of
//! `apimachinery/pkg/api/validation`. Objects themselves are bounded by the reader's file size.

use serde_json::Value;

use super::{NativeKind, check::base64_len};
use crate::base::{Path, SmolStr};

/// All values of a ConfigMap or a Secret together, decoded; keys are not counted.
const DATA_LIMIT_BYTES: usize = 1_048_576;
/// All annotations of an object, keys and values.
const ANNOTATIONS_LIMIT_BYTES: usize = 262_144;

/// How many bytes of the limit a value takes.
type Measure = fn(&Value) -> usize;

/// A part of an object that is larger than the API server allows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} holds {bytes} bytes; the API server allows {limit_bytes}{}", path.dotted(), hint(*what))]
pub struct SizeProblem {
    /// Where: the map whose values are too large together.
    pub path: Path,
    /// What is bounded.
    pub what: Bounded,
    /// How large it is.
    pub bytes: usize,
    /// How large it may be.
    pub limit_bytes: usize,
    /// The key with the largest value.
    pub largest: Option<SmolStr>,
}

/// What a limit is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bounded {
    /// The values of a ConfigMap or Secret.
    Data,
    /// The annotations of any object.
    Annotations,
}

fn hint(what: Bounded) -> &'static str {
    match what {
        Bounded::Data => "; split it into several objects",
        Bounded::Annotations => "",
    }
}

/// The sizes of an object that the API server would refuse. `kind` is `None` for a custom resource.
#[must_use]
pub fn check_sizes(kind: Option<&NativeKind>, object: &Value) -> Vec<SizeProblem> {
    let mut problems = Vec::new();
    let annotations = members(object.get("metadata").and_then(|meta| meta.get("annotations")));
    let annotation_bytes = annotations.iter().map(|(key, value)| key.len().saturating_add(plain_len(value)));
    let bytes = annotation_bytes.fold(0, usize::saturating_add);
    if bytes > ANNOTATIONS_LIMIT_BYTES {
        problems.push(SizeProblem {
            path: Path::of_keys(["metadata", "annotations"]),
            what: Bounded::Annotations,
            bytes,
            limit_bytes: ANNOTATIONS_LIMIT_BYTES,
            largest: largest(annotations.iter().map(|(key, value)| (*key, plain_len(value)))),
        });
    }
    let fields: &[(&str, Measure)] = match kind.map(|kind| (&*kind.group, &*kind.kind)) {
        Some(("", "ConfigMap")) => &[("data", plain_len), ("binaryData", decoded_len)],
        Some(("", "Secret")) => &[("data", decoded_len), ("stringData", plain_len)],
        _ => return problems,
    };
    let sizes: Vec<(&str, &str, usize)> = fields
        .iter()
        .flat_map(|(field, len)| members(object.get(*field)).into_iter().map(|(key, value)| (*field, key, len(value))))
        .collect();
    let bytes = sizes.iter().map(|(.., len)| *len).fold(0, usize::saturating_add);
    if bytes > DATA_LIMIT_BYTES {
        let field = sizes.iter().max_by_key(|(.., len)| *len).map_or("data", |(field, ..)| field);
        problems.push(SizeProblem {
            path: Path::of_keys([field]),
            what: Bounded::Data,
            bytes,
            limit_bytes: DATA_LIMIT_BYTES,
            largest: largest(sizes.iter().map(|(_, key, len)| (*key, *len))),
        });
    }
    problems
}

fn members(map: Option<&Value>) -> Vec<(&str, &Value)> {
    map.and_then(Value::as_object).into_iter().flatten().map(|(key, value)| (key.as_str(), value)).collect()
}

fn largest<'a>(sizes: impl Iterator<Item = (&'a str, usize)>) -> Option<SmolStr> {
    sizes.max_by_key(|(_, len)| *len).map(|(key, _)| key.into())
}

fn plain_len(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}

fn decoded_len(value: &Value) -> usize {
    value.as_str().and_then(base64_len).unwrap_or_else(|| plain_len(value))
}
