//! Why clusters get nothing, in one line: `1/5 clusters: 1 label mismatch (eu-a), 1 taint gpu:NoSchedule (eu-b), ...`.

use super::names::cluster_names;
use crate::base::quantity::amount_at_least;
use crate::diff::verdict_text;
use crate::model::{ClusterSet, Fleet};
use crate::schedule::{AppTarget, Verdict};

/// How many clusters of all take the app, and why each other does not: a count, the reason, and their names for each
/// reason. Clusters that are short of the same resource are told together, with the most that any of them has.
#[must_use]
pub fn verdicts_line(fleet: &Fleet, target: &AppTarget) -> String {
    let without = target.verdicts.iter().fold(ClusterSet::empty(), |all, (_, set)| all.or(set));
    let all = fleet.clusters.len();
    let mut text = format!("{}/{all} clusters", all - without.len().min(all));
    for (index, (verdict, set)) in grouped(&target.verdicts).iter().enumerate() {
        text.push_str(if index == 0 { ": " } else { ", " });
        let names = cluster_names(fleet, set);
        text.push_str(&format!("{} {} ({names})", set.len(), verdict_text(verdict)));
    }
    text
}

/// Verdicts that differ in a figure of the cluster alone become one, with the figure of the cluster that is nearest.
pub(super) fn grouped(verdicts: &[(Verdict, ClusterSet)]) -> Vec<(Verdict, ClusterSet)> {
    let mut groups: Vec<(Verdict, ClusterSet)> = Vec::new();
    for (verdict, set) in verdicts {
        let same =
            groups.iter_mut().find_map(|(group, clusters)| merged(group, verdict).map(|both| (group, clusters, both)));
        match same {
            Some((group, clusters, both)) => {
                *group = both;
                *clusters = clusters.or(set);
            }
            None => groups.push((verdict.clone(), set.clone())),
        }
    }
    groups
}

/// One verdict for both, if there is one.
fn merged(a: &Verdict, b: &Verdict) -> Option<Verdict> {
    match (a, b) {
        (
            Verdict::NoRoom { resource, needed, free },
            Verdict::NoRoom { resource: other, needed: also_needed, free: also_free },
        ) if (resource, needed) == (other, also_needed) => {
            Some(Verdict::NoRoom { resource: resource.clone(), needed: *needed, free: *free.max(also_free) })
        }
        (
            Verdict::LargerThanNode { resource, needed, largest },
            Verdict::LargerThanNode { resource: other, needed: also_needed, largest: also_largest },
        ) if (resource, needed) == (other, also_needed) => Some(Verdict::LargerThanNode {
            resource: resource.clone(),
            needed: *needed,
            largest: *largest.max(also_largest),
        }),
        (a, b) => (a == b).then(|| a.clone()),
    }
}

/// What would have to change for a cluster with this verdict to take the app.
pub(super) fn remedy(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Mismatch(_) => "change `placement.clusters`, or the cluster's labels".to_owned(),
        Verdict::Team => "add it to `clusters` of the Team".to_owned(),
        Verdict::NoTier => "add it to a group of `placement.clusters.tiers`".to_owned(),
        Verdict::OtherTier(tier) => format!("tier {tier} has to be too small, or come later in `tiers`"),
        Verdict::NotWithGroup(group) => format!("the first app of group {group} has to be there"),
        Verdict::TakenByGroup(group) => format!("the other app of group {group} has to leave"),
        Verdict::Taint(taint) => format!("tolerate {taint} in `placement.tolerations`, or remove the taint"),
        Verdict::ApiNotServed(api) => format!("serve {api} there (`apis` of the Cluster), or leave the cluster out"),
        Verdict::Lifecycle(_) => "set its lifecycle to Active".to_owned(),
        Verdict::Unhealthy => "the cluster has to answer again".to_owned(),
        Verdict::Evicted => "the cluster has to answer again, or a longer `tolerationSeconds`".to_owned(),
        Verdict::LargerThanNode { resource, needed, .. } => {
            format!("lower the request, or add nodes with at least {} {resource}", amount_at_least(resource, *needed))
        }
        Verdict::NoEligiblePool => "add a node pool that its node selector, affinity and tolerations allow".to_owned(),
        Verdict::NoRoom { resource, .. } => format!("free {resource} there, or add nodes"),
        Verdict::NoRoomForSet { resource, .. } => format!("free {resource} there, or add nodes: a set is never split"),
        Verdict::Bound => "raise the bound: `perCluster.max`, `max` of the weight rule, or the replicas".to_owned(),
        Verdict::ObjectRule => "let `clusters` of the rule in the App's `objects` select it".to_owned(),
        Verdict::NoWeight => "give it a weight above 0 in `placement.replicas.weights`".to_owned(),
        Verdict::RoundedToZero => "raise its weight, the replicas, or `min` of its weight rule".to_owned(),
        Verdict::NotChosen => {
            "`why APP CLUSTER` says what: a spread, fewest clusters, or a workload that runs in one".to_owned()
        }
        Verdict::Quota => "raise the team's quota, or ask for less".to_owned(),
        Verdict::NotAll => "make room for all replicas, or state `capacity: Cap` in `placement.replicas`".to_owned(),
        Verdict::SupposedLost => "it is supposed to be lost in this scenario".to_owned(),
    }
}
