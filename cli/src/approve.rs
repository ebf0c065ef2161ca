//! `fleetwright approve`: a person approves what a budget asks about.

use fleetwright_compiler::api::Duration;
use fleetwright_reconciler::decide::orders;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};

/// Approve what a budget asks about
///
/// The hash stands for exactly one set of deletions or moves; the approval is used once and expires. Written to the live
/// branch.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The hash, from the message that asks for the approval
    #[arg(value_name = "HASH")]
    hash: String,

    /// For how long it holds
    #[arg(long = "for", value_name = "DURATION", default_value = "24h", value_parser = duration)]
    for_: Duration,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

/// A duration as the API writes it.
pub fn duration(text: &str) -> Result<Duration, String> {
    Duration::parse(text).ok_or_else(|| "expected a duration such as 90s, 30m or 8h".to_owned())
}

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    order::run(context, &args.order, |desk, _| Ok(orders::approve(desk, &args.hash, args.for_.secs)?))
}
