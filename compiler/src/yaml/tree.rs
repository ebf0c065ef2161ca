//! From events to the nodes of a tree: collections, keys, merge keys and aliases.

use granit_parser::{Event, ScalarStyle, StructureStyle};

use super::composer::{Composer, Stop, unexpected};
use super::dialect;
use super::error::YamlErrorKind;
use super::merge::{self, Entries, Piece};
use super::node::{Key, Node, Yaml};
use super::scalar::{KeyText, full_tag};
use crate::base::Span;

impl<'s> Composer<'s, '_> {
    /// The value that begins with this event, at this level (1 for the root).
    pub(super) fn node(&mut self, event: Event<'s>, span: Span, depth: u32) -> Result<Node<'s>, Stop> {
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
            Event::UnresolvedAlias(_) => {
                self.error(span, YamlErrorKind::UnknownAnchor)?;
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
            Event::UnresolvedAlias(_) => (Err(YamlErrorKind::UnknownAnchor), span),
            Event::Alias(id) => {
                let known = self.mistakes();
                match self.alias(id, span, depth)?.1 {
                    Some(key) => (key, span),
                    None if self.mistakes() > known => return Ok(None),
                    None => (Err(YamlErrorKind::KeyNotScalar), span),
                }
            }
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
    fn merge_value(&mut self, key: Span, depth: u32) -> Result<(Vec<Entries<'s>>, Span), Stop> {
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
            self.error(span, YamlErrorKind::AnchorName)?;
        }
        match self.anchors.expand(id, depth) {
            Ok((mut node, key)) => {
                node.span = span;
                Ok((node, key))
            }
            Err(YamlErrorKind::RecursiveAnchor) => {
                self.error(span, YamlErrorKind::RecursiveAnchor)?;
                Ok((Node { span, value: Yaml::Null }, None))
            }
            // The anchor is on a merge key, which is no value.
            Err(YamlErrorKind::UnknownAnchor) => {
                self.error(span, YamlErrorKind::UnknownAnchor)?;
                Ok((Node { span, value: Yaml::Null }, None))
            }
            Err(kind) => self.stop(span, kind),
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

/// The place of a collection: up to its closing bracket, or to the end of its last value.
fn extent(start: Span, end: Span, last: Option<Span>) -> Span {
    let bracket = end.start != end.end;
    let end = if bracket { end.end } else { last.map_or(start.end, |last| last.end) };
    Span::new(start.start, end.max(start.end))
}
