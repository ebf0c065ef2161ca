//! What the commands have in common that write one commit to the live branch for a person.

use fleetwright_compiler::Session;
use fleetwright_reconciler::advance::Pushed;
use fleetwright_reconciler::decide::Proposal;
use fleetwright_reconciler::decide::orders::{Desk, OrderError};
use fleetwright_reconciler::io::clock::SystemClock;
use fleetwright_reconciler::order::{OrderFailure, order};
use fleetwright_reconciler::ports::{Author, FleetRepo};
use serde::Serialize;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::repository::{Repository, RepositoryArgs, advance_failure};
use crate::{output, streams, typed};

/// Options of these commands.
#[derive(Debug, clap::Args)]
pub struct OrderArgs {
    #[command(flatten)]
    repository: RepositoryArgs,

    /// Who orders it; default: `user.name` of Git
    #[arg(long, value_name = "NAME", env = "FLEETWRIGHT_BY", value_parser = typed::person)]
    by: Option<String>,

    #[command(flatten)]
    rehearsal: DryRun,
}

/// The option of every command that decides something.
#[derive(Debug, clap::Args)]
pub struct DryRun {
    /// Show what would be committed or written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl DryRun {
    /// Whether nothing is to be written.
    pub fn is_wanted(&self) -> bool {
        self.dry_run
    }

    /// Says that nothing was written.
    pub fn say(&self) {
        if self.dry_run {
            streams::talk("dry run: nothing was written");
        }
    }
}

impl OrderArgs {
    /// Whether nothing is to be written.
    pub fn dry_run(&self) -> &DryRun {
        &self.rehearsal
    }

    /// Whether it is said which repository is meant: then a folder is not.
    pub fn names_repository(&self) -> bool {
        self.repository.is_named()
    }
}

/// The forms they have.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    /// The commit; none where nothing had to change, and in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Carries out an order and shows the commit.
pub fn run(
    context: &Context,
    args: &OrderArgs,
    mut make: impl FnMut(&Desk<'_>, &dyn FleetRepo) -> Result<Proposal, OrderFailure>,
) -> Result<Outcome, Failure> {
    let mut repository = Repository::open(context, &args.repository)?;
    let person = person(args, repository.user.as_ref())?;
    let branches = repository.branches.clone();
    streams::talk(&format!("repository: {}", repository.git.remote_name()));
    let dry_run = args.dry_run().is_wanted();
    if dry_run {
        repository.git.rehearse();
    }
    let pushed =
        order(&mut repository.git, &SystemClock, &Session::new(), &branches, &person, &mut make).map_err(failure)?;
    let report = Report {
        dry_run,
        id: pushed.as_ref().filter(|_| !dry_run).map(|pushed| pushed.id.to_string()),
        message: pushed.as_ref().map(|pushed| pushed.message.clone()),
    };
    let text = || {
        let text = |pushed: &Pushed| match dry_run {
            true => pushed.message.clone(),
            false => format!("{}\n\n{}", pushed.id, pushed.message),
        };
        pushed.as_ref().map_or_else(String::new, text)
    };
    streams::data(&output::data(context.format(), &report, text)?)?;
    args.dry_run().say();
    if pushed.is_none() {
        streams::talk(&format!("nothing is to be committed: `{}` stays as it is", branches.live));
    }
    Ok(Outcome::Done)
}

fn person(args: &OrderArgs, user: Option<&Author>) -> Result<Author, Failure> {
    match (&args.by, user) {
        (Some(name), user) => Ok(Author {
            name: name.clone(),
            email: user.map_or_else(|| format!("{}@localhost", name.replace(' ', ".")), |u| u.email.clone()),
        }),
        (None, Some(user)) => {
            let name = typed::person(&user.name).map_err(|wrong| {
                Failure::Usage(format!("`user.name` of Git: {wrong}; `--by NAME` says who orders this"))
            })?;
            Ok(Author { name, email: user.email.clone() })
        }
        (None, None) => Err(Failure::Usage(
            "who orders this? `--by NAME` says so, or `git config --global user.name NAME`".to_owned(),
        )),
    }
}

/// An order that became no commit.
pub fn failure(failure: OrderFailure) -> Failure {
    match failure {
        OrderFailure::Order(OrderError::Wrong(text)) => Failure::Usage(text),
        OrderFailure::Order(OrderError::Guarded(text)) => Failure::Guard(text),
        OrderFailure::Order(OrderError::Decide(error)) => advance_failure(error.into()),
        OrderFailure::Refused(text) => Failure::Refused(format!("error: {text}")),
        OrderFailure::Advance(error) => advance_failure(error),
    }
}
