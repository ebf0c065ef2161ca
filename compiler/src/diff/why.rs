//! Why replicas come, go and move: what differs between the two compiles that bears on it.
//!
//! The scheduler is not asked again. A cause is listed when it differs and replicas moved; several may be at work, and
//! then all are listed.

use std::collections::{BTreeMap, BTreeSet};

use super::cause::{Forced, Why};
use super::clusters::ClusterEdit;
use super::placements::CountChange;
use super::shortfall::Shortfall;
use super::verdict::verdict_text;
use crate::Compiled;
use crate::api::TierMode;
use crate::base::labels::Labels;
use crate::base::taint::Toleration;
use crate::base::{AppId, ClusterId, Resources, SmolStr};
use crate::model::{App, Placement, Replicas, Workload};
use crate::plan::Cause;
use crate::schedule::{Deficit, Verdict};

/// A workload: its app, its place in it, itself.
type Found<'c> = Option<(AppId, usize, &'c Workload)>;

/// What can explain the moves of one app.
pub(super) struct Whys<'c> {
    pub(super) base: &'c Compiled,
    pub(super) head: &'c Compiled,
    /// The app in base.
    pub(super) before: Option<AppId>,
    /// The app in head.
    pub(super) after: Option<AppId>,
    clusters: &'c BTreeMap<&'c SmolStr, &'c [ClusterEdit]>,
}

impl<'c> Whys<'c> {
    pub(super) fn new(
        base: &'c Compiled,
        head: &'c Compiled,
        before: Option<AppId>,
        after: Option<AppId>,
        clusters: &'c BTreeMap<&'c SmolStr, &'c [ClusterEdit]>,
    ) -> Self {
        Self { base, head, before, after, clusters }
    }

    /// Whether the kind of a workload states a count.
    pub(super) fn is_counted(&self, key: &SmolStr) -> bool {
        let (before, after) = self.workloads(key);
        after.or(before).is_some_and(|(_, _, workload)| workload.is_counted())
    }

    /// Why the counts of a workload differ; what concerns one cluster alone is put into its row.
    pub(super) fn of(&self, key: &SmolStr, rows: &mut [CountChange]) -> Vec<Why> {
        let mut whys = Vec::new();
        match (self.apps(), self.workloads(key)) {
            ((None, _), _) => return vec![Why::AppAdded],
            ((_, None), _) => return vec![Why::AppRemoved],
            (_, (None, _)) => return vec![Why::WorkloadAdded],
            (_, (_, None)) => return vec![Why::WorkloadRemoved],
            ((Some(before), Some(after)), (Some((_, at_before, w_before)), Some((after_id, at_after, w_after)))) => {
                self.app_causes(before, after, &mut whys);
                workload_causes(w_before, w_after, &mut whys);
                self.pod_causes(at_before, at_after, rows, &mut whys);
                for row in &mut *rows {
                    row.why = self.cluster_causes(row, after_id, at_after);
                }
            }
        }
        if whys.is_empty() && rows.iter().all(|row| row.why.is_empty()) {
            whys.extend(self.other_causes(rows));
        }
        whys
    }

    fn apps(&self) -> (Option<&'c App>, Option<&'c App>) {
        (self.before.map(|id| self.base.fleet.app(id)), self.after.map(|id| self.head.fleet.app(id)))
    }

    /// The workload of that key in both.
    fn workloads(&self, key: &SmolStr) -> (Found<'c>, Found<'c>) {
        fn find<'c>(compiled: &'c Compiled, id: Option<AppId>, key: &SmolStr) -> Found<'c> {
            let id = id?;
            let found = compiled.fleet.app(id).workloads.iter().enumerate().find(|(_, w)| w.key == *key);
            found.map(|(at, workload)| (id, at, workload))
        }
        (find(self.base, self.before, key), find(self.head, self.after, key))
    }

    /// What the placement of the app says.
    fn app_causes(&self, before: &App, after: &App, whys: &mut Vec<Why>) {
        let (was, is) = (self.candidates(self.base, before), self.candidates(self.head, after));
        // A cluster that came or went is a cause of its own.
        let known =
            |name: &&&SmolStr| self.base.fleet.cluster_id(name).is_some() && self.head.fleet.cluster_id(name).is_some();
        let only = |a: &BTreeSet<&SmolStr>, b: &BTreeSet<&SmolStr>| -> Vec<SmolStr> {
            a.difference(b).filter(known).map(|name| (*name).clone()).collect()
        };
        let (added, removed) = (only(&is, &was), only(&was, &is));
        if !added.is_empty() || !removed.is_empty() {
            note(whys, Why::Clusters { added, removed });
        }
        let (a, b) = (&before.placement, &after.placement);
        if a.spread != b.spread {
            note(whys, Why::Spread);
        }
        if tiers(a) != tiers(b) {
            note(whys, Why::Tiers);
        }
        if (&a.affinity, &a.anti_affinity) != (&b.affinity, &b.anti_affinity) {
            note(whys, Why::Groups);
        }
        if a.tolerations != b.tolerations {
            note(whys, Why::Tolerations);
        }
        if before.priority != after.priority {
            note(whys, Why::Priority);
        }
    }

    fn candidates(&self, compiled: &'c Compiled, app: &App) -> BTreeSet<&'c SmolStr> {
        app.placement.candidates.iter().map(|id| &compiled.fleet.cluster(id).name).collect()
    }

    /// What the pods ask for, and replicas that overrides state, in the clusters whose counts differ.
    fn pod_causes(&self, before: usize, after: usize, rows: &[CountChange], whys: &mut Vec<Why>) {
        for row in rows {
            let (was, is) = (
                Pod::of(self.base, self.before, before, &row.cluster),
                Pod::of(self.head, self.after, after, &row.cluster),
            );
            let (Some(was), Some(is)) = (was, is) else { continue };
            if was.replicas != is.replicas {
                note(whys, Why::Override);
            }
            if was.requests != is.requests {
                note(whys, Why::Requests);
            }
            if was.tolerations != is.tolerations {
                note(whys, Why::Tolerations);
            }
            if was.node_selector != is.node_selector || was.affinity != is.affinity {
                note(whys, Why::NodeSelection);
            }
        }
    }

    /// What concerns one cluster.
    fn cluster_causes(&self, row: &CountChange, after: AppId, workload: usize) -> Vec<Why> {
        let edits = self.clusters.get(&row.cluster).copied().unwrap_or_default();
        let grows = row.after.unwrap_or(0) > row.before.unwrap_or(0);
        let mut whys: Vec<Why> =
            edits.iter().filter(|edit| edit.explains(grows)).map(|edit| Why::Cluster { edit: edit.clone() }).collect();
        let Some(cluster) = self.head.fleet.cluster_id(&row.cluster) else { return whys };
        if row.after < row.before {
            whys.extend(self.verdict(after, cluster).map(|verdict| Why::Verdict { verdict }));
        }
        if whys.is_empty() {
            whys.extend(self.move_cause(after, workload, cluster, row));
        }
        whys
    }

    /// Why the cluster gets nothing, in head.
    fn verdict(&self, app: AppId, cluster: ClusterId) -> Option<String> {
        let target = self.head.target.apps.get(app.index())?;
        target.verdicts.iter().find(|(_, set)| set.contains(cluster)).map(|(verdict, _)| verdict_text(verdict))
    }

    /// The cause of a move in head that base did not have: it is about the same counts.
    fn move_cause(&self, app: AppId, workload: usize, cluster: ClusterId, row: &CountChange) -> Option<Why> {
        let moves = &self.head.plan.apps.get(app.index())?.moves;
        let is_it = |m: &&crate::plan::Move| usize::from(m.workload) == workload && m.cluster == cluster;
        let found = moves.iter().find(is_it).filter(|m| m.before == row.before.unwrap_or(0))?;
        let reason = match found.cause {
            Cause::Lost => "the cluster is supposed lost",
            Cause::Group => "its group is elsewhere, or another of it is there",
            Cause::Room => "elsewhere there is room for more of it",
            Cause::Displaced => "the pool no longer holds them",
            Cause::Refill => "they take the place of replicas that left another cluster, or were short",
            Cause::Taint => "a NoExecute taint is not tolerated",
            Cause::Lifecycle => "the cluster is Draining or Retired",
            Cause::Evicted => "the app is evicted from the cluster",
            // Told by what differs between the two.
            Cause::New | Cause::Total | Cause::Weights | Cause::Intent => return None,
        };
        Some(Why::Move { reason: reason.to_owned() })
    }

    /// What is left when nothing of the app and of its clusters differs.
    fn other_causes(&self, rows: &[CountChange]) -> Vec<Why> {
        let mut whys = Vec::new();
        let (was, is) = (recorded(self.base, self.before), recorded(self.head, self.after));
        // a diff may give head what base decides as its record: then nothing else is on record
        if was != is && decided(self.base, self.before) != is {
            whys.push(Why::Record);
        }
        if let Some(id) = self.after {
            let deficits = self.head.target.apps.get(id.index()).into_iter().flat_map(|target| &target.deficits);
            whys.extend(deficits.map(|d| Why::Shortfall { shortfall: Shortfall::of(&self.head.fleet, id, d) }));
        }
        if whys.is_empty() {
            whys.extend(self.lacked(rows).into_iter().map(|by| Why::Forced { by }));
        }
        if whys.is_empty() {
            whys.push(Why::Others);
        }
        whys
    }

    /// What the app lacked in base.
    fn lacked(&self, rows: &[CountChange]) -> BTreeSet<Forced> {
        let Some(target) = self.before.and_then(|id| self.base.target.apps.get(id.index())) else {
            return BTreeSet::new();
        };
        let mut lacked: BTreeSet<Forced> = target
            .deficits
            .iter()
            .map(|deficit| match deficit {
                Deficit::Quota { .. } => Forced::Quota,
                Deficit::Group { .. } => Forced::Group,
                Deficit::Unplaced { .. }
                | Deficit::GaveWay { .. }
                | Deficit::Spread { .. }
                | Deficit::NoWeightMatches { .. } => Forced::Room,
            })
            .collect();
        for cluster in rows.iter().filter_map(|row| self.base.fleet.cluster_id(&row.cluster)) {
            let verdict = target.verdicts.iter().find(|(_, clusters)| clusters.contains(cluster)).map(|(v, _)| v);
            lacked.extend(verdict.and_then(|verdict| match verdict {
                Verdict::NotWithGroup(_) | Verdict::TakenByGroup(_) => Some(Forced::Group),
                Verdict::NoRoom { .. } | Verdict::NoRoomForSet { .. } => Some(Forced::Room),
                Verdict::Quota => Some(Forced::Quota),
                _ => None,
            }));
        }
        lacked
    }
}

/// Replicas by workload and cluster.
type Seats<'c> = BTreeMap<(&'c SmolStr, &'c SmolStr), u32>;

/// What the record holds of an app.
fn recorded(compiled: &Compiled, app: Option<AppId>) -> Seats<'_> {
    let mut seats = Seats::new();
    let Some(app) = app.map(|id| compiled.fleet.app(id)) else { return seats };
    let name = (compiled.fleet.team(app.team).name.clone(), app.name.clone());
    for (key, workload) in compiled.record.apps.get(&name).into_iter().flat_map(|placed| &placed.workloads) {
        for seat in &workload.seats {
            let replicas = seats.entry((key, &seat.cluster)).or_default();
            *replicas = replicas.saturating_add(seat.replicas);
        }
    }
    seats
}

/// What a compile decides for an app.
fn decided(compiled: &Compiled, app: Option<AppId>) -> Seats<'_> {
    let mut seats = Seats::new();
    let Some(id) = app else { return seats };
    let target = compiled.target.apps.get(id.index());
    for seat in target.into_iter().flat_map(|target| &target.seats) {
        let Some(workload) = compiled.fleet.app(id).workloads.get(usize::from(seat.workload)) else { continue };
        let replicas = seats.entry((&workload.key, &compiled.fleet.cluster(seat.cluster).name)).or_default();
        *replicas = replicas.saturating_add(seat.replicas);
    }
    seats
}

/// Mode and names of tiers. Which clusters are in them is told by the clusters themselves.
fn tiers(placement: &Placement) -> Option<(TierMode, Vec<&SmolStr>)> {
    placement.tiers.as_ref().map(|tiers| (tiers.mode, tiers.groups.iter().map(|tier| &tier.name).collect()))
}

/// Adds a cause once.
fn note(whys: &mut Vec<Why>, why: Why) {
    if !whys.contains(&why) {
        whys.push(why);
    }
}

/// What the workload says.
fn workload_causes(before: &Workload, after: &Workload, whys: &mut Vec<Why>) {
    if before.replicas != after.replicas {
        note(whys, Why::Total { before: before.replicas, after: after.replicas });
    }
    if before.completions != after.completions {
        note(whys, Why::Completions { before: before.completions, after: after.completions });
    }
    // How an autoscaler is counted shows in the replicas; whose estimates count is part of the digest.
    let Replicas { strategy, total: _, weights, weigh_by: _, capacity, min, max, autoscaled: _, digest } =
        &before.policy;
    let policy = &after.policy;
    if *strategy != policy.strategy {
        note(whys, Why::Strategy { before: *strategy, after: policy.strategy });
    } else if *digest != policy.digest || weights.is_some() != policy.weights.is_some() {
        note(whys, Why::Weights);
    }
    if (min, max) != (&policy.min, &policy.max) {
        note(whys, Why::PerCluster);
    }
    if *capacity != policy.capacity {
        note(whys, Why::Capacity { before: *capacity, after: policy.capacity });
    }
}

/// What the pods of a workload ask for in a cluster.
struct Pod<'c> {
    replicas: Option<u32>,
    requests: Option<&'c Resources>,
    tolerations: Option<&'c [Toleration]>,
    node_selector: Option<&'c Labels>,
    affinity: Option<&'c crate::kinds::pod::RequiredAffinity>,
}

impl<'c> Pod<'c> {
    fn of(compiled: &'c Compiled, app: Option<AppId>, workload: usize, cluster: &str) -> Option<Self> {
        let cluster = compiled.fleet.cluster_id(cluster)?;
        let variant = compiled.variants.apps.get(app?.index())?.of(cluster).workloads.get(workload)?;
        let pod = variant.pod.as_deref();
        Some(Self {
            replicas: variant.replicas,
            requests: pod.map(|pod| &pod.requests),
            tolerations: pod.map(|pod| pod.tolerations.as_slice()),
            node_selector: pod.map(|pod| &pod.node_selector),
            affinity: pod.and_then(|pod| pod.required_affinity.as_ref()),
        })
    }
}
