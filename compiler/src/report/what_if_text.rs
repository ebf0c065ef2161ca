//! What suppositions do, for a terminal and for a comment.

use std::fmt::Write as _;

use super::plan_text::move_rows;
use super::rows::{Row, by_cluster, grouped};
use super::table::table;
use super::values::visible;
use super::what_if::{HeadroomReport, LeftReport, ScenarioReport, WhatIfReport};

/// The report as text: what is supposed, then one table where there are several scenarios, then each scenario that leaves
/// something undone; `wide` shows all of them. A single scenario is always shown in full.
#[must_use]
pub fn what_if_text(report: &WhatIfReport, wide: bool) -> String {
    let mut text = report.record.as_ref().map(|record| format!("Record: {record}\n")).unwrap_or_default();
    for change in &report.changes {
        let _ = writeln!(text, "Supposed: {}", visible(change));
    }
    if report.scenarios.is_empty() {
        let _ = writeln!(text, "{NOTHING_RUNS}");
        return text;
    }
    let single = report.scenarios.len() == 1;
    if !single {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&table(&summary(report, wide), &[1, 2, 3], ""));
    }
    for scenario in report.scenarios.iter().filter(|scenario| single || wide || scenario.is_short()) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", headline(report, scenario));
        details(&mut text, scenario, single || wide, wide);
    }
    text
}

fn head() -> Vec<String> {
    ["LOST", "MOVED", "MISSING", "BREACHES", "LEAST LEFT"].map(str::to_owned).to_vec()
}

/// A row for each scenario; of many, those that come to the same are one.
fn summary(report: &WhatIfReport, all: bool) -> Vec<Vec<String>> {
    let rows = grouped(report.scenarios.iter().map(row).collect(), all);
    let rows = rows.into_iter().map(|(lost, cells)| std::iter::once(lost).chain(cells).collect());
    std::iter::once(head()).chain(rows).collect()
}

fn row(scenario: &ScenarioReport) -> Row {
    let least = tightest(scenario).map_or_else(|| "-".to_owned(), |(cluster, left)| least(cluster, left));
    let counts = [scenario.moved.to_string(), scenario.missing.to_string(), breaches(scenario).to_string()];
    (lost(scenario), counts.into_iter().chain([least]).collect())
}

/// Rules that break, replicas without a place aside.
fn breaches(scenario: &ScenarioReport) -> usize {
    let rules = scenario.shortfalls.iter().filter(|s| !s.shortfall.is_unplaced()).count();
    rules + scenario.floors.len() + scenario.nowhere.len()
}

fn lost(scenario: &ScenarioReport) -> String {
    if scenario.lost.is_empty() { "nothing".to_owned() } else { visible(&scenario.lost.join(", ")) }
}

/// Where every loss is tried in turn and none can be.
const NOTHING_RUNS: &str = "Nothing runs anywhere, so there is nothing to lose";

/// What is supposed of a scenario: its losses, and whether anything else is supposed as well.
fn premise(report: &WhatIfReport, scenario: &ScenarioReport) -> String {
    match (scenario.lost.is_empty(), report.changes.is_empty()) {
        (false, true) => format!("Without {}", lost(scenario)),
        (false, false) => format!("As supposed and without {}", lost(scenario)),
        (true, _) => "As supposed".to_owned(),
    }
}

/// The premise and what comes of it. Of a loss alone, what starts is what was elsewhere.
fn headline(report: &WhatIfReport, scenario: &ScenarioReport) -> String {
    let ScenarioReport { moved, stopped, missing, .. } = scenario;
    let replicas = if *moved == 1 { "1 replica".to_owned() } else { format!("{moved} replicas") };
    let starts = if *moved == 1 { "starts" } else { "start" };
    let moves = if report.changes.is_empty() && !scenario.lost.is_empty() {
        format!("{replicas} {starts} elsewhere")
    } else {
        format!("{replicas} {starts}, {stopped} {}", if *stopped == 1 { "stops" } else { "stop" })
    };
    let run = if *missing == 1 { "runs" } else { "run" };
    format!("{}: {moves}, {missing} more {run} nowhere", premise(report, scenario))
}

/// The cluster and resource of which least is left, in per cent.
fn tightest(scenario: &ScenarioReport) -> Option<(&HeadroomReport, &LeftReport)> {
    let all = scenario.clusters.iter().flat_map(|cluster| cluster.resources.iter().map(move |left| (cluster, left)));
    all.filter(|(_, left)| left.percent.is_some()).min_by_key(|(_, left)| left.percent)
}

/// `eu-a memory 12%`
fn least(cluster: &HeadroomReport, left: &LeftReport) -> String {
    format!("{} {} {}%", cluster.cluster, left.resource, left.percent.unwrap_or(0))
}

fn details(text: &mut String, scenario: &ScenarioReport, clusters: bool, all: bool) {
    let ScenarioReport { shortfalls, nowhere, floors, moves, .. } = scenario;
    if shortfalls.len() + nowhere.len() + floors.len() > 0 {
        text.push_str("  Not possible\n");
        for line in problems(scenario) {
            let _ = writeln!(text, "    {}", visible(&line));
        }
    }
    if !moves.is_empty() {
        text.push_str("  Moves\n");
        text.push_str(&table(&move_rows(moves, all), &[], "    "));
    }
    if clusters && !scenario.clusters.is_empty() {
        text.push_str("  Left\n");
        let rows = by_cluster(scenario.clusters.iter().map(headroom_row).collect(), all);
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(cluster, cells)| std::iter::once(cluster).chain(cells).collect()).collect();
        text.push_str(&table(&rows, &[], "    "));
    }
}

/// Each thing that cannot be done, in a sentence.
fn problems(scenario: &ScenarioReport) -> Vec<String> {
    let shortfalls = scenario.shortfalls.iter().map(|s| format!("{}: {}", s.app, s.shortfall));
    let nowhere = scenario.nowhere.iter().map(|app| format!("{app}: it would be nowhere"));
    let floors = scenario.floors.iter().map(|f| {
        format!("{}: {} has {} replicas in {}, at least {} are wanted", f.app, f.workload, f.replicas, f.cluster, f.min)
    });
    shortfalls.chain(nowhere).chain(floors).collect()
}

/// `eu-a`, `cpu 12 of 40 (30%; now 20)`.
fn headroom_row(cluster: &HeadroomReport) -> Row {
    let of = |left: &LeftReport| {
        let LeftReport { resource, free, now, offered, percent } = left;
        let percent = percent.map(|percent| format!("{percent}%")).unwrap_or_default();
        let now = if free == now { String::new() } else { format!("now {now}") };
        let notes: Vec<String> = [percent, now].into_iter().filter(|note| !note.is_empty()).collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!("{resource} {free} of {offered}{notes}")
    };
    let resources: Vec<String> = cluster.resources.iter().map(of).collect();
    let resources = if resources.is_empty() { "capacity unknown".to_owned() } else { resources.join(", ") };
    (cluster.cluster.to_string(), vec![resources])
}

/// Problems that a comment lists for one scenario.
const LISTED: usize = 20;

/// The report as a comment: the table, then what each scenario leaves undone.
#[must_use]
pub fn what_if_markdown(report: &WhatIfReport) -> String {
    let mut text = "<!-- fleetwright-what-if -->\n".to_owned();
    if let Some(record) = &report.record {
        let _ = writeln!(text, "Record: {}\n", cell(&record.to_string()));
    }
    for change in &report.changes {
        let _ = writeln!(text, "Supposed: {}\n", cell(change));
    }
    if report.scenarios.is_empty() {
        let _ = writeln!(text, "{NOTHING_RUNS}");
        return text;
    }
    text.push_str("| lost | moved | missing | breaches | least left |\n|---|--:|--:|--:|---|\n");
    for row in summary(report, false).into_iter().skip(1) {
        let row: Vec<String> = row.iter().map(|text| cell(text)).collect();
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    for scenario in report.scenarios.iter().filter(|scenario| scenario.is_short()) {
        let _ = writeln!(text, "\n**{}**\n", cell(&premise(report, scenario)));
        let problems = problems(scenario);
        for line in problems.iter().take(LISTED) {
            let _ = writeln!(text, "- {}", cell(line));
        }
        if problems.len() > LISTED {
            let _ = writeln!(text, "- … and {} more", problems.len() - LISTED);
        }
    }
    text
}

/// Text that stays in its cell and means nothing to Markdown.
fn cell(text: &str) -> String {
    super::diff_markdown::escape(text)
}
