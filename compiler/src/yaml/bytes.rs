//! From bytes to text, and the characters that YAML does not allow in it.

use super::error::{YamlError, YamlErrorKind};
use crate::base::Span;

/// The byte-order mark, which editors on some systems put before a text.
pub(super) const BOM: &str = "\u{feff}";

/// Reads bytes as UTF-8 text. A byte-order mark at the start stays; `compose` skips it.
///
/// # Errors
/// UTF-16, bytes that are not UTF-8, a NUL byte, or the pointer that Git LFS leaves in the place of a file.
pub fn decode_utf8(bytes: &[u8]) -> Result<&str, YamlError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(YamlError::new(Span::new(0, 2), YamlErrorKind::Utf16));
    }
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        return Err(YamlError::new(span(0, line), YamlErrorKind::LfsPointer));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(YamlError::new(span(at, at + 1), YamlErrorKind::Nul));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        YamlError::new(span(at, at + error.error_len().unwrap_or(1)), YamlErrorKind::NotUtf8)
    })
}

fn span(start: usize, end: usize) -> Span {
    Span::new(u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(end).unwrap_or(u32::MAX))
}

/// Everything in a text that some YAML reader refuses or reads as a line break, with byte offsets. Kubernetes' reader
/// allows tab, line breaks, U+0020-7E, U+85, U+A0-D7FF, U+E000-FFFD and above; U+85, U+2028 and U+2029 are line breaks in
/// YAML 1.1 and ordinary characters in 1.2; a byte-order mark counts as nothing, but only at the start of a line.
pub(super) fn odd_characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, byte)| SUSPECT[usize::from(**byte)]).filter_map(move |(at, _)| {
        let c = text.get(at..)?.chars().next()?;
        let odd = match c {
            // Kubernetes' reader takes one carriage return off before it sees the other as a line break of its own.
            '\r' => matches!(bytes.get(at + 1..at + 3), Some(b"\r\n")),
            '\u{feff}' => at == 0 || matches!(bytes.get(at - 1), Some(b'\n' | b'\r')),
            c => matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}'),
        };
        odd.then_some((at, c))
    })
}

/// The bytes with which such a character may begin: control characters, and the first bytes of U+80-BF, U+2000-2FFF and
/// U+F000-FFFF.
const SUSPECT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 32 {
        table[byte] = byte != b'\t' as usize && byte != b'\n' as usize;
        byte += 1;
    }
    table[0x7f] = true;
    table[0xc2] = true;
    table[0xe2] = true;
    table[0xef] = true;
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_yaml_text_are_named() {
        for (bytes, kind, start) in [
            (&b"a: \xff\n"[..], YamlErrorKind::NotUtf8, 3),
            (b"a: b\0c", YamlErrorKind::Nul, 4),
            (b"\xff\xfea\0", YamlErrorKind::Utf16, 0),
            (b"\xfe\xff\0a", YamlErrorKind::Utf16, 0),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", YamlErrorKind::LfsPointer, 0),
        ] {
            let error = decode_utf8(bytes).unwrap_err();
            assert_eq!((error.kind, error.span.start), (kind, start), "{bytes:?}");
        }
        assert_eq!(decode_utf8(b"\xef\xbb\xbfa: 1"), Ok("\u{feff}a: 1"));
    }

    #[test]
    fn odd_characters_are_found_where_they_are() {
        for (text, expected) in [
            ("a: é\u{a0}\u{bf}\t\r\n😀\u{fffd}", vec![]),
            ("x\u{85}\u{2028}\u{2029}", vec![(1, '\u{85}'), (3, '\u{2028}'), (6, '\u{2029}')]),
            (
                "\u{1}\u{7f}\u{80}\u{9f}\u{ffff}",
                vec![(0, '\u{1}'), (1, '\u{7f}'), (2, '\u{80}'), (4, '\u{9f}'), (6, '\u{ffff}')],
            ),
            ("a\u{feff}\n\u{feff}", vec![(5, '\u{feff}')]),
            ("a\rb\r\n\r\r\n", vec![(5, '\r')]),
        ] {
            assert_eq!(odd_characters(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
