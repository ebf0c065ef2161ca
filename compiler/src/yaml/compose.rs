//! From text to documents of nodes.
//!
//! The parser gives events; this module resolves scalars, tags, aliases and merge keys by the rules of Kubernetes'
//! reader, and refuses what has no single meaning. Mistakes of meaning are collected and the document is read on;
//! a mistake of syntax ends its document and no other.

use std::borrow::Cow;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StrInput, Tag};

use super::anchors::{Anchors, Expansion};
use super::bytes::{BOM, odd_characters};
use super::error::{YamlError, YamlErrorKind};
use super::merge::{self, Piece};
use super::node::{Key, Node, Yaml};
use super::resolve::{Scalar, float_key, kubernetes};
use super::split::{Chunk, split};
use super::tag::{self, Tagged};
use super::warning::{WarningKind, YamlWarning, ambiguous};
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
const MAX_ERRORS: usize = 100;

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
    let odd = odd_characters(body);
    let mut odd = odd.as_slice();
    let mut expansion = Expansion::default();
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    for (index, chunk) in (0..).zip(split(body)) {
        let count = odd.partition_point(|(at, _)| *at < chunk.span.end as usize);
        let (inside, after) = odd.split_at(count);
        odd = after;
        let base = offset(skipped, 0);
        let source = Source { text: body, base };
        let outcome = source.document(chunk, inside, &limits, &mut expansion);
        let span = source.place(chunk.span.start as usize, chunk.span.end as usize);
        let broken = !outcome.errors.is_empty();
        errors.extend(outcome.errors);
        let root = if broken { None } else { outcome.root };
        let empty = root.as_ref().is_none_or(|root| root.value == Yaml::Null);
        if broken || !empty {
            documents.push(Document { index, span, root, warnings: outcome.warnings });
        }
    }
    (documents, errors)
}

fn offset(base: usize, at: usize) -> u32 {
    u32::try_from(base.saturating_add(at)).unwrap_or(u32::MAX)
}

/// What became of one document.
#[derive(Default)]
struct Outcome<'s> {
    root: Option<Node<'s>>,
    warnings: Vec<YamlWarning>,
    errors: Vec<YamlError>,
}

/// A text and where it begins in its file.
#[derive(Clone, Copy)]
struct Source<'s> {
    text: &'s str,
    base: u32,
}

impl<'s> Source<'s> {
    fn place(self, start: usize, end: usize) -> Span {
        Span::new(offset(self.base as usize, start), offset(self.base as usize, end))
    }

    fn document(self, chunk: Chunk, odd: &[(usize, char)], limits: &Limits, expansion: &mut Expansion) -> Outcome<'s> {
        let refused = |errors: Vec<YamlError>| Outcome { errors, ..Outcome::default() };
        if let Some(separator) = chunk.separator {
            let span = self.place(separator.start as usize, separator.end as usize);
            return refused(vec![YamlError::new(span, YamlErrorKind::Separator)]);
        }
        let (mut start, end) = (chunk.span.start as usize, chunk.span.end as usize);
        let mut odd = odd;
        if let Some(((at, '\u{feff}'), rest)) = odd.split_first()
            && *at == start
        {
            start += BOM.len();
            odd = rest;
        }
        if !odd.is_empty() {
            let error = |(at, c): &(usize, char)| {
                let kind = match c {
                    '\u{feff}' => YamlErrorKind::ByteOrderMark,
                    '\u{85}' | '\u{2028}' | '\u{2029}' => YamlErrorKind::OldLineBreak(*c),
                    _ => YamlErrorKind::ControlCharacter(*c),
                };
                YamlError::new(self.place(*at, at + c.len_utf8()), kind)
            };
            return refused(odd.iter().take(MAX_ERRORS).map(error).collect());
        }
        let text = self.text.get(start..end).unwrap_or_default();
        let mut composer = Composer::new(Source { text, base: offset(self.base as usize, start) }, limits, expansion);
        let root = composer.document().ok().flatten();
        composer.errors.sort_by_key(|error| error.span);
        Outcome { root, warnings: composer.warnings, errors: composer.errors }
    }
}

/// The document cannot be read further; the reason is among the errors.
struct Stop;

/// Reads one document.
struct Composer<'s, 'l> {
    source: Source<'s>,
    parser: Parser<'s, StrInput<'s>>,
    limits: &'l Limits,
    anchors: Anchors<'s, 'l>,
    /// The document as a whole is JSON by `kubectl`'s test: it begins with a brace.
    json: bool,
    last_block: Option<Span>,
    errors: Vec<YamlError>,
    warnings: Vec<YamlWarning>,
}

impl<'s, 'l> Composer<'s, 'l> {
    fn new(source: Source<'s>, limits: &'l Limits, expansion: &'l mut Expansion) -> Self {
        let mut options = granit_parser::options! {
            disallow_directives: true,
            emit_unresolved_aliases: true,
            // One level more than ours, so that ours is met first, at its exact place.
            flow_nesting_limit: limits.depth as usize + 1,
            block_nesting_limit: limits.depth as usize + 1,
        };
        options.set_emit_comments(false);
        Self {
            source,
            parser: Parser::new_from_str_with_options(source.text, options),
            limits,
            anchors: Anchors::new(limits, expansion),
            json: source.text.trim_start().starts_with('{'),
            last_block: None,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The value of the document, `None` if it has none.
    fn document(&mut self) -> Result<Option<Node<'s>>, Stop> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (event, span) => {
                    let root = self.node(event, span, 1)?;
                    self.end()?;
                    return Ok(Some(root));
                }
            }
        }
    }

    /// After the value: Kubernetes' reader takes one document and never looks at what follows it.
    fn end(&mut self) -> Result<(), Stop> {
        let (event, span) = self.next()?;
        if !matches!(event, Event::DocumentEnd) {
            return self.stop(span, YamlErrorKind::Syntax("the value of the document is over, but text follows".to_owned()));
        }
        match self.next()? {
            (Event::StreamEnd, _) => self.last_line(),
            (_, span) => {
                let rest = self.source.text.get((span.start.saturating_sub(self.source.base)) as usize..).unwrap_or_default();
                let line = rest.lines().next().unwrap_or_default();
                let end = span.start.saturating_add(offset(0, line.len()));
                self.stop(Span::new(span.start, end), YamlErrorKind::AfterEnd)
            }
        }
    }

    /// A block scalar with kept line breaks before a last line of spaces without a line break: the reader, which ends
    /// every line with one, keeps one more than the parser.
    fn last_line(&mut self) -> Result<(), Stop> {
        let text = self.source.text;
        let last = text.rsplit('\n').next().unwrap_or_default();
        if last.is_empty() || !last.bytes().all(|byte| byte == b' ') {
            return Ok(());
        }
        let Some(block) = self.last_block else { return Ok(()) };
        let before = text.get(..(block.start.saturating_sub(self.source.base)) as usize).unwrap_or_default().trim_end();
        if before.rsplit('\n').next().unwrap_or_default().contains('+') {
            let span = self.source.place(text.len() - last.len(), text.len());
            return self.stop(span, YamlErrorKind::BlankLastLine);
        }
        Ok(())
    }

    fn next(&mut self) -> Result<(Event<'s>, Span), Stop> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                let range = span.byte_range().unwrap_or_default();
                Ok((event, self.source.place(range.start, range.end)))
            }
            Some(Err(error)) => self.syntax(&error),
            None => self.stop(Span::default(), YamlErrorKind::Syntax("the text ends too early".to_owned())),
        }
    }

    fn stop<T>(&mut self, span: Span, kind: YamlErrorKind) -> Result<T, Stop> {
        self.errors.push(YamlError::new(span, kind));
        Err(Stop)
    }

    fn error(&mut self, span: Span, kind: YamlErrorKind) -> Result<(), Stop> {
        self.errors.push(YamlError::new(span, kind));
        if self.errors.len() < MAX_ERRORS {
            return Ok(());
        }
        self.stop(span, YamlErrorKind::TooMany { shown: MAX_ERRORS })
    }

    fn node(&mut self, event: Event<'s>, span: Span, depth: u32) -> Result<Node<'s>, Stop> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = self.scalar(text, style, tag.as_deref(), span, false)?;
                let key = (anchor != 0).then(|| scalar.key());
                let node = scalar.node();
                self.anchors.scalar(anchor, &node, key);
                Ok(node)
            }
            Event::Alias(id) => {
                let (node, _) = self.alias(id, span, depth)?;
                if matches!(node.value, Yaml::Float(value) if !value.is_finite()) {
                    // The anchor is on a key, where infinity is legal.
                    self.error(span, YamlErrorKind::NotFinite)?;
                }
                Ok(node)
            }
            Event::UnresolvedAlias(name) => {
                self.error(span, YamlErrorKind::UnknownAnchor(name.into_owned()))?;
                Ok(Node { span, value: Yaml::Null })
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.enter(span, depth)?;
                self.collection_tag(tag.as_deref(), "seq", span);
                let opened = self.anchors.open(anchor);
                let node = self.sequence(span, depth)?;
                self.anchors.close(anchor, &node, opened);
                Ok(node)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.enter(span, depth)?;
                self.collection_tag(tag.as_deref(), "map", span);
                let opened = self.anchors.open(anchor);
                let node = self.mapping(span, depth)?;
                self.anchors.close(anchor, &node, opened);
                Ok(node)
            }
            _ => self.stop(span, YamlErrorKind::Syntax("a value was expected here".to_owned())),
        }
    }

    fn enter(&mut self, span: Span, depth: u32) -> Result<(), Stop> {
        if depth <= self.limits.depth {
            return Ok(());
        }
        self.stop(span, YamlErrorKind::Depth { limit: self.limits.depth as usize })
    }

    fn sequence(&mut self, start: Span, depth: u32) -> Result<Node<'s>, Stop> {
        let mut items: Vec<Node<'s>> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let span = extent(start, span, items.last().map(|item| item.span));
                return Ok(Node { span, value: Yaml::Seq(items) });
            }
            items.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, start: Span, depth: u32) -> Result<Node<'s>, Stop> {
        let mut pieces = Vec::new();
        let mut merges = false;
        let mut last = None;
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                let span = extent(start, span, last);
                let (entries, warnings, errors) = merge::entries(pieces, merges);
                self.warnings.extend(warnings);
                for error in errors {
                    self.error(error.span, error.kind)?;
                }
                return Ok(Node { span, value: Yaml::Map(entries) });
            }
            if is_merge(&event) {
                let maps = self.merge_value(span, depth)?;
                last = Some(maps.1);
                merges = true;
                pieces.push(Piece::Merge(span, maps.0));
                continue;
            }
            let key = self.key(event, span, depth)?;
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            last = Some(value.span);
            if let Some(key) = key {
                pieces.push(Piece::Entry(key, value));
            }
        }
    }

    /// A key as text; `None` if it cannot be one, which is then among the errors.
    fn key(&mut self, event: Event<'s>, span: Span, depth: u32) -> Result<Option<Key<'s>>, Stop> {
        let template = self.source.text.get(..(span.end.saturating_sub(self.source.base)) as usize).is_some_and(|before| before.ends_with("{{"));
        let (key, span) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = self.scalar(text, style, tag.as_deref(), span, true)?;
                let key = scalar.key();
                if anchor != 0 {
                    self.anchors.scalar(anchor, &scalar.node(), Some(key.clone()));
                }
                (key, span)
            }
            Event::Alias(id) => (self.alias(id, span, depth)?.1.unwrap_or(Err(YamlErrorKind::KeyNotScalar)), span),
            event => {
                let node = self.node(event, span, depth + 1)?;
                let kind = if template { YamlErrorKind::Template } else { YamlErrorKind::KeyNotScalar };
                (Err(kind), node.span)
            }
        };
        match key {
            Ok(text) => Ok(Some(Key { span, text })),
            Err(kind) => {
                self.error(span, kind)?;
                Ok(None)
            }
        }
    }

    /// The mappings that `<<` merges, the strongest last, and the place of its value.
    fn merge_value(&mut self, key: Span, depth: u32) -> Result<(Vec<Vec<(Key<'s>, Node<'s>)>>, Span), Stop> {
        let (event, span) = self.next()?;
        let list = matches!(event, Event::SequenceStart(..));
        let node = self.node(event, span, depth + 1)?;
        let place = node.span;
        let maps = match node.value {
            Yaml::Map(entries) => vec![entries],
            Yaml::Seq(items) if list => {
                let count = items.len();
                let maps: Vec<_> = items
                    .into_iter()
                    .rev()
                    .filter_map(|item| if let Yaml::Map(entries) = item.value { Some(entries) } else { None })
                    .collect();
                if maps.len() != count {
                    self.error(place, YamlErrorKind::Merge)?;
                }
                maps
            }
            _ => {
                let place = if place.start == place.end { key } else { place };
                self.error(place, YamlErrorKind::Merge)?;
                Vec::new()
            }
        };
        Ok((maps, place))
    }

    /// What an alias stands for, and the text it is as a key (`None` for a collection).
    fn alias(&mut self, id: usize, span: Span, depth: u32) -> Result<(Node<'s>, Option<KeyText<'s>>), Stop> {
        let name = self.source.text.get((span.start.saturating_sub(self.source.base)) as usize + 1..(span.end.saturating_sub(self.source.base)) as usize);
        match self.anchors.expand(id, depth) {
            Ok((mut node, key)) => {
                node.span = span;
                Ok((node, key))
            }
            Err(YamlErrorKind::RecursiveAnchor(_)) => {
                let name = name.unwrap_or_default().to_owned();
                self.error(span, YamlErrorKind::RecursiveAnchor(name))?;
                Ok((Node { span, value: Yaml::Null }, None))
            }
            Err(kind) => self.stop(span, kind),
        }
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, own: &str, span: Span) {
        let Some(tag) = tag else { return };
        let full = full_tag(tag);
        let known = match tag::own_tag(&full) {
            Some("set" | "omap" | "pairs") => true,
            Some(name) => name == own,
            None => full == "!",
        };
        if !known {
            self.warnings.push(YamlWarning { span, kind: WarningKind::IgnoredTag { tag: tag.original() } });
        }
    }

    fn scalar(&mut self, text: Cow<'s, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span, is_key: bool) -> Result<Resolved<'s>, Stop> {
        self.anchors.count_scalar();
        let mut place = span;
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                place = self.trimmed(span);
                self.last_block = Some(span);
            }
            ScalarStyle::DoubleQuoted if matches!(text, Cow::Owned(_)) && !self.json && has_surrogate(self.slice(span)) => {
                self.error(span, YamlErrorKind::Surrogates)?;
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
                    self.warnings.push(YamlWarning { span: place, kind: WarningKind::IgnoredTag { tag: tag.original() } });
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

    fn slice(&self, span: Span) -> &'s str {
        let from = |at: u32| at.saturating_sub(self.source.base) as usize;
        self.source.text.get(from(span.start)..from(span.end)).unwrap_or_default()
    }

    /// A block scalar's place without the blank lines after it.
    fn trimmed(&self, span: Span) -> Span {
        Span::new(span.start, span.start.saturating_add(offset(0, self.slice(span).trim_end().len())))
    }

    /// Ends the document with the parser's error, in our words where they help more.
    fn syntax<T>(&mut self, error: &ScanError) -> Result<T, Stop> {
        let text = self.source.text;
        let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
        let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let character = text.get(at..).and_then(|rest| rest.chars().next()).filter(|c| *c != '\n' && *c != '\r');
        let here = self.source.place(at, at + character.map_or(0, char::len_utf8));
        match error.kind() {
            ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabNotAllowed
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart => {
                // Some of these are reported at the end of the line before.
                let tab = text.get(line_start..).and_then(|rest| rest.find('\t')).map_or(at, |tab| line_start + tab);
                self.stop(self.source.place(tab, tab + 1), YamlErrorKind::Tab)
            }
            ErrorKind::DirectiveDisallowed | ErrorKind::MissingDocumentEndBeforeDirective => {
                self.stop(self.source.place(line_start, line_start + line.len()), YamlErrorKind::Directive)
            }
            ErrorKind::RecursionLimitExceeded => self.stop(here, YamlErrorKind::Depth { limit: self.limits.depth as usize }),
            ErrorKind::BomInsideDocument => self.stop(here, YamlErrorKind::ByteOrderMark),
            ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate => self.stop(here, YamlErrorKind::Surrogates),
            kind => {
                let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
                if let Some(tab) = line.get(..indentation).and_then(|blank| blank.find('\t')) {
                    let tab = line_start + tab;
                    return self.stop(self.source.place(tab, tab + 1), YamlErrorKind::Tab);
                }
                if let Some(braces) = line.find("{{") {
                    let braces = line_start + braces;
                    return self.stop(self.source.place(braces, braces + 2), YamlErrorKind::Template);
                }
                self.stop(here, YamlErrorKind::Syntax(kind.to_string()))
            }
        }
    }
}

/// The text of a scalar as a key, or why it has none.
pub(super) type KeyText<'s> = Result<Cow<'s, str>, YamlErrorKind>;

/// A scalar with its meaning.
struct Resolved<'s> {
    scalar: Scalar,
    text: Cow<'s, str>,
    span: Span,
}

impl<'s> Resolved<'s> {
    fn node(self) -> Node<'s> {
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
    fn key(&self) -> KeyText<'s> {
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

/// `<<` without quotes, or with a tag that says so.
fn is_merge(event: &Event<'_>) -> bool {
    match event {
        Event::Scalar(text, style, _, tag) if text == "<<" => match tag {
            None => *style == ScalarStyle::Plain,
            Some(tag) => matches!(full_tag(tag).as_ref(), "!" | "tag:yaml.org,2002:merge"),
        },
        _ => false,
    }
}

fn full_tag(tag: &Tag) -> Cow<'_, str> {
    if tag.handle().is_empty() { Cow::Borrowed(tag.suffix()) } else { Cow::Owned(format!("{}{}", tag.handle(), tag.suffix())) }
}

/// The place of a collection: up to its closing bracket, or to the end of its last value.
fn extent(start: Span, end: Span, last: Option<Span>) -> Span {
    let bracket = end.start != end.end;
    let end = if bracket { end.end } else { last.map_or(start.end, |last| last.end) };
    Span::new(start.start, end.max(start.end))
}

/// Whether the source of a double-quoted scalar has an escape for half of a character.
fn has_surrogate(source: &str) -> bool {
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        let escape = rest.as_bytes().get(at + 1..).unwrap_or_default();
        if matches!(escape, [b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]) {
            return true;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}
