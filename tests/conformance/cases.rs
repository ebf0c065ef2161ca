//! The cases: where they lie and how they are read.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// One fact.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    /// Unique in its folder.
    pub id: String,
    /// What was asked; without it the case is a problem described in words.
    #[serde(default)]
    pub input: Option<Value>,
    /// The right answer.
    #[serde(default)]
    pub expected: Value,
}

/// The cases of one file.
#[derive(Debug)]
pub struct CaseFile {
    /// Its name.
    pub name: String,
    /// In the order written.
    pub cases: Vec<Case>,
}

/// Where cases were asked for.
#[derive(Debug)]
pub enum Source {
    /// A folder that is there.
    Folder(PathBuf),
    /// The default folder, which is not there.
    Absent(PathBuf),
}

/// The project's own cases.
pub fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/cases")
}

/// The folder that `FLEETWRIGHT_CASES` names, or the default one.
///
/// A folder that was named and is not there is an error: who names one wants it read.
pub fn given() -> Result<Source, String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::var_os("FLEETWRIGHT_CASES") {
        Some(named) => {
            let folder = workspace.join(named);
            if folder.is_dir() {
                Ok(Source::Folder(folder))
            } else {
                Err(format!("FLEETWRIGHT_CASES names {}, which is no folder", folder.display()))
            }
        }
        None => {
            let folder = workspace.join("../shared/cases");
            Ok(if folder.is_dir() { Source::Folder(folder) } else { Source::Absent(folder) })
        }
    }
}

/// All `*.json` files of a folder, by name.
pub fn read_folder(folder: &Path) -> Result<Vec<CaseFile>, String> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read_file(path)).collect()
}

fn read_file(path: &Path) -> Result<CaseFile, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| cannot(&error))?;
    let cases = serde_json::from_slice(&text).map_err(|error| cannot(&error))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(CaseFile { name, cases })
}
