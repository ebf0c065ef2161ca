//! The compiler of fleetwright: a fleet repository in, placements and manifests for each cluster out.
//!
//! ```text
//! FleetFiles --walk, parse--> FileIr --lower + check--> Fleet, Record --phases of tides-->
//!     --variants--> objects after overrides --schedule--> Target --check-->
//!     --plan--> which object goes where, and what moves --render--> manifests per cluster
//! diff compares two results, report says them in words.
//! ```
//!
//! Invariants: no async, network, clock, environment or file system; the same bytes in give the same bytes out, for any
//! number of threads and any order of files; no panic is reachable from input.
//! Where the next thing goes: a placement filter into `schedule/filter`, an override operation into `overrides`, a
//! workload kind into `kinds::replicas`, a check into `model::check`, a code into `diag::codes`.

pub mod api;
pub mod base;
pub mod diag;
pub mod diff;
pub mod divide;
pub mod import;
pub mod kinds;
mod locate;
pub mod model;
pub mod moves;
pub mod overrides;
pub mod parse;
pub mod placements;
pub mod plan;
pub mod rebalance;
mod recheck;
pub mod render;
pub mod report;
pub mod room;
pub mod schedule;
mod session;
pub mod source;
pub mod tide;
pub mod variants;
pub mod what_if;
pub mod yaml;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use diag::{Diagnostic, Diagnostics, Place, codes};
use model::Fleet;
use model::lower::FileInput;
use parse::{FileForm, FileIr};
use placements::Record;
use plan::Plan;
use render::RenderedFleet;
use schedule::{Preemption, Scenario, Target};
use source::{FilesError, Overlay, ReadError, RecordSource, SourceFile};
use variants::Variants;
use what_if::Lapse;

pub use recheck::{Difference, StaleMemo, difference};
pub use session::Session;

/// Everything a compile found out.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The files that were read, ascending by path: a [`base::FileId`] is an index into them.
    pub files: Vec<SourceFile>,
    /// The valid fleet.
    pub fleet: Fleet,
    /// What ran before.
    pub record: Record,
    /// Which phase of each tide counts, by tide.
    pub tides: Vec<model::tides::Current>,
    /// Objects after overrides.
    pub variants: Variants,
    /// What should run.
    pub target: Target,
    /// Apps on a move in steps: what should run of them is what runs, until the decider takes the next step.
    pub moving: BTreeSet<base::AppId>,
    /// Apps that do not survive what they must.
    pub lapses: Vec<Lapse>,
    /// What could be given up for apps that are short, where their priority class asks for it.
    pub preemptions: Vec<Preemption>,
    /// Which object goes where, and what moves.
    pub plan: Plan,
    /// Manifests for each cluster.
    pub rendered: RenderedFleet,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// Why there is no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileError {
    /// The repository is wrong. Exit code 3.
    #[error("the repository is refused")]
    Refused(Refusal),
    /// The repository could not be read. Exit code 5.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The schedule breaks its own rules: our bug. Exit code 101.
    #[error("the schedule breaks its own rules: {}", .0.join("; "))]
    Bug(Vec<String>),
}

/// All mistakes, and the files they are in.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The files that were read.
    pub files: Vec<SourceFile>,
    /// Errors and warnings, sorted.
    pub diagnostics: Diagnostics,
}

/// Compiles a fleet.
///
/// # Errors
/// When the repository is wrong or cannot be read, or when the result fails its own check.
pub fn compile(session: &Session, overlay: &Overlay<'_>, scenario: &Scenario) -> Result<Compiled, CompileError> {
    session.begin();
    let source_limits = source::Limits::STANDARD;
    let listing = source::walk_with(&mut session.walks(), overlay, &source_limits)?;
    let mut diagnostics = Diagnostics::default();
    diagnostics.extend(listing.findings.iter().map(source_diagnostic));
    diagnostics.extend(listing.ignored.iter().filter(|path| path.as_str().starts_with("teams/")).map(|path| {
        let place = Place::Path(path.as_str().to_owned());
        Diagnostic::new(codes::layout::IGNORED_FILE, place, "this file is not read: only .yaml, .yml and .json are")
    }));
    // Told to take no record at all, nobody takes the one beside the intents for the one that counts.
    let misplaced = match overlay.record {
        RecordSource::Tree(_) => listing.record_among_intents.as_slice(),
        RecordSource::None | RecordSource::Same => &[],
    };
    diagnostics.extend(misplaced.iter().map(|path| {
        Diagnostic::new(
            codes::layout::RECORD_IN_INTENTS,
            Place::Path(path.as_str().to_owned()),
            "placements/ and state/ belong to the branch of the record, not among the intents",
        )
        .help("remove it from this branch")
    }));
    let files = listing.files;
    let inputs = read_all(session, overlay, &files, &source_limits, &mut diagnostics)?;
    let (mut fleet, record) = model::lower::lower(&inputs, &mut diagnostics);
    let tides = model::tides::settle(&mut fleet, &record, scenario.instant, &mut diagnostics);
    let variants = variants::variants(&fleet, &record, &mut diagnostics);
    locate::objects(overlay, &files, &source_limits, &mut diagnostics)?;
    diagnostics.sort();
    if diagnostics.has_errors() {
        return Err(CompileError::Refused(Refusal { files, diagnostics }));
    }
    let target = schedule::schedule(&fleet, &variants, &record, scenario);
    let violations = schedule::check::check(&fleet, &variants, &record, scenario, &target);
    if !violations.is_empty() {
        return Err(CompileError::Bug(violations));
    }
    let lapses = what_if::survival(&fleet, &variants, &record, &target).map_err(CompileError::Bug)?;
    let preemptions = schedule::preemptions(&fleet, &variants, &record, &target);
    let plan = plan::plan(&fleet, &variants, &record, &target);
    let rendered = render::render(&fleet, &variants, &plan);
    variants.report_late(&fleet, &mut diagnostics);
    locate::objects(overlay, &files, &source_limits, &mut diagnostics)?;
    diagnostics.extend(report::deficits(&fleet, &variants, &record, &target));
    diagnostics.extend(report::pools(&fleet, &target));
    diagnostics.extend(report::lapses(&fleet, &lapses));
    diagnostics.extend(report::references(&fleet, &variants, &plan));
    diagnostics.extend(report::waits(&fleet, &plan));
    diagnostics.extend(report::capacity(&fleet, &variants, &record, &target));
    diagnostics.sort();
    if diagnostics.has_errors() {
        return Err(CompileError::Refused(Refusal { files, diagnostics }));
    }
    let moving = schedule::moving(&fleet, &variants, &record, scenario);
    Ok(Compiled {
        files,
        fleet,
        record,
        tides,
        variants,
        target,
        moving,
        lapses,
        preemptions,
        plan,
        rendered,
        diagnostics,
    })
}

/// Reads and parses every file, in parallel; what the session kept is not read again.
fn read_all(
    session: &Session,
    overlay: &Overlay<'_>,
    files: &[SourceFile],
    limits: &source::Limits,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<FileInput>, FilesError> {
    let yaml_limits = yaml::Limits::default();
    let parsed: Vec<Result<Arc<FileIr>, ReadError>> = files
        .par_iter()
        .map(|file| {
            let form = FileForm::of(file.class, file.path.as_str());
            if let Some(ir) = session.parsed(file.id, form) {
                return Ok(ir);
            }
            let bytes = overlay.read(file, limits)?;
            let ir = Arc::new(parse::parse(&bytes, form, &yaml_limits));
            session.keep(file.id, form, &ir);
            Ok(ir)
        })
        .collect();
    let mut inputs = Vec::with_capacity(files.len());
    for (file, parsed) in files.iter().zip(parsed) {
        let ir = match parsed {
            Ok(ir) => ir,
            Err(ReadError::Refused(finding)) => {
                diagnostics.push(source_diagnostic(&finding));
                Arc::new(FileIr { broken: true, lost_intent: true, ..FileIr::default() })
            }
            Err(ReadError::Files(error)) => return Err(error),
        };
        inputs.push(FileInput { path: file.path.clone(), class: file.class, ir });
    }
    Ok(inputs)
}

fn source_diagnostic(finding: &source::SourceFinding) -> Diagnostic {
    use source::SourceFindingKind as Kind;
    let code = match &finding.kind {
        Kind::BadName { .. } | Kind::DuplicateName { .. } | Kind::Special | Kind::NotADirectory | Kind::NotAFile => {
            codes::layout::BAD_PATH
        }
        Kind::Submodule => codes::layout::SUBMODULE,
        Kind::LinkLeavesRoot | Kind::LinkOutsideRead | Kind::LinkCrossesTeam | Kind::LinkLoop | Kind::LinkBroken => {
            codes::layout::BAD_LINK
        }
        Kind::TooDeep { .. } | Kind::TooManyEntries { .. } => codes::layout::TOO_MANY_FILES,
        Kind::TooLarge { .. } => codes::reading::YAML_LIMIT,
    };
    Diagnostic::new(code, Place::Path(finding.path.as_str().to_owned()), finding.kind.to_string())
}
