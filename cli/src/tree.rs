//! `fleetwright tree`: one app, its clusters, their objects.

use std::fmt::Write as _;

use fleetwright_reconciler::controller::status::{AppStatus, Placement};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::live::{self, LiveArgs};
use crate::output;

/// Show one app as a tree: its clusters, and the objects in each
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    live: LiveArgs,

    /// The app
    #[arg(value_name = "TEAM/APP")]
    app: String,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let Some((team, name)) = args.app.split_once('/') else {
        return Err(Failure::Usage(format!("`{}`: expected TEAM/APP; `fleetwright get` lists them", args.app)));
    };
    live::show(context, &args.live, |source| {
        let Some(app) = source.app(team, name)? else {
            return Err(Failure::Usage(format!("there is no app {team}/{name}; `fleetwright get` lists them")));
        };
        output::data(context.format(), &app, || text(&app))
    })
}

fn text(app: &AppStatus) -> String {
    let wanted = app.replicas + app.unplaced;
    let mut text = format!("{}/{}  {}  {} of {wanted} ready\n", app.team, app.app, app.health, app.ready);
    if app.unplaced > 0 {
        let _ = writeln!(text, "   {0} have no place: `fleetwright why {1}/{2}`", app.unplaced, app.team, app.app);
    }
    let last = app.clusters.len().saturating_sub(1);
    for (index, placement) in app.clusters.iter().enumerate() {
        let (branch, below) = if index == last { ("└─", "   ") } else { ("├─", "│  ") };
        let _ = writeln!(
            text,
            "{branch} {}  {}  {} of {} ready",
            placement.cluster, placement.health, placement.ready, placement.replicas
        );
        let lines = objects(placement);
        let last = lines.len().saturating_sub(1);
        for (index, line) in lines.iter().enumerate() {
            let branch = if index == last { "└─" } else { "├─" };
            let _ = writeln!(text, "{below}{branch} {line}");
        }
    }
    text
}

/// A line for each object, and for what is held of those that should no longer be there.
fn objects(placement: &Placement) -> Vec<String> {
    let mut names: Vec<&str> = placement.objects.iter().map(|object| object.as_str()).collect();
    names.extend(placement.held.iter().map(|held| held.object.as_str()));
    names.sort_unstable();
    names.dedup();
    let line = |name: &str| {
        let blocking = placement.blocking.iter().find(|object| object.object == name);
        let state = match blocking {
            Some(object) => format!("{}: {}", object.health.as_deref().unwrap_or_default(), object.reason),
            None if placement.health == "Unknown" => "Unknown".to_owned(),
            None => "Current".to_owned(),
        };
        let held = placement.held.iter().find(|held| held.object == name);
        let held = held.map(|held| format!("; held: {}", held.reason)).unwrap_or_default();
        format!("{name}  {state}{held}")
    };
    names.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use fleetwright_reconciler::controller::status::ObjectStatus;

    use super::*;

    #[test]
    fn objects_hang_below_their_cluster() {
        let placement = |cluster: &str, blocking: Vec<ObjectStatus>| Placement {
            cluster: cluster.into(),
            health: if blocking.is_empty() { "Current" } else { "Failed" }.into(),
            since: None,
            replicas: 2,
            ready: 1,
            objects: vec!["apps/Deployment/shop/web".into(), "/Service/shop/web".into()],
            blocking,
            held: Vec::new(),
        };
        let failed = ObjectStatus {
            object: "apps/Deployment/shop/web".into(),
            health: Some("Failed".into()),
            reason: "it does not progress".to_owned(),
        };
        let app = AppStatus {
            team: "shop".into(),
            app: "web".into(),
            health: "Failed".into(),
            replicas: 4,
            unplaced: 0,
            ready: 2,
            clusters: vec![placement("a", Vec::new()), placement("b", vec![failed])],
        };
        let expected = "\
shop/web  Failed  2 of 4 ready
├─ a  Current  1 of 2 ready
│  ├─ /Service/shop/web  Current
│  └─ apps/Deployment/shop/web  Current
└─ b  Failed  1 of 2 ready
   ├─ /Service/shop/web  Current
   └─ apps/Deployment/shop/web  Failed: it does not progress
";
        assert_eq!(text(&app), expected);
    }
}
