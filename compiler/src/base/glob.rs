//! Patterns for paths: `*` and `?` inside one folder, `**` any number of folders, `[a-z]` and `[!a-z]` one character.
//!
//! Invariants: matching takes at most the product of the lengths of pattern and path, whatever the pattern, because it
//! goes back to the last `*` of a name, and the last `**` of a path, only; nothing but `**` crosses a `/`. A character
//! with a meaning stands for itself in brackets (`[*]`).

/// A pattern for whole paths, read once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob(Vec<Part>);

/// What one folder or file of a path is held against.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// `**`: any number of folders.
    Folders,
    /// One name.
    Name(Vec<Piece>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    /// That character.
    Char(char),
    /// `?`
    AnyChar,
    /// `*`: any number of characters.
    AnyText,
    /// `[a-z]`, or with `!` every other character. Both ends of a range belong to it.
    OneOf { negated: bool, ranges: Vec<(char, char)> },
}

/// Why a text is no pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GlobError {
    /// `[` without its `]`.
    #[error("a `[` has no `]` after it in the same name")]
    Bracket,
    /// `**` beside other characters, or more than two.
    #[error("`**` stands for whole folders, so it must be alone between two `/`")]
    Folders,
}

impl Glob {
    /// Reads a pattern for the paths below a folder, whose own name means nothing but itself. `.` and `..` are resolved.
    /// `None` where the pattern leaves the root.
    ///
    /// # Errors
    /// When the text is no pattern.
    pub fn below(folder: &str, pattern: &str) -> Result<Option<Self>, GlobError> {
        let literal = |name: &str| Part::Name(name.chars().map(Piece::Char).collect());
        let mut parts: Vec<Part> = folder.split('/').filter(|name| !name.is_empty()).map(literal).collect();
        let mut leaves = pattern.starts_with('/');
        for name in pattern.split('/') {
            match name {
                "" | "." => {}
                ".." => leaves |= parts.pop().is_none(),
                "**" => parts.push(Part::Folders),
                name => parts.push(Part::Name(pieces(name)?)),
            }
        }
        // at the end it stands for all that lies below
        if parts.last() == Some(&Part::Folders) {
            parts.push(Part::Name(vec![Piece::AnyText]));
        }
        Ok((!leaves).then_some(Self(parts)))
    }

    /// Whether it can match nothing outside of a folder.
    #[must_use]
    pub fn stays_in(&self, folder: &str) -> bool {
        let names: Vec<&str> = folder.split('/').collect();
        let is = |part: &Part, name: &str| match part {
            Part::Folders => false,
            Part::Name(pieces) => pieces.iter().eq(name.chars().map(Piece::Char).collect::<Vec<_>>().iter()),
        };
        self.0.len() > names.len() && self.0.iter().zip(names).all(|(part, name)| is(part, name))
    }

    /// Whether it matches a path as a whole.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        wildcards(
            &self.0,
            &names,
            |part| *part == Part::Folders,
            |part, name| match part {
                Part::Folders => false,
                Part::Name(pieces) => name_matches(pieces, name),
            },
        )
    }
}

fn name_matches(pieces: &[Piece], name: &str) -> bool {
    let chars: Vec<char> = name.chars().collect();
    wildcards(
        pieces,
        &chars,
        |piece| *piece == Piece::AnyText,
        |piece, c| match piece {
            Piece::Char(wanted) => wanted == c,
            Piece::AnyChar => true,
            Piece::AnyText => false,
            Piece::OneOf { negated, ranges } => ranges.iter().any(|(low, high)| (low..=high).contains(&c)) != *negated,
        },
    )
}

/// Whether items match a pattern some of whose parts stand for any number of items. Where a match fails, the last such
/// part takes one item more; an earlier one never need, since the last could take what it would give up.
fn wildcards<P, I>(pattern: &[P], items: &[I], any: impl Fn(&P) -> bool, fits: impl Fn(&P, &I) -> bool) -> bool {
    let (mut at, mut item) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while let Some(this) = items.get(item) {
        match pattern.get(at) {
            Some(part) if any(part) => {
                last = Some((at, item));
                at += 1;
            }
            Some(part) if fits(part, this) => (at, item) = (at + 1, item + 1),
            _ => match &mut last {
                Some((wildcard, taken)) => {
                    *taken += 1;
                    (at, item) = (*wildcard + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(any)
}

fn pieces(name: &str) -> Result<Vec<Piece>, GlobError> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        pieces.push(match c {
            '*' if rest.starts_with('*') => return Err(GlobError::Folders),
            '*' => Piece::AnyText,
            '?' => Piece::AnyChar,
            '[' => {
                let (piece, after) = one_of(rest)?;
                rest = after;
                piece
            }
            c => Piece::Char(c),
        });
    }
    Ok(pieces)
}

/// What stands in brackets, and the text after them. A `]` right after the bracket, or after `[!`, is one of the
/// characters.
fn one_of(text: &str) -> Result<(Piece, &str), GlobError> {
    let (negated, inside) = text.strip_prefix('!').map_or((false, text), |inside| (true, inside));
    let first = inside.chars().next().map_or(0, char::len_utf8);
    let end = inside.get(first..).and_then(|more| more.find(']')).ok_or(GlobError::Bracket)? + first;
    let (members, after) = inside.split_at_checked(end).ok_or(GlobError::Bracket)?;
    let members: Vec<char> = members.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = members.as_slice();
    loop {
        rest = match rest {
            [low, '-', high, more @ ..] => {
                ranges.push((*low, *high));
                more
            }
            [one, more @ ..] => {
                ranges.push((*one, *one));
                more
            }
            [] => break,
        };
    }
    Ok((Piece::OneOf { negated, ranges }, after.strip_prefix(']').unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(pattern: &str) -> Glob {
        Glob::below("teams/a/web", pattern).unwrap().unwrap()
    }

    #[test]
    fn paths_that_match() {
        let facts: &[(&str, &[&str], &[&str])] = &[
            ("x.yaml", &["x.yaml"], &["y.yaml", "b/x.yaml", "xayaml", "x.yaml/z"]),
            ("./b/../x.yaml", &["x.yaml"], &["b/x.yaml"]),
            ("*.yaml", &["x.yaml", ".yaml", ".x.yaml"], &["b/x.yaml", "x.yml", "x.yaml.bak"]),
            ("*", &["x", "x.yaml"], &["b/x"]),
            ("a*b*c", &["abc", "aXbXc", "abbcc", "abcabc"], &["ab", "acb", "abcd", "a/b/c"]),
            ("?.yaml", &["x.yaml", "ü.yaml"], &["xx.yaml", ".yaml"]),
            ("**/x.yaml", &["x.yaml", "b/x.yaml", "b/c/x.yaml"], &["b/y.yaml", "x.yaml/b"]),
            ("b/**/x.yaml", &["b/x.yaml", "b/c/d/x.yaml"], &["x.yaml", "c/b/x.yaml"]),
            ("**/b/**/c/*.yaml", &["b/c/x.yaml", "b/b/d/c/c/x.yaml"], &["c/b/x.yaml", "b/c/d/x.yaml"]),
            ("b/**", &["b/x", "b/c/x"], &["b", "c/x"]),
            ("**", &["x", "b/x"], &[]),
            ("[ab]x", &["ax", "bx"], &["cx", "x", "abx"]),
            ("[a-c]x", &["ax", "bx", "cx"], &["dx", "-x"]),
            ("[!a-c]x", &["dx", "-x"], &["ax", "x"]),
            ("[]x][!]]", &["]a", "xa"], &["]]", "aa"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[*][?][[]", &["*?["], &["abc"]),
            ("{a,b}", &["{a,b}"], &["a", "b"]),
        ];
        for (pattern, good, bad) in facts {
            for path in *good {
                assert!(glob(pattern).matches(&format!("teams/a/web/{path}")), "{pattern} {path}");
            }
            for path in *bad {
                assert!(!glob(pattern).matches(&format!("teams/a/web/{path}")), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn the_folder_means_itself() {
        let glob = Glob::below("teams/a/[w]*", "*.yaml").unwrap().unwrap();
        assert!(glob.matches("teams/a/[w]*/x.yaml"));
        assert!(!glob.matches("teams/a/web/x.yaml"));
    }

    #[test]
    fn patterns_that_leave() {
        for (pattern, stays) in [
            ("base/*.yaml", Some(true)),
            ("../shared/**/*.yaml", Some(true)),
            ("../../b/*.yaml", Some(false)),
            ("../../**/x.yaml", Some(false)),
            ("../../[a]/x.yaml", Some(false)),
            ("..", Some(false)),
            ("../../../../x", None),
            ("/x", None),
        ] {
            let glob = Glob::below("teams/a/web", pattern).unwrap();
            assert_eq!(glob.map(|glob| glob.stays_in("teams/a")), stays, "{pattern}");
        }
    }

    #[test]
    fn texts_that_are_no_pattern() {
        for (pattern, error) in [
            ("[.yaml", GlobError::Bracket),
            ("[]", GlobError::Bracket),
            ("[!]", GlobError::Bracket),
            ("[a/b]", GlobError::Bracket),
            ("a**", GlobError::Folders),
            ("**a", GlobError::Folders),
            ("b/***", GlobError::Folders),
        ] {
            assert_eq!(Glob::below("teams/a/web", pattern), Err(error), "{pattern}");
        }
    }

    /// Trying every length for every `*` takes longer than the age of the universe here.
    #[test]
    fn many_wildcards_cost_no_more_than_their_number() {
        let stars = format!("{}b", "*a".repeat(500));
        assert!(!glob(&stars).matches(&format!("teams/a/web/{}", "a".repeat(5_000))));
        assert!(glob(&stars).matches(&format!("teams/a/web/{}b", "a".repeat(5_000))));
        let folders = format!("{}b", "**/a/".repeat(50));
        assert!(!glob(&folders).matches(&format!("teams/a/web/{}c", "a/".repeat(500))));
        assert!(glob(&folders).matches(&format!("teams/a/web/{}b", "a/".repeat(500))));
    }
}
