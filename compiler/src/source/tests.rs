use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn tree(files: &[&str]) -> MemoryFiles {
    MemoryFiles::new(files.iter().map(|path| (path, format!("content of {path}")))).unwrap()
}

fn listing(overlay: &Overlay<'_>) -> Listing {
    walk(overlay, &Limits::STANDARD).unwrap()
}

/// The listing as lines: files (with the place a link leads to), then `?` ignored, then `!` findings.
fn lines(listing: &Listing) -> Vec<String> {
    let files = listing.files.iter().map(|f| match &f.link {
        Some(real) => format!("{} -> {real}", f.path),
        None => f.path.to_string(),
    });
    let ignored = listing.ignored.iter().map(|path| format!("? {path}"));
    let findings = listing.findings.iter().map(|f| format!("! {} {}", f.path, kind_name(&f.kind)));
    files.chain(ignored).chain(findings).collect()
}

fn kind_name(kind: &SourceFindingKind) -> String {
    let debug = format!("{kind:?}");
    debug.split([' ', '{']).next().unwrap().to_owned()
}

/// Counts how often directories are asked for.
struct Counting<'a>(&'a dyn FleetFiles, AtomicUsize);

impl<'a> Counting<'a> {
    fn new(files: &'a dyn FleetFiles) -> Self {
        Self(files, AtomicUsize::new(0))
    }
    fn calls(&self) -> usize {
        self.1.load(Ordering::Relaxed)
    }
}

impl FleetFiles for Counting<'_> {
    fn root(&self) -> Result<ContentId, FilesError> {
        self.0.root()
    }
    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.dir(path, id)
    }
    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError> {
        self.0.read(path, id)
    }
}

/// A tree with one directory that answers with whatever a test wants.
struct Forged<'a> {
    base: &'a MemoryFiles,
    at: &'a str,
    answer: Result<Vec<DirEntry>, FilesError>,
}

impl FleetFiles for Forged<'_> {
    fn root(&self) -> Result<ContentId, FilesError> {
        self.base.root()
    }
    fn dir(&self, path: &RepoPath, id: &ContentId) -> Result<Vec<DirEntry>, FilesError> {
        if path.as_str() == self.at { self.answer.clone() } else { self.base.dir(path, id) }
    }
    fn read(&self, path: &RepoPath, id: &ContentId) -> Result<Arc<[u8]>, FilesError> {
        self.base.read(path, id)
    }
}

#[test]
fn the_filter() {
    let files = tree(&[
        ".github/workflows/ci.yaml",
        "README.md",
        "approvals/1.yaml",
        "clusters/.hidden/x.yaml",
        "clusters/eu/a.yaml",
        "clusters/eu-b.yaml",
        "docs/example.yaml",
        "fleet.yaml",
        "fleet.yml",
        "placements/a.yaml",
        "policies/p.json",
        "policies/q.YAML",
        "rendered/eu/a/web.yaml",
        "state/tides.yaml",
        "teams/a.yaml",
        "teams/a/.sops.yaml",
        "teams/a/.yaml",
        "teams/a/kustomization.yaml",
        "teams/a/notes.md",
        "teams/a/web.yaml.off",
        "teams/a/x.yaml/deep.yml",
        "vendor/a/web/main.yaml",
    ]);
    let listing = listing(&Overlay::same(&files));
    assert_eq!(
        lines(&listing),
        [
            "approvals/1.yaml",
            "clusters/eu-b.yaml",
            "clusters/eu/a.yaml",
            "fleet.yaml",
            "placements/a.yaml",
            "policies/p.json",
            "state/tides.yaml",
            "teams/a.yaml",
            "teams/a/kustomization.yaml",
            "teams/a/x.yaml/deep.yml",
            "vendor/a/web/main.yaml",
            "? fleet.yml",
            "? policies/q.YAML",
            "? teams/a/notes.md",
            "? teams/a/web.yaml.off",
        ]
    );
    use FileClass::*;
    let classes: Vec<FileClass> = listing.files.iter().map(|f| f.class).collect();
    assert_eq!(
        classes,
        [Approval, Cluster, Cluster, FleetFile, Placements, Policy, State, Team, TeamFolder, TeamFolder, Vendor]
    );
    assert!(listing.files.iter().all(|f| f.from == f.class.origin()));
    assert_eq!(listing.record_among_intents, []);
}

#[test]
fn overlay_takes_the_record_from_its_tree() {
    let main = tree(&["fleet.yaml", "teams/a.yaml", "placements/stale.yaml"]);
    let live = tree(&["fleet.yaml", "teams/old.yaml", "placements/a.yaml", "state/tides.yaml"]);
    let both = Overlay::with_record(&main, &live);
    let found = listing(&both);
    assert_eq!(lines(&found), ["fleet.yaml", "placements/a.yaml", "state/tides.yaml", "teams/a.yaml"]);
    assert_eq!(found.record_among_intents, [path("placements")]);
    for file in &found.files {
        let text = both.read(file, &Limits::STANDARD).unwrap();
        assert_eq!(*text, *format!("content of {}", file.path).as_bytes());
    }

    let none = Overlay::without_record(&live);
    let found = listing(&none);
    assert_eq!(lines(&found), ["fleet.yaml", "teams/old.yaml"]);
    assert_eq!(found.record_among_intents, [path("placements"), path("state")]);
    let placements = &listing(&Overlay::same(&live)).files[1];
    assert!(matches!(none.read(placements, &Limits::STANDARD), Err(ReadError::Files(_))));
}

#[test]
fn links() {
    let base = tree(&[
        "clusters/a.yaml",
        "docs/x.yaml",
        "placements/a.yaml",
        "policies/shared/p.yaml",
        "teams/a/base/web.yaml",
        "teams/a/secret.txt",
        "teams/a.yaml",
        "teams/b/secret.yaml",
        "vendor/a/web/main.yaml",
        "vendor/b/web/main.yaml",
    ]);
    let base_lines = lines(&listing(&Overlay::same(&base)));
    for (link, target, expected) in [
        // Inside.
        ("teams/a/x.yaml", "base/web.yaml", "teams/a/x.yaml -> teams/a/base/web.yaml"),
        ("teams/a/x.yaml", "./base//../base/./web.yaml", "teams/a/x.yaml -> teams/a/base/web.yaml"),
        ("teams/a/x.yaml", "secret.txt", "teams/a/x.yaml -> teams/a/secret.txt"),
        ("teams/a/x", "base", "teams/a/x/web.yaml -> teams/a/base/web.yaml"),
        ("teams/a/x", "base/", "teams/a/x/web.yaml -> teams/a/base/web.yaml"),
        ("teams/a/x", "../../policies", "teams/a/x/shared/p.yaml -> policies/shared/p.yaml"),
        ("teams/a/x", "../../vendor/a", "teams/a/x/web/main.yaml -> vendor/a/web/main.yaml"),
        ("teams/a/x.txt", "base/web.yaml", "? teams/a/x.txt"),
        ("clusters/x.yaml", "../teams/b/secret.yaml", "clusters/x.yaml -> teams/b/secret.yaml"),
        ("fleet.yaml", "clusters/a.yaml", "fleet.yaml -> clusters/a.yaml"),
        ("approvals", "policies", "approvals/shared/p.yaml -> policies/shared/p.yaml"),
        // Out of the root.
        ("teams/a/x.yaml", "/etc/kubernetes/admin.conf", "! teams/a/x.yaml LinkLeavesRoot"),
        ("teams/a/x.yaml", "C:/admin.conf", "! teams/a/x.yaml LinkLeavesRoot"),
        ("teams/a/x.yaml", "../../../outside.yaml", "! teams/a/x.yaml LinkLeavesRoot"),
        ("teams/a/x.yaml", "../../../fleet/clusters/a.yaml", "! teams/a/x.yaml LinkLeavesRoot"),
        ("teams/a/x.txt", "/etc/passwd", "! teams/a/x.txt LinkLeavesRoot"),
        ("clusters/x", "..", "! clusters/x LinkLoop"),
        // To what is not read.
        ("teams/a/x.yaml", "../../docs/x.yaml", "! teams/a/x.yaml LinkOutsideRead"),
        ("teams/a/x.yaml", "../../docs/../clusters/a.yaml", "! teams/a/x.yaml LinkOutsideRead"),
        ("teams/a/x.yaml", "../../.git/config", "! teams/a/x.yaml LinkOutsideRead"),
        ("teams/a/x.yaml", "../../placements/a.yaml", "! teams/a/x.yaml LinkOutsideRead"),
        ("teams/a/x", "../../docs", "! teams/a/x LinkOutsideRead"),
        ("teams/a/x.md", "../../README.md", "? teams/a/x.md"),
        // To another team.
        ("teams/a/x.yaml", "../b/secret.yaml", "! teams/a/x.yaml LinkCrossesTeam"),
        ("teams/a/x", "../b", "! teams/a/x LinkCrossesTeam"),
        ("teams/a/x", "../../vendor/b", "! teams/a/x LinkCrossesTeam"),
        ("teams/a/x", "../../vendor", "! teams/a/x LinkCrossesTeam"),
        ("vendor/a/x.yaml", "../b/web/main.yaml", "! vendor/a/x.yaml LinkCrossesTeam"),
        // To nothing, or to itself.
        ("teams/a/x.yaml", "none.yaml", "! teams/a/x.yaml LinkBroken"),
        ("teams/a/x.yaml", "base/web.yaml/y", "! teams/a/x.yaml LinkBroken"),
        ("teams/a/x.yaml", "a\nb", "! teams/a/x.yaml LinkBroken"),
        ("teams/a/x.yaml", "x.yaml", "! teams/a/x.yaml LinkLoop"),
        ("teams/a/x", ".", "! teams/a/x LinkLoop"),
        ("teams/a/base/x", "..", "! teams/a/base/x LinkLoop"),
        ("teams/a/base/x", "../../../teams", "! teams/a/base/x LinkLoop"),
        ("fleet.yaml", "clusters", "! fleet.yaml NotAFile"),
        ("approvals", "clusters/a.yaml", "! approvals NotADirectory"),
    ] {
        let files = base.with_link(&path(link), target);
        let mut found = lines(&listing(&Overlay::same(&files)));
        found.retain(|line| !base_lines.contains(line));
        assert_eq!(found, [expected], "{link} -> {target}");
        let twin = Overlay::with_record(&files, &base);
        let mut found = lines(&listing(&twin));
        found.retain(|line| !base_lines.contains(line));
        assert_eq!(found, [expected], "{link} -> {target}, the record elsewhere");
    }
}

#[test]
fn links_through_links() {
    let files = tree(&["teams/a/base/web.yaml", "teams/b/secret.yaml"])
        .with_link(&path("teams/a/one"), "two")
        .with_link(&path("teams/a/two"), "base")
        .with_link(&path("teams/a/three.yaml"), "one/web.yaml")
        .with_link(&path("policies/all"), "../teams/b")
        .with_link(&path("teams/a/sneaky"), "../../policies")
        .with_link(&path("teams/c/left/right"), "../right")
        .with_link(&path("teams/c/right/left"), "../left");
    assert_eq!(
        lines(&listing(&Overlay::same(&files))),
        [
            "policies/all/secret.yaml -> teams/b/secret.yaml",
            "teams/a/base/web.yaml",
            "teams/a/one/web.yaml -> teams/a/base/web.yaml",
            "teams/a/three.yaml -> teams/a/base/web.yaml",
            "teams/a/two/web.yaml -> teams/a/base/web.yaml",
            "teams/b/secret.yaml",
            "! teams/a/sneaky/all LinkCrossesTeam",
            "! teams/c/left/right/left LinkLoop",
            "! teams/c/right/left/right LinkLoop",
        ]
    );
    let whole = Overlay::same(&files);
    let linked = listing(&whole).files.into_iter().find(|f| f.path == path("teams/a/three.yaml")).unwrap();
    assert_eq!(*whole.read(&linked, &Limits::STANDARD).unwrap(), *b"content of teams/a/base/web.yaml");
}

#[test]
fn what_has_no_place_is_a_finding() {
    let files = tree(&["clusters", "fleet.yaml/x.yaml"]).with_submodule(&path("teams/a/lib"), "4f1c");
    assert_eq!(
        lines(&listing(&Overlay::same(&files))),
        ["! clusters NotADirectory", "! fleet.yaml NotAFile", "! teams/a/lib Submodule"]
    );

    let base = tree(&["teams/a/x.yaml"]);
    let entry = |name: &str, kind| DirEntry { name: name.into(), kind, id: ContentId([7; 32]) };
    let answer = Ok(vec![
        entry("twice.yaml", EntryKind::File),
        entry("twice.yaml", EntryKind::File),
        entry("pipe", EntryKind::Special),
        entry("b\\xff", EntryKind::BadName),
        entry("a\nb.yaml", EntryKind::File),
        entry("back\\slash.yaml", EntryKind::File),
        entry("up/and/away.yaml", EntryKind::File),
        entry("..", EntryKind::Dir),
        entry(".git", EntryKind::Dir),
    ]);
    let forged = Forged { base: &base, at: "teams/a", answer };
    let found = listing(&Overlay::same(&forged));
    let a = path("teams/a");
    let bad = |name: &str, reason| SourceFinding {
        path: a.clone(),
        kind: SourceFindingKind::BadName { name: name.into(), reason },
    };
    assert_eq!(
        found.findings,
        [
            bad("a\nb.yaml", PathError::Control),
            bad("b\\xff", PathError::NotUtf8),
            bad("back\\slash.yaml", PathError::Backslash),
            bad("up/and/away.yaml", PathError::Slash),
            SourceFinding { path: a.clone(), kind: SourceFindingKind::DuplicateName { name: "twice.yaml".into() } },
            SourceFinding { path: path("teams/a/pipe"), kind: SourceFindingKind::Special },
        ]
    );
    assert!(found.files.is_empty());
    assert!(found.findings[0].to_string().starts_with("teams/a: the name `a\\nb.yaml` cannot be read"));
}

#[test]
fn a_directory_that_cannot_be_read_is_an_error() {
    let base = tree(&["clusters/x.yaml", "teams/a/x.yaml"]);
    for at in ["", "teams", "teams/a"] {
        let forged = Forged { base: &base, at, answer: Err(FilesError::new(at, "disk on fire")) };
        let error = walk(&Overlay::same(&forged), &Limits::STANDARD).unwrap_err();
        assert_eq!(error.reason, "disk on fire");
        let intents = tree(&["fleet.yaml"]);
        let as_record = walk(&Overlay::with_record(&intents, &forged), &Limits::STANDARD);
        assert_eq!(as_record.is_err(), at.is_empty(), "of a record, teams/ is not looked at");
    }
}

#[test]
fn limits_are_findings() {
    let limits = Limits { file_bytes: 20, entries: 9, depth: 4 };
    let files = tree(&["clusters/a.yaml", "teams/a/b/c.yaml", "teams/a/b/d/e.yaml"]);
    let overlay = Overlay::same(&files);
    // a.yaml, a, b, c.yaml, d.
    let found = walk(&overlay, &limits).unwrap();
    assert_eq!(lines(&found), ["clusters/a.yaml", "teams/a/b/c.yaml", "! teams/a/b/d TooDeep"]);
    let refused = overlay.read(&found.files[0], &limits).unwrap_err();
    assert_eq!(
        refused,
        ReadError::Refused(SourceFinding {
            path: path("clusters/a.yaml"),
            kind: SourceFindingKind::TooLarge { bytes: 26, limit_bytes: 20 }
        })
    );
    assert!(overlay.read(&found.files[0], &Limits { file_bytes: 26, ..limits }).is_ok());

    let mut cache = WalkCache::new();
    for (entries, expected) in [(5, None), (4, Some("!  TooManyEntries")), (1, Some("!  TooManyEntries"))] {
        let limits = Limits { entries, ..limits };
        for _ in 0..2 {
            let found = lines(&walk_with(&mut cache, &overlay, &limits).unwrap());
            assert_eq!(found.iter().find(|line| line.contains("TooMany")).map(String::as_str), expected, "{entries}");
        }
    }
}

#[test]
fn links_cannot_make_the_walk_endless() {
    // 2^20 paths from 40 links.
    let mut files = tree(&["teams/a/d20/x.yaml"]);
    for i in 0..20 {
        for side in ["l", "r"] {
            files = files.with_link(&path(&format!("teams/a/d{i}/{side}")), &format!("../d{}", i + 1));
        }
    }
    let limits = Limits { entries: 10_000, ..Limits::STANDARD };
    let found = walk(&Overlay::same(&files), &limits).unwrap();
    assert!(found.files.len() <= 10_000);
    assert!(found.findings.iter().any(|f| f.kind == SourceFindingKind::TooManyEntries { limit: 10_000 }));
}

#[test]
fn an_equal_directory_is_visited_once() {
    let shared = ["teams/a/base/x.yaml", "teams/b/base/x.yaml", "teams/b/own.yaml", "fleet.yaml"];
    let files = MemoryFiles::new(shared.map(|path| (path, "same"))).unwrap();
    let mut cache = WalkCache::new();
    let first = Counting::new(&files);
    let found = walk_with(&mut cache, &Overlay::same(&first), &Limits::STANDARD).unwrap();
    assert_eq!(first.calls(), 5, "root, teams, teams/a, teams/b, and base once");

    let second = Counting::new(&files);
    assert_eq!(walk_with(&mut cache, &Overlay::same(&second), &Limits::STANDARD).unwrap(), found);
    assert_eq!(second.calls(), 0);

    let edited = files.with(&path("teams/a/base/x.yaml"), b"other");
    let third = Counting::new(&edited);
    let overlay = Overlay::same(&third);
    let warm = walk_with(&mut cache, &overlay, &Limits::STANDARD).unwrap();
    assert_eq!(third.calls(), 4, "the edited path: root, teams, teams/a, teams/a/base");
    assert_eq!(warm, walk(&Overlay::same(&edited), &Limits::STANDARD).unwrap());
}

#[test]
fn find_looks_at_one_path() {
    let files = tree(&["teams/a/x.yaml"]).with_link(&path("teams/b"), "a");
    for (at, kind) in [
        ("teams", Some(EntryKind::Dir)),
        ("teams/a/x.yaml", Some(EntryKind::File)),
        ("teams/b", Some(EntryKind::Link)),
        ("teams/b/x.yaml", None),
        ("teams/a/x.yaml/y", None),
        ("nothing", None),
    ] {
        assert_eq!(find(&files, &path(at)).unwrap().map(|e| e.kind), kind, "{at}");
    }
}

fn small_path() -> impl Strategy<Value = RepoPath> {
    let top = prop::sample::select(vec!["teams", "clusters", "fleet.yaml", "state", "docs", "policies"]);
    let name = || prop::sample::select(vec!["a", "b", "a-b", "x.yaml", "y.json", "z.txt", ".h"]);
    (top, prop::collection::vec(name(), 0..4))
        .prop_map(|(top, rest)| path(&std::iter::once(top).chain(rest).collect::<Vec<_>>().join("/")))
}

#[derive(Clone, Debug)]
enum Edit {
    File(RepoPath, u8),
    Link(RepoPath, String),
    Remove(RepoPath),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (small_path(), 0..3_u8).prop_map(|(path, byte)| Edit::File(path, byte)),
        2 => (small_path(), prop::collection::vec(prop::sample::select(vec!["..", "a", "b", "x.yaml", "teams", "."]), 1..5))
            .prop_map(|(path, target)| Edit::Link(path, target.join("/"))),
        2 => small_path().prop_map(Edit::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// One cache through many edits gives what a fresh walk of each tree gives, in the order of paths.
    #[test]
    fn a_cache_changes_nothing(edits in prop::collection::vec(edit(), 1..40), budget in 3..60_usize) {
        let mut cache = WalkCache::new();
        let mut files = MemoryFiles::default();
        for edit in edits {
            files = match edit {
                Edit::File(path, byte) => files.with(&path, &[byte]),
                Edit::Link(path, target) => files.with_link(&path, &target),
                Edit::Remove(path) => files.without(&path),
            };
            let overlay = Overlay::same(&files);
            for limits in [Limits::STANDARD, Limits { entries: budget, depth: 3, ..Limits::STANDARD }] {
                let warm = walk_with(&mut cache, &overlay, &limits).unwrap();
                prop_assert_eq!(&warm, &walk(&overlay, &limits).unwrap());
                prop_assert!(warm.files.is_sorted_by(|a, b| a.path < b.path), "{:?}", warm.files);
            }
        }
    }
}
