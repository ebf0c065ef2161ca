//! Tiers: one of several is used at a time, or later ones take what the earlier cannot.

use super::facts::{AppFacts, Inputs, Standing, WorkloadFacts, limits, sum, weight};
use super::rooms::Displaced;
use crate::api::TierMode;
use crate::base::ClusterId;
use crate::model::Share;

/// Whether new replicas of an app may come to a cluster as far as tiers go.
pub(super) fn is_in_use(app: &AppFacts<'_>, cluster: ClusterId) -> bool {
    let Some(tiers) = app.app.placement.tiers.as_ref().filter(|tiers| tiers.mode == TierMode::FirstFit) else {
        return true;
    };
    let tier = app.target.tier.and_then(|at| tiers.groups.get(usize::from(at)));
    tier.is_none_or(|tier| tier.clusters.contains(cluster))
}

/// Whether another tier is in use than the one that is recorded.
pub(super) fn has_changed(app: &AppFacts<'_>) -> bool {
    recorded(app).is_some_and(|at| app.target.tier.map(usize::from) != Some(at))
}

/// Whether a cluster is in the tier that is recorded; true where none is.
pub(super) fn was_in_use(app: &AppFacts<'_>, cluster: ClusterId) -> bool {
    let tiers = app.app.placement.tiers.as_ref();
    let tier = tiers.zip(recorded(app)).and_then(|(tiers, at)| tiers.groups.get(at));
    tier.is_none_or(|tier| tier.clusters.contains(cluster))
}

/// The position of the tier that is recorded, if there still is one of its name.
fn recorded(app: &AppFacts<'_>) -> Option<usize> {
    let name = app.placed.and_then(|placed| placed.tier.as_ref())?;
    app.app.placement.tiers.as_ref()?.groups.iter().position(|tier| tier.name == *name)
}

pub(super) fn check<'d>(
    inputs: &Inputs<'_>,
    app: &AppFacts<'_>,
    displaced: &dyn Fn() -> &'d Displaced,
    violations: &mut Vec<String>,
) {
    let name = || inputs.fleet.app_name(app.id);
    let Some(tiers) = &app.app.placement.tiers else {
        if app.target.tier.is_some() {
            violations.push(format!("{}: in a tier, and it has none", name()));
        }
        return;
    };
    match (tiers.mode, app.target.tier) {
        (TierMode::FirstFit, Some(at)) if usize::from(at) >= tiers.groups.len() => {
            violations.push(format!("{}: in a tier that does not exist", name()));
        }
        (TierMode::FirstFit, None) if !app.target.seats.is_empty() => {
            violations.push(format!("{}: it runs, and in no tier", name()));
        }
        (TierMode::Overflow, Some(_)) => violations.push(format!("{}: in one tier, and it overflows", name())),
        (TierMode::FirstFit, _) => {}
        (TierMode::Overflow, None) => {
            for facts in app.workloads.iter().filter(|facts| facts.workload.share == Share::Divided) {
                contraction(inputs, app, displaced, facts, violations);
            }
        }
    }
}

/// A smaller total empties the last tier first.
fn contraction<'d>(
    inputs: &Inputs<'_>,
    app: &AppFacts<'_>,
    displaced: &dyn Fn() -> &'d Displaced,
    facts: &WorkloadFacts<'_>,
    violations: &mut Vec<String>,
) {
    let stays = |cluster: &ClusterId| {
        inputs.standing_of(app, facts.workload, *cluster) <= Standing::Closed && weight(facts.workload, *cluster) > 0
    };
    let in_bounds = |(cluster, replicas): (&ClusterId, &u32)| *replicas <= limits(facts.workload, *cluster).1;
    let only_shrinks = sum(&facts.before) > u64::from(facts.wanted())
        && !facts.former_rules
        && facts.before.keys().all(stays)
        && facts.before.iter().all(in_bounds);
    if !only_shrinks {
        return;
    }
    let tier = |cluster: ClusterId| app.app.placement.overflow_tier(cluster);
    // A floor, or one for a group that a spread requires, holds in any tier.
    let spared = |(cluster, replicas): &(&ClusterId, &u32)| **replicas > limits(facts.workload, **cluster).0.max(1);
    let last = facts.after.iter().filter(spared).map(|(cluster, _)| tier(*cluster)).max().unwrap_or(0);
    for (cluster, before) in &facts.before {
        let after = facts.after.get(cluster).copied().unwrap_or(0);
        if after < *before && tier(*cluster) < last && !displaced().has(app.id, *cluster) {
            violations.push(format!(
                "{}: {before} replicas in cluster {} became {after}, and a later tier keeps some",
                inputs.name(app, facts.workload),
                inputs.cluster(*cluster),
            ));
        }
    }
}
