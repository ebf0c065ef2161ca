//! How a workload is placed, and where a field of its placement comes from, in words.

use crate::api::{AutoscaledRoom, Capacity, Strategy};
use crate::base::ClusterId;
use crate::model::{LayerKind, PlacementField, Replicas, Share, Workload};

/// The weight of a cluster where static weights decide: the largest of the rules that match.
pub(super) fn weight(workload: &Workload, cluster: ClusterId) -> Option<u32> {
    if workload.share != Share::Divided || workload.policy.strategy != Some(Strategy::StaticWeight) {
        return None;
    }
    match &workload.policy.weights {
        None => Some(1),
        Some(rules) => rules.iter().filter(|rule| rule.clusters.contains(cluster)).map(|rule| rule.weight).max(),
    }
}

/// How a workload is placed, in words.
pub(super) fn rule(workload: &Workload) -> String {
    if let Some(autoscaled) = workload.autoscaled {
        let over =
            if workload.share == Share::Everywhere { "each in every selected cluster" } else { "in equal shares" };
        let room = match autoscaled.policy.room {
            AutoscaledRoom::Min => "",
            AutoscaledRoom::Observed => "; room is booked for those that are observed",
            AutoscaledRoom::Max => "; room is booked for the most",
        };
        return format!("{} to {} replicas, as its autoscaler says, {over}{room}", autoscaled.min, autoscaled.max);
    }
    let many = |n: u32| if n == 1 { "1 replica".to_owned() } else { format!("{n} replicas") };
    if workload.part.is_some() {
        let pods = if workload.replicas == 1 { "1 pod".to_owned() } else { format!("{} pods", workload.replicas) };
        return match workload.share {
            Share::Everywhere => format!("{pods} of a set that runs as a whole in every selected cluster"),
            Share::Whole | Share::Divided => format!("{pods} of a set that runs as a whole in one cluster"),
        };
    }
    match workload.share {
        Share::Everywhere if workload.kind.is_counted() => {
            format!("{} in every selected cluster", many(workload.replicas))
        }
        Share::Everywhere => "in every selected cluster".to_owned(),
        Share::Whole => format!("{}, whole in one cluster", many(workload.replicas)),
        Share::Divided => {
            let Replicas { strategy, weigh_by, capacity, min, max, .. } = &workload.policy;
            let strategy = match strategy {
                None => "placed in the one cluster that is selected",
                Some(Strategy::Duplicated) => "in every selected cluster",
                Some(Strategy::StaticWeight) => "divided by static weights",
                Some(Strategy::DynamicWeight) => match weigh_by {
                    None => "divided by the room of each cluster",
                    Some(_) => "divided by what its estimator says of each cluster",
                },
                Some(Strategy::Aggregated) => "on as few clusters as hold them",
            };
            let capacity = match capacity {
                Capacity::Cap => "what does not fit is left out",
                Capacity::Ignore => "room is not looked at",
                Capacity::Require => "nothing is added unless all of it fits",
            };
            let min = if *min > 0 { format!(", at least {min} in each") } else { String::new() };
            let max = max.map(|max| format!(", at most {max} in each")).unwrap_or_default();
            format!("{} {strategy}{min}{max}; {capacity}", many(workload.replicas))
        }
    }
}

pub(super) fn field_name(field: PlacementField) -> &'static str {
    match field {
        PlacementField::Clusters => "placement.clusters",
        PlacementField::Tolerations => "placement.tolerations",
        PlacementField::Spread => "placement.spread",
        PlacementField::Replicas => "placement.replicas",
        PlacementField::Affinity => "placement.affinity",
        PlacementField::AntiAffinity => "placement.antiAffinity",
        PlacementField::Move => "placement.move",
    }
}

pub(super) fn layer_name(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::App => "App",
        LayerKind::Policy => "PlacementPolicy",
        LayerKind::Team => "Team",
        LayerKind::Fleet => "Fleet",
    }
}
