//! The repository that a user works in: where it is pushed to, and where its mirror may lie.

use std::path::{Path, PathBuf};

use git2::{ErrorCode, Repository};

use super::remote::Remote;
use crate::ports::PortError;

/// The repository that a user works in.
#[derive(Clone, Debug)]
pub struct Surrounding {
    /// Its remote `origin`; itself where it has none.
    pub remote: Remote,
    /// A folder inside its Git folder that nothing else uses.
    pub mirror: PathBuf,
    /// `user.name`, of its settings or the user's.
    pub user_name: Option<String>,
    /// `user.email`
    pub user_email: Option<String>,
}

/// Looks at the repository at a path: its working tree, or a bare repository.
///
/// # Errors
/// When there is none, or its remote is of no known kind.
pub fn surrounding(path: &Path) -> Result<Surrounding, PortError> {
    let fail = |text: String| PortError::Permanent(format!("{}: {text}", path.display()));
    let repo = Repository::open(path).map_err(|e| fail(e.message().to_owned()))?;
    let home = repo.workdir().unwrap_or_else(|| repo.path()).to_path_buf();
    let url = match repo.find_remote("origin") {
        Ok(origin) => match std::str::from_utf8(origin.url_bytes()) {
            // Git reads a relative path from the working tree.
            Ok(url) if is_relative_path(url) => home.join(url).to_string_lossy().into_owned(),
            Ok(url) => url.to_owned(),
            Err(_) => return Err(fail("the URL of its remote `origin` is not UTF-8".to_owned())),
        },
        Err(e) if e.code() == ErrorCode::NotFound => home.to_string_lossy().into_owned(),
        Err(e) => return Err(fail(e.message().to_owned())),
    };
    let remote = Remote::new(&url).map_err(|e| fail(e.to_string()))?;
    let settings = repo.config().and_then(|mut config| config.snapshot()).ok();
    let setting =
        |name: &str| settings.as_ref().and_then(|s| s.get_string(name).ok()).filter(|value| !value.trim().is_empty());
    Ok(Surrounding {
        user_name: setting("user.name"),
        user_email: setting("user.email"),
        remote: remote.with_settings(repo.commondir().join("config")),
        mirror: repo.commondir().join("fleetwright"),
    })
}

fn is_relative_path(url: &str) -> bool {
    !url.contains(':') && !url.starts_with('/')
}
