//! From the text of a file to its documents.
//!
//! Bounds, the characters of the text and the borders of documents are judged here; each document is then read on its
//! own, so that a mistake in one never reaches another.

use super::anchors::Expansion;
use super::bytes::{BOM, odd_characters};
use super::composer::Composer;
use super::error::{YamlError, YamlErrorKind};
use super::node::{Node, Yaml};
use super::split::{Chunk, split};
use super::warning::YamlWarning;
use crate::base::Span;

/// Bounds on what one file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a file in bytes. Above 4 GiB is read as 4 GiB: spans have 32 bits.
    pub bytes: usize,
    /// Levels of nested mappings and sequences, with aliases expanded. Above 128 is read as 128: trees are walked by recursion.
    pub depth: u32,
    /// Values that the aliases of one file may expand to, keys included.
    pub alias_nodes: u64,
}

impl Default for Limits {
    /// 4 MiB, 64 levels (the deepest real manifest known to us has 36), 100 000 values from aliases.
    fn default() -> Self {
        Self { bytes: 4 << 20, depth: 64, alias_nodes: 100_000 }
    }
}

/// Levels that recursion over a tree can always afford.
const MAX_DEPTH: u32 = 128;
/// Mistakes listed for one document.
pub(super) const MAX_ERRORS: usize = 100;
/// Mistakes in a file after which no further document of it is read.
const MAX_FILE_ERRORS: usize = 1000;

/// One document of a file that holds a value other than null.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'s> {
    /// Its position in the file from 0; empty documents count, though they are left out.
    pub index: u32,
    /// Its lines, in bytes of the file.
    pub span: Span,
    /// Its value; `None` if any mistake was found in it, which is then among the errors.
    pub root: Option<Node<'s>>,
    /// Remarks about it.
    pub warnings: Vec<YamlWarning>,
}

/// Reads all documents of a file. Empty documents are left out; a document with a mistake has no root. Errors are in the order of the file.
#[must_use]
pub fn compose<'s>(text: &'s str, limits: &Limits) -> (Vec<Document<'s>>, Vec<YamlError>) {
    let most = limits.bytes.min(u32::MAX as usize);
    if text.len() > most {
        return (Vec::new(), vec![YamlError::new(Span::new(0, 0), YamlErrorKind::TooLarge { limit: most })]);
    }
    let limits = Limits { depth: limits.depth.min(MAX_DEPTH), ..*limits };
    // Before the first document a byte-order mark is no part of any line.
    let skipped = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let body = text.get(skipped..).unwrap_or_default();
    let source = Source { text: body, base: offset(skipped, 0) };
    let mut expansion = Expansion::default();
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    for (index, chunk) in (0..).zip(split(body)) {
        let span = source.place(chunk.span.start as usize, chunk.span.end as usize);
        if errors.len() >= MAX_FILE_ERRORS {
            // What is not read must not look as if it were whole.
            documents.push(Document { index, span, root: None, warnings: Vec::new() });
            continue;
        }
        let marked = index > 0 || skipped == 0;
        let outcome = source.document(chunk, marked, &limits, &mut expansion);
        let broken = !outcome.errors.is_empty();
        errors.extend(outcome.errors);
        if errors.len() >= MAX_FILE_ERRORS {
            errors.push(YamlError::new(Span::new(span.end, span.end), YamlErrorKind::TooMany { shown: errors.len() }));
        }
        let root = if broken { None } else { outcome.root };
        let empty = root.as_ref().is_none_or(|root| root.value == Yaml::Null);
        if broken || !empty {
            documents.push(Document { index, span, root, warnings: outcome.warnings });
        }
    }
    (documents, errors)
}

/// An offset in the file, which [`compose`] made sure fits 32 bits.
pub(super) fn offset(base: usize, at: usize) -> u32 {
    u32::try_from(base.saturating_add(at)).unwrap_or(u32::MAX)
}

/// What became of one document.
#[derive(Default)]
pub(super) struct Outcome<'s> {
    pub(super) root: Option<Node<'s>>,
    pub(super) warnings: Vec<YamlWarning>,
    pub(super) errors: Vec<YamlError>,
}

/// A text and where it begins in its file.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) text: &'s str,
    pub(super) base: u32,
}

impl<'s> Source<'s> {
    /// A range of this text as a place in the file.
    pub(super) fn place(self, start: usize, end: usize) -> Span {
        Span::new(offset(self.base as usize, start), offset(self.base as usize, end))
    }

    /// A place in the file as a range of this text.
    pub(super) fn range(self, span: Span) -> std::ops::Range<usize> {
        span.start.saturating_sub(self.base) as usize..span.end.saturating_sub(self.base) as usize
    }

    /// The text at a place in the file.
    pub(super) fn slice(self, span: Span) -> &'s str {
        self.text.get(self.range(span)).unwrap_or_default()
    }

    /// Reads one document, which may begin with a byte-order mark if `marked`.
    fn document(self, chunk: Chunk, marked: bool, limits: &Limits, expansion: &mut Expansion) -> Outcome<'s> {
        let refused = |errors: Vec<YamlError>| Outcome { errors, ..Outcome::default() };
        if let Some(separator) = chunk.separator {
            let span = self.place(separator.start as usize, separator.end as usize);
            return refused(vec![YamlError::new(span, YamlErrorKind::Separator)]);
        }
        let (start, end) = (chunk.span.start as usize, chunk.span.end as usize);
        let text = self.text.get(start..end).unwrap_or_default();
        let (start, text) = match text.strip_prefix(BOM) {
            Some(rest) if marked => (start + BOM.len(), rest),
            _ => (start, text),
        };
        let odd: Vec<YamlError> = odd_characters(text)
            .take(MAX_ERRORS)
            .map(|(at, c)| {
                let kind = match c {
                    '\u{feff}' => YamlErrorKind::ByteOrderMark,
                    '\u{85}' | '\u{2028}' | '\u{2029}' => YamlErrorKind::OldLineBreak(c),
                    _ => YamlErrorKind::ControlCharacter(c),
                };
                YamlError::new(self.place(start + at, start + at + c.len_utf8()), kind)
            })
            .collect();
        if !odd.is_empty() {
            return refused(odd);
        }
        Composer::new(Source { text, base: offset(self.base as usize, start) }, limits, expansion).document()
    }
}
