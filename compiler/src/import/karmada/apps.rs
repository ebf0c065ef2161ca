//! Templates as apps: which objects go together.
//!
//! Karmada schedules every template by itself, so every workload is an app of its own, with its autoscaler. Objects
//! without replicas go to all clusters of their policy, so those of one policy are one app, duplicated. What a workload
//! refers to and no policy selects follows it: into its app, or, where several refer to it, into an app of its own that
//! goes wherever one of them may go.

use std::collections::{BTreeMap, BTreeSet};

use super::precedence::{Policy, winner};
use super::references;
use crate::base::SmolStr;
use crate::import::documents::Object;
use crate::import::repository::Names;
use crate::import::{About, Fate, Note};
use crate::kinds::replicas::WorkloadKind;

/// An app to be.
#[derive(Clone, Debug)]
pub(super) struct App {
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: SmolStr,
    pub name: SmolStr,
    /// The policies that its objects belong to, by their places: one, or those of all that share it.
    pub policies: BTreeSet<usize>,
    pub form: Form,
    /// Its objects, by their places.
    pub objects: Vec<usize>,
}

/// What an app was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A workload whose replicas Karmada schedules.
    Workload,
    /// Objects without replicas.
    Objects,
    /// What several workloads refer to.
    Shared,
}

/// Kinds whose replicas Karmada schedules. Others go to every cluster as they are.
fn has_replicas(object: &Object) -> bool {
    match WorkloadKind::of(&object.group, &object.kind) {
        Some(
            WorkloadKind::Deployment
            | WorkloadKind::Job
            | WorkloadKind::Pod
            | WorkloadKind::ReplicaSet
            | WorkloadKind::StatefulSet,
        ) => true,
        // Karmada has no interpreter for a ReplicationController
        // a custom kind is never found by its name alone
        Some(
            WorkloadKind::CronJob
            | WorkloadKind::DaemonSet
            | WorkloadKind::ReplicationController
            | WorkloadKind::Custom(_),
        )
        | None => false,
    }
}

/// The apps, ascending by namespace and name. Objects that are nowhere in Karmada are in none.
pub(super) fn group(objects: &[Object], policies: &[Policy], notes: &mut Vec<Note>) -> Vec<App> {
    let mut owner: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate() {
        let Some((policy, best)) = winner(policies, object) else { continue };
        owner.insert(at, policy);
        if let (Some(kept), Some(other)) = (policies.get(policy), policies.get(best))
            && policy != best
        {
            let text = format!(
                "stays with {} {}, which claimed it; {} {} would have it otherwise",
                kept.kind(),
                kept.name,
                other.kind(),
                other.name
            );
            about(object, notes).say(Fate::Resolved, "", text);
        }
    }
    let mut names: BTreeMap<SmolStr, Names> = BTreeMap::new();
    let mut apps: Vec<App> = Vec::new();
    let mut of_object: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, policy) in &owner {
        let Some(object) = objects.get(*at).filter(|object| has_replicas(object)) else { continue };
        let name = names.entry(object.namespace.clone()).or_default().free(&app_name(&object.name));
        of_object.insert(*at, apps.len());
        apps.push(App {
            namespace: object.namespace.clone(),
            name,
            policies: BTreeSet::from([*policy]),
            form: Form::Workload,
            objects: vec![*at],
        });
    }
    autoscalers(objects, &owner, &mut apps, &mut of_object, notes);
    let mut plain: BTreeMap<(SmolStr, usize), Vec<usize>> = BTreeMap::new();
    for (at, policy) in owner.iter().filter(|(at, _)| !of_object.contains_key(at)) {
        let Some(object) = objects.get(*at) else { continue };
        plain.entry((object.namespace.clone(), *policy)).or_default().push(*at);
    }
    for ((namespace, policy), of) in plain {
        let wanted = policies.get(policy).map(|policy| policy.name.as_str()).unwrap_or_default();
        let name = names.entry(namespace.clone()).or_default().free(&app_name(wanted));
        apps.push(App { namespace, name, policies: BTreeSet::from([policy]), form: Form::Objects, objects: of });
    }
    followers(objects, policies, &owner, &mut apps, &mut names, notes);
    apps.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    apps
}

/// A name that an App can have: a DNS label, with room for a number.
fn app_name(name: &str) -> String {
    const LONGEST: usize = 58;
    let name = name.to_lowercase().replace(|c: char| !(c.is_ascii_alphanumeric() || c == '-'), "-");
    let name = name.get(..LONGEST).unwrap_or(&name).trim_matches('-');
    if name.is_empty() { "app".to_owned() } else { name.to_owned() }
}

fn about<'n>(object: &Object, notes: &'n mut Vec<Note>) -> About<'n> {
    About { file: object.file.clone(), object: object.title(), notes }
}

/// An autoscaler goes with what it scales: its bounds are what is divided.
fn autoscalers(
    objects: &[Object],
    owner: &BTreeMap<usize, usize>,
    apps: &mut [App],
    of_object: &mut BTreeMap<usize, usize>,
    notes: &mut Vec<Note>,
) {
    for at in owner.keys() {
        let Some(object) = objects.get(*at).filter(|object| object.kind == "HorizontalPodAutoscaler") else { continue };
        let text = |key: &str| {
            object.value.pointer(&format!("/spec/scaleTargetRef/{key}")).and_then(serde_json::Value::as_str)
        };
        let scaled = |app: &&mut App| {
            let workload = app.objects.first().and_then(|at| objects.get(*at));
            workload.is_some_and(|workload| {
                app.form == Form::Workload
                    && workload.namespace == object.namespace
                    && text("kind") == Some(workload.kind.as_str())
                    && text("name") == Some(workload.name.as_str())
            })
        };
        let Some((index, app)) = (0..).zip(apps.iter_mut()).find(|(_, app)| scaled(app)) else { continue };
        app.objects.push(*at);
        of_object.insert(*at, index);
        let said = "its minimum and maximum are divided over the clusters; Karmada gives each cluster all of them";
        about(object, notes).say(Fate::Differs, "spec", said);
    }
}

/// What workloads refer to and no policy selects.
fn followers(
    objects: &[Object],
    policies: &[Policy],
    owner: &BTreeMap<usize, usize>,
    apps: &mut Vec<App>,
    names: &mut BTreeMap<SmolStr, Names>,
    notes: &mut Vec<Note>,
) {
    let mut wanted: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (index, app) in apps.iter().enumerate() {
        let follows = |policy: &&Policy| policy.spec.propagate_deps || policy.spec.association;
        if !app.policies.iter().filter_map(|at| policies.get(*at)).any(|policy| follows(&policy)) {
            continue;
        }
        for object in app.objects.iter().filter_map(|at| objects.get(*at)) {
            for (kind, name) in references::of(object) {
                let found = objects.iter().position(|other| {
                    other.group.is_empty()
                        && other.kind == kind
                        && other.name == name
                        && other.namespace == object.namespace
                });
                let Some(found) = found else { continue };
                match owner.get(&found) {
                    None => {
                        wanted.entry(found).or_default().insert(index);
                    }
                    Some(_) => {
                        let text = format!(
                            "a policy of its own selects {kind} {name}: it goes where that says, and does not follow"
                        );
                        about(object, notes).say(Fate::Differs, "", text);
                    }
                }
            }
        }
    }
    let mut shared: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
    for (at, owners) in wanted {
        match (owners.len(), owners.first().and_then(|index| apps.get_mut(*index))) {
            (1, Some(app)) => app.objects.push(at),
            _ => shared.entry(owners).or_default().push(at),
        }
    }
    for (owners, of) in shared {
        let owners: Vec<&App> = owners.iter().filter_map(|index| apps.get(*index)).collect();
        let Some(namespace) = owners.first().map(|app| app.namespace.clone()) else { continue };
        let policies = owners.iter().flat_map(|app| app.policies.iter().copied()).collect();
        let listed: Vec<&str> = owners.iter().map(|app| app.name.as_str()).collect();
        let text = format!("goes wherever {} may go, not only where they run: one app may hold it", listed.join(", "));
        for object in of.iter().filter_map(|at| objects.get(*at)) {
            about(object, notes).say(Fate::Differs, "", text.clone());
        }
        let name = names.entry(namespace.clone()).or_default().free("shared");
        apps.push(App { namespace, name, policies, form: Form::Shared, objects: of });
    }
}
