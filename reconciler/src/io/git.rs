//! The fleet repository over Git: a bare mirror on disk, read and written with libgit2; fetched and pushed with the user's
//! own `git`, so that SSH agents, `known_hosts`, credential helpers and proxies are those of the user.
//!
//! Invariants: the mirror holds nothing that could not be fetched again; a push is refused by the remote unless the branch
//! still stands where the caller saw it, and it is always a fast-forward; no credential is in any message.

mod objects;
mod push;
mod remote;
mod subprocess;
mod surrounding;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::source::{FleetFiles, RepoPath};
use fleetwright_files::GitFiles;
use git2::{ErrorCode, Oid, Repository, RepositoryInitOptions, Sort};

use crate::commit::{LiveCommit, Trailers};
use crate::ports::{Author, CommitId, FleetRepo, NewCommit, PortError, PushError};
use subprocess::Git;

pub use remote::{Remote, RemoteError, TOKEN_VARIABLE};
pub use surrounding::{Surrounding, surrounding};

/// Where the mirror keeps the branches of the remote.
const TRACKED: &str = "refs/remotes/origin/";

/// Where it remembers what was followed, whatever becomes of the branches.
const FOLLOWED: &str = "refs/fleetwright/followed/";

/// The environment variable that states how long one exchange with the remote may take, in whole seconds from 1; the first
/// fetch into an empty mirror as well.
pub const GIT_TIMEOUT_VARIABLE: &str = "FLEETWRIGHT_GIT_TIMEOUT_SECS";

/// Longest that exchanges with the remote may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Patience {
    /// Any but the first fetch. A tick waits for it, and nothing is applied by an order that is five minutes old.
    exchange: Duration,
    /// The first fetch: it brings all there is, begins anew when it is ended, and nothing waits for it that was applied before.
    first: Duration,
}

impl Patience {
    /// Where [`GIT_TIMEOUT_VARIABLE`] states nothing.
    const STANDARD: Self = Self { exchange: Duration::from_secs(120), first: Duration::from_secs(600) };

    /// As it is stated.
    fn of(stated: Option<&str>) -> Result<Self, PortError> {
        let Some(stated) = stated.filter(|stated| !stated.is_empty()) else { return Ok(Self::STANDARD) };
        match stated.parse::<u32>() {
            Ok(secs @ 1..) => {
                let stated = Duration::from_secs(u64::from(secs));
                Ok(Self { exchange: stated, first: stated })
            }
            Ok(0) | Err(_) => Err(PortError::Permanent(format!(
                "{GIT_TIMEOUT_VARIABLE} is `{}`; state whole seconds, 1 or more",
                stated.escape_debug()
            ))),
        }
    }
}

/// The fleet repository over Git.
pub struct GitRepo {
    mirror: Repository,
    path: PathBuf,
    git: Git,
    patience: Patience,
    remote: Remote,
    prefix: RepoPath,
    author: Author,
    /// Where branches would stand, while nothing is pushed.
    rehearsed: Option<BTreeMap<SmolStr, CommitId>>,
}

impl GitRepo {
    /// Opens the mirror in a folder, which is made where there is none. `prefix` is the fleet's folder in the repository.
    ///
    /// # Errors
    /// When the folder holds something that is not a bare Git repository, or cannot be written.
    pub fn open(mirror: &Path, remote: Remote, prefix: RepoPath) -> Result<Self, PortError> {
        let handle = match Repository::open_bare(mirror) {
            Ok(handle) => handle,
            Err(e) if e.code() == ErrorCode::NotFound && is_empty_or_absent(mirror) => {
                let mut options = RepositoryInitOptions::new();
                options.bare(true).mkpath(true).external_template(false);
                Repository::init_opts(mirror, &options).map_err(|e| mirror_error(mirror, &e))?
            }
            Err(e) => return Err(mirror_error(mirror, &e)),
        };
        let path = handle.path().to_path_buf();
        let stated = std::env::var(GIT_TIMEOUT_VARIABLE).ok();
        let patience = Patience::of(stated.as_deref())?;
        let git = Git::new(path.clone(), patience.exchange);
        let author = Author { name: "fleetwright".to_owned(), email: "fleetwright@localhost".to_owned() };
        Ok(Self { mirror: handle, path, git, patience, remote, prefix, author, rehearsed: None })
    }

    /// The name of the remote, without credentials.
    #[must_use]
    pub fn remote_name(&self) -> &str {
        self.remote.shown()
    }

    /// The longest that one exchange with the remote may take.
    #[must_use]
    pub fn longest_exchange(&self) -> Duration {
        self.patience.exchange.max(self.patience.first)
    }

    /// How long a fetch may take now.
    fn fetch_patience(&self) -> Result<Duration, PortError> {
        let mut tracked = self.mirror.references_glob(&format!("{TRACKED}*")).map_err(|e| self.error(&e))?;
        Ok(if tracked.next().is_none() { self.patience.first } else { self.patience.exchange })
    }

    /// From now on nothing is pushed or remembered: commits are written into the mirror alone, where nothing leads to them,
    /// and a fetch tells of them as if they had been pushed.
    pub fn rehearse(&mut self) {
        self.rehearsed.get_or_insert_default();
    }

    fn error(&self, e: &git2::Error) -> PortError {
        mirror_error(&self.path, e)
    }

    fn oid(&self, id: &CommitId) -> Result<Oid, PortError> {
        if id.0.len() != 40 {
            return Err(PortError::Permanent(format!("`{id}` is not the id of a commit: 40 hexadecimal digits")));
        }
        Oid::from_str(&id.0).map_err(|e| self.error(&e))
    }

    /// What the remote has of these branches.
    fn list(&self, branches: &[&str]) -> Result<BTreeMap<SmolStr, CommitId>, PortError> {
        let names: Vec<String> = branches.iter().map(|branch| format!("refs/heads/{branch}")).collect();
        let mut args = vec!["ls-remote", "--refs", "--", self.remote.url()];
        args.extend(names.iter().map(String::as_str));
        let output = self.git.run(&self.remote, &args)?;
        if !output.success {
            return Err(self.exchange_error("cannot reach", &output.stderr));
        }
        let line = |line: &str| {
            let (id, name) = line.split_once('\t')?;
            let branch = name.strip_prefix("refs/heads/").filter(|branch| branches.contains(branch))?;
            Some((SmolStr::new(branch), CommitId(SmolStr::new(id))))
        };
        Ok(output.stdout.lines().filter_map(line).collect())
    }

    fn exchange_error(&self, what: &str, stderr: &str) -> PortError {
        let said = subprocess::last_words(&self.remote.redact(stderr));
        let text = format!("{what} {}: {said}", self.remote.shown());
        // Names, keys and rights do not mend themselves; all else may be the network.
        let permanent = ["does not appear to be a git repository", "not found", "Permission denied", "ermission to"];
        let permanent = permanent.iter().any(|sign| stderr.contains(sign)) || stderr.contains("Authentication failed");
        if permanent { PortError::Permanent(text) } else { PortError::Transient(text) }
    }

    fn tracked(&self, branch: &str) -> Result<Option<Oid>, PortError> {
        match self.mirror.find_reference(&format!("{TRACKED}{branch}")) {
            Ok(reference) => Ok(reference.target()),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(self.error(&e)),
        }
    }

    fn track(&self, branch: &str, id: Option<Oid>) -> Result<(), PortError> {
        let name = format!("{TRACKED}{branch}");
        match id {
            Some(id) => self.mirror.reference(&name, id, true, "fleetwright").map(|_| ()),
            None => match self.mirror.find_reference(&name) {
                Ok(mut reference) => reference.delete(),
                Err(e) if e.code() == ErrorCode::NotFound => Ok(()),
                Err(e) => Err(e),
            },
        }
        .map_err(|e| self.error(&e))
    }

    fn has(&self, id: &CommitId) -> Result<bool, PortError> {
        let oid = self.oid(id)?;
        // A commit that came with a fetch came with all that it names.
        Ok(self.mirror.find_commit(oid).is_ok())
    }
}

impl FleetRepo for GitRepo {
    fn fetch(&mut self, branches: &[&str]) -> Result<BTreeMap<SmolStr, CommitId>, PortError> {
        for branch in branches {
            remote::check_branch(branch).map_err(PortError::Permanent)?;
        }
        let listed = self.list(branches)?;
        let mut missing = Vec::new();
        for branch in branches {
            match listed.get(*branch) {
                None => self.track(branch, None)?,
                Some(id) if self.has(id)? && self.tracked(branch)?.is_some() => {
                    self.track(branch, Some(self.oid(id)?))?;
                }
                Some(_) => missing.push(format!("+refs/heads/{branch}:{TRACKED}{branch}")),
            }
        }
        if !missing.is_empty() {
            let mut args = vec!["-c", "gc.autoDetach=false", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
            args.extend(["--no-recurse-submodules", "--", self.remote.url()]);
            args.extend(missing.iter().map(String::as_str));
            let output = self.git.run_within(self.fetch_patience()?, &self.remote, &args)?;
            if !output.success {
                return Err(self.exchange_error("cannot fetch from", &output.stderr));
            }
        }
        let mut heads = BTreeMap::new();
        for branch in branches {
            if let Some(id) = self.tracked(branch)? {
                heads.insert(SmolStr::new(branch), CommitId(id.to_string().into()));
            }
        }
        for (branch, id) in self.rehearsed.iter().flatten() {
            if branches.contains(&branch.as_str()) {
                heads.insert(branch.clone(), id.clone());
            }
        }
        Ok(heads)
    }

    fn tree(&self, commit: &CommitId) -> Result<Box<dyn FleetFiles>, PortError> {
        self.oid(commit)?;
        match GitFiles::open_below(&self.path, &commit.0, &self.prefix) {
            Ok(files) => Ok(Box::new(files)),
            Err(e) => Err(PortError::Permanent(e.to_string())),
        }
    }

    fn history(&self, tip: &CommitId, before: &CommitId, most: usize) -> Result<Vec<LiveCommit>, PortError> {
        let walk = || {
            let mut walk = self.mirror.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL)?;
            walk.simplify_first_parent()?;
            walk.push(Oid::from_str(&tip.0)?)?;
            walk.hide(Oid::from_str(&before.0)?)?;
            walk.take(most).map(|id| Ok(live_commit(&self.mirror.find_commit(id?)?))).collect::<Result<Vec<_>, _>>()
        };
        walk().map_err(|e: git2::Error| self.error(&e))
    }

    fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool, PortError> {
        if older == newer {
            return Ok(true);
        }
        if !self.has(older)? {
            return Ok(false);
        }
        let (older, newer) = (self.oid(older)?, self.oid(newer)?);
        self.mirror.graph_descendant_of(newer, older).map_err(|e| self.error(&e))
    }

    fn followed(&self, branch: &str) -> Result<Option<CommitId>, PortError> {
        match self.mirror.find_reference(&format!("{FOLLOWED}{branch}")) {
            Ok(reference) => Ok(reference.target().map(|id| CommitId(id.to_string().into()))),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(self.error(&e)),
        }
    }

    fn follow(&mut self, branch: &str, commit: &CommitId) -> Result<(), PortError> {
        if self.rehearsed.is_some() {
            return Ok(());
        }
        let name = format!("{FOLLOWED}{branch}");
        let id = self.oid(commit)?;
        self.mirror.reference(&name, id, true, "fleetwright").map(|_| ()).map_err(|e| self.error(&e))
    }

    fn push(&mut self, commit: &NewCommit) -> Result<CommitId, PushError> {
        remote::check_branch(&commit.branch).map_err(PortError::Permanent)?;
        let author = commit.author.as_ref().unwrap_or(&self.author);
        let id = objects::write(&self.mirror, commit, author, &self.prefix).map_err(|e| self.error(&e))?;
        if let Some(rehearsed) = &mut self.rehearsed {
            let id = CommitId(id.to_string().into());
            rehearsed.insert(commit.branch.clone(), id.clone());
            return Ok(id);
        }
        push::push(&self.git, &self.remote, commit, id)?;
        self.track(&commit.branch, Some(id))?;
        Ok(CommitId(id.to_string().into()))
    }
}

fn live_commit(commit: &git2::Commit<'_>) -> LiveCommit {
    let message = String::from_utf8_lossy(commit.message_bytes());
    LiveCommit {
        id: CommitId(commit.id().to_string().into()),
        parent: commit.parent_id(0).ok().map(|id| CommitId(id.to_string().into())),
        time_secs: commit.time().seconds(),
        author: String::from_utf8_lossy(commit.author().name_bytes()).into_owned(),
        subject: message.lines().next().unwrap_or_default().to_owned(),
        trailers: Trailers::parse(&message),
    }
}

fn is_empty_or_absent(path: &Path) -> bool {
    std::fs::read_dir(path).map_or_else(|e| e.kind() == std::io::ErrorKind::NotFound, |mut dir| dir.next().is_none())
}

fn mirror_error(path: &Path, e: &git2::Error) -> PortError {
    PortError::Permanent(format!(
        "the mirror {}: {}; it holds nothing of its own: remove it, and the next fetch makes it anew",
        path.display(),
        e.message()
    ))
}

impl fmt::Debug for GitRepo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitRepo").field("mirror", &self.path).field("remote", &self.remote).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_takes_two_minutes_at_most_and_the_first_fetch_ten_unless_something_else_is_stated() {
        for (stated, exchange, first) in
            [(None, 120, 600), (Some(""), 120, 600), (Some("1"), 1, 1), (Some("900"), 900, 900)]
        {
            let (exchange, first) = (Duration::from_secs(exchange), Duration::from_secs(first));
            assert_eq!(Patience::of(stated).unwrap(), Patience { exchange, first }, "{stated:?}");
        }
        for wrong in ["0", "-1", "2m", "99999999999"] {
            let error = Patience::of(Some(wrong)).unwrap_err().to_string();
            assert!(error.contains(GIT_TIMEOUT_VARIABLE) && error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_fetch_is_the_first_while_the_mirror_is_empty() {
        let dir = tempfile::TempDir::new().unwrap();
        let remote = Repository::init_bare(dir.path().join("remote.git")).unwrap();
        let tree = remote.find_tree(remote.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let who = git2::Signature::new("ann", "ann@example.com", &git2::Time::new(0, 0)).unwrap();
        let url = Remote::new(dir.path().join("remote.git").to_str().unwrap()).unwrap();
        let mut repo = GitRepo::open(&dir.path().join("mirror.git"), url, RepoPath::root()).unwrap();
        let patience = |repo: &GitRepo| repo.fetch_patience().unwrap();
        // what is not there yet is no fetch that ended
        repo.fetch(&["main"]).unwrap();
        assert_eq!(patience(&repo), Patience::STANDARD.first);
        remote.commit(Some("refs/heads/main"), &who, &who, "x", &tree, &[]).unwrap();
        repo.fetch(&["main"]).unwrap();
        assert_eq!((patience(&repo), repo.longest_exchange()), (Patience::STANDARD.exchange, Patience::STANDARD.first));
    }
}
