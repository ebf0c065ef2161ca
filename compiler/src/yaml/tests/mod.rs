//! The reader, the typed decoder and the emitter, from outside.

mod decoding;
mod documents;
mod emission;
mod hostile;
mod scalars;

use serde_json::Value;

use super::{Limits, YamlErrorKind, compose};

/// The JSON of all documents.
fn read(text: &str) -> Vec<Value> {
    let (documents, errors) = compose(text, &Limits::default());
    assert_eq!(errors, [], "{text:?}");
    documents.iter().map(|document| document.root.as_ref().unwrap().to_json()).collect()
}

/// The mistakes: each the text it points at, and what.
fn mistakes(text: &str) -> Vec<(&str, YamlErrorKind)> {
    let (_, errors) = compose(text, &Limits::default());
    errors.into_iter().map(|error| (&text[error.span.range()], error.kind)).collect()
}

/// The remarks: each the text it points at, and the message.
fn remarks(text: &str) -> Vec<(&str, String)> {
    let (documents, errors) = compose(text, &Limits::default());
    assert_eq!(errors, [], "{text:?}");
    let warnings = documents.into_iter().flat_map(|document| document.warnings);
    warnings.map(|warning| (&text[warning.span.range()], warning.message(text))).collect()
}
