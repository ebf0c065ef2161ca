//! Karmada's policies, clusters, quotas and the templates they select, as a fleet repository.
//!
//! ```text
//! objects --precedence, preemption--> policy of each template --apps--> apps
//!         --placement, overrides, cluster, quota, customization--> intents
//! ```
//!
//! A namespace becomes a team that may use that namespace; cluster-scoped templates a team `cluster-scoped`. A
//! PropagationPolicy becomes a PlacementPolicy in the team's folder, a ClusterPropagationPolicy one in `policies/`; each
//! names its apps, so that what Karmada decides by precedence, claims and preemption is decided.

mod affinity;
mod apps;
mod bindings;
mod cluster;
mod customization;
mod health;
mod lua;
mod meaning;
mod objects;
mod overrides;
mod placement;
mod policies;
mod precedence;
mod quota;
mod references;
mod sort;
mod teams;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::affinity::ClusterFacts;
use self::sort::Sorted;
use super::documents::{self, Object};
use super::repository::{Names, Repository};
use super::{About, Fate, Imported, InputFile, Note, Unreadable};
use crate::base::SmolStr;
use crate::base::labels::Labels;

pub use objects::ResourceSelector;
pub use overrides::order;
pub use precedence::{Implicit, Template, implicit, rank};

/// Imports a folder of Karmada's objects and of the templates that its API server holds.
///
/// # Errors
/// Files that are no YAML, and objects that are there twice and differ.
pub fn import(files: &[InputFile]) -> Result<Imported, Vec<Unreadable>> {
    let mut notes = Vec::new();
    let Sorted { clusters, policies, overrides, quotas, customizations, bindings, classes, namespaces, templates } =
        sort::sort(documents::read(files)?, &mut notes)?;
    let mut repository = Repository::new();
    let facts = clusters_of(&clusters, &policies, &overrides, &quotas, &mut repository, &mut notes);
    let apps = apps::group(&templates, &policies, &mut notes);
    let held: BTreeSet<usize> = apps.iter().flat_map(|app| app.objects.iter().copied()).collect();
    for object in (0..).zip(&templates).filter(|(at, _)| !held.contains(at)).map(|(_, object)| object) {
        about_object(object, &mut notes).say(Fate::Skipped, "", "no policy selects it: it runs nowhere");
    }
    let teams = teams::names(&apps, &quotas);
    let classes = policies::write(&policies, &apps, &templates, &teams, &classes, &facts, &mut repository, &mut notes);
    teams::write(&teams, &classes, &apps, &templates, &namespaces, &quotas, &mut repository, &mut notes);
    write_overrides(&overrides, &apps, &templates, &teams, &facts, &mut repository, &mut notes);
    for named in &customizations {
        let mut about = About {
            file: named.file.clone(),
            object: named.title("ResourceInterpreterCustomization"),
            notes: &mut notes,
        };
        if let Some(spec) = customization::convert(&named.spec, &mut about) {
            let name = format!("{}.{}", spec.kind.value.to_lowercase(), spec.group.value);
            let path = format!("policies/workloadkind-{name}.yaml");
            repository.put(path, ("WorkloadKind", &name), &Labels::new(), &spec, &mut about);
        }
    }
    let placements = bindings::placements(&bindings, &apps, &templates, &teams, &mut notes);
    Ok(Imported { files: repository.files(), placements, notes })
}

fn about_object<'n>(object: &Object, notes: &'n mut Vec<Note>) -> About<'n> {
    About { file: object.file.clone(), object: object.title(), notes }
}

/// Writes the clusters, and those that are only named.
fn clusters_of(
    clusters: &[sort::Named<objects::KarmadaCluster>],
    policies: &[precedence::Policy],
    overrides: &[overrides::Policy],
    quotas: &[sort::Named<objects::FederatedQuota>],
    repository: &mut Repository,
    notes: &mut Vec<Note>,
) -> Vec<ClusterFacts> {
    let mut facts = Vec::new();
    for named in clusters {
        let mut about = About { file: named.file.clone(), object: named.title("Cluster"), notes };
        let (spec, of) = cluster::convert(&named.name, &named.spec, &mut about);
        let path = format!("clusters/{}.yaml", named.name);
        repository.put(path, ("Cluster", &named.name), &named.labels, &spec, &mut about);
        facts.push(of);
    }
    let mut mentioned: BTreeMap<&SmolStr, &SmolStr> = BTreeMap::new();
    for policy in policies {
        for name in policies::mentioned(&policy.spec.placement) {
            mentioned.entry(name).or_insert(&policy.file);
        }
    }
    for policy in overrides {
        let rules = policy.spec.override_rules.iter().map(|rule| rule.target_cluster.as_ref());
        for target in rules.chain([policy.spec.target_cluster.as_ref()]).flatten() {
            target.cluster_names.iter().for_each(|name| {
                mentioned.entry(name).or_insert(&policy.file);
            });
        }
    }
    for quota in quotas {
        for assignment in &quota.spec.static_assignments {
            mentioned.entry(&assignment.cluster_name).or_insert(&quota.file);
        }
    }
    for (name, file) in mentioned {
        if facts.iter().any(|known: &ClusterFacts| known.name == *name) {
            continue;
        }
        let mut about = About { file: file.clone(), object: documents::title("Cluster", "", name), notes };
        let spec = cluster::undescribed(!clusters.is_empty(), &mut about);
        repository.put(format!("clusters/{name}.yaml"), ("Cluster", name), &Labels::new(), &spec, &mut about);
        facts.push(ClusterFacts { name: name.clone(), ..ClusterFacts::default() });
    }
    facts
}

/// Writes the override policies: those of the cluster into `policies/`, others into the folder of their team.
fn write_overrides(
    overrides: &[overrides::Policy],
    apps: &[apps::App],
    templates: &[Object],
    teams: &teams::Teams,
    facts: &[ClusterFacts],
    repository: &mut Repository,
    notes: &mut Vec<Note>,
) {
    let apps: Vec<(String, &apps::App)> =
        apps.iter().map(|app| (format!("{}/{}", teams.of(&app.namespace), app.name), app)).collect();
    let placed: Vec<overrides::Placed<'_>> = apps
        .iter()
        .flat_map(|(name, app)| app.objects.iter().filter_map(|at| Some((name.as_str(), templates.get(*at)?))))
        .collect();
    let mut layers: BTreeMap<&SmolStr, Vec<&overrides::Policy>> = BTreeMap::new();
    for policy in overrides {
        layers.entry(&policy.namespace).or_default().push(policy);
    }
    let mut names = Names::default();
    for (namespace, policies) in layers {
        for overrides::Made { policy, ordered, spec } in overrides::layer(&policies, &placed, facts, notes) {
            let name = names.free(&match namespace.as_str() {
                "" => policy.name.to_string(),
                namespace => format!("{namespace}-{}", policy.name),
            });
            let folder = match namespace.as_str() {
                "" => "policies".to_owned(),
                namespace => format!("teams/{}", teams.of(namespace)),
            };
            let mut about = policy.about(notes);
            if ordered {
                let text = format!("its place in the order is `precedence: {}` of `{name}`", spec.precedence);
                about.say(Fate::Resolved, "", text);
            }
            let path = format!("{folder}/overrides-{name}.yaml");
            repository.put(path, ("OverridePolicy", &name), &Labels::new(), &spec, &mut about);
        }
    }
}
