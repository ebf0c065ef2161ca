//! Git's ids for things that are not in a Git repository.

use std::path::Path;

use fleetwright_compiler::base::ContentId;
use fleetwright_compiler::source::{EntryKind, FilesError};
use git2::{ObjectType, Oid};

/// An entry of a tree to be hashed.
pub(crate) struct TreeEntry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: EntryKind,
    pub(crate) executable: bool,
    pub(crate) id: ContentId,
}

pub(crate) fn content_id(oid: Oid) -> ContentId {
    let mut id = [0; 32];
    for (to, from) in id.iter_mut().zip(oid.as_bytes()) {
        *to = *from;
    }
    ContentId(id)
}

pub(crate) fn oid(id: &ContentId) -> Result<Oid, git2::Error> {
    let (sha1, _) = id.0.split_at(20);
    Oid::from_bytes(sha1)
}

pub(crate) fn blob_id(path: &Path, bytes: &[u8]) -> Result<ContentId, FilesError> {
    hash(path, ObjectType::Blob, bytes)
}

/// The id Git gives a tree of these entries; of a kind of its own when there is something among them that Git does not
/// store.
pub(crate) fn tree_id(path: &Path, mut entries: Vec<TreeEntry<'_>>) -> Result<ContentId, FilesError> {
    entries.sort_by(|a, b| sort_key(a).cmp(sort_key(b)));
    let mut tree = Vec::new();
    for entry in &entries {
        let mode = match (entry.kind, entry.executable) {
            (EntryKind::File, false) => "100644",
            (EntryKind::File, true) => "100755",
            (EntryKind::Dir, _) => "40000",
            (EntryKind::Link, _) => "120000",
            (EntryKind::Submodule, _) => "160000",
            // No mode of Git's.
            (EntryKind::Special | EntryKind::BadName, _) => "0",
        };
        let (sha1, _) = entry.id.0.split_at(20);
        tree.extend_from_slice(mode.as_bytes());
        tree.push(b' ');
        tree.extend_from_slice(entry.name);
        tree.push(0);
        tree.extend_from_slice(sha1);
    }
    hash(path, ObjectType::Tree, &tree)
}

fn hash(path: &Path, kind: ObjectType, bytes: &[u8]) -> Result<ContentId, FilesError> {
    let oid = Oid::hash_object(kind, bytes).map_err(|e| FilesError::new(path.to_string_lossy(), e.message()))?;
    Ok(content_id(oid))
}

/// Git's order: a directory sorts as if its name ended in `/`.
fn sort_key<'a>(entry: &TreeEntry<'a>) -> impl Iterator<Item = u8> + use<'a> {
    entry.name.iter().copied().chain((entry.kind == EntryKind::Dir).then_some(b'/'))
}
