//! Writes commits into the mirror without a working tree.

use std::collections::BTreeMap;

use fleetwright_compiler::source::RepoPath;
use git2::{Commit, Error, ErrorClass, ErrorCode, FileMode, ObjectType, Oid, Repository, Signature, Time, Tree};

use crate::ports::{Author, CommitId, NewCommit};

/// What happens to one entry of a folder.
enum Change {
    Put(Oid, FileMode),
    Remove,
    Inside(Start, Changes),
}

/// What a changed folder held before.
#[derive(Clone, Copy)]
enum Start {
    AsItIs,
    Folder(Oid),
    Nothing,
}

/// Changes by name.
type Changes = BTreeMap<String, Change>;

/// Writes the commit and all it holds; nothing refers to it yet.
pub(super) fn write(repo: &Repository, new: &NewCommit, author: &Author, prefix: &RepoPath) -> Result<Oid, Error> {
    let find = |id: &CommitId| repo.find_commit(Oid::from_str(&id.0)?);
    let tip = new.tip.as_ref().map(find).transpose()?;
    let merges = new.merges.as_ref().map(find).transpose()?;
    let base = new.base.as_ref().map(|base| find(base)?.tree()).transpose()?;
    let mut changes = Changes::new();
    for name in &new.from_tip {
        let change = match tip.as_ref().map(|tip| entry(repo, tip, prefix, name)).transpose()?.flatten() {
            Some((id, mode)) => Change::Put(id, mode),
            None => Change::Remove,
        };
        changes.insert(name.to_string(), change);
    }
    for (path, content) in &new.edits {
        let change = match content {
            Some(bytes) => Change::Put(repo.blob(bytes)?, FileMode::Blob),
            None => Change::Remove,
        };
        let names: Vec<&str> = path.components().collect();
        insert(&mut changes, &names, change)?;
    }
    let changes = prefix
        .components()
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .fold(changes, |changes, name| Changes::from([(name.to_owned(), Change::Inside(Start::AsItIs, changes))]));
    let tree = apply(repo, base.as_ref(), changes)?.map_or_else(|| repo.treebuilder(None)?.write(), Ok)?;
    let who = Signature::new(&author.name, &author.email, &Time::new(new.time_secs, 0))?;
    let parents: Vec<&Commit<'_>> = tip.iter().chain(&merges).collect();
    repo.commit(None, &who, &who, &new.message, &repo.find_tree(tree)?, &parents)
}

/// The entry `name` of the fleet's folder in a commit.
fn entry(
    repo: &Repository,
    commit: &Commit<'_>,
    prefix: &RepoPath,
    name: &str,
) -> Result<Option<(Oid, FileMode)>, Error> {
    let mut tree = commit.tree()?;
    for part in prefix.components() {
        let Some(inside) = tree.get_name(part).map(|e| e.id()) else { return Ok(None) };
        tree = repo.find_tree(inside)?;
    }
    Ok(tree.get_name(name).map(|e| {
        let mode = if e.kind() == Some(ObjectType::Tree) { FileMode::Tree } else { FileMode::Blob };
        (e.id(), mode)
    }))
}

/// Adds a change at a path. One inside a folder that is itself put starts from what that folder holds.
fn insert(changes: &mut Changes, names: &[&str], change: Change) -> Result<(), Error> {
    let Some((first, rest)) = names.split_first() else {
        return Err(Error::new(ErrorCode::Invalid, ErrorClass::Tree, "a change of the root itself"));
    };
    if rest.is_empty() {
        changes.insert((*first).to_owned(), change);
        return Ok(());
    }
    let below = changes.entry((*first).to_owned()).or_insert_with(|| Change::Inside(Start::AsItIs, Changes::new()));
    let start = match below {
        Change::Put(id, _) => Some(Start::Folder(*id)),
        Change::Remove => Some(Start::Nothing),
        Change::Inside(..) => None,
    };
    if let Some(start) = start {
        *below = Change::Inside(start, Changes::new());
    }
    match below {
        Change::Inside(_, inside) => insert(inside, rest, change),
        Change::Put(..) | Change::Remove => Ok(()),
    }
}

/// The tree with the changes; `None` where nothing is left. Depth is bounded by [`RepoPath`].
fn apply(repo: &Repository, before: Option<&Tree<'_>>, changes: Changes) -> Result<Option<Oid>, Error> {
    let mut builder = repo.treebuilder(before)?;
    for (name, change) in changes {
        let put = match change {
            Change::Put(id, mode) => Some((id, mode)),
            Change::Remove => None,
            Change::Inside(start, inside) => {
                let folder = match start {
                    Start::Nothing => None,
                    Start::Folder(id) => Some(repo.find_tree(id)?),
                    Start::AsItIs => match builder.get(&name)? {
                        Some(entry) if entry.kind() == Some(ObjectType::Tree) => Some(repo.find_tree(entry.id())?),
                        // A file in the way of a folder is replaced.
                        Some(_) | None => None,
                    },
                };
                apply(repo, folder.as_ref(), inside)?.map(|id| (id, FileMode::Tree))
            }
        };
        match put {
            Some((id, mode)) => builder.insert(&name, id, mode.into()).map(|_| ())?,
            None if builder.get(&name)?.is_some() => builder.remove(&name)?,
            None => {}
        }
    }
    if builder.is_empty() { Ok(None) } else { builder.write().map(Some) }
}
