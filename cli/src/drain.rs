//! `fleetwright drain`: the apps of a cluster go elsewhere.

use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Move the apps of a cluster elsewhere
///
/// New replicas stay away, and placed ones leave in the same commit, as far as they find a place. What finds none, or is
/// bound to its data, stays and is reported. Written to the live branch.
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
    order::run(context, &args.order, |desk, _| Ok(orders::drain(desk, &args.cluster)?))
}
