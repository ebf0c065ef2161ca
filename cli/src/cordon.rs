//! `fleetwright cordon`: no new replicas for a cluster.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Keep new replicas away from a cluster
///
/// Placed replicas stay. Written to the live branch; the stricter of this and the Cluster file counts.
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
    order::run(context, &args.order, |desk, _| Ok(orders::cordon(desk, &args.cluster)?))
}
