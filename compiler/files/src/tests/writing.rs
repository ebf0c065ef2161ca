use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;

use super::*;
use crate::{Stale, WriteError, WriteReport, write_tree};

const MANIFEST: &str = ".fleetwright-rendered";

fn write(dir: &Path, files: &[(&str, &str)]) -> Result<WriteReport, WriteError> {
    write_tree(dir, files.iter().map(|(at, text)| (path(at), *text)), Stale::Remove)
}

fn report(written: &[&str], unchanged: &[&str], removed: &[&str]) -> WriteReport {
    let paths = |list: &[&str]| list.iter().map(|text| path(text)).collect();
    WriteReport { written: paths(written), unchanged: paths(unchanged), removed: paths(removed) }
}

/// Everything below a folder, links not followed, without the manifest.
fn tree(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(dir.join(&at)).unwrap() {
            let entry = entry.unwrap();
            let below = at.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                todo.push(below.clone());
                found.push(format!("{}/", below.display()));
            } else if entry.file_name() != MANIFEST {
                found.push(below.display().to_string());
            }
        }
    }
    found.sort();
    found
}

fn owned(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join(MANIFEST)).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn only_what_changed_is_written_and_only_ours_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("new/rendered");
    let first = [("eu/a/web.yaml", "1"), ("eu/b/api.yaml", "2"), ("us/a/web.yaml", "3")];
    let all = ["eu/a/web.yaml", "eu/b/api.yaml", "us/a/web.yaml"];
    assert_eq!(write(&out, &first).unwrap(), report(&all, &[], &[]));
    assert_eq!(owned(&out), all);
    let inode = |at: &str| fs::metadata(out.join(at)).unwrap().ino();
    let (kept, changed, manifest) = (inode("eu/a/web.yaml"), inode("us/a/web.yaml"), inode(MANIFEST));

    assert_eq!(write(&out, &first).unwrap(), report(&[], &all, &[]));
    assert_eq!(inode(MANIFEST), manifest, "quiet when nothing changed");

    fs::write(out.join("eu/notes.txt"), "somebody's").unwrap();
    fs::write(out.join("eu/b/mine.yaml"), "somebody's").unwrap();
    let second = [("us/a/web.yaml", "4"), ("eu/a/web.yaml", "1")];
    assert_eq!(write(&out, &second).unwrap(), report(&["us/a/web.yaml"], &["eu/a/web.yaml"], &["eu/b/api.yaml"]));
    assert_eq!(inode("eu/a/web.yaml"), kept);
    assert_ne!(inode("us/a/web.yaml"), changed, "moved over, not written into");

    assert_eq!(write(&out, &[]).unwrap(), report(&[], &[], &["eu/a/web.yaml", "us/a/web.yaml"]));
    assert_eq!(tree(&out), ["eu/", "eu/b/", "eu/b/mine.yaml", "eu/notes.txt"]);
    assert_eq!(owned(&out), [""; 0]);
}

#[test]
fn a_part_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("eu/a.yaml", "1"), ("us/a.yaml", "1")]).unwrap();
    let files = [(path("eu/a.yaml"), "2")];
    assert_eq!(write_tree(dir.path(), files, Stale::Keep).unwrap(), report(&["eu/a.yaml"], &[], &[]));
    assert_eq!(owned(dir.path()), ["eu/a.yaml", "us/a.yaml"]);
}

#[test]
fn somebodys_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("theirs.yaml"), "x").unwrap();
    let error = write(dir.path(), &[("a.yaml", "1")]).unwrap_err().to_string();
    assert!(error.contains("the folder has files (`theirs.yaml`) and no .fleetwright-rendered"), "{error}");
    assert_eq!(tree(dir.path()), ["theirs.yaml"]);

    let checkout = tempfile::tempdir().unwrap();
    fs::create_dir(checkout.path().join(".git")).unwrap();
    assert!(write(checkout.path(), &[("a.yaml", "1")]).is_ok(), "a fresh checkout is empty");
}

#[test]
fn somebodys_file_in_our_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a/x.yaml", "1")]).unwrap();
    fs::write(dir.path().join("a/y.yaml"), "theirs").unwrap();
    fs::create_dir_all(dir.path().join("a/z.yaml/deep")).unwrap();
    for (at, expected) in [
        ("a/y.yaml", "did not write is there"),
        ("a/z.yaml", "did not write is there"),
        ("a/y.yaml/b", "must be a directory"),
    ] {
        let error = write(dir.path(), &[("a/x.yaml", "1"), (at, "2")]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("a/y.yaml")).unwrap(), "theirs");
    assert_eq!(owned(dir.path()), ["a/x.yaml"]);
}

#[test]
fn links_are_never_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.yaml"), "theirs").unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a/x.yaml", "1"), ("b.yaml", "1")]).unwrap();
    fs::remove_dir_all(dir.path().join("a")).unwrap();
    symlink(outside.path(), dir.path().join("a")).unwrap();
    assert!(matches!(write(dir.path(), &[("a/x.yaml", "2")]), Err(WriteError::Refused { .. })));
    // Stale, but behind a link now: not ours any more.
    write(dir.path(), &[("b.yaml", "1")]).unwrap();
    fs::remove_file(dir.path().join("b.yaml")).unwrap();
    symlink(outside.path().join("x.yaml"), dir.path().join("b.yaml")).unwrap();
    assert!(matches!(write(dir.path(), &[("b.yaml", "2")]), Err(WriteError::Refused { .. })));
    write(dir.path(), &[]).unwrap();
    assert_eq!(fs::read_to_string(outside.path().join("x.yaml")).unwrap(), "theirs");
    assert_eq!(tree(dir.path()), ["a", "b.yaml"], "the links stay");

    symlink(outside.path().join("x.yaml"), dir.path().join("m")).unwrap();
    fs::rename(dir.path().join("m"), dir.path().join(MANIFEST)).unwrap();
    assert!(write(dir.path(), &[]).is_err());
}

#[test]
fn files_and_directories_trade_places() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a", "1"), ("b/c/d", "1"), ("b/e", "1")]).unwrap();
    let done = write(dir.path(), &[("a/x", "2"), ("b", "2")]).unwrap();
    assert_eq!(done, report(&["a/x", "b"], &[], &["a", "b/c/d", "b/e"]));
    assert_eq!(tree(dir.path()), ["a/", "a/x", "b"]);
    assert_eq!(owned(dir.path()), ["a/x", "b"]);
    for both in [[("c", "1"), ("c/d", "1")], [("e/f", "1"), ("e", "1")], [("g", "1"), ("g", "1")]] {
        assert!(matches!(write(dir.path(), &both), Err(WriteError::Refused { .. })), "{both:?}");
    }
}

#[test]
fn a_killed_run_is_cleaned_up_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a.yaml", "1")]).unwrap();
    // As a run leaves it that noted two paths, wrote one, and was killed while noting a third.
    let mut manifest = fs::read_to_string(dir.path().join(MANIFEST)).unwrap();
    manifest.push_str("z.yaml\nb.yaml\nc.ya");
    fs::write(dir.path().join(MANIFEST), manifest).unwrap();
    fs::write(dir.path().join("z.yaml"), "half").unwrap();
    assert_eq!(
        write(dir.path(), &[("a.yaml", "1"), ("n.yaml", "1")]).unwrap(),
        report(&["n.yaml"], &["a.yaml"], &["b.yaml", "z.yaml"])
    );
    assert_eq!(tree(dir.path()), ["a.yaml", "n.yaml"]);
    assert_eq!(owned(dir.path()), ["a.yaml", "n.yaml"]);
}

#[test]
fn reserved_and_foreign_paths() {
    let dir = tempfile::tempdir().unwrap();
    for at in [MANIFEST, ".git/config", "a/.GIT/x"] {
        assert!(matches!(write(dir.path(), &[(at, "1")]), Err(WriteError::Refused { .. })), "{at}");
    }
    fs::write(dir.path().join(MANIFEST), "../outside.yaml\n").unwrap();
    let error = write(dir.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("line `../outside.yaml`: the path has a component `.` or `..`"), "{error}");
}
