//! The rendered branch: manifests of every cluster as files, for those who let another tool apply them.
//!
//! `<cluster>/<team>/<app>.yaml` and `<cluster>/_namespaces.yaml`; other files of the branch are left as they are: those at
//! its root, and in folders that are no cluster's. A generated Namespace stays for good: whoever prunes it, deletes all in it.
//! Invariants: a commit only where a file changes; no app is lowered or removed from a cluster blindly, as by the applier:
//! where that cannot be seen, its file stays as it is, and is said to wait. Apps that left the repository go at once.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{AppId, ClusterId};
use fleetwright_compiler::parse::{self, DocBody, FileForm};
use fleetwright_compiler::source::{
    Contents, DirEntry, EntryKind, FileClass, FilesError, FleetFiles, Limits, PathError, RepoPath,
};
use fleetwright_compiler::yaml;
use serde_json::Value;

use crate::apply::floor::{self, Floors};
use crate::cluster::Key;
use crate::controller::Wanted;
use crate::observation::{Answers, Observation};
use crate::ports::{CommitId, FleetRepo, NewCommit, PortError, PushError};

/// What a write of the branch came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The commit; `None` where nothing had to change.
    pub commit: Option<CommitId>,
    /// Files that stay as they are until enough is ready elsewhere, or it is recorded where their app is to run, ascending.
    pub waiting: Vec<RepoPath>,
}

/// Why the branch could not be written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RenderedError {
    /// Git failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// What is there could not be read.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The push failed.
    #[error(transparent)]
    Push(#[from] PushError),
    /// A name that no file can have: our bug, names are checked when they are read.
    #[error("a name that no path can have: {0}")]
    Path(#[from] PathError),
}

/// Files by path.
type Files = BTreeMap<RepoPath, Vec<u8>>;

/// Brings the branch up to what is wanted. `observation` is `None` where nobody looks at clusters: nothing is lowered then.
///
/// # Errors
/// When Git fails, somebody else pushed meanwhile, or the remote refuses.
pub fn write(
    repo: &mut dyn FleetRepo,
    wanted: &Wanted,
    observation: Option<&Observation>,
    branch: &str,
    time_secs: i64,
) -> Result<Written, RenderedError> {
    let tip = repo.fetch(&[branch])?.remove(branch);
    let old = tip.as_ref().map(|tip| Ok::<_, RenderedError>(read(&*repo.tree(tip)?)?)).transpose()?.unwrap_or_default();
    let mut new = files(wanted)?;
    for (path, before) in old.iter().filter(|(path, _)| path.file_name() == Some(NAMESPACES)) {
        if let Some(kept) = with_old(before, new.get(path).map(Vec::as_slice).unwrap_or_default()) {
            new.insert(path.clone(), kept);
        }
    }
    let paths: BTreeSet<&RepoPath> = old.keys().chain(new.keys()).collect();
    let mut written = Written::default();
    let mut edits = BTreeMap::new();
    for path in paths.into_iter().filter(|path| old.get(path) != new.get(path)) {
        let Some(place) = Place::of(wanted, &old, path) else { continue };
        let waits = match place {
            Place::Free => false,
            Place::App(app, _) if wanted.is_unrecorded(app) => true,
            Place::App(app, cluster) => {
                let (now, older) = paths_of(wanted, app, cluster)?;
                let after = new.get(&now);
                // One that is not there yet takes over what is there under an older name: both change, or neither does.
                let before: Vec<&Vec<u8>> = match old.get(path) {
                    Some(before) => vec![before],
                    None => older.iter().filter_map(|path| old.get(path)).collect(),
                };
                !before.into_iter().all(|before| may_change(wanted, observation, app, cluster, before, after))
            }
        };
        if waits {
            written.waiting.push(path.clone());
            continue;
        }
        edits.insert(path.clone(), new.get(path).cloned());
    }
    if edits.is_empty() {
        return Ok(written);
    }
    let message = format!(
        "Render {}\n\nFleetwright-Live: {}\nFleetwright-Main: {}\n",
        wanted.commit().short(),
        wanted.commit(),
        wanted.pin()
    );
    let commit = NewCommit {
        branch: branch.into(),
        base: tip.clone(),
        tip,
        merges: None,
        from_tip: BTreeSet::new(),
        edits,
        message,
        author: None,
        time_secs,
    };
    written.commit = Some(repo.push(&commit)?);
    Ok(written)
}

/// All files of all clusters.
fn files(wanted: &Wanted) -> Result<Files, PathError> {
    let compiled = wanted.compiled();
    let mut files = Files::new();
    for cluster in compiled.fleet.cluster_ids() {
        for file in compiled.rendered.files(cluster) {
            let mut text = String::new();
            file.write(&compiled.fleet, &mut text);
            files.insert(RepoPath::new(&file.path(&compiled.fleet, cluster))?, text.into_bytes());
        }
    }
    Ok(files)
}

/// The file of generated Namespaces in a cluster's folder.
const NAMESPACES: &str = "_namespaces.yaml";

/// Generated Namespaces as they are now, and those of before that are no longer: `None` where there are none of these.
fn with_old(before: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let (old, new) = (objects(before), objects(now));
    let gone = || old.iter().filter(|(key, _)| key.kind.is("", "Namespace") && !new.contains_key(key));
    gone().next()?;
    let all: BTreeMap<&Key, &Value> = gone().chain(&new).collect();
    let all: Vec<Value> = all.into_values().cloned().collect();
    Some(yaml::emit_documents(&all).into_bytes())
}

/// Whose file it is.
#[derive(Clone, Copy)]
enum Place {
    /// Of an app that the fleet has, under its name or one that it had before, in a cluster that it has.
    App(AppId, ClusterId),
    /// Generated Namespaces, or a file of an app or cluster that left the fleet.
    Free,
}

impl Place {
    /// `None` for a file that is not of this branch's making.
    fn of(wanted: &Wanted, old: &Files, path: &RepoPath) -> Option<Self> {
        let fleet = &wanted.compiled().fleet;
        let names: Vec<&str> = path.components().collect();
        // A cluster that left the fleet is known by its Namespaces.
        let is_clusters = |folder: &str| {
            let namespaces = RepoPath::root().join(folder).and_then(|folder| folder.join(NAMESPACES));
            fleet.cluster_id(folder).is_some() || namespaces.is_ok_and(|path| old.contains_key(&path))
        };
        match names.as_slice() {
            [folder, ..] if !is_clusters(folder) => None,
            [_, NAMESPACES] => Some(Self::Free),
            [cluster, team, file] => {
                let app = file.strip_suffix(".yaml")?;
                let had = |id: &AppId| fleet.app(*id).previous_names.iter().any(|(t, a)| (&**t, &**a) == (*team, app));
                let id = fleet.app_id(team, app).or_else(|| fleet.app_ids().find(had));
                let known = id.zip(fleet.cluster_id(cluster));
                Some(known.map_or(Self::Free, |(app, cluster)| Self::App(app, cluster)))
            }
            _ => None,
        }
    }
}

/// Where the file of an app in a cluster lies, and where it lay under its older names.
fn paths_of(wanted: &Wanted, app: AppId, cluster: ClusterId) -> Result<(RepoPath, Vec<RepoPath>), PathError> {
    let fleet = &wanted.compiled().fleet;
    let (app, cluster) = (fleet.app(app), &fleet.cluster(cluster).name);
    let path = |team: &str, app: &str| RepoPath::new(&format!("{cluster}/{team}/{app}.yaml"));
    let older = app.previous_names.iter().map(|(team, app)| path(team, app)).collect::<Result<_, _>>()?;
    Ok((path(&fleet.team(app.team).name, &app.name)?, older))
}

/// Deepest folder that is looked into: `<cluster>/<team>/<app>.yaml` has three names.
const DEPTH: usize = 3;

/// All files of a tree that could be of this branch's making.
fn read(files: &dyn FleetFiles) -> Result<Files, FilesError> {
    let root = RepoPath::root();
    let mut found = Files::new();
    for entry in files.dir(&root, &files.root()?)? {
        add(files, &root, &entry, 1, &mut found)?;
    }
    Ok(found)
}

fn add(
    files: &dyn FleetFiles,
    at: &RepoPath,
    entry: &DirEntry,
    depth: usize,
    found: &mut Files,
) -> Result<(), FilesError> {
    let Ok(path) = at.join(&entry.name) else { return Ok(()) };
    match entry.kind {
        EntryKind::Dir if depth < DEPTH => {
            files.dir(&path, &entry.id)?.iter().try_for_each(|entry| add(files, &path, entry, depth + 1, found))
        }
        EntryKind::File if depth > 1 => {
            if let Contents::Bytes(bytes) = files.read_at_most(&path, &entry.id, Limits::STANDARD.file_bytes)? {
                found.insert(path, bytes.to_vec());
            }
            Ok(())
        }
        EntryKind::Dir
        | EntryKind::File
        | EntryKind::Link
        | EntryKind::Submodule
        | EntryKind::Special
        | EntryKind::BadName => Ok(()),
    }
}

/// Whether the file of an app in a cluster may change: nothing in it is lowered, or enough is ready elsewhere.
fn may_change(
    wanted: &Wanted,
    observation: Option<&Observation>,
    app: AppId,
    cluster: ClusterId,
    before: &[u8],
    after: Option<&Vec<u8>>,
) -> bool {
    let fleet = &wanted.compiled().fleet;
    let (was, is) = (replicas(before), after.map(|bytes| replicas(bytes)).unwrap_or_default());
    let lowered: Vec<(&Key, u32)> = was
        .iter()
        .map(|(key, was)| (key, *was, is.get(key).copied().unwrap_or(0)))
        .filter(|(_, was, is)| is < was)
        .map(|(key, _, is)| (key, is))
        .collect();
    let Some(observation) = observation else { return lowered.is_empty() };
    let name = (fleet.team(fleet.app(app).team).name.clone(), fleet.app(app).name.clone());
    let here = observation.clusters.get(&fleet.cluster(cluster).name);
    let here = here.filter(|seen| matches!(seen.answers, Answers::Yes { .. }));
    let floors: Floors = floor::floors(wanted.compiled(), cluster, observation, &|app| wanted.min_available(app));
    lowered.into_iter().all(|(key, stays)| {
        let workload = wanted.workload_key(key);
        let ready_here =
            workload.and_then(|workload| here?.apps.get(&name)?.workloads.get(workload)).map(|workload| workload.ready);
        // What is not seen here may all be ready: then all that stays counts, and no more.
        let stays = ready_here.map_or(stays, |ready| ready.min(stays));
        let floor = floors.get(key).copied().unwrap_or_default();
        // A workload that is no longer wanted at all needs nothing.
        floor.ready_elsewhere.saturating_add(stays) >= floor.needed
    })
}

/// Replicas of the workloads in a file.
fn replicas(bytes: &[u8]) -> BTreeMap<Key, u32> {
    let counted = objects(bytes).into_iter().filter_map(|(key, value)| {
        let replicas = value.pointer("/spec/replicas")?.as_u64()?;
        Some((key, u32::try_from(replicas).unwrap_or(u32::MAX)))
    });
    counted.collect()
}

/// The objects in a file of this branch.
fn objects(bytes: &[u8]) -> BTreeMap<Key, Value> {
    let ir = parse::parse(bytes, FileForm::of(FileClass::TeamFolder, "rendered.yaml"), &yaml::Limits::default());
    let manifests = ir.docs.into_iter().filter_map(|doc| match doc.body {
        DocBody::Manifest(manifest) => Some(manifest.template.value()),
        DocBody::Intent(_) | DocBody::Record(_) => None,
    });
    manifests.filter_map(|value| Some((Key::of(&value)?, value))).collect()
}
