//! `fleetwright why`: why an app is where it is, and why it is nowhere else.

use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::{Session, report};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, output, streams};

/// Explain why an app runs where it does, and why nowhere else
///
/// Shows the layer that each field of its placement came from, with file and line; its replicas in each cluster; and the
/// reason of every cluster that gets none.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The app: `team/app`, or `app` where only one team has an app of that name
    app: String,

    /// Only this cluster, in detail
    cluster: Option<String>,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context)?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    check_unambiguous(&compiled.fleet, &args.app)?;
    let report = report::why(&compiled, &args.app, args.cluster.as_deref(), &|file| opened.read(file))
        .map_err(Failure::Usage)?;
    fleet::say_record(&opened);
    streams::data(&output::data(context.format(), &report, || report.to_text())?)?;
    Ok(Outcome::Done)
}

/// Without its team, a name must be that of one app alone.
fn check_unambiguous(fleet: &Fleet, name: &str) -> Result<(), Failure> {
    let named = fleet.app_ids().filter(|id| fleet.app(*id).name == name);
    let names: Vec<String> = named.map(|id| fleet.app_name(id)).collect();
    if names.len() > 1 {
        return Err(Failure::Usage(format!("more than one team has an app `{name}`: name {}", names.join(" or "))));
    }
    Ok(())
}
