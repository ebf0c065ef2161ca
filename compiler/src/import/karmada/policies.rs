//! Writes propagation policies and the apps they own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::affinity::ClusterFacts;
use super::apps::{App, Form};
use super::objects::{ApplicationFailover, Failover, Placement, PropagationSpec};
use super::placement;
use super::precedence::Policy;
use super::teams::Teams;
use crate::api::{
    AppSelector, AppSpec, Capacity, Duration, FailoverSpec, PlacementClusters, PlacementPolicySpec, PlacementSpec,
    PurgeMode, ReplicasSpec, Strategy, TierMode,
};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::import::documents::{Object, title};
use crate::import::repository::{Names, Repository, annotate, bare, placeless, placeless_all};
use crate::import::{About, Fate, Note};
use crate::kinds::replicas::WorkloadKind;

/// Every cluster that a placement names.
pub(super) fn mentioned(placement: &Placement) -> BTreeSet<&SmolStr> {
    let terms = placement.cluster_affinity.iter().chain(&placement.cluster_affinities);
    let mut found: BTreeSet<&SmolStr> = BTreeSet::new();
    for term in terms {
        found.extend(&term.affinity.cluster_names);
        found.extend(term.overflow_affinities.iter().flat_map(|tier| &tier.affinity.cluster_names));
    }
    let weights = placement.replica_scheduling.iter().filter_map(|scheduling| scheduling.weight_preference.as_ref());
    let entries = weights.flat_map(|weights| &weights.static_weight_list);
    found.extend(entries.flat_map(|entry| &entry.target_cluster.cluster_names));
    found
}

/// Writes policies, apps, their manifests, and the priority classes they name. Gives back the classes of each namespace:
/// those of its apps and of their pods, because a team that may name some may name no others.
pub(super) fn write(
    policies: &[Policy],
    apps: &[App],
    templates: &[Object],
    teams: &Teams,
    classes: &BTreeMap<SmolStr, Object>,
    clusters: &[ClusterFacts],
    repository: &mut Repository,
    notes: &mut Vec<Note>,
) -> BTreeMap<SmolStr, BTreeSet<SmolStr>> {
    let mut names = Names::default();
    let mut used: BTreeMap<SmolStr, BTreeSet<SmolStr>> = BTreeMap::new();
    let mut placements: BTreeMap<usize, PlacementSpec> = BTreeMap::new();
    for (at, policy) in policies.iter().enumerate() {
        let object = title(policy.kind(), &policy.namespace, &policy.name);
        let mut about = About { file: policy.file.clone(), object, notes };
        let owned = || apps.iter().filter(|app| app.policies == BTreeSet::from([at]));
        let own: Vec<SmolStr> =
            owned().map(|app| format!("{}/{}", teams.of(&app.namespace), app.name).into()).collect();
        if own.is_empty() {
            about.say(Fate::Skipped, "", "no template belongs to it");
            continue;
        }
        let mut placement = placement::convert(&policy.spec.placement, clusters, &mut about);
        placements.insert(at, placement.clone());
        if owned().all(|app| app.form != Form::Workload) {
            // nothing is divided, and the apps say so themselves
            placement.replicas = None;
        }
        say_fields(policy, &mut about);
        let (folder, wanted) = match policy.namespace.as_str() {
            "" => ("policies".to_owned(), policy.name.to_string()),
            namespace => (format!("teams/{}", teams.of(namespace)), format!("{namespace}-{}", policy.name)),
        };
        let name = names.free(&wanted);
        let spec = PlacementPolicySpec {
            apps: placeless(AppSelector { names: Some(placeless_all(&own)), ..AppSelector::default() }),
            precedence: 0,
            placement,
        };
        repository.put(format!("{folder}/{name}.yaml"), ("PlacementPolicy", &name), &Labels::new(), &spec, &mut about);
    }
    for app in apps {
        let first = app.policies.first().and_then(|at| policies.get(*at));
        let Some(policy) = first else { continue };
        let object = title(policy.kind(), &policy.namespace, &policy.name);
        let mut about = About { file: policy.file.clone(), object, notes };
        let of_pods = pod_classes(app, apps, templates);
        let class = class_of(&policy.spec, &of_pods, classes, &mut about).filter(|_| app.form == Form::Workload);
        if let Some(class) = &class {
            let used = used.entry(app.namespace.clone()).or_default();
            used.extend(of_pods.into_iter().chain([class.clone()]));
        }
        let of_policy = app.policies.first().filter(|_| app.policies.len() == 1).and_then(|at| placements.get(at));
        let spec = AppSpec {
            placement: placement_of(app, of_policy),
            ..spec(app, &policy.spec, class, templates, &mut about)
        };
        let folder = format!("teams/{}/{}", teams.of(&app.namespace), app.name);
        repository.put(
            format!("{folder}/app.yaml"),
            ("App", &app.name),
            &labels(app, policy, templates),
            &spec,
            &mut about,
        );
        let mut files = Names::default();
        for object in app.objects.iter().filter_map(|at| templates.get(*at)) {
            let mut about = About { file: object.file.clone(), object: object.title(), notes };
            let manifest = manifest(object, &policy.spec, &mut about);
            let file: String = format!("{}-{}", object.kind, object.name).to_lowercase();
            let file = file.replace(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.')), "-");
            repository.manifest(format!("{folder}/{}.yaml", files.free(&file)), manifest);
        }
    }
    let named: BTreeSet<&SmolStr> = used.values().flatten().collect();
    for class in named.into_iter().filter_map(|name| classes.get(name)) {
        let mut document = bare(&class.value, is_foreign);
        if let Some(map) = document.as_object_mut() {
            // in Karmada, priority orders, and nothing is taken away for it
            map.shift_remove("preemptionPolicy");
            map.shift_remove("globalDefault");
        }
        repository.manifest(format!("policies/priorityclass-{}.yaml", class.name), document);
    }
    used
}

/// Fields of a policy that no placement holds.
fn say_fields(policy: &Policy, about: &mut About<'_>) {
    let PropagationSpec {
        resource_selectors,
        association: _,    // apps.rs
        propagate_deps: _, // apps.rs
        placement: _,      // placement.rs
        priority: _,       // precedence.rs
        preemption: _,     // precedence.rs
        dependent_overrides,
        scheduler_name,
        failover,
        conflict_resolution: _, // manifest
        activation_preference,
        suspension,
        preserve_resources_on_deletion: _, // manifest
        schedule_priority: _,              // class_of
        rest,
    } = &policy.spec;
    let mut lost = |field: &str, text: &str| about.say(Fate::NoCounterpart, field, text);
    for selector in resource_selectors.iter().filter(|s| s.label_selector.is_some() && s.labels().is_none()) {
        if selector.name.is_empty() {
            lost("spec.resourceSelectors", "has a labelSelector that is none: it selects nothing");
        }
    }
    if !dependent_overrides.is_empty() {
        lost("spec.dependentOverrides", "overrides are in the same commit, so there is nothing to wait for");
    }
    if !matches!(scheduler_name.as_str(), "" | "default-scheduler") {
        lost("spec.schedulerName", "there is one scheduler");
    }
    if !activation_preference.is_empty() {
        lost("spec.activationPreference", "a change takes effect when it is merged; its plan is reviewed before");
    }
    if suspension.dispatching_on_clusters.is_some() {
        lost("spec.suspension.dispatchingOnClusters", "an app is suspended as a whole");
    }
    if let Some(Failover { application, cluster }) = failover {
        if let Some(application) = application {
            if application.purge_mode == "Never" {
                lost("spec.failover.application.purgeMode", "Never: copies are not kept for a person to remove");
            }
            if application.grace_period_seconds.is_some() {
                lost("spec.failover.application.gracePeriodSeconds", "a step that is not done is held, not forced");
            }
        }
        let preserved = [
            application.as_ref().and_then(|a| a.state_preservation.as_ref()),
            cluster.as_ref().and_then(|c| c.state_preservation.as_ref()),
        ];
        if preserved.iter().any(Option::is_some) {
            lost("spec.failover", "statePreservation: state is not carried over to another cluster");
        }
    }
    for field in rest.keys() {
        lost(&format!("spec.{field}"), "is not known to this import");
    }
}

/// The priority classes that pods of a namespace name.
fn pod_classes(app: &App, apps: &[App], templates: &[Object]) -> BTreeSet<SmolStr> {
    let beside = apps.iter().filter(|other| other.namespace == app.namespace).flat_map(|other| &other.objects);
    let class = |object: &Object| {
        let keys = WorkloadKind::of(&object.group, &object.kind)?.pod_spec_keys();
        let spec = keys.iter().try_fold(&object.value, |value, key| value.get(*key))?;
        spec.get("priorityClassName")?.as_str().filter(|name| !name.is_empty()).map(SmolStr::from)
    };
    beside.filter_map(|at| class(templates.get(*at)?)).collect()
}

/// The priority class, where it and all that pods beside it name are among the files.
fn class_of(
    spec: &PropagationSpec,
    of_pods: &BTreeSet<SmolStr>,
    classes: &BTreeMap<SmolStr, Object>,
    about: &mut About<'_>,
) -> Option<SmolStr> {
    let name = &spec.schedule_priority.as_ref()?.priority_class_name;
    let Some(missing) = of_pods.iter().chain([name]).find(|name| !classes.contains_key(*name)) else {
        return Some(name.clone());
    };
    let text = format!("there is no PriorityClass {missing} among the files: the apps have no priority");
    about.say(Fate::NoCounterpart, "spec.schedulePriority", text);
    None
}

fn spec(
    app: &App,
    policy: &PropagationSpec,
    class: Option<SmolStr>,
    templates: &[Object],
    about: &mut About<'_>,
) -> AppSpec {
    if app.form == Form::Workload {
        say_whole(app, policy, templates, about);
    }
    AppSpec {
        namespace: (!app.namespace.is_empty()).then(|| placeless(app.namespace.clone())),
        priority_class_name: class.map(placeless),
        failover: failover(policy).filter(|_| app.form == Form::Workload).map(placeless),
        suspend: policy.suspension.dispatching.then(|| placeless(true)),
        ..AppSpec::default()
    }
}

/// What an app states besides its policy: objects without replicas go to all clusters, of tiers that overflow to those of
/// the first; what several policies share goes everywhere.
fn placement_of(app: &App, of_policy: Option<&PlacementSpec>) -> Option<PlacementSpec> {
    if app.form == Form::Workload {
        return None;
    }
    let clusters = match of_policy {
        None => Some(PlacementClusters::default()),
        Some(placement) => {
            let tiers = placement.clusters.as_ref().and_then(|clusters| clusters.value.tiers.as_ref());
            let overflow = tiers.filter(|tiers| tiers.value.mode == TierMode::Overflow);
            overflow
                .and_then(|tiers| tiers.value.groups.first())
                .map(|first| placement::with_tiers(first.clusters.clone(), None))
        }
    };
    let replicas = ReplicasSpec {
        strategy: Some(placeless(Strategy::Duplicated)),
        capacity: Some(placeless(Capacity::Ignore)),
        ..ReplicasSpec::default()
    };
    Some(PlacementSpec {
        clusters: clusters.map(placeless),
        replicas: Some(placeless(replicas)),
        ..PlacementSpec::default()
    })
}

/// Workloads that Karmada divides and that are kept whole here.
fn say_whole(app: &App, policy: &PropagationSpec, templates: &[Object], about: &mut About<'_>) {
    let divided =
        policy.placement.replica_scheduling.as_ref().is_some_and(|s| s.replica_scheduling_type != "Duplicated");
    let workload = app.objects.first().and_then(|at| templates.get(*at));
    let Some(object) = workload.filter(|_| divided) else { return };
    let text = match WorkloadKind::of(&object.group, &object.kind) {
        Some(WorkloadKind::StatefulSet) => "its identities would be there twice",
        Some(WorkloadKind::Job) if object.value.pointer("/spec/completions").is_none() => "it states no completions",
        Some(WorkloadKind::Job)
            if object.value.pointer("/spec/completionMode").and_then(Value::as_str) == Some("Indexed") =>
        {
            "its indexes would be there twice"
        }
        _ => return,
    };
    let text = format!("{} is kept whole in one cluster: {text}", object.title());
    about.say(Fate::Differs, "spec.placement.replicaScheduling", text);
}

fn failover(policy: &PropagationSpec) -> Option<FailoverSpec> {
    let Failover { application, cluster } = policy.failover.as_ref()?;
    let mode = |text: &str| match text {
        "Directly" | "Immediately" => PurgeMode::Directly,
        _ => PurgeMode::Gracefully,
    };
    let secs = |application: &ApplicationFailover| application.decision_conditions.toleration_seconds.unwrap_or(300);
    Some(FailoverSpec {
        after: application.as_ref().map(|application| Duration { secs: secs(application) }),
        purge_mode: match (application, cluster) {
            (Some(application), _) => Some(mode(&application.purge_mode)),
            (None, Some(cluster)) => Some(mode(&cluster.purge_mode)),
            (None, None) => None,
        },
        ..FailoverSpec::default()
    })
}

/// The labels by which a policy groups, as they are on the template.
fn labels(app: &App, policy: &Policy, templates: &[Object]) -> Labels {
    let groups = &policy.spec.placement.workload_affinity;
    let keys = groups.affinity.iter().chain(&groups.anti_affinity).map(|group| &group.group_by_label_key);
    let template = app.objects.first().and_then(|at| templates.get(*at)).filter(|_| app.form == Form::Workload);
    let label = |key: &SmolStr| Some((key.clone(), template?.labels.get(key)?.clone()));
    keys.filter_map(label).collect()
}

/// What Karmada and its users keep in labels and annotations for it alone.
fn is_foreign(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| domain == "karmada.io" || domain.ends_with(".karmada.io"))
}

/// The manifest, without what only an API server writes, and with what Karmada would do about conflicts and deletion.
fn manifest(object: &Object, policy: &PropagationSpec, about: &mut About<'_>) -> Value {
    let mut manifest = bare(&object.value, is_foreign);
    generated(object, &mut manifest);
    let own = object.annotations.get("work.karmada.io/conflict-resolution").map(SmolStr::as_str);
    let overwrites = match own {
        Some("overwrite") => true,
        Some("abort") => false,
        Some(_) | None => policy.conflict_resolution == "Overwrite",
    };
    if overwrites {
        annotate(&mut manifest, "fleetwright.io/conflicts", "Force");
    }
    let protected = object.labels.get("resourcetemplate.karmada.io/deletion-protected").is_some_and(|v| v == "Always");
    if policy.preserve_resources_on_deletion || protected {
        annotate(&mut manifest, "fleetwright.io/prune", "disabled");
    }
    if protected {
        about.say(
            Fate::Differs,
            "",
            "deletion-protected: its copies are not deleted; the template is protected by review",
        );
    }
    if object.labels.contains_key("resourcetemplate.karmada.io/retain-replicas") {
        about.say(
            Fate::NoCounterpart,
            "",
            "retain-replicas: an autoscaler in the app owns its replicas, nothing else does",
        );
    }
    manifest
}

/// What an API server fills in when an object is created, and refuses in another cluster.
fn generated(object: &Object, manifest: &mut Value) {
    let Some(spec) = manifest.get_mut("spec").and_then(Value::as_object_mut) else { return };
    match object.kind.as_str() {
        "Job" if spec.get("manualSelector").and_then(Value::as_bool) != Some(true) => {
            spec.shift_remove("selector");
            let labels = spec.get_mut("template").and_then(|template| template.pointer_mut("/metadata/labels"));
            if let Some(labels) = labels.and_then(Value::as_object_mut) {
                labels.retain(|key, _| {
                    let name = key.strip_prefix("batch.kubernetes.io/").unwrap_or(key);
                    !matches!(name, "controller-uid" | "job-name")
                });
            }
        }
        "Service" => {
            if spec.get("clusterIP").and_then(Value::as_str) != Some("None") {
                spec.shift_remove("clusterIP");
                spec.shift_remove("clusterIPs");
            }
            spec.shift_remove("healthCheckNodePort");
        }
        _ => {}
    }
}
