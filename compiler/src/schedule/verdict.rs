//! Why each cluster that gets nothing gets nothing: read from what runs at the end, never from how it came about, so that
//! the same target always has the same reasons.

use rustc_hash::FxHashMap;

use super::deficit::Deficit;
use super::ledger::{ClassId, PLENTY};
use super::stage::Stage;
use super::target::Verdict;
use super::view::{View, bounds, is_daemon, is_static};
use crate::api::{Capacity, Strategy};
use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Selector, Share};
use crate::room::Cause;

/// Classes of clusters with one verdict each.
type Classes = Vec<(Verdict, ClusterSet)>;

/// Number of traits, candidates, and clusters of the team.
type AlikeKey<'a> = (usize, &'a ClusterSet, &'a ClusterSet);

/// What apps share while a target is written down: by then, nothing changes any more.
#[derive(Default)]
pub(super) struct Shared<'a> {
    /// Vetoes of all clusters that have one, of apps that are alike, with the same candidates and the same clusters of their
    /// team: by selector.
    vetoes: FxHashMap<AlikeKey<'a>, Vec<(Option<&'a Selector>, Classes)>>,
    /// Clusters without room for so many pods of a class.
    full: FxHashMap<(ClassId, u32), ClusterSet>,
}

impl<'a> Shared<'a> {
    fn vetoes(&mut self, view: &View<'a>, id: AppId) -> &Classes {
        let (app, known) = (view.fleet.app(id), view.app(id));
        let key = (known.alike, &app.placement.candidates, &view.fleet.team(app.team).clusters);
        let selector = app.placement.selector.as_ref();
        let of_key = self.vetoes.entry(key).or_default();
        let at = of_key.iter().position(|(other, _)| *other == selector).unwrap_or_else(|| {
            let mut classes = Classes::new();
            for cluster in view.fleet.cluster_ids().filter(|cluster| !view.is_fresh(id, *cluster)) {
                if let Some(verdict) = view.veto(id, cluster) {
                    add(&mut classes, verdict, [cluster].into_iter().collect());
                }
            }
            of_key.push((selector, classes));
            of_key.len() - 1
        });
        &of_key[at].1
    }

    /// Those of some clusters that have no room for so many pods, or no pool for them.
    fn full(&mut self, stage: &mut Stage<'_, '_>, class: ClassId, pods: u32, of: &ClusterSet) -> ClusterSet {
        let lacks = |stage: &mut Stage<'_, '_>, cluster: &ClusterId, pods: u32| {
            !stage.ledger.holds(class, *cluster, pods)
                || (stage.ledger.is_known(*cluster) && stage.ledger.eligible(class, *cluster).is_empty())
        };
        if !stage.ledger.is_shared(class) {
            return of.iter().filter(|cluster| lacks(stage, cluster, pods)).collect();
        }
        // what has room for plenty has room for fewer, and mostly that is nearly all
        let many = pods.max(PLENTY);
        let all = stage.view.fleet.cluster_ids();
        let full = self
            .full
            .entry((class, many))
            .or_insert_with(|| all.filter(|cluster| lacks(stage, cluster, many)).collect())
            .and(of);
        if pods == many { full } else { full.iter().filter(|cluster| lacks(stage, cluster, pods)).collect() }
    }
}

/// Adds clusters to the class of a verdict. There are few classes, and neighbours are often alike.
fn add(classes: &mut Classes, verdict: Verdict, clusters: ClusterSet) {
    if clusters.is_empty() {
        return;
    }
    match classes.iter_mut().rev().find(|(known, _)| *known == verdict) {
        Some((_, known)) => *known = known.or(&clusters),
        None => classes.push((verdict, clusters)),
    }
}

/// Classes of clusters with one verdict each, ascending. Clusters that get what they should are in none; one that keeps
/// replicas only because they have no place elsewhere is in the class of its veto.
pub(super) fn verdicts<'a>(
    stage: &mut Stage<'_, 'a>,
    shared: &mut Shared<'a>,
    id: AppId,
    deficits: &[Deficit],
) -> Classes {
    stage.look_around(id);
    let state = &stage.apps[id.index()];
    let used: ClusterSet = state.workloads.iter().flat_map(|w| &w.rows).map(|row| row.cluster).collect();
    let selected = state.clusters.clone();
    let short = Short {
        over_quota: deficits.iter().any(|deficit| matches!(deficit, Deficit::Quota { .. })),
        not_all: stage.view.app(id).lead.is_some_and(|lead| {
            stage.view.workload(id, lead).policy.capacity == Capacity::Require
                && deficits
                    .iter()
                    .any(|d| matches!(d, Deficit::Unplaced { workload, .. } if usize::from(*workload) == lead))
        }),
    };
    let mut classes = Classes::new();
    for cluster in used.iter() {
        let leaves = stage.view.releases_app(id, cluster).is_some();
        let veto = leaves.then(|| stage.view.veto(id, cluster)).flatten();
        let verdict =
            veto.or_else(|| if stage.scope(id).keeps(cluster) { None } else { stage.out_of_scope(id, cluster) });
        if let Some(verdict) = verdict {
            add(&mut classes, verdict, [cluster].into_iter().collect());
        }
    }
    for (verdict, clusters) in shared.vetoes(stage.view, id) {
        add(&mut classes, verdict.clone(), clusters.without(&used));
    }
    let idle = stage.view.fresh(id).without(&used);
    if !without_seats_at_once(stage, shared, id, &idle, &selected, short, &mut classes) {
        for cluster in idle.iter() {
            let verdict = stage
                .out_of_scope(id, cluster)
                .or_else(|| without_seats(stage, id, cluster, selected.contains(cluster), short));
            if let Some(verdict) = verdict {
                add(&mut classes, verdict, [cluster].into_iter().collect());
            }
        }
    }
    classes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    classes
}

/// The verdicts of many clusters at once, set by set, where their bounds differ in nothing but whether the weight is 0, the
/// pods are alike everywhere and no group or tier narrows the app. False, and nothing done, where they are not.
fn without_seats_at_once<'a>(
    stage: &mut Stage<'_, 'a>,
    shared: &mut Shared<'a>,
    id: AppId,
    idle: &ClusterSet,
    selected: &ClusterSet,
    short: Short,
    classes: &mut Classes,
) -> bool {
    let view = stage.view;
    let (Some(lead), false) = (view.app(id).lead, stage.is_narrowed(id)) else { return false };
    let (app, workload) = (view.fleet.app(id), view.workload(id, lead));
    let (policy, bounded) = (&workload.policy, |rule: &crate::model::WeightRule| rule.min.or(rule.max).is_some());
    let rules = policy.weights.as_deref().filter(|_| is_static(policy) && workload.share != Share::Everywhere);
    let (Some(class), None) = (view.uniform_class(id, lead), &workload.part) else { return false };
    if rules.unwrap_or_default().iter().any(bounded) || policy.max.is_some() {
        return false;
    }
    let mut idle = idle.clone();
    if let Some(only) = &app.objects[workload.object].only {
        add(classes, Verdict::ObjectRule, idle.without(only));
        idle = idle.and(only);
    }
    if let Some(rules) = rules {
        let heavy = rules.iter().filter(|rule| rule.weight > 0);
        let heavy = heavy.fold(ClusterSet::empty(), |all, rule| all.or(&rule.clusters));
        add(classes, Verdict::NoWeight, idle.without(&heavy));
        idle = idle.and(&heavy);
    }
    if policy.capacity != Capacity::Ignore {
        let least = least(stage, id, lead).max(policy.min);
        let full = shared.full(stage, class, least, &idle);
        for cluster in full.iter() {
            match no_room(stage, id, lead, cluster, least) {
                Some(verdict) => add(classes, verdict, [cluster].into_iter().collect()),
                None => continue,
            }
            idle.remove(cluster);
        }
    }
    add(classes, at_last(stage, id, lead, policy.min, true, short), idle.and(selected));
    add(classes, at_last(stage, id, lead, policy.min, false, short), idle.without(selected));
    true
}

/// The fewest replicas of a workload that are worth a cluster.
fn least(stage: &Stage<'_, '_>, id: AppId, workload: usize) -> u32 {
    let workload = stage.view.workload(id, workload);
    let copied = workload.share == Share::Everywhere && !is_daemon(workload);
    if copied { workload.replicas } else { 1 }
}

/// What the app lacks as a whole.
#[derive(Clone, Copy)]
struct Short {
    over_quota: bool,
    /// The workload that leads is added whole or not at all, and not all of it fits.
    not_all: bool,
}

/// Why a cluster that nothing vetoes has no replica. The workload that leads speaks for the app.
fn without_seats(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    cluster: ClusterId,
    selected: bool,
    short: Short,
) -> Option<Verdict> {
    let Some(lead) = stage.view.app(id).lead else {
        return (!selected).then_some(Verdict::NotChosen);
    };
    let workload = stage.view.workload(id, lead);
    let bounds = bounds(workload, cluster);
    if !stage.view.allows(id, lead, cluster) {
        return Some(Verdict::ObjectRule);
    }
    if bounds.weight == 0 {
        return Some(Verdict::NoWeight);
    }
    let least = least(stage, id, lead).max(bounds.min);
    if bounds.max.is_some_and(|max| max < least) {
        return Some(Verdict::Bound);
    }
    if workload.policy.capacity != Capacity::Ignore
        && let Some(verdict) = no_room(stage, id, lead, cluster, least)
    {
        return Some(verdict);
    }
    Some(at_last(stage, id, lead, bounds.min, selected, short))
}

/// The verdict where nothing speaks against a cluster of such a floor.
fn at_last(stage: &Stage<'_, '_>, id: AppId, lead: usize, min: u32, selected: bool, short: Short) -> Verdict {
    let workload = stage.view.workload(id, lead);
    let divided = workload.share == Share::Divided && workload.policy.strategy != Some(Strategy::Aggregated);
    if short.over_quota {
        Verdict::Quota
    } else if short.not_all {
        Verdict::NotAll
    } else if selected && divided {
        let unreachable = min > workload.replicas && is_static(&workload.policy);
        if unreachable { Verdict::Bound } else { Verdict::RoundedToZero }
    } else {
        Verdict::NotChosen
    }
}

/// What is short for `least` replicas of a workload.
fn no_room(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, cluster: ClusterId, least: u32) -> Option<Verdict> {
    if stage.view.workload(id, workload).part.is_some() {
        return no_room_for_set(stage, id, workload, cluster);
    }
    let class = stage.view.class(id, workload, cluster)?;
    let least = stage.view.written(id, workload, cluster).unwrap_or(least);
    let room = stage.ledger.room(class, cluster)?;
    if stage.ledger.eligible(class, cluster).is_empty() {
        return Some(Verdict::NoEligiblePool);
    }
    if room >= u64::from(least) {
        return None;
    }
    match stage.ledger.shortage(class, cluster) {
        None => {
            let fits = i128::from(room);
            Some(Verdict::NoRoom { resource: "pods".into(), needed: i128::from(least), free: fits })
        }
        Some(shortage) => {
            let (resource, needed, largest) =
                (shortage.resource, i128::from(shortage.needed), i128::from(shortage.largest));
            Some(match shortage.cause {
                Cause::NotOffered | Cause::LargerThanNode => Verdict::LargerThanNode { resource, needed, largest },
                Cause::Overdrawn | Cause::Packing | Cause::UsedUp => {
                    Verdict::NoRoom { resource, needed, free: largest }
                }
            })
        }
    }
}

/// What is short for all pods of the set that a workload is a part of.
fn no_room_for_set(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, cluster: ClusterId) -> Option<Verdict> {
    if !stage.ledger.is_known(cluster) {
        return None;
    }
    let parts: Vec<_> = stage
        .view
        .fleet
        .app(id)
        .members(workload)
        .filter_map(|member| {
            let class = stage.view.class(id, member, cluster)?;
            let part = stage.view.workload(id, member);
            Some((part, class, stage.view.written(id, member, cluster).unwrap_or(part.replicas)))
        })
        .collect();
    let set: Vec<_> = parts.iter().map(|(_, class, pods)| (*class, *pods)).collect();
    let (at, fits, shortage) = stage.ledger.short_of_set(cluster, &set)?;
    let (part, _, pods) = parts.get(at)?;
    let Some(shortage) = shortage else { return Some(Verdict::NoEligiblePool) };
    Some(Verdict::NoRoomForSet {
        part: part.part.clone().unwrap_or_default(),
        pods: *pods,
        fits,
        resource: shortage.resource,
        needed: i128::from(shortage.needed),
        free: i128::from(shortage.largest),
    })
}
