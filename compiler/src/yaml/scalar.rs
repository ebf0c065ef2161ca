//! From a scalar event to a value or a key.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Tag};

use super::compose::offset;
use super::composer::{Composer, Stop, unexpected};
use super::dialect;
use super::error::YamlErrorKind;
use super::node::{Node, Yaml};
use super::resolve::{Scalar, float_key, kubernetes};
use super::tag::{self, Tagged};
use super::warning::{WarningKind, YamlWarning, ambiguous};
use crate::base::Span;

/// The text of a scalar as a key, or why it has none.
pub(super) type KeyText<'s> = Result<Cow<'s, str>, YamlErrorKind>;

/// A scalar with its meaning.
pub(super) struct Resolved<'s> {
    scalar: Scalar,
    text: Cow<'s, str>,
    span: Span,
}

impl<'s> Resolved<'s> {
    /// The value.
    pub(super) fn node(self) -> Node<'s> {
        let value = match self.scalar.through_json() {
            Scalar::Null => Yaml::Null,
            Scalar::Bool(value) => Yaml::Bool(value),
            Scalar::Int(value) => Yaml::Int(value),
            Scalar::UInt(value) => Yaml::UInt(value),
            Scalar::Float(value) => Yaml::Float(value),
            Scalar::Text => Yaml::Str(self.text),
        };
        Node { span: self.span, value }
    }

    /// The text that sigs.k8s.io/yaml turns a key into.
    pub(super) fn key(&self) -> KeyText<'s> {
        match self.scalar {
            Scalar::Null => Err(YamlErrorKind::KeyNull),
            Scalar::Bool(value) => Ok(Cow::Borrowed(if value { "true" } else { "false" })),
            Scalar::Int(value) => Ok(Cow::Owned(value.to_string())),
            Scalar::UInt(_) => Err(YamlErrorKind::KeyTooLarge),
            Scalar::Float(value) => Ok(Cow::Owned(float_key(value))),
            Scalar::Text => Ok(self.text.clone()),
        }
    }
}

impl<'s> Composer<'s, '_> {
    /// Remarks on a tag of a sequence (`own` is `seq`) or a mapping (`map`): the reader looks at none.
    pub(super) fn collection_tag(&mut self, tag: Option<&Tag>, own: &str, span: Span) {
        let Some(tag) = tag else { return };
        let full = full_tag(tag);
        let known = match tag::own_tag(&full) {
            Some("set" | "omap" | "pairs") => true,
            Some(name) => name == own,
            None => full == "!",
        };
        if !known {
            self.warnings.push(YamlWarning { span, kind: WarningKind::IgnoredTag });
        }
    }

    /// Resolves a scalar by its style, tag and text.
    pub(super) fn scalar(
        &mut self,
        text: Cow<'s, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
        is_key: bool,
    ) -> Result<Resolved<'s>, Stop> {
        self.anchors.count_scalar();
        let mut place = span;
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                place = self.trimmed(span);
                if self.tabs.is_some()
                    && let Some(tab) = dialect::tab_in_block(self.source.text, self.source.range(span))
                {
                    return self.stop(self.source.place(tab, tab + 1), YamlErrorKind::Tab);
                }
                self.last_block = Some(span);
            }
            ScalarStyle::DoubleQuoted if matches!(text, Cow::Owned(_)) && !self.json => {
                let start = self.source.range(span).start;
                if let Some((at, kind)) = dialect::json_escape(self.source.slice(span)) {
                    self.error(self.source.place(start + at, start + at + 2), kind)?;
                }
            }
            ScalarStyle::Plain if self.brackets > 0 && dialect::cut_in_brackets(self.source.slice(span)) => {
                self.error(span, YamlErrorKind::Brackets)?;
            }
            ScalarStyle::Plain if self.tabs.is_some() && dialect::comment_inside(self.source.slice(span)) => {
                self.error(span, unexpected("a comment inside of text without quotes"))?;
            }
            _ => {}
        }
        if style != ScalarStyle::Literal && style != ScalarStyle::Folded {
            self.last_block = None;
        }
        // An absent plain scalar comes as `~` with an empty place.
        let text = if style == ScalarStyle::Plain && span.start == span.end { Cow::Borrowed("") } else { text };
        let mut resolved = Resolved { scalar: Scalar::Text, text, span: place };
        match tag {
            None if style == ScalarStyle::Plain => {
                resolved.scalar = kubernetes(&resolved.text);
                if let Some(kind) = ambiguous(&resolved.text, resolved.scalar, is_key) {
                    self.warnings.push(YamlWarning { span, kind });
                }
            }
            None => {}
            Some(tag) => match tag::apply(&full_tag(tag), &resolved.text) {
                Ok(Tagged::Scalar(scalar)) => resolved.scalar = scalar,
                Ok(Tagged::Text(text)) => resolved.text = text,
                Ok(Tagged::Unknown) => {
                    self.warnings.push(YamlWarning { span: place, kind: WarningKind::IgnoredTag });
                }
                Err(kind) => self.error(place, kind)?,
            },
        }
        if let Scalar::Float(value) = resolved.scalar
            && !value.is_finite()
            && !is_key
        {
            self.error(place, YamlErrorKind::NotFinite)?;
        }
        Ok(resolved)
    }

    /// A block scalar's place without the blank lines after it.
    fn trimmed(&self, span: Span) -> Span {
        Span::new(span.start, span.start.saturating_add(offset(0, self.source.slice(span).trim_ascii_end().len())))
    }
}

/// A tag with its namespace.
pub(super) fn full_tag(tag: &Tag) -> Cow<'_, str> {
    if tag.handle().is_empty() {
        Cow::Borrowed(tag.suffix())
    } else {
        Cow::Owned(format!("{}{}", tag.handle(), tag.suffix()))
    }
}
