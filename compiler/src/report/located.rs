//! Diagnostics with their lines: spans become line and column by reading each file once more.
//!
//! Places inside manifests are bytes of their files by the time a compile returns; one that is not is told by its file.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::source::SourceFile;
use crate::yaml::LineIndex;

/// How the bytes of a file are had again; `None` where they are not.
pub type ReadFile<'r> = dyn Fn(&SourceFile) -> Option<Arc<[u8]>> + 'r;

/// A diagnostic as a person or a tool is told of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Located {
    /// `FW1042`.
    pub code: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What this code is about, in general.
    pub title: &'static str,
    /// The file; none for a mistake of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where in the file; none for the file as a whole.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// What is wrong and what was expected.
    pub message: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Other places that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
}

/// Where in a file. Lines and columns count from 1, columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The line of the first character.
    pub line: u32,
    /// The column of the first character.
    pub column: u32,
    /// The line behind the last character.
    pub end_line: u32,
    /// The column behind the last character.
    pub end_column: u32,
    /// The first byte of the file.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Another place that belongs to a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// The file; none for the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where in the file; none for the file as a whole.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// What is there.
    pub message: String,
}

impl Position {
    /// The bytes.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// Gives every diagnostic its lines, in the order of the diagnostics. Each file is read once. A file that
/// cannot be had again leaves its diagnostics without a position.
#[must_use]
pub fn located(diagnostics: &Diagnostics, files: &[SourceFile], read: &ReadFile<'_>) -> Vec<Located> {
    let places = diagnostics.iter().flat_map(|d| std::iter::once(&d.place).chain(d.related.iter().map(|(p, _)| p)));
    let positions = positions(places, files, read);
    diagnostics.iter().map(|diagnostic| locate(diagnostic, files, &positions)).collect()
}

fn locate(diagnostic: &Diagnostic, files: &[SourceFile], positions: &BTreeMap<&Place, Position>) -> Located {
    let Diagnostic { code, place, message, help, related } = diagnostic;
    let related = related.iter().map(|(place, text)| Related {
        path: path(place, files),
        position: positions.get(place).copied(),
        message: text.clone(),
    });
    Located {
        code: code.to_string(),
        severity: match code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        title: code.entry().map_or("", |entry| entry.title),
        path: path(place, files),
        position: positions.get(place).copied(),
        message: message.clone(),
        help: help.clone(),
        related: related.collect(),
    }
}

fn path(place: &Place, files: &[SourceFile]) -> Option<String> {
    if let Place::Path(path) = place {
        return Some(path.clone());
    }
    file_of(place).and_then(|file| files.get(file.index())).map(|file| file.path.as_str().to_owned())
}

fn file_of(place: &Place) -> Option<FileId> {
    match place {
        Place::Call | Place::Path(_) => None,
        Place::File(file) | Place::Span(file, _) => Some(*file),
        Place::Object(origin) => Some(origin.file),
    }
}

/// The positions of places that have one, each file read once.
pub(super) fn positions<'p>(
    places: impl IntoIterator<Item = &'p Place>,
    files: &[SourceFile],
    read: &ReadFile<'_>,
) -> BTreeMap<&'p Place, Position> {
    let mut by_file: BTreeMap<FileId, Vec<&Place>> = BTreeMap::new();
    for place in places {
        if let Place::Span(file, _) = place {
            by_file.entry(*file).or_default().push(place);
        }
    }
    let mut found = BTreeMap::new();
    for (file, places) in by_file {
        let Some(bytes) = files.get(file.index()).and_then(read) else { continue };
        let text = readable(&bytes);
        let lines = LineIndex::new(text);
        for place in places {
            let Place::Span(_, span) = place else { continue };
            found.insert(place, position(&lines, *span));
        }
    }
    found
}

/// As much of a file as is text: the place where it ends to be is a place too.
fn readable(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
        }
    }
}

fn position(lines: &LineIndex<'_>, span: Span) -> Position {
    let ((line, column), (end_line, end_column)) = (lines.position(span.start), lines.position(span.end));
    Position { line, column, end_line, end_column, start: span.start, end: span.end }
}
