//! No replica leaves without a listed cause.

use super::facts::{AppFacts, Inputs, Standing, WorkloadFacts, limits, sum};
use super::rooms::Displaced;
use super::{groups, spread, tiers};
use crate::base::ClusterId;
use crate::model::Share;

/// `displaced` is worked out once, when the first loss asks for it.
pub(super) fn check<'d>(
    inputs: &Inputs<'_>,
    app: &AppFacts<'_>,
    displaced: &dyn Fn() -> &'d Displaced,
    violations: &mut Vec<String>,
) {
    for facts in &app.workloads {
        for (cluster, before) in &facts.before {
            let after = facts.after.get(cluster).copied().unwrap_or(0);
            if after < *before && !has_cause(inputs, app, displaced, facts, *cluster) {
                violations.push(format!(
                    "{}: {before} replicas in cluster {} became {after} and nothing asked for it",
                    inputs.name(app, facts.workload),
                    inputs.cluster(*cluster),
                ));
            }
        }
    }
}

fn has_cause<'d>(
    inputs: &Inputs<'_>,
    app: &AppFacts<'_>,
    displaced: &dyn Fn() -> &'d Displaced,
    facts: &WorkloadFacts<'_>,
    cluster: ClusterId,
) -> bool {
    let leaves = leaving(inputs, app, facts, cluster);
    let switches = tiers::has_changed(app) && !tiers::is_in_use(app, cluster) && may_switch(inputs, app, displaced);
    leaves
        || switches
        || is_disturbed(inputs, app, facts)
        || is_outgrown(app, displaced)
        || breaks_spread(inputs, app)
        || groups::gathers(inputs, app)
        || groups::ran_apart(inputs, app.id, cluster)
        || displaced().has(app.id, cluster)
}

/// Whether a workload of an app had fewer replicas than it wants, or lost some for want of room, and the clusters of the app
/// are limited: where others hold more of it, all of the app goes there. Of what is copied only one that had none at all or
/// lost some counts, if it came to another cluster.
fn is_outgrown<'d>(app: &AppFacts<'_>, displaced: &dyn Fn() -> &'d Displaced) -> bool {
    // fewest replicas of each cluster bound the number of clusters, too
    let limited = app.app.placement.spread.iter().any(|spread| spread.max.is_some())
        || app.workloads.iter().any(|facts| facts.workload.policy.min > 1);
    let is_short = |facts: &WorkloadFacts<'_>| {
        let ran = sum(&facts.before);
        let lost = || facts.before.keys().any(|cluster| displaced().has(app.id, *cluster));
        if facts.is_copied() {
            let came = facts.after.keys().any(|cluster| !facts.before.contains_key(cluster));
            return came && !facts.is_daemon() && (ran == 0 || lost());
        }
        ran < u64::from(facts.wanted()) || lost()
    };
    limited && app.workloads.iter().any(is_short)
}

/// Whether what runs in a cluster leaves it. Another tier than the recorded one is no reason by itself: something must have
/// made the recorded one too small.
fn leaving(inputs: &Inputs<'_>, app: &AppFacts<'_>, facts: &WorkloadFacts<'_>, cluster: ClusterId) -> bool {
    let standing = if tiers::has_changed(app) {
        inputs.standing_in_itself(app, facts.workload, cluster)
    } else {
        inputs.standing_of(app, facts.workload, cluster)
    };
    standing >= Standing::Evicting
}

/// Whether anything of an app was not as it should be, so that another tier may hold more of it.
fn may_switch<'d>(inputs: &Inputs<'_>, app: &AppFacts<'_>, displaced: &dyn Fn() -> &'d Displaced) -> bool {
    app.workloads.iter().any(|facts| {
        is_disturbed(inputs, app, facts)
            || sum(&facts.before) != u64::from(facts.wanted())
            || facts.before.keys().any(|cluster| displaced().has(app.id, *cluster))
            // what has found no place in the tier yet may find it in another
            || facts.before.keys().any(|cluster| !tiers::was_in_use(app, *cluster))
    }) || breaks_spread(inputs, app)
}

/// Whether the intent of a workload changed since it was recorded, or was not met.
fn is_disturbed(inputs: &Inputs<'_>, app: &AppFacts<'_>, facts: &WorkloadFacts<'_>) -> bool {
    let (ran, wanted) = (sum(&facts.before), u64::from(facts.wanted()));
    let counts = match facts.workload.share {
        // More to place takes from nobody, unless the clusters are limited and others hold more.
        Share::Divided => ran > wanted || (ran < wanted && app.app.placement.spread.iter().any(|s| s.max.is_some())),
        Share::Whole => ran != wanted || facts.before.len() > 1,
        Share::Everywhere => facts.before.values().any(|n| u64::from(*n) != wanted),
    };
    let divided = facts.workload.share == Share::Divided;
    // Copies, too, are at most `perCluster.max`.
    let out_of_bounds = facts.before.iter().any(|(cluster, replicas)| {
        let (least, most) = limits(facts.workload, *cluster);
        *replicas > most || (divided && *replicas < least.min(facts.wanted()))
    });
    let leaving = facts.before.keys().any(|cluster| leaving(inputs, app, facts, *cluster));
    facts.new || facts.former_rules || counts || out_of_bounds || leaving || (divided && is_filled_to_a_floor(facts))
}

/// Whether a cluster that had none joined with no more than the floor it is owed: `perCluster.min` and the `min` of a
/// weight hold in every cluster of the set, and where nothing else grows the others give what it takes.
fn is_filled_to_a_floor(facts: &WorkloadFacts<'_>) -> bool {
    facts.after.iter().any(|(cluster, replicas)| {
        !facts.before.contains_key(cluster) && *replicas <= limits(facts.workload, *cluster).0
    })
}

/// Whether what was recorded is too many groups, or too few. What is held outside of the selected clusters for want of a place
/// is in groups of its own.
fn breaks_spread(inputs: &Inputs<'_>, app: &AppFacts<'_>) -> bool {
    let selected = app.placed.map(|placed| placed.clusters.as_slice()).unwrap_or_default();
    app.app.placement.spread.iter().any(|constraint| {
        let ran = app.workloads.iter().flat_map(|facts| facts.before.keys().copied());
        let set = selected.iter().filter_map(|name| inputs.fleet.cluster_id(name)).chain(ran);
        let (selected, lacking) = spread::groups(inputs, &constraint.key, set);
        let too_many = constraint.max.is_some_and(|max| selected > max as usize);
        let large = |facts: &&WorkloadFacts<'_>| {
            !facts.before.is_empty() && (facts.workload.share != Share::Divided || facts.wanted() >= constraint.min)
        };
        let too_few = app.workloads.iter().filter(large).any(|facts| {
            spread::groups(inputs, &constraint.key, facts.before.keys().copied()).0 < constraint.min as usize
        });
        too_many || too_few || lacking.is_some()
    })
}
