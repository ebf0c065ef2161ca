use std::fs;
use std::sync::Arc;

use fleetwright_compiler::base::ContentId;
use fleetwright_compiler::source::{
    DirEntry, FilesError, PathError, SourceFindingKind as Kind, WalkCache, find, walk_with,
};
use git2::{ObjectType, Repository};

use super::*;
use crate::{FolderFiles, GitFiles};

const SPEC: [(&str, Put); 24] = [
    ("README.md", Put::File("not read")),
    ("clusters/eu/a.yaml", Put::File("a")),
    ("clusters/eu-b.yaml", Put::File("b")),
    ("clusters/eu.d/c.yaml", Put::File("c")),
    ("docs/x.yaml", Put::File("not read")),
    ("fleet.yaml", Put::File("fleet")),
    ("fleet.yml", Put::File("a mistake")),
    ("placements/a.yaml", Put::File("p")),
    ("state/held/a/web/4f1c/app.yaml", Put::File("held")),
    ("teams/a.yaml", Put::File("team")),
    ("teams/a/.helmignore", Put::File("hidden")),
    ("teams/a/.terraform/x.yaml", Put::File("hidden")),
    ("teams/a/base/web.yaml", Put::File("web")),
    ("teams/a/base/empty.yaml", Put::File("")),
    ("teams/a/broken.yaml", Put::Link("nowhere.yaml")),
    ("teams/a/escape.yaml", Put::Link("../../../outside/secret.yaml")),
    ("teams/a/etc.yaml", Put::Link("/etc/hostname")),
    ("teams/a/lib", Put::Submodule),
    ("teams/a/linked", Put::Link("base")),
    ("teams/a/loop", Put::Link("../a")),
    ("teams/a/run.sh", Put::Program("#!/bin/sh")),
    ("teams/a/tool.yaml", Put::Program("executable")),
    ("teams/a/web.yaml.off", Put::File("off")),
    ("teams/b/other.yaml", Put::Link("../a/base/web.yaml")),
];

#[test]
fn memory_folder_and_git_agree() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("outside")).unwrap();
    fs::write(dir.path().join("outside/secret.yaml"), "secret").unwrap();
    let mut shuffled = SPEC;
    shuffled.sort_by_key(|(path, _)| path.bytes().rev().collect::<Vec<_>>());

    let memory = shown(&in_memory(&SPEC));
    assert_eq!(memory, shown(&in_memory(&shuffled)));
    assert!(
        memory
            .iter()
            .any(|line| line.starts_with("teams/a/linked/web.yaml TeamFolder Intents Some(\"teams/a/base/web.yaml\")"))
    );
    assert_eq!(memory.iter().filter(|line| line.starts_with('!')).count(), 6, "{memory:#?}");

    for (name, spec) in [("one", &SPEC), ("two", &shuffled)] {
        let folder = dir.path().join(name);
        on_disk(&folder, spec);
        // What only a folder can have.
        fs::create_dir_all(folder.join("teams/empty/deeper")).unwrap();
        let repo = init(&folder, false);
        commit(&repo, "main", spec);
        assert_eq!(shown(&FolderFiles::open(&folder).unwrap()), memory, "folder {name}");
        assert_eq!(shown(&GitFiles::open(&folder, "main").unwrap()), memory, "git {name}");
    }
    for line in memory {
        assert!(!line.contains("outside") && !line.contains("hostname") && !line.contains("secret"), "{line}");
    }
}

#[test]
fn a_folder_has_the_ids_of_git() {
    let dir = tempfile::tempdir().unwrap();
    let spec: Vec<_> =
        SPEC.into_iter().filter(|(at, put)| !matches!(put, Put::Submodule) && !at.contains("terraform")).collect();
    on_disk(dir.path(), &spec);
    let repo = init(dir.path(), false);
    commit(&repo, "main", &spec);
    let (folder, git) = (FolderFiles::open(dir.path()).unwrap(), GitFiles::open(dir.path(), "main").unwrap());
    let id = |files: &dyn FleetFiles, at: &str| find(files, &path(at)).unwrap().map(|entry| (entry.kind, entry.id));
    for at in ["clusters", "fleet.yaml", "placements", "state", "teams", "teams/a/tool.yaml", "teams/a/loop"] {
        assert!(id(&git, at).is_some());
        assert_eq!(id(&folder, at), id(&git, at), "{at}");
    }
    assert_eq!(list(&folder), list(&git));

    // So a session that has seen the one asks the other for its root alone.
    let mut cache = WalkCache::new();
    let limits = Limits::STANDARD;
    let seen = walk_with(&mut cache, &Overlay::same(&git), &limits).unwrap();
    let counting = OnlyRoot(&folder);
    assert_eq!(walk_with(&mut cache, &Overlay::same(&counting), &limits).unwrap(), seen);
}

/// Refuses to list anything but the root.
struct OnlyRoot<'a>(&'a FolderFiles);

impl FleetFiles for OnlyRoot<'_> {
    fn root(&self) -> Result<ContentId, FilesError> {
        self.0.root()
    }
    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError> {
        assert!(path.is_root(), "{path} was visited again");
        self.0.dir(path, id)
    }
    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError> {
        self.0.read(path, id)
    }
}

/// A tree as raw bytes, with anything in it that a well-behaved writer would refuse.
fn forge(repo: &Repository, entries: &[(&[u8], &str, Oid)]) -> Oid {
    let mut raw = Vec::new();
    for (name, mode, oid) in entries {
        raw.extend_from_slice(mode.as_bytes());
        raw.push(b' ');
        raw.extend_from_slice(name);
        raw.push(0);
        raw.extend_from_slice(oid.as_bytes());
    }
    repo.odb().unwrap().write(ObjectType::Tree, &raw).unwrap()
}

#[test]
fn forged_trees_are_findings() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(dir.path(), true);
    let blob = repo.blob(b"x").unwrap();
    let clusters = forge(
        &repo,
        &[
            (b"..", "100644", blob),
            (b".git", "100644", blob),
            (b"../up.yaml", "100644", blob),
            (b"bad\xff.yaml", "100644", blob),
            (b"fine.yaml", "100664", blob),
            (b"line\nbreak.yaml", "100644", blob),
            (b"twice.yaml", "100644", blob),
            (b"twice.yaml", "100644", blob),
        ],
    );
    let root = forge(&repo, &[(b"clusters", "40000", clusters)]);
    let git = GitFiles::open(dir.path(), &root.to_string()).unwrap();
    let bad = |name: &str, reason| ("clusters".to_owned(), Kind::BadName { name: name.into(), reason });
    assert_eq!(list(&git).files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["clusters/fine.yaml"]);
    // `../up.yaml` begins with a dot: hidden, as `.git` is.
    assert_eq!(
        findings(&git),
        [
            bad("bad\\xff.yaml", PathError::NotUtf8),
            bad("line\nbreak.yaml", PathError::Control),
            ("clusters".to_owned(), Kind::DuplicateName { name: "twice.yaml".into() }),
        ]
    );
}

#[test]
fn large_files_are_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let big = "x".repeat(5 << 20);
    let spec = [("clusters/big.yaml", Put::File(big.leak()))];
    on_disk(dir.path(), &spec);
    let repo = init(dir.path(), false);
    commit(&repo, "main", &spec);
    let (folder, git) = (FolderFiles::open(dir.path()).unwrap(), GitFiles::open(dir.path(), "main").unwrap());
    let trees: [&dyn FleetFiles; 2] = [&folder, &git];
    for files in trees {
        let overlay = Overlay::same(files);
        let file = &list(files).files[0];
        let error = overlay.read(file, &Limits::STANDARD).unwrap_err();
        assert_eq!(
            error.to_string(),
            "clusters/big.yaml: has 5242880 bytes; a file may have at most 4194304. Split it, or move it elsewhere"
        );
        assert_eq!(files.read(&file.path, &file.id).unwrap().len(), 5 << 20);
    }
}
