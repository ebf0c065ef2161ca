//! A plan as data: what runs where, what moves and why, what could not be done, how full clusters get.

use std::collections::BTreeMap;

use serde::Serialize;

use super::booked::{BookedReport, booked};
use super::clusters::{ClusterReport, Load, cluster_report};
use super::full::{BelowWeightReport, DisplacedReport, GrowingReport, OverdrawnReport};
use super::steps::{self, MovingReport};
use super::tides::{TidePhaseReport, counting};
use super::verdicts::verdicts_line;
use crate::Compiled;
use crate::base::{AppId, ClusterId, Resources, SmolStr};
use crate::diff::{AppShortfall, Provenance, Shortfall, StepsReport, placed, to_make};
use crate::kinds::replicas::WorkloadKind;
use crate::model::Fleet;
use crate::plan::{Cause, Move, Plan, Removal};
use crate::schedule::{Preemption, Victim};

/// The plan of a fleet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// The record it was made from, where that lies elsewhere than the intents. Whoever opened it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Provenance>,
    /// Apps, by (team, app).
    pub apps: Vec<AppReport>,
    /// Apps that take over what runs under a name they had before, by app.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferReport>,
    /// What differs from what runs, by app, workload and cluster.
    pub moves: Vec<MoveReport>,
    /// Which of that the decider makes in steps, by app.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepsReport>,
    /// Moves in steps that are on the way, by app: until their next step what runs stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moving: Vec<MovingReport>,
    /// What could not be done, by app.
    pub shortfalls: Vec<AppShortfall>,
    /// Replicas that no longer fit where they ran, by app, whether they found another place or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<DisplacedReport>,
    /// Pools in which more must run than their nodes hold, by (cluster, pool).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overdrawn: Vec<OverdrawnReport>,
    /// Full clusters with less than what stated weights ask for, by app; the rest runs elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below_weight: Vec<BelowWeightReport>,
    /// Pools whose autoscaler must add nodes, by (cluster, pool).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub growing: Vec<GrowingReport>,
    /// What could be given up for apps that are short, where their priority class asks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<PreemptionReport>,
    /// Clusters, by name.
    pub clusters: Vec<ClusterReport>,
    /// Which phase of each tide counts, by tide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tides: Vec<TidePhaseReport>,
}

/// An app that takes over what runs under a name it had before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferReport {
    /// `team/app`.
    pub app: String,
    /// The recorded name, `team/app`.
    pub was: String,
}

/// A proposal: nothing is taken from anybody until a person accepts it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreemptionReport {
    /// The app that is short: `team/app`.
    pub app: String,
    /// Its workload.
    pub workload: SmolStr,
    /// Where the rest of it would run.
    pub cluster: SmolStr,
    /// How many replicas that is.
    pub replicas: u32,
    /// Who gives up what there.
    pub victims: Vec<VictimReport>,
}

/// Replicas that would be given up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VictimReport {
    /// `team/app`.
    pub app: String,
    /// The workload.
    pub workload: SmolStr,
    /// How many.
    pub replicas: u32,
}

/// One app.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppReport {
    /// `team/app`.
    pub app: String,
    /// The tier in use, where one of several is used at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<SmolStr>,
    /// The clusters that get any of its objects, by name.
    pub clusters: Vec<SmolStr>,
    /// Its workloads, by key.
    pub workloads: Vec<WorkloadReport>,
    /// Why other clusters get nothing, in one line; none where all get something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
}

/// One workload.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadReport {
    /// `apps/Deployment/web`.
    pub workload: SmolStr,
    /// Whether its kind states replicas (or a Job's parallelism); of others each cluster counts 1.
    pub counted: bool,
    /// Replicas in all clusters, as written into manifests.
    pub replicas: u64,
    /// Where, by cluster.
    pub seats: Vec<SeatReport>,
}

/// A workload in one cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatReport {
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas, as written into the manifest.
    pub replicas: u32,
    /// A Job's completions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<u32>,
    /// Which pools they are booked in, where more than one is eligible.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<SmolStr, u32>,
    /// What is booked as room, where that is what was observed of its autoscaler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booked: Option<BookedReport>,
}

/// Replicas that come or go.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveReport {
    /// `team/app`.
    pub app: String,
    /// The workload's key.
    pub workload: SmolStr,
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas that run.
    pub before: u32,
    /// Replicas that should run.
    pub after: u32,
    /// `New`, `Total`, `Weights`, `Intent`, `Taint`, `Lifecycle`, `Lost`, `Evicted`, `Group`, `Room`,
    /// `Displaced`, `Refill` or `Removed`.
    pub cause: &'static str,
    /// The cause in words.
    pub why: &'static str,
}

/// The plan of a compile.
#[must_use]
pub fn plan(compiled: &Compiled) -> PlanReport {
    let fleet = &compiled.fleet;
    let mut report = PlanReport {
        record: None,
        apps: Vec::with_capacity(fleet.apps.len()),
        transfers: transfers(compiled),
        moves: Vec::new(),
        steps: to_make(compiled),
        moving: steps::on_the_way(compiled),
        shortfalls: Shortfall::all(compiled),
        displaced: compiled.target.displaced.iter().map(|of| DisplacedReport::of(fleet, of)).collect(),
        overdrawn: compiled.target.overdrawn.iter().map(|of| OverdrawnReport::of(fleet, of)).collect(),
        below_weight: compiled.target.below_weight.iter().map(|of| BelowWeightReport::of(fleet, of)).collect(),
        growing: compiled.target.growing.iter().map(|of| GrowingReport::of(fleet, of)).collect(),
        preemptions: compiled.preemptions.iter().filter_map(|of| preemption(fleet, of)).collect(),
        clusters: Vec::with_capacity(fleet.clusters.len()),
        tides: counting(compiled),
    };
    let mut loads: Vec<Load> = vec![Load::default(); fleet.clusters.len()];
    let mut gone = compiled.plan.removals.iter().filter(|removal| removal.with_app).peekable();
    for id in fleet.app_ids() {
        report.apps.push(app_report(compiled, id, &mut loads));
        let name = app_key(fleet, id);
        while let Some(removal) = gone.next_if(|removal| (&removal.team, &removal.app) < name) {
            report.moves.push(removal_report(fleet, removal));
        }
        report.moves.extend(move_reports(fleet, &compiled.plan, id));
    }
    report.moves.extend(gone.map(|removal| removal_report(fleet, removal)));
    for (id, load) in fleet.cluster_ids().zip(loads) {
        report.clusters.push(cluster_report(compiled, id, load));
    }
    report
}

fn transfers(compiled: &Compiled) -> Vec<TransferReport> {
    let shown = |(team, app): &(SmolStr, SmolStr)| format!("{team}/{app}");
    let all = compiled.record.transfers.iter();
    all.map(|(app, was)| TransferReport { app: shown(app), was: shown(was) }).collect()
}

pub(super) fn preemption(fleet: &Fleet, of: &Preemption) -> Option<PreemptionReport> {
    let workload = |app: AppId, number: u16| Some(fleet.app(app).workloads.get(usize::from(number))?.key.clone());
    let victim = |victim: &Victim| {
        let workload = workload(victim.app, victim.workload)?;
        Some(VictimReport { app: fleet.app_name(victim.app), workload, replicas: victim.replicas })
    };
    // the parts of a set ask as one
    let whole = |key: SmolStr| key.split_once('#').map_or(key.clone(), |(object, _)| object.into());
    Some(PreemptionReport {
        app: fleet.app_name(of.app),
        workload: whole(workload(of.app, of.workload)?),
        cluster: fleet.cluster(of.cluster).name.clone(),
        replicas: of.replicas,
        victims: of.victims.iter().filter_map(victim).collect(),
    })
}

fn app_report(compiled: &Compiled, id: AppId, loads: &mut [Load]) -> AppReport {
    let app = compiled.fleet.app(id);
    let placed = placed(compiled, id);
    let mut workloads = Vec::with_capacity(app.workloads.len());
    for (index, workload) in app.workloads.iter().enumerate() {
        let counted = workload.is_counted();
        let mut seats = Vec::new();
        let booked = booked(compiled, id, index);
        for (cluster, count) in placed.counts.get(&workload.key).into_iter().flatten() {
            let Some(cluster_id) = compiled.fleet.cluster_id(cluster) else { continue };
            seats.push(SeatReport {
                cluster: (*cluster).clone(),
                replicas: count.replicas,
                completions: count.completions,
                pools: pools(compiled, id, index, cluster_id),
                booked: booked.get(&cluster_id).copied(),
            });
            let Some(load) = loads.get_mut(cluster_id.index()) else { continue };
            if counted {
                load.replicas += u64::from(count.replicas);
            }
            let variant = compiled.variants.apps.get(id.index()).map(|variants| variants.of(cluster_id));
            let pod = variant.and_then(|variant| variant.workloads.get(index)).and_then(|w| w.pod.as_ref());
            if let (Some(pod), true) = (pod, counted || workload.kind == WorkloadKind::Pod) {
                let pods = Resources(BTreeMap::from([(SmolStr::new_static("pods"), 1)]));
                load.requested.add(&pod.requests, i128::from(count.replicas));
                load.requested.add(&pods, i128::from(count.replicas));
            }
        }
        workloads.push(WorkloadReport {
            workload: workload.key.clone(),
            counted,
            replicas: seats.iter().map(|seat| u64::from(seat.replicas)).sum(),
            seats,
        });
    }
    let target = compiled.target.apps.get(id.index()).filter(|target| !target.verdicts.is_empty());
    let tier = compiled.target.apps.get(id.index()).and_then(|target| target.tier);
    let tier = tier.zip(app.placement.first_fit()).and_then(|(at, tiers)| tiers.get(usize::from(at)));
    AppReport {
        app: compiled.fleet.app_name(id),
        tier: tier.map(|tier| tier.name.clone()),
        clusters: placed.clusters.into_iter().cloned().collect(),
        workloads,
        without: target.map(|target| verdicts_line(&compiled.fleet, target)),
    }
}

fn pools(compiled: &Compiled, app: AppId, workload: usize, cluster: ClusterId) -> BTreeMap<SmolStr, u32> {
    let seats = compiled.target.apps.get(app.index()).map(|target| target.seats.as_slice()).unwrap_or_default();
    // seats ascend by (workload, cluster)
    let from = seats.partition_point(|seat| (usize::from(seat.workload), seat.cluster) < (workload, cluster));
    let here = seats.iter().skip(from).take_while(|s| usize::from(s.workload) == workload && s.cluster == cluster);
    let names = here.filter_map(|seat| {
        let pools = compiled.fleet.cluster(cluster).pools.as_deref().unwrap_or_default();
        let name = pools.get(seat.pool?.index()).map_or_else(|| SmolStr::new_static("other"), |pool| pool.name.clone());
        Some((name, seat.replicas))
    });
    names.collect()
}

/// The moves of an app, then what of it is gone.
pub(super) fn move_reports<'a>(fleet: &'a Fleet, plan: &'a Plan, id: AppId) -> impl Iterator<Item = MoveReport> + 'a {
    let app = fleet.app(id);
    let moves = plan.apps.get(id.index()).into_iter().flat_map(|plan| &plan.moves);
    let moves = moves.map(move |step| {
        let Move { workload, cluster, before, after, cause } = *step;
        let (name, why) = cause_words(cause, after > before);
        MoveReport {
            app: fleet.app_name(id),
            workload: app.workloads.get(usize::from(workload)).map(|w| w.key.clone()).unwrap_or_default(),
            cluster: fleet.cluster(cluster).name.clone(),
            before,
            after,
            cause: name,
            why,
        }
    });
    let name = app_key(fleet, id);
    let all = &plan.removals;
    let from = all.partition_point(|removal| (&removal.team, &removal.app) < name);
    let of_app = all.iter().skip(from).take_while(move |removal| (&removal.team, &removal.app) == name);
    moves.chain(of_app.map(|removal| removal_report(fleet, removal)))
}

/// What apps are ordered by.
fn app_key(fleet: &Fleet, id: AppId) -> (&SmolStr, &SmolStr) {
    let app = fleet.app(id);
    (&fleet.team(app.team).name, &app.name)
}

fn removal_report(fleet: &Fleet, removal: &Removal) -> MoveReport {
    let Removal { team, app, workload, cluster, before, with_app } = removal;
    MoveReport {
        app: format!("{team}/{app}"),
        workload: workload.clone(),
        cluster: fleet.cluster(*cluster).name.clone(),
        before: *before,
        after: 0,
        cause: "Removed",
        why: if *with_app { "the app is no longer there" } else { "the workload is no longer there" },
    }
}

/// A cause as one word and as a clause.
fn cause_words(cause: Cause, grows: bool) -> (&'static str, &'static str) {
    match cause {
        Cause::New => ("New", "nothing ran before"),
        Cause::Total if grows => ("Total", "more are wanted than ran"),
        Cause::Total => ("Total", "fewer are wanted than ran"),
        Cause::Weights => ("Weights", "strategy or weights changed"),
        Cause::Intent => ("Intent", "the selector, the team's clusters or a bound no longer allow the cluster"),
        Cause::Taint => ("Taint", "a NoExecute taint is not tolerated"),
        Cause::Lifecycle => ("Lifecycle", "the cluster is Draining or Retired"),
        Cause::Lost => ("Lost", "the cluster is supposed lost"),
        Cause::Evicted => ("Evicted", "the cluster is lost to the app, or its toleration has run out"),
        Cause::Group => ("Group", "its group is elsewhere, or another of it is there"),
        Cause::Room => ("Room", "elsewhere there is room for more of it"),
        Cause::Displaced => ("Displaced", "the pool no longer holds them"),
        Cause::Refill => ("Refill", "in place of replicas that left another cluster, or were short"),
    }
}
