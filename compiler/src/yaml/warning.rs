//! Remarks about text that is legal and probably not what was meant.

use super::resolve::{Scalar, core};
use crate::base::Span;

/// A remark and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlWarning {
    /// Where, in bytes of the file.
    pub span: Span,
    /// What.
    pub kind: WarningKind,
}

/// What to remark on.
#[derive(Clone, Debug, PartialEq)]
pub enum WarningKind {
    /// A plain scalar that Kubernetes reads differently from a YAML 1.2 reader.
    Ambiguous {
        /// The value for Kubernetes, which is ours.
        kubernetes: Reading,
        /// The value for most other tools.
        core: Reading,
        /// Whether it is the key of a mapping.
        is_key: bool,
    },
    /// `<<` below a key that it sets too: for Kubernetes the merged value wins, by YAML's rule the written one.
    MergeOverrides {
        /// The key.
        key: String,
        /// The place of the key that loses.
        written: Span,
    },
    /// A tag that Kubernetes' reader drops in silence. Without its text: a password that begins with `!` looks like one.
    IgnoredTag,
}

/// One reader's view of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i128),
    /// Another number.
    Float(f64),
    /// Text.
    Text,
}

impl YamlWarning {
    /// What is wrong, with the value as it is written: not for places that may hold secrets (see [`Self::masked`]).
    #[must_use]
    pub fn message(&self, text: &str) -> String {
        match &self.kind {
            WarningKind::Ambiguous { kubernetes, core, .. } => {
                let written = text.get(self.span.range()).unwrap_or_default();
                format!("`{written}` is {} for Kubernetes and {} for YAML 1.2", kubernetes.describe(), core.describe())
            }
            _ => self.masked(),
        }
    }

    /// What is wrong, without the value.
    #[must_use]
    pub fn masked(&self) -> String {
        match &self.kind {
            WarningKind::Ambiguous { kubernetes, core, .. } => {
                let (ours, theirs) = (kubernetes.kind(), core.kind());
                match ours.split_once(' ') {
                    Some((_, noun)) if ours == theirs => {
                        format!("this is {ours} for Kubernetes and another {noun} for YAML 1.2")
                    }
                    _ => format!("this is {ours} for Kubernetes and {theirs} for YAML 1.2"),
                }
            }
            WarningKind::MergeOverrides { key, .. } => {
                format!(
                    "`<<` replaces the `{key}` written above it: Kubernetes lets the later one win, YAML the written one"
                )
            }
            WarningKind::IgnoredTag => "Kubernetes ignores the tag (`!name`) of this value".to_owned(),
        }
    }

    /// How to fix it, without the value.
    #[must_use]
    pub fn masked_hint(&self) -> String {
        match &self.kind {
            WarningKind::Ambiguous { is_key: false, .. } => {
                "quote it, or write it so that every reader agrees".to_owned()
            }
            _ => self.hint(),
        }
    }

    /// How to fix it; may show the value.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.kind {
            WarningKind::Ambiguous { is_key: true, .. } => "quote the key".to_owned(),
            WarningKind::Ambiguous { kubernetes: Reading::Bool(value), .. } => {
                format!("write `{value}` if the boolean is meant, quote it if text is meant")
            }
            WarningKind::Ambiguous { kubernetes: Reading::Int(value), .. } => {
                format!("write `{value}` if the number is meant, quote it if text is meant")
            }
            WarningKind::Ambiguous { .. } => {
                "write the number in plain decimal digits, or quote it if text is meant".to_owned()
            }
            WarningKind::MergeOverrides { .. } => "move `<<` above the keys that override it".to_owned(),
            WarningKind::IgnoredTag => "remove the tag, or quote the whole value if it is text".to_owned(),
        }
    }
}

impl Reading {
    fn of(scalar: Scalar) -> Self {
        match scalar.through_json() {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Int(value) => Self::Int(value.into()),
            Scalar::UInt(value) => Self::Int(value.into()),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Text => Self::Text,
        }
    }

    fn describe(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => format!("the boolean {value}"),
            Self::Int(value) => format!("the number {value}"),
            Self::Float(value) => format!("the number {value}"),
            Self::Text => "text".to_owned(),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text => "text",
        }
    }
}

/// The two readings of a plain scalar, if they differ.
pub(super) fn ambiguous(text: &str, kubernetes: Scalar, is_key: bool) -> Option<WarningKind> {
    let first = *text.as_bytes().first()?;
    // Text that no reader takes for anything else, and decimal integers, are by far the most common.
    let special = matches!(first, b'+' | b'-' | b'.' | b'~' | b'0'..=b'9') || kubernetes != Scalar::Text;
    if !special
        || (first != b'0' && matches!(kubernetes, Scalar::Int(_)) && text.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return None;
    }
    let core = core(text);
    if kubernetes.same(core) {
        return None;
    }
    Some(WarningKind::Ambiguous { kubernetes: Reading::of(kubernetes), core: Reading::of(core), is_key })
}
