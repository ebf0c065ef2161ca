//! The files of a record as a decision changes them: `placements/` and `state/`, and nothing else.
//!
//! Invariants: a file that is not changed keeps its bytes; the difference of two records is exactly what a commit edits.

use std::collections::BTreeMap;

use fleetwright_compiler::parse::{self, DocBody, FileForm};
use fleetwright_compiler::placements::{self, RecordDoc};
use fleetwright_compiler::source::{
    Contents, DirEntry, EntryKind, FileClass, FilesError, FleetFiles, Limits, MemoryFiles, RepoPath,
};
use fleetwright_compiler::yaml;
use serde::Serialize;

/// Folders at the root that hold the record.
pub const RECORD_FOLDERS: [&str; 2] = ["placements", "state"];

/// Deepest folder of a record; `state/moves/<team>/<app>.yaml` has three.
const DEPTH: usize = 16;

/// The files of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFiles {
    files: BTreeMap<RepoPath, Vec<u8>>,
}

impl RecordFiles {
    /// The record of a tree.
    ///
    /// # Errors
    /// When it cannot be read, or holds what no record does (links, files of many megabytes).
    pub fn read(tree: &dyn FleetFiles) -> Result<Self, FilesError> {
        let mut record = Self::default();
        let root = RepoPath::root();
        for entry in tree.dir(&root, &tree.root()?)? {
            if RECORD_FOLDERS.contains(&&*entry.name) {
                record.add(tree, &root, &entry, 0)?;
            }
        }
        Ok(record)
    }

    fn add(&mut self, tree: &dyn FleetFiles, at: &RepoPath, entry: &DirEntry, depth: usize) -> Result<(), FilesError> {
        let wrong = |path: &RepoPath, what: &str| FilesError::new(path.as_str(), what);
        let path = at.join(&entry.name).map_err(|e| wrong(at, &e.to_string()))?;
        match entry.kind {
            EntryKind::Dir if depth < DEPTH => {
                tree.dir(&path, &entry.id)?.iter().try_for_each(|entry| self.add(tree, &path, entry, depth + 1))
            }
            EntryKind::File => match tree.read_at_most(&path, &entry.id, Limits::STANDARD.file_bytes)? {
                Contents::Bytes(bytes) => {
                    self.files.insert(path, bytes.to_vec());
                    Ok(())
                }
                Contents::TooLarge(bytes) => Err(wrong(&path, &format!("{bytes} bytes are too many for a record"))),
            },
            EntryKind::Dir | EntryKind::Link | EntryKind::Submodule | EntryKind::Special | EntryKind::BadName => {
                Err(wrong(&path, "a record holds plain files only; remove it from the live branch"))
            }
        }
    }

    /// All files, ascending by path.
    pub fn iter(&self) -> impl Iterator<Item = (&RepoPath, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path, bytes.as_slice()))
    }

    /// A file.
    #[must_use]
    pub fn get(&self, path: &RepoPath) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Writes a file.
    pub fn put(&mut self, path: RepoPath, bytes: Vec<u8>) {
        self.files.insert(path, bytes);
    }

    /// Writes a file of `state/`, unless it already says the same.
    pub fn put_state<T: Serialize>(&mut self, path: RepoPath, doc: &T) {
        let text = placements::state_text(doc);
        self.put(path, text.into_bytes());
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &RepoPath) {
        self.files.remove(path);
    }

    /// What leads from an earlier record to this one: files with their new content, `None` where they are gone.
    #[must_use]
    pub fn edits_since(&self, before: &Self) -> BTreeMap<RepoPath, Option<Vec<u8>>> {
        let gone = before.files.keys().filter(|path| !self.files.contains_key(*path));
        let gone = gone.map(|path| (path.clone(), None));
        let changed = self.files.iter().filter(|(path, bytes)| before.files.get(*path) != Some(*bytes));
        gone.chain(changed.map(|(path, bytes)| (path.clone(), Some(bytes.clone())))).collect()
    }

    /// As the compiler takes it.
    #[must_use]
    pub fn tree(&self) -> MemoryFiles {
        self.files.iter().fold(MemoryFiles::default(), |tree, (path, bytes)| tree.with(path, bytes))
    }

    /// The documents of a file; `None` where it cannot be read. A compile says what is wrong with it.
    #[must_use]
    pub fn docs(&self, path: &RepoPath) -> Option<Vec<RecordDoc>> {
        documents(path, self.get(path)?)
    }
}

/// The documents of a file of the record; `None` where it cannot be read.
#[must_use]
pub fn documents(path: &RepoPath, bytes: &[u8]) -> Option<Vec<RecordDoc>> {
    let class = FileClass::of(path)?;
    let ir = parse::parse(bytes, FileForm::of(class, path.as_str()), &yaml::Limits::default());
    if ir.broken {
        return None;
    }
    let docs = ir.docs.into_iter().map(|doc| match doc.body {
        DocBody::Record(doc) => Some(doc),
        DocBody::Intent(_) | DocBody::Manifest(_) => None,
    });
    docs.collect()
}
