//! Where a symbolic link leads, by the names in the tree alone: nothing is ever opened outside it.
//!
//! A link is resolved as a file system would, component by component, each of them looked up in the tree; it never
//! climbs above the root, not even to come back, so that a folder and a Git tree agree wherever they are checked out.

use super::listing::MAX_LINK_HOPS;
use super::overlay::Part;
use super::{Contents, EntryKind, FilesError, RepoPath, SourceFindingKind, WalkCache};
use crate::base::ContentId;

/// Longest target of a link that is looked at, in bytes: Linux' own bound.
const MAX_TARGET_BYTES: u64 = 4096;

/// What a link leads to in the end: a path without links.
#[derive(Debug)]
pub(super) enum Resolved {
    File(RepoPath, ContentId),
    Dir(RepoPath, ContentId),
}

/// Follows the link at `link`, itself a path without links. Every step takes one of `left`, and with none left it is
/// [`SourceFindingKind::TooManyEntries`]: otherwise links through links could cost more time than anything else.
pub(super) fn resolve(
    cache: &mut WalkCache,
    part: Part<'_>,
    link: &RepoPath,
    id: &ContentId,
    left: &mut usize,
) -> Result<Result<Resolved, SourceFindingKind>, FilesError> {
    // Directories from the root to where we are.
    let mut at = vec![(RepoPath::root(), part.files.root()?)];
    // Names still to be entered, the next one last.
    let mut todo: Vec<Box<str>> = Vec::new();
    if let Err(kind) = push_target(part, link, id, &mut todo)? {
        return Ok(Err(kind));
    }
    if let Some(parent) = link.parent() {
        todo.extend(parent.components().rev().map(Box::from));
    }
    let mut hops = 1;
    while let Some(name) = todo.pop() {
        if *left == 0 {
            return Ok(Err(SourceFindingKind::TooManyEntries { limit: 0 }));
        }
        *left -= 1;
        match &*name {
            "" | "." => continue,
            ".." => {
                at.pop();
                if at.is_empty() {
                    return Ok(Err(SourceFindingKind::LinkLeavesRoot));
                }
                continue;
            }
            _ => {}
        }
        let Some((dir, dir_id)) = at.last() else { return Ok(Err(SourceFindingKind::LinkLeavesRoot)) };
        if name.starts_with('.') || (dir.is_root() && !part.tops.contains(&&*name)) {
            return Ok(Err(SourceFindingKind::LinkOutsideRead));
        }
        let Ok(path) = dir.join(&name) else { return Ok(Err(SourceFindingKind::LinkBroken)) };
        let entries = cache.dir(part.files, dir, dir_id)?;
        let Some(entry) = entries.get(&name) else { return Ok(Err(SourceFindingKind::LinkBroken)) };
        match entry.kind {
            EntryKind::Dir => at.push((path, entry.id)),
            EntryKind::File if todo.is_empty() => return Ok(Ok(Resolved::File(path, entry.id))),
            EntryKind::Link => {
                hops += 1;
                if hops > MAX_LINK_HOPS {
                    return Ok(Err(SourceFindingKind::LinkLoop));
                }
                if let Err(kind) = push_target(part, &path, &entry.id, &mut todo)? {
                    return Ok(Err(kind));
                }
            }
            EntryKind::Submodule => return Ok(Err(SourceFindingKind::Submodule)),
            EntryKind::File | EntryKind::Special | EntryKind::BadName => {
                return Ok(Err(SourceFindingKind::LinkBroken));
            }
        }
    }
    Ok(match at.pop() {
        Some((dir, dir_id)) if !dir.is_root() => Ok(Resolved::Dir(dir, dir_id)),
        // The root holds every link.
        Some(_) | None => Err(SourceFindingKind::LinkLoop),
    })
}

/// Puts the components of a link's target on top of what is still to be entered.
fn push_target(
    part: Part<'_>,
    link: &RepoPath,
    id: &ContentId,
    todo: &mut Vec<Box<str>>,
) -> Result<Result<(), SourceFindingKind>, FilesError> {
    let Contents::Bytes(bytes) = part.files.read_at_most(link, id, MAX_TARGET_BYTES)? else {
        return Ok(Err(SourceFindingKind::LinkBroken));
    };
    let Ok(target) = std::str::from_utf8(&bytes) else { return Ok(Err(SourceFindingKind::LinkBroken)) };
    if target.is_empty() {
        return Ok(Err(SourceFindingKind::LinkBroken));
    }
    if is_absolute(target) {
        return Ok(Err(SourceFindingKind::LinkLeavesRoot));
    }
    todo.extend(target.split('/').rev().map(Box::from));
    Ok(Ok(()))
}

/// Absolute on any system: `/x`, `\x`, `C:\x`, `C:/x`.
fn is_absolute(target: &str) -> bool {
    let drive = matches!(target.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    drive || target.starts_with(['/', '\\'])
}
