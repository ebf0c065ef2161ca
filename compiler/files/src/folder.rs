//! A folder on disk. It is read once, when opened: names and ids are those of that moment, and bytes read later are
//! checked against them. So one compile sees one state, and an edit in between is an error, not a mixture.

mod scan;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetwright_compiler::base::ContentId;
use fleetwright_compiler::source::{Contents, DirEntry, EntryKind, FilesError, FleetFiles, RepoPath};

use crate::ids::blob_id;

/// Scans tried while files come and go.
const SCAN_ATTEMPTS: usize = 4;

/// A folder as a tree of files.
///
/// At its root it shows only what a fleet repository has; below, everything but `.git` and other directories whose name
/// begins with a dot. Empty directories do not count, as in Git. A directory with a `.git` of its own is a submodule.
#[derive(Clone, Debug)]
pub struct FolderFiles {
    root: PathBuf,
    tree: Arc<Dir>,
}

#[derive(Debug)]
struct Dir {
    id: ContentId,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Box<str>,
    kind: EntryKind,
    executable: bool,
    id: ContentId,
    /// Of a directory, unless it is too deep to be looked at.
    dir: Option<Arc<Dir>>,
}

impl FolderFiles {
    /// Reads a folder: every name, and the content of every file for its id.
    ///
    /// # Errors
    /// When it is no folder, something in it cannot be read, or it keeps changing meanwhile.
    pub fn open(path: &Path) -> Result<Self, FilesError> {
        let root = fs::canonicalize(path).map_err(|e| error(path, &e))?;
        Self::scan(root, None, &[])
    }

    /// The same folder after these paths (files, or directories with all that is below) changed, appeared or went:
    /// nothing else is looked at again. Paths missing here stay as they were known, and reading them is an error.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn after(&self, changed: &[RepoPath]) -> Result<Self, FilesError> {
        Self::scan(self.root.clone(), Some(&self.tree), changed)
    }

    /// The folder, without symbolic links.
    #[must_use]
    pub fn root_dir(&self) -> &Path {
        &self.root
    }

    fn scan(root: PathBuf, known: Option<&Arc<Dir>>, changed: &[RepoPath]) -> Result<Self, FilesError> {
        let mut attempt = 1;
        loop {
            match scan::scan(&root, known, changed) {
                Ok(tree) => return Ok(Self { root, tree }),
                Err(scan::Failure::Files(error)) => return Err(error),
                Err(scan::Failure::Changed(path)) if attempt == SCAN_ATTEMPTS => return Err(changed_meanwhile(&path)),
                Err(scan::Failure::Changed(_)) => attempt += 1,
            }
        }
    }

    fn on_disk(&self, path: &RepoPath) -> PathBuf {
        let mut full = self.root.clone();
        full.extend(path.components());
        full
    }

    /// The entry at a path, provided it has this id.
    fn entry(&self, path: &RepoPath, id: &ContentId) -> Result<Entry, FilesError> {
        let unknown = || FilesError::new(path.as_str(), "there was no such entry when the folder was read");
        let (parent, name) = (path.parent().ok_or_else(unknown)?, path.file_name().ok_or_else(unknown)?);
        let entry = self.directory(&parent)?.get(name).cloned().ok_or_else(unknown)?;
        if entry.id == *id { Ok(entry) } else { Err(changed_meanwhile(&self.on_disk(path))) }
    }

    fn directory(&self, path: &RepoPath) -> Result<&Dir, FilesError> {
        let mut dir = &*self.tree;
        for name in path.components() {
            dir = dir.get(name).and_then(|entry| entry.dir.as_deref()).ok_or_else(|| {
                FilesError::new(path.as_str(), "no directory when the folder was read, or too deep to be looked at")
            })?;
        }
        Ok(dir)
    }

    fn bytes(&self, path: &RepoPath, id: &ContentId, max_bytes: u64) -> Result<Contents, FilesError> {
        let entry = self.entry(path, id)?;
        let full = self.on_disk(path);
        let bytes = match entry.kind {
            EntryKind::File => match scan::read_file(&full, max_bytes).map_err(|e| error(&full, &e))? {
                scan::FileBytes::All { bytes, .. } => bytes,
                scan::FileBytes::TooLarge { len, .. } => return Ok(Contents::TooLarge(len)),
                scan::FileBytes::Replaced => return Err(changed_meanwhile(&full)),
            },
            EntryKind::Link => {
                scan::os_bytes(fs::read_link(&full).map_err(|e| error(&full, &e))?.as_os_str()).into_owned()
            }
            EntryKind::Dir | EntryKind::Submodule | EntryKind::Special | EntryKind::BadName => {
                return Err(FilesError::new(path.as_str(), "not a file"));
            }
        };
        if blob_id(&full, &bytes)? != *id {
            return Err(changed_meanwhile(&full));
        }
        let len = bytes.len() as u64;
        Ok(if len > max_bytes { Contents::TooLarge(len) } else { Contents::Bytes(bytes.into()) })
    }
}

impl Dir {
    fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok().and_then(|i| self.entries.get(i))
    }
}

impl FleetFiles for FolderFiles {
    fn root(&self) -> Result<ContentId, FilesError> {
        Ok(self.tree.id)
    }

    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError> {
        let dir = self.directory(path)?;
        if dir.id != *id {
            return Err(changed_meanwhile(&self.on_disk(path)));
        }
        Ok(dir.entries.iter().map(|e| DirEntry { name: e.name.clone(), kind: e.kind, id: e.id }).collect())
    }

    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError> {
        match self.bytes(path, id, u64::MAX)? {
            Contents::Bytes(bytes) => Ok(bytes),
            Contents::TooLarge(len) => Err(FilesError::new(path.as_str(), format!("{len} bytes are too many"))),
        }
    }

    fn read_at_most(&self, path: &RepoPath, id: &ContentId, max_bytes: u64) -> Result<Contents, FilesError> {
        self.bytes(path, id, max_bytes)
    }
}

fn error(path: &Path, e: &io::Error) -> FilesError {
    FilesError::new(path.to_string_lossy(), e.to_string())
}

fn changed_meanwhile(path: &Path) -> FilesError {
    FilesError::new(path.to_string_lossy(), "it changed while the folder was being read; run the command again")
}
