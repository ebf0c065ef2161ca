//! Text of a repository on somebody's terminal: nothing in it may move the cursor, or show in another order than it is.

/// Replaces control characters and characters that change the direction of text, byte for byte, so that offsets hold.
/// Line breaks and tabs stay.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmless(c) {
            out.push(c);
        } else {
            (0..c.len_utf8()).for_each(|_| out.push('?'));
        }
    }
    out
}

fn is_harmless(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // Bidirectional marks, embeddings, overrides and isolates: the order on the screen would lie.
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_a_question_mark() {
        for (text, expected) in [
            ("plain ä 漢字", "plain ä 漢字"),
            ("a\tb\nc", "a\tb\nc"),
            ("\u{1b}[31mred", "?[31mred"),
            ("a\rb", "a?b"),
            ("\u{9b}2J", "??2J"),
            ("x\u{202e}y", "x???y"),
            ("\0", "?"),
        ] {
            assert_eq!(printable(text), expected);
            assert_eq!(printable(text).len(), text.len());
        }
    }
}
