//! `fleetwright failback`: a lost cluster is declared ready.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Declare a lost cluster ready
///
/// Its epoch rises, so that it can fail over again. Nothing moves back by itself. Written to the live branch.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The cluster
    #[arg(value_name = "CLUSTER")]
    cluster: String,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    order::run(context, &args.order, |desk, _| Ok(orders::failback(desk, &args.cluster)?))
}
