//! Places of values by path: how a later stage, which keeps no spans, finds the bytes it speaks of.

use super::{Node, Path};
use crate::base::{self, Span};

impl Node<'_> {
    /// Where the value at a path is written; where the path ends early, the last key or value on it.
    #[must_use]
    pub fn span_of(&self, path: &base::Path) -> Span {
        let path = Path::parse(&path.to_string()).unwrap_or_default();
        let (depth, place) = self.nearest(&path);
        match place.key {
            Some(key) if depth < path.0.len() => key.span,
            _ if depth < path.0.len() => Span::new(place.node.span.start, place.node.span.start + 1),
            _ => place.node.span,
        }
    }

    /// Where the key at a path is written; for an item of a list, the item.
    #[must_use]
    pub fn key_span_of(&self, path: &base::Path) -> Span {
        let path = Path::parse(&path.to_string()).unwrap_or_default();
        let (_, place) = self.nearest(&path);
        place.key.map_or_else(|| Span::new(place.node.span.start, place.node.span.start + 1), |key| key.span)
    }
}
