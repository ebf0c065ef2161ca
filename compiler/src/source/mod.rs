//! What is read: a tree of files behind one trait, one filter for every kind of tree, and the overlay of intents and record.
//!
//! Invariant: an equal directory id is never visited twice by a session, and two trees with equal bytes give equal ids
//! whatever they are made of.

use std::sync::Arc;

use crate::base::{ContentId, SmolStr};

/// A path below the root of a fleet repository: `/` between components, no leading `/`, never `.` or `..`. Empty is the root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RepoPath(Arc<str>);

/// What a directory entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A regular file, executable or not.
    File,
    /// A directory.
    Dir,
    /// A symbolic link; followed only while it stays inside the root.
    Link,
    /// A Git submodule: refused with a message.
    Submodule,
}

/// One entry of a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// Its name, one path component.
    pub name: Box<str>,
    /// What it is.
    pub kind: EntryKind,
    /// What it holds.
    pub id: ContentId,
}

/// A tree of files: in memory, a folder, or a Git tree. Entries need no order; the reader sorts them.
pub trait FleetFiles: Sync {
    /// The id of the root directory.
    ///
    /// # Errors
    /// When the tree cannot be read at all.
    fn root(&self) -> Result<ContentId, FilesError>;
    /// The entries of a directory.
    ///
    /// # Errors
    /// When it cannot be read. Never an empty list instead.
    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError>;
    /// The bytes of a file, or the target of a link.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError>;
}

/// Reading failed: the environment's fault, exit code 5.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot read {path}: {reason}")]
pub struct FilesError {
    /// What was to be read.
    pub path: SmolStr,
    /// Why it failed, in the words of the layer below.
    pub reason: String,
}

impl RepoPath {
    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self("".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
