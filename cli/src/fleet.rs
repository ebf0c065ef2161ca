//! Opens the trees that a command reads, and compiles them: the only place that decides what an `Overlay` is made of.
//!
//! Intents: the folder with `fleet.yaml`, or a revision (`--rev`). The record (`placements/`, `state/`):
//! 1. `--record REV|DIR|none`, when given (the intents' own revision or folder is "beside the intents");
//! 2. beside the intents, for a folder outside Git;
//! 3. beside the intents, for a revision that holds `placements/` or `state/`, and for the folder that is checked out at
//!    the live branch's commit: clusters follow such a commit as a whole;
//! 4. the live branch, local or else of `origin`, whose name `fleet.yaml` may change (`branches.live`);
//! 5. beside the intents, when there is no live branch; if `fleet.yaml` names one, that it is missing is said.
//!
//! Invariants: a record among intents whose record lies elsewhere is refused by the compiler, never merged; what a
//! command opened is not read again from a changed disk.

mod place;

use std::io;
use std::path::Path;
use std::sync::Arc;

use fleetwright_compiler::base::branch::check_branch;
use fleetwright_compiler::diff::Provenance;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{FleetFiles, Limits, MemoryFiles, Overlay, SourceFile};
use fleetwright_compiler::{CompileError, Compiled, Session};
use fleetwright_files::{FolderFiles, GitFiles, live_revision};
use fleetwright_reconciler::advance::Branches;

use crate::context::Context;
use crate::exit::Failure;
use crate::output::{self, Paths};
use crate::streams;
pub use place::Place;
use place::{Named, Tree, named, short};

/// `--record none`
const NO_RECORD: &str = "none";

/// Where the record comes from.
#[derive(Debug)]
enum Record {
    /// Nowhere.
    None,
    /// It lies beside the intents.
    Same,
    /// Another tree, and what is known of it.
    Tree(Tree, Provenance),
}

/// The trees of one compile.
#[derive(Debug)]
pub struct Opened {
    /// What people call the intents: `main`, or a folder.
    pub name: String,
    intents: Tree,
    record: Record,
    place: Place,
    /// The live branch that `fleet.yaml` names, where there is none of that name.
    missing_live: Option<String>,
    /// The revision, when the intents are not a folder.
    revision: Option<String>,
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

/// Opens the live branch of the repository that other intents are in, as a whole: what runs now.
///
/// # Errors
/// When there is no Git repository or no live branch: then the caller must name what to compare with.
pub fn open_live(context: &Context, this: &Opened) -> Result<Opened, Failure> {
    let branch = live_branch(this.intents.files())?.name;
    let advice = "name what to compare with: `fleetwright diff BASE`, a revision or a folder";
    let Some(git) = &this.place.git else {
        return Err(Failure::Usage(format!("the fleet is in no Git repository, so nothing says what runs; {advice}")));
    };
    match live_revision(&git.repo, &branch)? {
        Some(revision) => open_revision(context, this.place.clone(), &revision),
        None => Err(Failure::Usage(format!(
            "there is no branch `{branch}`, here or of `origin`, that says what runs; {advice}"
        ))),
    }
}

fn open_revision(context: &Context, place: Place, revision: &str) -> Result<Opened, Failure> {
    let intents = Tree::Git(place.revision(revision)?);
    let (record, missing_live) = match context.record() {
        Some(name) => (stated_record(&place, name, &intents)?, None),
        None if intents.has_record()? => (Record::Same, None),
        None => live_record(&place, &intents)?,
    };
    let name = short(revision).to_owned();
    Ok(Opened { name, intents, record, place, missing_live, revision: Some(revision.to_owned()) })
}

fn open_folder(context: &Context, place: Place) -> Result<Opened, Failure> {
    let folder = place.folder()?;
    let name = folder.display().to_string();
    let intents = Tree::Folder(FolderFiles::open(folder)?);
    let (record, missing_live) = match context.record() {
        Some(name) => (stated_record(&place, name, &intents)?, None),
        None => match live_record(&place, &intents)? {
            (Record::Tree(Tree::Git(live), _), _) if is_checked_out(&place, &live) => (Record::Same, None),
            record => record,
        },
    };
    Ok(Opened { name, intents, record, place, missing_live, revision: None })
}

fn stated_record(place: &Place, name: &str, intents: &Tree) -> Result<Record, Failure> {
    if name == NO_RECORD {
        return Ok(Record::None);
    }
    let tree = match named(place, name)? {
        Named::Revision => Tree::Git(place.revision(name)?),
        Named::Folder => Tree::Folder(FolderFiles::open(Path::new(name))?),
    };
    let provenance = place.provenance(&tree, name);
    Ok(if tree.is(intents) { Record::Same } else { Record::Tree(tree, provenance) })
}

/// The record of the live branch; beside the intents where there is no such branch, then with the name that `fleet.yaml`
/// states for it.
fn live_record(place: &Place, intents: &Tree) -> Result<(Record, Option<String>), Failure> {
    let Some(git) = &place.git else { return Ok((Record::Same, None)) };
    let branch = live_branch(intents.files())?;
    Ok(match live_revision(&git.repo, &branch.name)? {
        Some(revision) => {
            let tree = Tree::Git(place.revision(&revision)?);
            let provenance = place.provenance(&tree, &revision);
            (Record::Tree(tree, provenance), None)
        }
        None => (Record::Same, branch.stated.then_some(branch.name)),
    })
}

/// Whether the working tree is that of this commit.
fn is_checked_out(place: &Place, live: &GitFiles) -> bool {
    let head = place.git.as_ref().and_then(|git| GitFiles::open(&git.repo, "HEAD").ok());
    // Without a commit yet, nothing is checked out.
    head.and_then(|head| head.commit_id()).is_some_and(|head| Some(head) == live.commit_id())
}

/// The live branch.
#[derive(Debug, PartialEq, Eq)]
struct LiveBranch {
    name: String,
    /// Whether `fleet.yaml` names another than the default one.
    stated: bool,
}

/// The live branch that `fleet.yaml` names. A `fleet.yaml` that cannot be understood, or that states a name no branch can
/// have, names none: the compile says so.
fn live_branch(intents: &dyn FleetFiles) -> Result<LiveBranch, Failure> {
    let (named, default) = (Branches::of(intents)?.live, Branches::default().live);
    if check_branch(&named).is_err() {
        return Ok(LiveBranch { name: default.to_string(), stated: false });
    }
    Ok(LiveBranch { stated: named != default, name: named.to_string() })
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

    /// Which record counts, where that is not a folder with the intents in it.
    pub fn record(&self) -> Option<Provenance> {
        match &self.record {
            Record::Tree(_, provenance) => Some(provenance.clone()),
            Record::Same => self.whole(),
            Record::None => None,
        }
    }

    /// Where intents and record are one revision: which.
    fn whole(&self) -> Option<Provenance> {
        match (&self.record, &self.revision) {
            (Record::Same, Some(revision)) if self.intents.has_record().unwrap_or(false) => {
                Some(self.place.provenance(&self.intents, revision))
            }
            (Record::Same | Record::Tree(..) | Record::None, _) => None,
        }
    }

    /// What the intents are, for a side of a comparison.
    pub fn side(&self) -> Provenance {
        self.place.provenance(&self.intents, self.revision.as_deref().unwrap_or(&self.name))
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
        let tree = Tree::Memory(record);
        let provenance = Provenance { name: name.to_owned(), commit: None, time: None, refresh: None };
        Self { record: Record::Tree(tree, provenance), ..self }
    }

    /// The folder that `placements/` can be written into.
    ///
    /// # Errors
    /// A guard: the record is not kept in this folder.
    pub fn record_folder(&self) -> Result<&Path, Failure> {
        let advice = "placements/ would be written where nobody reads it";
        match (&self.intents, &self.record) {
            (Tree::Folder(_), Record::Same) => self.place.folder(),
            (Tree::Folder(_), Record::None) => Err(Failure::Guard(
                "without a record, placements/ would forget what runs; leave out `--record none`".into(),
            )),
            (_, Record::Tree(_, Provenance { name, .. })) => {
                Err(Failure::Guard(format!("the record comes from `{name}`, not from this folder; {advice}")))
            }
            (Tree::Git(_) | Tree::Memory(_), _) => {
                Err(Failure::Guard(format!("the intents come from `{}`, not from a folder; {advice}", self.name)))
            }
        }
    }

    /// The folder in which an order is carried out by writing `placements/`: of a fleet outside of Git, or with a record beside
    /// its intents. Of any other fleet an order is a commit on the live branch of its repository, fetched or not.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn orders_folder(&self) -> Result<Option<&Path>, Failure> {
        let Ok(folder) = self.record_folder() else { return Ok(None) };
        Ok((self.place.git.is_none() || self.has_record()?).then_some(folder))
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
            Record::Tree(Tree::Git(_) | Tree::Memory(_), of) => format!("{}:{in_repository}", of.name),
            Record::Tree(Tree::Folder(_), of) => format!("{}/", of.name.trim_end_matches('/')),
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
    compile_supposing(context, session, opened, &Scenario::default())
}

/// As [`compile`], supposing something besides what is written.
///
/// # Errors
/// As there.
pub fn compile_supposing(
    context: &Context,
    session: &Session,
    opened: &Opened,
    scenario: &Scenario,
) -> Result<Compiled, Failure> {
    match fleetwright_compiler::compile(session, &opened.overlay(), scenario) {
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

/// Says which record counts, where that is not the folder the command works on, or not the branch that was meant: for
/// commands whose output does not say it.
pub fn say_record(opened: &Opened) {
    if let Some(record) = opened.record() {
        streams::talk(&format!("record: {record}"));
    }
    say_missing_live(opened);
}

/// Says that the branch which should hold the record is not there.
pub fn say_missing_live(opened: &Opened) {
    if let Some(branch) = &opened.missing_live {
        streams::talk(&format!(
            "record: fleet.yaml names the live branch `{branch}`, and there is none of that name, here or of `origin`: \
             what lies beside the intents counts instead"
        ));
    }
}

/// Says that there are warnings, for commands that are not about them.
pub fn say_warnings(compiled: &Compiled) {
    if !compiled.diagnostics.is_empty() {
        streams::talk(&format!("{}: `fleetwright check` shows them", output::counts(&compiled.diagnostics)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_branch_of_a_fleet() {
        const HEAD: &str = "apiVersion: fleetwright.io/v1alpha1\nkind: Fleet\nmetadata: {name: f}\n";
        for (files, expected) in [
            (vec![("fleet.yaml", format!("{HEAD}spec: {{branches: {{live: running}}}}\n"))], ("running", true)),
            (vec![("fleet.yaml", format!("{HEAD}spec: {{}}\n"))], ("live", false)),
            // the compile says what is wrong with it
            (vec![("fleet.yaml", format!("{HEAD}spec: {{branches: {{live: 'r..n'}}}}\n"))], ("live", false)),
            (vec![("fleet.yaml", "a: [".to_owned())], ("live", false)),
            (vec![("clusters/a.yaml", String::new())], ("live", false)),
        ] {
            let tree = MemoryFiles::new(files).unwrap();
            let (name, stated) = expected;
            assert_eq!(live_branch(&tree), Ok(LiveBranch { name: name.to_owned(), stated }));
        }
    }
}
