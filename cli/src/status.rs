//! `fleetwright status`: what is held, what is not well, and the rest in a line for each cluster.

use std::fmt::Write as _;

use fleetwright_reconciler::controller::status::{ClusterStatus, Placement, Status};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::live::{self, LiveArgs};
use crate::output::{self, table};

/// Show what is held, what is not well and why, and how clusters do
///
/// Holds come first, then what people should know, then each app that is not Current with the objects that keep it from
/// that, then the clusters. Asks a controller with --server; without one, looks at the live branch and the clusters itself.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    live: LiveArgs,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Json, Format::Yaml];

/// Objects of one app and cluster that are shown in text.
const MOST_OBJECTS: usize = 10;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let most = if context.format() == Format::Wide { usize::MAX } else { MOST_OBJECTS };
    live::show(context, &args.live, |source| {
        let status = source.status()?;
        output::data(context.format(), &status, || text(&status, most))
    })
}

fn text(status: &Status, most: usize) -> String {
    let mut text = String::new();
    if !status.holds.is_empty() || !status.suspended.is_empty() {
        text.push_str("Held\n");
        for hold in &status.holds {
            let why = hold.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let _ = writeln!(text, "  {} until {}, by {}{why}", hold.key, hold.until, hold.by);
        }
        for app in &status.suspended {
            let _ = writeln!(text, "  {app} is suspended: nothing of it moves");
        }
        text.push('\n');
    }
    if !status.moving.is_empty() {
        text.push_str("On the way\n");
        for moving in &status.moving {
            let _ = writeln!(text, "  {moving}");
        }
        text.push('\n');
    }
    if !status.reports.is_empty() {
        text.push_str("To know\n");
        for report in &status.reports {
            let _ = writeln!(text, "  {:<8} {}", report.urgency, report.text.trim_end().replace('\n', "\n           "));
        }
        text.push('\n');
    }
    let mut troubled = String::new();
    for app in &status.apps {
        if app.unplaced > 0 {
            let _ = writeln!(
                troubled,
                "  {0}/{1}: {2} replicas have no place: `fleetwright why {0}/{1}`",
                app.team, app.app, app.unplaced
            );
        }
        for placement in app.clusters.iter().filter(|placement| is_troubled(placement)) {
            let _ = writeln!(troubled, "  {}/{} in {}", app.team, app.app, chain(placement, most));
        }
    }
    if !troubled.is_empty() {
        let _ = writeln!(text, "Not as it should be\n{troubled}");
    }
    match (&status.live, &status.main) {
        (Some(live), Some(main)) => {
            let _ = writeln!(text, "Live is {}, made from {}\n", short(live), short(main));
        }
        _ => text.push_str("Nothing is live yet\n\n"),
    }
    let rows = status.clusters.iter().map(|cluster| row(status, cluster)).collect();
    text.push_str(&table(&["CLUSTER", "STATE", "ANSWERS", "APPLIED", "APPS", "HELD", ""], rows));
    text
}

fn is_troubled(placement: &Placement) -> bool {
    placement.health != "Current" || !placement.held.is_empty()
}

/// What keeps an app in a cluster from being as it should be, in the order in which it must be mended.
fn chain(placement: &Placement, most: usize) -> String {
    let since = placement.since.as_deref().map(|since| format!(" since {since}")).unwrap_or_default();
    let mut text = format!("{}: {}{since}", placement.cluster, placement.health);
    let objects = placement.held.iter().map(|held| format!("{}: {}", held.object, held.reason));
    let blocking =
        placement.blocking.iter().filter(|object| placement.held.iter().all(|held| held.object != object.object));
    let blocking = blocking.map(|object| {
        format!("{}: {}, {}", object.object, object.health.as_deref().unwrap_or_default(), object.reason)
    });
    let lines: Vec<String> = objects.chain(blocking).collect();
    for line in lines.iter().take(most) {
        let _ = write!(text, "\n    {line}");
    }
    if lines.len() > most {
        let _ = write!(text, "\n    and {} more: -o wide", lines.len() - most);
    }
    text
}

fn row(status: &Status, cluster: &ClusterStatus) -> Vec<String> {
    let applied = match &cluster.applied {
        Some(applied) if Some(applied) == status.live.as_ref() => "live".to_owned(),
        Some(applied) => short(applied).to_owned(),
        None => "-".to_owned(),
    };
    vec![
        cluster.name.to_string(),
        cluster.state.to_string(),
        cluster.answers.to_string(),
        applied,
        format!("{}/{}", cluster.current, cluster.apps),
        cluster.held.to_string(),
        cluster.error.clone().unwrap_or_default(),
    ]
}

/// The beginning of a commit's id.
pub fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use fleetwright_compiler::report::{MovingReport, MovingRow};
    use fleetwright_reconciler::controller::status::{AppStatus, HoldStatus, Message, ObjectStatus};

    use super::*;

    #[test]
    fn holds_come_first_and_then_what_blocks() {
        let object = |object: &str, health: Option<&str>, reason: &str| ObjectStatus {
            object: object.into(),
            health: health.map(Into::into),
            reason: reason.to_owned(),
        };
        let placement = Placement {
            cluster: "eu-1".into(),
            health: "InProgress".into(),
            since: Some("2026-11-30T10:00:00Z".into()),
            replicas: 3,
            ready: 2,
            objects: Vec::new(),
            blocking: vec![object("apps/Deployment/shop/web", Some("InProgress"), "2 of 3 replicas are ready")],
            held: vec![object("/ConfigMap/shop/web", None, "other managers hold .data.a")],
        };
        let status = Status {
            live: Some("0123456789abcdef".into()),
            main: Some("fedcba9876543210".into()),
            reports: vec![Message { urgency: "Guarded".into(), text: "too many clusters look lost".into() }],
            holds: vec![HoldStatus {
                key: "k1".into(),
                until: "2026-12-01T00:00:00Z".into(),
                by: "ann".into(),
                reason: None,
            }],
            suspended: vec!["shop/web".into()],
            moving: vec![MovingReport {
                app: "shop/search".into(),
                cause: "Tide".into(),
                step: 2,
                left: 1,
                since: "2026-11-30T15:05:00Z".into(),
                deadline: Some("2026-11-30T17:00:00Z".into()),
                rows: vec![
                    MovingRow {
                        workload: "apps/Deployment/search".into(),
                        cluster: "eu-1".into(),
                        replicas: 6,
                        target: 2,
                    },
                    MovingRow {
                        workload: "apps/Deployment/search".into(),
                        cluster: "us-1".into(),
                        replicas: 6,
                        target: 8,
                    },
                ],
            }],
            clusters: vec![ClusterStatus {
                name: "eu-1".into(),
                state: "Ready".into(),
                answers: "Yes".into(),
                since: None,
                error: None,
                applied: Some("0123456789abcdef".into()),
                apps: 1,
                current: 0,
                held: 1,
            }],
            apps: vec![AppStatus {
                team: "shop".into(),
                app: "web".into(),
                health: "InProgress".into(),
                replicas: 3,
                unplaced: 2,
                ready: 2,
                clusters: vec![placement],
            }],
        };
        let expected = "\
Held
  k1 until 2026-12-01T00:00:00Z, by ann
  shop/web is suspended: nothing of it moves

On the way
  shop/search: step 2 since 2026-11-30T15:05:00Z, 1 left, begun by Tide, due by 2026-11-30T17:00:00Z; \
apps/Deployment/search: eu-1 6 -> 2, us-1 6 -> 8

To know
  Guarded  too many clusters look lost

Not as it should be
  shop/web: 2 replicas have no place: `fleetwright why shop/web`
  shop/web in eu-1: InProgress since 2026-11-30T10:00:00Z
    /ConfigMap/shop/web: other managers hold .data.a
    apps/Deployment/shop/web: InProgress, 2 of 3 replicas are ready

Live is 0123456789ab, made from fedcba987654

CLUSTER  STATE  ANSWERS  APPLIED  APPS  HELD
eu-1     Ready  Yes      live     0/1   1
";
        assert_eq!(text(&status, 10), expected);
    }
}
