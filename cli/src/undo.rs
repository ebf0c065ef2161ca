//! `fleetwright undo`: a person takes a decision back.

use fleetwright_compiler::api::Duration;
use fleetwright_reconciler::decide::orders::Hold;
use fleetwright_reconciler::order::undo;

use crate::approve::duration;
use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};
use crate::typed;

/// Take a decision back
///
/// One commit on the live branch that brings back the placements and the state from before the given one, app by app.
/// Refused where later commits changed the same. A failover that is taken back holds until the cluster is ready again, a
/// turn of a tide until the next phase. Commits of the intents are reverted on their own branch.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The commit, as `fleetwright history` shows it
    #[arg(value_name = "SHA")]
    sha: String,

    /// Do not decide the same again for so long
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    hold: Option<Duration>,

    /// Why
    #[arg(long, value_name = "TEXT", requires = "hold", value_parser = typed::reason)]
    reason: Option<String>,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let hold = args.hold.map(|hold| Hold { for_secs: hold.secs, reason: args.reason.clone() });
    order::run(context, &args.order, |desk, repo| undo(desk, repo, &args.sha, hold.as_ref()))
}
