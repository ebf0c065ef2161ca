//! Paths inside a fleet repository. A value of this type never leaves the root: that is checked once, here.

use std::fmt;
use std::sync::Arc;

/// Longest path in bytes: Linux' `PATH_MAX`, so that every path of a Git tree could also be a folder's.
const MAX_BYTES: usize = 4096;
/// Most components of a path, so that recursion over a tree is bounded.
const MAX_COMPONENTS: usize = 255;

/// A path below the root of a fleet repository: `/` between components, no leading `/`, never `.` or `..`. Empty is the root.
///
/// Ordered by bytes, which is also the order of a Git tree walked in its own order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Arc<str>);

/// Why a text is not a path inside a repository.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
pub enum PathError {
    /// It begins with `/`.
    #[error("the path is absolute; write it relative to the root of the repository")]
    Absolute,
    /// It has a component `.` or `..`.
    #[error("the path has a component `.` or `..`; write it without")]
    Dots,
    /// It is empty, ends in `/`, or has `//`.
    #[error("the path has an empty component")]
    Empty,
    /// A name, where one component is expected, holds a `/`.
    #[error("the name holds a `/`")]
    Slash,
    /// It holds a backslash, which is a separator on other systems.
    #[error("the path holds a backslash; separate components by `/`")]
    Backslash,
    /// It holds NUL, a line break or another control character.
    #[error("the path holds a control character")]
    Control,
    /// It is not UTF-8.
    #[error("the path is not UTF-8")]
    NotUtf8,
    /// It is longer than 4096 bytes or has more than 255 components.
    #[error("the path is longer than 4096 bytes or 255 components")]
    TooLong,
}

fn check_name(name: &str) -> Result<(), PathError> {
    match name {
        "" => return Err(PathError::Empty),
        "." | ".." => return Err(PathError::Dots),
        _ => {}
    }
    if name.contains('\\') {
        return Err(PathError::Backslash);
    }
    if name.chars().any(char::is_control) {
        return Err(PathError::Control);
    }
    Ok(())
}

impl RepoPath {
    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self("".into())
    }

    /// The path that `text` writes. The root has no text: use [`RepoPath::root`].
    ///
    /// # Errors
    /// When the text is absolute, has `.`, `..` or an empty component, a backslash or a control character, or is too long.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        text.split('/').try_for_each(check_name)?;
        Self::bounded(text)
    }

    fn bounded(text: &str) -> Result<Self, PathError> {
        if text.len() > MAX_BYTES || text.split('/').count() > MAX_COMPONENTS {
            return Err(PathError::TooLong);
        }
        Ok(Self(text.into()))
    }

    /// The entry `name` of this directory.
    ///
    /// # Errors
    /// When `name` is not one component of a path, or the result is too long.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        if name.contains('/') {
            return Err(PathError::Slash);
        }
        check_name(name)?;
        if self.is_root() {
            return Self::bounded(name);
        }
        let mut text = String::with_capacity(self.0.len() + 1 + name.len());
        text.push_str(&self.0);
        text.push('/');
        text.push_str(name);
        Self::bounded(&text)
    }

    /// This path below the directory `dir`: `dir/self`.
    ///
    /// # Errors
    /// When the result is too long.
    pub fn below(&self, dir: &Self) -> Result<Self, PathError> {
        match (dir.is_root(), self.is_root()) {
            (true, _) => Ok(self.clone()),
            (_, true) => Ok(dir.clone()),
            _ => Self::bounded(&format!("{dir}/{self}")),
        }
    }

    /// The text; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The names from the root down; none for the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The directory that holds it; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(self.0.rsplit_once('/').map_or_else(Self::root, |(dir, _)| Self(dir.into())))
    }

    /// The last component; `None` for the root.
    #[must_use]
    pub fn file_name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// What follows the last `.` of the last component; `None` without one. `.hidden` has none.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name()?.rsplit_once('.')?;
        (!stem.is_empty()).then_some(extension)
    }

    /// Whether this is `dir` or lies below it, by whole components.
    #[must_use]
    pub fn starts_with(&self, dir: &Self) -> bool {
        dir.is_root() || self.0.strip_prefix(&*dir.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_texts() {
        for (text, why) in [
            ("", PathError::Empty),
            ("/etc/passwd", PathError::Absolute),
            ("a//b", PathError::Empty),
            ("a/", PathError::Empty),
            ("./a", PathError::Dots),
            ("a/./b", PathError::Dots),
            ("a/../b", PathError::Dots),
            ("..", PathError::Dots),
            ("a\\b", PathError::Backslash),
            ("a\0b", PathError::Control),
            ("a/b\nc", PathError::Control),
            ("a\u{85}", PathError::Control),
            ("\u{7f}", PathError::Control),
            (&"x".repeat(4097), PathError::TooLong),
            (&["x"; 256].join("/"), PathError::TooLong),
        ] {
            assert_eq!(RepoPath::new(text), Err(why), "{text:?}");
        }
        for text in ["a", "a/b.yaml", "...", "..a", "a b", "ä/ü.yaml", &["x"; 255].join("/")] {
            assert_eq!(RepoPath::new(text).map(|p| p.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn parts() {
        for (text, parent, name, extension) in [
            ("a", "", "a", None),
            ("a.yaml", "", "a.yaml", Some("yaml")),
            ("a/b/web.yaml.off", "a/b", "web.yaml.off", Some("off")),
            ("a.d/b", "a.d", "b", None),
            ("a/.yaml", "a", ".yaml", None),
            ("a/b.", "a", "b.", Some("")),
        ] {
            let path = RepoPath::new(text).unwrap();
            assert_eq!(path.parent().unwrap().as_str(), parent, "{text}");
            assert_eq!(path.file_name(), Some(name), "{text}");
            assert_eq!(path.extension(), extension, "{text}");
            assert_eq!(path.parent().unwrap().join(name), Ok(path.clone()), "{text}");
        }
        let root = RepoPath::root();
        assert_eq!((root.parent(), root.file_name(), root.extension()), (None, None, None));
        assert_eq!(root.components().count(), 0);
        assert_eq!(root.join("a/b"), Err(PathError::Slash));
        assert_eq!(root.join(".."), Err(PathError::Dots));
    }

    #[test]
    fn prefixes_are_whole_components() {
        let path = RepoPath::new("teams/a/x.yaml").unwrap();
        for (dir, expected) in
            [("teams", true), ("teams/a", true), ("teams/a/x.yaml", true), ("team", false), ("teams/ab", false)]
        {
            assert_eq!(path.starts_with(&RepoPath::new(dir).unwrap()), expected, "{dir}");
        }
        assert!(path.starts_with(&RepoPath::root()));
        assert!(!RepoPath::root().starts_with(&path));
        assert_eq!(path.below(&RepoPath::new("sub").unwrap()).unwrap().as_str(), "sub/teams/a/x.yaml");
        assert_eq!(path.below(&RepoPath::root()).unwrap(), path);
    }
}
