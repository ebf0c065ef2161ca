//! `fleetwright diff`: what a change does to the clusters.

use std::collections::BTreeSet;

use fleetwright_compiler::diff::FleetDiff;
use fleetwright_compiler::source::{FileClass, MemoryFiles};
use fleetwright_compiler::{Compiled, Session, diff, report};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::fleet::{self, Opened};
use crate::output::{self, count};
use crate::{plan, streams};

/// Show what a change does to the clusters: replicas that move, objects that come, go or change
///
/// Without BASE: from what runs (the live branch as it is) to what would run with the intents here in place of those it
/// holds. A branch that lacks changes which are live already would take them back: merge first. With BASE alone: from
/// BASE to the intents here. BASE and HEAD are revisions of the Git repository or folders; a name that is both is the
/// revision, and `./name` the folder.
///
/// Each side is compiled with its own intents and with the record that `--record` describes. A HEAD for which nothing
/// says what runs starts from what BASE decides, so that only what the change itself moves is shown.
///
/// Secrets are never shown. A team's quota that refuses an app in HEAD and did not in BASE is an error (exit code 3), and
/// so is an app that no longer survives what it must (`survive`).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to compare with: a revision or a folder
    base: Option<String>,

    /// What is compared: a revision or a folder; default: the fleet here
    #[arg(conflicts_with = "rev")]
    head: Option<String>,

    /// Name every cluster of what moves, however many fare alike
    #[arg(long)]
    all: bool,

    /// Exit with 1 when there are differences
    #[arg(long)]
    exit_code: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml, Format::Markdown];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let head = match &args.head {
        Some(name) => fleet::open_named(context, name)?,
        None => fleet::open(context)?,
    };
    let base = match &args.base {
        Some(name) => fleet::open_named(context, name)?,
        None => fleet::open_live(context, &head)?,
    };
    // One session: what both have in common is read once.
    let session = Session::new();
    let before = fleet::compile(context, &session, &base)?;
    let head = if context.record().is_none() && !head.has_record()? {
        let record = decided(&base, &before)?;
        head.with_record(record, &base.name)
    } else {
        head
    };
    let after = fleet::compile(context, &session, &head)?;
    fleet::say_missing_live(&head);
    let of_base = base.side();
    let record = head.record().filter(|record| *record != of_base && record.commit.is_some());
    let base = Some(of_base).filter(|base| base.commit.is_some());
    let diff = FleetDiff { base, record, ..diff::diff(&before, &after) };
    streams::data(&match context.format() {
        Format::Markdown => report::diff_markdown(&diff),
        format if args.all => output::data(format, &diff, || report::diff_text_whole(&diff))?,
        format => output::data(format, &diff, || report::diff_text(&diff))?,
    })?;
    if !diff.errors.is_empty() {
        let apps: BTreeSet<&str> = diff.errors.iter().map(|error| error.app.as_str()).collect();
        let apps = count(apps.len(), "app");
        return Err(Failure::Refused(format!(
            "{apps} beyond the quota of the team or not surviving a loss, and not before this change"
        )));
    }
    Ok(Outcome::of_differences(!diff.is_empty(), args.exit_code))
}

/// What a compile decided, and what had been observed, as the record of another.
fn decided(opened: &Opened, compiled: &Compiled) -> Result<MemoryFiles, Failure> {
    let mut files: Vec<(String, Vec<u8>)> =
        plan::placement_files(compiled).into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    for file in compiled.files.iter().filter(|file| file.class == FileClass::State) {
        let bytes = opened
            .read(file)
            .ok_or_else(|| Failure::Environment(format!("cannot read {} again: it changed meanwhile", file.path)))?;
        files.push((file.path.as_str().to_owned(), bytes.to_vec()));
    }
    MemoryFiles::new(files).map_err(|e| Failure::Bug(format!("a path of the record: {e}")))
}
