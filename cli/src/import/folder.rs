//! All files below a folder.

use std::fs;
use std::path::Path;

use fleetwright_compiler::import::InputFile;

use crate::exit::Failure;
use crate::fleet::disk_error;

/// Folders in folders.
const MAX_DEPTH: usize = 64;
/// The most that is read of one file; larger ones hold no manifests.
const MAX_BYTES: u64 = 64 << 20;

/// Reads the files below a folder whose names say that they hold manifests, or every one. Names that begin with a dot and
/// links are left out.
pub fn read(folder: &Path, every_file: bool) -> Result<Vec<InputFile>, Failure> {
    let mut files = Vec::new();
    collect(folder, "", every_file, 0, &mut files)?;
    if files.is_empty() {
        return Err(Failure::Usage(format!("there is no file to import below {}", folder.display())));
    }
    Ok(files)
}

fn collect(
    folder: &Path,
    prefix: &str,
    every_file: bool,
    depth: usize,
    files: &mut Vec<InputFile>,
) -> Result<(), Failure> {
    let error = |e| disk_error("read", folder, &e);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        names.push((entry.file_name(), entry.file_type().map_err(error)?));
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, kind) in names {
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let (path, at) = (format!("{prefix}{name}"), folder.join(name));
        if kind.is_dir() && depth < MAX_DEPTH {
            collect(&at, &format!("{path}/"), every_file, depth + 1, files)?;
        }
        let wanted = every_file || [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending));
        if !kind.is_file() || !wanted {
            continue;
        }
        let error = |e| disk_error("read", &at, &e);
        if fs::metadata(&at).map_err(error)?.len() > MAX_BYTES {
            return Err(Failure::Usage(format!("{} is larger than {} MiB", at.display(), MAX_BYTES >> 20)));
        }
        files.push(InputFile { path, bytes: fs::read(&at).map_err(error)? });
    }
    Ok(())
}
