//! Which replicas come, go and move. Numbers are those that manifests state: shares and overrides of replicas included.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::clusters::ClusterDiff;
use super::why::{Why, Whys};
use crate::Compiled;
use crate::base::{AppId, SmolStr};
use crate::model::{App, Workload};
use crate::plan::{Fill, PlannedObject};

/// The placements of an app that differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppDiff {
    /// `team/app`.
    pub app: String,
    /// Whether the app itself came or went.
    pub change: AppChange,
    /// Clusters that get objects of it and got none, by name.
    pub clusters_added: Vec<SmolStr>,
    /// Clusters that got objects of it and get none, by name.
    pub clusters_removed: Vec<SmolStr>,
    /// Its workloads whose counts differ, by key.
    pub workloads: Vec<WorkloadDiff>,
}

/// Whether an app came or went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum AppChange {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It stays.
    Changed,
}

/// A workload whose counts differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDiff {
    /// `apps/Deployment/web`.
    pub workload: SmolStr,
    /// Whether its kind states replicas (or a Job's parallelism). Of others (DaemonSets, CronJobs, Pods) each cluster that
    /// has it counts 1.
    pub counted: bool,
    /// Replicas in all clusters before.
    pub before: u64,
    /// Replicas in all clusters after.
    pub after: u64,
    /// The clusters whose count differs, by name.
    pub clusters: Vec<CountChange>,
    /// Why, as far as it concerns the workload as a whole.
    pub why: Vec<Why>,
}

/// The count of a workload in one cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CountChange {
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas before; none where it was not there.
    pub before: Option<u32>,
    /// Replicas after; none where it will not be there.
    pub after: Option<u32>,
    /// A Job's completions before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions_before: Option<u32>,
    /// A Job's completions after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions_after: Option<u32>,
    /// Why, as far as it concerns this cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Why>,
}

/// What one manifest states. Of a kind without a count, one manifest is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Count {
    /// Replicas, or a Job's parallelism.
    pub(crate) replicas: u32,
    /// A Job's completions.
    pub(crate) completions: Option<u32>,
}

/// Where an app's workloads are: by workload key, then cluster.
type Counts<'c> = BTreeMap<&'c SmolStr, BTreeMap<&'c SmolStr, Count>>;

/// All apps whose placements differ, by (team, app).
pub(super) fn app_diffs(base: &Compiled, head: &Compiled, clusters: &[ClusterDiff]) -> Vec<AppDiff> {
    let mut diffs = Vec::new();
    for ((team, app), (before, after)) in pairs(base, head) {
        let whys = Whys::new(base, head, before, after, clusters);
        let was = before.map(|id| placed(base, id)).unwrap_or_default();
        let is = after.map(|id| placed(head, id)).unwrap_or_default();
        let workloads = workload_diffs(&was.counts, &is.counts, &whys);
        let change = match (before, after) {
            (None, _) => AppChange::Added,
            (_, None) => AppChange::Removed,
            (Some(_), Some(_)) => AppChange::Changed,
        };
        let only = |a: &BTreeSet<&SmolStr>, b: &BTreeSet<&SmolStr>| a.difference(b).map(|c| (*c).clone()).collect();
        let diff = AppDiff {
            app: format!("{team}/{app}"),
            change,
            clusters_added: only(&is.clusters, &was.clusters),
            clusters_removed: only(&was.clusters, &is.clusters),
            workloads,
        };
        let says_something = change != AppChange::Changed
            || !diff.workloads.is_empty()
            || !diff.clusters_added.is_empty()
            || !diff.clusters_removed.is_empty();
        if says_something {
            diffs.push(diff);
        }
    }
    diffs
}

type Pair = (Option<AppId>, Option<AppId>);

/// Apps of either by (team, app).
pub(super) fn pairs<'c>(base: &'c Compiled, head: &'c Compiled) -> BTreeMap<(&'c str, &'c str), Pair> {
    let mut pairs: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    for id in base.fleet.app_ids() {
        pairs.entry(name(base, id)).or_default().0 = Some(id);
    }
    for id in head.fleet.app_ids() {
        pairs.entry(name(head, id)).or_default().1 = Some(id);
    }
    pairs
}

fn name(compiled: &Compiled, id: AppId) -> (&str, &str) {
    let app = compiled.fleet.app(id);
    (compiled.fleet.team(app.team).name.as_str(), app.name.as_str())
}

/// Where an app is.
#[derive(Default)]
pub(crate) struct Placed<'c> {
    /// Clusters that get any of its objects.
    pub(crate) clusters: BTreeSet<&'c SmolStr>,
    /// Its workloads; one that is nowhere is there with no cluster.
    pub(crate) counts: Counts<'c>,
}

/// Where an app is, with the numbers that its manifests state.
pub(crate) fn placed(compiled: &Compiled, id: AppId) -> Placed<'_> {
    let app = compiled.fleet.app(id);
    let mut placed = Placed::default();
    let workloads: BTreeMap<usize, &Workload> = app.workloads.iter().map(|w| (w.object, w)).collect();
    // a workload that is nowhere is there all the same, with nothing
    placed.counts.extend(app.workloads.iter().map(|w| (&w.key, BTreeMap::new())));
    for planned in compiled.plan.apps.get(id.index()).into_iter().flat_map(|plan| &plan.objects) {
        let cluster = &compiled.fleet.cluster(planned.cluster).name;
        placed.clusters.insert(cluster);
        if let Some(workload) = workloads.get(&(planned.object as usize)) {
            let count = count(compiled, id, app, workload, planned);
            placed.counts.entry(&workload.key).or_default().insert(cluster, count);
        }
    }
    placed
}

/// What the manifest of a workload states in a cluster.
fn count(compiled: &Compiled, id: AppId, app: &App, workload: &Workload, planned: &PlannedObject) -> Count {
    if workload.kind.replicas_field().is_none() {
        return Count { replicas: 1, completions: None };
    }
    match planned.fill {
        Fill::Share { replicas, completions } => Count { replicas, completions },
        Fill::AsIs => {
            let templates = compiled.variants.objects(&compiled.fleet, id, planned.cluster);
            let template = templates.get(planned.object as usize);
            let counts = template.and_then(|template| workload.kind.counts(&template.value()).ok());
            let counts = counts.or_else(|| app.objects.get(workload.object).map(|object| object.facts.counts));
            let counts = counts.unwrap_or_default();
            Count { replicas: counts.replicas.unwrap_or(1), completions: counts.completions }
        }
    }
}

fn workload_diffs(was: &Counts<'_>, is: &Counts<'_>, whys: &Whys<'_>) -> Vec<WorkloadDiff> {
    let keys: BTreeSet<&SmolStr> = was.keys().chain(is.keys()).copied().collect();
    let none = BTreeMap::new();
    let mut diffs = Vec::new();
    for key in keys {
        let (before, after) = (was.get(key).unwrap_or(&none), is.get(key).unwrap_or(&none));
        let clusters: BTreeSet<&SmolStr> = before.keys().chain(after.keys()).copied().collect();
        let differ = clusters.into_iter().filter(|c| before.get(*c) != after.get(*c));
        let mut rows: Vec<CountChange> = differ
            .map(|cluster| {
                let (before, after) = (before.get(cluster), after.get(cluster));
                CountChange {
                    cluster: cluster.clone(),
                    before: before.map(|count| count.replicas),
                    after: after.map(|count| count.replicas),
                    completions_before: before.and_then(|count| count.completions),
                    completions_after: after.and_then(|count| count.completions),
                    why: Vec::new(),
                }
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        let why = whys.of(key, &mut rows);
        let total = |counts: &BTreeMap<&SmolStr, Count>| counts.values().map(|count| u64::from(count.replicas)).sum();
        diffs.push(WorkloadDiff {
            workload: key.clone(),
            counted: whys.is_counted(key),
            before: total(before),
            after: total(after),
            clusters: rows,
            why,
        });
    }
    diffs
}
