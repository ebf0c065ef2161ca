//! `fleetwright get`: apps or clusters, a line each.

use clap::ValueEnum;
use fleetwright_reconciler::controller::status::{AppStatus, Status};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::live::{self, LiveArgs};
use crate::output::{self, table};
use crate::status::short;

/// List apps or clusters as they are, a line each
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    live: LiveArgs,

    /// What to list
    #[arg(value_enum, default_value = "apps")]
    what: What,

    /// Only apps of this team
    #[arg(short, long, value_name = "TEAM")]
    team: Option<String>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Apps
    Apps,
    /// Clusters
    Clusters,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Name, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let format = context.format();
    live::show(context, &args.live, |source| {
        let mut status = source.status()?;
        status.apps.retain(|app| args.team.as_ref().is_none_or(|team| app.team == *team));
        match args.what {
            What::Apps => output::data(format, &status.apps, || apps(&status, format)),
            What::Clusters => output::data(format, &status.clusters, || clusters(&status, format)),
        }
    })
}

fn apps(status: &Status, format: Format) -> String {
    let name = |app: &AppStatus| format!("{}/{}", app.team, app.app);
    if format == Format::Name {
        return status.apps.iter().map(|app| format!("{}\n", name(app))).collect();
    }
    let rows = status.apps.iter().map(|app| {
        let clusters: Vec<String> = app
            .clusters
            .iter()
            .map(|placement| match format {
                Format::Wide => {
                    format!("{} {}/{} {}", placement.cluster, placement.ready, placement.replicas, placement.health)
                }
                _ => format!("{} {}", placement.cluster, placement.ready),
            })
            .collect();
        vec![
            name(app),
            app.health.to_string(),
            format!("{}/{}", app.ready, app.replicas + app.unplaced),
            clusters.join(", "),
        ]
    });
    table(&["APP", "HEALTH", "READY", "CLUSTERS"], rows.collect())
}

fn clusters(status: &Status, format: Format) -> String {
    if format == Format::Name {
        return status.clusters.iter().map(|cluster| format!("{}\n", cluster.name)).collect();
    }
    let rows = status.clusters.iter().map(|cluster| {
        vec![
            cluster.name.to_string(),
            cluster.state.to_string(),
            cluster.answers.to_string(),
            cluster.since.as_deref().unwrap_or("-").to_owned(),
            cluster.applied.as_deref().map_or("-", short).to_owned(),
            format!("{}/{}", cluster.current, cluster.apps),
        ]
    });
    table(&["CLUSTER", "STATE", "ANSWERS", "SINCE", "APPLIED", "APPS"], rows.collect())
}
