//! Namespaces to generate: those that objects of a cluster lie in, unless the fleet holds the object itself there.

use std::collections::{BTreeMap, BTreeSet};

use super::AppPlan;
use crate::base::labels::Labels;
use crate::base::{ClusterId, SmolStr};
use crate::model::{App, Fleet};

/// By cluster, then name. Never Kubernetes' own: `default`, `kube-*`.
pub(super) fn namespaces(fleet: &Fleet, plans: &[AppPlan]) -> Vec<(ClusterId, SmolStr, Labels)> {
    let mut wanted: BTreeMap<(ClusterId, &SmolStr), Labels> = BTreeMap::new();
    let mut written: BTreeSet<(ClusterId, &SmolStr)> = BTreeSet::new();
    for (app, plan) in fleet.apps.iter().zip(plans) {
        for planned in plan.objects.chunk_by(|a, b| a.cluster == b.cluster) {
            let Some(cluster) = planned.first().map(|p| p.cluster) else { continue };
            let keys = planned.iter().filter_map(|p| app.objects.get(p.object as usize)).map(|object| &object.key);
            let mut last: Option<&SmolStr> = None;
            for key in keys {
                if key.kind == "Namespace" && key.group.is_empty() {
                    written.insert((cluster, &key.name));
                }
                let Some(namespace) = key.namespace.as_ref().filter(|n| !is_own(n)) else { continue };
                if last != Some(namespace) {
                    last = Some(namespace);
                    let labels = wanted.entry((cluster, namespace)).or_default();
                    // Teams that share a namespace each add theirs; the first to state a label keeps it.
                    for (key, value) in labels_of(fleet, app, namespace) {
                        labels.entry(key.clone()).or_insert_with(|| value.clone());
                    }
                }
            }
        }
    }
    wanted.retain(|at, _| !written.contains(at));
    wanted.into_iter().map(|((cluster, name), labels)| (cluster, name.clone(), labels)).collect()
}

fn is_own(namespace: &str) -> bool {
    namespace == "default" || namespace.starts_with("kube-")
}

/// Labels of the team's rule: the exact name before a prefix, a longer prefix before a shorter one.
fn labels_of<'f>(fleet: &'f Fleet, app: &App, namespace: &str) -> impl Iterator<Item = (&'f SmolStr, &'f SmolStr)> {
    let rules = fleet.team(app.team).namespaces.iter().filter(|rule| rule.covers(namespace));
    let rule = rules.max_by_key(|rule| (!rule.prefix, rule.text.len()));
    rule.into_iter().flat_map(|rule| &rule.labels)
}
