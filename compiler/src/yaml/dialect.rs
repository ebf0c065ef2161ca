//! Where the YAML 1.1 scanner of Kubernetes' reader and the YAML 1.2 parser below us part ways.
//!
//! Each function finds a text that they read differently, or that only ours takes; such a text is refused. Found by
//! comparing both on generated texts: what the two read as the same value needs no rule here.

use super::error::YamlErrorKind;

/// Finds tabs where the old scanner takes none: in the indentation, before comments and on blank lines too, and after
/// `-`, `?` and a `:` that begins a line. It is fed what is between the parser's events, outside of brackets.
#[derive(Clone, Copy)]
pub(super) struct Tabs {
    /// Nothing but blanks and the three indicators since the line began.
    indentation: bool,
}

impl Tabs {
    /// At the start of a text.
    pub(super) fn new() -> Self {
        Self { indentation: true }
    }

    /// Passes over what is between two events; the answer is the offset of a tab in it.
    pub(super) fn pass(&mut self, between: &str) -> Option<usize> {
        for (at, byte) in between.bytes().enumerate() {
            match byte {
                b'\n' | b'\r' => self.indentation = true,
                b'\t' if self.indentation => return Some(at),
                b' ' | b'-' | b'?' | b':' => {}
                _ => self.indentation = false,
            }
        }
        None
    }

    /// Passes over the text of a value.
    pub(super) fn pass_value(&mut self, value: &str) {
        if !value.is_empty() {
            self.indentation = value.trim_end_matches(' ').ends_with(['\n', '\r']);
        }
    }
}

/// A plain scalar in brackets that the old scanner would cut: at a `?` anywhere and at a `:` in front.
pub(super) fn cut_in_brackets(plain: &str) -> bool {
    plain.starts_with(':') || plain.contains('?')
}

/// A plain scalar of several lines with a comment inside, which ends the text for every other reader.
pub(super) fn comment_inside(plain: &str) -> bool {
    plain.split(['\n', '\r']).skip(1).any(|line| line.trim_start_matches([' ', '\t']).starts_with('#'))
}

/// A colon after a plain key in brackets that the old scanner takes for a part of the key, since no blank follows it:
/// `{a:, b: 1}`. `after` is the text after the key.
pub(super) fn colon_in_key(after: &str) -> bool {
    match after.trim_start_matches([' ', '\t']).strip_prefix(':') {
        Some(rest) => !rest.is_empty() && !rest.starts_with([' ', '\t', '\n', '\r']),
        None => false,
    }
}

/// A key in brackets that is not on one line with its colon, which needs a `?` before it.
pub(super) fn key_of_lines(before: &str, key: &str, after: &str) -> bool {
    let blank = after.len() - after.trim_start().len();
    let broken = key.contains(['\n', '\r']) || after.get(..blank).unwrap_or_default().contains(['\n', '\r']);
    broken && after.trim_start().starts_with(':') && !before.trim_end().ends_with('?')
}

/// A `...` before the document that it would end.
pub(super) fn end_before_start(before: &str) -> bool {
    before.split(['\n', '\r']).any(|line| line.starts_with("..."))
}

/// An escape in double quotes that only JSON has: half of a character, or `\/`. The answer is its offset.
pub(super) fn json_escape(source: &str) -> Option<(usize, YamlErrorKind)> {
    let bytes = source.as_bytes();
    let mut at = 0;
    while let Some(next) = source.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        match bytes.get(at + 1..).unwrap_or_default() {
            [b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..] => {
                return Some((at, YamlErrorKind::Surrogates));
            }
            [b'/', ..] => return Some((at, YamlErrorKind::JsonEscape)),
            _ => at += 2,
        }
    }
    None
}

/// The name of an anchor or alias that the old scanner takes, with what follows it.
pub(super) fn is_anchor_name(name: &str, after: &str) -> bool {
    let ends = after.is_empty() || after.starts_with([' ', '\t', '\n', '\r', '?', ':', ',', ']', '}', '%', '@', '`']);
    ends && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A block scalar as the whole document with a line at the margin, which is content in YAML 1.2 only. The range is that
/// of the content in the text.
pub(super) fn block_at_margin(text: &str, content: std::ops::Range<usize>) -> bool {
    let start = text.get(..content.start).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |at| at + 1);
    let lines = text.get(start..content.end).unwrap_or_default();
    lines.split(['\n', '\r']).any(|line| !line.is_empty() && !line.starts_with(' '))
}

/// A last line of nothing but spaces and without a line break, after a block scalar that keeps its line breaks: the
/// reader ends every line with a line break, and so keeps one more. `content` is the range of the block's content, which
/// for a blank block includes its header.
pub(super) fn blank_last_line(text: &str, content: std::ops::Range<usize>) -> Option<usize> {
    let last = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    let blank = !last.is_empty() && last.bytes().all(|byte| byte == b' ');
    let keeps = [content.start, content.end].iter().any(|end| block_header(text, *end).contains('+'));
    (blank && keeps).then_some(text.len() - last.len())
}

/// A tab where the old scanner still looks for the indentation of a block scalar: before its first line, and on a later
/// blank line. `content` is the range of its content; the answer is an offset in the text.
pub(super) fn tab_in_block(text: &str, content: std::ops::Range<usize>) -> Option<usize> {
    let start = content.start;
    let block = text.get(content)?;
    if block.starts_with('\t') && !block_header(text, start).contains(|c: char| c.is_ascii_digit()) {
        return Some(start);
    }
    let indentation = start - text.get(..start)?.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let mut line_start = start;
    for line in block.split_inclusive(['\n', '\r']) {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if line_start > start && blanks < indentation && line.get(blanks..).is_some_and(|rest| rest.starts_with('\t')) {
            return Some(line_start + blanks);
        }
        line_start += line.len();
    }
    None
}

/// A tag as the old scanner takes it, with what follows: it ends at a blank and nowhere else.
pub(super) fn is_tag(tag: &str, after: &str) -> bool {
    let ends = after.is_empty() || after.starts_with([' ', '\t', '\n', '\r']);
    let comma = tag.starts_with("!<");
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_;/?:@&=+$.!~*'()%<>".contains(&byte) || (comma && byte == b',');
    ends && tag.bytes().all(allowed)
}

/// The indicators after the last `|` or `>` before a block scalar's content.
fn block_header(text: &str, content: usize) -> &str {
    let before = text.get(..content).unwrap_or_default().trim_ascii_end();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    let line = line.split(" #").next().unwrap_or_default();
    line.rfind(['|', '>']).and_then(|at| line.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_are_found_only_in_indentation() {
        for (steps, expected) in [
            (&[("key", ":\t"), ("v", "\n  ")][..], None),
            (&[("a", ": "), ("v", "\n \t")], Some(2)),
            (&[("", "\t")], Some(0)),
            (&[("", " # a\tb\n\t# c")], Some(7)),
            (&[("", "- "), ("", "-\t")], Some(1)),
            (&[("", "? "), ("k", "\n:\t")], Some(2)),
            (&[("a", ": |\n "), ("block\n", "\t")], Some(0)),
        ] {
            let mut tabs = Tabs::new();
            let found = steps.iter().find_map(|(value, between)| {
                tabs.pass_value(value);
                tabs.pass(between)
            });
            assert_eq!(found, expected, "{steps:?}");
        }
    }

    #[test]
    fn block_headers_decide_on_tabs_and_last_lines() {
        for (text, content, tab, last) in [
            ("a: |+\n  x\n ", 8, None, Some(10)),
            ("a: |+ # +\n  x\n", 12, None, None),
            ("a: | # +\n  x\n ", 11, None, None),
            ("a: |-\n  \tx\n", 8, Some(8), None),
            ("a: |2\n  \tx\n", 8, None, None),
            ("a: |\n  x\n  \ty\n", 7, None, None),
            ("a: |\n  x\n \t\n", 7, Some(10), None),
            ("|+\n \n ", 2, None, Some(5)),
        ] {
            let found = (tab_in_block(text, content..text.len()), blank_last_line(text, content..content + 1));
            assert_eq!(found, (tab, last), "{text:?}");
        }
    }

    #[test]
    fn json_escapes_are_told_from_escaped_backslashes() {
        for (text, expected) in [
            (r"\\ud83d", None),
            (r"\ud7ff\ue000", None),
            (r"a\ud83d", Some((1, YamlErrorKind::Surrogates))),
            (r"\\\/", Some((2, YamlErrorKind::JsonEscape))),
            (r"é\", None),
        ] {
            assert_eq!(json_escape(text), expected, "{text}");
        }
    }
}
