//! Nodes as a source of typed values whose errors know their place.
//!
//! Every step adds the place of its node to an error that has none, so the innermost wins. [`Spanned`](crate::base::Spanned)
//! asks for a struct by a private name and gets start, end and the value. Types that buffer their input (`flatten`,
//! `untagged`, `tag = ".."`) lose places; do not use them with this.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::decode_error::DecodeError;
use super::node::{Key, Node, Yaml};
use crate::base::{SPANNED_END, SPANNED_NAME, SPANNED_START, SPANNED_VALUE, Span};

/// The typed value of a node.
///
/// # Errors
/// The first mistake, at its place.
pub fn decode<T: DeserializeOwned>(node: &Node<'_>) -> Result<T, DecodeError> {
    T::deserialize(node).map_err(|error| {
        let first = match &node.value {
            Yaml::Map(entries) => entries.first().map(|(key, _)| key.span),
            _ => None,
        };
        error.below(first.unwrap_or(node.span))
    })
}

impl<'de, 's> Deserializer<'de> for &'de Node<'s> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let value = match &self.value {
            Yaml::Null => visitor.visit_unit(),
            Yaml::Bool(value) => visitor.visit_bool(*value),
            Yaml::Int(value) => visitor.visit_i64(*value),
            Yaml::UInt(value) => visitor.visit_u64(*value),
            Yaml::Float(value) => visitor.visit_f64(*value),
            Yaml::Str(text) => visitor.visit_borrowed_str(text),
            Yaml::Seq(items) => visitor.visit_seq(Items { rest: items.iter() }),
            Yaml::Map(entries) => visitor.visit_map(Entries { rest: entries.iter(), current: None }),
        };
        value.map_err(|error| error.or_at(self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.value {
            Yaml::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
        .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self).map_err(|error| error.or_at(self.span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == SPANNED_NAME {
            return visitor.visit_map(WithPlace::new(self.span, self)).map_err(|error| error.or_at(self.span));
        }
        // derived visitors also take a list of the fields in order, which nobody means in YAML
        if let Yaml::Seq(_) = self.value {
            return Err(DecodeError::invalid_type(self.unexpected(), &visitor).or_at(self.span));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let value = match &self.value {
            Yaml::Str(text) => visitor.visit_enum(Variant { name: text, span: self.span, content: None, of: self }),
            Yaml::Map(entries) => match entries.as_slice() {
                [(key, content)] => {
                    visitor.visit_enum(Variant { name: &key.text, span: key.span, content: Some(content), of: self })
                }
                _ => Err(DecodeError::custom(format!(
                    "expected a mapping with exactly one key, found {} keys",
                    entries.len()
                ))),
            },
            _ => Err(DecodeError::invalid_type(self.unexpected(), &"a name, or a mapping with one key")),
        };
        value.map_err(|error| error.or_at(self.span))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

impl Node<'_> {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.value {
            Yaml::Null => Unexpected::Unit,
            Yaml::Bool(value) => Unexpected::Bool(*value),
            Yaml::Int(value) => Unexpected::Signed(*value),
            Yaml::UInt(value) => Unexpected::Unsigned(*value),
            Yaml::Float(value) => Unexpected::Float(*value),
            Yaml::Str(text) => Unexpected::Str(text),
            Yaml::Seq(_) => Unexpected::Seq,
            Yaml::Map(_) => Unexpected::Map,
        }
    }
}

/// The elements of a sequence.
struct Items<'de, 's> {
    rest: std::slice::Iter<'de, Node<'s>>,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        let first = match &node.value {
            Yaml::Map(entries) => entries.first().map(|(key, _)| key.span),
            _ => None,
        };
        seed.deserialize(node).map(Some).map_err(|error| error.below(first.unwrap_or(node.span)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The entries of a mapping.
struct Entries<'de, 's> {
    rest: std::slice::Iter<'de, (Key<'s>, Node<'s>)>,
    current: Option<&'de (Key<'s>, Node<'s>)>,
}

impl<'de, 's> MapAccess<'de> for Entries<'de, 's> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        self.current = self.rest.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        seed.deserialize(KeyText { key }).map(Some).map_err(|error| error.or_at(key.span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.current.take() {
            Some((key, node)) => seed.deserialize(node).map_err(|error| error.below(key.span)),
            None => Err(DecodeError::custom("a value was asked for before its key")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A key: text, or what its text stands for if the type wants a number or a boolean.
struct KeyText<'de, 's> {
    key: &'de Key<'s>,
}

macro_rules! parsed_key {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.key.text.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_borrowed_str(&self.key.text),
            }
            .map_err(|error: DecodeError| error.or_at(self.key.span))
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyText<'de, '_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(&self.key.text).map_err(|error: DecodeError| error.or_at(self.key.span))
    }

    parsed_key! {
        deserialize_bool => visit_bool,
        deserialize_i8 => visit_i64,
        deserialize_i16 => visit_i64,
        deserialize_i32 => visit_i64,
        deserialize_i64 => visit_i64,
        deserialize_u8 => visit_u64,
        deserialize_u16 => visit_u64,
        deserialize_u32 => visit_u64,
        deserialize_u64 => visit_u64,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        let span = self.key.span;
        visitor.visit_newtype_struct(self).map_err(|error| error.or_at(span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let span = self.key.span;
        if name == SPANNED_NAME {
            return visitor.visit_map(WithPlace::new(span, self)).map_err(|error| error.or_at(span));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let text: &'de str = &self.key.text;
        visitor.visit_enum(BorrowedStrDeserializer::new(text)).map_err(|error: DecodeError| error.or_at(self.key.span))
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The answer to [`Spanned`](crate::base::Spanned): start, end, value.
struct WithPlace<D> {
    span: Span,
    step: Step,
    value: Option<D>,
}

#[derive(Clone, Copy)]
enum Step {
    Start,
    End,
    Value,
}

impl<D> WithPlace<D> {
    fn new(span: Span, value: D) -> Self {
        Self { span, step: Step::Start, value: Some(value) }
    }
}

impl<'de, D: Deserializer<'de, Error = DecodeError>> MapAccess<'de> for WithPlace<D> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let name = match (self.step, &self.value) {
            (_, None) => return Ok(None),
            (Step::Start, _) => SPANNED_START,
            (Step::End, _) => SPANNED_END,
            (Step::Value, _) => SPANNED_VALUE,
        };
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.step {
            Step::Start => {
                self.step = Step::End;
                seed.deserialize(self.span.start.into_deserializer())
            }
            Step::End => {
                self.step = Step::Value;
                seed.deserialize(self.span.end.into_deserializer())
            }
            Step::Value => match self.value.take() {
                Some(value) => seed.deserialize(value),
                None => Err(DecodeError::custom("the value of a place was asked for twice")),
            },
        }
    }
}

/// A name, and for a mapping with one key what is under it.
struct Variant<'de, 's> {
    name: &'de str,
    span: Span,
    content: Option<&'de Node<'s>>,
    of: &'de Node<'s>,
}

impl<'de, 's> EnumAccess<'de> for Variant<'de, 's> {
    type Error = DecodeError;
    type Variant = Content<'de, 's>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content<'de, 's>), DecodeError> {
        let name = seed
            .deserialize(BorrowedStrDeserializer::new(self.name))
            .map_err(|error: DecodeError| error.or_at(self.span))?;
        Ok((name, Content { content: self.content, key: self.span, of: self.of }))
    }
}

/// What a variant holds.
struct Content<'de, 's> {
    content: Option<&'de Node<'s>>,
    key: Span,
    of: &'de Node<'s>,
}

impl<'de, 's> Content<'de, 's> {
    /// The content, which a bare name lacks.
    fn node(&self, expected: &str) -> Result<&'de Node<'s>, DecodeError> {
        self.content.ok_or_else(|| DecodeError::invalid_type(self.of.unexpected(), &expected).or_at(self.of.span))
    }
}

impl<'de> VariantAccess<'de> for Content<'de, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.content {
            None => Ok(()),
            Some(Node { value: Yaml::Null, .. }) => Ok(()),
            Some(node) => {
                Err(DecodeError::invalid_type(node.unexpected(), &"nothing under this name").or_at(node.span))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        let key = self.key;
        seed.deserialize(self.node("a mapping with this name as its key")?).map_err(|error| error.below(key))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        let key = self.key;
        self.node("a mapping with this name as its key")?.deserialize_any(visitor).map_err(|error| error.below(key))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, DecodeError> {
        let key = self.key;
        self.node("a mapping with this name as its key")?.deserialize_any(visitor).map_err(|error| error.below(key))
    }
}
