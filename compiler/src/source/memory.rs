//! A tree in memory: for tests, and for a fleet that is generated or edited without touching a disk.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::{DirEntry, EntryKind, FilesError, FleetFiles, PathError, RepoPath};
use crate::base::{ContentId, DigestWriter};

/// A tree of files in memory. Cloning is cheap, and an edit copies only the directories on its path.
///
/// Its ids are BLAKE3 hashes: equal exactly when the content is, but never equal to those of a Git tree.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    root: Arc<Dir>,
}

#[derive(Clone, Debug, Default)]
struct Dir {
    entries: BTreeMap<Box<str>, Node>,
    /// Set on first use; an edit makes a new one.
    id: OnceLock<ContentId>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf { kind: EntryKind, bytes: Arc<[u8]>, id: ContentId },
    Dir(Arc<Dir>),
}

impl MemoryFiles {
    /// The tree of these files, in any order; a later one replaces an earlier one of the same path.
    ///
    /// # Errors
    /// When a path is not one inside a repository.
    pub fn new<P: AsRef<str>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> Result<Self, PathError> {
        let mut tree = Self::default();
        for (path, bytes) in files {
            let path = RepoPath::new(path.as_ref())?;
            tree.put(&path, Node::leaf(EntryKind::File, bytes.as_ref()));
        }
        Ok(tree)
    }

    /// This tree with a file, replacing whatever is there or stands in its way. At the root, nothing changes.
    #[must_use]
    pub fn with(&self, path: &RepoPath, bytes: &[u8]) -> Self {
        self.with_node(path, Node::leaf(EntryKind::File, bytes))
    }

    /// This tree with a symbolic link, as [`with`](Self::with).
    #[must_use]
    pub fn with_link(&self, path: &RepoPath, target: &str) -> Self {
        self.with_node(path, Node::leaf(EntryKind::Link, target.as_bytes()))
    }

    /// This tree with a submodule that is at the commit of this name, as [`with`](Self::with).
    #[must_use]
    pub fn with_submodule(&self, path: &RepoPath, commit: &str) -> Self {
        self.with_node(path, Node::leaf(EntryKind::Submodule, commit.as_bytes()))
    }

    /// This tree without a file or a whole directory; directories left empty go too, as in Git.
    #[must_use]
    pub fn without(&self, path: &RepoPath) -> Self {
        let mut tree = self.clone();
        let names: Vec<&str> = path.components().collect();
        if !names.is_empty() && tree.node(path).is_some() {
            remove(&mut tree.root, &names);
        }
        tree
    }

    fn with_node(&self, path: &RepoPath, node: Node) -> Self {
        let mut tree = self.clone();
        tree.put(path, node);
        tree
    }

    fn put(&mut self, path: &RepoPath, node: Node) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        let mut dir = Dir::edit(&mut self.root);
        for step in parent.components() {
            let entry = dir.entries.entry(step.into()).or_insert_with(|| Node::Dir(Arc::default()));
            if !matches!(entry, Node::Dir(_)) {
                *entry = Node::Dir(Arc::default());
            }
            match entry {
                Node::Dir(child) => dir = Dir::edit(child),
                Node::Leaf { .. } => return,
            }
        }
        dir.entries.insert(name.into(), node);
    }

    fn node(&self, path: &RepoPath) -> Option<Node> {
        let mut node = Node::Dir(Arc::clone(&self.root));
        for name in path.components() {
            node = match &node {
                Node::Dir(dir) => dir.entries.get(name)?.clone(),
                Node::Leaf { .. } => return None,
            };
        }
        Some(node)
    }

    fn node_with_id(&self, path: &RepoPath, id: &ContentId) -> Result<Node, FilesError> {
        let node = self.node(path).ok_or_else(|| FilesError::new(path.as_str(), "no such entry"))?;
        if node.id() != *id {
            return Err(FilesError::new(path.as_str(), "it holds something else than was asked for"));
        }
        Ok(node)
    }
}

/// Depth is bounded by [`RepoPath`].
fn remove(dir: &mut Arc<Dir>, names: &[&str]) {
    let Some((first, rest)) = names.split_first() else { return };
    let dir = Dir::edit(dir);
    if !rest.is_empty()
        && let Some(Node::Dir(child)) = dir.entries.get_mut(*first)
    {
        remove(child, rest);
        if !child.entries.is_empty() {
            return;
        }
    }
    dir.entries.remove(*first);
}

impl Dir {
    fn edit(this: &mut Arc<Self>) -> &mut Self {
        let dir = Arc::make_mut(this);
        dir.id = OnceLock::new();
        dir
    }

    fn id(&self) -> ContentId {
        *self.id.get_or_init(|| {
            let mut hash = DigestWriter::new();
            hash.part(b"tree");
            for (name, node) in &self.entries {
                hash.part(name.as_bytes()).number(node.kind() as u64).part(&node.id().0);
            }
            ContentId(hash.finish().0)
        })
    }
}

impl Node {
    fn leaf(kind: EntryKind, bytes: &[u8]) -> Self {
        let mut hash = DigestWriter::new();
        hash.part(b"blob").part(bytes);
        Self::Leaf { kind, bytes: bytes.into(), id: ContentId(hash.finish().0) }
    }

    fn kind(&self) -> EntryKind {
        match self {
            Self::Leaf { kind, .. } => *kind,
            Self::Dir(_) => EntryKind::Dir,
        }
    }

    fn id(&self) -> ContentId {
        match self {
            Self::Leaf { id, .. } => *id,
            Self::Dir(dir) => dir.id(),
        }
    }
}

impl FleetFiles for MemoryFiles {
    fn root(&self) -> Result<ContentId, FilesError> {
        Ok(self.root.id())
    }

    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError> {
        match self.node_with_id(path, id)? {
            Node::Dir(dir) => Ok(dir
                .entries
                .iter()
                .map(|(name, node)| DirEntry { name: name.clone(), kind: node.kind(), id: node.id() })
                .collect()),
            Node::Leaf { .. } => Err(FilesError::new(path.as_str(), "not a directory")),
        }
    }

    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError> {
        match self.node_with_id(path, id)? {
            Node::Leaf { kind: EntryKind::File | EntryKind::Link, bytes, .. } => Ok(bytes),
            Node::Leaf { .. } | Node::Dir(_) => Err(FilesError::new(path.as_str(), "not a file")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    #[test]
    fn ids_follow_content_alone() {
        let one = MemoryFiles::new([("a/x", "1"), ("b/x", "1"), ("c", "2")]).unwrap();
        let two = MemoryFiles::new([("c", "2"), ("b/x", "1"), ("a/x", "0"), ("a/x", "1")]).unwrap();
        assert_eq!(one.root(), two.root());
        let entries = one.dir(&RepoPath::root(), &one.root().unwrap()).unwrap();
        assert_eq!(entries[0].id, entries[1].id, "equal directories");
        assert_ne!(entries[1].id, entries[2].id);

        let edited = one.with(&path("a/y"), b"3");
        assert_ne!(edited.root(), one.root());
        assert_eq!(edited.without(&path("a/y")).root(), one.root());
        assert_eq!(one.without(&path("nothing/here")).root(), one.root());
        assert_ne!(one.with_link(&path("c"), "2").root(), one.root(), "a link is not a file");
    }

    #[test]
    fn empty_directories_go() {
        let tree = MemoryFiles::new([("a/b/c", "1")]).unwrap().without(&path("a/b/c"));
        assert_eq!(tree.root(), MemoryFiles::default().root());
        let tree = MemoryFiles::new([("a/b/c", "1"), ("a/d", "2")]).unwrap();
        assert_eq!(tree.without(&path("a/b")).root(), MemoryFiles::new([("a/d", "2")]).unwrap().root());
    }

    #[test]
    fn what_stands_in_the_way_is_replaced() {
        let tree = MemoryFiles::new([("a", "1")]).unwrap().with(&path("a/b"), b"2");
        assert_eq!(tree.root(), MemoryFiles::new([("a/b", "2")]).unwrap().root());
        assert_eq!(tree.with(&path("a"), b"1").root(), MemoryFiles::new([("a", "1")]).unwrap().root());
    }

    #[test]
    fn a_stale_id_is_an_error() {
        let tree = MemoryFiles::new([("a/b", "1")]).unwrap();
        let root = tree.root().unwrap();
        let edited = tree.with(&path("a/b"), b"2");
        assert_eq!(tree.read(&path("a/b"), &root).unwrap_err().path, "a/b");
        assert!(edited.dir(&RepoPath::root(), &root).is_err());
        assert!(tree.read(&path("a"), &root).is_err());
    }
}
