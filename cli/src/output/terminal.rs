//! Diagnostics drawn on a terminal, each with its line of the source.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use fleetwright_compiler::base::Span;
use fleetwright_compiler::report::{Located, Position};
use miette::{LabeledSpan, MietteHandler, MietteHandlerOpts, NamedSource, ReportHandler, SourceCode};

use super::Paths;
use super::printable::printable;
use super::secrets::may_hold_secrets;

/// Longest line that is drawn, in bytes: a file of one line would fill the screen.
const MAX_LINE: usize = 400;

/// The bytes of a file of the repository.
type Read<'r> = dyn Fn(&str) -> Option<Arc<[u8]>> + 'r;

/// The text of files, each read once; `None` for those that are not shown.
struct Sources<'r> {
    read: &'r Read<'r>,
    known: HashMap<String, Option<Arc<str>>>,
}

/// Draws diagnostics.
pub fn text(located: &[Located], paths: &Paths, color: bool, read: &Read<'_>) -> String {
    let handler = MietteHandlerOpts::new().color(color).terminal_links(false).force_graphical(true).build();
    let mut sources = Sources { read, known: HashMap::new() };
    let mut text = String::new();
    for one in located {
        text.push('\n');
        text.push_str(&Rendered { handler: &handler, drawn: &drawn(one, paths, &mut sources) }.to_string());
    }
    text
}

/// A diagnostic as miette takes it.
#[derive(Debug)]
struct Drawn {
    head: String,
    code: Option<String>,
    severity: miette::Severity,
    help: Option<String>,
    source: Option<NamedSource<Arc<str>>>,
    labels: Vec<LabeledSpan>,
    /// In other files.
    related: Vec<Drawn>,
}

fn drawn(one: &Located, paths: &Paths, sources: &mut Sources<'_>) -> Drawn {
    let mut drawn = Drawn::at(one.path.as_deref(), one.position, &one.message, None, paths, sources);
    drawn.code = Some(one.code.clone());
    drawn.severity = if one.severity == "error" { miette::Severity::Error } else { miette::Severity::Warning };
    drawn.help = one.help.as_deref().map(printable);
    for place in &one.related {
        let message = printable(&place.message);
        let mut other =
            Drawn::at(place.path.as_deref(), place.position, &message, Some(message.clone()), paths, sources);
        if place.path == one.path && drawn.source.is_some() && !other.labels.is_empty() {
            drawn.labels.append(&mut other.labels);
        } else {
            // By itself, its head says it.
            other.labels.iter_mut().for_each(|label| label.set_label(None));
            drawn.related.push(other);
        }
    }
    drawn
}

impl Drawn {
    /// A message with its line of the source, or with its place where that cannot be shown.
    fn at(
        path: Option<&str>,
        position: Option<Position>,
        message: &str,
        label: Option<String>,
        paths: &Paths,
        sources: &mut Sources<'_>,
    ) -> Self {
        let mut drawn = Self {
            head: printable(message),
            code: None,
            severity: miette::Severity::Advice,
            help: None,
            source: None,
            labels: Vec::new(),
            related: Vec::new(),
        };
        let text = path.zip(position).and_then(|(path, position)| sources.around(path, position.span()));
        match (text, path, position) {
            (Some(text), Some(path), Some(position)) => {
                drawn.labels.push(LabeledSpan::new_primary_with_span(label, first_line(&text, position.span())));
                drawn.source = Some(NamedSource::new(printable(&paths.shown(path)), text));
            }
            _ => drawn.head = format!("{}{}", paths.place(path, position), drawn.head),
        }
        drawn
    }
}

impl Sources<'_> {
    /// The text of a file, if the lines around a span may and can be shown.
    fn around(&mut self, path: &str, span: Span) -> Option<Arc<str>> {
        let read = self.read;
        let text = self.known.entry(path.to_owned()).or_insert_with(|| {
            let bytes = read(path)?;
            let text = std::str::from_utf8(&bytes).ok()?;
            (!may_hold_secrets(text)).then(|| printable(text).into())
        });
        text.clone().filter(|text| has_short_lines(text, span))
    }
}

/// Whether the line of the span and its neighbours are short enough to be drawn.
fn has_short_lines(text: &str, span: Span) -> bool {
    let at = usize::try_from(span.start).unwrap_or(usize::MAX).min(text.len());
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return false };
    let (back, ahead) = (before.rsplit('\n'), after.split('\n'));
    let mut back = back.take(2).map(str::len);
    let mut ahead = ahead.take(2).map(str::len);
    let line = back.next().unwrap_or(0) + ahead.next().unwrap_or(0);
    [Some(line), back.next(), ahead.next()].into_iter().flatten().all(|len| len <= MAX_LINE)
}

/// The part of a span on its first line, as (start, length).
fn first_line(text: &str, span: Span) -> (usize, usize) {
    let start = usize::try_from(span.start).unwrap_or(usize::MAX).min(text.len());
    let end = usize::try_from(span.end).unwrap_or(usize::MAX).clamp(start, text.len());
    let part = text.get(start..end).unwrap_or("");
    (start, part.find('\n').unwrap_or(part.len()))
}

struct Rendered<'d> {
    handler: &'d MietteHandler,
    drawn: &'d Drawn,
}

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handler.debug(self.drawn, f)
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)
    }
}

impl std::error::Error for Drawn {}

impl miette::Diagnostic for Drawn {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty())
            .then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        let related = self.related.iter().map(|one| one as &dyn miette::Diagnostic);
        (!self.related.is_empty()).then(|| Box::new(related) as Box<dyn Iterator<Item = &dyn miette::Diagnostic>>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    const WEB: &str = "kind: App\nmetadata: {name: web}\nnames: [eu-x]\n";

    fn drawn_with(web: &str) -> String {
        let mut located = fixture::located();
        let start = u32::try_from(web.find("eu-x").unwrap()).unwrap();
        located[0].position = located[0].position.map(|p| Position { start, end: start + 4, ..p });
        let read = |path: &str| (path == "teams/shop/web.yaml").then(|| Arc::from(web.as_bytes()));
        text(&located, &Paths::default(), false, &read)
    }

    #[test]
    fn a_line_of_the_source_where_there_is_one() {
        let text = drawn_with(WEB);
        for expected in [
            "there is no cluster `eu-x`",
            "teams/shop/web.yaml:3:9",
            "names: [eu-x]",
            "help: did you mean `eu-a`?",
            // not readable here, so its place is said
            "clusters/eu-a.yaml:4:9: the nearest name",
            "placements/shop.yaml: two",
            "FW1041",
        ] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "no colors were asked for");
    }

    #[test]
    fn no_line_of_a_secret() {
        let text = drawn_with("kind: Secret\nstringData: {password: hunter2}\nx: eu-x\n");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("teams/shop/web.yaml:3:9: there is no cluster `eu-x`"), "{text}");
    }

    #[test]
    fn no_line_that_fills_the_screen_or_steers_it() {
        let text = drawn_with(&format!("{}\nx: eu-x\n", "y".repeat(401)));
        assert!(!text.contains("yyyy"), "{text}");
        let text = drawn_with("a: \u{1b}[2J\nx: eu-x\n");
        assert!(text.contains("a: ?[2J") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn spans_on_the_screen() {
        for (text, start, end, expected) in
            [("abc\ndef", 1, 3, (1, 2)), ("abc\ndef", 1, 6, (1, 2)), ("abc", 3, 3, (3, 0)), ("abc", 9, 12, (3, 0))]
        {
            assert_eq!(first_line(text, Span::new(start, end)), expected, "{text:?} {start}..{end}");
        }
    }
}
