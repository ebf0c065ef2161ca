//! Where the documents of a file begin and end, by the rule of apimachinery's `YAMLReader`.
//!
//! It looks at lines, not at YAML: a line that begins with `---` ends a document, and after these only blanks and a
//! comment are allowed. A `---` before any other line is left to the parser, so `---\n---\na: 1` is two documents.
//! The text that a document never shares with another makes each of them readable when another is broken.

use crate::base::Span;

/// One document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The lines of the document; without the `---` that ended the one before.
    pub(super) span: Span,
    /// Text after the `---` that began this document, which makes it unreadable.
    pub(super) separator: Option<Span>,
}

/// All documents of a text, the empty ones too. Offsets beyond 32 bits are the caller's to refuse.
pub(super) fn split(text: &str) -> Vec<Chunk> {
    let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    let mut chunks = Vec::new();
    let (mut start, mut line_start, mut separator) = (0, 0, None);
    for line in text.split_inclusive('\n') {
        let line_end = line_start + line.len();
        if let Some(rest) = line.strip_prefix("---") {
            if line_start > start || separator.is_some() {
                chunks.push(Chunk { span: Span::new(at(start), at(line_start)), separator: separator.take() });
                start = line_end;
            }
            let trimmed = rest.trim();
            if !trimmed.is_empty() && !trimmed.starts_with('#') {
                let from = line_end - rest.trim_start().len();
                separator = Some(Span::new(at(from), at(from + trimmed.len())));
            }
        }
        line_start = line_end;
    }
    if line_start > start || separator.is_some() {
        chunks.push(Chunk { span: Span::new(at(start), at(line_start)), separator });
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_end_at_lines_of_dashes() {
        for (text, expected) in [
            ("", vec![]),
            ("---\n", vec!["---\n"]),
            ("a: 1", vec!["a: 1"]),
            ("a: 1\n---\nb: 2\n", vec!["a: 1\n", "b: 2\n"]),
            ("---\na: 1\n--- # c\r\nb: 2\n---", vec!["---\na: 1\n", "b: 2\n"]),
            ("---\n---\na: 1\n", vec!["---\n", "a: 1\n"]),
            ("a\n---\n---\nb\n", vec!["a\n", "---\nb\n"]),
            ("a: |\n  ---\n  b\n", vec!["a: |\n  ---\n  b\n"]),
            ("\n---\na\n", vec!["\n", "a\n"]),
        ] {
            let cut: Vec<&str> = split(text).iter().map(|chunk| &text[chunk.span.range()]).collect();
            assert_eq!(cut, expected, "{text:?}");
            assert!(split(text).iter().all(|chunk| chunk.separator.is_none()), "{text:?}");
        }
    }

    #[test]
    fn text_after_the_dashes_is_found() {
        for (text, bad, documents) in [
            ("a: 1\n--- b: 2\nc: 3\n---\nd: 4\n", "b: 2", 3),
            ("a: 1\n----\nb: 2\n", "-", 2),
            ("--- |\n  text\n", "|", 1),
            ("---x", "x", 1),
        ] {
            let chunks = split(text);
            let found: Vec<&str> = chunks.iter().filter_map(|c| c.separator).map(|span| &text[span.range()]).collect();
            assert_eq!((found, chunks.len()), (vec![bad], documents), "{text:?}");
        }
    }
}
