//! What gives a cluster a share: bounds, weights, the spread.

use super::Remedies;
use crate::api::Strategy;
use crate::base::ClusterId;
use crate::model::{PlacementField, Share};
use crate::report::why_cluster::ChangeReport;

impl Remedies<'_> {
    pub(super) fn bound(&self) -> ChangeReport {
        let name = &self.cluster().name;
        let workload = self.lead().and_then(|lead| self.app.workloads.get(usize::from(lead.workload)));
        let Some(workload) = workload else { return Self::said("raise the bound".to_owned()) };
        let floor = workload.floor(self.at);
        let rules = workload.policy.weights.iter().flatten().filter(|rule| rule.clusters.contains(self.at));
        let max = rules.filter_map(|rule| rule.max).chain(workload.policy.max).min();
        let needed = if workload.share == Share::Everywhere { workload.replicas } else { floor.max(1) };
        let change = match max {
            Some(max) if max < needed => format!(
                "raise `max` for {name} from {max} to {needed} (`placement.replicas.perCluster.max`, or `max` of its weight rule)"
            ),
            Some(_) | None => format!(
                "ask for more replicas than {}, or lower `min` for {name} from {floor} (`placement.replicas.perCluster.min`, or `min` of its weight rule)",
                workload.replicas
            ),
        };
        self.in_layer(PlacementField::Replicas, change)
    }

    pub(super) fn rounded(&self) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let mut changes = Vec::new();
        let share = self.lead().and_then(|lead| lead.share);
        if let Some(share) = share {
            if let Some(weight) = share.enough_weight {
                changes.push(self.in_layer(
                    PlacementField::Replicas,
                    format!("raise the weight of {name} from {} to {weight}", share.weight),
                ));
            }
            if let Some(replicas) = share.enough_replicas {
                changes.push(self.in_layer(
                    PlacementField::Replicas,
                    format!("or ask for {replicas} replicas in all: the last of them is its first"),
                ));
            }
        }
        changes
            .push(self.in_layer(PlacementField::Replicas, format!("or give {name} a `min` of 1 in its weight rule")));
        changes
    }

    pub(super) fn not_chosen(&self) -> Vec<ChangeReport> {
        let fleet = &self.compiled.fleet;
        let name = &self.cluster().name;
        let target = self.compiled.target.apps.get(self.id.index());
        let chosen: Vec<ClusterId> = target.into_iter().flat_map(|target| target.clusters.iter()).collect();
        let mut changes = Vec::new();
        for spread in &self.app.placement.spread {
            let group = spread.key.group(self.cluster());
            let mut used: Vec<_> = chosen.iter().filter_map(|id| spread.key.group(fleet.cluster(*id))).collect();
            used.sort();
            used.dedup();
            let Some(group) = group else {
                changes.push(self.in_cluster_file(format!(
                    "{name} has no {}: state it, so that `spread` can count it",
                    spread.key.as_str()
                )));
                continue;
            };
            let is_full = spread.max.is_some_and(|max| used.len() >= usize::try_from(max).unwrap_or(usize::MAX));
            if is_full && !used.contains(&group) {
                let max = spread.max.unwrap_or_default();
                let change = format!(
                    "raise `max` of the spread over {} from {max} to {}: {} {} in use",
                    spread.key.as_str(),
                    max.saturating_add(1),
                    used.join(", "),
                    if used.len() == 1 { "is" } else { "are" }
                );
                changes.push(self.in_layer(PlacementField::Spread, change));
            }
        }
        let lead = self.lead().and_then(|lead| Some((lead, self.app.workloads.get(usize::from(lead.workload))?)));
        if let Some((lead, workload)) = lead {
            let key = &workload.key;
            if workload.share == Share::Whole {
                changes.push(self.in_app(format!("{key} runs as a whole in one cluster: select {name} alone, or let it be divided (`divide: true` in `objects`)")));
            } else if workload.policy.strategy == Some(Strategy::Aggregated) {
                let held: u32 = target
                    .into_iter()
                    .flat_map(|t| &t.seats)
                    .filter(|s| s.workload == lead.workload)
                    .map(|s| s.replicas)
                    .sum();
                changes.push(self.in_layer(PlacementField::Replicas, format!(
                    "Aggregated uses the fewest clusters that hold the {held} replicas of {key}: ask for more than these hold, or raise `min` of the spread over cluster"
                )));
            }
        }
        if changes.is_empty() {
            changes.push(self.in_layer(
                PlacementField::Spread,
                format!("raise `max` of the spread, so that {name} is among the clusters that are taken"),
            ));
        }
        changes
    }
}
