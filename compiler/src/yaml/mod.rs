//! YAML as the Kubernetes API would have read it: the only module that names a YAML parser.
//!
//! ```text
//! bytes --decode_utf8--> text --compose--> documents of Nodes (with spans) --decode--> typed values
//!                                               |                               (span of the exact mistake)
//!                                               +-- to_json, at, locate
//! serde_json::Value --emit--> text that every YAML 1.1 and 1.2 reader takes for the same value
//! ```
//!
//! Invariants:
//! * What a text means is what `kubectl` makes of it (apimachinery's `YAMLReader`, sigs.k8s.io/yaml over its YAML 1.1
//!   decoder). We may refuse what it lets through in silence (duplicate keys, directives, text after `...`); we never
//!   read a different value. `resolve`, `split` and `dialect` hold the rules and their quirks.
//! * A document with any error has no root: nothing is ever computed from half of it. Other documents are unaffected.
//! * Depth, alias expansion and size are bounded by [`Limits`], so recursion over a [`Node`] is bounded too.
//! * No message holds a value of the text unless it is asked for with the text (a value may be a secret).
//!
//! A new refusal is a variant of [`YamlErrorKind`]; a new remark about legal text is a variant of [`WarningKind`].

mod anchors;
mod bytes;
mod compose;
mod composer;
mod decode;
mod decode_error;
mod dialect;
mod emit;
mod error;
mod lines;
mod merge;
mod node;
mod resolve;
mod scalar;
mod split;
mod syntax;
mod tag;
mod tree;
mod warning;

#[cfg(test)]
mod tests;

pub use bytes::decode_utf8;
pub use compose::{Document, Limits, compose};
pub use decode::decode;
pub use decode_error::{DecodeError, DecodeErrorKind, Found};
pub use emit::{emit, emit_documents};
pub use error::{YamlError, YamlErrorKind};
pub use lines::LineIndex;
pub use node::{Key, Node, Place, Yaml};
pub use warning::{Reading, WarningKind, YamlWarning};
