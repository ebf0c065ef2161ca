//! Byte offsets as people count: lines and columns.

/// Finds the line and column of a byte offset. Lines end with a line feed (a carriage return before it belongs to the
/// line's end); columns count characters (Unicode scalar values). Both from 1.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<u32>,
}

impl<'t> LineIndex<'t> {
    /// Indexes a text; offsets past 4 GiB are read as 4 GiB.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts =
            std::iter::once(0).chain(breaks.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX))).collect();
        Self { text, starts }
    }

    /// `(line, column)` of a byte offset, both from 1. Past the end of the text is its end; inside a character is that
    /// character; on the line break is one past the last character of the line.
    #[must_use]
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = usize::try_from(offset).map_or(self.text.len(), |at| at.min(self.text.len()));
        let content = self.line(line.saturating_sub(1));
        let start = self.starts.get(line.saturating_sub(1)).map_or(0, |start| *start as usize);
        let column = content.char_indices().take_while(|(at, c)| start + at + c.len_utf8() <= before).count();
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// Number of lines; a text that ends with a line break has an empty last one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Never: even an empty text has one line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The text of a line (counted from 0 here) without its line break; empty if there is no such line.
    #[must_use]
    pub fn line(&self, line: usize) -> &'t str {
        let Some(start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| *next as usize);
        let content = self.text.get(*start as usize..end).unwrap_or("");
        let content = content.strip_suffix('\n').unwrap_or(content);
        content.strip_suffix('\r').unwrap_or(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "a: é1\r\nb: 😀x\n\nlast";
        let index = LineIndex::new(text);
        for (needle, expected) in [
            ("a", (1, 1)),
            ("é", (1, 4)),
            ("1", (1, 5)),
            ("\r", (1, 6)),
            ("\n", (1, 6)),
            ("b", (2, 1)),
            ("😀", (2, 4)),
            ("x", (2, 5)),
            ("last", (4, 1)),
        ] {
            let offset = u32::try_from(text.find(needle).unwrap()).unwrap();
            assert_eq!(index.position(offset), expected, "{needle:?}");
        }
        let blank = u32::try_from(text.find("\n\n").unwrap()).unwrap() + 1;
        assert_eq!(index.position(blank), (3, 1));
        let end = u32::try_from(text.len()).unwrap();
        assert_eq!(index.position(end), (4, 5));
        assert_eq!(index.position(u32::MAX), (4, 5));
        let inside = u32::try_from(text.find('😀').unwrap()).unwrap() + 2;
        assert_eq!(index.position(inside), (2, 4));
        assert_eq!((index.len(), index.line(0), index.line(9)), (4, "a: é1", ""));
        assert_eq!(LineIndex::new("").position(0), (1, 1));
    }
}
