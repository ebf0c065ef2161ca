use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use fleetwright_compiler::source::{PathError, SourceFindingKind as Kind};

use super::*;
use crate::FolderFiles;

#[test]
fn odd_entries_are_findings() {
    let dir = tempfile::tempdir().unwrap();
    let clusters = dir.path().join("clusters");
    fs::create_dir(&clusters).unwrap();
    fs::write(clusters.join("fine.yaml"), "x").unwrap();
    fs::write(clusters.join("line\nbreak.yaml"), "x").unwrap();
    fs::write(clusters.join(OsStr::from_bytes(b"bad\xff.yaml")), "x").unwrap();
    let _socket = UnixListener::bind(clusters.join("socket.yaml")).unwrap();
    let folder = FolderFiles::open(dir.path()).unwrap();
    let bad = |name: &str, reason| ("clusters".to_owned(), Kind::BadName { name: name.into(), reason });
    assert_eq!(
        findings(&folder),
        [
            bad("bad\\xff.yaml", PathError::NotUtf8),
            bad("line\nbreak.yaml", PathError::Control),
            ("clusters/socket.yaml".to_owned(), Kind::Special),
        ]
    );
    assert_eq!(list(&folder).files.len(), 1);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    on_disk(dir.path(), &[("clusters/a.yaml", Put::File("a")), ("teams/a/x.yaml", Put::File("x"))]);
    let missing = FolderFiles::open(&dir.path().join("none")).unwrap_err();
    assert!(missing.path.ends_with("none"), "{missing}");
    assert!(FolderFiles::open(&dir.path().join("clusters/a.yaml")).is_err(), "a file is no folder");

    let closed = dir.path().join("teams/a");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything.
    let expected = fs::read_dir(&closed).map(|_| ()).map_err(|e| e.to_string());
    let opened = FolderFiles::open(dir.path()).map(|_| ()).map_err(|e| e.reason);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(opened, expected);
}

#[test]
fn an_edit_after_opening_is_an_error_not_a_mixture() {
    let dir = tempfile::tempdir().unwrap();
    on_disk(dir.path(), &[("clusters/a.yaml", Put::File("old")), ("clusters/b.yaml", Put::File("old"))]);
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "old").unwrap();
    let folder = FolderFiles::open(dir.path()).unwrap();
    let overlay = Overlay::same(&folder);
    let files = list(&folder).files;

    fs::write(dir.path().join("clusters/a.yaml"), "new").unwrap();
    let error = overlay.read(&files[0], &Limits::STANDARD).unwrap_err().to_string();
    assert!(error.contains("clusters/a.yaml: it changed while the folder was being read"), "{error}");

    fs::remove_file(dir.path().join("clusters/b.yaml")).unwrap();
    assert!(overlay.read(&files[1], &Limits::STANDARD).is_err());
    symlink(secret.path(), dir.path().join("clusters/b.yaml")).unwrap();
    assert!(overlay.read(&files[1], &Limits::STANDARD).is_err(), "the same bytes, but through a link");
}

#[test]
fn after_changes_gives_what_opening_again_gives() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    on_disk(
        root,
        &[
            ("fleet.yaml", Put::File("f")),
            ("clusters/a.yaml", Put::File("a")),
            ("teams/a/web/x.yaml", Put::File("x")),
            ("teams/a/web/run.sh", Put::Program("run")),
            ("teams/b/y.yaml", Put::File("y")),
        ],
    );
    let mut folder = FolderFiles::open(root).unwrap();
    type Edit = fn(&Path);
    let edits: [(&[&str], Edit); 8] = [
        (&["teams/a/web/x.yaml"], |root| fs::write(root.join("teams/a/web/x.yaml"), "other").unwrap()),
        (&["teams/a/web/new.yaml"], |root| fs::write(root.join("teams/a/web/new.yaml"), "new").unwrap()),
        (&["clusters/a.yaml"], |root| fs::remove_file(root.join("clusters/a.yaml")).unwrap()),
        (&["clusters/c/d.yaml"], |root| on_disk(root, &[("clusters/c/d.yaml", Put::File("d"))])),
        (&["teams/b"], |root| fs::rename(root.join("teams/b"), root.join("teams/moved")).unwrap()),
        (&["teams/moved"], |_| ()),
        (&["teams/a"], |root| {
            fs::remove_dir_all(root.join("teams/a")).unwrap();
            symlink("moved", root.join("teams/a")).unwrap();
        }),
        (&["vendor/x/y/z.yaml", "fleet.yaml"], |root| {
            on_disk(root, &[("vendor/x/y/z.yaml", Put::File("z"))]);
            fs::remove_file(root.join("fleet.yaml")).unwrap();
        }),
    ];
    for (changed, edit) in edits {
        edit(root);
        let changed: Vec<RepoPath> = changed.iter().map(|text| path(text)).collect();
        folder = folder.after(&changed).unwrap();
        let fresh = FolderFiles::open(root).unwrap();
        assert_eq!(folder.root(), fresh.root(), "{changed:?}");
        assert_eq!(shown(&folder), shown(&fresh));
    }
}

#[test]
fn depth_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let deep = vec!["d"; 300].join("/");
    fs::create_dir_all(dir.path().join("teams").join(&deep)).unwrap();
    fs::write(dir.path().join("teams").join(&deep).join("x.yaml"), "x").unwrap();
    let folder = FolderFiles::open(dir.path()).unwrap();
    let found = findings(&folder);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, Kind::TooDeep { limit: 64 });
}

#[test]
fn the_root_may_be_reached_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    on_disk(&dir.path().join("real"), &[("fleet.yaml", Put::File("f"))]);
    symlink("real", dir.path().join("link")).unwrap();
    assert_eq!(shown(&FolderFiles::open(&dir.path().join("link")).unwrap()).len(), 1);
}
