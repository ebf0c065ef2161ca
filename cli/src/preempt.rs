//! `fleetwright preempt`: others give way to an app that is short.

use fleetwright_compiler::Session;
use fleetwright_reconciler::decide::orders;
use serde::Serialize;

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};
use crate::why::app_named;
use crate::{fleet, output, plan, streams};

/// Accept that replicas of lower priority give way to an app that finds no room
///
/// `plan` says what would have to go, for apps whose priority class says `preemptionPolicy: PreemptLowerPriority`. Nothing is
/// ever taken away without this. Outside of Git, and where `placements/` lies beside the intents, it is written there; else, and with
/// --repo, it is a commit on the live branch of the repository.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// The app that is short
    #[arg(value_name = "TEAM/APP")]
    app: String,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

/// What is written into a folder.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    moves: Vec<String>,
}

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context);
    let folder = match args.order.names_repository() {
        true => None,
        false => opened.as_ref().map_or(Ok(None), fleet::Opened::orders_folder)?,
    };
    let (Ok(opened), Some(folder)) = (&opened, folder) else {
        return order::run(context, &args.order, |desk, _| Ok(orders::preempt(desk, &args.app)?));
    };
    let compiled = fleet::compile(context, &Session::new(), opened)?;
    let id = app_named(&compiled.fleet, &args.app)?;
    let Some(found) = compiled.preemptions.iter().find(|of| of.app == id) else {
        return Err(Failure::Guard(format!("nothing is proposed for {}: `fleetwright plan` says what is", args.app)));
    };
    let mut placed = compiled.record.apps.clone();
    placed.extend(found.placed.clone());
    let text = orders::moves_text(&compiled.record.apps, &found.placed);
    let report = Report { dry_run: args.order.dry_run().is_wanted(), moves: text.lines().map(str::to_owned).collect() };
    streams::data(&output::data(context.format(), &report, || text.clone())?)?;
    if args.order.dry_run().is_wanted() {
        args.order.dry_run().say();
    } else {
        plan::write_placed(folder, &compiled, &placed)?;
    }
    Ok(Outcome::Done)
}
