//! `fleetwright rebalance`: apps placed afresh, within a budget of replicas that move.

use std::collections::BTreeSet;

use serde::Serialize;

use fleetwright_compiler::base::AppId;
use fleetwright_compiler::base::labels::LabelQuery;
use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::rebalance::{Budget, Rebalance};
use fleetwright_compiler::{Compiled, Session};
use fleetwright_reconciler::decide::orders::{self, OrderError};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::order::{self, OrderArgs};
use crate::why::nearest_of;
use crate::{fleet, output, plan, streams};

/// Place apps afresh, as if they were new
///
/// A cluster that is added or uncordoned changes nothing for apps that are settled; this does. What other apps run stays
/// as it is, and no app comes out with fewer replicas than it has. With --max-move, at most so many replicas leave their
/// cluster; the next run goes on, and one that finds everything in place does nothing. Suspended apps, Jobs and apps with
/// volumes stay where they are.
///
/// Outside of Git, and where `placements/` lies beside the intents, it is written there; else, and with
/// --repo, it is a commit on the live branch of the repository.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    order: OrderArgs,

    /// Apps with these labels, as `kubectl -l` takes them
    #[arg(short = 'l', long = "selector", value_name = "QUERY")]
    labels: Option<LabelQuery>,

    /// Apps of this team
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,

    /// The most replicas that may leave their cluster: a number, or a share of what the apps run (20%)
    #[arg(long, value_name = "N|%", value_parser = budget)]
    max_move: Option<Budget>,
}

/// The forms it has.
pub const FORMATS: &[Format] = order::FORMATS;

fn budget(text: &str) -> Result<Budget, String> {
    let wrong = || "expected a number of replicas, or a share such as 20%".to_owned();
    match text.strip_suffix('%') {
        Some(percent) => match percent.parse() {
            Ok(percent @ 0..=100) => Ok(Budget::Percent(percent)),
            Ok(_) | Err(_) => Err(wrong()),
        },
        None => text.parse().map(Budget::Replicas).map_err(|_| wrong()),
    }
}

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let budget = args.max_move.unwrap_or(Budget::Unlimited);
    if args.labels.is_none() && args.team.is_none() {
        return Err(Failure::Usage(
            "which apps? `-l KEY=VALUE` names those with labels, `--team TEAM` those of a team; both together, those of both"
                .to_owned(),
        ));
    }
    let opened = fleet::open(context);
    let folder = match args.order.names_repository() {
        true => None,
        false => opened.as_ref().map_or(Ok(None), fleet::Opened::orders_folder)?,
    };
    if folder.is_none() {
        return order::run(context, &args.order, |desk, _| {
            let apps = selected(&desk.current.fleet, args).map_err(OrderError::Wrong)?;
            let (proposal, found) = orders::rebalance(desk, &|_| apps.clone(), budget)?;
            say_left(&desk.current.fleet, &found);
            Ok(proposal)
        });
    }
    let folder = folder.map(std::path::Path::to_path_buf);
    let opened = opened?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    fleet::say_record(&opened);
    let apps = selected(&compiled.fleet, args).map_err(Failure::Usage)?;
    let found = orders::rebalance_of(&compiled, &apps, budget);
    if let Some(text) = orders::nothing_recorded(&compiled.fleet, &apps, &found) {
        return Err(Failure::Guard(format!("{text}; `fleetwright plan --write` records what would run")));
    }
    let report = Report::new(&compiled.fleet, &found);
    streams::data(&output::data(context.format(), &report, || report.to_text())?)?;
    match folder.filter(|_| !args.order.dry_run().is_wanted()) {
        Some(folder) => write(&folder, &compiled, &found)?,
        None => args.order.dry_run().say(),
    }
    Ok(Outcome::Done)
}

/// The apps that are meant; the error says why there are none.
fn selected(fleet: &Fleet, args: &Args) -> Result<BTreeSet<AppId>, String> {
    if let Some(team) = &args.team
        && !fleet.teams.iter().any(|of| of.name == *team)
    {
        let near = nearest_of(team, fleet.teams.iter().map(|team| team.name.to_string()));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("there is no team `{}`{hint}", team.escape_debug()));
    }
    let meant = |id: &AppId| {
        let app = fleet.app(*id);
        args.team.as_ref().is_none_or(|team| fleet.team(app.team).name == *team)
            && args.labels.as_ref().is_none_or(|labels| labels.matches(&app.labels))
    };
    let apps: BTreeSet<AppId> = fleet.app_ids().filter(meant).collect();
    if apps.is_empty() {
        let of_team = args.team.as_ref().map(|team| format!(" of team {team}")).unwrap_or_default();
        let labels =
            args.labels.as_ref().map_or("", |_| " has the labels of `-l`: labels of Apps count, in their `metadata`");
        let none = if labels.is_empty() { " exists" } else { labels };
        return Err(format!("no App{of_team}{none}"));
    }
    Ok(apps)
}

/// Only what is rebalanced is written: what else the plan would change is another decision.
fn write(folder: &std::path::Path, compiled: &Compiled, found: &Rebalance) -> Result<(), Failure> {
    if found.placed.is_empty() {
        streams::talk("nothing moves: placements/ stays as it is");
        return Ok(());
    }
    let mut placed = compiled.record.apps.clone();
    placed.extend(found.placed.clone());
    plan::write_placed(folder, compiled, &placed)
}

fn say_left(fleet: &Fleet, found: &Rebalance) {
    for (id, why) in &found.left {
        streams::talk(&format!("{}: {why}", fleet.app_name(*id)));
    }
}

/// Clusters of a workload that the text names; the data names all.
const LISTED: usize = 8;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    moved: u64,
    running: u64,
    moves: Vec<Move>,
    left: Vec<Left>,
}

#[derive(Serialize)]
struct Move {
    app: String,
    workload: String,
    cluster: String,
    before: u32,
    after: u32,
}

#[derive(Serialize)]
struct Left {
    app: String,
    why: String,
}

impl Report {
    fn new(fleet: &Fleet, found: &Rebalance) -> Self {
        let moves = found.moves.iter().map(|change| Move {
            app: fleet.app_name(change.app),
            workload: change.workload.to_string(),
            cluster: change.cluster.to_string(),
            before: change.before,
            after: change.after,
        });
        let left = found.left.iter().map(|(id, why)| Left { app: fleet.app_name(*id), why: why.to_string() });
        Self { moved: found.moved, running: found.running, moves: moves.collect(), left: left.collect() }
    }

    fn to_text(&self) -> String {
        let mut text = format!("{} of {} replicas move\n", self.moved, self.running);
        for moves in self.moves.chunk_by(|a, b| a.app == b.app && a.workload == b.workload) {
            let Some(first) = moves.first() else { continue };
            let shown = moves.iter().take(LISTED);
            let mut parts: Vec<String> = shown.map(|m| format!("{} {} -> {}", m.cluster, m.before, m.after)).collect();
            if moves.len() > LISTED {
                parts.push(format!("and {} more clusters", moves.len() - LISTED));
            }
            text.push_str(&format!("  {} {}: {}\n", first.app, first.workload, parts.join(", ")));
        }
        for left in &self.left {
            text.push_str(&format!("  {}: {}\n", left.app, left.why));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_numbers_or_shares() {
        for (text, expected) in [
            ("7", Some(Budget::Replicas(7))),
            ("0", Some(Budget::Replicas(0))),
            ("20%", Some(Budget::Percent(20))),
            ("100%", Some(Budget::Percent(100))),
            ("0%", Some(Budget::Percent(0))),
            ("101%", None),
            ("-1", None),
            ("many", None),
        ] {
            assert_eq!(budget(text).ok(), expected, "{text}");
        }
    }
}
