//! The parser's errors in our words, where these help more.

use granit_parser::{ErrorKind, ScanError};

use super::compose::{Limits, Source};
use super::error::{YamlError, YamlErrorKind};

/// What the parser found wrong in a document, at its place.
pub(super) fn explain(source: Source<'_>, limits: &Limits, error: &ScanError) -> YamlError {
    let text = source.text;
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let character = text.get(at..).and_then(|rest| rest.chars().next()).filter(|c| *c != '\n' && *c != '\r');
    let here = (at, at + character.map_or(0, char::len_utf8));
    let ((start, end), kind) = match error.kind() {
        ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => {
            // Some of these are reported at the end of the line before.
            let tab = text.get(line_start..).and_then(|rest| rest.find('\t')).map_or(at, |tab| line_start + tab);
            ((tab, (tab + 1).min(text.len())), YamlErrorKind::Tab)
        }
        ErrorKind::DirectiveDisallowed | ErrorKind::MissingDocumentEndBeforeDirective => {
            ((line_start, line_start + line.len()), YamlErrorKind::Directive)
        }
        ErrorKind::RecursionLimitExceeded => (here, YamlErrorKind::Depth { limit: limits.depth as usize }),
        ErrorKind::BomInsideDocument => (here, YamlErrorKind::ByteOrderMark),
        ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate => (here, YamlErrorKind::Surrogates),
        kind => {
            let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
            let tab = line.get(..indentation).and_then(|blank| blank.find('\t'));
            match (tab, line.find("{{")) {
                (Some(tab), _) => ((line_start + tab, line_start + tab + 1), YamlErrorKind::Tab),
                (None, Some(braces)) => ((line_start + braces, line_start + braces + 2), YamlErrorKind::Template),
                (None, None) => (here, YamlErrorKind::Syntax(kind.to_string())),
            }
        }
    };
    YamlError::new(source.place(start, end), kind)
}
