//! Diagnostics: every mistake has a stable code, a severity, a place, what is wrong, and how to fix it.
//!
//! Invariants: a code never changes its meaning; a message names no secret value; diagnostics are sorted by file, offset
//! and code before anyone sees them, so that thread count and file order do not show.
//! The next code goes into the file of its family below [`codes`].

pub mod codes;
mod phrase;

use crate::base::{FileId, Path, Span};

pub use codes::{Code, Severity};
pub(crate) use phrase::{and_more, first_of, listed, some_of};

/// A mistake inside one file. Memoised with what was parsed from that file, so it knows no [`FileId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind of mistake.
    pub code: Code,
    /// The exact value it is about.
    pub span: Span,
    /// What is wrong and what was expected.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Other places that belong to it, each with what is there.
    pub related: Vec<(Span, String)>,
}

/// Where something is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Nowhere in the repository: a setting of the call.
    Call,
    /// A path that was not read.
    Path(String),
    /// A file as a whole.
    File(FileId),
    /// Some bytes of a file.
    Span(FileId, Span),
    /// A value inside a manifest. Becomes a span by reading the file again, before a compile returns: objects carry no
    /// spans.
    Object(Origin),
}

/// A value inside a document of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file.
    pub file: FileId,
    /// The document, counted from 0 in its file, empty ones included.
    pub doc: u16,
    /// Where the object lies in the document (inside a `List`), and the value in it.
    pub path: Path,
}

/// A mistake, placed in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of mistake.
    pub code: Code,
    /// Where.
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Other places that belong to it, each with what is there.
    pub related: Vec<(Place, String)>,
}

impl Finding {
    /// A finding without help or related places.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: bounded(message.into()), help: None, related: Vec::new() }
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The diagnostic it is in a file.
    #[must_use]
    pub fn place_in(&self, file: FileId) -> Diagnostic {
        Diagnostic {
            code: self.code,
            place: Place::Span(file, self.span),
            message: self.message.clone(),
            help: self.help.clone(),
            related: self.related.iter().map(|(span, text)| (Place::Span(file, *span), text.clone())).collect(),
        }
    }
}

impl Diagnostic {
    /// A diagnostic without help or related places.
    #[must_use]
    pub fn new(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self { code, place, message: bounded(message.into()), help: None, related: Vec::new() }
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place that belongs to it.
    #[must_use]
    pub fn related(mut self, place: Place, text: impl Into<String>) -> Self {
        self.related.push((place, text.into()));
        self
    }

    /// Whether it refuses the repository.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.code.severity() == Severity::Error
    }
}

/// A message may quote what was written, which may be a megabyte.
fn bounded(mut message: String) -> String {
    const MAX_BYTES: usize = 2_000;
    if message.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES).rev().find(|end| message.is_char_boundary(*end)).unwrap_or_default();
        message.truncate(end);
        message.push('…');
    }
    message
}

/// All diagnostics of one compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds many.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(diagnostics);
    }

    /// Whether any of them refuses the repository.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there are none at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order of [`Self::sort`] once that was called.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Takes out those that are not to be kept.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.0.retain(keep);
    }

    /// Every place in them, of related ones too.
    pub(crate) fn places_mut(&mut self) -> impl Iterator<Item = &mut Place> {
        self.0
            .iter_mut()
            .flat_map(|d| std::iter::once(&mut d.place).chain(d.related.iter_mut().map(|(place, _)| place)))
    }

    /// Sorts by file, offset and code, and drops what is said twice.
    pub fn sort(&mut self) {
        self.0.sort_by(|a, b| (&a.place, a.code, &a.message).cmp(&(&b.place, b.code, &b.message)));
        self.0.dedup();
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
