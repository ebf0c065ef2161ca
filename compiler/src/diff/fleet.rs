//! The whole of a diff.

use std::collections::BTreeSet;

use serde::Serialize;

use super::clusters::{ClusterDiff, cluster_diffs};
use super::impact::{ClusterImpact, OverBudget, impacts, over_budget};
use super::objects::{ObjectDiff, object_diffs};
use super::placements::{AppDiff, app_diffs};
use super::provenance::Provenance;
use super::rules::{RuleChange, rule_changes};
use super::shortfall::{AppShortfall, Guard, Shortfall};
use super::steps::{StepsReport, to_make};
use crate::Compiled;
use crate::diag::{Code, Diagnostic, Place, codes};

/// What differs between two compiles. Every list is sorted.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetDiff {
    /// What it starts from, as people call it, with the commit. Whoever opened it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Provenance>,
    /// The record that counts for what is compared, where that lies elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Provenance>,
    /// Apps that a team's quota refuses now and did not refuse before, or that no longer state what it counts, and apps that no
    /// longer survive what they must. A
    /// person's change caused that, so a diff with any of these fails (exit code 3). They are among `new_shortfalls` too.
    pub errors: Vec<AppShortfall>,
    /// Deletions beyond `limits.deletions`: when this is applied, nothing is deleted there until a person approves it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_budget: Vec<OverBudget>,
    /// Clusters that came, went, or are not what they were.
    pub clusters: Vec<ClusterDiff>,
    /// Replicas that come, go or move, by app.
    pub placements: Vec<AppDiff>,
    /// Which of that the decider makes in steps, by app.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepsReport>,
    /// Rules of the reconciler that change: of the Fleet, of clusters, teams and apps, each by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleChange>,
    /// Objects that come, go or change: each change once, with the clusters it is made in. The counts that placements
    /// state (`spec.replicas`, a Job's `parallelism` and `completions`) are not repeated here.
    pub objects: Vec<ObjectDiff>,
    /// How much of each cluster is touched; clusters where nothing is are left out.
    pub impact: Vec<ClusterImpact>,
    /// What could be done before and cannot now.
    pub new_shortfalls: Vec<AppShortfall>,
    /// What could not be done before and can now, or is no longer asked for.
    pub solved_shortfalls: Vec<AppShortfall>,
    /// Warnings that were not there before, but for those about shortfalls.
    pub new_warnings: Vec<NewWarning>,
    /// Objects in clusters that stay as they are.
    pub unchanged_objects: u64,
    /// Objects in clusters that are written in another way and mean the same.
    pub rewritten_objects: u64,
}

/// A warning that was not there before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewWarning {
    /// The file it is about, if it is about one.
    pub path: Option<String>,
    /// Its code: `FW1137`.
    pub code: String,
    /// What it says.
    pub message: String,
}

/// Compares two compiles. Best done with results of one [`Session`](crate::Session): equal objects are then found equal
/// without being read.
#[must_use]
pub fn diff(base: &Compiled, head: &Compiled) -> FleetDiff {
    let clusters = cluster_diffs(base, head);
    let placements = app_diffs(base, head, &clusters);
    let (objects, tally) = object_diffs(base, head);
    let impact = impacts(&placements, &tally);
    let before: BTreeSet<AppShortfall> = Shortfall::all(base).into_iter().collect();
    let after: BTreeSet<AppShortfall> = Shortfall::all(head).into_iter().collect();
    let broken = |s: &AppShortfall| Some((s.app.clone(), s.shortfall.guard()?));
    let broken_before: BTreeSet<(String, Guard)> = before.iter().filter_map(broken).collect();
    let is_new = |s: &&AppShortfall| broken(s).is_some_and(|broken| !broken_before.contains(&broken));
    let errors = after.iter().filter(is_new).cloned().collect();
    FleetDiff {
        base: None,
        record: None,
        errors,
        over_budget: over_budget(head, &tally),
        clusters,
        placements,
        steps: {
            let before = to_make(base);
            to_make(head).into_iter().filter(|steps| !before.contains(steps)).collect()
        },
        rules: rule_changes(base, head),
        objects,
        impact,
        new_shortfalls: beyond(&after, &before),
        solved_shortfalls: beyond(&before, &after),
        new_warnings: new_warnings(base, head),
        unchanged_objects: tally.unchanged,
        rewritten_objects: tally.rewritten,
    }
}

/// What is in one and not in the other, whatever clusters lack for it.
fn beyond(these: &BTreeSet<AppShortfall>, those: &BTreeSet<AppShortfall>) -> Vec<AppShortfall> {
    let bare = |of: &AppShortfall| AppShortfall { app: of.app.clone(), shortfall: of.shortfall.bare() };
    let those: BTreeSet<AppShortfall> = those.iter().map(bare).collect();
    these.iter().filter(|of| !those.contains(&bare(of))).cloned().collect()
}

impl FleetDiff {
    /// Whether there is nothing to tell: nothing moves, no object differs in meaning, nothing new is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            base: _,
            record: _,
            errors,
            over_budget: _,
            clusters,
            placements,
            // of placements that change
            steps: _,
            rules,
            objects,
            impact: _,
            new_shortfalls,
            solved_shortfalls,
            new_warnings,
            unchanged_objects: _,
            rewritten_objects: _,
        } = self;
        errors.is_empty()
            && clusters.is_empty()
            && placements.is_empty()
            && rules.is_empty()
            && objects.is_empty()
            && new_shortfalls.is_empty()
            && solved_shortfalls.is_empty()
            && new_warnings.is_empty()
    }
}

/// Codes of diagnostics that say what shortfalls say.
const OF_SHORTFALLS: [Code; 8] = [
    codes::placement::GAVE_WAY,
    codes::placement::GROUP_BROKEN,
    codes::placement::LAPSE,
    codes::placement::UNPLACED,
    codes::placement::SPREAD_UNMET,
    codes::placement::NO_WEIGHT_MATCHES,
    codes::rights::OVER_QUOTA,
    codes::rights::QUOTA_NEEDS_REQUESTS,
];

/// Warnings of the one that the other lacks. Compared without their places in the file: a line that moved is no news.
fn new_warnings(base: &Compiled, head: &Compiled) -> Vec<NewWarning> {
    let known: BTreeSet<NewWarning> = warnings(base).collect();
    let all: BTreeSet<NewWarning> = warnings(head).filter(|warning| !known.contains(warning)).collect();
    all.into_iter().collect()
}

fn warnings(compiled: &Compiled) -> impl Iterator<Item = NewWarning> {
    compiled.diagnostics.iter().filter(|d| !OF_SHORTFALLS.contains(&d.code)).map(|diagnostic: &Diagnostic| NewWarning {
        path: match &diagnostic.place {
            Place::Call => None,
            Place::Path(path) => Some(path.clone()),
            Place::File(file) | Place::Span(file, _) => path_of(compiled, file.index()),
            Place::Object(origin) => path_of(compiled, origin.file.index()),
        },
        code: diagnostic.code.to_string(),
        message: diagnostic.message.clone(),
    })
}

fn path_of(compiled: &Compiled, file: usize) -> Option<String> {
    compiled.files.get(file).map(|file| file.path.as_str().to_owned())
}
