//! `fleetwright history`: what was decided, when and why.

use fleetwright_reconciler::commit::LiveCommit;
use fleetwright_reconciler::decide::DecideError;
use fleetwright_reconciler::instant;
use fleetwright_reconciler::ports::FleetRepo as _;
use fleetwright_reconciler::record_files::RecordFiles;
use fleetwright_reconciler::state::State;
use serde::Serialize;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::{Repository, RepositoryArgs, advance_failure, port_failure};
use crate::{live, output};

/// List what was decided: the commits of the live branch
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    repository: RepositoryArgs,

    /// At most so many, newest first
    #[arg(short = 'n', long, value_name = "N", default_value = "20")]
    most: usize,

    /// Look again every so many seconds, and show what changed, until interrupted
    #[arg(short, long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml];

#[derive(Serialize)]
struct Report {
    commits: Vec<Commit>,
}

#[derive(Serialize)]
struct Commit {
    id: String,
    date: String,
    author: String,
    /// `Pin`, `Failover`, ...; none for a commit that a person made with Git.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    /// The commit of the intents that was live.
    #[serde(skip_serializing_if = "Option::is_none")]
    main: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    subject: String,
}

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let mut repository = Repository::open(context, &args.repository)?;
    live::repeat(args.watch, || listed(context, &mut repository, args.most))
}

fn listed(context: &Context, repository: &mut Repository, most: usize) -> Result<String, Failure> {
    let branch = repository.branches.live.clone();
    let heads = repository.git.fetch(&[&branch]).map_err(port_failure)?;
    let Some(tip) = heads.get(&branch) else {
        return Err(Failure::Guard(format!("there is no branch `{branch}` yet: `fleetwright advance` makes it")));
    };
    let tree = repository.git.tree(tip).map_err(port_failure)?;
    let record = RecordFiles::read(&*tree)?;
    let state = State::read(&record).map_err(|e| advance_failure(DecideError::from(e).into()))?;
    let Some(pin) = state.pin else {
        return Err(Failure::Refused(format!("error: `{branch}` has no state/pin.yaml: fleetwright did not make it")));
    };
    let commits = repository.git.history(tip, &pin, most).map_err(port_failure)?;
    let report = Report { commits: commits.iter().map(commit).collect() };
    output::data(context.format(), &report, || text(&report.commits))
}

fn commit(commit: &LiveCommit) -> Commit {
    let trailers = commit.trailers.as_ref();
    Commit {
        id: commit.id.to_string(),
        date: instant::text(commit.time_secs).to_string(),
        author: commit.author.clone(),
        cause: trailers.map(|trailers| trailers.cause.as_str()),
        main: trailers.map(|trailers| trailers.main.to_string()),
        key: trailers.map(|trailers| trailers.key.to_string()),
        subject: commit.subject.clone(),
    }
}

fn text(commits: &[Commit]) -> String {
    let width = commits.iter().map(|c| c.cause.unwrap_or("-").len()).max().unwrap_or(0);
    let line = |c: &Commit| {
        let id = c.id.get(..12).unwrap_or(&c.id);
        format!(
            "{id}  {}  {:width$}  {}  ({})\n",
            c.date,
            c.cause.unwrap_or("-"),
            output::printable(&c.subject),
            output::printable(&c.author)
        )
    };
    commits.iter().map(line).collect()
}
