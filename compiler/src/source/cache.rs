//! What a session remembers of directories: their entries by id, and the subtrees that were listed.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{DirEntry, EntryKind, FilesError, FleetFiles, Limits, RepoPath, SourceFile, SourceFinding};
use crate::base::ContentId;

/// Walks whose subtrees are surely kept: the base and head of a comparison, each with a record, twice over.
const KEPT_WALKS: usize = 8;
/// Subtrees below which forgetting is not worth the work.
const SWEEP_ABOVE: usize = 4096;

/// Directories seen before. Nothing in it depends on which tree they were in, so one serves a whole session; a walk with
/// it gives exactly what one without gives.
#[derive(Debug, Default)]
pub struct WalkCache {
    /// Subtrees depend on the limits they were listed under.
    limits: Option<Limits>,
    dirs: FxHashMap<ContentId, Arc<Entries>>,
    subtrees: FxHashMap<(RepoPath, ContentId), Arc<Subtree>>,
    /// Top-level subtrees of the last walks, oldest first.
    recent: Vec<Vec<Arc<Subtree>>>,
    /// Size of `subtrees` after the last sweep.
    swept: usize,
}

/// The entries of a directory that may be read: no dotfiles, sorted as Git sorts them, so that a walk in this order gives
/// paths in the order of their bytes.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) list: Box<[DirEntry]>,
    /// Names that occur more than once; none of theirs is in the list.
    pub(super) duplicates: BTreeSet<Box<str>>,
}

/// A directory at its path and everything below, links not yet followed.
#[derive(Debug)]
pub(super) struct Subtree {
    pub(super) path: RepoPath,
    pub(super) id: ContentId,
    pub(super) items: Vec<Item>,
    /// Entries of this directory and all below.
    pub(super) entries: usize,
    /// Whether the walk went to its end here; otherwise it is not kept.
    pub(super) whole: bool,
}

/// One thing in a [`Subtree`], in the order of paths.
#[derive(Debug)]
pub(super) enum Item {
    File(SourceFile),
    Dir(Arc<Subtree>),
    Link(LinkItem),
    Ignored(RepoPath),
    Finding(SourceFinding),
}

/// A link that was met.
#[derive(Clone, Debug)]
pub(super) struct LinkItem {
    /// Where it shows up.
    pub(super) path: RepoPath,
    /// Where it really lies.
    pub(super) real: RepoPath,
    pub(super) id: ContentId,
}

impl Entries {
    fn new(all: Vec<DirEntry>) -> Self {
        let (mut seen, mut duplicates) = (FxHashSet::default(), BTreeSet::new());
        for entry in &all {
            if !seen.insert(&*entry.name) {
                duplicates.insert(entry.name.clone());
            }
        }
        let mut list: Vec<DirEntry> =
            all.into_iter().filter(|e| !e.name.starts_with('.') && !duplicates.contains(&e.name)).collect();
        list.sort_by(|a, b| sort_key(a).cmp(sort_key(b)));
        Self { list: list.into(), duplicates }
    }

    pub(super) fn get(&self, name: &str) -> Option<&DirEntry> {
        let search = |slash: Option<u8>| {
            self.list
                .binary_search_by(|e| sort_key(e).cmp(name.bytes().chain(slash)))
                .ok()
                .and_then(|i| self.list.get(i))
        };
        search(None).or_else(|| search(Some(b'/')))
    }
}

/// Git's order: a directory sorts as if its name ended in `/`.
fn sort_key(entry: &DirEntry) -> impl Iterator<Item = u8> + '_ {
    entry.name.bytes().chain((entry.kind == EntryKind::Dir).then_some(b'/'))
}

impl WalkCache {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn begin(&mut self, limits: &Limits) {
        if self.limits != Some(*limits) {
            self.subtrees.clear();
            self.recent.clear();
            self.limits = Some(*limits);
        }
    }

    /// Remembers a walk by its top-level subtrees, and forgets what none of the last walks had.
    pub(super) fn end(&mut self, tops: Vec<Arc<Subtree>>) {
        self.recent.push(tops);
        if self.recent.len() > KEPT_WALKS {
            self.recent.remove(0);
        }
        if self.subtrees.len() > SWEEP_ABOVE.max(self.swept.saturating_mul(2)) {
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        let mut keep = FxHashSet::default();
        let mut todo: Vec<&Arc<Subtree>> = self.recent.iter().flatten().collect();
        while let Some(subtree) = todo.pop() {
            if keep.insert((subtree.path.clone(), subtree.id)) {
                todo.extend(subtree.items.iter().filter_map(|item| match item {
                    Item::Dir(child) => Some(child),
                    Item::File(_) | Item::Link(_) | Item::Ignored(_) | Item::Finding(_) => None,
                }));
            }
        }
        self.subtrees.retain(|key, _| keep.contains(key));
        let ids: FxHashSet<ContentId> = keep.iter().map(|(_, id)| *id).collect();
        self.dirs.retain(|id, _| ids.contains(id));
        self.swept = self.subtrees.len();
    }

    /// The entries of a directory, asked of the tree only when its id is new.
    pub(super) fn dir(
        &mut self,
        files: &dyn FleetFiles,
        path: &RepoPath,
        id: &ContentId,
    ) -> Result<Arc<Entries>, FilesError> {
        if let Some(entries) = self.dirs.get(id) {
            return Ok(Arc::clone(entries));
        }
        let entries = Arc::new(Entries::new(files.dir(path, id)?));
        self.dirs.insert(*id, Arc::clone(&entries));
        Ok(entries)
    }

    pub(super) fn subtree(&self, path: &RepoPath, id: &ContentId) -> Option<Arc<Subtree>> {
        self.subtrees.get(&(path.clone(), *id)).cloned()
    }

    pub(super) fn keep(&mut self, subtree: &Arc<Subtree>) {
        if subtree.whole {
            self.subtrees.insert((subtree.path.clone(), subtree.id), Arc::clone(subtree));
        }
    }
}
