//! Cluster affinities as cluster selectors.

use std::collections::BTreeSet;

use super::objects::{Affinity, FieldExpression};
use crate::api::ClusterSelector;
use crate::base::SmolStr;
use crate::base::labels::{LabelOperator, LabelRequirement, LabelSelector};
use crate::import::repository::{placeless, placeless_all};
use crate::import::{About, Fate};

/// What selectors may ask about a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterFacts {
    pub name: SmolStr,
    pub provider: SmolStr,
    pub zones: Vec<SmolStr>,
}

/// The selector that matches what an affinity matches.
///
/// `NotIn` on a region becomes a requirement on the region's label, which every cluster with a region has; on providers
/// and zones it becomes `exclude`, with the clusters of today.
pub(super) fn selector(
    affinity: &Affinity,
    field: &str,
    clusters: &[ClusterFacts],
    about: &mut About<'_>,
) -> ClusterSelector {
    let Affinity { label_selector, field_selector, cluster_names, exclude } = affinity;
    let known = |name: &&SmolStr| clusters.iter().any(|cluster| cluster.name == **name);
    let mut found = ClusterSelector {
        names: (!cluster_names.is_empty()).then(|| placeless_all(cluster_names)),
        exclude: placeless_all(exclude.iter().filter(known)),
        ..ClusterSelector::default()
    };
    let unknown: Vec<&str> = exclude.iter().filter(|name| !known(name)).map(SmolStr::as_str).collect();
    if !unknown.is_empty() {
        let text = format!("no Cluster object of this name, so nothing is excluded: {}", unknown.join(", "));
        about.say(Fate::Resolved, &format!("{field}.exclude"), text);
    }
    if let Some(written) = label_selector {
        match serde_json::from_value::<LabelSelector>(written.clone()) {
            Ok(LabelSelector { match_labels, match_expressions }) => {
                found.match_labels = match_labels;
                found.match_expressions = match_expressions.into_iter().map(placeless).collect();
            }
            Err(error) => {
                let text = format!("is no label selector: {error}. Left out, so that more clusters match");
                about.say(Fate::NoCounterpart, &format!("{field}.labelSelector"), text);
            }
        }
    }
    for expression in &field_selector.match_expressions {
        let field = format!("{field}.fieldSelector");
        fields(expression, &field, clusters, &mut found, about);
    }
    found
}

fn fields(
    expression: &FieldExpression,
    field: &str,
    clusters: &[ClusterFacts],
    found: &mut ClusterSelector,
    about: &mut About<'_>,
) {
    let FieldExpression { key, operator, values } = expression;
    let list = match (key.as_str(), operator.as_str()) {
        ("provider", "In") => &mut found.providers,
        ("region", "In") => &mut found.regions,
        ("zone", "In") => &mut found.zones,
        ("region", "NotIn") => {
            let requirement = LabelRequirement {
                key: "topology.kubernetes.io/region".into(),
                operator: LabelOperator::NotIn,
                values: values.clone(),
            };
            return found.match_expressions.push(placeless(requirement));
        }
        ("provider" | "zone", "NotIn") => {
            let of = |cluster: &&ClusterFacts| match key.as_str() {
                "provider" => values.contains(&cluster.provider),
                _ => cluster.zones.iter().any(|zone| values.contains(zone)),
            };
            let excluded: BTreeSet<&SmolStr> = clusters.iter().filter(of).map(|cluster| &cluster.name).collect();
            about.say(
                Fate::Resolved,
                field,
                format!(
                    "{key} NotIn became `exclude` with the {} clusters of today that it leaves out",
                    excluded.len()
                ),
            );
            return found.exclude.extend(placeless_all(excluded));
        }
        _ => {
            let text = format!("{key} {operator} is left out, so that more clusters match");
            return about.say(Fate::NoCounterpart, field, text);
        }
    };
    let both: Vec<&SmolStr> = match &*list {
        None => values.iter().collect(),
        Some(before) => values.iter().filter(|value| before.iter().any(|kept| kept.value == **value)).collect(),
    };
    if both.is_empty() {
        let text = format!("no {key} is in all of the lists: in Karmada nothing matched; the last list is left out");
        return about.say(Fate::NoCounterpart, field, text);
    }
    *list = Some(placeless_all(both));
}
