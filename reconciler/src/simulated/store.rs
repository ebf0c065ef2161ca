//! The store of a simulated cluster: objects, their history, and what is told to go wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::kinds::native::{self, Scope};
use serde_json::{Value, json};

use super::ownership;
use crate::cluster::{Apply, Change, GroupKind, Key, Served, ServedKind, Write, WriteError, Written};

/// What goes wrong until it is taken back.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Nothing answers.
    pub down: bool,
    /// Lists and watches of these kinds fail.
    pub unlisted: BTreeSet<GroupKind>,
    /// An admission webhook refuses writes of these objects.
    pub denied: BTreeSet<Key>,
    /// Applies of these managers are refused.
    pub refused_managers: BTreeSet<String>,
    /// After so many more writes the connection is lost: before the effect of the next one.
    pub writes_left: Option<u32>,
    /// With `writes_left`: the write that fails has its effect all the same, and only its answer is lost.
    pub lose_answer: bool,
    /// Workloads that never become ready.
    pub stuck: BTreeSet<Key>,
}

/// Requests since the counters were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Everything that is not a write; a watch that has nothing new is no request.
    pub reads: u32,
    /// Writes that changed something.
    pub changes: u32,
    /// Writes in all, dry runs included.
    pub writes: u32,
}

/// The store.
#[derive(Debug)]
pub struct Store {
    pub(super) objects: BTreeMap<Key, Arc<Value>>,
    /// (resourceVersion, key, the object or that it is gone), ascending.
    pub(super) log: Vec<(u64, Change)>,
    version: u64,
    served: Option<Arc<Served>>,
    /// Its UID.
    pub uid: SmolStr,
    /// Seconds since 1970 by its clock.
    pub now_secs: i64,
    /// What goes wrong.
    pub faults: Faults,
    /// What was asked.
    pub counters: Counters,
}

/// Kinds served from the start.
const KINDS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "ConfigMap",
            "Secret",
            "Namespace",
            "Service",
            "ServiceAccount",
            "PersistentVolumeClaim",
            "PersistentVolume",
            "Pod",
            "Node",
            "ResourceQuota",
        ],
    ),
    ("apps", &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]),
    ("batch", &["Job", "CronJob"]),
    ("autoscaling", &["HorizontalPodAutoscaler"]),
    ("policy", &["PodDisruptionBudget"]),
    ("networking.k8s.io", &["Ingress", "NetworkPolicy"]),
    ("rbac.authorization.k8s.io", &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("admissionregistration.k8s.io", &["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("coordination.k8s.io", &["Lease"]),
];

impl Store {
    pub(super) fn new(uid: &str) -> Self {
        let mut store = Self {
            objects: BTreeMap::new(),
            log: Vec::new(),
            version: 0,
            served: None,
            uid: uid.into(),
            now_secs: 0,
            faults: Faults::default(),
            counters: Counters::default(),
        };
        for name in ["default", "kube-system"] {
            let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            if name == "kube-system" {
                namespace["metadata"]["uid"] = uid.into();
            }
            if let Some(key) = Key::of(&namespace) {
                store.put(&key, namespace);
            }
        }
        store
    }

    /// An object.
    #[must_use]
    pub fn object(&self, key: &Key) -> Option<&Value> {
        self.objects.get(key).map(Arc::as_ref)
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.objects.iter().map(|(key, object)| (key, object.as_ref()))
    }

    /// What is served: Kubernetes' own kinds, and those of established CustomResourceDefinitions.
    #[must_use]
    pub fn served(&mut self) -> Arc<Served> {
        if let Some(served) = &self.served {
            return Arc::clone(served);
        }
        let served = Arc::new(self.discover());
        self.served = Some(Arc::clone(&served));
        served
    }

    fn discover(&self) -> Served {
        let mut served = Served::default();
        for (group, kind) in KINDS.iter().flat_map(|(group, kinds)| kinds.iter().map(move |kind| (*group, *kind))) {
            let versions = native::versions(group, kind).into_iter().map(|native| ServedKind {
                version: native.version.clone(),
                plural: native.plural.clone(),
                namespaced: native.scope == Scope::Namespaced,
                listable: true,
            });
            served.kinds.insert(GroupKind::new(group, kind), versions.collect());
        }
        for definition in self.objects.iter().filter(|(key, _)| key.kind.kind == "CustomResourceDefinition") {
            let text = |pointer: &str| definition.1.pointer(pointer).and_then(Value::as_str);
            let (Some(group), Some(kind), Some(plural)) =
                (text("/spec/group"), text("/spec/names/kind"), text("/spec/names/plural"))
            else {
                continue;
            };
            if definition.1.pointer("/status/conditions").is_none() {
                continue;
            }
            let versions = definition.1.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
            let versions = versions.filter_map(|version| version["name"].as_str()).map(|version| ServedKind {
                version: version.into(),
                plural: plural.into(),
                namespaced: text("/spec/scope") == Some("Namespaced"),
                listable: true,
            });
            served.kinds.insert(GroupKind::new(group, kind), versions.collect());
        }
        served
    }

    /// Stores an object as it is, with a new resourceVersion, and a UID where it has none.
    pub fn put(&mut self, key: &Key, mut object: Value) {
        let before = self.objects.get(key);
        let spec_changed = before.is_none_or(|before| before.get("spec") != object.get("spec"));
        self.version += 1;
        let metadata = &mut object["metadata"];
        if metadata.get("uid").is_none() {
            metadata["uid"] = format!("{}-{}", self.uid, self.version).into();
        }
        let generation = metadata.get("generation").and_then(Value::as_u64).unwrap_or(0);
        metadata["generation"] = (generation + u64::from(spec_changed)).into();
        metadata["resourceVersion"] = self.version.to_string().into();
        if key.kind.is("", "Namespace") && object.get("status").is_none() {
            object["status"] = json!({"phase": "Active"});
        }
        if key.kind.kind == "CustomResourceDefinition" {
            self.served = None;
        }
        let object = Arc::new(object);
        self.objects.insert(key.clone(), Arc::clone(&object));
        self.log.push((self.version, Change::Put(object)));
    }

    /// Removes an object at once, and what lies in it.
    pub fn remove(&mut self, key: &Key) {
        if self.objects.remove(key).is_none() {
            return;
        }
        if key.kind.kind == "CustomResourceDefinition" {
            self.served = None;
        }
        self.version += 1;
        self.log.push((self.version, Change::Gone(key.clone())));
        if key.kind.is("", "Namespace") {
            let inside: Vec<Key> = self.objects.keys().filter(|k| k.namespace == key.name).cloned().collect();
            inside.iter().for_each(|key| self.remove(key));
        }
    }

    /// Somebody updates an object, or its status.
    pub fn edit(&mut self, key: &Key, manager: &str, subresource: &str, change: impl FnOnce(&mut Value)) {
        let Some(live) = self.objects.get(key).map(Arc::clone) else { return };
        let mut new = Value::clone(&live);
        change(&mut new);
        let updated = ownership::update(&live, &new, manager, subresource);
        if updated != *live {
            self.put(key, updated);
        }
    }

    pub(super) fn write(&mut self, write: &Write) -> Written {
        self.counters.writes += 1;
        let lost = WriteError::Transient { message: "connection lost".to_owned(), retry_after_secs: None };
        if self.faults.down {
            return Err(lost);
        }
        if let Some(left) = &mut self.faults.writes_left {
            if *left == 0 {
                self.faults.down = true;
                if self.faults.lose_answer {
                    let _ = self.perform(write);
                }
                return Err(lost);
            }
            *left -= 1;
        }
        self.perform(write)
    }

    fn perform(&mut self, write: &Write) -> Written {
        let version = self.version;
        let result = match write {
            Write::Apply(apply) => self.apply(apply),
            Write::Create { object } => {
                let key = self.admit(object)?;
                if self.objects.contains_key(&key) {
                    return Err(WriteError::Exists);
                }
                self.put(&key, Value::clone(object));
                Ok(self.objects.get(&key).cloned())
            }
            Write::Replace { object } => {
                let key = self.admit(object)?;
                let live = self.objects.get(&key).ok_or(WriteError::NotFound)?;
                self.is_at(&key, object.pointer("/metadata/resourceVersion").and_then(Value::as_str))?;
                let same = |field: &str| live.get(field) == object.get(field);
                if !(same("data") && same("spec")) {
                    let mut new = Value::clone(object);
                    for kept in ["uid", "managedFields", "generation"] {
                        if let Some(value) = live["metadata"].get(kept) {
                            new["metadata"][kept] = value.clone();
                        }
                    }
                    self.put(&key, new);
                }
                Ok(self.objects.get(&key).cloned())
            }
            Write::ManagedFields { key, resource_version, managed_fields } => {
                let mut object = Value::clone(self.objects.get(key).ok_or(WriteError::NotFound)?);
                self.is_at(key, Some(resource_version))?;
                object["metadata"]["managedFields"] = managed_fields.clone();
                self.put(key, object);
                Ok(self.objects.get(key).cloned())
            }
            Write::Delete { key, uid, resource_version, .. } => {
                if self.faults.denied.contains(key) {
                    return Err(WriteError::Denied("admission webhook denied the request".to_owned()));
                }
                let live = self.objects.get(key).ok_or(WriteError::NotFound)?;
                if live["metadata"]["uid"] != uid.as_str() {
                    return Err(WriteError::Stale("the UID in the precondition is another".to_owned()));
                }
                if resource_version.is_some() {
                    self.is_at(key, resource_version.as_deref())?;
                }
                let lingers =
                    live.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty());
                if lingers {
                    let mut object = Value::clone(live);
                    object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
                    self.put(key, object);
                } else {
                    self.remove(key);
                }
                Ok(self.objects.get(key).cloned())
            }
        };
        self.counters.changes += u32::from(self.version != version);
        result
    }

    fn is_at(&self, key: &Key, version: Option<&str>) -> Result<(), WriteError> {
        let stored = self.objects.get(key).and_then(|o| o.pointer("/metadata/resourceVersion")?.as_str());
        if stored == version { Ok(()) } else { Err(WriteError::Stale(format!("resourceVersion is {stored:?}"))) }
    }

    /// Whether an object may be written at all: its kind is served, its namespace is there, nobody refuses it.
    fn admit(&mut self, object: &Value) -> Result<Key, WriteError> {
        let invalid = |message: &str| WriteError::Invalid { message: message.to_owned(), immutable: false };
        let key = Key::of(object).ok_or_else(|| invalid("kind and name are required"))?;
        let version = object["apiVersion"].as_str().and_then(|text| text.rsplit('/').next());
        let served = self.served();
        let kind = served.kind(&key.kind, version).ok_or_else(|| WriteError::NotServed(key.kind.clone()))?;
        if kind.namespaced == key.namespace.is_empty() {
            return Err(invalid("metadata.namespace does not fit the scope of the kind"));
        }
        if kind.namespaced && !self.objects.contains_key(&Key::new("", "Namespace", "", &key.namespace)) {
            return Err(WriteError::NotFound);
        }
        if self.faults.denied.contains(&key) {
            return Err(WriteError::Denied("admission webhook denied the request".to_owned()));
        }
        Ok(key)
    }

    fn apply(&mut self, apply: &Apply) -> Written {
        let key = self.admit(&apply.object)?;
        if self.faults.refused_managers.contains(apply.manager) {
            return Err(WriteError::Denied("the manager may not".to_owned()));
        }
        let live = match self.objects.get(&key) {
            Some(live) => Value::clone(live),
            None => json!({
                "apiVersion": apply.object["apiVersion"], "kind": apply.object["kind"],
                "metadata": {"name": key.name.as_str()},
            }),
        };
        let mut new =
            ownership::apply(&live, &apply.object, apply.manager, apply.force).map_err(WriteError::Conflict)?;
        if !key.namespace.is_empty() {
            new["metadata"]["namespace"] = key.namespace.as_str().into();
        }
        if key.kind.is("batch", "Job")
            && live.get("spec").is_some()
            && live["spec"]["template"] != new["spec"]["template"]
        {
            let message = "spec.template: field is immutable".to_owned();
            return Err(WriteError::Invalid { message, immutable: true });
        }
        if let Some(index) = second_of_a_name(&new) {
            let message = format!("spec.ports[{index}].name: Duplicate value");
            return Err(WriteError::Invalid { message, immutable: false });
        }
        // What an API server sets where nobody says otherwise.
        if matches!(key.kind.kind.as_str(), "Deployment" | "StatefulSet" | "ReplicaSet")
            && new["spec"].get("replicas").is_none()
        {
            new["spec"]["replicas"] = 1.into();
        }
        if apply.dry_run {
            return Ok(Some(Arc::new(new)));
        }
        if new != live {
            self.put(&key, new);
        }
        Ok(self.objects.get(&key).cloned())
    }
}

/// The index of the first port of a Service whose name another has.
fn second_of_a_name(object: &Value) -> Option<usize> {
    let ports = object.pointer("/spec/ports").filter(|_| object["kind"] == "Service").and_then(Value::as_array)?;
    let mut names = BTreeSet::new();
    ports.iter().position(|port| port["name"].as_str().is_some_and(|name| !names.insert(name)))
}
