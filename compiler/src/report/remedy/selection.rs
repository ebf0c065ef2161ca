//! What lets a cluster be selected: the selector, tiers, groups, taints, its lifecycle.

use super::Remedies;
use crate::api::Lifecycle;
use crate::base::labels::{LabelOperator, LabelSelector};
use crate::model::{PlacementField, Selector};
use crate::report::why_cluster::ChangeReport;

impl Remedies<'_> {
    /// Every part of the selector that the cluster fails.
    pub(super) fn selects(&self, selector: &Selector) -> Vec<ChangeReport> {
        let cluster = self.cluster();
        let name = &cluster.name;
        let Selector { labels, names, exclude, providers, regions, zones } = selector;
        let in_selector = |change: String| self.in_layer(PlacementField::Clusters, change);
        let mut changes = Vec::new();
        if exclude.contains(name) {
            changes.push(in_selector(format!("take {name} out of `placement.clusters.exclude`")));
        }
        if names.as_ref().is_some_and(|names| !names.contains(name)) {
            changes.push(in_selector(format!("add {name} to `placement.clusters.names`")));
        }
        let one_of =
            [("provider", "providers", providers, &cluster.provider), ("region", "regions", regions, &cluster.region)];
        for (what, field, list, own) in one_of {
            let Some(list) = list else { continue };
            match own {
                Some(own) if list.contains(own) => {}
                Some(own) => changes.push(in_selector(format!(
                    "add {own}, the {what} of {name}, to `placement.clusters.{field}` ({})",
                    list.join(", ")
                ))),
                None => changes
                    .push(self.in_cluster_file(format!("state the `{what}` of {name}: one of {}", list.join(", ")))),
            }
        }
        if let Some(list) = zones
            && !cluster.zones.iter().any(|zone| list.contains(zone))
        {
            let own = if cluster.zones.is_empty() { "none".to_owned() } else { cluster.zones.join(", ") };
            changes.push(in_selector(format!(
                "add a zone of {name} ({own}) to `placement.clusters.zones` ({})",
                list.join(", ")
            )));
        }
        let LabelSelector { match_labels, match_expressions } = labels;
        for (key, wanted) in match_labels {
            match cluster.labels.get(key) {
                Some(own) if own == wanted => {}
                Some(own) => changes.push(self.in_cluster_file(format!(
                    "label {name} `{key}: {wanted}` (it has `{own}`), or change `placement.clusters.matchLabels`"
                ))),
                None => changes.push(self.in_cluster_file(format!(
                    "label {name} `{key}: {wanted}` (it has no such label), or change `placement.clusters.matchLabels`"
                ))),
            }
        }
        for requirement in match_expressions {
            let alone =
                LabelSelector { match_labels: Default::default(), match_expressions: vec![requirement.clone()] };
            if alone.matches(&cluster.labels) {
                continue;
            }
            let values = requirement.values.join(", ");
            let wanted = match requirement.operator {
                LabelOperator::In => format!("label {name} `{}` with one of {values}", requirement.key),
                LabelOperator::NotIn => format!("label {name} `{}` with none of {values}", requirement.key),
                LabelOperator::Exists => format!("label {name} `{}` with any value", requirement.key),
                LabelOperator::DoesNotExist => format!("take label `{}` off {name}", requirement.key),
            };
            changes.push(self.in_cluster_file(format!("{wanted}, or change `placement.clusters.matchExpressions`")));
        }
        changes
    }

    pub(super) fn other_tier(&self, used: &str) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let own = self.app.placement.first_fit().into_iter().flatten().find(|tier| tier.clusters.contains(self.at));
        let own = own.map(|tier| tier.name.as_str()).unwrap_or_default();
        let change = format!(
            "list tier {own}, which {name} is in, before {used}; or tier {used} must no longer hold all replicas"
        );
        vec![self.in_layer(PlacementField::Clusters, change)]
    }

    pub(super) fn with_group(&self, group: &str) -> Vec<ChangeReport> {
        let fleet = &self.compiled.fleet;
        let name = &self.cluster().name;
        let change = match self.explained.together.first() {
            Some(first) if *first == self.id => {
                let rest: Vec<String> = self.explained.together.iter().skip(1).map(|id| fleet.app_name(*id)).collect();
                format!("{name} has to be allowed for all of group {group}: {} as well", rest.join(", "))
            }
            Some(first) => {
                format!(
                    "{}, the first of group {group}, has to be placed in {name}: `why {0} {name}`",
                    fleet.app_name(*first)
                )
            }
            None => format!("the first app of group {group} has to be placed in {name}"),
        };
        vec![self.in_layer(PlacementField::Affinity, change)]
    }

    pub(super) fn taints(&self) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let mut changes = Vec::new();
        for (taint, recorded) in &self.explained.taints {
            let value = if taint.value.is_empty() {
                "operator: Exists".to_owned()
            } else {
                format!("operator: Equal, value: {}", taint.value)
            };
            let toleration = format!("{{key: {}, {value}, effect: {:?}}}", taint.key, taint.effect);
            changes.push(self.in_app(format!("add the toleration {toleration} to `placement.tolerations`")));
            let remove = format!("or take the taint {taint} off {name}");
            changes.push(if *recorded {
                Self::said(format!("{remove}: it is recorded in state/taints/{name}.yaml"))
            } else {
                self.in_cluster_file(remove)
            });
        }
        changes
    }

    pub(super) fn lifecycle(&self, lifecycle: Lifecycle) -> ChangeReport {
        let name = &self.cluster().name;
        if self.explained.lifecycle_is_recorded {
            Self::said(format!("`fleetwright uncordon {name}`: state/lifecycle/{name}.yaml says {lifecycle:?}"))
        } else {
            self.in_cluster_file(format!("set `lifecycle: Active` (it is {lifecycle:?})"))
        }
    }
}
