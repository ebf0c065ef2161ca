//! `fleetwright schema`: the JSON Schemas of the kinds.

use std::path::{Path, PathBuf};

use fleetwright_compiler::api::{KINDS, schema};
use fleetwright_compiler::base::name::nearest;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, streams};

/// Print the JSON Schema of a kind, or write all of them
///
/// Editors check and complete fleet files with them: `# yaml-language-server: $schema=PATH` at the top of a file names
/// the schema to use. Without KIND, the kinds are listed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kind, in any case: `App`, `cluster`
    kind: Option<String>,

    /// Write `<kind>.json` for the kind, or for every kind, into this folder
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// JSON is what it prints in either.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json];

pub fn run(_context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let kind = args.kind.as_deref().map(kind_named).transpose()?;
    match (&args.to, kind) {
        (Some(dir), kind) => write_all(dir, kind)?,
        (None, Some(kind)) => streams::data(&text(kind)?)?,
        (None, None) => streams::data(&format!("{}\n", KINDS.join("\n")))?,
    }
    Ok(Outcome::Done)
}

fn write_all(dir: &Path, only: Option<&'static str>) -> Result<(), Failure> {
    std::fs::create_dir_all(dir).map_err(|e| fleet::disk_error("create", dir, &e))?;
    for kind in KINDS.iter().filter(|kind| only.is_none_or(|only| only == **kind)) {
        let path = dir.join(schema::file_name(kind));
        std::fs::write(&path, text(kind)?).map_err(|e| fleet::disk_error("write", &path, &e))?;
        streams::data(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn text(kind: &str) -> Result<String, Failure> {
    schema::file_text(kind).ok_or_else(|| Failure::Bug(format!("{kind} is listed and has no schema")))
}

/// The kind of that name, in any case.
///
/// # Errors
/// A usage error with the nearest kind when there is none.
pub fn kind_named(name: &str) -> Result<&'static str, Failure> {
    KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(name)).copied().ok_or_else(|| {
        let hint = match nearest(name, KINDS.iter().copied()) {
            Some(kind) => format!("did you mean {kind}?"),
            None => format!("there are {}", KINDS.join(", ")),
        };
        Failure::Usage(format!("there is no kind `{name}`; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_any_name() {
        for (name, expected) in [("App", "App"), ("app", "App"), ("PLACEMENTPOLICY", "PlacementPolicy")] {
            assert_eq!(kind_named(name), Ok(expected));
        }
        for (name, hint) in [
            ("Clster", "there is no kind `Clster`; did you mean Cluster?"),
            (
                "Pod",
                "there is no kind `Pod`; there are Fleet, Cluster, Team, App, PlacementPolicy, OverridePolicy, Tide, Calendar, WorkloadKind, PriorityClass",
            ),
        ] {
            assert_eq!(kind_named(name), Err(Failure::Usage(hint.into())));
        }
    }

    #[test]
    fn every_kind_has_a_schema() {
        for kind in KINDS {
            assert!(text(kind).unwrap().contains(&format!("\"title\": \"{kind}\"")), "{kind}");
        }
    }
}
