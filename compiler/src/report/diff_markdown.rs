//! A diff as one comment of a pull request: verdict and counts first, then what is refused and deleted, then what moves,
//! then the rest.
//!
//! Bounded: GitHub takes 65,536 characters. What does not fit is counted, never cut inside a block; the summary and what
//! is refused come first, so they are always there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::diff_text::{
    OVER_BUDGET, all_causes, counts, deletion, field_lines, heads, impact_rows, joined, object_line, summary,
};
use super::values::visible;
use crate::diff::{AppChange, AppDiff, FleetDiff, ObjectChange, ObjectDiff, WorkloadDiff};

/// The most bytes of a comment; bytes are never fewer than characters.
const MOST: usize = 60_000;
/// Room that each section leaves for those that follow.
const RESERVE: usize = 1_500;
/// The most lines that one object may take.
const MOST_LINES: usize = 120;
/// The most characters of one line.
const MOST_CHARS: usize = 300;

/// The comment. It begins with a marker by which a later one finds and replaces it.
#[must_use]
pub fn diff_markdown(diff: &FleetDiff) -> String {
    let mut page = Page { text: "<!-- fleetwright-diff -->\n".to_owned() };
    let verdict = if diff.errors.is_empty() { "" } else { "refused; " };
    let _ = writeln!(page.text, "**fleetwright:** {verdict}{}", escape(&summary(diff)));

    for line in heads(diff) {
        let _ = writeln!(page.text, "\n{}", escape(&visible(&line)));
    }

    let errors = diff.errors.iter().map(|s| format!("- {}: {}\n", code(&s.app), escape(&s.shortfall.to_string())));
    page.list(
        "Refused: over the team's quota or no longer surviving what they must, and not so before",
        errors.collect(),
        6,
    );
    let deleted = diff.objects.iter().filter(|object| object.change.deletes());
    page.list("Deleted", deleted.map(|object| format!("- {}\n", code(&deletion(object)))).collect(), 5);
    page.list(
        OVER_BUDGET,
        diff.over_budget.iter().map(|over| format!("- {}\n", escape(&over.to_string()))).collect(),
        5,
    );
    let clusters = diff.clusters.iter().map(|c| format!("- {}: {}\n", code(&c.cluster), escape(&joined(&c.edits))));
    page.list("Clusters", clusters.collect(), 4);
    page.table(
        "Placements",
        "| app | workload | before | after | clusters | why |\n|---|---|--:|--:|---|---|\n",
        placements(diff),
        3,
    );
    let steps = diff.steps.iter().map(|steps| format!("- {}\n", escape(&steps.to_string())));
    page.list("In steps", steps.collect(), 3);
    let rules = diff.rules.iter().map(|rule| format!("- {}\n", escape(&visible(&rule.to_string()))));
    page.list("Rules", rules.collect(), 3);
    let shortfalls =
        diff.new_shortfalls.iter().map(|s| format!("- {}: {}\n", code(&s.app), escape(&s.shortfall.to_string())));
    page.list("Not possible any more", shortfalls.collect(), 3);
    let solved =
        diff.solved_shortfalls.iter().map(|s| format!("- {}: {}\n", code(&s.app), escape(&s.shortfall.to_string())));
    page.list("Solved", solved.collect(), 3);
    let warnings = diff.new_warnings.iter().map(|w| {
        let path = w.path.as_deref().map(|path| format!("{}: ", code(path))).unwrap_or_default();
        format!("- {} {path}{}\n", w.code, escape(&w.message))
    });
    page.list("New warnings", warnings.collect(), 2);
    let mut impact = impact_rows(&diff.impact, false).into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let head = impact.next().unwrap_or_default();
    page.table("By cluster", &format!("{head}|---|--:|--:|--:|--:|--:|--:|--:|\n"), impact.collect(), 1);
    page.details("Objects", objects(diff));
    page.text
}

/// One row for each workload; for an app without workloads that came, went or moved, one row for the app.
fn placements(diff: &FleetDiff) -> Vec<String> {
    let mut rows = Vec::new();
    for app in &diff.placements {
        rows.extend(app.workloads.iter().map(|workload| workload_row(app, workload)));
        if app.workloads.is_empty() {
            let clusters = app.clusters_added.iter().map(|c| format!("+{c}"));
            let clusters: Vec<String> = clusters.chain(app.clusters_removed.iter().map(|c| format!("-{c}"))).collect();
            let why = match app.change {
                AppChange::Added => "new app",
                AppChange::Removed => "app removed",
                AppChange::Changed => "",
            };
            rows.push(format!("| {} | | | | {} | {why} |\n", named(app), shortened(&clusters)));
        }
    }
    rows
}

fn workload_row(app: &AppDiff, workload: &WorkloadDiff) -> String {
    let clusters: Vec<String> =
        workload.clusters.iter().map(|row| format!("{} {}", row.cluster, counts(row, workload.counted))).collect();
    let WorkloadDiff { workload: key, before, after, .. } = workload;
    let why = escape(&clipped(&all_causes(workload)));
    format!("| {} | {} | {before} | {after} | {} | {why} |\n", named(app), cell(key), shortened(&clusters))
}

/// An app, and the name it had.
fn named(app: &AppDiff) -> String {
    match &app.renamed_from {
        Some(was) => format!("{} (was {})", cell(&app.app), cell(was)),
        None => cell(&app.app),
    }
}

/// Up to eight entries and how many more.
fn shortened(entries: &[String]) -> String {
    const LISTED: usize = 8;
    let (listed, rest) = entries.split_at(entries.len().min(LISTED));
    let text = escape(&listed.join(", "));
    if rest.is_empty() { text } else { format!("{text} … and {} more", rest.len()) }
}

/// What there is to see of objects, by app: a title and its blocks.
fn objects(diff: &FleetDiff) -> Vec<(String, Vec<String>)> {
    let mut apps: BTreeMap<Option<&str>, Vec<&ObjectDiff>> = BTreeMap::new();
    for object in diff.objects.iter().filter(|o| !matches!(o.change, ObjectChange::Removed { .. })) {
        apps.entry(object.app.as_deref()).or_default().push(object);
    }
    let titled = apps.into_iter().map(|(app, objects)| {
        let count = if objects.len() == 1 { "1 change".to_owned() } else { format!("{} changes", objects.len()) };
        let title = format!("{}: {count}", html(app.unwrap_or("generated Namespaces")));
        (title, objects.into_iter().map(object_block).collect())
    });
    titled.collect()
}

/// One object: its line, and what differs in a fenced block.
fn object_block(object: &ObjectDiff) -> String {
    let lines = field_lines(object);
    let mut block = format!("{}\n\n", code(object_line(object).trim_start()));
    if lines.is_empty() {
        return block;
    }
    let mut shown: Vec<String> = lines.iter().take(MOST_LINES).map(|line| clipped(line)).collect();
    if lines.len() > MOST_LINES {
        shown.push(format!("  … and {} more lines", lines.len() - MOST_LINES));
    }
    let fence = "`".repeat(longest_run(&shown.join("\n")).max(2) + 1);
    let _ = write!(block, "{fence}diff\n{}\n{fence}\n\n", shown.join("\n"));
    block
}

/// The comment as far as it is written.
struct Page {
    text: String,
}

impl Page {
    /// A list under a title; `later` sections still follow.
    fn list(&mut self, title: &str, entries: Vec<String>, later: usize) {
        self.table(title, "", entries, later);
    }

    /// Rows under a title and a head.
    fn table(&mut self, title: &str, head: &str, rows: Vec<String>, later: usize) {
        if rows.is_empty() {
            return;
        }
        let _ = write!(self.text, "\n#### {title}\n\n{head}");
        let mut left = rows.len();
        for row in &rows {
            if !self.fits(row, later) {
                break;
            }
            self.text.push_str(row);
            left -= 1;
        }
        if left > 0 {
            let _ = write!(self.text, "\n… and {left} more\n");
        }
    }

    /// Blocks that unfold, each title with its own.
    fn details(&mut self, title: &str, entries: Vec<(String, Vec<String>)>) {
        if entries.is_empty() {
            return;
        }
        let _ = write!(self.text, "\n#### {title}\n\n");
        let mut left: usize = entries.iter().map(|(_, blocks)| blocks.len()).sum();
        for (summary, blocks) in &entries {
            let opening = format!("<details><summary>{summary}</summary>\n\n");
            let mut opened = false;
            for block in blocks {
                let more = if opened { block.len() } else { block.len() + opening.len() };
                // what is too large is left out, what is smaller may still find its place
                if self.text.len() + more + RESERVE > MOST {
                    continue;
                }
                if !opened {
                    self.text.push_str(&opening);
                    opened = true;
                }
                self.text.push_str(block);
                left -= 1;
            }
            if opened {
                self.text.push_str("</details>\n");
            }
        }
        if left > 0 {
            let _ = write!(self.text, "\n… and {left} more changes of objects, which `fleetwright diff` shows\n");
        }
    }

    fn fits(&self, row: &str, later: usize) -> bool {
        self.text.len() + row.len() + RESERVE * (later + 1) <= MOST
    }
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => {
            format!(
                "{} … and {} more characters",
                line.get(..at).unwrap_or_default(),
                line.chars().count() - MOST_CHARS
            )
        }
        None => line.to_owned(),
    }
}

/// A name as code inside a table, where a `|` would end the cell.
fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// A name as code.
fn code(text: &str) -> String {
    let text = clipped(&visible(text));
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text that means nothing to Markdown, and calls nobody by name.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '@' => escaped.push_str("&#64;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '#' | '\\' | '~' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text inside an HTML element.
fn html(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
