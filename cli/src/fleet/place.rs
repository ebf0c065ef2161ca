//! Trees and where they are: a folder, a Git repository or a folder in one, and what a name on the command line means
//! there.

use std::path::{Path, PathBuf};

use fleetwright_compiler::diff::Provenance;
use fleetwright_compiler::source::{FilesError, FleetFiles, MemoryFiles, RepoPath};
use fleetwright_files::{FolderFiles, GitFiles, GitPlace, discover};
use fleetwright_reconciler::instant;

use crate::exit::Failure;

/// A tree of files.
#[derive(Debug)]
pub enum Tree {
    Folder(FolderFiles),
    Git(GitFiles),
    Memory(MemoryFiles),
}

/// Where a fleet is: a folder, a Git repository, or a folder in one.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder with `fleet.yaml`; `None` for a bare repository, or when another branch is checked out.
    pub dir: Option<PathBuf>,
    pub git: Option<GitPlace>,
}

impl Tree {
    /// As the compiler takes it.
    pub fn files(&self) -> &dyn FleetFiles {
        match self {
            Self::Folder(files) => files,
            Self::Git(files) => files,
            Self::Memory(files) => files,
        }
    }

    /// Whether both were opened at one place.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder(a), Self::Folder(b)) => a.root_dir() == b.root_dir(),
            (Self::Git(a), Self::Git(b)) => a.commit_id().is_some() && a.commit_id() == b.commit_id(),
            (Self::Folder(_) | Self::Git(_) | Self::Memory(_), _) => false,
        }
    }

    /// Whether it holds `placements/` or `state/`.
    pub fn has_record(&self) -> Result<bool, FilesError> {
        let files = self.files();
        let entries = files.dir(&RepoPath::root(), &files.root()?)?;
        Ok(entries.iter().any(|e| matches!(&*e.name, "placements" | "state")))
    }
}

impl Place {
    /// The place of a folder, going up to its `fleet.yaml`.
    pub fn of_folder(dir: &Path) -> Result<Self, FilesError> {
        let root = discover(dir)?;
        Ok(Self { dir: Some(root.dir), git: root.git })
    }

    /// As [`Self::of_folder`], but a repository without a `fleet.yaml` on disk will do: it may be bare.
    pub fn of_repository(dir: &Path) -> Self {
        Self::of_folder(dir).unwrap_or_else(|_| Self {
            dir: None,
            git: Some(GitPlace { repo: dir.to_path_buf(), prefix: RepoPath::root() }),
        })
    }

    /// The folder with `fleet.yaml`.
    pub fn folder(&self) -> Result<&Path, Failure> {
        self.dir.as_deref().ok_or_else(|| Failure::Usage("the fleet has no folder here; name a revision".into()))
    }

    /// The fleet at a revision.
    pub fn revision(&self, revision: &str) -> Result<GitFiles, Failure> {
        let Some(git) = &self.git else {
            return Err(Failure::Usage(format!(
                "`{revision}` would be a revision, and the fleet is in no Git repository"
            )));
        };
        Ok(GitFiles::open_below(&git.repo, revision, &git.prefix)?)
    }

    /// Where a tree comes from: the name that people use, and of a revision the commit, its time, and how to get a newer one.
    pub fn provenance(&self, tree: &Tree, name: &str) -> Provenance {
        let (commit, time) = match tree {
            Tree::Git(git) => (git.commit_id(), git.commit_time_secs().map(|secs| instant::text(secs).to_string())),
            Tree::Folder(_) | Tree::Memory(_) => (None, None),
        };
        let refresh = commit.as_ref().and_then(|commit| self.refresh(name, commit));
        Provenance { name: short(name).to_owned(), commit, time, refresh }
    }

    /// How to get a newer commit of a branch: a copy of a remote's is as old as the last fetch, and a branch here counts
    /// before one of `origin`.
    fn refresh(&self, name: &str, commit: &str) -> Option<String> {
        let full = if name.starts_with("refs/") { name.to_owned() } else { self.branch(name)? };
        if let Some((remote, branch)) = full.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/')) {
            return Some(format!("as last fetched: `git fetch {remote} {branch}` looks for a newer one"));
        }
        let branch = full.strip_prefix("refs/heads/")?;
        let origin = self.revision(&format!("refs/remotes/origin/{branch}")).ok()?.commit_id()?;
        Some(if origin == commit {
            format!("as last fetched: `git fetch origin {branch}:{branch}` looks for a newer one")
        } else {
            let at = origin.get(..12).unwrap_or(&origin);
            format!(
                "the branch here counts, and origin/{branch} is at {at}: `git fetch origin {branch}:{branch}` brings the branch up to it"
            )
        })
    }

    /// The full name of a branch that people name in short.
    fn branch(&self, name: &str) -> Option<String> {
        if name.contains(['~', '^', ':', '@']) {
            return None;
        }
        let full = ["refs/heads/", "refs/remotes/"].map(|prefix| format!("{prefix}{name}"));
        full.into_iter().find(|full| self.revision(full).is_ok())
    }
}

/// What a name on the command line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// A revision of the repository.
    Revision,
    /// A folder.
    Folder,
}

/// What a name is; one that could be both is the revision, and `./name` the folder.
pub fn named(place: &Place, name: &str) -> Result<Named, Failure> {
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

/// A full reference as people write it.
pub fn short(revision: &str) -> &str {
    ["refs/heads/", "refs/remotes/"].iter().find_map(|prefix| revision.strip_prefix(prefix)).unwrap_or(revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_as_people_write_them() {
        for (full, expected) in [
            ("refs/heads/live", "live"),
            ("refs/remotes/origin/live", "origin/live"),
            ("HEAD~2", "HEAD~2"),
            ("refs/tags/v1", "refs/tags/v1"),
        ] {
            assert_eq!(short(full), expected);
        }
    }

    #[test]
    fn names_outside_git() {
        let place = Place { dir: None, git: None };
        assert_eq!(named(&place, env!("CARGO_MANIFEST_DIR")), Ok(Named::Folder));
        let Err(Failure::Usage(text)) = named(&place, "no-such-folder") else { panic!("it is neither") };
        assert_eq!(
            text,
            "there is no folder `no-such-folder`, and it can be no revision: the fleet is in no Git repository"
        );
    }

    #[test]
    fn trees_with_a_record() {
        for (path, expected) in [("fleet.yaml", false), ("placements/a.yaml", true), ("state/taints/a.yaml", true)] {
            let tree = Tree::Memory(MemoryFiles::new([(path, "")]).unwrap());
            assert_eq!(tree.has_record(), Ok(expected), "{path}");
        }
    }
}
