//! The tree of one document: values with the places they were written at.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use crate::base::{Path, Seg, Span};

/// A value and where it was written.
///
/// The span of a scalar is its text with the quotes, of a block scalar its content, of an alias the `*name` (what is
/// inside an expanded alias keeps the places of its definition), of an absent value the empty place where it would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'s> {
    /// Where, in bytes of the file.
    pub span: Span,
    /// What.
    pub value: Yaml<'s>,
}

/// A value as Kubernetes has it after its conversion to JSON: `1.0` is the integer 1, a timestamp is text.
#[derive(Clone, Debug, PartialEq)]
pub enum Yaml<'s> {
    /// Absent, `~` or `null`.
    Null,
    /// A boolean; `yes`, `on` and `y` are among its spellings.
    Bool(bool),
    /// An integer that fits 64 signed bits, also when written as `0644`, `1_000` or `1e3`.
    Int(i64),
    /// An integer above `i64::MAX` that fits 64 bits.
    UInt(u64),
    /// Any other finite number.
    Float(f64),
    /// Text, borrowed where the source has it as it is.
    Str(Cow<'s, str>),
    /// A sequence.
    Seq(Vec<Node<'s>>),
    /// A mapping, in the order written; no key twice.
    Map(Vec<(Key<'s>, Node<'s>)>),
}

/// A key of a mapping: always text, as in JSON (`1:` is "1", `yes:` is "true").
#[derive(Clone, Debug, PartialEq)]
pub struct Key<'s> {
    /// Where, in bytes of the file.
    pub span: Span,
    /// The text that Kubernetes has for it.
    pub text: Cow<'s, str>,
}

/// What a JSON pointer leads to.
#[derive(Clone, Copy, Debug)]
pub struct Place<'n, 's> {
    /// The key it is under; `None` for the root and for elements of sequences.
    pub key: Option<&'n Key<'s>>,
    /// The value.
    pub node: &'n Node<'s>,
}

impl<'s> Node<'s> {
    /// The value under a key, if this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|(_, node)| node)
    }

    /// The key (for its place) and the value under it, if this is a mapping that has it.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<(&Key<'s>, &Self)> {
        match &self.value {
            Yaml::Map(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(k, node)| (k, node)),
            _ => None,
        }
    }

    /// The element at a position, if this is a sequence that long.
    #[must_use]
    pub fn index(&self, index: usize) -> Option<&Self> {
        match &self.value {
            Yaml::Seq(items) => items.get(index),
            _ => None,
        }
    }

    /// The text, if this is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Yaml::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The value a path leads to; a number is a position in a sequence and a key in a mapping.
    #[must_use]
    pub fn at(&self, path: &Path) -> Option<&Self> {
        let (depth, place) = self.nearest(path);
        (depth == path.0.len()).then_some(place.node)
    }

    /// The longest leading part of a path that exists, and what it leads to: for a mistake about something absent.
    #[must_use]
    pub fn nearest(&self, path: &Path) -> (usize, Place<'_, 's>) {
        let mut place = Place { key: None, node: self };
        for (depth, seg) in path.0.iter().enumerate() {
            let next = match (seg, &place.node.value) {
                (Seg::Index(index), Yaml::Seq(_)) => place.node.index(*index).map(|node| Place { key: None, node }),
                (Seg::Index(index), _) => {
                    place.node.entry(&index.to_string()).map(|(key, node)| Place { key: Some(key), node })
                }
                (Seg::Key(key), _) => place.node.entry(key).map(|(key, node)| Place { key: Some(key), node }),
            };
            match next {
                Some(next) => place = next,
                None => return (depth, place),
            }
        }
        (path.0.len(), place)
    }

    /// Where the value at a path is written; where the path ends early, the last key or value on it.
    #[must_use]
    pub fn span_of(&self, path: &Path) -> Span {
        let (depth, place) = self.nearest(path);
        match place.key {
            _ if depth == path.0.len() => place.node.span,
            Some(key) => key.span,
            None => place.node.head(),
        }
    }

    /// Where the key at a path is written; for an item of a sequence, the item's first byte.
    #[must_use]
    pub fn key_span_of(&self, path: &Path) -> Span {
        let (_, place) = self.nearest(path);
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

    /// The same value without places; keys in the order written.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.value {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => Value::Bool(*value),
            Yaml::Int(value) => Value::Number((*value).into()),
            Yaml::UInt(value) => Value::Number((*value).into()),
            // Composing refuses what JSON cannot hold, so a float here is finite.
            Yaml::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            Yaml::Str(text) => Value::String(text.as_ref().to_owned()),
            Yaml::Seq(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Yaml::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, node) in entries {
                    map.insert(key.text.as_ref().to_owned(), node.to_json());
                }
                Value::Object(map)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Limits, compose};

    fn root(text: &str) -> Node<'_> {
        compose(text, &Limits::default()).0.remove(0).root.unwrap()
    }

    #[test]
    fn pointers_lead_to_values_and_keys() {
        let text = "spec:\n  ports: [80, {name: web}]\n  1: one\n  a/b: slash\n";
        let node = root(text);
        let cut = |span: Span| &text[span.range()];
        for (pointer, key, value) in [
            ("/spec/ports/0", None, "80"),
            ("/spec/ports/1/name", Some("name"), "web"),
            ("/spec/1", Some("1"), "one"),
            ("/spec/a~1b", Some("a/b"), "slash"),
        ] {
            let path = Path::parse(pointer).unwrap();
            let (_, place) = node.nearest(&path);
            assert_eq!(place.key.map(|key| cut(key.span)), key, "{pointer}");
            assert_eq!(cut(place.node.span), value, "{pointer}");
            assert_eq!(node.at(&path), Some(place.node), "{pointer}");
            assert_eq!(cut(node.span_of(&path)), value, "{pointer}");
        }
        assert!(node.nearest(&Path::root()).1.key.is_none());
        for (absent, span, key_span) in [
            ("/spec/ports/2", "ports", "ports"),
            ("/spec/ports/00", "ports", "ports"),
            ("/spec/none", "spec", "spec"),
            ("/none", "spec", "spec"),
        ] {
            let path = Path::parse(absent).unwrap();
            assert!(node.at(&path).is_none(), "{absent}");
            assert_eq!((cut(node.span_of(&path)), cut(node.key_span_of(&path))), (span, key_span), "{absent}");
        }
        let (depth, place) = node.nearest(&Path::parse("/spec/ports/1/protocol").unwrap());
        assert_eq!((depth, cut(place.node.span)), (3, "{name: web}"));
    }

    #[test]
    fn json_keeps_the_order_written() {
        let json = root("b: 1\na: [yes, ~, 1.5, 18446744073709551615, x]\n").to_json();
        assert_eq!(json.to_string(), r#"{"b":1,"a":[true,null,1.5,18446744073709551615,"x"]}"#);
    }
}
