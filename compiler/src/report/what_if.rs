//! What a supposition does, as data: what moves, what finds no place, which rules break, what clusters have left.

use std::collections::BTreeSet;

use serde::Serialize;

use super::plan::{MoveReport, move_reports};
use crate::Compiled;
use crate::base::quantity::plain_amount;
use crate::base::{ClusterId, SmolStr};
use crate::diff::{AppShortfall, Ground, Provenance, Shortfall};
use crate::model::Fleet;
use crate::plan;
use crate::schedule::{Headroom, Target, headroom};
use crate::what_if::{BrokenFloor, Loss, World, broken_floors, is_gone, missing, new_deficits};

/// What suppositions do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfReport {
    /// The record it starts from, where that lies elsewhere than the intents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Provenance>,
    /// What is supposed to be written otherwise in all scenarios, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// One for each combination of losses, in the order they were asked for.
    pub scenarios: Vec<ScenarioReport>,
}

/// What one supposition does, against what the plan has now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScenarioReport {
    /// What is lost: `cluster eu-a`, `region eu`.
    pub lost: Vec<String>,
    /// Replicas that start in a cluster that does not run them now.
    pub moved: u64,
    /// Replicas that stop in a cluster that runs them now.
    pub stopped: u64,
    /// Replicas that are wanted and run nowhere, beyond those that run nowhere now.
    pub missing: u64,
    /// What can be done now and could not be then, by app: replicas, spread, quota.
    pub shortfalls: Vec<AppShortfall>,
    /// Apps that run now and would run nowhere, without a replica to be missed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nowhere: Vec<String>,
    /// Clusters with fewer replicas than their floor, and not so now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub floors: Vec<FloorReport>,
    /// What differs from the plan, by app, workload and cluster.
    pub moves: Vec<MoveReport>,
    /// What clusters have left, by name: those that are not lost. Where several scenarios are compared, only those where
    /// it differs from now.
    pub clusters: Vec<HeadroomReport>,
}

/// A floor that does not hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FloorReport {
    /// `team/app`.
    pub app: String,
    /// The workload's key.
    pub workload: SmolStr,
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas there.
    pub replicas: u32,
    /// The floor.
    pub min: u32,
}

/// What a cluster has left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeadroomReport {
    /// Its name.
    pub cluster: SmolStr,
    /// By resource; empty where capacity is not known.
    pub resources: Vec<LeftReport>,
}

/// What is left of one resource. Amounts as people write them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftReport {
    /// The resource.
    pub resource: SmolStr,
    /// What is left.
    pub free: String,
    /// What is left now.
    pub now: String,
    /// What there is for apps of the fleet.
    pub offered: String,
    /// What is left, per cent, rounded down; none where nothing is offered.
    pub percent: Option<i64>,
}

impl ScenarioReport {
    /// Whether it leaves something undone that is done now.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.missing > 0 || !self.shortfalls.is_empty() || !self.nowhere.is_empty() || !self.floors.is_empty()
    }
}

/// What a supposition does. `world` is the one it was tried in, `after` what came of it; `all_clusters` lists clusters that
/// stay as they are too.
#[must_use]
pub fn scenario(
    compiled: &Compiled,
    world: &World<'_>,
    losses: &[Loss],
    after: &Target,
    all_clusters: bool,
) -> ScenarioReport {
    let (fleet, before) = (world.fleet, &compiled.target);
    let plan = plan::plan(fleet, world.variants, world.settled, after);
    let moves: Vec<MoveReport> = fleet.app_ids().flat_map(|id| move_reports(fleet, &plan, id)).collect();
    let pairs = || fleet.app_ids().zip(before.apps.iter().zip(&after.apps));
    let ground = &Ground::new(fleet, world.variants, world.settled, after);
    let shortfalls = pairs().flat_map(|(id, (before, after))| {
        let of = move |deficit| AppShortfall {
            app: fleet.app_name(id),
            shortfall: Shortfall::in_detail(ground, id, &deficit),
        };
        new_deficits(before, after).into_iter().map(of)
    });
    let mut shortfalls: Vec<AppShortfall> = shortfalls.collect();
    shortfalls.sort();
    let nowhere = pairs().filter(|(_, (before, after))| is_gone(before, after) && after.deficits.is_empty());
    let known: BTreeSet<BrokenFloor> = broken_floors(&compiled.fleet, before).into_iter().collect();
    let floors = broken_floors(fleet, after).into_iter().filter(|floor| !known.contains(floor));
    let lost: BTreeSet<ClusterId> =
        losses.iter().flat_map(|loss| loss.clusters(fleet).iter().collect::<Vec<_>>()).collect();
    ScenarioReport {
        lost: losses.iter().map(ToString::to_string).collect(),
        moved: moves.iter().map(|step| u64::from(step.after.saturating_sub(step.before))).sum(),
        stopped: moves.iter().map(|step| u64::from(step.before.saturating_sub(step.after))).sum(),
        missing: pairs()
            .map(|(id, (before, after))| {
                missing(fleet.app(id), after).saturating_sub(missing(compiled.fleet.app(id), before))
            })
            .sum(),
        shortfalls,
        nowhere: nowhere.map(|(id, _)| fleet.app_name(id)).collect(),
        floors: floors.map(|floor| floor_report(fleet, floor)).collect(),
        moves,
        clusters: clusters(compiled, world, &lost, after, all_clusters),
    }
}

fn floor_report(fleet: &Fleet, floor: BrokenFloor) -> FloorReport {
    let BrokenFloor { app, workload, cluster, replicas, min } = floor;
    let key = fleet.app(app).workloads.get(usize::from(workload)).map(|w| w.key.clone());
    FloorReport {
        app: fleet.app_name(app),
        workload: key.unwrap_or_default(),
        cluster: fleet.cluster(cluster).name.clone(),
        replicas,
        min,
    }
}

fn clusters(
    compiled: &Compiled,
    world: &World<'_>,
    lost: &BTreeSet<ClusterId>,
    after: &Target,
    all: bool,
) -> Vec<HeadroomReport> {
    let now = headroom(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target);
    let then = headroom(world.fleet, world.variants, world.settled, after);
    let each = world.fleet.cluster_ids().zip(now.into_iter().zip(then));
    each.filter(|(id, (now, then))| !lost.contains(id) && (all || now != then))
        .map(|(id, (now, then))| HeadroomReport {
            cluster: world.fleet.cluster(id).name.clone(),
            resources: then.unwrap_or_default().iter().map(|then| left(then, now.as_deref())).collect(),
        })
        .collect()
}

fn left(then: &Headroom, now: Option<&[Headroom]>) -> LeftReport {
    let Headroom { resource, offered, free } = then;
    let before = now.into_iter().flatten().find(|now| now.resource == *resource).map_or(*free, |now| now.free);
    LeftReport {
        resource: resource.clone(),
        free: plain_amount(resource, *free),
        now: plain_amount(resource, before),
        offered: plain_amount(resource, *offered),
        percent: (*offered > 0).then(|| i64::try_from(free.saturating_mul(100).div_euclid(*offered)).unwrap_or(0)),
    }
}
