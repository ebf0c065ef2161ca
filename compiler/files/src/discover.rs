//! Where the fleet is: upwards to `fleet.yaml`, and the Git repository around it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use fleetwright_compiler::source::{FilesError, RepoPath};
use git2::{ErrorCode, Repository, RepositoryOpenFlags};

use crate::revision::open_error;

/// A fleet on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetRoot {
    /// The folder that holds `fleet.yaml`, without symbolic links.
    pub dir: PathBuf,
    /// The repository whose working tree it is in.
    pub git: Option<GitPlace>,
}

/// A folder of a Git working tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitPlace {
    /// The working tree's own folder: [`GitFiles`](crate::GitFiles) opens it.
    pub repo: PathBuf,
    /// The fleet's folder inside it; the root for most.
    pub prefix: RepoPath,
}

/// Goes up from a folder (or a file in it) to the nearest one with a `fleet.yaml`.
///
/// # Errors
/// When there is none, or a repository around it cannot be opened.
pub fn discover(start: &Path) -> Result<FleetRoot, FilesError> {
    let fail = |reason: String| FilesError::new(start.to_string_lossy(), reason);
    let real = fs::canonicalize(start).map_err(|e| fail(e.to_string()))?;
    for dir in real.ancestors() {
        // Of a file, the first has none: it is no directory.
        match fs::metadata(dir.join("fleet.yaml")) {
            Ok(metadata) if metadata.is_file() => {
                return Ok(FleetRoot { dir: dir.to_path_buf(), git: git_place(dir)? });
            }
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(FilesError::new(dir.join("fleet.yaml").to_string_lossy(), e.to_string())),
        }
    }
    Err(fail(if Repository::open_bare(&real).is_ok() {
        "it is a bare Git repository: name a revision of it with --rev".to_owned()
    } else {
        "there is no fleet.yaml, nor in any folder above; `fleetwright init` writes one, `-C DIR` names another folder"
            .to_owned()
    }))
}

fn git_place(dir: &Path) -> Result<Option<GitPlace>, FilesError> {
    let no_ceilings: [&Path; 0] = [];
    let repo = match Repository::open_ext(dir, RepositoryOpenFlags::empty(), no_ceilings) {
        Ok(repo) => repo,
        Err(e) if e.code() == ErrorCode::NotFound => return Ok(None),
        Err(e) => return Err(open_error(dir, &e)),
    };
    let Some(workdir) = repo.workdir() else { return Ok(None) };
    let workdir = fs::canonicalize(workdir).map_err(|e| FilesError::new(workdir.to_string_lossy(), e.to_string()))?;
    // A repository may keep its working tree elsewhere.
    let Ok(inside) = dir.strip_prefix(&workdir) else { return Ok(None) };
    let mut prefix = RepoPath::root();
    for component in inside.components() {
        let name = component.as_os_str();
        prefix = name.to_str().and_then(|name| prefix.join(name).ok()).ok_or_else(|| {
            FilesError::new(dir.to_string_lossy(), "the path inside the Git repository is not plain UTF-8")
        })?;
    }
    Ok(Some(GitPlace { repo: workdir, prefix }))
}
