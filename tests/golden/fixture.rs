//! Small repositories in one text, with the expected diagnostics written beside the offending lines.
//!
//! ```text
//! Prose up to the first separator.
//! === clusters/eu-a.yaml
//! spec:
//!   regoin: eu
//! # ^^^^^^ FW1020 did you mean `region`?
//! === teams/search.yaml (removed)
//! === !expect FW1041 fleet.yaml there is no Fleet
//! ```
//!
//! A `===` line begins a file that replaces or adds one to the base fleet; `(removed)` takes one away, a folder too;
//! `(link to TARGET)` and `(submodule)` are what Git may hold besides; `(bytes)` lets the text hold `\xNN`,
//! `(filled)` lets it hold `\fill{N}`, N characters. A line of
//! carets is an expectation about the columns above it, with or without a `#` before; it is taken out before anything is
//! compiled. `^...` is a value that ends on a later line, `|` an empty place. After the code stands a part of what the
//! message or its help says. `=== !expect` is for diagnostics without a span; `=== !record elsewhere` takes the record from
//! another tree, which is empty; `=== !empty` begins without the base fleet.

use std::fmt;
use std::path::Path;

use fleetwright_compiler::base::FileId;
use fleetwright_compiler::diag::{Diagnostic, Place};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{Limits, MemoryFiles, Overlay, RepoPath};
use fleetwright_compiler::{CompileError, Session, compile};

/// The folder of all fixtures.
pub fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"))
}

/// A repository and what is expected of it.
pub struct Fixture {
    pub files: MemoryFiles,
    pub with_record: bool,
    pub expected: Vec<Said>,
}

/// A diagnostic in a form that expectations and results share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Said {
    pub place: Where,
    pub code: String,
    /// Expected: a part. Found: message, then help.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// Nowhere, or at a path as a whole.
    Path(String),
    /// Bytes of a file. No end: on a later line.
    Bytes { path: String, line: usize, columns: (usize, Option<usize>), quote: String },
}

impl Where {
    /// The same place, whatever is shown of it.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a == b,
            (
                Self::Bytes { path: a, line: line_a, columns: columns_a, .. },
                Self::Bytes { path: b, line: line_b, columns: columns_b, .. },
            ) => (a, line_a, columns_a) == (b, line_b, columns_b),
            _ => false,
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Where::Path(path) => write!(f, "=== !expect {} {path} {}", self.code, self.text),
            Where::Bytes { path, line, columns: (start, end), quote } => {
                writeln!(f, "{path}:{line}")?;
                writeln!(f, "{quote}")?;
                let carets = match end {
                    Some(end) if end > start => "^".repeat(end - start),
                    Some(_) => "|".to_owned(),
                    None => "^...".to_owned(),
                };
                let margin = if *start >= 2 { format!("# {}", " ".repeat(start - 2)) } else { " ".repeat(*start) };
                write!(f, "{margin}{carets} {} {}", self.code, self.text)
            }
        }
    }
}

/// The files of a folder as a tree.
pub fn tree(folder: &Path) -> MemoryFiles {
    let mut files = Vec::new();
    list(folder, "", &mut files);
    MemoryFiles::new(files).unwrap()
}

/// The files of a folder, with their paths below it after a prefix.
pub fn list(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
}

impl Fixture {
    /// Reads a fixture over the base fleet.
    pub fn read(text: &str) -> Self {
        let mut fixture = Self { files: tree(&folder().join("base")), with_record: true, expected: Vec::new() };
        let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("=== "), blocks.last_mut()) {
                (Some(head), _) => blocks.push((head, Vec::new())),
                (None, Some((_, lines))) => lines.push(line),
                (None, None) => {}
            }
        }
        for (head, lines) in blocks {
            fixture.block(head, &lines);
        }
        fixture
    }

    fn block(&mut self, head: &str, lines: &[&str]) {
        if let Some(directive) = head.strip_prefix('!') {
            assert!(lines.iter().all(|l| l.is_empty()), "text below `=== !{directive}`");
            match directive.split_once(' ') {
                Some(("expect", rest)) => {
                    let (code, rest) = rest.split_once(' ').expect("a code and a path");
                    let (path, text) = rest.split_once(' ').expect("a path and a text");
                    self.expected.push(Said {
                        place: Where::Path(path.to_owned()),
                        code: code.to_owned(),
                        text: text.to_owned(),
                    });
                }
                Some(("record", "elsewhere")) => self.with_record = false,
                None if directive == "empty" => self.files = MemoryFiles::default(),
                _ => panic!("no directive: {directive}"),
            }
            return;
        }
        let (path, flag) = match head.split_once(" (") {
            Some((path, flag)) => (path, flag.strip_suffix(')').expect("a closing bracket")),
            None => (head, ""),
        };
        let repo_path = RepoPath::new(path).unwrap();
        match flag {
            "removed" => self.files = self.files.without(&repo_path),
            "submodule" => {
                self.files = self.files.with_submodule(&repo_path, "0123456789012345678901234567890123456789")
            }
            "bytes" | "filled" | "" => {
                let text = self.file(path, lines);
                let bytes = match flag {
                    "bytes" => unescape(&text),
                    "filled" => fill(&text).into_bytes(),
                    _ => text.into_bytes(),
                };
                self.files = self.files.with(&repo_path, &bytes);
            }
            link => {
                let target = link.strip_prefix("link to ").expect("a known flag");
                self.files = self.files.with_link(&repo_path, target);
            }
        }
    }

    /// The text of a file without its expectations, which are kept.
    fn file(&mut self, path: &str, lines: &[&str]) -> String {
        let mut text = String::new();
        let (mut number, mut last) = (0, "");
        for line in lines {
            match expectation(line) {
                Some((columns, code, message)) => self.expected.push(Said {
                    place: Where::Bytes { path: path.to_owned(), line: number, columns, quote: last.to_owned() },
                    code,
                    text: message,
                }),
                None => {
                    text.push_str(line);
                    text.push('\n');
                    number += 1;
                    last = line;
                }
            }
        }
        text
    }

    /// What the compiler says about it.
    pub fn said(&self) -> Vec<Said> {
        let elsewhere = MemoryFiles::new(std::iter::empty::<(&str, &str)>()).unwrap();
        let overlay =
            if self.with_record { Overlay::same(&self.files) } else { Overlay::with_record(&self.files, &elsewhere) };
        let (files, diagnostics) = match compile(&Session::new(), &overlay, &Scenario::default()) {
            Ok(compiled) => (compiled.files, compiled.diagnostics),
            Err(CompileError::Refused(refusal)) => (refusal.files, refusal.diagnostics),
            Err(error) => panic!("{error}"),
        };
        let text = |id: FileId| {
            let bytes = overlay.read(&files[id.index()], &Limits::STANDARD).unwrap();
            // one character for each byte of what is no text, so that offsets stay what they are
            let ascii = |b: &u8| if b.is_ascii() { char::from(*b) } else { '?' };
            std::str::from_utf8(&bytes).map_or_else(|_| bytes.iter().map(ascii).collect(), str::to_owned)
        };
        let path = |id: FileId| files[id.index()].path.as_str().to_owned();
        let mut said: Vec<Said> = diagnostics.iter().map(|d| found(d, path, text)).collect();
        said.sort();
        said
    }
}

fn found(diagnostic: &Diagnostic, path: impl Fn(FileId) -> String, text: impl Fn(FileId) -> String) -> Said {
    let place = match &diagnostic.place {
        Place::Call => Where::Path("-".to_owned()),
        Place::Path(path) => Where::Path(path.clone()),
        Place::File(id) => Where::Path(path(*id)),
        Place::Span(id, span) => {
            let text = text(*id);
            let cut = (text.get(..span.start as usize), text.get(span.range()));
            let (Some(before), Some(inside)) = cut else {
                panic!("{} {}: {span:?} is not between characters of the file", diagnostic.code, diagnostic.message)
            };
            let start = before.rsplit('\n').next().unwrap().chars().count();
            let end = (!inside.contains('\n')).then(|| start + inside.chars().count());
            let line = before.matches('\n').count() + 1;
            let quote = text.lines().nth(line - 1).unwrap_or_default().to_owned();
            Where::Bytes { path: path(*id), line, columns: (start, end), quote }
        }
        Place::Object(origin) => panic!("{} has no span yet: {origin:?}", diagnostic.code),
    };
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        text.push_str("; help: ");
        text.push_str(help);
    }
    Said { place, code: diagnostic.code.to_string(), text }
}

/// `# ^^^ FW1020 text`: columns (from 0), code and text.
fn expectation(line: &str) -> Option<((usize, Option<usize>), String, String)> {
    let at = line.find(['^', '|'])?;
    if !matches!(line[..at].trim(), "" | "#") {
        return None;
    }
    let (marks, rest) = line[at..].split_once(' ')?;
    let (code, text) = rest.split_once(' ').unwrap_or((rest, ""));
    if !code.starts_with("FW") {
        return None;
    }
    let start = line[..at].chars().count();
    let end = match marks {
        "|" => Some(start),
        "^..." => None,
        carets if carets.chars().all(|c| c == '^') => Some(start + carets.len()),
        _ => return None,
    };
    Some(((start, end), code.to_owned(), text.to_owned()))
}

/// `\xNN` as that byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).unwrap());
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// `\fill{N}` as N characters.
fn fill(text: &str) -> String {
    let (before, rest) = text.split_once("\\fill{").expect("a \\fill{N}");
    let (count, after) = rest.split_once('}').expect("a closing brace");
    format!("{before}{}{after}", "x".repeat(count.parse().unwrap()))
}

/// Holds what was said against what was expected, one to one; what is left of both.
pub fn differences(expected: &[Said], said: &[Said]) -> String {
    let mut left: Vec<&Said> = said.iter().collect();
    let mut text = String::new();
    for want in expected {
        let meant = |s: &&Said| s.code == want.code && s.place.is(&want.place) && s.text.contains(&want.text);
        match left.iter().position(meant) {
            Some(index) => {
                left.remove(index);
            }
            None => text.push_str(&format!("expected, not said:\n{want}\n")),
        }
    }
    left.iter().for_each(|more| text.push_str(&format!("said, not expected:\n{more}\n")));
    text
}
