//! Forms of output that several commands share: diagnostics for people and for tools, JSON and YAML of reports.
//!
//! Invariants: functions from data to text, the same text for the same data; a source line is shown only of a file that
//! holds no secret, and no control character of a repository reaches a terminal.

pub mod github;
pub mod json;
mod plain;
mod printable;
pub mod sarif;
mod secrets;
mod terminal;

use fleetwright_compiler::diag::{Diagnostic, Diagnostics};
use fleetwright_compiler::report::{self, Located, Position};
use fleetwright_compiler::source::SourceFile;

use crate::context::Context;
use crate::exit::Failure;
use crate::fleet::Opened;
use crate::streams::{self, Look};
pub use printable::printable;

/// What is put before the path of a file, so that it leads there from somewhere else than the fleet's root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Paths {
    /// For people: from the current folder, or with the revision.
    pub on_screen: String,
    /// The same for files of the record.
    pub record: String,
    /// From the root of the Git repository, for tools that know only that.
    pub in_repository: String,
}

impl Paths {
    /// A path for people.
    fn shown(&self, path: &str) -> String {
        let is_record = path.starts_with("placements/") || path.starts_with("state/");
        let prefix = if is_record { &self.record } else { &self.on_screen };
        format!("{prefix}{path}")
    }

    /// A place for people, with `: ` after it: `path:line:column: `, the path alone for a file as a whole, nothing where
    /// no file is at fault.
    fn place(&self, path: Option<&str>, position: Option<Position>) -> String {
        match (path.map(|path| printable(&self.shown(path))), position) {
            (None, _) => String::new(),
            (Some(path), None) => format!("{path}: "),
            (Some(path), Some(Position { line, column, .. })) => format!("{path}:{line}:{column}: "),
        }
    }
}

/// Diagnostics with their places as people count them.
pub fn located(opened: &Opened, files: &[SourceFile], diagnostics: &Diagnostics) -> Vec<Located> {
    report::located(diagnostics, files, &|file| opened.read(file))
}

/// Diagnostics as text for people.
pub fn for_people(opened: &Opened, files: &[SourceFile], located: &[Located], look: Look) -> String {
    match look {
        Look::Plain => plain::text(located, &opened.paths()),
        Look::Graphical { color } => terminal::text(located, &opened.paths(), color, &|path| {
            opened.read(files.iter().find(|file| file.path.as_str() == path)?)
        }),
    }
}

/// Says diagnostics on stderr.
pub fn show_diagnostics(context: &Context, opened: &Opened, files: &[SourceFile], diagnostics: &Diagnostics) {
    let located = located(opened, files, diagnostics);
    streams::talk(&for_people(opened, files, &located, context.stderr_look()));
}

/// `15 errors, 2 warnings`
pub fn counts(diagnostics: &Diagnostics) -> String {
    let all = diagnostics.iter().count();
    let errors = diagnostics.iter().filter(|d| Diagnostic::is_error(d)).count();
    let parts = [(errors, "error"), (all - errors, "warning")];
    let said: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
    if said.is_empty() { "no diagnostics".into() } else { said.join(", ") }
}

/// `1 app`, `2 apps`
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Data in one of the forms that serialise, or as text.
///
/// # Errors
/// Our bug: a report that cannot be serialised.
pub fn data(
    format: crate::args::Format,
    data: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<String, Failure> {
    use crate::args::Format;
    match format {
        Format::Json => json::text(data),
        Format::Yaml => json::yaml(data),
        Format::Text | Format::Wide | Format::Name | Format::Markdown | Format::Sarif | Format::Github => Ok(text()),
    }
}

#[cfg(test)]
pub(crate) mod fixture;

/// Rows below a head, in columns as wide as they must be.
pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |line: &[String], column: usize| line.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> =
        (0..columns).map(|column| lines.iter().map(|line| cell(line, column)).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let padded = line.iter().zip(&widths).map(|(cell, width)| {
            let one_line = cell.replace('\n', " ");
            format!("{one_line:<width$}")
        });
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use fleetwright_compiler::diag::{Place, codes};

    use super::*;

    #[test]
    fn counting() {
        let mut diagnostics = Diagnostics::default();
        assert_eq!(counts(&diagnostics), "no diagnostics");
        diagnostics.push(Diagnostic::new(codes::layout::NO_FLEET, Place::Call, "x"));
        assert_eq!(counts(&diagnostics), "1 error");
        diagnostics.push(Diagnostic::new(codes::layout::IGNORED_FILE, Place::Call, "x"));
        diagnostics.push(Diagnostic::new(codes::layout::IGNORED_FILE, Place::Call, "y"));
        assert_eq!(counts(&diagnostics), "1 error, 2 warnings");
    }

    #[test]
    fn paths_for_people() {
        let paths = Paths { on_screen: "fleet/".into(), record: "live:fleet/".into(), in_repository: "fleet/".into() };
        for (path, shown) in [
            ("teams/a.yaml", "fleet/teams/a.yaml"),
            ("placements/a.yaml", "live:fleet/placements/a.yaml"),
            ("state/taints/a.yaml", "live:fleet/state/taints/a.yaml"),
        ] {
            assert_eq!(paths.shown(path), shown);
            assert_eq!(paths.place(Some(path), None), format!("{shown}: "));
        }
        assert_eq!(paths.place(None, None), "");
    }
}
