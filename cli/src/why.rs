//! `fleetwright why`: why an app is where it is, and why it is nowhere else.

use fleetwright_compiler::base::name::nearest;
use fleetwright_compiler::base::{AppId, ClusterId};
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
    let app = app_named(&compiled.fleet, &args.app)?;
    let cluster = args.cluster.as_deref().map(|name| cluster_named(&compiled.fleet, name)).transpose()?;
    fleet::say_record(&opened);
    let report = report::why(&compiled, app, cluster, &|file| opened.read(file));
    streams::data(&output::data(context.format(), &report, || report.to_text(false))?)?;
    Ok(Outcome::Done)
}

fn app_named(fleet: &Fleet, name: &str) -> Result<AppId, Failure> {
    let (team, app) = match name.split_once('/') {
        Some((team, app)) => (Some(team), app),
        None => (None, name),
    };
    if let Some(id) = team.and_then(|team| fleet.app_id(team, app)) {
        return Ok(id);
    }
    let same_name = |id: &AppId| fleet.app(*id).name == app;
    let found: Vec<AppId> = if team.is_none() { fleet.app_ids().filter(same_name).collect() } else { Vec::new() };
    match found.as_slice() {
        [only] => Ok(*only),
        [] => {
            let full: Vec<String> = fleet.app_ids().map(|id| fleet.app_name(id)).collect();
            let bare = fleet.apps.iter().map(|app| app.name.as_str()).filter(|_| team.is_none());
            // The same app in another team is nearer than any name that is spelt alike.
            let elsewhere = fleet.app_ids().find(same_name).map(|id| fleet.app_name(id));
            let near = elsewhere.or_else(|| nearest(name, full.iter().map(String::as_str).chain(bare)).map(str::to_owned));
            Err(unknown("app", name, near))
        }
        several => {
            let names: Vec<String> = several.iter().map(|id| fleet.app_name(*id)).collect();
            Err(Failure::Usage(format!("more than one team has an app `{name}`: {}", names.join(", "))))
        }
    }
}

fn cluster_named(fleet: &Fleet, name: &str) -> Result<ClusterId, Failure> {
    fleet.cluster_id(name).ok_or_else(|| {
        let near = nearest(name, fleet.clusters.iter().map(|cluster| cluster.name.as_str())).map(str::to_owned);
        unknown("cluster", name, near)
    })
}

fn unknown(what: &str, name: &str, near: Option<String>) -> Failure {
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Failure::Usage(format!("there is no {what} `{name}`{hint}"))
}
