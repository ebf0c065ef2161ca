//! `fleetwright plan`: what goes where, and what moves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::placements::{self, PlacedApp};
use fleetwright_compiler::report::PlanReport;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::FileClass;
use fleetwright_compiler::{Compiled, Session, report, schedule};

use crate::args::{At, Format};
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, output, streams};

/// Show what goes where, what would move, and why
///
/// Computed from the intents and the record of what runs; no cluster is asked. The same intents and record always give
/// the same plan, and a plan that is in the record moves nothing more.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the plan into `placements/` of the fleet's folder: it becomes the record of what runs
    ///
    /// One block for each app, one file for each team; a file is written only when it changed. Refused when the record
    /// comes from elsewhere, such as the live branch: there the decider writes it.
    #[arg(long, conflicts_with = "rev")]
    write: bool,

    /// Suppose that it is this instant: the phases of tides then count, not those of the record
    ///
    /// `2026-11-30T15:00:00Z`, with an offset in place of `Z`, or `now`.
    #[arg(long, value_name = "INSTANT", conflicts_with = "write")]
    at: Option<At>,

    /// Name every cluster, with pools and loads: the same as `-o wide`
    #[arg(long)]
    all: bool,

    /// Exit with 1 when the plan differs from the record
    #[arg(long)]
    exit_code: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context)?;
    let folder = if args.write { Some(opened.record_folder()?.to_path_buf()) } else { None };
    let scenario = Scenario { instant: args.at.as_ref().map(At::instant).transpose()?, ..Scenario::default() };
    let compiled = fleet::compile_supposing(context, &Session::new(), &opened, &scenario)?;
    fleet::say_missing_live(&opened);
    let report = PlanReport { record: opened.record(), ..report::plan(&compiled) };
    let wide = args.all || context.format() == Format::Wide;
    streams::data(&output::data(context.format(), &report, || report.to_text(wide))?)?;
    if let Some(folder) = folder {
        write_placements(&folder, &compiled)?;
    }
    fleet::say_warnings(&compiled);
    Ok(Outcome::of_differences(differs_from_record(&compiled), args.exit_code))
}

/// Whether writing the plan would change the record.
fn differs_from_record(compiled: &Compiled) -> bool {
    let placed = schedule::placed(&compiled.fleet, &compiled.target);
    // Where a block is written does not make it another.
    let same =
        |a: &PlacedApp, b: &PlacedApp| a.tier == b.tier && a.clusters == b.clusters && a.workloads == b.workloads;
    let recorded = &compiled.record.apps;
    let transferred = !compiled.record.transfers.is_empty();
    transferred
        || placed.len() != recorded.len()
        || !placed.iter().all(|(name, app)| recorded.get(name).is_some_and(|r| same(app, r)))
}

/// Path and text of every file of `placements/` that records what a compile decided.
pub fn placement_files(compiled: &Compiled) -> BTreeMap<String, String> {
    files_of(&schedule::placed(&compiled.fleet, &compiled.target))
}

/// The files of `placements/` that hold these placements.
fn files_of(placed: &BTreeMap<(SmolStr, SmolStr), PlacedApp>) -> BTreeMap<String, String> {
    let mut teams: BTreeMap<&SmolStr, Vec<(&SmolStr, &PlacedApp)>> = BTreeMap::new();
    for ((team, app), placed) in placed {
        teams.entry(team).or_default().push((app, placed));
    }
    teams.into_iter().map(|(team, apps)| (placements::file_path(team), placements::placements_text(apps))).collect()
}

fn write_placements(folder: &Path, compiled: &Compiled) -> Result<(), Failure> {
    write_files(folder, compiled, &placement_files(compiled))
}

/// Writes placements in place of those that a compile read.
pub fn write_placed(
    folder: &Path,
    compiled: &Compiled,
    placed: &BTreeMap<(SmolStr, SmolStr), PlacedApp>,
) -> Result<(), Failure> {
    write_files(folder, compiled, &files_of(placed))
}

fn write_files(folder: &Path, compiled: &Compiled, files: &BTreeMap<String, String>) -> Result<(), Failure> {
    let mut changed = 0;
    for (path, text) in files {
        if write_if_changed(&folder.join(path), text)? {
            streams::talk(&format!("wrote {path}"));
            changed += 1;
        }
    }
    // Only what was read as the record a moment ago is removed.
    let recorded = compiled.files.iter().filter(|file| file.class == FileClass::Placements);
    let gone: BTreeSet<&str> =
        recorded.map(|file| file.path.as_str()).filter(|path| !files.contains_key(*path)).collect();
    for path in gone {
        let full = folder.join(path);
        fs::remove_file(&full).map_err(|e| fleet::disk_error("remove", &full, &e))?;
        streams::talk(&format!("removed {path}: its team has no apps"));
        changed += 1;
    }
    if changed == 0 {
        streams::talk("placements/ records this plan already");
    }
    Ok(())
}

/// Moves the new file over the old one, so that a reader sees one or the other. Whether it changed.
fn write_if_changed(path: &Path, text: &str) -> Result<bool, Failure> {
    match fs::read(path) {
        Ok(bytes) if bytes == text.as_bytes() => return Ok(false),
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(fleet::disk_error("read", path, &e)),
    }
    let write = || {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let temporary = path.with_extension(format!("yaml.tmp-{}", std::process::id()));
        fs::write(&temporary, text)?;
        fs::rename(&temporary, path).inspect_err(|_| {
            // The first failure is the one to report.
            let _ = fs::remove_file(&temporary);
        })
    };
    write().map_err(|e| fleet::disk_error("write", path, &e))?;
    Ok(true)
}
