//! Field changes as lines with `-`, `+`, `!` or nothing before them: what a fenced `diff` block colours.
//!
//! Control characters and those that change the direction of text are shown by their numbers, so that no value can
//! write to a terminal or look like something else.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::diff::{Edit, FieldChange};
use crate::yaml;

/// Lines of context around changed lines of a text.
const CONTEXT: usize = 2;
/// Texts with more lines than this, once equal ends are taken off, are not compared line by line.
const MOST_LINES: usize = 4_000;
/// What stands for a secret value, whatever its length.
const MASK: &str = "***";

/// The lines of a change.
pub(super) fn change_lines(change: &FieldChange) -> Vec<String> {
    let path = visible(&change.path);
    match &change.edit {
        Edit::Added { after } => value_lines('+', &path, after),
        Edit::Removed { before } => value_lines('-', &path, before),
        Edit::Changed { before: Value::String(before), after: Value::String(after) }
            if before.contains('\n') || after.contains('\n') =>
        {
            text_lines(&path, before, after)
        }
        Edit::Changed { before, after } => {
            let mut lines = value_lines('-', &path, before);
            lines.extend(value_lines('+', &path, after));
            lines
        }
        Edit::Reordered { before, after } => {
            let list = |names: &[String]| names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
            vec![format!("- {path} in order: {}", list(before)), format!("+ {path} in order: {}", list(after))]
        }
        Edit::SecretAdded => vec![format!("+ {} added: {MASK}", secret_key(&path))],
        Edit::SecretRemoved => vec![format!("- {} removed: {MASK}", secret_key(&path))],
        Edit::SecretChanged => vec![format!("! {} changed: {MASK} -> {MASK}", secret_key(&path))],
    }
}

/// `key pw` of `data.pw`; other places of a Secret by their path.
fn secret_key(path: &str) -> String {
    let quoted = path.strip_prefix("data[\"").and_then(|rest| rest.strip_suffix("\"]"));
    match path.strip_prefix("data.").or(quoted) {
        Some(key) => format!("key {key}"),
        None => path.to_owned(),
    }
}

/// `+ path: value`, or the value below the path where it has several lines.
fn value_lines(mark: char, path: &str, value: &Value) -> Vec<String> {
    let is_short = match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => !text.contains('\n'),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    let mut text = String::new();
    yaml::emit(value, &mut text);
    if is_short {
        return vec![format!("{mark} {path}: {}", visible(text.trim_end_matches('\n')))];
    }
    let mut lines = vec![format!("{mark} {path}:")];
    lines.extend(text.lines().map(|line| format!("{mark}   {}", visible(line))));
    lines
}

/// A text of several lines, by line.
fn text_lines(path: &str, before: &str, after: &str) -> Vec<String> {
    let mut lines = vec![format!("  {path}:")];
    let (was, is): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    let rest = was.len().min(is.len()) - start;
    let end = was.iter().rev().zip(is.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    if was.len().max(is.len()) - start - end > MOST_LINES {
        lines.push(format!("-   ({} lines, too many to show)", was.len()));
        lines.push(format!("+   ({} lines, too many to show)", is.len()));
        return lines;
    }
    let diff = TextDiff::from_lines(before, after);
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push("    ...".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value();
            let content = visible(line.trim_end_matches('\n'));
            let no_break = if line.ends_with('\n') { "" } else { " (no line break at the end)" };
            lines.push(format!("{mark}   {content}{no_break}"));
        }
    }
    lines
}

/// The text with what cannot be seen shown by its number.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if (c.is_control() && c != '\t') || turns || c == '\u{2028}' || c == '\u{2029}' {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}
