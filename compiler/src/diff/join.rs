//! Objects of two compiles side by side, cluster by cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::placements::pairs;
use crate::Compiled;
use crate::base::{AppId, Digest, SmolStr};
use crate::kinds::custom::CustomKind;
use crate::kinds::replicas::Counter;
use crate::parse::{ObjKey, Template};
use crate::plan::Fill;
use crate::render::{RenderedFile, RenderedObject};

/// The annotation that says that an object outlives its manifest.
const PRUNE: &str = "fleetwright.io/prune";

/// The counts of the join.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Objects that stay as they are.
    pub(super) unchanged: u64,
    /// Objects that are written in another way and mean the same.
    pub(super) rewritten: u64,
    /// By cluster.
    pub(super) clusters: BTreeMap<SmolStr, ClusterTally>,
}

/// The counts of one cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ClusterTally {
    /// Objects before.
    pub(super) before: u64,
    /// Objects that are created.
    pub(super) added: u64,
    /// Objects that are deleted.
    pub(super) removed: u64,
    /// Objects that are no longer managed and stay.
    pub(super) released: u64,
    /// Objects that differ in the counts that placements state, and in nothing else.
    pub(super) scaled: u64,
    /// Objects that differ in anything else.
    pub(super) changed: u64,
}

impl Tally {
    /// Notes objects that change.
    pub(super) fn changed(&mut self, clusters: &BTreeSet<SmolStr>) {
        for cluster in clusters {
            self.clusters.entry(cluster.clone()).or_default().changed += 1;
        }
    }

    /// Notes objects whose contents differ and mean the same.
    pub(super) fn same_meaning(&mut self, clusters: &BTreeSet<SmolStr>, scaled: bool) {
        for cluster in clusters {
            if scaled {
                self.clusters.entry(cluster.clone()).or_default().scaled += 1;
            } else {
                self.rewritten += 1;
            }
        }
    }
}

/// One content of an object.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// `team/app`; none for what is generated.
    pub(super) app: Option<String>,
    /// The object but for its share.
    pub(super) template: Arc<Template>,
    /// What a WorkloadKind teaches of its kind.
    pub(super) custom: Option<Arc<CustomKind>>,
}

/// What happens to an object with one pair of contents.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// The object, in the version it will have.
    pub(super) key: ObjKey,
    /// Before; none where it is created.
    pub(super) before: Option<Content>,
    /// After; none where it goes.
    pub(super) after: Option<Content>,
    /// Whether it stays in the cluster though its manifest goes.
    pub(super) released: bool,
    /// Whether its share differs.
    pub(super) scaled: bool,
    /// Where.
    pub(super) clusters: BTreeSet<SmolStr>,
}

/// Everything but the version.
type Identity = (SmolStr, SmolStr, Option<SmolStr>, SmolStr);

/// One object of one cluster.
struct Entry<'c> {
    key: ObjKey,
    app: Option<AppId>,
    object: &'c RenderedObject,
}

/// An object before and after.
type Pair<'c> = (Option<Entry<'c>>, Option<Entry<'c>>);

/// What makes two outcomes one: the object, its contents, and whose it is.
type OutcomeKey = (Identity, [Option<Digest>; 2], [Option<String>; 2], bool, bool);

/// Joins all clusters. What is equal is only counted; outcomes ascend by identity.
pub(super) fn join(base: &Compiled, head: &Compiled) -> (Vec<Outcome>, Tally) {
    let same_app: BTreeMap<AppId, AppId> =
        pairs(base, head).into_values().filter_map(|(before, after)| Some((before?, after?))).collect();
    let names: BTreeSet<&SmolStr> = base.fleet.clusters.iter().chain(&head.fleet.clusters).map(|c| &c.name).collect();
    let names: Vec<&SmolStr> = names.into_iter().collect();
    let joined: Vec<Joined<'_>> = names.par_iter().map(|name| join_cluster(base, head, name, &same_app)).collect();

    let mut tally = Tally::default();
    let mut outcomes: BTreeMap<OutcomeKey, Outcome> = BTreeMap::new();
    for (cluster, joined) in names.into_iter().zip(joined) {
        let Joined { pairs, mut counts, mut unchanged } = joined;
        for (identity, pair) in pairs {
            let scaled = match &pair {
                (None, None) => continue,
                (None, Some(_)) => {
                    counts.added += 1;
                    false
                }
                (Some(_), None) => false,
                (Some(before), Some(after)) => {
                    let scaled = share_differs(before, after);
                    if before.object.template.digest == after.object.template.digest
                        && same_owner(before, after, &same_app)
                    {
                        if scaled {
                            counts.scaled += 1
                        } else {
                            unchanged += 1
                        }
                        continue;
                    }
                    scaled
                }
            };
            let (before, after) = pair;
            let released = after.is_none() && before.as_ref().is_some_and(outlives);
            if after.is_none() {
                if released { counts.released += 1 } else { counts.removed += 1 }
            }
            let Some(key) = after.as_ref().or(before.as_ref()).map(|entry| entry.key.clone()) else { continue };
            let (before, after) = (before.map(|e| content(base, &e)), after.map(|e| content(head, &e)));
            let digest = |content: &Option<Content>| content.as_ref().map(|c| c.template.digest);
            let app = |content: &Option<Content>| content.as_ref().and_then(|c| c.app.clone());
            let outcome_key =
                (identity, [digest(&before), digest(&after)], [app(&before), app(&after)], released, scaled);
            let outcome = outcomes.entry(outcome_key).or_insert_with(|| Outcome {
                key,
                before,
                after,
                released,
                scaled,
                clusters: BTreeSet::new(),
            });
            outcome.clusters.insert(cluster.clone());
        }
        tally.unchanged += unchanged;
        tally.clusters.insert(cluster.clone(), counts);
    }
    (outcomes.into_values().collect(), tally)
}

/// One cluster side by side.
struct Joined<'c> {
    pairs: BTreeMap<Identity, Pair<'c>>,
    counts: ClusterTally,
    unchanged: u64,
}

/// Joins one cluster. Files whose objects are all equal are only counted.
fn join_cluster<'c>(
    base: &'c Compiled,
    head: &'c Compiled,
    cluster: &str,
    same_app: &BTreeMap<AppId, AppId>,
) -> Joined<'c> {
    let (was, is) = (files(base, cluster), files(head, cluster));
    let before = was.iter().map(|file| file.objects.len() as u64).sum();
    let mut joined =
        Joined { pairs: BTreeMap::new(), counts: ClusterTally { before, ..ClusterTally::default() }, unchanged: 0 };
    let mut equal: BTreeSet<Option<AppId>> = BTreeSet::new();
    for file in was {
        let twin = match file.app {
            None => Some(None),
            Some(app) => same_app.get(&app).map(|app| Some(*app)),
        };
        let twin = twin.and_then(|app| is.binary_search_by_key(&app, |file| file.app).ok()).and_then(|at| is.get(at));
        if let Some(twin) = twin
            && file.objects.len() == twin.objects.len()
            && file
                .objects
                .iter()
                .zip(&twin.objects)
                .all(|(a, b)| a.template.digest == b.template.digest && a.fill == b.fill)
        {
            joined.unchanged += file.objects.len() as u64;
            equal.insert(twin.app);
            continue;
        }
        for entry in entries(base, file) {
            let identity = identity(&entry.key);
            joined.pairs.entry(identity).or_default().0 = Some(entry);
        }
    }
    for file in is.iter().filter(|file| !equal.contains(&file.app)) {
        for entry in entries(head, file) {
            let identity = identity(&entry.key);
            joined.pairs.entry(identity).or_default().1 = Some(entry);
        }
    }
    joined
}

/// Ascending by app, what is generated first.
fn files<'c>(compiled: &'c Compiled, cluster: &str) -> &'c [RenderedFile] {
    compiled.fleet.cluster_id(cluster).map_or(&[], |id| compiled.rendered.files(id))
}

fn entries<'c>(compiled: &'c Compiled, file: &'c RenderedFile) -> impl Iterator<Item = Entry<'c>> {
    file.objects.iter().map(|object| {
        let key = file.key(&compiled.fleet, object).cloned().unwrap_or_else(|| generated(&object.template));
        Entry { key, app: file.app, object }
    })
}

/// The key of a generated object: a Namespace, or a ResourceQuota.
fn generated(template: &Template) -> ObjKey {
    let value = template.value();
    let text = |pointer: &str| value.pointer(pointer).and_then(|text| text.as_str());
    ObjKey {
        kind: text("/kind").unwrap_or_default().into(),
        namespace: text("/metadata/namespace").map(SmolStr::new),
        name: text("/metadata/name").unwrap_or_default().into(),
        group: "".into(),
        version: "v1".into(),
    }
}

fn identity(key: &ObjKey) -> Identity {
    (key.kind.clone(), key.group.clone(), key.namespace.clone(), key.name.clone())
}

fn content(compiled: &Compiled, entry: &Entry<'_>) -> Content {
    Content {
        app: entry.app.map(|app| compiled.fleet.app_name(app)),
        template: Arc::clone(&entry.object.template),
        custom: entry.object.custom.clone(),
    }
}

fn same_owner(before: &Entry<'_>, after: &Entry<'_>, same_app: &BTreeMap<AppId, AppId>) -> bool {
    before.app.and_then(|app| same_app.get(&app).copied()) == after.app
}

/// Whether other counts are written.
fn share_differs(before: &Entry<'_>, after: &Entry<'_>) -> bool {
    let custom = after.object.custom.as_deref();
    let Some(kind) = Counter::of(&after.key.group, &after.key.kind, custom) else { return false };
    if !kind.is_counted()
        || (before.object.template.digest, before.object.fill) == (after.object.template.digest, after.object.fill)
    {
        return false;
    }
    match (before.object.fill, after.object.fill) {
        (
            Fill::Share { replicas: Some(was), completions: None },
            Fill::Share { replicas: Some(is), completions: None },
        ) if !kind.completes() => was != is,
        (Fill::Owned { .. }, Fill::Owned { .. }) => false,
        // what is not filled in stands in the text
        (
            Fill::AsIs | Fill::Share { .. } | Fill::Owned { .. } | Fill::Bounds { .. },
            Fill::AsIs | Fill::Share { .. } | Fill::Owned { .. } | Fill::Bounds { .. },
        ) => {
            let counts = |entry: &Entry<'_>| kind.counts(&entry.object.value(Some(&entry.key))).ok();
            counts(before) != counts(after)
        }
    }
}

/// Whether an object stays in the cluster when its manifest goes: generated Namespaces are never pruned.
fn outlives(entry: &Entry<'_>) -> bool {
    if entry.app.is_none() {
        return entry.key.kind == "Namespace";
    }
    let value = entry.object.template.value();
    let annotation = value.get("metadata").and_then(|m| m.get("annotations")).and_then(|a| a.get(PRUNE));
    annotation.and_then(|a| a.as_str()) == Some("disabled")
}
