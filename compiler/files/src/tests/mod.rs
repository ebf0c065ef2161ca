//! The same trees three ways: in memory, as a folder, in Git.

mod folders;
mod revisions;
mod trees;
mod writing;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fleetwright_compiler::source::{
    FleetFiles, Limits, Listing, MemoryFiles, Overlay, RepoPath, SourceFindingKind, walk,
};
use git2::{Oid, Repository, RepositoryInitOptions, Signature};

/// What lies at a path.
#[derive(Clone, Copy, Debug)]
pub enum Put {
    File(&'static str),
    Program(&'static str),
    Link(&'static str),
    Submodule,
}

pub fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

pub fn in_memory(spec: &[(&str, Put)]) -> MemoryFiles {
    spec.iter().fold(MemoryFiles::default(), |tree, (at, put)| match put {
        Put::File(text) | Put::Program(text) => tree.with(&path(at), text.as_bytes()),
        Put::Link(target) => tree.with_link(&path(at), target),
        Put::Submodule => tree.with_submodule(&path(at), "4f1c"),
    })
}

pub fn on_disk(root: &Path, spec: &[(&str, Put)]) {
    for (at, put) in spec {
        let full = root.join(at);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        match put {
            Put::File(text) => fs::write(full, text).unwrap(),
            Put::Program(text) => {
                use std::os::unix::fs::PermissionsExt as _;
                fs::write(&full, text).unwrap();
                fs::set_permissions(full, fs::Permissions::from_mode(0o755)).unwrap();
            }
            Put::Link(target) => std::os::unix::fs::symlink(target, full).unwrap(),
            Put::Submodule => {
                fs::create_dir(&full).unwrap();
                fs::write(full.join(".git"), "gitdir: ../../.git/modules/lib\n").unwrap();
                fs::write(full.join("inside.yaml"), "{}").unwrap();
            }
        }
    }
}

#[derive(Default)]
struct Node {
    here: BTreeMap<String, Put>,
    below: BTreeMap<String, Node>,
}

/// Writes a tree with libgit2's own builder.
pub fn write_git_tree(repo: &Repository, spec: &[(&str, Put)]) -> Oid {
    let mut root = Node::default();
    for (at, put) in spec {
        let mut names: Vec<&str> = at.split('/').collect();
        let last = names.pop().unwrap();
        let dir = names.into_iter().fold(&mut root, |dir, name| dir.below.entry(name.to_owned()).or_default());
        dir.here.insert(last.to_owned(), *put);
    }
    write_node(repo, &root)
}

fn write_node(repo: &Repository, node: &Node) -> Oid {
    let mut builder = repo.treebuilder(None).unwrap();
    for (name, put) in &node.here {
        let (oid, mode) = match put {
            Put::File(text) => (repo.blob(text.as_bytes()).unwrap(), 0o100_644),
            Put::Program(text) => (repo.blob(text.as_bytes()).unwrap(), 0o100_755),
            Put::Link(target) => (repo.blob(target.as_bytes()).unwrap(), 0o120_000),
            Put::Submodule => (Oid::from_bytes(&[7; 20]).unwrap(), 0o160_000),
        };
        builder.insert(name, oid, mode).unwrap();
    }
    for (name, below) in &node.below {
        builder.insert(name, write_node(repo, below), 0o040_000).unwrap();
    }
    builder.write().unwrap()
}

/// A commit of this tree on a branch, on top of what is there.
pub fn commit(repo: &Repository, branch: &str, spec: &[(&str, Put)]) -> Oid {
    let tree = repo.find_tree(write_git_tree(repo, spec)).unwrap();
    let reference = format!("refs/heads/{branch}");
    let parent = repo.find_reference(&reference).ok().map(|r| r.peel_to_commit().unwrap());
    let parents: Vec<_> = parent.iter().collect();
    let who = Signature::new("test", "test@example.com", &git2::Time::new(1_000_000_000, 0)).unwrap();
    repo.commit(Some(&reference), &who, &who, "test", &tree, &parents).unwrap()
}

pub fn init(at: &Path, bare: bool) -> Repository {
    let mut options = RepositoryInitOptions::new();
    options.bare(bare).initial_head("main");
    Repository::init_opts(at, &options).unwrap()
}

pub fn list(files: &dyn FleetFiles) -> Listing {
    walk(&Overlay::same(files), &Limits::STANDARD).unwrap()
}

/// A listing without ids, with the content of every file.
pub fn shown(files: &dyn FleetFiles) -> Vec<String> {
    let overlay = Overlay::same(files);
    let listing = list(files);
    let read = |file| String::from_utf8(overlay.read(file, &Limits::STANDARD).unwrap().to_vec()).unwrap();
    let mut lines: Vec<String> = listing
        .files
        .iter()
        .map(|f| format!("{} {:?} {:?} {:?} {:?}", f.path, f.class, f.from, f.link, read(f)))
        .collect();
    lines.extend(listing.ignored.iter().map(|path| format!("? {path}")));
    lines.extend(listing.findings.iter().map(|finding| format!("! {finding:?}")));
    lines
}

pub fn findings(files: &dyn FleetFiles) -> Vec<(String, SourceFindingKind)> {
    list(files).findings.into_iter().map(|f| (f.path.to_string(), f.kind)).collect()
}
