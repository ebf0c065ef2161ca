//! Rust source as these rules see it: code without comments, texts and unit tests, and the paths it names.

/// The code of a file: comments, the insides of texts and items under `#[cfg(test)]` are blank; lines stay where they are.
pub fn code(text: &str) -> String {
    without_tests(&without_texts(text))
}

/// Comments and the insides of texts as blanks.
fn without_texts(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\n');
    let mut code = String::with_capacity(text.len());
    let mut i = 0;
    // everything up to `end` as blanks
    let blank = |code: &mut String, from: usize, end: usize| {
        code.extend((from..end.min(chars.len())).map(|k| if chars[k] == '\n' { '\n' } else { ' ' }));
    };
    while i < chars.len() {
        let word_before = i > 0 && is_word(chars[i - 1]);
        let end = match (at(i), at(i + 1)) {
            ('/', '/') => (i..chars.len()).find(|k| chars[*k] == '\n').unwrap_or(chars.len()),
            ('/', '*') => end_of_block_comment(&chars, i),
            ('"', _) => end_of_string(&chars, i),
            ('r', '"' | '#') if !word_before || (i > 0 && chars[i - 1] == 'b') => match end_of_raw_string(&chars, i) {
                Some(end) => end,
                None => i,
            },
            // a character, not a lifetime
            ('\'', '\\') => (i + 3..chars.len()).find(|k| chars[*k] == '\'').map_or(chars.len(), |k| k + 1),
            ('\'', _) if at(i + 2) == '\'' => i + 3,
            _ => i,
        };
        if end == i {
            code.push(chars[i]);
            i += 1;
        } else {
            blank(&mut code, i, end);
            i = end;
        }
    }
    code
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut i = start;
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') if depth == 1 => return i + 2,
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    chars.len()
}

fn end_of_string(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() {
        match chars[i] {
            '\\' => i += 2,
            '"' => return i + 1,
            _ => i += 1,
        }
    }
    chars.len()
}

/// `r"…"`, `r#"…"#`; `None` for a raw name such as `r#use`.
fn end_of_raw_string(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start + 1..].iter().take_while(|c| **c == '#').count();
    let open = start + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes =
        |k: &usize| chars[*k] == '"' && chars[k + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    Some((open + 1..chars.len()).find(closes).map_or(chars.len(), |k| k + 1 + hashes))
}

/// Items under `#[cfg(test)]` as blank lines: up to `;`, or to the brace that closes them.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut left = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        left.push_str(&rest[..at]);
        let item = &rest[at..];
        let mut depth = 0_usize;
        // brackets of further attributes hold neither `;` nor braces
        let end = item.char_indices().find_map(|(i, c)| match c {
            ';' if depth == 0 => Some(i + 1),
            '{' => {
                depth += 1;
                None
            }
            '}' => {
                depth = depth.saturating_sub(1);
                (depth == 0).then_some(i + 1)
            }
            _ => None,
        });
        let (test, after) = item.split_at(end.unwrap_or(item.len()));
        left.extend(test.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    left.push_str(rest);
    left
}

/// Every path that code names, with its line from 1: `use` trees spread out (`std::{fs, env}` is two paths), and paths in
/// the code that begin with one of `roots`. `module` is where the code stands: `super` and `self` are resolved against it.
pub fn paths(code: &str, module: &[&str], roots: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut plain = String::with_capacity(code.len());
    let mut rest = code;
    let line_of = |tail: &str| code[..code.len() - tail.len()].matches('\n').count() + 1;
    while let Some(at) = next_use(rest) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let end = from.find(';').unwrap_or(from.len());
        let line = line_of(from);
        for path in spread(&from["use".len()..end]) {
            found.push((line, resolve(&path, module)));
        }
        plain.extend(from[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &from[end..];
    }
    plain.push_str(rest);
    for (number, line) in plain.lines().enumerate() {
        for path in line_paths(line) {
            let resolved = resolve(&path, module);
            if roots.iter().any(|root| path.split("::").next() == Some(root)) || path.starts_with("super::") {
                found.push((number + 1, resolved));
            }
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the next `use` declaration begins; not `use<'a>` of a type.
fn next_use(code: &str) -> Option<usize> {
    code.match_indices("use").map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + 3..].chars().next();
        before.is_none_or(|c| !is_word(c) && c != '#') && after.is_some_and(char::is_whitespace)
    })
}

/// The paths of a `use` tree.
fn spread(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree).trim();
        let path: String = path.chars().filter(|c| !c.is_whitespace()).collect();
        let path = path.strip_suffix("::self").unwrap_or(&path).trim_start_matches("::").to_owned();
        return if path.is_empty() { Vec::new() } else { vec![path] };
    };
    let prefix = tree[..open].trim();
    let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    let whole = |part: &str| {
        if part.trim() == "self" {
            prefix.trim_end_matches("::").to_owned()
        } else {
            format!("{prefix}{}", part.trim())
        }
    };
    parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| spread(&whole(part))).collect()
}

/// The paths of more than one part in a line of code.
fn line_paths(line: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut path = String::new();
    for c in line.chars().chain([' ']) {
        if is_word(c) || c == ':' {
            path.push(c);
        } else {
            let whole = path.trim_matches(':');
            if whole.contains("::") {
                paths.push(whole.to_owned());
            }
            path.clear();
        }
    }
    paths
}

/// A path with `self` and `super` resolved: then it begins with `crate`.
fn resolve(path: &str, module: &[&str]) -> String {
    let mut at: Vec<&str> = module.to_vec();
    let mut relative = false;
    let mut parts = path.split("::").peekable();
    while let Some(part) = parts.next_if(|part| matches!(*part, "self" | "super")) {
        relative = true;
        if part == "super" {
            at.pop();
        }
    }
    let rest: Vec<&str> = parts.collect();
    if relative { ["crate"].into_iter().chain(at).chain(rest).collect::<Vec<_>>().join("::") } else { rest.join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_texts_and_tests_are_no_code() {
        let text = "\
use a::b; // use c::d;
/* use e::f; /* nested */ */ let x = \"use g::h; \\\" //\";
#[cfg(test)]
mod tests;
let y = r#\"std::fs \" \"#; let z = '\"'; let q = '\\''; fn f<'a>(t: &'a str) {}
#[cfg(test)]
mod more {
    fn g() { if a { std::fs::read() } }
}
fn h() {}
";
        let code = code(text);
        assert_eq!(code.lines().count(), text.lines().count());
        for gone in ["c::d", "e::f", "g::h", "mod tests", "std::fs", "mod more", "cfg"] {
            assert!(!code.contains(gone), "{gone}: {code}");
        }
        for kept in ["use a::b;", "let x =", "let z =", "let q =", "fn f<'a>(t: &'a str) {}", "fn h() {}"] {
            assert!(code.contains(kept), "{kept}: {code}");
        }
    }

    #[test]
    fn trees_are_spread_out() {
        let code = "\
use std::{fs, collections::{BTreeMap, hash_map::{self, Entry as E}}};
pub(crate) use crate::{
    diag::codes,
    model as m,
};
use super::super::plan::*;
fn f() -> impl Iterator + use<'_> { crate::yaml::emit(std::env::var(\"\")); super::g(); self::k(); other::x::y() }
use ::std as s;
";
        let found: Vec<String> = paths(code, &["model", "lower"], &["crate", "std", "self"])
            .into_iter()
            .map(|(line, path)| format!("{line} {path}"))
            .collect();
        assert_eq!(
            found,
            [
                "1 std::fs",
                "1 std::collections::BTreeMap",
                "1 std::collections::hash_map",
                "1 std::collections::hash_map::Entry",
                "2 crate::diag::codes",
                "2 crate::model",
                "6 crate::plan::*",
                "8 std",
                "7 crate::yaml::emit",
                "7 std::env::var",
                "7 crate::model::g",
                "7 crate::model::lower::k",
            ]
        );
    }
}
