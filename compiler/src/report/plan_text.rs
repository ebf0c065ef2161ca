//! A plan as a table.

use std::fmt::Write as _;

use super::clusters::ClusterReport;
use super::plan::{
    AppReport, MoveReport, PlanReport, PreemptionReport, SeatReport, TransferReport, VictimReport, WorkloadReport,
};
use super::rows::{first_lines, of_each};
use super::table::table;
use super::tides::TidePhaseReport;

/// Clusters that a row lists; `wide` lists all.
const LISTED: usize = 6;
/// Lines of a section that has one for each cluster or pool; `wide` lists all.
const LINES: usize = 20;

impl PlanReport {
    /// The record it was made from, one row for each workload, then moves and shortfalls. `wide` adds pools, why other
    /// clusters get nothing and how full clusters get, and names all clusters.
    #[must_use]
    pub fn to_text(&self, wide: bool) -> String {
        let mut text = self.record.as_ref().map(|record| format!("Record: {record}\n\n")).unwrap_or_default();
        let mut rows =
            vec![vec!["APP".to_owned(), "WORKLOAD".to_owned(), "REPLICAS".to_owned(), "CLUSTERS".to_owned()]];
        for app in &self.apps {
            rows.extend(app_rows(app, wide));
        }
        text.push_str(&table(&rows, &[2], ""));
        for (title, lines) in self.sections(wide) {
            section(&mut text, title, &lines);
        }
        if wide {
            self.wide(&mut text);
        }
        text
    }

    /// What follows the table: a title, and lines; a section without lines is not shown.
    fn sections(&self, all: bool) -> [(&'static str, Vec<String>); 11] {
        let tide = |tide: &TidePhaseReport| {
            let phase = tide.phase.as_ref().map(|phase| format!("{phase}, ")).unwrap_or_default();
            format!("{}: {phase}{}", tide.tide, tide.why)
        };
        let transfer = |of: &TransferReport| format!("{} takes over what runs as {}", of.app, of.was);
        let below = self.below_weight.iter().map(|of| format!("{}: {of}", of.app)).collect();
        [
            ("Tides", self.tides.iter().map(tide).collect()),
            ("Transfers", self.transfers.iter().map(transfer).collect()),
            ("Moves", table(&move_rows(&self.moves, all), &[], "").lines().map(str::to_owned).collect()),
            ("In steps", self.steps.iter().map(ToString::to_string).collect()),
            ("On the way", self.moving.iter().map(ToString::to_string).collect()),
            ("Displaced", bounded(self.displaced.iter().map(|of| format!("{}: {of}", of.app)).collect(), all)),
            ("Overdrawn", bounded(self.overdrawn.iter().map(ToString::to_string).collect(), all)),
            ("Less than weights ask for", bounded(below, all)),
            ("Nodes to add", bounded(self.growing.iter().map(ToString::to_string).collect(), all)),
            ("Not possible", self.shortfalls.iter().map(|of| format!("{}: {}", of.app, of.shortfall)).collect()),
            ("Possible, if somebody gives way", self.preemptions.iter().map(|of| format!("{} {of}", of.app)).collect()),
        ]
    }

    fn wide(&self, text: &mut String) {
        let without = self.apps.iter().filter_map(|app| Some(format!("{}: {}", app.app, app.without.as_ref()?)));
        section(text, "Clusters without", &without.collect::<Vec<_>>());
        text.push_str("\nClusters\n");
        let head = ["CLUSTER", "APPS", "OBJECTS", "REPLICAS", "REQUESTED OF ALLOCATABLE"].map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.clusters.iter().map(cluster_row)).collect();
        text.push_str(&table(&rows, &[1, 2, 3], "  "));
    }
}

/// A title and indented lines, if there are any.
pub(super) fn section(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(text, "\n{title}");
        lines.iter().for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
    }
}

fn bounded(lines: Vec<String>, all: bool) -> Vec<String> {
    if all { lines } else { first_lines(lines, LINES) }
}

/// Moves, those of one workload together.
pub(super) fn move_rows(moves: &[MoveReport], all: bool) -> Vec<Vec<String>> {
    let row = |m: &MoveReport| {
        let cells = vec![format!("{} -> {}", m.before, m.after), m.why.to_owned()];
        (format!("{} {}", m.app, m.workload), (m.cluster.to_string(), cells))
    };
    of_each(moves.iter().map(row).collect(), all)
}

impl std::fmt::Display for PreemptionReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let give = |victim: &VictimReport| format!("{} {} gave up {}", victim.app, victim.workload, victim.replicas);
        let victims: Vec<String> = self.victims.iter().map(give).collect();
        let Self { app, workload, cluster, replicas, victims: _ } = self;
        let victims = victims.join(", ");
        write!(f, "{workload}: {replicas} more in {cluster}, if {victims}; `fleetwright preempt {app}` does it")
    }
}

/// The rows of an app: its workloads; its clusters where it has none.
fn app_rows(app: &AppReport, wide: bool) -> Vec<Vec<String>> {
    let row = |workload: &str, replicas: String, clusters: String| {
        vec![app.app.clone(), workload.to_owned(), replicas, clusters]
    };
    if app.workloads.is_empty() {
        let names: Vec<String> = app.clusters.iter().map(ToString::to_string).collect();
        return vec![row("-", "-".to_owned(), listed(&names, wide))];
    }
    let of = |workload: &WorkloadReport| {
        let seats: Vec<String> = workload.seats.iter().map(|seat| seat_text(seat, workload.counted, wide)).collect();
        let replicas = if workload.counted { workload.replicas.to_string() } else { "-".to_owned() };
        row(&workload.workload, replicas, listed(&seats, wide))
    };
    app.workloads.iter().map(of).collect()
}

/// `eu-a 8`, wide `eu-a 8 (general 6, spot 2)`; of a kind without counts the name alone. Where more is booked than that:
/// `eu-a 2 (5 booked, as observed)`.
fn seat_text(seat: &SeatReport, counted: bool, wide: bool) -> String {
    let mut text = seat.cluster.to_string();
    if counted {
        let _ = write!(text, " {}", seat.replicas);
    }
    if let Some(completions) = seat.completions {
        let _ = write!(text, "/{completions}");
    }
    if let Some(booked) = seat.booked.filter(|booked| wide || booked.replicas != seat.replicas) {
        let _ = write!(text, " ({booked})");
    }
    if wide && !seat.pools.is_empty() {
        let pools: Vec<String> = seat.pools.iter().map(|(pool, replicas)| format!("{pool} {replicas}")).collect();
        let _ = write!(text, " ({})", pools.join(", "));
    }
    text
}

fn listed(entries: &[String], wide: bool) -> String {
    if entries.is_empty() {
        return "nowhere".to_owned();
    }
    let most = if wide { entries.len() } else { LISTED };
    let (shown, rest) = entries.split_at(entries.len().min(most));
    let text = shown.join(", ");
    if rest.is_empty() { text } else { format!("{text} and {} more", rest.len()) }
}

fn cluster_row(cluster: &ClusterReport) -> Vec<String> {
    let ClusterReport { cluster: name, apps, objects, replicas, resources } = cluster;
    let resources: Vec<String> = resources
        .iter()
        .map(|of| {
            let percent = of.percent.map(|percent| format!(" ({percent}%)")).unwrap_or_default();
            format!("{} {} of {}{percent}", of.resource, of.requested, of.allocatable)
        })
        .collect();
    let resources = if resources.is_empty() { "capacity unknown".to_owned() } else { resources.join(", ") };
    vec![name.to_string(), apps.to_string(), objects.to_string(), replicas.to_string(), resources]
}
