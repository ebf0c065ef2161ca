//! From the text of one document to its tree.
//!
//! The parser gives events; this module resolves scalars, tags, aliases and merge keys by the rules of Kubernetes'
//! reader, and refuses what has no single meaning. Mistakes of meaning are collected and the document is read on;
//! a mistake of syntax ends it.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle, Tag};

use super::anchors::{Anchors, Expansion};
use super::compose::{Limits, MAX_ERRORS, Outcome, Source, offset};
use super::dialect;
use super::error::{YamlError, YamlErrorKind};
use super::merge::{self, Piece};
use super::node::{Key, Node, Yaml};
use super::resolve::{Scalar, float_key, kubernetes};
use super::syntax;
use super::tag::{self, Tagged};
use super::warning::{WarningKind, YamlWarning, ambiguous};
use crate::base::Span;

/// The document cannot be read further; the reason is among the errors.
struct Stop;

/// Reads one document.
pub(super) struct Composer<'s, 'l> {
    source: Source<'s>,
    parser: Parser<'s, StrInput<'s>>,
    limits: &'l Limits,
    anchors: Anchors<'s, 'l>,
    /// The document as a whole is JSON by `kubectl`'s test: it begins with a brace.
    json: bool,
    /// The content of the last scalar, if it is a block.
    last_block: Option<Span>,
    /// Brackets open around the current place.
    brackets: u32,
    /// The search for tabs, if the text has any, and how far it is.
    tabs: Option<dialect::Tabs>,
    seen: usize,
    errors: Vec<YamlError>,
    warnings: Vec<YamlWarning>,
}

impl<'s, 'l> Composer<'s, 'l> {
    pub(super) fn new(source: Source<'s>, limits: &'l Limits, expansion: &'l mut Expansion) -> Self {
        let mut options = granit_parser::options! {
            disallow_directives: true,
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
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
            brackets: 0,
            tabs: source.text.contains('\t').then(dialect::Tabs::new),
            seen: 0,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Reads the document.
    pub(super) fn document(mut self) -> Outcome<'s> {
        let root = self.root().ok().flatten();
        self.errors.sort_by_key(|error| error.span);
        Outcome { root, warnings: self.warnings, errors: self.errors }
    }

    /// The value of the document, `None` if it has none.
    fn root(&mut self) -> Result<Option<Node<'s>>, Stop> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, span) => {
                    // Comments alone are no document; `...` alone is none to the parser only.
                    self.start(span)?;
                    return Ok(None);
                }
                (event, span) => {
                    self.start(span)?;
                    let root = self.node(event, span, 1)?;
                    if let Some(block) = self.last_block
                        && root.as_str().is_some_and(|text| !text.trim().is_empty())
                        && dialect::block_at_margin(self.source.text, self.source.range(block))
                    {
                        return self.stop(root.span, YamlErrorKind::BlockAtMargin);
                    }
                    self.end()?;
                    return Ok(Some(root));
                }
            }
        }
    }

    /// Before the value, which begins here.
    fn start(&mut self, span: Span) -> Result<(), Stop> {
        let before = self.source.text.get(..self.source.range(span).start).unwrap_or_default();
        if dialect::end_before_start(before) {
            return self
                .stop(self.source.place(0, before.len()), unexpected("`...` ends a document, and none has begun"));
        }
        Ok(())
    }

    /// After the value: Kubernetes' reader takes one document and never looks at what follows it.
    fn end(&mut self) -> Result<(), Stop> {
        let (event, span) = self.next()?;
        if !matches!(event, Event::DocumentEnd) {
            return self.stop(span, unexpected("the value of the document is over, but text follows"));
        }
        let (event, span) = self.next()?;
        if !matches!(event, Event::StreamEnd) {
            let start = self.source.range(span).start;
            let line = self.source.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            return self.stop(self.source.place(start, start + line.len()), YamlErrorKind::AfterEnd);
        }
        let text = self.source.text;
        match self.last_block.and_then(|block| dialect::blank_last_line(text, self.source.range(block).start)) {
            Some(line) => self.stop(self.source.place(line, text.len()), YamlErrorKind::BlankLastLine),
            None => Ok(()),
        }
    }

    fn next(&mut self) -> Result<(Event<'s>, Span), Stop> {
        loop {
            let (event, span) = match self.parser.next_event() {
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    self.errors.push(syntax::explain(self.source, self.limits, &error));
                    return Err(Stop);
                }
                None => return self.stop(Span::default(), unexpected("the text ends too early")),
            };
            let range = span.byte_range().unwrap_or_default();
            let place = self.source.place(range.start, range.end);
            if let Event::Anchor(_, name) = event {
                // It comes after the event of its node and is before it in the text.
                if !dialect::is_anchor_name(&name, self.source.text.get(range.end..).unwrap_or_default()) {
                    self.error(place, YamlErrorKind::AnchorName(name.into_owned()))?;
                }
                continue;
            }
            self.indentation(range)?;
            return Ok((event, place));
        }
    }

    /// Looks for tabs between the last event and this one.
    fn indentation(&mut self, range: std::ops::Range<usize>) -> Result<(), Stop> {
        let Some(tabs) = &mut self.tabs else { return Ok(()) };
        let (text, seen) = (self.source.text, self.seen);
        let found = if self.brackets == 0 { tabs.pass(text.get(seen..range.start).unwrap_or_default()) } else { None };
        if let Some(tab) = found {
            return self.stop(self.source.place(seen + tab, seen + tab + 1), YamlErrorKind::Tab);
        }
        tabs.pass_value(text.get(range.clone()).unwrap_or_default());
        self.seen = seen.max(range.end);
        Ok(())
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
            Event::SequenceStart(style, anchor, tag) => {
                self.enter(span, depth)?;
                self.collection_tag(tag.as_deref(), "seq", span);
                let opened = self.anchors.open(anchor);
                let brackets = u32::from(style == StructureStyle::Flow);
                self.brackets += brackets;
                let node = self.sequence(span, depth)?;
                self.brackets -= brackets;
                self.anchors.close(anchor, &node, opened);
                Ok(node)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.enter(span, depth)?;
                self.collection_tag(tag.as_deref(), "map", span);
                let opened = self.anchors.open(anchor);
                let brackets = u32::from(style == StructureStyle::Flow);
                self.brackets += brackets;
                let node = self.mapping(span, depth)?;
                self.brackets -= brackets;
                self.anchors.close(anchor, &node, opened);
                Ok(node)
            }
            _ => self.stop(span, unexpected("a value was expected here")),
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
        let range = self.source.range(span);
        let (before, after) = (
            self.source.text.get(..range.start).unwrap_or_default(),
            self.source.text.get(range.end..).unwrap_or_default(),
        );
        if self.brackets > 0 && dialect::key_of_lines(before, self.source.slice(span), after) {
            self.error(span, unexpected("a key in brackets must be on one line with its colon"))?;
        }
        let template = self.source.text.get(..range.end).is_some_and(|before| before.ends_with("{{"));
        let (key, span) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                if self.brackets > 0
                    && style == ScalarStyle::Plain
                    && range.start < range.end
                    && dialect::colon_in_key(after)
                {
                    self.error(span, YamlErrorKind::Brackets)?;
                }
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
        let name = self.source.slice(span).trim_start_matches('*');
        if !dialect::is_anchor_name(name, self.source.text.get(self.source.range(span).end..).unwrap_or_default()) {
            self.error(span, YamlErrorKind::AnchorName(name.to_owned()))?;
        }
        match self.anchors.expand(id, depth) {
            Ok((mut node, key)) => {
                node.span = span;
                Ok((node, key))
            }
            Err(YamlErrorKind::RecursiveAnchor(_)) => {
                self.error(span, YamlErrorKind::RecursiveAnchor(name.to_owned()))?;
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

    fn scalar(
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
                let start = self.source.range(span).start;
                if self.tabs.is_some() && dialect::tab_before_block(self.source.text, start) {
                    return self.stop(self.source.place(start, start + 1), YamlErrorKind::Tab);
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
                    self.warnings
                        .push(YamlWarning { span: place, kind: WarningKind::IgnoredTag { tag: tag.original() } });
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
        Span::new(span.start, span.start.saturating_add(offset(0, self.source.slice(span).trim_end().len())))
    }
}

fn unexpected(problem: &str) -> YamlErrorKind {
    YamlErrorKind::Syntax(problem.to_owned())
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
    if tag.handle().is_empty() {
        Cow::Borrowed(tag.suffix())
    } else {
        Cow::Owned(format!("{}{}", tag.handle(), tag.suffix()))
    }
}

/// The place of a collection: up to its closing bracket, or to the end of its last value.
fn extent(start: Span, end: Span, last: Option<Span>) -> Span {
    let bracket = end.start != end.end;
    let end = if bracket { end.end } else { last.map_or(start.end, |last| last.end) };
    Span::new(start.start, end.max(start.end))
}
