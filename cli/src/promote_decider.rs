//! `fleetwright promote-decider`: another decider takes over.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Let another decider take over
///
/// There is one decider for each repository. The term rises, and the one before stops at its next push.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The name of the new decider, as its `--holder` says
    #[arg(value_name = "NAME")]
    holder: String,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    order::run(context, &args.order, |desk, _| Ok(orders::promote(desk, &args.holder)?))
}
