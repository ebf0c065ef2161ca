//! Reads one document: the parser's events with their places, and the mistakes.
//!
//! [`tree`](super::tree) makes nodes of the events and [`scalar`](super::scalar) values of scalars, by the rules of
//! Kubernetes' reader. Mistakes of meaning are collected and the document is read on; a mistake of syntax ends it.

use granit_parser::{Event, Parser, StrInput};

use super::anchors::{Anchors, Expansion};
use super::compose::{Limits, MAX_ERRORS, Outcome, Source};
use super::dialect;
use super::error::{YamlError, YamlErrorKind};
use super::node::Node;
use super::syntax;
use super::warning::YamlWarning;
use crate::base::Span;

/// The document cannot be read further; the reason is among the errors.
pub(super) struct Stop;

/// Reads one document.
pub(super) struct Composer<'s, 'l> {
    pub(super) source: Source<'s>,
    parser: Parser<'s, StrInput<'s>>,
    pub(super) limits: &'l Limits,
    pub(super) anchors: Anchors<'s, 'l>,
    /// The document as a whole is JSON by `kubectl`'s test: it begins with a brace.
    pub(super) json: bool,
    /// The content of the last scalar, if it is a block.
    pub(super) last_block: Option<Span>,
    /// Brackets open around the current place.
    pub(super) brackets: u32,
    /// The search for tabs, if the text has any.
    pub(super) tabs: Option<dialect::Tabs>,
    /// How far the search for tabs is.
    seen: usize,
    errors: Vec<YamlError>,
    pub(super) warnings: Vec<YamlWarning>,
}

impl<'s, 'l> Composer<'s, 'l> {
    /// Before the first event.
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
            json: source.text.trim_ascii_start().starts_with('{'),
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
                        && root.as_str().is_some_and(|text| !text.trim_ascii().is_empty())
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
        match self.last_block.and_then(|block| dialect::blank_last_line(text, self.source.range(block))) {
            Some(line) => self.stop(self.source.place(line, text.len()), YamlErrorKind::BlankLastLine),
            None => Ok(()),
        }
    }

    /// The next event that is no remark on another, and its place in the file.
    pub(super) fn next(&mut self) -> Result<(Event<'s>, Span), Stop> {
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
                    self.error(place, YamlErrorKind::AnchorName)?;
                }
                continue;
            }
            if let Some(tag) = span.tag_span().and_then(|tag| tag.byte_range()) {
                let (text, after) = (self.source.text.get(tag.clone()), self.source.text.get(tag.end..));
                if !dialect::is_tag(text.unwrap_or_default(), after.unwrap_or_default()) {
                    self.error(self.source.place(tag.start, tag.end), unexpected("a tag must end at a blank"))?;
                }
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

    /// Ends the document with a mistake.
    pub(super) fn stop<T>(&mut self, span: Span, kind: YamlErrorKind) -> Result<T, Stop> {
        self.errors.push(YamlError::new(span, kind));
        Err(Stop)
    }

    /// Mistakes noted so far.
    pub(super) fn mistakes(&self) -> usize {
        self.errors.len()
    }

    /// Notes a mistake; too many end the document.
    pub(super) fn error(&mut self, span: Span, kind: YamlErrorKind) -> Result<(), Stop> {
        self.errors.push(YamlError::new(span, kind));
        if self.errors.len() < MAX_ERRORS {
            return Ok(());
        }
        self.stop(span, YamlErrorKind::TooMany { shown: MAX_ERRORS })
    }
}

/// A mistake of syntax in our own words.
pub(super) fn unexpected(problem: &str) -> YamlErrorKind {
    YamlErrorKind::Syntax(problem.to_owned())
}
