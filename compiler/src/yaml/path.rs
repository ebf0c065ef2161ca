//! Where a value is inside a document, written as a JSON pointer (RFC 6901).

use std::fmt;

use smol_str::SmolStr;

/// One step into a mapping or a sequence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathSeg {
    /// The value under this key. In a sequence it matches nothing.
    Key(SmolStr),
    /// The element at this position, from 0. In a mapping it is the key with these digits.
    Index(u32),
}

/// Steps from the root of a document to a value; empty is the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<PathSeg>);

impl Path {
    /// Reads a JSON pointer: `""` or `/`-separated segments with `~0` for `~` and `~1` for `/`. A segment of digits
    /// without leading zeros that fits 32 bits is an index (which also finds a key of these digits). `None` if the text is not a pointer.
    #[must_use]
    pub fn parse(pointer: &str) -> Option<Self> {
        Some(Self(segments(pointer)?.map(|segment| segment_of(&segment)).collect()))
    }

    /// This path and one step more.
    #[must_use]
    pub fn join(&self, segment: PathSeg) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

/// The unescaped segments of a JSON pointer, or `None` if it is neither empty nor begins with `/`.
pub(super) fn segments(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let rest = match pointer.strip_prefix('/') {
        Some(rest) => Some(rest),
        None if pointer.is_empty() => None,
        None => return None,
    };
    Some(rest.into_iter().flat_map(|rest| rest.split('/')).map(|raw| raw.replace("~1", "/").replace("~0", "~")))
}

/// `text` as a position in a sequence, if it is written as JSON pointers write one.
pub(super) fn index_of(text: &str) -> Option<u32> {
    let canonical = text == "0" || text.bytes().next().is_some_and(|b| b.is_ascii_digit() && b != b'0');
    if canonical && text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn segment_of(text: &str) -> PathSeg {
    index_of(text).map_or_else(|| PathSeg::Key(text.into()), PathSeg::Index)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.0 {
            match segment {
                PathSeg::Index(index) => write!(f, "/{index}")?,
                PathSeg::Key(key) if key.contains(['~', '/']) => {
                    write!(f, "/{}", key.replace('~', "~0").replace('/', "~1"))?;
                }
                PathSeg::Key(key) => write!(f, "/{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_round_trip() {
        for (pointer, expected) in [
            ("", vec![]),
            ("/", vec![PathSeg::Key("".into())]),
            (
                "/spec/containers/0",
                vec![PathSeg::Key("spec".into()), PathSeg::Key("containers".into()), PathSeg::Index(0)],
            ),
            ("/a~1b/m~0n/~01", vec![PathSeg::Key("a/b".into()), PathSeg::Key("m~n".into()), PathSeg::Key("~1".into())]),
            ("/01/-1/10", vec![PathSeg::Key("01".into()), PathSeg::Key("-1".into()), PathSeg::Index(10)]),
            ("/99999999999", vec![PathSeg::Key("99999999999".into())]),
        ] {
            let path = Path::parse(pointer).unwrap();
            assert_eq!(path, Path(expected), "{pointer}");
            assert_eq!(path.to_string(), pointer);
        }
        assert_eq!(Path::parse("spec"), None);
    }
}
