//! Where a value lies inside a document: the steps from its root.
//!
//! Written as a JSON pointer (RFC 6901) wherever a person writes one, and in dotted form in messages. A pointer token
//! that is a canonical decimal number becomes an [`Seg::Index`]; whether it means an item of a list or a key of a map is
//! decided by the value it meets, so `parse` and `Display` are inverse and nothing is lost.

use std::fmt;

use smol_str::{SmolStr, ToSmolStr};

/// One step: into a map or into a list.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Seg {
    /// The value of a key. `-` at the end of a pointer means behind the last item of a list.
    Key(SmolStr),
    /// The item of a list, from 0; or a key that is a decimal number.
    Index(usize),
}

/// The steps from the root of a document to a value. Empty is the root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Path(pub Vec<Seg>);

/// A text that is no JSON pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathError {
    /// It is not empty and does not begin with `/`.
    #[error("a JSON pointer begins with `/`, as in `/spec/replicas`")]
    NoSlash,
    /// A `~` that is not followed by `0` or `1`.
    #[error("in a JSON pointer `~` is written `~0` and a `/` inside a key `~1`")]
    Escape,
}

impl Path {
    /// The path to the document itself.
    #[must_use]
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// Reads a JSON pointer.
    ///
    /// # Errors
    /// When the text is not one.
    pub fn parse(pointer: &str) -> Result<Self, PathError> {
        if pointer.is_empty() {
            return Ok(Self::root());
        }
        let tokens = pointer.strip_prefix('/').ok_or(PathError::NoSlash)?;
        tokens.split('/').map(Seg::parse).collect::<Result<_, _>>().map(Self)
    }

    /// The path made of these keys.
    pub fn of_keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self(keys.into_iter().map(|key| Seg::Key(key.into())).collect())
    }

    /// This path and one step more.
    #[must_use]
    pub fn join(&self, seg: Seg) -> Self {
        let mut segs = Vec::with_capacity(self.0.len() + 1);
        segs.extend_from_slice(&self.0);
        segs.push(seg);
        Self(segs)
    }

    /// The last step and the path it starts from; `None` for the root.
    #[must_use]
    pub fn split_last(&self) -> Option<(&Seg, &[Seg])> {
        self.0.split_last()
    }

    /// Whether it is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The form for messages: `spec.containers[0].args`; a key that is no plain word is quoted:
    /// `metadata.labels["app.kubernetes.io/name"]`. The root is `the object`.
    #[must_use]
    pub fn dotted(&self) -> String {
        if self.0.is_empty() {
            return "the object".to_owned();
        }
        let mut text = String::new();
        for seg in &self.0 {
            match seg {
                Seg::Index(index) => {
                    text.push('[');
                    text.push_str(&index.to_smolstr());
                    text.push(']');
                }
                Seg::Key(key) if is_word(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(key);
                }
                Seg::Key(key) => {
                    text.push_str("[\"");
                    text.push_str(key);
                    text.push_str("\"]");
                }
            }
        }
        text
    }
}

impl Seg {
    fn parse(token: &str) -> Result<Self, PathError> {
        if is_canonical_decimal(token)
            && let Ok(index) = token.parse()
        {
            return Ok(Self::Index(index));
        }
        if !token.contains('~') {
            return Ok(Self::Key(token.into()));
        }
        let mut key = String::with_capacity(token.len());
        let mut chars = token.chars();
        while let Some(c) = chars.next() {
            match c {
                '~' => match chars.next() {
                    Some('0') => key.push('~'),
                    Some('1') => key.push('/'),
                    _ => return Err(PathError::Escape),
                },
                c => key.push(c),
            }
        }
        Ok(Self::Key(key.into()))
    }

    /// The step as the key of a map.
    #[must_use]
    pub fn as_key(&self) -> SmolStr {
        match self {
            Self::Key(key) => key.clone(),
            Self::Index(index) => index.to_smolstr(),
        }
    }
}

fn is_canonical_decimal(token: &str) -> bool {
    let bytes = token.as_bytes();
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit) && (bytes.len() == 1 || bytes.first() != Some(&b'0'))
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'$')
}

impl From<&str> for Seg {
    fn from(key: &str) -> Self {
        Self::Key(key.into())
    }
}

impl From<usize> for Seg {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for seg in &self.0 {
            f.write_str("/")?;
            match seg {
                Seg::Index(index) => write!(f, "{index}")?,
                Seg::Key(key) if key.contains(['~', '/']) => f.write_str(&key.replace('~', "~0").replace('/', "~1"))?,
                Seg::Key(key) => f.write_str(key)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Seg {
        Seg::Key(text.into())
    }

    #[test]
    fn pointers() {
        let facts: &[(&str, &[Seg], &str)] = &[
            ("", &[], "the object"),
            ("/", &[key("")], "[\"\"]"),
            ("/spec/replicas", &[key("spec"), key("replicas")], "spec.replicas"),
            (
                "/spec/containers/0/args/-",
                &[key("spec"), key("containers"), Seg::Index(0), key("args"), key("-")],
                "spec.containers[0].args.-",
            ),
            ("/a~1b/m~0n/~01", &[key("a/b"), key("m~n"), key("~1")], "[\"a/b\"][\"m~n\"][\"~1\"]"),
            ("/01/-1/+1", &[key("01"), key("-1"), key("+1")], "01.-1[\"+1\"]"),
            ("/99999999999999999999999", &[key("99999999999999999999999")], "99999999999999999999999"),
        ];
        for (pointer, segs, dotted) in facts {
            let path = Path::parse(pointer).unwrap();
            assert_eq!(path.0, *segs, "{pointer}");
            assert_eq!(path.to_string(), *pointer);
            assert_eq!(path.dotted(), *dotted);
        }
    }

    #[test]
    fn no_pointers() {
        let facts = [
            ("a", PathError::NoSlash),
            ("a/b", PathError::NoSlash),
            (".spec.replicas", PathError::NoSlash),
            ("/a~", PathError::Escape),
            ("/a~2b", PathError::Escape),
        ];
        for (pointer, error) in facts {
            assert_eq!(Path::parse(pointer), Err(error), "{pointer}");
        }
    }

    #[test]
    fn steps() {
        let path = Path::parse("/spec").unwrap().join(3.into()).join("name".into());
        assert_eq!(path.to_string(), "/spec/3/name");
        let (last, parent) = path.split_last().unwrap();
        assert_eq!((last, parent.len()), (&key("name"), 2));
        assert_eq!(Path::root().split_last(), None);
        assert_eq!(Seg::Index(7).as_key(), "7");
    }
}
