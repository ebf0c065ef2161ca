use std::fs;

use fleetwright_compiler::source::FilesError;

use super::*;
use crate::{FleetRoot, GitFiles, GitPlace, discover, live_revision};

fn files(git: &GitFiles) -> Vec<String> {
    list(git).files.iter().map(|f| f.path.to_string()).collect()
}

fn reason(result: Result<GitFiles, FilesError>) -> String {
    result.map(|git| format!("{git:?}")).unwrap_err().to_string()
}

#[test]
fn any_revision_of_a_bare_repository() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(dir.path(), true);
    let one = commit(&repo, "main", &[("clusters/one.yaml", Put::File("1"))]);
    let two = commit(&repo, "main", &[("clusters/two.yaml", Put::File("2"))]);
    let live = commit(&repo, "live", &[("clusters/live.yaml", Put::File("3"))]);
    let tagged = repo.find_object(one, None).unwrap();
    let who = Signature::new("t", "t@example.com", &git2::Time::new(0, 0)).unwrap();
    repo.tag("v1", &tagged, &who, "an annotated tag", false).unwrap();
    let tree = repo.find_commit(two).unwrap().tree_id().to_string();

    for (revision, commit, expected) in [
        ("main", Some(two), "clusters/two.yaml"),
        ("HEAD", Some(two), "clusters/two.yaml"),
        ("HEAD~1", Some(one), "clusters/one.yaml"),
        ("main^", Some(one), "clusters/one.yaml"),
        ("refs/heads/live", Some(live), "clusters/live.yaml"),
        ("v1", Some(one), "clusters/one.yaml"),
        (&one.to_string(), Some(one), "clusters/one.yaml"),
        (&one.to_string()[..12], Some(one), "clusters/one.yaml"),
        ("main^{tree}", None, "clusters/two.yaml"),
        (&tree, None, "clusters/two.yaml"),
    ] {
        let git = GitFiles::open(dir.path(), revision).unwrap();
        assert_eq!(files(&git), [expected], "{revision}");
        assert_eq!(git.commit_id(), commit.map(|oid| oid.to_string()), "{revision}");
    }

    for (revision, expected) in [
        ("mian", "there is no such branch, tag or commit; did you mean `main`?"),
        ("life", "did you mean `live`?"),
        ("nothing-like-it", "there is no such branch, tag or commit; `git fetch` if it is new"),
        ("main~9", "`main` is there, but nothing of it is called `main~9`"),
        ("mian~1", "there is no such branch, tag or commit; did you mean `main`?"),
        ("main:clusters/two.yaml", "it is a file; name a commit or a folder"),
    ] {
        let reason = reason(GitFiles::open(dir.path(), revision));
        assert!(reason.starts_with(&format!("cannot read revision `{revision}` of ")), "{reason}");
        assert!(reason.ends_with(expected), "{reason}");
    }
}

#[test]
fn a_shallow_clone_says_that_it_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(dir.path(), true);
    commit(&repo, "main", &[("clusters/one.yaml", Put::File("1"))]);
    let two = commit(&repo, "main", &[("clusters/two.yaml", Put::File("2"))]);
    // what a clone of depth 1 has: the commit without its parent, and its name in a file
    let tree = repo.find_commit(two).unwrap().tree_id();
    repo.reference("refs/remotes/origin/HEAD", two, true, "").unwrap();
    let grafted = repo.find_commit(two).unwrap().parent_id(0).unwrap().to_string();
    let object = dir.path().join("objects").join(&grafted[..2]).join(&grafted[2..]);
    fs::remove_file(object).unwrap();
    fs::write(dir.path().join("shallow"), format!("{two}\n")).unwrap();
    drop(repo);
    let reason = reason(GitFiles::open(dir.path(), "HEAD~1"));
    assert!(
        reason.ends_with(
            "`HEAD` is there, but the clone is shallow and holds no commit before its depth; `git fetch --unshallow` gets the rest"
        ),
        "{reason}"
    );
    assert_eq!(GitFiles::open(dir.path(), &tree.to_string()).unwrap().commit_id(), None);
}

#[test]
fn no_repository_and_no_commit() {
    let dir = tempfile::tempdir().unwrap();
    assert!(reason(GitFiles::open(dir.path(), "main")).ends_with("not a Git repository"));
    init(dir.path(), false);
    for revision in ["HEAD", "main"] {
        assert!(reason(GitFiles::open(dir.path(), revision)).ends_with("the repository has no commit yet"));
    }
    assert_eq!(live_revision(dir.path(), "live"), Ok(None));
}

#[test]
fn linked_worktrees() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(&dir.path().join("main"), false);
    commit(&repo, "main", &[("fleet.yaml", Put::File("f"))]);
    repo.worktree("other", &dir.path().join("other"), None).unwrap();
    let other = dir.path().join("other");
    assert_eq!(files(&GitFiles::open(&other, "HEAD").unwrap()), ["fleet.yaml"]);
    let found = discover(&other).unwrap();
    assert_eq!(found.git.unwrap().repo, fs::canonicalize(&other).unwrap());
}

#[test]
fn a_fleet_in_a_subfolder() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let spec = [
        ("deploy/fleet/fleet.yaml", Put::File("f")),
        ("deploy/fleet/teams/a/x.yaml", Put::File("x")),
        ("deploy/fleet/teams/a/out.yaml", Put::Link("../../../other.yaml")),
        ("deploy/other.yaml", Put::File("o")),
    ];
    let repo = init(&root, false);
    commit(&repo, "main", &spec);
    on_disk(&root, &spec);

    let fleet = root.join("deploy/fleet");
    let found = discover(&fleet.join("teams/a")).unwrap();
    let place = GitPlace { repo: root.clone(), prefix: path("deploy/fleet") };
    assert_eq!(found, FleetRoot { dir: fleet.clone(), git: Some(place.clone()) });
    let git = GitFiles::open_below(&place.repo, "main", &place.prefix).unwrap();
    assert_eq!(files(&git), ["fleet.yaml", "teams/a/x.yaml"]);
    assert_eq!(findings(&git), [("teams/a/out.yaml".to_owned(), SourceFindingKind::LinkLeavesRoot)]);
    assert_eq!(shown(&git), shown(&crate::FolderFiles::open(&found.dir).unwrap()));

    let missing = GitFiles::open_below(&root, "main", &path("deploy/none"));
    assert!(reason(missing).ends_with("main:deploy/none: this revision has no such folder"));
    let file = GitFiles::open_below(&root, "main", &path("deploy/other.yaml"));
    assert!(reason(file).ends_with("`other.yaml` is not a folder in this revision"));
    assert_eq!(discover(&fleet.join("teams/a/x.yaml")).unwrap().dir, fleet, "from a file");
}

#[test]
fn without_git_and_without_fleet() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let error = discover(&root).unwrap_err().to_string();
    assert!(error.contains("there is no fleet.yaml, nor in any folder above"), "{error}");
    on_disk(&root, &[("fleet.yaml", Put::File("f"))]);
    assert_eq!(discover(&root).unwrap(), FleetRoot { dir: root.clone(), git: None });
    init(&root.join("mirror.git"), true);
    fs::remove_file(root.join("fleet.yaml")).unwrap();
    let error = discover(&root.join("mirror.git")).unwrap_err().to_string();
    assert!(error.ends_with("it is a bare Git repository: name a revision of it with --rev"), "{error}");
}

#[test]
fn the_live_branch() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(dir.path(), true);
    let tip = commit(&repo, "main", &[("fleet.yaml", Put::File("f"))]);
    let live = || live_revision(dir.path(), "live").unwrap();
    assert_eq!(live(), None);
    repo.reference("refs/tags/live", tip, false, "").unwrap();
    assert_eq!(live(), None, "a tag is no branch");
    repo.reference("refs/remotes/origin/live", tip, false, "").unwrap();
    assert_eq!(live().as_deref(), Some("refs/remotes/origin/live"));
    commit(&repo, "live", &[("fleet.yaml", Put::File("g"))]);
    assert_eq!(live().as_deref(), Some("refs/heads/live"));
    assert!(live_revision(&dir.path().join("none"), "live").is_err());
    assert_eq!(live_revision(dir.path(), "bad..name"), Ok(None));
}

#[test]
fn threads_share_a_tree() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(dir.path(), true);
    let names: Vec<String> = (0..40).map(|i| format!("clusters/c{i}.yaml")).collect();
    let spec: Vec<(&str, Put)> = names.iter().map(|name| (&**name, Put::File("same"))).collect();
    commit(&repo, "main", &spec);
    let git = GitFiles::open(dir.path(), "main").unwrap();
    let all = shown(&git);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| shown(&git))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), all);
        }
    });
}

#[test]
fn a_missing_object_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let repo = init(dir.path(), true);
    commit(&repo, "main", &[("clusters/a.yaml", Put::File("a"))]);
    let git = GitFiles::open(dir.path(), "main").unwrap();
    let file = list(&git).files.remove(0);
    let hex: String = file.id.0[..20].iter().map(|b| format!("{b:02x}")).collect();
    fs::remove_file(dir.path().join("objects").join(&hex[..2]).join(&hex[2..])).unwrap();
    // A handle of its own: the first may remember the object.
    let git = GitFiles::open(dir.path(), "main").unwrap();
    let error = Overlay::same(&git).read(&file, &Limits::STANDARD).unwrap_err().to_string();
    assert!(error.starts_with("cannot read main:clusters/a.yaml: object not found"), "{error}");
    assert!(error.contains("partial clone"), "{error}");
}
