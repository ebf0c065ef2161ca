//! A plan as a table.

use std::fmt::Write as _;

use super::clusters::ClusterReport;
use super::plan::{AppReport, PlanReport, PreemptionReport, SeatReport, VictimReport, WorkloadReport};
use super::table::table;

/// Clusters that a row lists; `wide` lists all.
const LISTED: usize = 6;

impl PlanReport {
    /// One row for each workload, then moves and shortfalls. `wide` adds pools, why other clusters get nothing, and how
    /// full clusters get.
    #[must_use]
    pub fn to_text(&self, wide: bool) -> String {
        let mut text = String::new();
        let mut rows =
            vec![vec!["APP".to_owned(), "WORKLOAD".to_owned(), "REPLICAS".to_owned(), "CLUSTERS".to_owned()]];
        for app in &self.apps {
            rows.extend(app_rows(app, wide));
        }
        text.push_str(&table(&rows, &[2], ""));
        if !self.tides.is_empty() {
            text.push_str("\nTides\n");
            for tide in &self.tides {
                let phase = tide.phase.as_ref().map(|phase| format!("{phase}, ")).unwrap_or_default();
                let _ = writeln!(text, "  {}: {phase}{}", tide.tide, tide.why);
            }
        }
        if !self.transfers.is_empty() {
            text.push_str("\nTransfers\n");
            for transfer in &self.transfers {
                let _ = writeln!(text, "  {} takes over what runs as {}", transfer.app, transfer.was);
            }
        }
        if !self.moves.is_empty() {
            text.push_str("\nMoves\n");
            let rows: Vec<Vec<String>> = self
                .moves
                .iter()
                .map(|m| {
                    let name = format!("{} {}", m.app, m.workload);
                    vec![name, m.cluster.to_string(), format!("{} -> {}", m.before, m.after), m.why.to_owned()]
                })
                .collect();
            text.push_str(&table(&rows, &[], "  "));
        }
        for (head, lines) in [
            ("In steps", self.steps.iter().map(ToString::to_string).collect::<Vec<_>>()),
            ("On the way", self.moving.iter().map(ToString::to_string).collect()),
        ] {
            if !lines.is_empty() {
                let _ = writeln!(text, "\n{head}");
                for line in lines {
                    let _ = writeln!(text, "  {line}");
                }
            }
        }
        if !self.displaced.is_empty() {
            text.push_str("\nDisplaced\n");
            for of in &self.displaced {
                let _ = writeln!(text, "  {}: {of}", of.app);
            }
        }
        if !self.overdrawn.is_empty() {
            text.push_str("\nOverdrawn\n");
            for of in &self.overdrawn {
                let _ = writeln!(text, "  {of}");
            }
        }
        if !self.below_weight.is_empty() {
            text.push_str("\nLess than weights ask for\n");
            for of in &self.below_weight {
                let _ = writeln!(text, "  {}: {of}", of.app);
            }
        }
        if !self.growing.is_empty() {
            text.push_str("\nNodes to add\n");
            for of in &self.growing {
                let _ = writeln!(text, "  {of}");
            }
        }
        if !self.shortfalls.is_empty() {
            text.push_str("\nNot possible\n");
            for short in &self.shortfalls {
                let _ = writeln!(text, "  {}: {}", short.app, short.shortfall);
            }
        }
        if !self.preemptions.is_empty() {
            text.push_str("\nPossible, if somebody gives way\n");
            for of in &self.preemptions {
                let _ = writeln!(text, "  {} {of}", of.app);
            }
        }
        if wide {
            self.wide(&mut text);
        }
        text
    }

    fn wide(&self, text: &mut String) {
        let without: Vec<&AppReport> = self.apps.iter().filter(|app| app.without.is_some()).collect();
        if !without.is_empty() {
            text.push_str("\nClusters without\n");
            for app in without {
                let _ = writeln!(text, "  {}: {}", app.app, app.without.as_deref().unwrap_or_default());
            }
        }
        text.push_str("\nClusters\n");
        let head = ["CLUSTER", "APPS", "OBJECTS", "REPLICAS", "REQUESTED OF ALLOCATABLE"].map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.clusters.iter().map(cluster_row)).collect();
        text.push_str(&table(&rows, &[1, 2, 3], "  "));
    }
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

/// `eu-a 8`, wide `eu-a 8 (general 6, spot 2)`; of a kind without counts the name alone.
fn seat_text(seat: &SeatReport, counted: bool, wide: bool) -> String {
    let mut text = seat.cluster.to_string();
    if counted {
        let _ = write!(text, " {}", seat.replicas);
    }
    if let Some(completions) = seat.completions {
        let _ = write!(text, "/{completions}");
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
