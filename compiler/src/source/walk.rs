//! The one filter of what is read, for every kind of tree.

use std::sync::Arc;

use super::cache::{Item, LinkItem, Subtree};
use super::links::{Resolved, resolve};
use super::listing::{FLEET_FILE, FLEET_FILE_MISTAKES, RECORD_TOPS, has_read_extension};
use super::overlay::Part;
use super::{
    DirEntry, EntryKind, FileClass, FilesError, Limits, Listing, Overlay, PathError, RecordSource, RepoPath,
    SourceFile, SourceFinding, SourceFindingKind, WalkCache,
};
use crate::base::ContentId;

/// Lists what a compile reads, remembering nothing.
///
/// # Errors
/// When a directory cannot be read. Never a shorter list instead.
pub fn walk(overlay: &Overlay<'_>, limits: &Limits) -> Result<Listing, FilesError> {
    walk_with(&mut WalkCache::new(), overlay, limits)
}

/// Lists what a compile reads: no directory whose id the cache has seen is asked for again.
///
/// # Errors
/// When a directory cannot be read. Never a shorter list instead.
pub fn walk_with(cache: &mut WalkCache, overlay: &Overlay<'_>, limits: &Limits) -> Result<Listing, FilesError> {
    cache.begin(limits);
    let mut walker = Walker { cache, limits, left: limits.entries, out: Listing::default(), tops: Vec::new() };
    for part in overlay.parts() {
        walker.part(part)?;
    }
    if !matches!(overlay.record, RecordSource::Same) {
        walker.record_among_intents(overlay)?;
    }
    let Walker { cache, mut out, tops, .. } = walker;
    cache.end(tops);
    // Already sorted but for followed links and the record between the intents.
    out.files.sort_by(|a, b| a.path.cmp(&b.path));
    out.ignored.sort();
    out.findings.sort();
    out.findings.dedup();
    Ok(out)
}

struct Walker<'w> {
    cache: &'w mut WalkCache,
    limits: &'w Limits,
    /// Entries that may still be met.
    left: usize,
    out: Listing,
    tops: Vec<Arc<Subtree>>,
}

/// A link met, and how we came there.
struct Pending {
    link: LinkItem,
    /// The real directories from which links were followed to here, this link's last. A link to one of them, or to one
    /// that holds it, would never end.
    from: Vec<RepoPath>,
}

impl Walker<'_> {
    fn part(&mut self, part: Part<'_>) -> Result<(), FilesError> {
        let root = RepoPath::root();
        let id = part.files.root()?;
        let entries = self.cache.dir(part.files, &root, &id)?;
        let mut links = Vec::new();
        for name in entries.duplicates.iter().filter(|name| part.tops.contains(&&***name)) {
            self.find(&root, SourceFindingKind::DuplicateName { name: name.clone() });
        }
        for entry in &entries.list {
            let name = &*entry.name;
            let Ok(path) = root.join(name) else { continue };
            if FLEET_FILE_MISTAKES.contains(&name) && part.tops.contains(&FLEET_FILE) {
                self.out.ignored.push(path);
            } else if part.tops.contains(&name) {
                self.top(part, path, entry, &mut links)?;
            }
        }
        self.follow(part, links)
    }

    fn top(
        &mut self,
        part: Part<'_>,
        path: RepoPath,
        entry: &DirEntry,
        links: &mut Vec<Pending>,
    ) -> Result<(), FilesError> {
        match (entry.kind, path.as_str() == FLEET_FILE) {
            (EntryKind::File, true) => self.file(&path, entry.id, None),
            (EntryKind::File, false) => self.find(&path, SourceFindingKind::NotADirectory),
            (EntryKind::Dir, true) => self.find(&path, SourceFindingKind::NotAFile),
            (EntryKind::Dir, false) => {
                let subtree = self.subtree(part, &path, None, &entry.id)?;
                self.flatten(&subtree, &[], links);
                self.tops.push(subtree);
            }
            (EntryKind::Link, _) => {
                let link = LinkItem { path: path.clone(), real: path, id: entry.id };
                links.push(Pending { link, from: vec![RepoPath::root()] });
            }
            (EntryKind::Submodule, _) => self.find(&path, SourceFindingKind::Submodule),
            (EntryKind::Special | EntryKind::BadName, _) => self.find(&path, SourceFindingKind::Special),
        }
        Ok(())
    }

    /// The directory `id`, which shows up at `path` and really lies at `real` when a link led there.
    /// Recursion is bounded by the limit of depth.
    fn subtree(
        &mut self,
        part: Part<'_>,
        path: &RepoPath,
        real: Option<&RepoPath>,
        id: &ContentId,
    ) -> Result<Arc<Subtree>, FilesError> {
        if real.is_none()
            && let Some(known) = self.cache.subtree(path, id)
            && known.entries <= self.left
        {
            self.left -= known.entries;
            return Ok(known);
        }
        let place = real.unwrap_or(path);
        let listed = self.cache.dir(part.files, place, id)?;
        let mut out = Subtree { path: path.clone(), id: *id, items: Vec::new(), entries: 0, whole: true };
        if !listed.list.is_empty() && path.components().count() >= self.limits.depth {
            out.items.push(finding(path, SourceFindingKind::TooDeep { limit: self.limits.depth }));
            return Ok(Arc::new(out));
        }
        for name in &listed.duplicates {
            out.items.push(finding(path, SourceFindingKind::DuplicateName { name: name.clone() }));
        }
        for entry in &listed.list {
            if self.left == 0 {
                out.items
                    .push(finding(&RepoPath::root(), SourceFindingKind::TooManyEntries { limit: self.limits.entries }));
                out.whole = false;
                break;
            }
            self.left -= 1;
            out.entries += 1;
            let item = self.entry(part, path, real, entry)?;
            if let Item::Dir(child) = &item {
                out.entries += child.entries;
                out.whole &= child.whole;
            }
            out.items.push(item);
        }
        let out = Arc::new(out);
        if real.is_none() {
            self.cache.keep(&out);
        }
        Ok(out)
    }

    fn entry(
        &mut self,
        part: Part<'_>,
        dir: &RepoPath,
        real_dir: Option<&RepoPath>,
        entry: &DirEntry,
    ) -> Result<Item, FilesError> {
        let bad_name = |reason| Ok(finding(dir, SourceFindingKind::BadName { name: entry.name.clone(), reason }));
        if entry.kind == EntryKind::BadName {
            return bad_name(PathError::NotUtf8);
        }
        let (path, real) = match (dir.join(&entry.name), real_dir.map(|dir| dir.join(&entry.name)).transpose()) {
            (Ok(path), Ok(real)) => (path, real),
            (Err(reason), _) | (_, Err(reason)) => return bad_name(reason),
        };
        Ok(match entry.kind {
            EntryKind::File if has_read_extension(&entry.name) => source_file(path, entry.id, real),
            EntryKind::File => Item::Ignored(path),
            EntryKind::Dir => Item::Dir(self.subtree(part, &path, real.as_ref(), &entry.id)?),
            EntryKind::Link => Item::Link(LinkItem { real: real.unwrap_or_else(|| path.clone()), path, id: entry.id }),
            EntryKind::Submodule => finding(&path, SourceFindingKind::Submodule),
            EntryKind::Special | EntryKind::BadName => finding(&path, SourceFindingKind::Special),
        })
    }

    fn flatten(&mut self, subtree: &Subtree, from: &[RepoPath], links: &mut Vec<Pending>) {
        for item in &subtree.items {
            match item {
                Item::File(file) => self.out.files.push(file.clone()),
                Item::Dir(child) => self.flatten(child, from, links),
                Item::Ignored(path) => self.out.ignored.push(path.clone()),
                Item::Finding(finding) => self.out.findings.push(finding.clone()),
                Item::Link(link) => {
                    let mut from = from.to_vec();
                    from.extend(link.real.parent());
                    links.push(Pending { link: link.clone(), from });
                }
            }
        }
    }

    fn follow(&mut self, part: Part<'_>, mut links: Vec<Pending>) -> Result<(), FilesError> {
        // Last in, first out: the links of a directory that was linked to come before its siblings.
        links.reverse();
        while let Some(Pending { link, from }) = links.pop() {
            let path = &link.path;
            match resolve(self.cache, part, &link.real, &link.id, &mut self.left)? {
                Err(SourceFindingKind::TooManyEntries { .. }) => {
                    self.find(&RepoPath::root(), SourceFindingKind::TooManyEntries { limit: self.limits.entries });
                    return Ok(());
                }
                Err(kind) => self.refuse_link(path, kind),
                Ok(Resolved::File(real, _)) if crosses_team(path, &real, false) => {
                    self.refuse_link(path, SourceFindingKind::LinkCrossesTeam);
                }
                Ok(Resolved::File(real, id)) => match (path.as_str() == FLEET_FILE, at_root(path)) {
                    (false, true) => self.find(path, SourceFindingKind::NotADirectory),
                    _ if path.file_name().is_some_and(has_read_extension) => self.file(path, id, Some(real)),
                    _ => self.out.ignored.push(path.clone()),
                },
                Ok(Resolved::Dir(..)) if path.as_str() == FLEET_FILE => {
                    self.find(path, SourceFindingKind::NotAFile);
                }
                Ok(Resolved::Dir(real, _)) if from.iter().any(|dir| dir.starts_with(&real)) => {
                    self.refuse_link(path, SourceFindingKind::LinkLoop);
                }
                Ok(Resolved::Dir(real, _)) if crosses_team(path, &real, true) => {
                    self.refuse_link(path, SourceFindingKind::LinkCrossesTeam);
                }
                Ok(Resolved::Dir(real, id)) => {
                    let subtree = self.subtree(part, path, Some(&real), &id)?;
                    self.flatten(&subtree, &from, &mut links);
                }
            }
        }
        Ok(())
    }

    /// A link that nobody would read anyway is merely listed, unless it looks like an attempt to reach elsewhere.
    fn refuse_link(&mut self, path: &RepoPath, kind: SourceFindingKind) {
        let harmless = matches!(kind, SourceFindingKind::LinkBroken | SourceFindingKind::LinkOutsideRead);
        // Without an extension it may be meant as a directory.
        let unread = path.extension().is_some() && !path.file_name().is_some_and(has_read_extension);
        if harmless && unread {
            self.out.ignored.push(path.clone());
        } else {
            self.find(path, kind);
        }
    }

    fn record_among_intents(&mut self, overlay: &Overlay<'_>) -> Result<(), FilesError> {
        let root = RepoPath::root();
        let id = overlay.intents.root()?;
        let entries = self.cache.dir(overlay.intents, &root, &id)?;
        let misplaced =
            RECORD_TOPS.iter().filter(|top| entries.get(top).is_some() || entries.duplicates.contains(**top));
        self.out.record_among_intents.extend(misplaced.filter_map(|top| root.join(top).ok()));
        Ok(())
    }

    fn file(&mut self, path: &RepoPath, id: ContentId, link: Option<RepoPath>) {
        match source_file(path.clone(), id, link) {
            Item::File(file) => self.out.files.push(file),
            Item::Ignored(path) => self.out.ignored.push(path),
            Item::Dir(_) | Item::Link(_) | Item::Finding(_) => {}
        }
    }

    fn find(&mut self, path: &RepoPath, kind: SourceFindingKind) {
        self.out.findings.push(SourceFinding { path: path.clone(), kind });
    }
}

fn source_file(path: RepoPath, id: ContentId, link: Option<RepoPath>) -> Item {
    match FileClass::of(&path) {
        Some(class) => Item::File(SourceFile { class, id, from: class.origin(), link, path }),
        None => Item::Ignored(path),
    }
}

fn finding(path: &RepoPath, kind: SourceFindingKind) -> Item {
    Item::Finding(SourceFinding { path: path.clone(), kind })
}

fn at_root(path: &RepoPath) -> bool {
    path.components().count() == 1
}

/// Whether a link in one team's folder leads to something of another team. A team could otherwise have another's
/// encrypted secrets decrypted into its own namespace.
fn crosses_team(link: &RepoPath, target: &RepoPath, is_dir: bool) -> bool {
    let mut names = link.components();
    let mine = match (names.next(), names.next(), names.next()) {
        (Some("teams" | "vendor"), Some(team), Some(_)) => team,
        _ => return false,
    };
    let mut names = target.components();
    match (names.next(), names.next(), names.next()) {
        // The folder of every team.
        (Some("teams" | "vendor"), None, _) => is_dir,
        // `teams/<team>.yaml` is the platform's.
        (Some("teams" | "vendor"), Some(team), below) => (is_dir || below.is_some()) && team != mine,
        _ => false,
    }
}
