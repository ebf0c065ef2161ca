//! Opens the trees that a command reads, and compiles them: the only place that decides what an `Overlay` is made of.
//!
//! Intents: the folder with `fleet.yaml`, or a revision (`--rev`). The record (`placements/`, `state/`):
//! 1. `--record REV|DIR|none`, when given (the intents' own revision or folder is "beside the intents");
//! 2. beside the intents, for a folder outside Git;
//! 3. beside the intents, for a revision that holds `placements/` or `state/`, and for the folder that is checked out at
//!    the live branch's commit: clusters follow such a commit as a whole;
//! 4. the live branch, local or else of `origin`, whose name `fleet.yaml` may change (`branches.live`);
//! 5. beside the intents, when there is no live branch.
//!
//! Invariants: a record among intents whose record lies elsewhere is refused by the compiler, never merged; what a
//! command opened is not read again from a changed disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetwright_compiler::api::Intent;
use fleetwright_compiler::parse::{self, DocBody, FileForm};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{
    self, Contents, FileClass, FilesError, FleetFiles, Limits, MemoryFiles, Overlay, RepoPath, SourceFile,
};
use fleetwright_compiler::{CompileError, Compiled, Session, yaml};
use fleetwright_files::{FolderFiles, GitFiles, GitPlace, discover, live_revision};

use crate::context::Context;
use crate::exit::Failure;
use crate::output::{self, Paths};
use crate::streams;

/// `--record none`
const NO_RECORD: &str = "none";
/// The live branch where `fleet.yaml` names no other.
const LIVE: &str = "live";

/// A tree of files.
#[derive(Debug)]
enum Tree {
    Folder(FolderFiles),
    Git(GitFiles),
    Memory(MemoryFiles),
}

/// Where the record comes from.
#[derive(Debug)]
enum Record {
    /// Nowhere.
    None,
    /// It lies beside the intents.
    Same,
    /// Another tree, and what people call it.
    Tree(Tree, String),
}

/// Where a fleet is: a folder, a Git repository, or a folder in one.
#[derive(Clone, Debug)]
struct Place {
    /// The folder with `fleet.yaml`; `None` for a bare repository, or when another branch is checked out.
    dir: Option<PathBuf>,
    git: Option<GitPlace>,
}

/// The trees of one compile.
#[derive(Debug)]
pub struct Opened {
    /// What people call the intents: `main`, or a folder.
    pub name: String,
    intents: Tree,
    record: Record,
    place: Place,
    /// The revision, when the intents are not a folder.
    revision: Option<String>,
}

impl Tree {
    fn files(&self) -> &dyn FleetFiles {
        match self {
            Self::Folder(files) => files,
            Self::Git(files) => files,
            Self::Memory(files) => files,
        }
    }

    /// Whether both were opened at one place.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder(a), Self::Folder(b)) => a.root_dir() == b.root_dir(),
            (Self::Git(a), Self::Git(b)) => a.commit_id().is_some() && a.commit_id() == b.commit_id(),
            (Self::Folder(_) | Self::Git(_) | Self::Memory(_), _) => false,
        }
    }

    fn has_record(&self) -> Result<bool, FilesError> {
        let files = self.files();
        let entries = files.dir(&RepoPath::root(), &files.root()?)?;
        Ok(entries.iter().any(|e| matches!(&*e.name, "placements" | "state")))
    }
}

impl Place {
    /// The place of a folder, going up to its `fleet.yaml`.
    fn of_folder(dir: &Path) -> Result<Self, FilesError> {
        let root = discover(dir)?;
        Ok(Self { dir: Some(root.dir), git: root.git })
    }

    /// As [`Self::of_folder`], but a repository without a `fleet.yaml` on disk will do: it may be bare.
    fn of_repository(dir: &Path) -> Self {
        Self::of_folder(dir).unwrap_or_else(|_| Self {
            dir: None,
            git: Some(GitPlace { repo: dir.to_path_buf(), prefix: RepoPath::root() }),
        })
    }

    fn folder(&self) -> Result<&Path, Failure> {
        self.dir.as_deref().ok_or_else(|| Failure::Usage("the fleet has no folder here; name a revision".into()))
    }

    fn revision(&self, revision: &str) -> Result<GitFiles, Failure> {
        let Some(git) = &self.git else {
            return Err(Failure::Usage(format!(
                "`{revision}` would be a revision, and the fleet is in no Git repository"
            )));
        };
        Ok(GitFiles::open_below(&git.repo, revision, &git.prefix)?)
    }
}

/// Opens what `-C`, `--rev` and `--record` say.
///
/// # Errors
/// When there is no fleet, no such revision, or something cannot be read.
pub fn open(context: &Context) -> Result<Opened, Failure> {
    match context.rev() {
        Some(revision) => {
            let place = Place::of_repository(context.directory());
            open_revision(context, place, revision)
        }
        None => open_folder(context, Place::of_folder(context.directory())?),
    }
}

/// Opens a revision of the repository at `-C`, or a folder, whichever the name is; a name that could be both is the
/// revision, and `./name` the folder.
///
/// # Errors
/// When it is neither, or cannot be read.
pub fn open_named(context: &Context, name: &str) -> Result<Opened, Failure> {
    let place = Place::of_repository(context.directory());
    match named(&place, name)? {
        Named::Revision => open_revision(context, place, name),
        Named::Folder => open_folder(context, Place::of_folder(Path::new(name))?),
    }
}

/// Opens the commit that the record lies in, as a whole: what runs now.
///
/// # Errors
/// When there is no Git repository or no live branch: then the caller must name what to compare with.
pub fn open_live(context: &Context) -> Result<Opened, Failure> {
    let this = open(context)?;
    let branch = live_branch(this.intents.files())?;
    let advice = "name what to compare with: `fleetwright diff BASE`, a revision or a folder";
    let Some(git) = &this.place.git else {
        return Err(Failure::Usage(format!("the fleet is in no Git repository, so nothing says what runs; {advice}")));
    };
    match live_revision(&git.repo, &branch)? {
        Some(revision) => open_revision(context, this.place, &revision),
        None => Err(Failure::Usage(format!(
            "there is no branch `{branch}`, here or of `origin`, that says what runs; {advice}"
        ))),
    }
}

enum Named {
    Revision,
    Folder,
}

fn named(place: &Place, name: &str) -> Result<Named, Failure> {
    let is_folder = Path::new(name).is_dir();
    if is_folder && (name.starts_with(['.', '/']) || place.git.is_none()) {
        return Ok(Named::Folder);
    }
    match place.revision(name) {
        Ok(_) => Ok(Named::Revision),
        Err(_) if is_folder => Ok(Named::Folder),
        Err(Failure::Usage(_)) => Err(Failure::Usage(format!(
            "there is no folder `{name}`, and it can be no revision: the fleet is in no Git repository"
        ))),
        Err(failure) => Err(failure),
    }
}

fn open_revision(context: &Context, place: Place, revision: &str) -> Result<Opened, Failure> {
    let intents = Tree::Git(place.revision(revision)?);
    let record = match context.record() {
        Some(name) => stated_record(&place, name, &intents)?,
        None if intents.has_record()? => Record::Same,
        None => live_record(&place, &intents)?,
    };
    let name = short(revision).to_owned();
    Ok(Opened { name, intents, record, place, revision: Some(revision.to_owned()) })
}

fn open_folder(context: &Context, place: Place) -> Result<Opened, Failure> {
    let folder = place.folder()?;
    let name = folder.display().to_string();
    let intents = Tree::Folder(FolderFiles::open(folder)?);
    let record = match context.record() {
        Some(name) => stated_record(&place, name, &intents)?,
        None => match live_record(&place, &intents)? {
            Record::Tree(Tree::Git(live), _) if is_checked_out(&place, &live) => Record::Same,
            record => record,
        },
    };
    Ok(Opened { name, intents, record, place, revision: None })
}

fn stated_record(place: &Place, name: &str, intents: &Tree) -> Result<Record, Failure> {
    if name == NO_RECORD {
        return Ok(Record::None);
    }
    let tree = match named(place, name)? {
        Named::Revision => Tree::Git(place.revision(name)?),
        Named::Folder => Tree::Folder(FolderFiles::open(Path::new(name))?),
    };
    Ok(if tree.is(intents) { Record::Same } else { Record::Tree(tree, name.to_owned()) })
}

fn live_record(place: &Place, intents: &Tree) -> Result<Record, Failure> {
    let Some(git) = &place.git else { return Ok(Record::Same) };
    match live_revision(&git.repo, &live_branch(intents.files())?)? {
        Some(revision) => Ok(Record::Tree(Tree::Git(place.revision(&revision)?), short(&revision).to_owned())),
        None => Ok(Record::Same),
    }
}

/// Whether the working tree is that of this commit.
fn is_checked_out(place: &Place, live: &GitFiles) -> bool {
    let head = place.git.as_ref().and_then(|git| GitFiles::open(&git.repo, "HEAD").ok());
    // Without a commit yet, nothing is checked out.
    head.and_then(|head| head.commit_id()).is_some_and(|head| Some(head) == live.commit_id())
}

/// A full reference as people write it.
fn short(revision: &str) -> &str {
    ["refs/heads/", "refs/remotes/"].iter().find_map(|prefix| revision.strip_prefix(prefix)).unwrap_or(revision)
}

/// The live branch that `fleet.yaml` names. A `fleet.yaml` that cannot be understood names none: the compile says so.
fn live_branch(intents: &dyn FleetFiles) -> Result<String, Failure> {
    let default = || Ok(LIVE.to_owned());
    let Ok(path) = RepoPath::new("fleet.yaml") else { return default() };
    let Some(entry) = source::find(intents, &path)? else { return default() };
    let Contents::Bytes(bytes) = intents.read_at_most(&path, &entry.id, Limits::STANDARD.file_bytes)? else {
        return default();
    };
    let ir = parse::parse(&bytes, FileForm::of(FileClass::FleetFile, path.as_str()), &yaml::Limits::default());
    let stated = ir.docs.into_iter().find_map(|doc| match doc.body {
        DocBody::Intent(intent) => match *intent {
            Intent::Fleet(fleet) => fleet.spec.branches.and_then(|branches| branches.live),
            _ => None,
        },
        DocBody::Manifest(_) | DocBody::Record(_) => None,
    });
    stated.map_or_else(default, |branch| Ok(branch.value.to_string()))
}

impl Opened {
    /// The trees as the compiler takes them.
    pub fn overlay(&self) -> Overlay<'_> {
        let intents = self.intents.files();
        match &self.record {
            Record::None => Overlay::without_record(intents),
            Record::Same => Overlay::same(intents),
            Record::Tree(tree, _) => Overlay::with_record(intents, tree.files()),
        }
    }

    /// What people call the other tree that the record comes from; `None` where there is none.
    pub fn record_name(&self) -> Option<&str> {
        match &self.record {
            Record::Tree(_, name) => Some(name),
            Record::None | Record::Same => None,
        }
    }

    /// Whether anything says what runs.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn has_record(&self) -> Result<bool, Failure> {
        Ok(match &self.record {
            Record::None => false,
            Record::Same => self.intents.has_record()?,
            Record::Tree(tree, _) => tree.has_record()?,
        })
    }

    /// These intents with what another compile decided as their record.
    #[must_use]
    pub fn with_record(self, record: MemoryFiles, name: &str) -> Self {
        Self { record: Record::Tree(Tree::Memory(record), name.to_owned()), ..self }
    }

    /// The folder that `placements/` can be written into.
    ///
    /// # Errors
    /// A guard: the record is not kept in this folder.
    pub fn record_folder(&self) -> Result<&Path, Failure> {
        let advice = "placements/ would be written where nobody reads it";
        match (&self.intents, &self.record) {
            (Tree::Folder(_), Record::Same | Record::None) => self.place.folder(),
            (_, Record::Tree(_, name)) => {
                Err(Failure::Guard(format!("the record comes from `{name}`, not from this folder; {advice}")))
            }
            (Tree::Git(_) | Tree::Memory(_), _) => {
                Err(Failure::Guard(format!("the intents come from `{}`, not from a folder; {advice}", self.name)))
            }
        }
    }

    /// The bytes of a file that a compile of these trees read.
    pub fn read(&self, file: &SourceFile) -> Option<Arc<[u8]>> {
        // A file that cannot be read again is shown without its lines; its diagnostic says why.
        self.overlay().read(file, &Limits::STANDARD).ok()
    }

    /// How paths of files are shown.
    pub fn paths(&self) -> Paths {
        let in_repository = match &self.place.git {
            Some(git) if !git.prefix.is_root() => format!("{}/", git.prefix),
            Some(_) | None => String::new(),
        };
        let on_screen = match (&self.revision, &self.place.dir) {
            (Some(revision), _) => format!("{}:{in_repository}", short(revision)),
            (None, Some(dir)) => below_current(dir),
            (None, None) => String::new(),
        };
        let record = match &self.record {
            Record::Tree(Tree::Git(_) | Tree::Memory(_), name) => format!("{name}:{in_repository}"),
            Record::Tree(Tree::Folder(_), name) => format!("{}/", name.trim_end_matches('/')),
            Record::None | Record::Same => on_screen.clone(),
        };
        Paths { on_screen, record, in_repository }
    }
}

/// What leads from the current folder to one below it; nothing for any other.
fn below_current(dir: &Path) -> String {
    let current = std::env::current_dir().and_then(std::fs::canonicalize);
    match current.as_deref().map(|current| dir.strip_prefix(current)) {
        Ok(Ok(below)) if !below.as_os_str().is_empty() => format!("{}/", below.display()),
        _ => String::new(),
    }
}

/// Compiles what was opened; diagnostics of a refused repository are shown on stderr.
///
/// # Errors
/// When the repository is refused or cannot be read, or the compiler found itself wrong.
pub fn compile(context: &Context, session: &Session, opened: &Opened) -> Result<Compiled, Failure> {
    match fleetwright_compiler::compile(session, &opened.overlay(), &Scenario::default()) {
        Ok(compiled) => Ok(compiled),
        Err(CompileError::Refused(refusal)) => {
            output::show_diagnostics(context, opened, &refusal.files, &refusal.diagnostics);
            Err(Failure::Refused(format!("{} does not compile: {}", opened.name, output::counts(&refusal.diagnostics))))
        }
        Err(error) => Err(failure(error)),
    }
}

/// Why there is no result, where the repository is not at fault.
pub fn failure(error: CompileError) -> Failure {
    match error {
        CompileError::Refused(refusal) => Failure::Refused(output::counts(&refusal.diagnostics)),
        CompileError::Files(error) => error.into(),
        CompileError::Bug(violations) => Failure::Bug(violations.iter().map(|v| format!("  {v}\n")).collect()),
    }
}

/// A path on disk that something failed at.
pub fn disk_error(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::Environment(format!("cannot {what} {}: {error}", path.display()))
}

/// Says which record counts, where that is not the folder the command works on.
pub fn say_record(opened: &Opened) {
    if let Some(name) = opened.record_name() {
        streams::talk(&format!("record: {name}"));
    }
}

/// Says that there are warnings, for commands that are not about them.
pub fn say_warnings(compiled: &Compiled) {
    if !compiled.diagnostics.is_empty() {
        streams::talk(&format!("{}: `fleetwright check` shows them", output::counts(&compiled.diagnostics)));
    }
}
