//! `fleetwright failover`: a person declares a cluster lost.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Declare a cluster lost and move its apps elsewhere
///
/// Its apps go where they find a place, within quotas and spread, whatever they tolerate; what finds none, or is bound to
/// its data, stays and is reported. Suspended apps stay. One commit on the live branch, with the plan in its message.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The cluster
    #[arg(value_name = "CLUSTER")]
    cluster: String,

    /// Although its failover in this epoch was taken back
    #[arg(long)]
    again: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    order::run(context, &args.order, |desk, _| Ok(orders::failover(desk, &args.cluster, args.again)?))
}
