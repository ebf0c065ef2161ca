//! What an import says: as data, and as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Fate, Imported, Note};

/// What was written, and what is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Paths of the files of the fleet repository, ascending.
    pub files: Vec<String>,
    /// What is not as it was, in the order of the source.
    pub notes: Vec<Note>,
}

impl Report {
    /// The report of an import.
    #[must_use]
    pub fn new(imported: &Imported) -> Self {
        Self { files: imported.files.keys().cloned().collect(), notes: imported.notes.clone() }
    }

    /// The report for people: notes by what became of things, the gravest first.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (fate, heading) in [
            (Fate::NoCounterpart, "No counterpart; left out"),
            (Fate::Differs, "Carried over, and behaves differently"),
            (Fate::Resolved, "Decided by the import; does not follow its source any more"),
            (Fate::Skipped, "Not carried over, and need not be"),
        ] {
            let notes: Vec<&Note> = self.notes.iter().filter(|note| note.fate == fate).collect();
            if notes.is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "{heading} ({}):", notes.len());
            for Note { file, object, field, fate: _, text: said } in notes {
                let place = [file.as_str(), object, field].into_iter().filter(|part| !part.is_empty());
                let place: Vec<&str> = place.collect();
                let _ = writeln!(text, "  {}: {said}", place.join(" "));
            }
        }
        text
    }
}
