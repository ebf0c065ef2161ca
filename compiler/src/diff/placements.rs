//! Which replicas come, go and move. Numbers are those that manifests state: shares and overrides of replicas included.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::Serialize;

use super::cause::Why;
use super::clusters::{ClusterDiff, by_name};
use super::why::Whys;
use crate::Compiled;
use crate::base::{AppId, SmolStr};
use crate::kinds::replicas::{Counts, WorkloadKind};
use crate::model::Workload;
use crate::plan::{Fill, PlannedObject};

/// The placements of an app that differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppDiff {
    /// `team/app`.
    pub app: String,
    /// Whether the app itself came or went.
    pub change: AppChange,
    /// The name it had before, `team/app`, where it is another (`previousNames`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
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
type Where<'c> = BTreeMap<&'c SmolStr, BTreeMap<&'c SmolStr, Count>>;

/// All apps whose placements differ, by (team, app).
pub(super) fn app_diffs(base: &Compiled, head: &Compiled, clusters: &[ClusterDiff]) -> Vec<AppDiff> {
    let edits = by_name(clusters);
    let names =
        |compiled: &Compiled| -> Vec<SmolStr> { compiled.fleet.clusters.iter().map(|c| c.name.clone()).collect() };
    let same_clusters = names(base) == names(head);
    let pairs: Vec<((&str, &str), Pair)> = pairs(base, head).into_iter().collect();
    let diffs = pairs.into_par_iter().filter_map(|((team, app), (before, after))| {
        if let (true, Some(before), Some(after)) = (same_clusters, before, after)
            && is_unmoved(base, head, before, after)
            && name(base, before) == (team, app)
        {
            return None;
        }
        app_diff(format!("{team}/{app}"), &Whys::new(base, head, before, after, &edits))
    });
    diffs.collect()
}

/// Whether an app is surely where it was, told by its plan without looking at names. Only where both fleets have the
/// same clusters, so that their ids mean the same.
fn is_unmoved(base: &Compiled, head: &Compiled, before: AppId, after: AppId) -> bool {
    fn planned(compiled: &Compiled, id: AppId) -> &[PlannedObject] {
        compiled.plan.apps.get(id.index()).map_or(&[], |plan| plan.objects.as_slice())
    }
    let facts = |compiled: &Compiled, id: AppId| -> Vec<(SmolStr, usize, Option<Counts>)> {
        let app = compiled.fleet.app(id);
        let counts = |w: &Workload| app.objects.get(w.object).map(|object| object.facts.counts);
        app.workloads.iter().map(|w| (w.key.clone(), w.object, counts(w))).collect()
    };
    let states_counts = |compiled: &Compiled, id: AppId| {
        let variants = compiled.variants.apps.get(id.index());
        variants.into_iter().flat_map(|app| &app.variants).flat_map(|v| &v.workloads).any(|w| w.replicas.is_some())
    };
    let has_job = base.fleet.app(before).workloads.iter().any(|w| w.kind == WorkloadKind::Job);
    !has_job
        && !states_counts(base, before)
        && !states_counts(head, after)
        && facts(base, before) == facts(head, after)
        && planned(base, before) == planned(head, after)
}

fn app_diff(name: String, whys: &Whys<'_>) -> Option<AppDiff> {
    let was = whys.before.map(|id| placed(whys.base, id)).unwrap_or_default();
    let is = whys.after.map(|id| placed(whys.head, id)).unwrap_or_default();
    let only = |a: &BTreeSet<&SmolStr>, b: &BTreeSet<&SmolStr>| a.difference(b).map(|c| (*c).clone()).collect();
    let diff = AppDiff {
        renamed_from: whys.before.map(|id| whys.base.fleet.app_name(id)).filter(|was| *was != name),
        app: name,
        change: match (whys.before, whys.after) {
            (None, _) => AppChange::Added,
            (_, None) => AppChange::Removed,
            (Some(_), Some(_)) => AppChange::Changed,
        },
        clusters_added: only(&is.clusters, &was.clusters),
        clusters_removed: only(&was.clusters, &is.clusters),
        workloads: workload_diffs(&was.counts, &is.counts, whys),
    };
    let says_something = diff.change != AppChange::Changed
        || diff.renamed_from.is_some()
        || !diff.workloads.is_empty()
        || !diff.clusters_added.is_empty()
        || !diff.clusters_removed.is_empty();
    says_something.then_some(diff)
}

type Pair = (Option<AppId>, Option<AppId>);

/// Apps of either by (team, app). One that had another name before is the app of that name, where it is gone.
pub(super) fn pairs<'c>(base: &'c Compiled, head: &'c Compiled) -> BTreeMap<(&'c str, &'c str), Pair> {
    let mut pairs: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    for id in base.fleet.app_ids() {
        pairs.entry(name(base, id)).or_default().0 = Some(id);
    }
    for id in head.fleet.app_ids() {
        pairs.entry(name(head, id)).or_default().1 = Some(id);
    }
    for id in head.fleet.app_ids() {
        let own = name(head, id);
        if pairs.get(&own).is_none_or(|pair| pair.0.is_some()) {
            continue;
        }
        let old = head.fleet.app(id).previous_names.iter().map(|(team, app)| (team.as_str(), app.as_str()));
        // an app that is there has none of these names
        let was = old.filter_map(|old| pairs.remove(&old)).next();
        if let (Some((before, _)), Some(pair)) = (was, pairs.get_mut(&own)) {
            pair.0 = before;
        }
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
    pub(crate) counts: Where<'c>,
}

/// Where an app is, with the numbers that its manifests state.
pub(crate) fn placed(compiled: &Compiled, id: AppId) -> Placed<'_> {
    let app = compiled.fleet.app(id);
    let mut placed = Placed::default();
    // a set has several
    let mut workloads: BTreeMap<usize, Vec<(usize, &Workload)>> = BTreeMap::new();
    app.workloads.iter().enumerate().for_each(|(at, w)| workloads.entry(w.object).or_default().push((at, w)));
    // a workload that is nowhere is there all the same, with nothing
    placed.counts.extend(app.workloads.iter().map(|w| (&w.key, BTreeMap::new())));
    for planned in compiled.plan.apps.get(id.index()).into_iter().flat_map(|plan| &plan.objects) {
        let cluster = &compiled.fleet.cluster(planned.cluster).name;
        placed.clusters.insert(cluster);
        for workload in workloads.get(&(planned.object as usize)).into_iter().flatten() {
            let count = count(compiled, id, *workload, planned);
            placed.counts.entry(&workload.1.key).or_default().insert(cluster, count);
        }
    }
    placed
}

/// What the manifest of a workload states in a cluster.
fn count(compiled: &Compiled, id: AppId, (index, workload): (usize, &Workload), planned: &PlannedObject) -> Count {
    if workload.part.is_some() {
        let variant = compiled.variants.apps.get(id.index()).map(|variants| variants.of(planned.cluster));
        let written = variant.and_then(|v| v.workloads.get(index)).and_then(|w| w.replicas);
        return Count { replicas: written.unwrap_or(workload.replicas), completions: None };
    }
    if !workload.kind.is_counted() {
        return Count { replicas: 1, completions: None };
    }
    match planned.fill {
        Fill::Share { replicas: Some(replicas), completions: completions @ Some(_) } => Count { replicas, completions },
        Fill::Owned { replicas } => Count { replicas, completions: None },
        // An autoscaler is no workload.
        Fill::Bounds { min, max: _ } => Count { replicas: min, completions: None },
        Fill::Share { replicas: Some(replicas), completions: None } if workload.kind != WorkloadKind::Job => {
            Count { replicas, completions: None }
        }
        Fill::Share { replicas: filled, completions: parts } => {
            let stated = stated(compiled, id, (index, workload), planned);
            Count { replicas: filled.unwrap_or(stated.replicas), completions: parts.or(stated.completions) }
        }
        Fill::AsIs => stated(compiled, id, (index, workload), planned),
    }
}

/// What the object says before anything is filled in.
fn stated(compiled: &Compiled, id: AppId, (index, workload): (usize, &Workload), planned: &PlannedObject) -> Count {
    let variant = compiled.variants.apps.get(id.index()).map(|variants| variants.of(planned.cluster));
    let written = variant.and_then(|v| v.workloads.get(index)).and_then(|w| w.replicas);
    let object = compiled.fleet.app(id).objects.get(workload.object);
    let mut counts = object.map(|object| object.facts.counts).unwrap_or_default();
    if workload.kind == WorkloadKind::Job {
        // an override of completions is in the text alone
        let templates = compiled.variants.objects(&compiled.fleet, id, planned.cluster);
        let template = templates.get(workload.object);
        counts = template.and_then(|t| workload.kind.counts(&t.value()).ok()).unwrap_or(counts);
    }
    Count { replicas: written.or(counts.replicas).unwrap_or(1), completions: counts.completions }
}

fn workload_diffs(was: &Where<'_>, is: &Where<'_>, whys: &Whys<'_>) -> Vec<WorkloadDiff> {
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
