//! `fleetwright init`: a new fleet repository from the template.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, streams, template};

/// Write a small fleet repository to start from
///
/// It compiles as it is: three clusters, a team, an app, CI files for GitHub and GitLab. The folder must be new or empty,
/// but for `.git`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write into, created if needed; relative to -C
    #[arg(default_value = ".")]
    dir: PathBuf,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let dir = context.directory().join(&args.dir);
    fs::create_dir_all(&dir).map_err(|e| fleet::disk_error("create", &dir, &e))?;
    check_empty(&dir)?;
    for (path, text) in template::files() {
        write_new(&dir.join(&path), &text)?;
        streams::data(&format!("{path}\n"))?;
    }
    streams::talk(&format!("wrote a fleet repository into {}: run `fleetwright check` there", dir.display()));
    Ok(Outcome::Done)
}

/// Refuses a folder that holds anything but `.git`.
pub fn check_empty(dir: &Path) -> Result<(), Failure> {
    let error = |e: io::Error| fleet::disk_error("read", dir, &e);
    for entry in fs::read_dir(dir).map_err(error)? {
        let name = entry.map_err(error)?.file_name();
        if name != ".git" {
            return Err(Failure::Usage(format!(
                "{} is not empty: it holds {}. Name a new or an empty folder",
                dir.display(),
                name.display()
            )));
        }
    }
    Ok(())
}

/// Never over a file that appeared meanwhile.
pub fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
    };
    write().map_err(|e| fleet::disk_error("write", path, &e))
}
