//! Where functions and names stand in the text of an expression: the tree that the parser gives says it of nothing.

use std::collections::BTreeMap;

/// A name in the text, outside of texts in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word<'t> {
    text: &'t str,
    at: usize,
    /// Whether a bracket follows.
    is_call: bool,
    /// Whether it is a field or a function of what stands before it.
    is_member: bool,
}

/// The names of an expression, and how far a walk through its tree has come.
#[derive(Debug)]
pub(super) struct Places<'t> {
    words: Vec<Word<'t>>,
    /// How many calls of each function were met.
    met: BTreeMap<String, usize>,
}

impl<'t> Places<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { words: words(text), met: BTreeMap::new() }
    }

    /// The place of the next call of a function. A walk asks once for each call, what it is called of before it and its
    /// arguments after it, as they are written.
    pub(super) fn next_call(&mut self, function: &str) -> Option<usize> {
        let met = self.met.entry(function.to_owned()).or_default();
        let mut calls = self.words.iter().filter(|word| word.is_call && word.text == function);
        let found = calls.nth(*met).map(|word| word.at);
        *met += 1;
        found
    }

    /// The first place of a name that is neither a field nor a function.
    pub(super) fn name(&self, name: &str) -> Option<usize> {
        self.words.iter().find(|word| !word.is_call && !word.is_member && word.text == name).map(|word| word.at)
    }
}

fn words(text: &str) -> Vec<Word<'_>> {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut words = Vec::new();
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if matches!(c, '\'' | '"') {
            // raw texts aside, a backslash takes the next character with it; a text that is raw and ends in one is not found
            while let Some((_, inner)) = chars.next() {
                match inner {
                    '\\' => {
                        chars.next();
                    }
                    inner if inner == c => break,
                    _ => {}
                }
            }
        } else if is_start(c) {
            let mut end = at + c.len_utf8();
            while let Some((next, inner)) = chars.next_if(|(_, c)| is_start(*c) || c.is_ascii_digit()) {
                end = next + inner.len_utf8();
            }
            let is_call = text.get(end..).is_some_and(|rest| rest.trim_start().starts_with('('));
            let word = text.get(at..end).unwrap_or_default();
            words.push(Word { text: word, at, is_call, is_member: before == '.' });
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_outside_of_quotes() {
        let text = "size(status.a) > 1 && 'size(x) \\' y'.contains(\"size\") && status.size (2)";
        let mut places = Places::of(text);
        assert_eq!(places.next_call("size"), Some(0));
        assert_eq!(places.next_call("size"), text.rfind("size"));
        assert_eq!(places.next_call("size"), None);
        assert_eq!(places.next_call("contains"), text.find("contains"));
        assert_eq!((places.name("status"), places.name("a"), places.name("x")), (Some(5), None, None));
    }
}
