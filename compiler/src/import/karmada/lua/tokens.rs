//! The words, texts, numbers and signs of a script.

use super::Unread;
use crate::base::SmolStr;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(SmolStr),
    Number(SmolStr),
    Text(SmolStr),
    Sign(&'static str),
}

/// Longest first.
const SIGNS: [&str; 23] = [
    "==", "~=", "<=", ">=", "..", "<", ">", "=", "(", ")", "{", "}", "[", "]", ",", ";", ".", "#", "+", "-", "*", "/",
    ":",
];
pub(super) const KEYWORDS: [&str; 20] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
    "repeat", "return", "then", "true", "while",
];

pub(super) fn tokens(script: &str) -> Result<Vec<(u32, Token)>, Unread> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (script, 1_u32);
    while let Some(first) = rest.chars().next() {
        if first == '\n' {
            line = line.saturating_add(1);
        }
        let fail = |what: &str| Err(Unread { line, what: what.to_owned() });
        if first.is_whitespace() {
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        if rest.starts_with("--[[") || rest.starts_with("[[") {
            return fail("a comment or text in long brackets");
        }
        if rest.starts_with("--") {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
            continue;
        }
        let (token, length) = if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Word(rest.get(..length).unwrap_or_default().into()), length)
        } else if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            (Token::Number(rest.get(..length).unwrap_or_default().into()), length)
        } else if first == '"' || first == '\'' {
            let inside = rest.get(1..).unwrap_or_default();
            let text = inside.find(first).and_then(|end| inside.get(..end));
            match text.filter(|text| !text.contains(['\\', '\n'])) {
                Some(text) => (Token::Text(text.into()), text.len() + 2),
                None => return fail("a text with an escape, or without an end"),
            }
        } else {
            match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => return fail("a character that is not read"),
            }
        };
        tokens.push((line, token));
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(tokens)
}
