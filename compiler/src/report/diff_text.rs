//! A diff for a terminal or a log.

use std::fmt::Write as _;

use super::names::short_list;
use super::rows::{Row, by_cluster};
use super::table::table;
use super::values::{change_lines, visible};
use crate::diff::{
    AppChange, AppDiff, ClusterImpact, CountChange, FleetDiff, ObjectChange, ObjectDiff, Why, WorkloadDiff,
};

/// Clusters that an app comes to or leaves, named one by one.
const LISTED: usize = 6;

/// The title of deletions that nobody makes without being asked.
pub(super) const OVER_BUDGET: &str =
    "Waits for an approval once it is merged: more deletions than `limits.deletions` allows";

/// The whole diff. Nothing is left out but what is said of many clusters, which the data has and [`diff_text_whole`].
#[must_use]
pub fn diff_text(diff: &FleetDiff) -> String {
    text_of(diff, false)
}

/// The same, with every cluster of what moves named.
#[must_use]
pub fn diff_text_whole(diff: &FleetDiff) -> String {
    text_of(diff, true)
}

/// What the diff was made from, a line each.
pub(super) fn heads(diff: &FleetDiff) -> Vec<String> {
    let base = diff.base.as_ref().map(|base| format!("Base: {base}"));
    base.into_iter().chain(diff.record.as_ref().map(|record| format!("Record: {record}"))).collect()
}

fn text_of(diff: &FleetDiff, all: bool) -> String {
    let mut text: String = heads(diff).iter().map(|line| format!("{line}\n")).collect();
    text.push_str(&summary(diff));
    text.push('\n');
    section(
        &mut text,
        "Refused: over the team's quota or no longer surviving what they must, and not so before",
        diff.errors.iter().map(|s| format!("  {}: {}\n", s.app, s.shortfall)),
    );
    let deleted = diff.objects.iter().filter(|object| object.change.deletes());
    section(&mut text, "Deleted", deleted.map(|object| format!("  - {}\n", deletion(object))));
    section(&mut text, OVER_BUDGET, diff.over_budget.iter().map(|over| format!("  {over}\n")));
    section(
        &mut text,
        "Clusters",
        diff.clusters.iter().map(|cluster| format!("  {}: {}\n", cluster.cluster, joined(&cluster.edits))),
    );
    section(&mut text, "Placements", diff.placements.iter().map(|app| placement(app, all)));
    section(&mut text, "In steps", diff.steps.iter().map(|steps| format!("  {steps}\n")));
    section(&mut text, "Rules", diff.rules.iter().map(|rule| format!("  {}\n", visible(&rule.to_string()))));
    let others = diff.objects.iter().filter(|object| !matches!(object.change, ObjectChange::Removed { .. }));
    section(
        &mut text,
        "Objects",
        others.map(|object| {
            let mut lines = format!("  {}\n", object_line(object));
            for line in field_lines(object) {
                let _ = writeln!(lines, "    {line}");
            }
            lines
        }),
    );
    section(
        &mut text,
        "Not possible any more",
        diff.new_shortfalls.iter().map(|s| format!("  {}: {}\n", s.app, s.shortfall)),
    );
    section(&mut text, "Solved", diff.solved_shortfalls.iter().map(|s| format!("  {}: {}\n", s.app, s.shortfall)));
    section(
        &mut text,
        "New warnings",
        diff.new_warnings.iter().map(|warning| {
            let path = warning.path.as_deref().unwrap_or("(no file)");
            format!("  {} {path}: {}\n", warning.code, visible(&warning.message))
        }),
    );
    if !diff.impact.is_empty() {
        text.push_str("\nBy cluster\n");
        text.push_str(&table(&impact_rows(&diff.impact, all), &[1, 2, 3, 4, 5, 6, 7], "  "));
    }
    text
}

fn section(text: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    let entries: String = entries.collect();
    if !entries.is_empty() {
        let _ = write!(text, "\n{title}\n{entries}");
    }
}

/// `3 clusters, 12 objects: +2 ~9 -1, replicas: +4 -4; 57 objects unchanged`.
pub(super) fn summary(diff: &FleetDiff) -> String {
    if diff.is_empty() {
        return format!("no changes; {}", unchanged(diff));
    }
    let sum = |count: fn(&ClusterImpact) -> u64| diff.impact.iter().map(count).sum::<u64>();
    let (added, changed, removed) = (sum(|i| i.added), sum(|i| i.changed + i.scaled), sum(|i| i.removed));
    let (come, go) = (sum(|i| i.replicas_added), sum(|i| i.replicas_removed));
    let touched = diff.impact.len();
    let clusters = if touched == 1 { "1 cluster".to_owned() } else { format!("{touched} clusters") };
    format!(
        "{clusters}, {} objects: +{added} ~{changed} -{removed}, replicas: +{come} -{go}; {}",
        added + changed + removed,
        unchanged(diff)
    )
}

fn unchanged(diff: &FleetDiff) -> String {
    let FleetDiff { unchanged_objects, rewritten_objects, .. } = diff;
    match rewritten_objects {
        0 => format!("{unchanged_objects} objects unchanged"),
        rewritten => {
            format!("{unchanged_objects} objects unchanged, {rewritten} written differently with the same meaning")
        }
    }
}

/// The app and its workloads.
fn placement(app: &AppDiff, all: bool) -> String {
    let mut text = String::new();
    let clusters = |names: &[crate::base::SmolStr], mark: char| {
        let marked: Vec<String> = names.iter().map(|name| format!("{mark}{name}")).collect();
        let shown = if all || marked.len() <= LISTED { marked.join(" ") } else { short_list(&marked) };
        if shown.is_empty() { shown } else { format!(" {shown}") }
    };
    let note = match app.change {
        AppChange::Added => " new app",
        AppChange::Removed => " app removed",
        AppChange::Changed => "",
    };
    let (added, removed) = (clusters(&app.clusters_added, '+'), clusters(&app.clusters_removed, '-'));
    let where_ =
        if added.is_empty() && removed.is_empty() { String::new() } else { format!(" clusters:{added}{removed}") };
    let was = app.renamed_from.as_ref().map(|was| format!(" was {was}")).unwrap_or_default();
    let _ = writeln!(text, "  {}{was}{note}{where_}", app.app);
    for workload in &app.workloads {
        let _ = writeln!(text, "    {}", workload_line(workload));
        let row = |row: &CountChange| (row.cluster.to_string(), vec![counts(row, workload.counted), joined(&row.why)]);
        let rows = lines(by_cluster(workload.clusters.iter().map(row).collect(), all));
        text.push_str(&table(&rows, &[], "      "));
    }
    text
}

/// `apps/Deployment/web: 12 -> 14 (total 12 -> 14)`.
fn workload_line(workload: &WorkloadDiff) -> String {
    let WorkloadDiff { workload: key, counted, before, after, clusters: _, why } = workload;
    let total = if *counted { format!("{before} -> {after}") } else { format!("{before} -> {after} clusters") };
    if why.is_empty() { format!("{key}: {total}") } else { format!("{key}: {total} ({})", joined(why)) }
}

/// `8 -> 9`, `- -> 3`, `gone`.
pub(super) fn counts(row: &CountChange, counted: bool) -> String {
    let number = |n: Option<u32>, completions: Option<u32>| match (n, completions) {
        (None, _) => "-".to_owned(),
        (Some(_), _) if !counted => "yes".to_owned(),
        (Some(n), None) => n.to_string(),
        (Some(n), Some(completions)) => format!("{n} (completions {completions})"),
    };
    let CountChange { before, after, completions_before, completions_after, .. } = row;
    format!("{} -> {}", number(*before, *completions_before), number(*after, *completions_after))
}

/// Anything with words, with semicolons between.
pub(super) fn joined<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(|item| visible(&item.to_string())).collect::<Vec<_>>().join("; ")
}

/// Why a workload moves: of itself, then of its clusters, each cause once.
pub(super) fn all_causes(workload: &WorkloadDiff) -> String {
    let mut causes: Vec<String> = workload.why.iter().map(Why::to_string).collect();
    let mut of_clusters: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &workload.clusters {
        for why in row.why.iter().map(Why::to_string) {
            match of_clusters.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(&row.cluster),
                None => of_clusters.push((why, vec![&row.cluster])),
            }
        }
    }
    causes.extend(of_clusters.iter().map(|(why, names)| format!("{}: {why}", short_list(names))));
    visible(&causes.join("; "))
}

/// `ConfigMap shop/old (payments/checkout) on eu-a, eu-b; stays on 1`.
pub(super) fn deletion(object: &ObjectDiff) -> String {
    let mut line = format!("{} on {}", named(object), short_list(&object.clusters));
    match &object.change {
        ObjectChange::Removed { remaining: 0 } => {}
        ObjectChange::Removed { remaining: 1 } => line.push_str("; stays on 1 cluster"),
        ObjectChange::Removed { remaining } => {
            let _ = write!(line, "; stays on {remaining} clusters");
        }
        ObjectChange::Replaced { from, .. } => {
            line = format!("{} {from}, replaced by {line}", visible(&object.object.kind));
        }
        ObjectChange::Added | ObjectChange::Released | ObjectChange::Changed { .. } => {}
    }
    if object.object.holds_data() {
        line.push_str("; WHAT IT HOLDS IS LOST");
    }
    line
}

fn named(object: &ObjectDiff) -> String {
    let name = visible(&object.object.to_string());
    match &object.app {
        Some(app) => format!("{name} ({app})"),
        None => name,
    }
}

/// `~ Deployment shop/web (payments/checkout) on eu-a, eu-b; restarts pods`.
pub(super) fn object_line(object: &ObjectDiff) -> String {
    let name = format!("{} on {}", named(object), short_list(&object.clusters));
    match &object.change {
        ObjectChange::Added => format!("+ {name}"),
        ObjectChange::Removed { .. } => format!("- {name}"),
        ObjectChange::Released => format!("  {name}: no longer managed, stays in the cluster"),
        ObjectChange::Changed { restarts, from_app, .. } => {
            let restarts = if *restarts { "; restarts pods" } else { "" };
            let from = from_app.as_ref().map(|app| format!("; was of {app}")).unwrap_or_default();
            format!("~ {name}{from}{restarts}")
        }
        ObjectChange::Replaced { from, .. } => format!("~ {name}; replaces {from}"),
    }
}

/// The lines of all fields that differ.
pub(super) fn field_lines(object: &ObjectDiff) -> Vec<String> {
    match &object.change {
        ObjectChange::Added | ObjectChange::Removed { .. } | ObjectChange::Released => Vec::new(),
        ObjectChange::Changed { fields, .. } | ObjectChange::Replaced { fields, .. } => {
            fields.iter().flat_map(change_lines).collect()
        }
    }
}

fn lines(rows: Vec<Row>) -> Vec<Vec<String>> {
    rows.into_iter().map(|(cluster, cells)| std::iter::once(cluster).chain(cells).collect()).collect()
}

/// Cluster by cluster, with a head.
pub(super) fn impact_rows(impact: &[ClusterImpact], all: bool) -> Vec<Vec<String>> {
    let head = ["cluster", "objects", "added", "changed", "scaled", "deleted", "replicas +", "replicas -"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let of = |of: &ClusterImpact| {
        let counts =
            [of.objects_before, of.added, of.changed, of.scaled, of.removed, of.replicas_added, of.replicas_removed];
        (of.cluster.to_string(), counts.map(|count| count.to_string()).to_vec())
    };
    rows.extend(lines(by_cluster(impact.iter().map(of).collect(), all)));
    rows
}
