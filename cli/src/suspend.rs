//! `fleetwright suspend`: an app stays where it is.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Freeze where an app runs
///
/// Its counts, bookings and moves stay as they are recorded until `resume`, whatever is merged or fails meanwhile. Written
/// to the live branch.
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
    order::run(context, &args.order, |desk, _| Ok(orders::suspend(desk, &args.app)?))
}
