//! `fleetwright import`: a fleet repository from what another tool knows.

mod folder;
mod live;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use fleetwright_compiler::import::{Imported, InputFile, Report, Unreadable, capi, karmada, kubespray};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::{CompileError, Compiled, Session};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::output::count;
use crate::{fleet, init, output, streams};

/// Write a fleet repository from the files of another tool, or Cluster files from running clusters
///
/// Reads every .yaml, .yml and .json file below DIR and, but for `live`, asks nothing of a cluster. What has no counterpart,
/// behaves differently or was decided while importing is reported, as text or with `-o json`; read it before the first
/// deployment.
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
    /// Running clusters: a Cluster file for each context, its node pools read from the nodes
    ///
    /// Only reads. Nodes of one pool of GKE, EKS, AKS, Karpenter and others belong together, else nodes of one instance type,
    /// else nodes of equal size, and only as far as labels tell them apart: a controller counts a node in the first pool
    /// whose labels it has. Of nodes in a pool the smallest counts.
    Live(live::Args),
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
    match &args.source {
        Source::Karmada(KarmadaArgs { places, with_placements }) => {
            let mut imported = of_files(places, false, |files| Ok(karmada::import(files)))?;
            if *with_placements {
                imported.files.extend(std::mem::take(&mut imported.placements));
            }
            write_repository(context, &imported, &places.to)
        }
        Source::Kubespray(places) => {
            let imported = of_files(places, true, |files| Ok(kubespray::import(files, &name_of(&places.from)?)))?;
            some_cluster(&imported, places, "inventory, such as inventory.ini or hosts.yaml with a group `kube_node`")?;
            write_repository(context, &imported, &places.to)
        }
        Source::Capi(places) => {
            let imported = of_files(places, false, |files| Ok(capi::import(files)))?;
            some_cluster(
                &imported,
                places,
                "Cluster of the group cluster.x-k8s.io in YAML or JSON, as `kubectl get -o yaml` prints it",
            )?;
            write_repository(context, &imported, &places.to)
        }
        Source::Live(args) => live::run(context, args),
    }
}

/// Nothing is written where nothing was found: an empty fleet looks like one that was imported.
fn some_cluster(imported: &Imported, places: &Places, expected: &str) -> Result<(), Failure> {
    if imported.files.keys().any(|path| path.starts_with("clusters/")) {
        return Ok(());
    }
    Err(Failure::Refused(format!("error: nothing to import in {}: there is no {expected}", places.from.display())))
}

/// What the files below a folder become.
fn of_files(
    places: &Places,
    every_file: bool,
    import: impl FnOnce(&[InputFile]) -> Result<Result<Imported, Vec<Unreadable>>, Failure>,
) -> Result<Imported, Failure> {
    let files = folder::read(&places.from, every_file)?;
    import(&files)?.map_err(|wrong| refused(&wrong, &places.from))
}

/// Writes a fleet of its own, and says what became of the source.
fn write_repository(context: &Context, imported: &Imported, to: &Path) -> Result<Outcome, Failure> {
    // Before anything is written: whatever the source calls its objects, every file lies below the folder.
    let compiles = what_the_compiler_says(imported)?;
    std::fs::create_dir_all(to).map_err(|e| fleet::disk_error("create", to, &e))?;
    init::check_empty(to)?;
    for (path, text) in &imported.files {
        init::write_new(&to.join(path), text)?;
    }
    report(context, imported, to, &compiles)
}

/// What was written, and what is not as it was.
fn report(context: &Context, imported: &Imported, to: &Path, compiles: &str) -> Result<Outcome, Failure> {
    let report = Report::new(imported);
    streams::data(&output::data(context.format(), &report, || report.to_text())?)?;
    let written = format!("wrote {} into {}", count(report.files.len(), "file"), to.display());
    streams::talk(&format!("{written}; {compiles}"));
    Ok(Outcome::Done)
}

/// What an inventory in the folder itself is named after.
fn name_of(folder: &Path) -> Result<String, Failure> {
    let full = folder.canonicalize().map_err(|e| fleet::disk_error("read", folder, &e))?;
    Ok(full.file_name().map_or_else(|| "cluster".to_owned(), |name| name.to_string_lossy().into_owned()))
}

fn refused(wrong: &[Unreadable], from: &Path) -> Failure {
    let lines: Vec<String> =
        wrong.iter().map(|file| format!("error: {}", output::printable(&file.to_string()))).collect();
    Failure::Refused(format!("{}\nnothing of {} was imported", lines.join("\n"), from.display()))
}

/// Whether the result compiles. What the source has wrong is wrong in the fleet, too; `check` shows it.
fn what_the_compiler_says(imported: &Imported) -> Result<String, Failure> {
    let files = MemoryFiles::new(&imported.files)
        .map_err(|error| Failure::Refused(format!("error: {error}\nnothing was imported")))?;
    in_words(fleetwright_compiler::compile(&Session::new(), &Overlay::same(&files), &Scenario::default()))
}

fn in_words(compiled: Result<Compiled, CompileError>) -> Result<String, Failure> {
    let check = "`fleetwright check` there shows";
    match compiled {
        Ok(compiled) if compiled.diagnostics.is_empty() => Ok("it compiles without a word".to_owned()),
        Ok(compiled) => Ok(format!("it compiles; {check} {}", output::counts(&compiled.diagnostics))),
        Err(CompileError::Refused(refusal)) => {
            Ok(format!("it does not compile yet: {check} {}", output::counts(&refusal.diagnostics)))
        }
        Err(error) => Err(fleet::failure(error)),
    }
}
