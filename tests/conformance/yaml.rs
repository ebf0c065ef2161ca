//! `read_yaml`: what the Kubernetes API makes of a text.

use fleetwright_compiler::yaml::{Limits, YamlErrorKind, compose};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered, as_written, refused};
use crate::read::read;

pub const OPS: &[Op] = &[Op { name: "read_yaml", answer: read_yaml, normal: as_written, deviations: DEVIATIONS }];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

fn read_yaml(input: &Value) -> Result<Value, Unanswered> {
    let Text { text } = read(input)?;
    let (documents, errors) = compose(&text, &Limits::default());
    if !errors.is_empty() {
        return Ok(refused());
    }
    let values: Vec<Value> =
        documents.iter().filter_map(|document| document.root.as_ref()).map(|root| root.to_json()).collect();
    Ok(json!({ "documents": values }))
}

/// What is refused on purpose although kubectl reads it. Never the other way round, and never another value.
const DEVIATIONS: &[Deviation] = &[
    Deviation {
        why: "the same key twice: kubectl drops one of them in silence",
        holds: |asked| refused_for(asked, |kind| matches!(kind, YamlErrorKind::DuplicateKey { .. })),
    },
    Deviation {
        why: "text after `...`: kubectl drops it in silence",
        holds: |asked| refused_for(asked, |kind| matches!(kind, YamlErrorKind::AfterEnd)),
    },
    Deviation {
        why: "a directive: kubectl ignores it, and readers of YAML 1.2 do not",
        holds: |asked| refused_for(asked, |kind| matches!(kind, YamlErrorKind::Directive)),
    },
    Deviation {
        why: "a tag that does not fit its value, or is unknown: kubectl drops it in silence",
        holds: |asked| refused_for(asked, |kind| matches!(kind, YamlErrorKind::TagMismatch { .. })),
    },
    Deviation {
        why: "characters that are a line break in YAML 1.1 only, or a byte-order mark inside the text",
        holds: |asked| {
            refused_for(asked, |kind| matches!(kind, YamlErrorKind::OldLineBreak(_) | YamlErrorKind::ByteOrderMark))
        },
    },
    Deviation {
        why: "spellings that readers of YAML 1.1 and 1.2 take for different things",
        holds: |asked| {
            refused_for(asked, |kind| {
                matches!(
                    kind,
                    YamlErrorKind::AnchorName
                        | YamlErrorKind::Brackets
                        | YamlErrorKind::BlockAtMargin
                        | YamlErrorKind::BlankLastLine
                )
            })
        },
    },
    Deviation {
        why: "bounds on depth, aliases and size, below those of kubectl",
        holds: |asked| {
            refused_for(asked, |kind| {
                matches!(
                    kind,
                    YamlErrorKind::Depth { .. } | YamlErrorKind::AliasBudget | YamlErrorKind::TooLarge { .. }
                )
            })
        },
    },
    Deviation {
        why: "a pointer to content in Git LFS: kubectl reads it as a text",
        holds: |asked| refused_for(asked, |kind| matches!(kind, YamlErrorKind::LfsPointer)),
    },
    Deviation {
        why: "escapes that only JSON allows",
        holds: |asked| refused_for(asked, |kind| matches!(kind, YamlErrorKind::Surrogates | YamlErrorKind::JsonEscape)),
    },
];

/// Whether we refuse what kubectl reads, and one of the reasons is this one.
fn refused_for(asked: &Asked<'_>, reason: fn(&YamlErrorKind) -> bool) -> bool {
    let text = asked.input.get("text").and_then(Value::as_str).unwrap_or_default();
    asked.expected.get("documents").is_some()
        && *asked.answer == refused()
        && compose(text, &Limits::default()).1.iter().any(|error| reason(&error.kind))
}
