//! What is known of the objects in a cluster: a few facts of each, kept up to date from what the port reports.
//!
//! Invariants: a kind whose last observation failed is *unknown*, and nobody takes its objects for absent; an older version
//! of an object never replaces a newer one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::kinds::replicas::WorkloadKind;
use serde_json::Value;

use super::fields;
use super::inventory::PART_OF_LABEL;
use crate::cluster::{Change, Delta, GroupKind, Key};
use crate::health::Health;
use crate::observation::WorkloadSeen;

/// Judges an object's health, with a reason in words.
pub type Assess<'a> = &'a dyn Fn(&Value) -> (Health, String);

/// Facts of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveObject {
    /// Its UID.
    pub uid: SmolStr,
    /// Its resourceVersion.
    pub resource_version: SmolStr,
    /// Whether its deletion began.
    pub deleting: bool,
    /// Digest of the fields fleetwright holds of it, `None` where it holds none.
    pub held: Option<SmolStr>,
    /// Whether fleetwright holds `spec.replicas`.
    pub holds_replicas: bool,
    /// The ApplySet it says it belongs to.
    pub part_of: Option<SmolStr>,
    /// Whether it says that it must not be pruned.
    pub protected: bool,
    /// Its health.
    pub health: Health,
    /// Why.
    pub reason: SmolStr,
    /// Its replicas, of a workload that has a count.
    pub workload: Option<WorkloadSeen>,
    /// Ready replicas of whatever generation: what would be lost, at most, by lowering it.
    pub ready_at_most: u32,
    /// A Job that completed or failed.
    pub finished: bool,
    /// Of a HorizontalPodAutoscaler, what it scales.
    pub scales: Option<Key>,
}

impl LiveObject {
    /// Reads the facts of an object.
    #[must_use]
    pub fn of(key: &Key, object: &Value, assess: Assess<'_>) -> Self {
        let metadata = object.get("metadata");
        let text = |field: &str| metadata.and_then(|m| m.get(field)).and_then(Value::as_str).map(SmolStr::from);
        let (health, reason) = assess(object);
        Self {
            uid: text("uid").unwrap_or_default(),
            resource_version: text("resourceVersion").unwrap_or_default(),
            deleting: text("deletionTimestamp").is_some(),
            held: fields::held_digest(object).map(|digest| digest.short().into()),
            holds_replicas: fields::holds_replicas(object),
            part_of: (metadata.and_then(|m| m.get("labels")?.get(PART_OF_LABEL)?.as_str())).map(SmolStr::from),
            protected: is_protected(object),
            health,
            reason: reason.into(),
            workload: workload(key, object),
            ready_at_most: count(object, "/status/readyReplicas").unwrap_or(0),
            finished: key.kind.is("batch", "Job") && is_finished(object),
            scales: scales(key, object),
        }
    }
}

/// Whether an object says that it must not be pruned. Helm's own word for it is understood too.
#[must_use]
pub fn is_protected(object: &Value) -> bool {
    let annotation = |name: &str| object.get("metadata")?.get("annotations")?.get(name)?.as_str();
    annotation("fleetwright.io/prune") == Some("disabled") || annotation("helm.sh/resource-policy") == Some("keep")
}

fn count(object: &Value, pointer: &str) -> Option<u32> {
    object.pointer(pointer).and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

fn workload(key: &Key, object: &Value) -> Option<WorkloadSeen> {
    let kind = WorkloadKind::of(&key.kind.group, &key.kind.kind)?;
    let current = match object.pointer("/status/observedGeneration").and_then(Value::as_i64) {
        Some(observed) => object.pointer("/metadata/generation").and_then(Value::as_i64).is_none_or(|g| observed >= g),
        None => false,
    };
    let (replicas, ready) = match kind {
        WorkloadKind::DaemonSet => {
            (count(object, "/status/desiredNumberScheduled")?, count(object, "/status/numberReady").unwrap_or(0))
        }
        WorkloadKind::Job => {
            let replicas = count(object, "/spec/parallelism").unwrap_or(1);
            // Jobs do not report an observed generation.
            return Some(WorkloadSeen { replicas, ready: count(object, "/status/ready").unwrap_or(0) });
        }
        WorkloadKind::CronJob | WorkloadKind::Pod | WorkloadKind::Custom(_) => return None,
        WorkloadKind::Deployment
        | WorkloadKind::ReplicaSet
        | WorkloadKind::ReplicationController
        | WorkloadKind::StatefulSet => {
            (count(object, "/spec/replicas").unwrap_or(1), count(object, "/status/readyReplicas").unwrap_or(0))
        }
    };
    Some(WorkloadSeen { replicas, ready: if current { ready } else { 0 } })
}

fn is_finished(object: &Value) -> bool {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    conditions.iter().any(|c| matches!(c["type"].as_str(), Some("Complete" | "Failed")) && c["status"] == "True")
}

pub(super) fn scales(key: &Key, object: &Value) -> Option<Key> {
    if !key.kind.is("autoscaling", "HorizontalPodAutoscaler") {
        return None;
    }
    let target = object.pointer("/spec/scaleTargetRef")?;
    let text = |field: &str| target.get(field).and_then(Value::as_str);
    let group = text("apiVersion").and_then(|v| v.split_once('/')).map_or("", |(group, _)| group);
    Some(Key::new(group, text("kind")?, &key.namespace, text("name")?))
}

/// The objects of a cluster, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Live {
    objects: BTreeMap<Key, LiveObject>,
    known: BTreeSet<GroupKind>,
    /// Why others are not.
    unseen: BTreeMap<GroupKind, String>,
    /// What of each HorizontalPodAutoscaler is scaled: the reverse of `scales`, with how many do.
    scaled: BTreeMap<Key, u32>,
}

impl Live {
    /// An object that is known to exist.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&LiveObject> {
        self.objects.get(key)
    }

    /// All that is known.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &LiveObject)> {
        self.objects.iter()
    }

    /// Whether it is known which objects of a kind there are.
    #[must_use]
    pub fn knows(&self, kind: &GroupKind) -> bool {
        self.known.contains(kind)
    }

    /// Whether a HorizontalPodAutoscaler scales an object.
    #[must_use]
    pub fn is_scaled(&self, key: &Key) -> bool {
        self.scaled.contains_key(key)
    }

    /// Takes in what was observed of a kind; what it was not asked about stays. Objects of another kind are not taken.
    pub fn take(&mut self, kind: &GroupKind, delta: &Delta, assess: Assess<'_>) {
        match delta {
            Delta::All(objects) => {
                let listed: BTreeMap<Key, &Arc<Value>> =
                    objects.iter().filter_map(|o| Some((Key::of(o)?, o))).filter(|(k, _)| k.kind == *kind).collect();
                let gone: Vec<Key> = self.of_kind(kind).filter(|key| !listed.contains_key(*key)).cloned().collect();
                gone.iter().for_each(|key| self.gone(key));
                listed.iter().for_each(|(key, object)| self.put(key, object, assess));
                self.known.insert(kind.clone());
                self.unseen.remove(kind);
            }
            Delta::Changes(changes) => {
                for change in changes {
                    match change {
                        Change::Put(object) => {
                            if let Some(key) = Key::of(object).filter(|key| key.kind == *kind) {
                                self.put(&key, object, assess);
                            }
                        }
                        Change::Gone(key) => self.gone(key),
                    }
                }
            }
        }
    }

    /// The kind could not be observed: what was known of it may be out of date.
    pub fn forget(&mut self, kind: &GroupKind, why: String) {
        self.known.remove(kind);
        self.unseen.insert(kind.clone(), why);
    }

    /// Why it is not known which objects of a kind there are.
    #[must_use]
    pub fn unseen(&self, kind: &GroupKind) -> &str {
        self.unseen.get(kind).map_or("it was not asked for yet", String::as_str)
    }

    /// An object is known to be this.
    pub fn put(&mut self, key: &Key, object: &Value, assess: Assess<'_>) {
        let fresh = LiveObject::of(key, object, assess);
        if let Some(known) = self.objects.get(key)
            && known.uid == fresh.uid
            && is_older(&fresh.resource_version, &known.resource_version)
        {
            return;
        }
        self.gone(key);
        if let Some(target) = &fresh.scales {
            let times = self.scaled.entry(target.clone()).or_default();
            *times = times.saturating_add(1);
        }
        self.objects.insert(key.clone(), fresh);
    }

    /// An object is known to be gone.
    pub fn gone(&mut self, key: &Key) {
        let Some(target) = self.objects.remove(key).and_then(|object| object.scales) else { return };
        if let Some(times) = self.scaled.get_mut(&target) {
            *times -= 1;
            if *times == 0 {
                self.scaled.remove(&target);
            }
        }
    }

    fn of_kind<'s>(&'s self, kind: &'s GroupKind) -> impl Iterator<Item = &'s Key> {
        let from = Key { kind: kind.clone(), namespace: SmolStr::default(), name: SmolStr::default() };
        self.objects.range(from..).map(|(key, _)| key).take_while(move |key| key.kind == *kind)
    }
}

/// Whether one resourceVersion is older than another. Both must be numbers (KEP-5504: they are, and ascend); otherwise
/// nobody can say, and what came last counts.
fn is_older(one: &str, than: &str) -> bool {
    matches!((one.parse::<u128>(), than.parse::<u128>()), (Ok(one), Ok(than)) if one < than)
}
