//! Sources in one text for tests, and the check that what is imported compiles.

use super::{Imported, InputFile};
use crate::schedule::Scenario;
use crate::source::{MemoryFiles, Overlay};
use crate::{CompileError, Compiled, Session, compile};

/// Files between `=== path` lines.
pub(super) fn files(text: &str) -> Vec<InputFile> {
    let mut files: Vec<InputFile> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("=== "), files.last_mut()) {
            (Some(path), _) => files.push(InputFile { path: path.to_owned(), bytes: Vec::new() }),
            (None, Some(file)) => file.bytes.extend(format!("{line}\n").bytes()),
            (None, None) => files.push(InputFile { path: "all.yaml".to_owned(), bytes: format!("{line}\n").into() }),
        }
    }
    files
}

/// Compiles what was imported.
pub(super) fn compiled(imported: &Imported) -> Compiled {
    let files = MemoryFiles::new(imported.files.iter()).unwrap();
    match compile(&Session::new(), &Overlay::same(&files), &Scenario::default()) {
        Ok(compiled) => compiled,
        Err(CompileError::Refused(refusal)) => panic!("{:#?}\n{:#?}", refusal.diagnostics, imported.files),
        Err(error) => panic!("{error}"),
    }
}

/// Notes, a line each: `fate object field: text`.
pub(super) fn notes(imported: &Imported) -> Vec<String> {
    let line = |note: &super::Note| format!("{:?} {} {}: {}", note.fate, note.object, note.field, note.text);
    imported.notes.iter().map(line).collect()
}
