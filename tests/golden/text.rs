//! Diagnostics as plain text: `path:line:column code message`, the help and the other places below.

use fleetwright_compiler::base::{FileId, Span};
use fleetwright_compiler::diag::{Diagnostics, Place};
use fleetwright_compiler::source::{Limits, Overlay, SourceFile};
use fleetwright_compiler::yaml::LineIndex;

pub fn all(overlay: &Overlay<'_>, files: &[SourceFile], diagnostics: &Diagnostics) -> String {
    let at = |place: &Place| match place {
        Place::Call => "-".to_owned(),
        Place::Path(path) => path.clone(),
        Place::File(id) => files[id.index()].path.as_str().to_owned(),
        Place::Span(id, span) => position(overlay, files, *id, *span),
        Place::Object(origin) => panic!("{origin:?} was not found"),
    };
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        text += &format!("{} {} {}\n", at(&diagnostic.place), diagnostic.code, diagnostic.message);
        if let Some(help) = &diagnostic.help {
            text += &format!("  help: {help}\n");
        }
        for (place, what) in &diagnostic.related {
            text += &format!("  {}: {what}\n", at(place));
        }
    }
    text
}

fn position(overlay: &Overlay<'_>, files: &[SourceFile], id: FileId, span: Span) -> String {
    let file = &files[id.index()];
    let bytes = overlay.read(file, &Limits::STANDARD).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let (line, column) = LineIndex::new(&text).position(span.start);
    format!("{}:{line}:{column}", file.path.as_str())
}
