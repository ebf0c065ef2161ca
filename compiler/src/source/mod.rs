//! What is read: a tree of files behind one trait, one filter for every kind of tree, and the overlay of intents and record.
//!
//! Invariants:
//! * equal ids mean equal content, whatever the tree is made of, so an equal directory is never visited twice by a
//!   session and what was parsed from a blob serves every file with that blob;
//! * equal content means equal ids among Git trees and folders (Git's own ids). Trees in memory have ids of their own
//!   kind: nothing here knows SHA-1, and a session that mixes both only loses sharing;
//! * what is read does not depend on the kind of tree, on the order of its entries, or on ignore rules;
//! * failing to read is an error, never an empty list; what the repository did wrong is a [`SourceFinding`].
//!
//! A new kind of tree implements [`FleetFiles`] outside this crate; a new top-level directory is a [`FileClass`].

mod cache;
mod links;
mod listing;
mod memory;
mod overlay;
mod path;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use crate::base::{ContentId, SmolStr};

pub use cache::WalkCache;
pub use listing::{
    FileClass, FileOrigin, Limits, Listing, SourceFile, SourceFinding, SourceFindingKind, has_read_extension,
    is_seen_at_root,
};
pub use memory::MemoryFiles;
pub use overlay::{Overlay, ReadError, RecordSource};
pub use path::{PathError, RepoPath};
pub use walk::{walk, walk_with};

/// What a directory entry is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    /// A regular file, executable or not.
    File,
    /// A directory.
    Dir,
    /// A symbolic link; followed only while it stays inside the root.
    Link,
    /// A Git submodule: refused with a message.
    Submodule,
    /// Neither file, directory nor link: a pipe, a socket, a device. Never opened.
    Special,
    /// An entry whose name is not UTF-8; [`DirEntry::name`] shows the other bytes as `\xNN`. Never opened.
    BadName,
}

/// One entry of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirEntry {
    /// Its name, one path component.
    pub name: Box<str>,
    /// What it is.
    pub kind: EntryKind,
    /// What it holds.
    pub id: ContentId,
}

/// The bytes of a file, or their number when there are more than were asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// All of them.
    Bytes(Arc<[u8]>),
    /// Too many: this many.
    TooLarge(u64),
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

    /// The bytes of a file, or the target of a link. They are those that `id` names.
    ///
    /// # Errors
    /// When it cannot be read, or no longer holds what `id` names.
    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError>;

    /// As [`read`](Self::read), for a file of at most `max_bytes`; a tree that knows the size beforehand does not load a
    /// larger one.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_at_most(&self, path: &RepoPath, id: &ContentId, max_bytes: u64) -> Result<Contents, FilesError> {
        let bytes = self.read(path, id)?;
        let len = bytes.len() as u64;
        Ok(if len > max_bytes { Contents::TooLarge(len) } else { Contents::Bytes(bytes) })
    }
}

/// Reading failed: the environment's fault, exit code 5.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot read {path}: {reason}")]
pub struct FilesError {
    /// What was to be read.
    pub path: SmolStr,
    /// Why it failed, in the words of the layer below.
    pub reason: String,
}

impl FilesError {
    /// An error about a path.
    pub fn new(path: impl AsRef<str>, reason: impl Into<String>) -> Self {
        Self { path: SmolStr::new(path), reason: reason.into() }
    }
}

/// The entry at a path, links not followed and no filter applied; `None` when there is none. For the root, use
/// [`FleetFiles::root`].
///
/// # Errors
/// When a directory on the way cannot be read.
pub fn find(files: &dyn FleetFiles, path: &RepoPath) -> Result<Option<DirEntry>, FilesError> {
    let mut at = RepoPath::root();
    let mut id = files.root()?;
    let mut found = None;
    for name in path.components() {
        if found.as_ref().is_some_and(|e: &DirEntry| e.kind != EntryKind::Dir) {
            return Ok(None);
        }
        let Some(entry) = files.dir(&at, &id)?.into_iter().find(|e| &*e.name == name) else { return Ok(None) };
        id = entry.id;
        at = at.join(name).map_err(|e| FilesError::new(path.as_str(), e.to_string()))?;
        found = Some(entry);
    }
    Ok(found)
}
