//! `fleetwright advance`: one tick of the decider, on Git alone.

use fleetwright_compiler::Session;
use fleetwright_compiler::base::SmolStr;
use fleetwright_reconciler::advance::{self, Advanced};
use fleetwright_reconciler::controller::Wanted;
use fleetwright_reconciler::controller::wanted::WantedError;
use fleetwright_reconciler::decide::{Identity, Refusals, Urgency};
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::ports::Clock as _;
use fleetwright_reconciler::rendered::{self, Written};
use serde::Serialize;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::DryRun;
use crate::repository::{Repository, RepositoryArgs, advance_failure};
use crate::{output, streams, typed};

/// Decide what is due and commit it to the live branch
///
/// One tick of the decider on Git alone, for a CI job: the newest commit of the intents goes live together with its
/// placements, and whatever else is due without looking at clusters. Nothing is pushed when nothing is due. A commit that
/// does not compile leaves the live branch where it is (exit code 3).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    repository: RepositoryArgs,

    /// The name of this decider; runs with one name are one decider, and there is one per repository
    #[arg(long, value_name = "NAME", default_value = "advance", value_parser = typed::holder)]
    holder: SmolStr,

    #[command(flatten)]
    rehearsal: DryRun,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    commits: Vec<Commit>,
    reports: Vec<Message>,
    /// The commit of the rendered branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    /// Files of the rendered branch that would lower an app, which nobody who sees no clusters may do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<String>,
}

#[derive(Serialize)]
struct Commit {
    /// None in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    cause: &'static str,
    subject: String,
    message: String,
}

#[derive(Serialize)]
struct Message {
    urgency: &'static str,
    text: String,
}

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let mut repository = Repository::open(context, &args.repository)?;
    let identity = Identity { holder: args.holder.clone(), term: None };
    let branches = repository.branches.clone();
    streams::talk(&format!("repository: {}", repository.git.remote_name()));
    let dry_run = args.rehearsal.is_wanted();
    if dry_run {
        repository.git.rehearse();
    }
    let (git, session, mut none) = (&mut repository.git, Session::new(), Refusals::default());
    let advanced = advance::advance(git, &SystemClock, &session, &identity, &branches, None, &mut none)
        .map_err(advance_failure)?;
    let written = rendered(&mut repository, &advanced)?;
    let report = Report {
        dry_run,
        commits: advanced
            .pushed
            .iter()
            .map(|c| Commit {
                id: (!dry_run).then(|| c.id.to_string()),
                cause: c.cause.as_str(),
                subject: c.subject().to_owned(),
                message: c.message.clone(),
            })
            .collect(),
        reports: advanced
            .reports
            .iter()
            .map(|r| Message { urgency: r.urgency.as_str(), text: r.text.clone() })
            .collect(),
        rendered: written
            .as_ref()
            .filter(|_| !dry_run)
            .and_then(|written| written.commit.as_ref())
            .map(ToString::to_string),
        waiting: written.iter().flat_map(|written| &written.waiting).map(ToString::to_string).collect(),
    };
    streams::data(&output::data(context.format(), &report, || text(&advanced, dry_run))?)?;
    args.rehearsal.say();
    for report in &advanced.reports {
        streams::talk(&report.text);
    }
    for path in &report.waiting {
        streams::talk(&format!(
            "{path} on the rendered branch stays as it is: it would be lowered, and no cluster is seen; or it is not recorded \
             where its app is to run"
        ));
    }
    if advanced.pushed.is_empty() && advanced.reports.is_empty() {
        streams::talk(&format!("`{}` is up to date: nothing is due", branches.live));
    }
    match advanced.reports.iter().map(|r| r.urgency).min() {
        Some(Urgency::Wrong) => {
            Err(Failure::Refused("error: the repository is wrong, see above; what is wrong stays as it is".to_owned()))
        }
        Some(Urgency::Guarded) => Err(Failure::Guard("a guard stands in the way, see above".to_owned())),
        Some(Urgency::Waits | Urgency::Note) | None => Ok(Outcome::Done),
    }
}

/// Writes the rendered branch, where the fleet has one.
fn rendered(repository: &mut Repository, advanced: &Advanced) -> Result<Option<Written>, Failure> {
    let Some(live) = &advanced.live else { return Ok(None) };
    let branches = repository.branches.clone();
    let wanted = match Wanted::read(&repository.git, &Session::new(), &branches, live) {
        Ok(wanted) => wanted,
        Err(WantedError::Advance(error)) => return Err(advance_failure(error)),
        Err(error @ WantedError::Refused { .. }) => return Err(Failure::Refused(format!("error: {error}"))),
    };
    let Some(branch) = wanted.rendered_branch() else { return Ok(None) };
    let written = rendered::write(&mut repository.git, &wanted, None, branch, SystemClock.now_secs());
    written.map(Some).map_err(|error| Failure::Environment(format!("the rendered branch: {error}")))
}

/// A line for each commit; in a dry run whole messages, as nothing else will show what moves.
fn text(advanced: &Advanced, dry_run: bool) -> String {
    if dry_run {
        let messages: Vec<&str> = advanced.pushed.iter().map(|c| c.message.as_str()).collect();
        return messages.join("\n");
    }
    advanced.pushed.iter().map(|c| format!("{} {} {}\n", c.id.short(), c.cause.as_str(), c.subject())).collect()
}
