//! Places of values by path: how a later stage, which keeps no spans, finds the bytes it speaks of.

use super::{Node, Path, Yaml};
use crate::base::{self, Span};

impl Node<'_> {
    /// Where the value at a path is written; where the path ends early, the last key or value on it.
    #[must_use]
    pub fn span_of(&self, path: &base::Path) -> Span {
        let path = Path::parse(&path.to_string()).unwrap_or_default();
        let (depth, place) = self.nearest(&path);
        match place.key {
            Some(key) if depth < path.0.len() => key.span,
            _ if depth < path.0.len() => place.node.head(),
            _ => place.node.span,
        }
    }

    /// Where the key at a path is written; for an item of a list, the item.
    #[must_use]
    pub fn key_span_of(&self, path: &base::Path) -> Span {
        let path = Path::parse(&path.to_string()).unwrap_or_default();
        let (_, place) = self.nearest(&path);
        place.key.map_or_else(|| place.node.head(), |key| key.span)
    }

    /// Where a value begins, for what is said about it as a whole: a terminal then shows one line and not hundreds. The
    /// first key of a mapping, the first byte of a sequence, a scalar itself.
    #[must_use]
    pub fn head(&self) -> Span {
        match &self.value {
            Yaml::Map(entries) => entries.first().map_or(self.span, |(key, _)| key.span),
            // `[`, `-` or, of an alias, `*`: one byte each
            Yaml::Seq(_) => Span::new(self.span.start, self.span.start.saturating_add(1).min(self.span.end)),
            Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::UInt(_) | Yaml::Float(_) | Yaml::Str(_) => self.span,
        }
    }
}
