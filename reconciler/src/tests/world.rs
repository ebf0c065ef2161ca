//! A bare repository as the remote, a mirror, a clock that stands still, and a small fleet.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetwright_compiler::Session;
use fleetwright_compiler::source::RepoPath;
use git2::{Oid, Repository, RepositoryInitOptions, Signature, Time};
use tempfile::TempDir;

use crate::advance::{AdvanceError, Advanced, Branches, Pushed, advance};
use crate::decide::orders::{Desk, OrderError};
use crate::decide::{Identity, Proposal, Refusals};
use crate::io::git::{GitRepo, Remote};
use crate::observation::{Answers, ClusterSeen, Observation};
use crate::order::{OrderFailure, order};
use crate::ports::{Author, Clock, CommitId, FleetRepo};

pub const NOW: i64 = 1_796_036_400; // 2026-11-30T11:00:00Z

pub struct FixedClock(pub Cell<i64>);

impl Clock for FixedClock {
    fn now_secs(&self) -> i64 {
        self.0.get()
    }
}

/// Files by path.
pub type Files = BTreeMap<String, String>;

const API: &str = "apiVersion: fleetwright.io/v1alpha1\n";

/// Three clusters without stated capacity; one App of six replicas, divided evenly.
pub fn fleet() -> Files {
    let mut files = Files::new();
    files.insert("fleet.yaml".into(), format!("{API}kind: Fleet\nmetadata: {{name: f}}\nspec: {{}}\n"));
    for name in ["a", "b", "c"] {
        files.insert(
            format!("clusters/{name}.yaml"),
            format!("{API}kind: Cluster\nmetadata: {{name: {name}}}\nspec: {{}}\n"),
        );
    }
    files.insert(
        "teams/t.yaml".into(),
        format!("{API}kind: Team\nmetadata: {{name: t}}\nspec: {{namespaces: [{{name: t}}]}}\n"),
    );
    app(&mut files, "web", 6, "");
    files
}

/// Adds an App of one Deployment; `placement` is put into its placement.
pub fn app(files: &mut Files, name: &str, replicas: u32, placement: &str) {
    files.insert(
        format!("teams/t/{name}/app.yaml"),
        format!(
            "{API}kind: App\nmetadata: {{name: {name}}}\nspec:\n  namespace: t\n  placement: {{replicas: {{strategy: \
             StaticWeight}}{placement}}}\n"
        ),
    );
    files.insert(
        format!("teams/t/{name}/web.yaml"),
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  \
             selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
             spec:\n      containers:\n      - {{name: web, image: \"web:1\", resources: {{requests: {{cpu: 100m}}}}}}\n"
        ),
    );
}

pub struct World {
    pub dir: TempDir,
    pub remote: Repository,
    pub clock: FixedClock,
    pub session: Session,
    pub identity: Identity,
    pub branches: Branches,
    pub refusals: RefCell<Refusals>,
}

impl World {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let mut options = RepositoryInitOptions::new();
        options.bare(true).initial_head("main");
        let remote = Repository::init_opts(dir.path().join("remote.git"), &options).unwrap();
        Self {
            dir,
            remote,
            clock: FixedClock(Cell::new(NOW)),
            session: Session::new(),
            identity: Identity { holder: "hub".into(), term: None },
            branches: Branches::default(),
            refusals: RefCell::default(),
        }
    }

    /// With a fleet on `main` that is live.
    pub fn live(files: &Files) -> Self {
        let world = Self::new();
        world.commit_main(files);
        world.advance().unwrap();
        world
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("remote.git")
    }

    /// The remote through a mirror of this name.
    pub fn repo(&self, mirror: &str) -> GitRepo {
        self.repo_below(mirror, RepoPath::root())
    }

    pub fn repo_below(&self, mirror: &str, prefix: RepoPath) -> GitRepo {
        let remote = Remote::new(self.path().to_str().unwrap()).unwrap();
        GitRepo::open(&self.dir.path().join(mirror), remote, prefix).unwrap()
    }

    pub fn commit_main(&self, files: &Files) -> CommitId {
        self.commit("main", files)
    }

    /// A person's commit of exactly these files on a branch.
    pub fn commit(&self, branch: &str, files: &Files) -> CommitId {
        let mut index = git2::Index::new().unwrap();
        for (path, text) in files {
            let id = self.remote.blob(text.as_bytes()).unwrap();
            index
                .add(&git2::IndexEntry {
                    ctime: git2::IndexTime::new(0, 0),
                    mtime: git2::IndexTime::new(0, 0),
                    dev: 0,
                    ino: 0,
                    mode: 0o100_644,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id,
                    flags: 0,
                    flags_extended: 0,
                    path: path.as_bytes().to_vec(),
                })
                .unwrap();
        }
        let tree = index.write_tree_to(&self.remote).unwrap();
        let tree = self.remote.find_tree(tree).unwrap();
        let reference = format!("refs/heads/{branch}");
        let parent = self.remote.find_reference(&reference).ok().map(|r| r.peel_to_commit().unwrap());
        let who = Signature::new("ann", "ann@example.com", &Time::new(self.clock.0.get(), 0)).unwrap();
        let parents: Vec<_> = parent.iter().collect();
        let id = self.remote.commit(Some(&reference), &who, &who, "A person's change", &tree, &parents).unwrap();
        CommitId(id.to_string().into())
    }

    pub fn advance(&self) -> Result<Advanced, AdvanceError> {
        self.advance_seeing(None)
    }

    pub fn advance_seeing(&self, observation: Option<&Observation>) -> Result<Advanced, AdvanceError> {
        let mut repo = self.repo("mirror.git");
        let refusals = &mut *self.refusals.borrow_mut();
        advance(&mut repo, &self.clock, &self.session, &self.identity, &self.branches, observation, refusals)
    }

    pub fn tip(&self, branch: &str) -> Option<Oid> {
        self.remote.find_reference(&format!("refs/heads/{branch}")).ok().and_then(|r| r.target())
    }

    pub fn live_tip(&self) -> git2::Commit<'_> {
        self.remote.find_commit(self.tip("live").expect("there is a live branch")).unwrap()
    }

    /// All files of a branch.
    pub fn files(&self, branch: &str) -> Files {
        let tree = self.remote.find_commit(self.tip(branch).unwrap()).unwrap().tree().unwrap();
        let mut files = Files::new();
        tree.walk(git2::TreeWalkMode::PreOrder, |dir, entry| {
            if entry.kind() == Some(git2::ObjectType::Blob) {
                let blob = self.remote.find_blob(entry.id()).unwrap();
                let text = String::from_utf8(blob.content().to_vec()).unwrap();
                files.insert(format!("{dir}{}", entry.name().unwrap()), text);
            }
            git2::TreeWalkResult::Ok
        })
        .unwrap();
        files
    }

    /// Replicas of an app on the live branch, by cluster.
    pub fn seats(&self, app: &str) -> BTreeMap<String, u32> {
        let text = self.files("live").remove("placements/t.yaml").unwrap_or_default();
        let path = RepoPath::new("placements/t.yaml").unwrap();
        let docs = crate::record_files::documents(&path, text.as_bytes()).unwrap();
        let mut seats = BTreeMap::new();
        for doc in docs {
            let fleetwright_compiler::placements::RecordDoc::Placements(doc) = doc else { panic!("placements") };
            for placed in doc.apps.iter().filter(|placed| placed.app.as_str() == app) {
                for seat in placed.workloads.iter().flat_map(|w| &w.seats) {
                    *seats.entry(seat.cluster.value.to_string()).or_default() += seat.replicas;
                }
            }
        }
        seats
    }

    /// Makes the remote refuse pushes to a branch.
    pub fn refuse(&self, branch: &str) {
        let hook = self.path().join("hooks/update");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = refs/heads/{branch} ]; then echo '{branch} is protected' >&2; exit 1; fi\n"
        );
        std::fs::write(&hook, text).unwrap();
        executable(&hook);
    }

    /// A file of the live branch, without the quotes that YAML allows around texts.
    pub fn live_text(&self, path: &str) -> String {
        self.files("live").remove(path).unwrap_or_else(|| panic!("no {path}")).replace('"', "")
    }

    /// Another version of the live commit, as a person with Git would push it.
    pub fn edit_live(&self, change: impl FnOnce(&mut Files)) -> CommitId {
        let mut files = self.files("live");
        change(&mut files);
        self.commit("live", &files)
    }

    /// What `git revert` of the newest live commit does.
    pub fn revert_live(&self) {
        let before = self.live_tip().parent(0).unwrap();
        let tree = before.tree().unwrap();
        let tip = self.live_tip();
        let who = Signature::new("ann", "ann@example.com", &Time::new(self.clock.0.get(), 0)).unwrap();
        let message = format!("Revert \"{}\"\n\nThis reverts commit {}.\n", tip.summary().unwrap().unwrap(), tip.id());
        self.remote.commit(Some("refs/heads/live"), &who, &who, &message, &tree, &[&tip]).unwrap();
    }

    pub fn later(&self, secs: i64) {
        self.clock.0.set(self.clock.0.get() + secs);
    }

    /// Carries out an order of ann's.
    pub fn order(
        &self,
        make: impl Fn(&Desk<'_>) -> Result<Proposal, OrderError>,
    ) -> Result<Option<Pushed>, OrderFailure> {
        self.order_with(|desk, _| Ok(make(desk)?))
    }

    pub fn order_with(
        &self,
        mut make: impl FnMut(&Desk<'_>, &dyn FleetRepo) -> Result<Proposal, OrderFailure>,
    ) -> Result<Option<Pushed>, OrderFailure> {
        let person = Author { name: "ann".into(), email: "ann@example.com".into() };
        let mut repo = self.repo("ann.git");
        order(&mut repo, &self.clock, &self.session, &self.branches, &person, &mut make)
    }
}

/// The exit code's kind and the text of an order that is not carried out.
pub fn refusal(result: Result<Option<Pushed>, OrderFailure>) -> (&'static str, String) {
    match result.expect_err("it is refused") {
        OrderFailure::Order(OrderError::Wrong(text)) => ("wrong", text),
        OrderFailure::Order(OrderError::Guarded(text)) => ("guarded", text),
        other => panic!("{other}"),
    }
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Seats as written in tests.
pub fn seats<const N: usize>(of: [(&str, u32); N]) -> BTreeMap<String, u32> {
    of.into_iter().map(|(cluster, replicas)| (cluster.to_owned(), replicas)).collect()
}

/// What was seen of clusters.
pub fn seen<const N: usize>(of: [(&str, Answers); N]) -> Observation {
    let clusters = of.into_iter().map(|(name, answers)| {
        let seen = ClusterSeen {
            answers,
            uid: Some(format!("uid-{name}").into()),
            clock_ahead_secs: Some(0),
            capacity: None,
            applied: None,
            is_complete: false,
            runs_only_copies: false,
            apps: BTreeMap::new(),
        };
        (name.into(), seen)
    });
    Observation { clusters: clusters.collect() }
}

/// It answers since a day.
pub fn up() -> Answers {
    Answers::Yes { since_secs: NOW - 86_400 }
}

/// It does not answer since.
pub fn down(since_secs: i64) -> Answers {
    Answers::No { since_secs, error: "connection refused".into() }
}
