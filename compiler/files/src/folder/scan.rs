//! One pass over a folder: list everything, hash the files on all cores, then the directories from the bottom up.
//!
//! Symbolic links are listed, never followed; a directory or file that turns into one between listing and opening is
//! noticed, and the pass is repeated.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fleetwright_compiler::base::ContentId;
use fleetwright_compiler::source::{EntryKind, FilesError, RepoPath, is_seen_at_root};
use git2::{ObjectType, Oid};

use super::{Dir, Entry, error};
use crate::ids::{TreeEntry, blob_id, content_id, tree_id};

/// Directories below one another that are looked at: more than any listing asks for, and few enough for any stack.
const MAX_DEPTH: usize = 128;
/// Files up to this size are hashed from memory; larger ones, which are never read whole, by libgit2 in pieces.
const IN_MEMORY_BYTES: u64 = 16 << 20;
/// Files below which starting threads costs more than it gains.
const FILES_PER_THREAD: usize = 64;

/// Why a pass did not succeed.
pub(super) enum Failure {
    /// Something changed meanwhile; worth another pass.
    Changed(PathBuf),
    Files(FilesError),
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        Self::Files(error)
    }
}

/// A directory as listed, files not yet hashed.
struct Listed {
    path: PathBuf,
    entries: BTreeMap<OsString, What>,
}

enum What {
    /// Number of the file among those to be hashed.
    File(usize),
    Link(ContentId),
    Dir(Listed),
    /// Known from before, and not changed.
    Known(Entry),
    Submodule,
    Special,
    TooDeep,
}

struct Lister<'a> {
    changed: &'a [RepoPath],
    to_hash: Vec<PathBuf>,
}

pub(super) fn scan(root: &Path, known: Option<&Arc<Dir>>, changed: &[RepoPath]) -> Result<Arc<Dir>, Failure> {
    let mut lister = Lister { changed, to_hash: Vec::new() };
    let listed = match lister.list(root, &RepoPath::root(), known, 0)? {
        What::Dir(listed) => listed,
        _ => Listed { path: root.to_path_buf(), entries: BTreeMap::new() },
    };
    let hashed = hash_all(&lister.to_hash)?;
    // An empty folder is an empty tree.
    Ok(build(&listed, &hashed)?)
}

impl Lister<'_> {
    /// Whether anything at or below a path may differ from what is known, and whether all of it must be looked at.
    fn is_touched(&self, path: &RepoPath) -> bool {
        self.changed.iter().any(|c| c.starts_with(path) || path.starts_with(c))
    }

    fn is_replaced(&self, path: &RepoPath) -> bool {
        self.changed.iter().any(|c| path.starts_with(c))
    }

    fn list(&mut self, full: &Path, path: &RepoPath, known: Option<&Arc<Dir>>, depth: usize) -> Result<What, Failure> {
        if depth > MAX_DEPTH {
            return Ok(What::TooDeep);
        }
        // A directory replaced by a link since its parent was listed would lead elsewhere.
        let real = fs::canonicalize(full).map_err(|e| failure(full, &e))?;
        if real != full {
            return Err(Failure::Changed(full.to_path_buf()));
        }
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(full).map_err(|e| failure(full, &e))? {
            let entry = entry.map_err(|e| failure(full, &e))?;
            let name = entry.file_name();
            let hidden = os_bytes(&name).starts_with(b".");
            match (depth, name.to_str()) {
                (0, Some(text)) if is_seen_at_root(text) => {}
                (0, _) => continue,
                (_, Some(".git")) => return Ok(What::Submodule),
                (_, _) => {}
            }
            let kind = entry.file_type().map_err(|e| failure(&entry.path(), &e))?;
            if hidden && kind.is_dir() {
                continue;
            }
            if let Some(what) = self.entry(&entry.path(), path, &name, kind, known, depth)? {
                entries.insert(name, what);
            }
        }
        Ok(What::Dir(Listed { path: full.to_path_buf(), entries }))
    }

    /// One entry of a directory; `None` for a directory without content.
    fn entry(
        &mut self,
        full: &Path,
        dir: &RepoPath,
        name: &OsStr,
        kind: fs::FileType,
        known: Option<&Arc<Dir>>,
        depth: usize,
    ) -> Result<Option<What>, Failure> {
        // A name that is no component of a path is listed for its finding; below it nothing is read.
        let Some(path) = name.to_str().and_then(|name| dir.join(name).ok()) else { return Ok(Some(What::Special)) };
        let known = known.and_then(|dir| dir.get(name.to_str()?));
        if let Some(entry) = known
            && !self.is_touched(&path)
            && (entry.kind != EntryKind::File || kind.is_file())
            && (entry.kind == EntryKind::Dir) == kind.is_dir()
        {
            return Ok(Some(What::Known(entry.clone())));
        }
        if kind.is_dir() {
            let known = known.filter(|_| !self.is_replaced(&path)).and_then(|entry| entry.dir.as_ref());
            let what = self.list(full, &path, known, depth + 1)?;
            let is_empty = matches!(&what, What::Dir(listed) if listed.entries.is_empty());
            return Ok((!is_empty).then_some(what));
        }
        if kind.is_symlink() {
            let target = fs::read_link(full).map_err(|e| failure(full, &e))?;
            return Ok(Some(What::Link(blob_id(full, &os_bytes(target.as_os_str()))?)));
        }
        if kind.is_file() {
            self.to_hash.push(full.to_path_buf());
            return Ok(Some(What::File(self.to_hash.len() - 1)));
        }
        Ok(Some(What::Special))
    }
}

#[derive(Clone, Copy)]
struct Hashed {
    id: ContentId,
    executable: bool,
}

fn hash_all(files: &[PathBuf]) -> Result<Vec<Hashed>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(files.len() / FILES_PER_THREAD).max(1);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; files.len()]);
    let failed = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut done = Vec::new();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(i) else { break };
                    match hash_file(file) {
                        Ok(hashed) => done.push((i, hashed)),
                        Err(failure) => {
                            failed.lock().unwrap_or_else(PoisonError::into_inner).insert(i, failure);
                            break;
                        }
                    }
                }
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                for (i, hashed) in done {
                    if let Some(slot) = results.get_mut(i) {
                        *slot = Some(hashed);
                    }
                }
            });
        }
    });
    if let Some((_, failure)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner).pop_first() {
        return Err(failure);
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let all: Option<Vec<Hashed>> = results.into_iter().collect();
    all.ok_or_else(|| Failure::Files(FilesError::new("the folder", "a thread that hashed files ended early")))
}

fn hash_file(path: &Path) -> Result<Hashed, Failure> {
    match read_file(path, IN_MEMORY_BYTES).map_err(|e| failure(path, &e))? {
        FileBytes::All { bytes, executable } => Ok(Hashed { id: blob_id(path, &bytes)?, executable }),
        FileBytes::TooLarge { executable, .. } => {
            let oid = Oid::hash_file(ObjectType::Blob, path)
                .map_err(|e| FilesError::new(path.to_string_lossy(), e.message()))?;
            Ok(Hashed { id: content_id(oid), executable })
        }
        FileBytes::Replaced => Err(Failure::Changed(path.to_path_buf())),
    }
}

/// What opening a regular file gave.
pub(super) enum FileBytes {
    All {
        bytes: Vec<u8>,
        executable: bool,
    },
    TooLarge {
        len: u64,
        executable: bool,
    },
    /// It is no regular file any more, or another than a moment ago.
    Replaced,
}

/// Reads a regular file of at most `max_bytes`. It is never opened through a link: what was opened must be what the
/// name itself stands for.
pub(super) fn read_file(path: &Path, max_bytes: u64) -> io::Result<FileBytes> {
    let named = fs::symlink_metadata(path)?;
    if !named.is_file() {
        return Ok(FileBytes::Replaced);
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    if !is_same_file(&named, &opened) {
        return Ok(FileBytes::Replaced);
    }
    let executable = is_executable(&opened);
    if opened.len() > max_bytes {
        return Ok(FileBytes::TooLarge { len: opened.len(), executable });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(opened.len()).unwrap_or(0));
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    let len = bytes.len() as u64;
    Ok(if len > max_bytes { FileBytes::TooLarge { len, executable } } else { FileBytes::All { bytes, executable } })
}

/// Directories from the bottom up. Recursion is bounded by [`MAX_DEPTH`].
fn build(listed: &Listed, hashed: &[Hashed]) -> Result<Arc<Dir>, FilesError> {
    let mut entries = Vec::with_capacity(listed.entries.len());
    for (os_name, what) in &listed.entries {
        let name = show_name(os_name);
        let made = |kind, id| Entry { name: name.clone(), kind, executable: false, id, dir: None };
        let marker = |what: &str| blob_id(&listed.path, what.as_bytes());
        entries.push(match what {
            What::File(i) => {
                let file = hashed.get(*i).ok_or_else(|| FilesError::new(&*name, "it was not hashed"))?;
                Entry { executable: file.executable, ..made(EntryKind::File, file.id) }
            }
            What::Link(id) => made(EntryKind::Link, *id),
            What::Dir(below) => {
                let dir = build(below, hashed)?;
                Entry { dir: Some(Arc::clone(&dir)), ..made(EntryKind::Dir, dir.id) }
            }
            What::Known(entry) => entry.clone(),
            What::Submodule => made(EntryKind::Submodule, marker("submodule")?),
            What::Special if os_name.to_str().is_none() => made(EntryKind::BadName, marker("name")?),
            What::Special => made(EntryKind::Special, marker("special")?),
            What::TooDeep => made(EntryKind::Dir, marker("too deep")?),
        });
    }
    let of_git = listed.entries.keys().zip(&entries).map(|(name, entry)| (os_bytes(name), entry)).collect::<Vec<_>>();
    let of_git = of_git.iter().map(|(name, e)| TreeEntry { name, kind: e.kind, executable: e.executable, id: e.id });
    let id = tree_id(&listed.path, of_git.collect())?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Arc::new(Dir { id, entries }))
}

/// A name as text; bytes that are not UTF-8 as `\xNN`.
fn show_name(name: &OsStr) -> Box<str> {
    crate::git::show_name(&os_bytes(name)).0
}

fn failure(path: &Path, e: &io::Error) -> Failure {
    if e.kind() == io::ErrorKind::NotFound { Failure::Changed(path.to_path_buf()) } else { error(path, e).into() }
}

#[cfg(unix)]
pub(super) fn os_bytes(name: &OsStr) -> Cow<'_, [u8]> {
    use std::os::unix::ffi::OsStrExt as _;
    Cow::Borrowed(name.as_bytes())
}

#[cfg(not(unix))]
pub(super) fn os_bytes(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Owned(name.to_string_lossy().replace('\\', "/").into_bytes())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_same_file(named: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    opened.is_file() && (named.dev(), named.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &fs::Metadata, opened: &fs::Metadata) -> bool {
    opened.is_file()
}
