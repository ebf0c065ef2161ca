//! `fleetwright resume`: a suspended app goes on.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Let a suspended app go on
///
/// What its intents ask for by now is decided in the same commit. Written to the live branch.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The app
    #[arg(value_name = "TEAM/APP")]
    app: String,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    order::run(context, &args.order, |desk, _| Ok(orders::resume(desk, &args.app)?))
}
