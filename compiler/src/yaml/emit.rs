//! From values to text that means the same to every reader.
//!
//! YAML 1.1 and 1.2 readers disagree on what a bare word is, and no list of the words to quote is complete. So a string is
//! bare only if it is on the list of what is safe: it begins with an ASCII letter or `/`, has nothing but
//! `[A-Za-z0-9-_./:@+=, ()$*%]`, no `: ` inside, no space or `:` at the end, and is no word that any reader takes for a
//! boolean, null or number. Text of several lines is a literal block if nothing in it can be lost there; all else is in
//! double quotes. Keys follow the same rule and are never blocks.
//!
//! The layout is that of `kubectl get -o yaml`: two spaces, sequences at the column of their key.

use serde_json::{Map, Number, Value};

/// Writes one document in block style, ending with a line break. Keys stay in their order.
pub fn emit(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => mapping(map, 0, false, out),
        Value::Array(items) if !items.is_empty() => sequence(items, 0, false, out),
        leaf => scalar(leaf, 0, out),
    }
}

/// Writes documents with a line `---` between them; nothing for none.
#[must_use]
pub fn emit_documents(values: &[Value]) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push_str("---\n");
        }
        emit(value, &mut out);
    }
    out
}

/// The entries, each at column `indent`; the first continues the current line if `inline`.
fn mapping(map: &Map<String, Value>, indent: usize, mut inline: bool, out: &mut String) {
    for (key, value) in map {
        if !std::mem::take(&mut inline) {
            spaces(indent, out);
        }
        let start = out.len();
        inline_text(key, out);
        // Readers look for the colon no further than 1024 characters; a longer key needs its own mark.
        if out.len() - start > LONGEST_KEY {
            out.insert_str(start, "? ");
            out.push('\n');
            spaces(indent, out);
        }
        out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                out.push('\n');
                mapping(map, indent + STEP, false, out);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(items, indent, false, out);
            }
            leaf => {
                out.push(' ');
                scalar(leaf, indent, out);
            }
        }
    }
}

fn sequence(items: &[Value], indent: usize, mut inline: bool, out: &mut String) {
    for item in items {
        if !std::mem::take(&mut inline) {
            spaces(indent, out);
        }
        out.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => mapping(map, indent + STEP, true, out),
            Value::Array(items) if !items.is_empty() => sequence(items, indent + STEP, true, out),
            leaf => scalar(leaf, indent, out),
        }
    }
}

/// Spaces of one level.
const STEP: usize = 2;
/// Bytes of a key that is written before its colon on one line.
const LONGEST_KEY: usize = 1000;

fn spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// A value of one line, or a literal block below a parent at column `indent`; with the line break.
fn scalar(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => number(value, out),
        Value::String(text) if fits_block(text) => return block(text, indent + STEP, out),
        Value::String(text) => inline_text(text, out),
        // Others are written line by line above.
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
    out.push('\n');
}

/// Integers as they are. Other numbers with a dot, and in an exponent a sign, or YAML 1.1 readers take them for text.
fn number(value: &Number, out: &mut String) {
    let text = value.to_string();
    match text.split_once(['e', 'E']) {
        None => out.push_str(&text),
        Some((mantissa, exponent)) => {
            out.push_str(mantissa);
            if !mantissa.contains('.') {
                out.push_str(".0");
            }
            out.push('e');
            if !exponent.starts_with(['+', '-']) {
                out.push('+');
            }
            out.push_str(exponent);
        }
    }
}

fn inline_text(text: &str, out: &mut String) {
    if is_plain(text) { out.push_str(text) } else { quoted(text, out) }
}

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    (first.is_ascii_alphabetic() || *first == b'/')
        && !matches!(last, b' ' | b':')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@+=, ()$*%".contains(byte))
        && !bytes.windows(2).any(|pair| pair == b": ")
        && !is_word(text)
}

/// Words that some reader takes for a boolean, null or a number, in any case.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    text.len() <= 5 && WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether a literal block gives this text back in every reader: several lines, no blank or tab where it could count as
/// indentation or be trimmed, no character that ends a line in some readers or is not allowed in YAML.
fn fits_block(text: &str) -> bool {
    let inner = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !inner.split('\n').any(|line| line.ends_with([' ', '\t']))
        && !text.chars().any(|c| c != '\n' && c != '\t' && needs_escape(c))
}

fn block(text: &str, indent: usize, out: &mut String) {
    out.push_str(match text.strip_suffix('\n') {
        None => "|-\n",
        Some(body) if body.ends_with('\n') => "|+\n",
        Some(_) => "|\n",
    });
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            spaces(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Not printable in YAML, a line break in YAML 1.1, or a byte-order mark.
fn needs_escape(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if needs_escape(c) => {
                let code = u32::from(c);
                out.push_str(&if code < 0x100 { format!("\\x{code:02x}") } else { format!("\\u{code:04x}") });
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
