//! The fleet repository as commands that write commits reach it: through a mirror, never through the working tree.

use std::path::{Path, PathBuf};

use fleetwright_compiler::source::RepoPath;
use fleetwright_reconciler::advance::{AdvanceError, Branches};
use fleetwright_reconciler::decide::DecideError;
use fleetwright_reconciler::io::git::{GitRepo, Remote, surrounding};
use fleetwright_reconciler::ports::{Author, FleetRepo, PortError};

use crate::context::Context;
use crate::exit::Failure;
use crate::fleet::Place;

/// Options of commands that write commits.
#[derive(Debug, clap::Args)]
pub struct RepositoryArgs {
    /// The repository to read and push to: a URL (https, ssh, file) or a path
    ///
    /// Default: the remote `origin` of the repository at -C, or that repository itself where it has none. Over https, a
    /// token may be given in the environment variable FLEETWRIGHT_GIT_TOKEN; else Git's own credentials count.
    #[arg(long, value_name = "URL|PATH")]
    repo: Option<String>,

    /// The branch of the intents; default: `branches.intents` of fleet.yaml at -C, or `main`
    #[arg(long, value_name = "BRANCH")]
    intents: Option<String>,

    /// A folder for the mirror, kept from run to run
    ///
    /// Default: inside the Git folder of the repository at -C; with --repo, a temporary folder. The first fetch into an empty one
    /// may take 600 s, every other exchange with the repository 120 s; where it is large or the line slow, the environment variable
    /// FLEETWRIGHT_GIT_TIMEOUT_SECS states for all of them, in whole seconds, how long.
    #[arg(long, value_name = "DIR")]
    mirror: Option<PathBuf>,
}

impl RepositoryArgs {
    /// Whether a repository is named.
    pub fn is_named(&self) -> bool {
        self.repo.is_some()
    }

    /// These, and of what they leave out, those.
    pub fn or(&self, (repo, intents, mirror): &(Option<String>, Option<String>, Option<PathBuf>)) -> Self {
        Self {
            repo: self.repo.clone().or_else(|| repo.clone()),
            intents: self.intents.clone().or_else(|| intents.clone()),
            mirror: self.mirror.clone().or_else(|| mirror.clone()),
        }
    }
}

/// The fleet repository.
#[derive(Debug)]
pub struct Repository {
    /// The port.
    pub git: GitRepo,
    /// Its branches.
    pub branches: Branches,
    /// The user, as Git knows them.
    pub user: Option<Author>,
    _scratch: Option<Scratch>,
}

/// A temporary folder. Dropped, it goes.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new one, in the system's temporary folder, that nobody else can read.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Self, Failure> {
        scratch_folder().map(Self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves it where it is.
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // What is left of a mirror is in nobody's way.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

impl Repository {
    /// Opens the repository and reads which branches it has.
    ///
    /// # Errors
    /// When there is none, or it cannot be reached.
    pub fn open(context: &Context, args: &RepositoryArgs) -> Result<Self, Failure> {
        let (remote, prefix, default_mirror, user, stated) = match &args.repo {
            Some(repo) => (remote(repo)?, RepoPath::root(), None, None, None),
            None => {
                let place = Place::of_repository(context.directory());
                let Some(git) = &place.git else {
                    return Err(Failure::Usage(format!(
                        "the fleet at {} is in no Git repository, so there is nowhere to commit to; --repo names one",
                        context.directory().display()
                    )));
                };
                let around = surrounding(&git.repo).map_err(port_failure)?;
                let user = around.user_name.map(|name| Author {
                    email: around.user_email.unwrap_or_else(|| format!("{name}@localhost")),
                    name,
                });
                let stated = match &place.dir {
                    Some(dir) => Some(Branches::of(&fleetwright_files::FolderFiles::open(dir)?)?.intents),
                    None => None,
                };
                (around.remote, git.prefix.clone(), Some(around.mirror), user, stated)
            }
        };
        let (mirror, scratch) = match args.mirror.clone().or(default_mirror) {
            Some(mirror) => (mirror, None),
            None => {
                let scratch = Scratch::new()?;
                (scratch.path().to_path_buf(), Some(scratch))
            }
        };
        let mut git = GitRepo::open(&mirror, remote, prefix).map_err(port_failure)?;
        let intents = args.intents.as_deref().map(Into::into).or(stated).unwrap_or(Branches::default().intents);
        let heads = git.fetch(&[&intents]).map_err(port_failure)?;
        let live = match heads.get(&intents) {
            Some(head) => Branches::of(&*git.tree(head).map_err(port_failure)?)?.live,
            None => Branches::default().live,
        };
        Ok(Self { git, branches: Branches { intents, live }, user, _scratch: scratch })
    }
}

fn remote(text: &str) -> Result<Remote, Failure> {
    Remote::new(text).map_err(|e| Failure::Usage(format!("--repo: {e}")))
}

/// A new folder in the system's temporary one.
fn scratch_folder() -> Result<PathBuf, Failure> {
    let parent = std::env::temp_dir();
    for attempt in 0..100_u32 {
        let folder = parent.join(format!("fleetwright-{}-{attempt}", std::process::id()));
        match make_private(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(crate::fleet::disk_error("make", &folder, &e)),
        }
    }
    Err(Failure::Environment(format!("cannot make a folder in {}; name one with --mirror", parent.display())))
}

#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir(folder)
}

/// Git failed.
pub fn port_failure(error: PortError) -> Failure {
    match error {
        PortError::Transient(text) | PortError::Permanent(text) => Failure::Environment(text),
    }
}

/// A tick that did not end well.
pub fn advance_failure(error: AdvanceError) -> Failure {
    match error {
        AdvanceError::Port(error) => port_failure(error),
        AdvanceError::Refused(_) | AdvanceError::Crowded(_) => Failure::Environment(error.to_string()),
        AdvanceError::NoIntents(text) => Failure::Usage(text),
        AdvanceError::Decide(error) => match error {
            DecideError::Files(error) => error.into(),
            DecideError::State(_) | DecideError::Tampered(_) => Failure::Refused(format!("error: {error}")),
            DecideError::NotOurs(text) => Failure::Guard(text),
            DecideError::Bug(violations) => Failure::Bug(violations.join("\n")),
            DecideError::Path(error) => Failure::Bug(error.to_string()),
        },
    }
}
