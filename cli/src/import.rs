//! `fleetwright import`: a fleet repository from what another tool knows.

mod folder;

use std::path::PathBuf;

use clap::Subcommand;

use fleetwright_compiler::import::{Imported, Report, Unreadable, capi, karmada, kubespray};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::{CompileError, Session};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::output::count;
use crate::{fleet, init, output, streams};

/// Write a fleet repository from the files of another tool
///
/// Reads every .yaml, .yml and .json file below DIR and asks nothing of a cluster. What has no counterpart, behaves
/// differently or was decided while importing is reported, as text or with `-o json`; read it before the first deployment.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    source: Source,
}

/// What is read.
#[derive(Debug, Subcommand)]
enum Source {
    /// Karmada: policies, overrides, quotas, clusters, and the templates they select
    ///
    /// `kubectl get TYPES -A -o yaml` against Karmada's API server gives such files. Each namespace becomes a team, each
    /// workload an app. Which policy a template belongs to is decided as Karmada does: by priority, by how exactly it
    /// selects, by name, by claims and preemption.
    Karmada(KarmadaArgs),
    /// Kubespray: a Cluster file for each inventory
    ///
    /// Each folder with an inventory (hosts.yaml, inventory.ini) is a cluster of that name. What nodes have is read from
    /// Ansible's cache of facts, where it lies in the folder.
    Kubespray(Places),
    /// Cluster API: a Cluster file for each Cluster, with a node pool for each MachineDeployment and MachinePool
    Capi(Places),
}

/// Karmada's folder.
#[derive(Debug, clap::Args)]
struct KarmadaArgs {
    #[command(flatten)]
    places: Places,

    /// Record what runs, as ResourceBindings say, in `placements/`, so that nothing moves
    ///
    /// For a fleet in a folder. In Git the record belongs on the live branch and not among the intents.
    #[arg(long)]
    with_placements: bool,
}

/// From where to where.
#[derive(Debug, clap::Args)]
struct Places {
    /// The folder to read
    #[arg(value_name = "DIR")]
    from: PathBuf,

    /// The folder to write into, created if needed; new or empty, but for `.git`
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let (places, every_file) = match &args.source {
        Source::Karmada(KarmadaArgs { places, .. }) | Source::Capi(places) => (places, false),
        Source::Kubespray(places) => (places, true),
    };
    let files = folder::read(&places.from, every_file)?;
    let imported = match &args.source {
        Source::Karmada(_) => karmada::import(&files),
        Source::Kubespray(_) => kubespray::import(&files, &name_of(&places.from)?),
        Source::Capi(_) => capi::import(&files),
    };
    let mut imported = imported.map_err(|wrong| refused(&wrong, &places.from))?;
    if matches!(args.source, Source::Karmada(KarmadaArgs { with_placements: true, .. })) {
        imported.files.extend(std::mem::take(&mut imported.placements));
    }
    write(&imported, places)?;
    let report = Report::new(&imported);
    streams::data(&output::data(context.format(), &report, || report.to_text())?)?;
    let written = format!("wrote {} into {}", count(report.files.len(), "file"), places.to.display());
    streams::talk(&format!("{written}; {}", what_the_compiler_says(&imported)?));
    Ok(Outcome::Done)
}

/// What an inventory in the folder itself is named after.
fn name_of(folder: &std::path::Path) -> Result<String, Failure> {
    let full = folder.canonicalize().map_err(|e| fleet::disk_error("read", folder, &e))?;
    Ok(full.file_name().map_or_else(|| "cluster".to_owned(), |name| name.to_string_lossy().into_owned()))
}

fn refused(wrong: &[Unreadable], from: &std::path::Path) -> Failure {
    let lines: Vec<String> =
        wrong.iter().map(|file| format!("error: {}", output::printable(&file.to_string()))).collect();
    Failure::Refused(format!("{}\nnothing of {} was imported", lines.join("\n"), from.display()))
}

fn write(imported: &Imported, places: &Places) -> Result<(), Failure> {
    std::fs::create_dir_all(&places.to).map_err(|e| fleet::disk_error("create", &places.to, &e))?;
    init::check_empty(&places.to)?;
    for (path, text) in &imported.files {
        init::write_new(&places.to.join(path), text)?;
    }
    Ok(())
}

/// Whether the result compiles. What the source has wrong is wrong in the fleet, too; `check` shows it.
fn what_the_compiler_says(imported: &Imported) -> Result<String, Failure> {
    let files = MemoryFiles::new(&imported.files).map_err(|error| Failure::Bug(error.to_string()))?;
    let check = "`fleetwright check` there shows";
    match fleetwright_compiler::compile(&Session::new(), &Overlay::same(&files), &Scenario::default()) {
        Ok(compiled) if compiled.diagnostics.is_empty() => Ok("it compiles without a word".to_owned()),
        Ok(compiled) => Ok(format!("it compiles; {check} {}", output::counts(&compiled.diagnostics))),
        Err(CompileError::Refused(refusal)) => {
            Ok(format!("it does not compile yet: {check} {}", output::counts(&refusal.diagnostics)))
        }
        Err(error) => Err(fleet::failure(error)),
    }
}
