//! What runs, from ResourceBindings: placements from which nothing has to move.
//!
//! Only workloads are recorded: objects without replicas go to all clusters of their policy, there as here. Of what an
//! autoscaler owns, or of a Job with completions, a binding does not say how the other number is divided; these are placed
//! as if new.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::apps::{App, Form};
use super::teams::Teams;
use crate::base::SmolStr;
use crate::import::documents::Object;
use crate::import::{About, Fate, Note};
use crate::placements::{PlacedApp, PlacedSeat, PlacedWorkload, file_path, placements_text};

/// Stands for the digest of the rules that a workload was divided by: not one of ours, so that nothing is divided anew.
const IMPORTED: &str = "karmada";

/// `ResourceBinding`
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Binding {
    pub spec: BindingSpec,
    #[serde(default)]
    pub status: BindingStatus,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct BindingSpec {
    pub resource: Resource,
    #[serde(default)]
    pub clusters: Vec<TargetCluster>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Resource {
    pub kind: SmolStr,
    #[serde(default)]
    pub namespace: SmolStr,
    pub name: SmolStr,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct TargetCluster {
    pub name: SmolStr,
    #[serde(default)]
    pub replicas: u32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BindingStatus {
    #[serde(default)]
    pub scheduler_observed_affinity_name: Option<SmolStr>,
    #[serde(default)]
    pub scheduler_observing_affinity_name: Option<SmolStr>,
}

/// The files of `placements/`, by path.
pub(super) fn placements(
    bindings: &[Binding],
    apps: &[App],
    templates: &[Object],
    teams: &Teams,
    notes: &mut Vec<Note>,
) -> BTreeMap<String, String> {
    let mut placed: BTreeMap<&str, BTreeMap<&SmolStr, PlacedApp>> = BTreeMap::new();
    for app in apps.iter().filter(|app| app.form == Form::Workload) {
        let Some(object) = app.objects.first().and_then(|at| templates.get(*at)) else { continue };
        let of = |binding: &&Binding| {
            let Resource { kind, namespace, name } = &binding.spec.resource;
            (kind, namespace, name) == (&object.kind, &object.namespace, &object.name)
        };
        let Some(binding) = bindings.iter().find(of) else { continue };
        let scaled =
            app.objects.iter().filter_map(|at| templates.get(*at)).any(|o| o.kind == "HorizontalPodAutoscaler");
        let completes = object.kind == "Job" && object.value.pointer("/spec/completions").is_some_and(Value::is_number);
        if scaled || completes {
            let mut about = About { file: object.file.clone(), object: object.title(), notes };
            about.say(Fate::Resolved, "", "where it runs is not recorded: it is placed as if new");
            continue;
        }
        placed.entry(teams.of(&app.namespace)).or_default().insert(&app.name, placed_app(object, binding));
    }
    let text = |(team, apps): (&str, BTreeMap<&SmolStr, PlacedApp>)| {
        (file_path(team), placements_text(apps.iter().map(|(name, placed)| (*name, placed))))
    };
    placed.into_iter().map(text).collect()
}

fn placed_app(object: &Object, binding: &Binding) -> PlacedApp {
    let BindingSpec { resource: _, clusters } = &binding.spec;
    let seat = |of: &TargetCluster| PlacedSeat {
        cluster: of.name.clone(),
        pool: None,
        replicas: of.replicas,
        completions: None,
        bounds: None,
    };
    let mut seats: Vec<PlacedSeat> = clusters.iter().filter(|of| of.replicas > 0).map(seat).collect();
    seats.sort();
    let mut names: Vec<SmolStr> = clusters.iter().map(|of| of.name.clone()).collect();
    names.sort();
    let group = if object.group.is_empty() { "core" } else { object.group.as_str() };
    let key = format!("{group}/{}/{}", object.kind, object.name).into();
    let BindingStatus { scheduler_observed_affinity_name, scheduler_observing_affinity_name } = &binding.status;
    PlacedApp {
        place: None,
        tier: scheduler_observing_affinity_name.clone().or_else(|| scheduler_observed_affinity_name.clone()),
        clusters: names,
        workloads: BTreeMap::from([(key, PlacedWorkload { weights: IMPORTED.into(), seats, gave_way: Vec::new() })]),
    }
}
