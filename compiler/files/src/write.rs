//! Writing a rendered tree into a folder: only what changed, each file at once, and removing only what we wrote before.
//!
//! What we wrote is listed in a manifest inside the folder. A path enters it before its file is written, so that a run
//! that was killed leaves nothing behind that the next one does not know.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fleetwright_compiler::source::{PathError, RepoPath};

/// The manifest: a comment, then the paths of the files below, one a line.
const MANIFEST: &str = ".fleetwright-rendered";
const MANIFEST_HEADER: &str =
    "# Written by fleetwright. It owns the files below and removes those it no longer renders; do not edit.\n";

/// What becomes of files that an earlier run wrote and this one did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stale {
    /// They are removed: this run renders everything.
    Remove,
    /// They stay, and stay ours: this run renders a part.
    Keep,
}

/// What a run did, each list in the order of paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriteReport {
    /// New, or with other content than before.
    pub written: Vec<RepoPath>,
    /// Left alone: the content is the same.
    pub unchanged: Vec<RepoPath>,
    /// Written by an earlier run, and no longer rendered.
    pub removed: Vec<RepoPath>,
}

/// Why a tree was not written. What was written before stays and is listed in the manifest.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder holds something that is not ours to touch.
    #[error("will not write {path}: {reason}")]
    Refused {
        /// The path on disk.
        path: PathBuf,
        /// What is in the way, and what to do.
        reason: String,
    },
    /// The disk failed.
    #[error("cannot write {path}: {source}")]
    Io {
        /// The path on disk.
        path: PathBuf,
        /// How.
        source: io::Error,
    },
}

/// Makes `dir` hold these files, creating it when needed. A file whose bytes are there already is not touched; every
/// other is written beside its place and moved over it.
///
/// # Errors
/// When the folder has files but no manifest of ours, something else is where a file should go, a path leads through a
/// symbolic link, or the disk fails.
pub fn write_tree<B: AsRef<[u8]>>(
    dir: &Path,
    files: impl IntoIterator<Item = (RepoPath, B)>,
    stale: Stale,
) -> Result<WriteReport, WriteError> {
    fs::create_dir_all(dir).map_err(|e| io_error(dir, e))?;
    let root = fs::canonicalize(dir).map_err(|e| io_error(dir, e))?;
    let mut target = Target::open(root)?;
    let (mut report, mut rendered) = (WriteReport::default(), BTreeSet::new());
    for (path, bytes) in files {
        if !rendered.insert(path.clone()) {
            return Err(refused(&target.on_disk(&path), "it was rendered twice"));
        }
        if target.put(&path, bytes.as_ref(), &rendered)? {
            report.written.push(path);
        } else {
            report.unchanged.push(path);
        }
    }
    let gone: Vec<RepoPath> = match stale {
        Stale::Remove => target.owned.difference(&rendered).cloned().collect(),
        Stale::Keep => Vec::new(),
    };
    for path in gone {
        target.remove(&path)?;
        report.removed.push(path);
    }
    // Those that went earlier, to make room.
    report.removed.extend(std::mem::take(&mut target.made_room));
    target.finish()?;
    report.written.sort();
    report.unchanged.sort();
    report.removed.sort();
    Ok(report)
}

struct Target {
    root: PathBuf,
    /// What the manifest lists, as it will be.
    owned: BTreeSet<RepoPath>,
    /// The manifest's text on disk.
    manifest: String,
    /// Open for appending, once a path was new.
    journal: Option<File>,
    /// Directories known to be real ones.
    dirs: BTreeSet<RepoPath>,
    made_room: Vec<RepoPath>,
}

impl Target {
    fn open(root: PathBuf) -> Result<Self, WriteError> {
        let path = root.join(MANIFEST);
        let manifest = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => fs::read_to_string(&path).map_err(|e| io_error(&path, e))?,
            Ok(_) => return Err(refused(&path, "it is not a regular file; remove it")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                check_empty(&root)?;
                String::new()
            }
            Err(e) => return Err(io_error(&path, e)),
        };
        let mut owned = BTreeSet::new();
        // A last line without its end was being written when a run was killed; its file was not begun.
        for line in manifest.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            if !line.is_empty() && !line.starts_with('#') {
                owned.insert(
                    own_path(line).map_err(|e| refused(&path, &format!("line `{}`: {e}", line.escape_debug())))?,
                );
            }
        }
        Ok(Self { root, owned, manifest, journal: None, dirs: BTreeSet::new(), made_room: Vec::new() })
    }

    fn on_disk(&self, path: &RepoPath) -> PathBuf {
        let mut full = self.root.clone();
        full.extend(path.components());
        full
    }

    /// Writes one file; false when it is there already.
    fn put(&mut self, path: &RepoPath, bytes: &[u8], rendered: &BTreeSet<RepoPath>) -> Result<bool, WriteError> {
        let full = self.on_disk(path);
        own_path(path.as_str()).map_err(|e| refused(&full, &e))?;
        if let Some(parent) = path.parent() {
            self.make_dir(&parent, rendered)?;
        }
        match fs::symlink_metadata(&full) {
            Ok(metadata) if metadata.is_file() => {
                let same =
                    metadata.len() == bytes.len() as u64 && fs::read(&full).map_err(|e| io_error(&full, e))? == bytes;
                if same {
                    self.own(path)?;
                    return Ok(false);
                }
                if !self.owned.contains(path) {
                    return Err(refused(&full, "a file that fleetwright did not write is there; move it away"));
                }
            }
            Ok(metadata) if metadata.is_dir() => self.make_room(path, rendered)?,
            Ok(_) => return Err(refused(&full, "something that is not a file is there; move it away")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(io_error(&full, e)),
        }
        self.own(path)?;
        replace(&full, bytes)?;
        Ok(true)
    }

    /// Notes a path as ours, on disk first.
    fn own(&mut self, path: &RepoPath) -> Result<(), WriteError> {
        if self.owned.contains(path) {
            return Ok(());
        }
        let manifest = self.root.join(MANIFEST);
        let mut journal = match self.journal.take() {
            Some(journal) => journal,
            None => self.begin_journal(&manifest)?,
        };
        journal.write_all(format!("{path}\n").as_bytes()).map_err(|e| io_error(&manifest, e))?;
        self.journal = Some(journal);
        self.owned.insert(path.clone());
        Ok(())
    }

    fn begin_journal(&self, manifest: &Path) -> Result<File, WriteError> {
        // Whole lines only: a remainder of a killed run would become the beginning of ours.
        let whole = self.manifest.rfind('\n').and_then(|end| self.manifest.get(..=end)).unwrap_or(MANIFEST_HEADER);
        if whole != self.manifest {
            replace(manifest, whole.as_bytes())?;
        }
        OpenOptions::new().append(true).open(manifest).map_err(|e| io_error(manifest, e))
    }

    /// Makes a directory and those above it; none of them may be a link.
    fn make_dir(&mut self, dir: &RepoPath, rendered: &BTreeSet<RepoPath>) -> Result<(), WriteError> {
        let mut at = RepoPath::root();
        for name in dir.components() {
            at = at.join(name).map_err(|e| refused(&self.on_disk(dir), &e.to_string()))?;
            if self.dirs.contains(&at) {
                continue;
            }
            let full = self.on_disk(&at);
            match fs::symlink_metadata(&full) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) if metadata.is_file() && self.owned.contains(&at) && !rendered.contains(&at) => {
                    self.remove(&at)?;
                    self.made_room.push(at.clone());
                    fs::create_dir(&full).map_err(|e| io_error(&full, e))?;
                }
                Ok(_) => return Err(refused(&full, "it must be a directory, and not a link to one; move it away")),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir(&full).map_err(|e| io_error(&full, e))?;
                }
                Err(e) => return Err(io_error(&full, e)),
            }
            self.dirs.insert(at.clone());
        }
        Ok(())
    }

    /// Removes what we once wrote below a path that is to become a file.
    fn make_room(&mut self, path: &RepoPath, rendered: &BTreeSet<RepoPath>) -> Result<(), WriteError> {
        let below: Vec<RepoPath> = self
            .owned
            .range(path.clone()..)
            .take_while(|p| p.as_str().starts_with(path.as_str()))
            .filter(|p| p.starts_with(path))
            .cloned()
            .collect();
        if let Some(both) = below.iter().find(|p| rendered.contains(p)) {
            return Err(refused(
                &self.on_disk(path),
                &format!("it would be a file, and `{both}` needs it as a directory"),
            ));
        }
        for old in below {
            self.remove(&old)?;
            self.made_room.push(old);
        }
        let full = self.on_disk(path);
        if fs::symlink_metadata(&full).is_ok() {
            return Err(refused(&full, "a directory with files that fleetwright did not write is there; move it away"));
        }
        Ok(())
    }

    /// Removes a file of ours and the directories it leaves empty. What is no regular file any more, or lies behind a
    /// link now, is not ours.
    fn remove(&mut self, path: &RepoPath) -> Result<(), WriteError> {
        self.owned.remove(path);
        let mut dirs: Vec<RepoPath> = Vec::new();
        let mut at = path.parent();
        while let Some(dir) = at.filter(|dir| !dir.is_root()) {
            at = dir.parent();
            dirs.push(dir);
        }
        for dir in dirs.iter().rev() {
            match fs::symlink_metadata(self.on_disk(dir)) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Ok(()),
                Err(e) if is_absent(&e) => return Ok(()),
                Err(e) => return Err(io_error(&self.on_disk(dir), e)),
            }
        }
        let full = self.on_disk(path);
        match fs::symlink_metadata(&full) {
            Ok(metadata) if metadata.is_file() => fs::remove_file(&full).map_err(|e| io_error(&full, e))?,
            Ok(_) => return Ok(()),
            Err(e) if is_absent(&e) => {}
            Err(e) => return Err(io_error(&full, e)),
        }
        for dir in dirs {
            let full = self.on_disk(&dir);
            match fs::remove_dir(&full) {
                Ok(()) => {
                    self.dirs.remove(&dir);
                }
                Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => break,
                Err(e) if is_absent(&e) => {}
                Err(e) => return Err(io_error(&full, e)),
            }
        }
        Ok(())
    }

    /// Writes the manifest as it should be.
    fn finish(self) -> Result<(), WriteError> {
        let mut text = MANIFEST_HEADER.to_owned();
        for path in &self.owned {
            text.push_str(path.as_str());
            text.push('\n');
        }
        if text != self.manifest || self.journal.is_some() {
            replace(&self.root.join(MANIFEST), text.as_bytes())?;
        }
        Ok(())
    }
}

/// A folder without our manifest must be empty; a fresh checkout of an empty branch counts as that.
fn check_empty(root: &Path) -> Result<(), WriteError> {
    for entry in fs::read_dir(root).map_err(|e| io_error(root, e))? {
        let entry = entry.map_err(|e| io_error(root, e))?;
        let name = entry.file_name();
        if name != ".git" && !name.to_string_lossy().starts_with(TEMPORARY) {
            return Err(refused(
                root,
                &format!(
                    "the folder has files (`{}`) and no {MANIFEST}, so they may be somebody's; name an empty folder",
                    name.to_string_lossy().escape_debug()
                ),
            ));
        }
    }
    Ok(())
}

/// A path that may be written: not the manifest, nothing of Git's.
fn own_path(text: &str) -> Result<RepoPath, String> {
    let path = RepoPath::new(text).map_err(|e: PathError| e.to_string())?;
    if text == MANIFEST || path.components().any(|name| name.eq_ignore_ascii_case(".git")) {
        return Err("this name is reserved".to_owned());
    }
    Ok(path)
}

/// Beginning of the names of files that are being written.
const TEMPORARY: &str = ".fleetwright-tmp-";

/// Writes beside the place and moves over it: a reader sees the old content or the new.
fn replace(full: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let temporary = full.with_file_name(format!("{TEMPORARY}{}", std::process::id()));
    let write = || {
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            // Of a killed run. Never written through: it could be a link.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&temporary)?;
                OpenOptions::new().write(true).create_new(true).open(&temporary)?
            }
            other => other?,
        };
        file.write_all(bytes)?;
        drop(file);
        fs::rename(&temporary, full)
    };
    write().map_err(|e| {
        // The first failure is the one to report.
        let _ = fs::remove_file(&temporary);
        io_error(full, e)
    })
}

fn is_absent(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn io_error(path: &Path, source: io::Error) -> WriteError {
    WriteError::Io { path: path.to_path_buf(), source }
}

fn refused(path: &Path, reason: &str) -> WriteError {
    WriteError::Refused { path: path.to_path_buf(), reason: reason.to_owned() }
}
