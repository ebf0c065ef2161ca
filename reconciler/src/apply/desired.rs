//! What should be in one cluster, from a compile.
//!
//! Invariants: only from a compile that succeeded, so that nothing is missing because something could not be read; an
//! object's JSON is made only when it is sent.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::{ClusterId, Digest, DigestWriter, SmolStr};
use fleetwright_compiler::kinds::replicas::WorkloadKind;
use fleetwright_compiler::parse::{ObjKey, Template};
use fleetwright_compiler::plan::Fill;
use fleetwright_compiler::render::RenderedObject;
use serde_json::Value;

use super::inventory::{AppName, PART_OF_LABEL, generated_namespaces};
use super::order::{self, Round};
use crate::cluster::{Key, ServiceAccount};

/// What a person wants at all, whatever the cluster: tells a deleted intent from a placement that moved. One object that
/// changes from app to app, because an app was renamed, stays wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intents {
    /// The objects of all apps of the fleet.
    pub objects: BTreeSet<Key>,
}

impl Intents {
    /// Of a compiled fleet.
    #[must_use]
    pub fn of(compiled: &Compiled) -> Self {
        let objects = compiled.fleet.apps.iter().flat_map(|app| &app.objects);
        Self { objects: objects.map(|object| Key::from(&object.key)).collect() }
    }
}

/// What should be in a cluster.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// By team and app; generated Namespaces under [`generated_namespaces`].
    apps: BTreeMap<AppName, DesiredApp>,
    /// Which app wants each object.
    owners: BTreeMap<Key, AppName>,
    /// What the HorizontalPodAutoscalers among the objects scale.
    scaled: BTreeSet<Key>,
    /// Digest of all of it.
    digest: Option<Digest>,
}

/// What should be in a cluster of one app.
#[derive(Clone, Debug, Default)]
pub struct DesiredApp {
    /// Its objects.
    pub objects: BTreeMap<Key, DesiredObject>,
    /// Apps that must be Current in this cluster first.
    pub depends_on: Vec<AppName>,
    /// On whose behalf its objects are written.
    pub service_account: Option<ServiceAccount>,
    /// `prune: false` and `suspend` keep what is no longer wanted.
    pub keep_removed: bool,
    /// Of an `exclusive` app, the clusters in which its pods were not yet seen gone, nor a fence confirmed.
    pub may_run_in: Vec<SmolStr>,
}

/// An object that should be there.
#[derive(Clone, Debug)]
pub struct DesiredObject {
    /// The version it is written in.
    pub version: SmolStr,
    /// Its text and what is filled in.
    pub source: RenderedObject,
    /// Digest of all of it, short.
    pub digest: SmolStr,
    /// Digest without counts, short.
    pub content: SmolStr,
    /// When it is applied.
    pub round: Round,
    /// What its annotations ask for.
    pub rules: ObjectRules,
}

/// How an object is applied when it exists already: `fleetwright.io/apply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyRule {
    /// Once for each content: gone afterwards is not drift, new content replaces it. The default of Jobs.
    Once,
    /// New content replaces it; gone, it is created again.
    Recreate,
    /// It is updated. The default of everything else.
    Update,
}

/// What an object's annotations ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectRules {
    /// `fleetwright.io/prune: disabled`
    pub protected: bool,
    /// `fleetwright.io/apply`
    pub apply: Option<ApplyRule>,
    /// `fleetwright.io/conflicts: Force`
    pub force: bool,
    /// `config.kubernetes.io/depends-on`
    pub depends_on: Vec<Key>,
    /// An annotation that says something else than it may: the object is not applied.
    pub mistake: Option<String>,
}

impl ObjectRules {
    /// Reads them from an object.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let annotation = |name: &str| object.get("metadata")?.get("annotations")?.get(name)?.as_str();
        let mut rules = Self { protected: super::live::is_protected(object), ..Self::default() };
        match annotation("fleetwright.io/apply") {
            None => {}
            Some("Once") => rules.apply = Some(ApplyRule::Once),
            Some("Recreate") => rules.apply = Some(ApplyRule::Recreate),
            Some("Update") => rules.apply = Some(ApplyRule::Update),
            Some(other) => {
                rules.mistake = Some(format!("fleetwright.io/apply: `{other}`, expected Once, Recreate or Update"));
            }
        }
        match annotation("fleetwright.io/conflicts") {
            None => {}
            Some("Force") => rules.force = true,
            Some(other) => rules.mistake = Some(format!("fleetwright.io/conflicts: `{other}`, expected Force")),
        }
        match annotation("config.kubernetes.io/depends-on").map(order::depends_on) {
            None => {}
            Some(Ok(keys)) => rules.depends_on = keys,
            Some(Err(part)) => {
                rules.mistake = Some(format!(
                    "config.kubernetes.io/depends-on: `{part}`, expected group/namespaces/NAMESPACE/Kind/NAME or \
                     group/Kind/NAME"
                ));
            }
        }
        rules
    }
}

/// Texts without which an object has no rules: saves reading the others.
const RULE_MARKS: [&str; 5] = [
    "fleetwright.io/prune",
    "fleetwright.io/apply",
    "fleetwright.io/conflicts",
    "config.kubernetes.io/depends-on",
    "helm.sh/resource-policy",
];

impl DesiredObject {
    /// From a rendered object.
    #[must_use]
    pub fn of(key: &Key, version: &str, source: RenderedObject) -> Self {
        let text = std::str::from_utf8(&source.template.text).unwrap_or_default();
        let rules = if RULE_MARKS.iter().any(|mark| text.contains(mark)) {
            ObjectRules::of(&source.template.value())
        } else {
            ObjectRules::default()
        };
        Self {
            version: version.into(),
            digest: source.digest().short().into(),
            content: source.template.digest.short().into(),
            round: Round::of(&key.kind),
            rules,
            source,
        }
    }

    /// The replicas that are written; `None` where no share is.
    #[must_use]
    pub fn replicas(&self) -> Option<u32> {
        match self.source.fill {
            // written by an override: the text has it, and nothing divides it
            Fill::Share { replicas, .. } => replicas,
            // an autoscaler owns the replicas, and an autoscaler has none itself
            Fill::Owned { .. } | Fill::Bounds { .. } | Fill::AsIs => None,
        }
    }

    /// How it is applied.
    #[must_use]
    pub fn apply_rule(&self, key: &Key) -> ApplyRule {
        let default = if key.kind.is("batch", "Job") { ApplyRule::Once } else { ApplyRule::Update };
        self.rules.apply.unwrap_or(default)
    }

    /// The body that is applied: with the ApplySet's label, and without `spec.replicas` where an HPA owns it.
    #[must_use]
    pub fn body(&self, key: &Key, applyset: &str, without_replicas: bool) -> Value {
        let full = ObjKey {
            kind: key.kind.kind.clone(),
            group: key.kind.group.clone(),
            namespace: (!key.namespace.is_empty()).then(|| key.namespace.clone()),
            name: key.name.clone(),
            version: self.version.clone(),
        };
        let mut body = self.source.value(Some(&full));
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            let labels = metadata.entry("labels").or_insert_with(|| Value::Object(serde_json::Map::new()));
            if let Some(labels) = labels.as_object_mut() {
                labels.insert(PART_OF_LABEL.to_owned(), applyset.into());
            }
        }
        if without_replicas && let Some(spec) = body.get_mut("spec").and_then(Value::as_object_mut) {
            spec.shift_remove("replicas");
        }
        body
    }

    /// Whether it is a workload with `spec.replicas`.
    #[must_use]
    pub fn has_replicas(&self, key: &Key) -> bool {
        let kind = WorkloadKind::of(&key.kind.group, &key.kind.kind);
        kind.and_then(WorkloadKind::replicas_field) == Some("replicas") && self.replicas().is_some()
    }
}

impl Desired {
    /// What a compile wants in a cluster: objects only. What apps say of how they are applied is set by the caller.
    #[must_use]
    pub fn of(compiled: &Compiled, cluster: ClusterId) -> Self {
        let fleet = &compiled.fleet;
        let mut apps = BTreeMap::new();
        for file in compiled.rendered.files(cluster) {
            let name = match file.app {
                Some(app) => (fleet.team(fleet.app(app).team).name.clone(), fleet.app(app).name.clone()),
                None => generated_namespaces(),
            };
            let objects = file.objects.iter().filter_map(|object| match file.key(fleet, object) {
                Some(key) => {
                    let (key, version) = (Key::from(key), key.version.clone());
                    let object = DesiredObject::of(&key, &version, object.clone());
                    Some((key, object))
                }
                None => {
                    let key = Key::of(&object.template.value())?;
                    let object = DesiredObject::of(&key, "v1", object.clone());
                    Some((key, object))
                }
            });
            let objects = objects.collect();
            apps.insert(name, DesiredApp { objects, ..DesiredApp::default() });
        }
        Self::new(apps)
    }

    /// Of these apps.
    #[must_use]
    pub fn new(apps: BTreeMap<AppName, DesiredApp>) -> Self {
        let mut desired = Self { apps, ..Self::default() };
        let mut digest = DigestWriter::new();
        for (name, app) in &desired.apps {
            digest.part(name.0.as_bytes()).part(name.1.as_bytes());
            digest.part(
                format!("{:?}", (&app.depends_on, &app.service_account, app.keep_removed, &app.may_run_in)).as_bytes(),
            );
            for (key, object) in &app.objects {
                digest.part(key.to_string().as_bytes()).part(object.digest.as_bytes());
            }
            for (key, object) in &app.objects {
                desired.owners.insert(key.clone(), name.clone());
                if key.kind.is("autoscaling", "HorizontalPodAutoscaler") {
                    desired.scaled.extend(super::live::scales(key, &object.source.template.value()));
                }
            }
        }
        desired.digest = Some(digest.finish());
        desired
    }

    /// By team and app, to be made anew by [`Desired::new`].
    #[must_use]
    pub fn into_apps(self) -> BTreeMap<AppName, DesiredApp> {
        self.apps
    }

    /// Digest of all of it; `None` of an empty default.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// By team and app.
    #[must_use]
    pub fn apps(&self) -> &BTreeMap<AppName, DesiredApp> {
        &self.apps
    }

    /// Which app wants an object.
    #[must_use]
    pub fn owner(&self, key: &Key) -> Option<&AppName> {
        self.owners.get(key)
    }

    /// An object, whichever app wants it.
    #[must_use]
    pub fn object(&self, key: &Key) -> Option<&DesiredObject> {
        self.apps.get(self.owners.get(key)?)?.objects.get(key)
    }

    /// Whether a HorizontalPodAutoscaler among the objects scales an object.
    #[must_use]
    pub fn is_scaled(&self, key: &Key) -> bool {
        self.scaled.contains(key)
    }
}

/// An object as it is written in a test or made by hand.
///
/// # Errors
/// Where it has no kind or name.
pub fn desired_object(value: &Value, fill: Fill) -> Result<(Key, DesiredObject), String> {
    let key = Key::of(value).ok_or("an object needs apiVersion, kind and metadata.name")?;
    let api_version = value["apiVersion"].as_str().unwrap_or_default();
    let version = api_version.rsplit('/').next().unwrap_or_default().to_owned();
    let object = DesiredObject::of(&key, &version, RenderedObject { object: 0, template: Template::of(value), fill });
    Ok((key, object))
}
