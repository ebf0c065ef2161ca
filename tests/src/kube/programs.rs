//! Where the programs of a cluster are: in `KUBEBUILDER_ASSETS`, else where `tests/kube/build.sh` puts them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of one cluster, in the order in which they start.
pub(super) const NAMES: [&str; 5] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];

/// A folder that holds every program. All come from one folder, because a controller manager must not be newer than its API
/// server.
#[derive(Debug, Clone)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Looks in the folder that `KUBEBUILDER_ASSETS` names, then in the cache folder of `tests/kube/build.sh`.
    ///
    /// # Errors
    /// [`NotThere`] when neither is complete.
    pub fn find() -> Result<Programs, NotThere> {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut looked = Vec::new();
        let mut notes = Vec::new();
        match assets {
            Some(folder) => looked.push(("KUBEBUILDER_ASSETS", folder)),
            None => notes.push("KUBEBUILDER_ASSETS is not set".to_owned()),
        }
        match cache() {
            Ok(folder) => looked.push(("cache", folder)),
            Err(why) => notes.push(format!("the cache folder is not known: {why}")),
        }
        for (source, folder) in looked {
            let missing = missing(&folder);
            if missing.is_empty() {
                return Ok(Programs { folder });
            }
            notes.push(format!("{source} {} lacks {}", folder.display(), missing.join(", ")));
        }
        Err(NotThere { notes })
    }

    /// The path of one of the programs.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder that holds them.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The folder that the build script would fill. The script alone knows what its name depends on.
fn cache() -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("kube/build.sh");
    let output =
        Command::new(&script).arg("--where").output().map_err(|error| format!("{}: {error}", script.display()))?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if folder.is_empty() {
        return Err(format!("{} says {}", script.display(), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(PathBuf::from(folder))
}

fn missing(folder: &Path) -> Vec<&'static str> {
    NAMES.into_iter().filter(|name| !folder.join(name).is_file()).collect()
}

/// The programs are not on this machine, so what needs them did not run.
#[derive(Debug)]
pub struct NotThere {
    notes: Vec<String>,
}

impl fmt::Display for NotThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "NOT RUN: nothing was tested on real Kubernetes API servers, because they are not on this machine."
        )?;
        for note in &self.notes {
            writeln!(f, "  - {note}")?;
        }
        write!(f, "Build them once with `tests/kube/build.sh` (needs Go; five to ten minutes on two cores).")
    }
}

impl std::error::Error for NotThere {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_all_programs_names_the_missing_ones() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["etcd", "kube-apiserver", "kwok"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(missing(folder.path()), ["kube-controller-manager", "kube-scheduler"]);
    }

    #[test]
    fn the_message_says_what_did_not_run_and_how_to_build_it() {
        let text = NotThere { notes: vec!["KUBEBUILDER_ASSETS is not set".to_owned()] }.to_string();
        assert!(text.starts_with("NOT RUN") && text.contains("  - KUBEBUILDER_ASSETS is not set\n"), "{text}");
        assert!(text.contains("tests/kube/build.sh"), "{text}");
    }

    #[test]
    fn the_build_script_names_its_folder() {
        let folder = cache().unwrap();
        assert!(folder.parent().unwrap().ends_with("fleetwright/kube"), "{}", folder.display());
    }
}
