//! Which objects come, go and change, each change once.
//!
//! Objects are joined per cluster by identity (kind, group, namespace, name). Equal digests are equal objects and are not
//! read. Whatever differs is compared once for each pair of contents, and pairs with the same changes become one entry
//! with all their clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use super::absent::drop_undeclared;
use super::fields::{FieldChange, changes};
use super::join::{Content, Outcome, Tally, join};
use super::secret::{is_secret, secret_changes};
use crate::Compiled;
use crate::base::{Digest, SmolStr};
use crate::kinds::custom::CustomKind;
use crate::kinds::native::lookup;
use crate::kinds::replicas::{Counter, WorkloadKind};
use crate::parse::{ObjKey, Template};

/// Hashes that Kustomize appends to the names of generated objects: so many characters of this alphabet.
const HASH_CHARS: &str = "bcdfghkmt2456789";
const HASH_LEN: usize = 10;

/// A change of an object.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectDiff {
    /// `team/app` whose object it is, or was; none for a generated Namespace.
    pub app: Option<String>,
    /// The object.
    pub object: ObjectName,
    /// What happens to it.
    #[serde(flatten)]
    pub change: ObjectChange,
    /// The clusters in which that happens, by name.
    pub clusters: Vec<SmolStr>,
}

/// An object's identity, and the version it is written in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// The kind.
    pub kind: SmolStr,
    /// The namespace; none for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<SmolStr>,
    /// The name.
    pub name: SmolStr,
    /// The API group; empty is the core group.
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
}

/// What happens to an object.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "action", rename_all_fields = "camelCase")]
pub enum ObjectChange {
    /// It is created.
    Added,
    /// It is deleted.
    Removed {
        /// Clusters where its app keeps it.
        remaining: u32,
    },
    /// It is no longer managed and stays in the cluster: a generated Namespace, or `fleetwright.io/prune: disabled`.
    Released,
    /// It is changed.
    Changed {
        /// What of it, by path.
        fields: Vec<FieldChange>,
        /// Whether running pods are replaced: the pod template of a kind that rolls out differs.
        restarts: bool,
        /// The app that had it before, where it is another.
        #[serde(skip_serializing_if = "Option::is_none")]
        from_app: Option<String>,
    },
    /// A generated object takes the place of one whose name differs in the hash at its end alone. The old one is deleted.
    Replaced {
        /// The name of the old one.
        from: SmolStr,
        /// What differs.
        fields: Vec<FieldChange>,
    },
}

impl ObjectChange {
    /// Whether an object is deleted.
    #[must_use]
    pub fn deletes(&self) -> bool {
        matches!(self, Self::Removed { .. } | Self::Replaced { .. })
    }
}

impl ObjectName {
    /// Whether deleting it deletes what cannot be made again from the repository.
    #[must_use]
    pub fn holds_data(&self) -> bool {
        matches!(
            (self.group.as_str(), self.kind.as_str()),
            ("", "Namespace" | "PersistentVolume" | "PersistentVolumeClaim")
                | ("apiextensions.k8s.io", "CustomResourceDefinition")
        )
    }
}

impl From<&ObjKey> for ObjectName {
    fn from(key: &ObjKey) -> Self {
        let ObjKey { kind, namespace, name, group, version } = key.clone();
        Self { kind, namespace, name, group, version }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// All objects that differ, by (app, object), and the counts by cluster.
pub(super) fn object_diffs(base: &Compiled, head: &Compiled) -> (Vec<ObjectDiff>, Tally) {
    let (outcomes, mut tally) = join(base, head);
    let read: Vec<(Outcome, Option<Vec<FieldChange>>)> = outcomes
        .into_par_iter()
        .map(|outcome| {
            let fields = match (&outcome.before, &outcome.after) {
                (Some(before), Some(after)) => Some(content_changes(&outcome.key, before, after)),
                _ => None,
            };
            (outcome, fields)
        })
        .collect();

    let mut groups: Vec<ObjectDiff> = Vec::new();
    let mut lone: BTreeMap<LoneKey, Lone> = BTreeMap::new();
    for (outcome, fields) in read {
        let Outcome { key, before, after, released, scaled, clusters } = outcome;
        let object = ObjectName::from(&key);
        let app_of = |content: &Option<Content>| content.as_ref().and_then(|c| c.app.clone());
        match fields {
            None => {
                let fate = match (&after, released) {
                    (Some(_), _) => Fate::Added,
                    (None, true) => Fate::Released,
                    (None, false) => Fate::Removed,
                };
                let app = app_of(&after).or_else(|| app_of(&before));
                let group = lone.entry((app, object, fate)).or_default();
                group.clusters.extend(clusters);
                group.contents.extend(before.or(after).map(|c| (c.template.digest, c.template)));
            }
            Some(fields) => {
                let (was, is) = (app_of(&before), app_of(&after));
                let from_app = was.filter(|was| Some(was) != is.as_ref());
                if fields.is_empty() && from_app.is_none() {
                    match differ_in_counts(&key, before.as_ref(), after.as_ref()) && !scaled {
                        // the counts of the manifest give way to the share, which is the same
                        true => tally.unchanged += clusters.len() as u64,
                        false => tally.same_meaning(&clusters, scaled),
                    }
                    continue;
                }
                tally.changed(&clusters);
                let restarts = restarts(&key, &fields);
                let change = ObjectChange::Changed { fields, restarts, from_app };
                groups.push(ObjectDiff { app: is, object, change, clusters: clusters.into_iter().collect() });
            }
        }
    }
    let mut diffs = merge(groups);
    diffs.extend(replaced(&mut lone));
    diffs.extend(lone.into_iter().map(|((app, object, fate), group)| {
        let change = match fate {
            Fate::Added => ObjectChange::Added,
            Fate::Released => ObjectChange::Released,
            Fate::Removed => ObjectChange::Removed { remaining: remaining(head, app.as_deref(), &object) },
        };
        ObjectDiff { app, object, change, clusters: group.clusters.into_iter().collect() }
    }));
    diffs.sort_by(|a, b| (&a.app, &a.object, &a.clusters).cmp(&(&b.app, &b.object, &b.clusters)));
    (diffs, tally)
}

/// Whether two contents differ in the counts of the manifest at most.
fn differ_in_counts(key: &ObjKey, before: Option<&Content>, after: Option<&Content>) -> bool {
    let custom = after.or(before).and_then(|content| content.custom.as_deref());
    let Some(kind) = Counter::of(&key.group, &key.kind, custom) else { return false };
    let blank = |content: &Content| {
        let mut value = content.template.value();
        kind.set_counts(&mut value, Some(0), Some(0));
        Template::of(&value).digest
    };
    before.map(blank) == after.map(blank)
}

/// What becomes of an object that is on one side alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Added,
    Removed,
    Released,
}

/// The app, the object, and what becomes of it.
type LoneKey = (Option<String>, ObjectName, Fate);

/// Where an object is on one side alone, and what it holds there.
#[derive(Default)]
struct Lone {
    clusters: BTreeSet<SmolStr>,
    contents: BTreeMap<Digest, Arc<Template>>,
}

/// The changes from one content to another. The counts that placements state are left out.
fn content_changes(key: &ObjKey, before: &Content, after: &Content) -> Vec<FieldChange> {
    template_changes(key, after.custom.as_deref(), &before.template, &after.template)
}

fn template_changes(
    key: &ObjKey,
    custom: Option<&CustomKind>,
    before: &Template,
    after: &Template,
) -> Vec<FieldChange> {
    let declared = |template: &Template| {
        let mut value = template.value();
        drop_undeclared(&mut value);
        drop_counts(key, custom, &mut value);
        value
    };
    let (before, after) = (declared(before), declared(after));
    let kind = lookup(&key.group, &key.version, &key.kind);
    if is_secret(key) { secret_changes(kind, before, after) } else { changes(kind, &before, &after) }
}

fn drop_counts(key: &ObjKey, custom: Option<&CustomKind>, value: &mut Value) {
    let Some(kind) = WorkloadKind::of(&key.group, &key.kind) else {
        custom.iter().for_each(|custom| custom.unset_replicas(value));
        return;
    };
    let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(field) = kind.replicas_field() {
        spec.remove(field);
    }
    if kind == WorkloadKind::Job {
        spec.remove("completions");
    }
}

/// Whether pods are replaced at once.
fn restarts(key: &ObjKey, fields: &[FieldChange]) -> bool {
    match WorkloadKind::of(&key.group, &key.kind) {
        Some(WorkloadKind::DaemonSet | WorkloadKind::Deployment | WorkloadKind::StatefulSet) => {
            fields.iter().any(|field| field.path.starts_with("spec.template"))
        }
        // Templates of the others are read when a pod is made, or cannot be changed.
        Some(
            WorkloadKind::CronJob
            | WorkloadKind::Job
            | WorkloadKind::Pod
            | WorkloadKind::ReplicaSet
            | WorkloadKind::ReplicationController
            | WorkloadKind::Custom(_),
        )
        | None => false,
    }
}

/// Puts equal changes of one object together.
fn merge(mut diffs: Vec<ObjectDiff>) -> Vec<ObjectDiff> {
    let mut merged: Vec<ObjectDiff> = Vec::with_capacity(diffs.len());
    // contents of one object lie side by side; there are few
    diffs.sort_by(|a, b| (&a.app, &a.object).cmp(&(&b.app, &b.object)));
    let mut first_of_object = 0;
    for diff in diffs {
        if merged.get(first_of_object).is_none_or(|m| (&m.app, &m.object) != (&diff.app, &diff.object)) {
            first_of_object = merged.len();
        }
        match merged.iter_mut().skip(first_of_object).find(|m| m.change == diff.change) {
            Some(same) => {
                same.clusters.extend(diff.clusters);
                same.clusters.sort();
            }
            None => merged.push(diff),
        }
    }
    merged
}

/// Takes out objects that another with the same stem and another hash replaces, in the same clusters.
fn replaced(lone: &mut BTreeMap<LoneKey, Lone>) -> Vec<ObjectDiff> {
    type Sides = (Vec<LoneKey>, Vec<LoneKey>);
    let mut stems: BTreeMap<(Option<String>, SmolStr, Option<SmolStr>, SmolStr), Sides> = BTreeMap::new();
    for key @ (app, object, fate) in lone.keys() {
        if let ("", "ConfigMap" | "Secret") = (object.group.as_str(), object.kind.as_str())
            && let Some(stem) = stem(&object.name)
        {
            let sides =
                stems.entry((app.clone(), object.kind.clone(), object.namespace.clone(), stem.into())).or_default();
            match fate {
                Fate::Removed => sides.0.push(key.clone()),
                Fate::Added => sides.1.push(key.clone()),
                Fate::Released => {}
            }
        }
    }
    let mut found = Vec::new();
    for (old, new) in stems.into_values() {
        let ([old], [new]) = (old.as_slice(), new.as_slice()) else { continue };
        let (Some(was), Some(is)) = (lone.get(old), lone.get(new)) else { continue };
        if was.clusters != is.clusters {
            continue;
        }
        let (mut before, mut after) = (was.contents.values(), is.contents.values());
        let (Some(before), None, Some(after), None) = (before.next(), before.next(), after.next(), after.next()) else {
            continue;
        };
        let ObjectName { kind, namespace, name, group, version } = new.1.clone();
        let mut fields = template_changes(&ObjKey { kind, namespace, name, group, version }, None, before, after);
        fields.retain(|field| field.path != "metadata.name");
        found.push(ObjectDiff {
            app: new.0.clone(),
            object: new.1.clone(),
            change: ObjectChange::Replaced { from: old.1.name.clone(), fields },
            clusters: is.clusters.iter().cloned().collect(),
        });
        let keys = (old.clone(), new.clone());
        lone.remove(&keys.0);
        lone.remove(&keys.1);
    }
    found
}

/// The name without the hash that Kustomize appended; `None` where there is none.
fn stem(name: &str) -> Option<&str> {
    let (stem, hash) = name.rsplit_once('-')?;
    (hash.len() == HASH_LEN && hash.chars().all(|c| HASH_CHARS.contains(c))).then_some(stem)
}

/// In how many clusters the app keeps an object.
fn remaining(head: &Compiled, app: Option<&str>, object: &ObjectName) -> u32 {
    let Some(id) = app.and_then(|app| app.split_once('/')).and_then(|(team, app)| head.fleet.app_id(team, app)) else {
        return 0;
    };
    let same = |key: &ObjKey| {
        (&key.kind, &key.group, &key.namespace, &key.name)
            == (&object.kind, &object.group, &object.namespace, &object.name)
    };
    let index = head.fleet.app(id).objects.iter().position(|o| same(&o.key));
    let planned = head.plan.apps.get(id.index()).into_iter().flat_map(|plan| &plan.objects);
    u32::try_from(planned.filter(|p| Some(p.object as usize) == index).count()).unwrap_or(u32::MAX)
}
