//! What suppositions do, for a terminal and for a comment.

use std::fmt::Write as _;

use super::table::table;
use super::values::visible;
use super::what_if::{HeadroomReport, LeftReport, ScenarioReport, WhatIfReport};

/// The report as text: what is supposed, then one table where there are several scenarios, then each scenario that leaves
/// something undone; `wide` shows all of them. A single scenario is always shown in full.
#[must_use]
pub fn what_if_text(report: &WhatIfReport, wide: bool) -> String {
    let mut text = String::new();
    for change in &report.changes {
        let _ = writeln!(text, "Supposed: {}", visible(change));
    }
    let single = report.scenarios.len() == 1;
    if !single {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&table(&summary(report), &[1, 2, 3], ""));
    }
    for scenario in report.scenarios.iter().filter(|scenario| single || wide || scenario.is_short()) {
        if !text.is_empty() {
            text.push('\n');
        }
        details(&mut text, scenario, single || wide);
    }
    text
}

fn head() -> Vec<String> {
    ["LOST", "MOVED", "MISSING", "BREACHES", "LEAST LEFT"].map(str::to_owned).to_vec()
}

fn summary(report: &WhatIfReport) -> Vec<Vec<String>> {
    std::iter::once(head()).chain(report.scenarios.iter().map(row)).collect()
}

fn row(scenario: &ScenarioReport) -> Vec<String> {
    let breaches = breaches(scenario);
    vec![
        lost(scenario),
        scenario.moved.to_string(),
        scenario.missing.to_string(),
        breaches.to_string(),
        tightest(scenario).map_or_else(|| "-".to_owned(), |(cluster, left)| least(cluster, left)),
    ]
}

/// Rules that break, replicas without a place aside.
fn breaches(scenario: &ScenarioReport) -> usize {
    let rules = scenario.shortfalls.iter().filter(|s| !s.shortfall.is_unplaced()).count();
    rules + scenario.floors.len() + scenario.nowhere.len()
}

fn lost(scenario: &ScenarioReport) -> String {
    if scenario.lost.is_empty() { "nothing".to_owned() } else { visible(&scenario.lost.join(", ")) }
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

fn details(text: &mut String, scenario: &ScenarioReport, clusters: bool) {
    let ScenarioReport { moved, missing, shortfalls, nowhere, floors, moves, .. } = scenario;
    let _ = writeln!(text, "Without {}: {moved} replicas start elsewhere, {missing} run nowhere", lost(scenario));
    if shortfalls.len() + nowhere.len() + floors.len() > 0 {
        text.push_str("  Not possible\n");
        for line in problems(scenario) {
            let _ = writeln!(text, "    {}", visible(&line));
        }
    }
    if !moves.is_empty() {
        text.push_str("  Moves\n");
        let rows: Vec<Vec<String>> = moves
            .iter()
            .map(|m| {
                let name = format!("{} {}", m.app, m.workload);
                vec![name, m.cluster.to_string(), format!("{} -> {}", m.before, m.after), m.why.to_owned()]
            })
            .collect();
        text.push_str(&table(&rows, &[], "    "));
    }
    if clusters && !scenario.clusters.is_empty() {
        text.push_str("  Left\n");
        let rows: Vec<Vec<String>> = scenario.clusters.iter().map(headroom_row).collect();
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
fn headroom_row(cluster: &HeadroomReport) -> Vec<String> {
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
    vec![cluster.cluster.to_string(), resources]
}

/// Problems that a comment lists for one scenario.
const LISTED: usize = 20;

/// The report as a comment: the table, then what each scenario leaves undone.
#[must_use]
pub fn what_if_markdown(report: &WhatIfReport) -> String {
    let mut text = "<!-- fleetwright-what-if -->\n".to_owned();
    for change in &report.changes {
        let _ = writeln!(text, "Supposed: {}\n", cell(change));
    }
    text.push_str("| lost | moved | missing | breaches | least left |\n|---|--:|--:|--:|---|\n");
    for scenario in &report.scenarios {
        let row: Vec<String> = row(scenario).iter().map(|text| cell(text)).collect();
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    for scenario in report.scenarios.iter().filter(|scenario| scenario.is_short()) {
        let _ = writeln!(text, "\n**Without {}**\n", cell(&lost(scenario)));
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
