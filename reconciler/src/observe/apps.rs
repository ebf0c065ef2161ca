//! Apps in a cluster: their health, what blocks it, and their replicas.

use std::collections::BTreeMap;

use fleetwright_compiler::base::{DigestWriter, SmolStr};

use crate::apply::desired::Desired;
use crate::apply::inventory::{AppName, Inventory, generated_namespaces};
use crate::apply::live::Live;
use crate::apply::view::Book;
use crate::cluster::Key;
use crate::health::Health;
use crate::observation::AppSeen;

/// What was seen of the apps of a cluster: of those that should be there, and of those that were applied.
///
/// `keys` are the names of workloads in `placements/`; `before` is the last observation, for how long a health holds.
#[must_use]
pub fn apps(
    desired: &Desired,
    book: &Book,
    live: &Live,
    keys: &BTreeMap<Key, SmolStr>,
    before: &BTreeMap<AppName, AppSeen>,
    now_secs: i64,
) -> BTreeMap<AppName, AppSeen> {
    let mut names: Vec<&AppName> = desired.apps().keys().chain(book.keys()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| **name != generated_namespaces());
    let seen = names.into_iter().map(|name| {
        let inventory = book.get(name).map(|stored| &stored.inventory);
        (name.clone(), app(name, desired, inventory, live, keys, before.get(name), now_secs))
    });
    seen.collect()
}

/// Of a cluster that answers, and shows nothing: nothing that was seen there counts any more. Returns whether that is news.
pub fn unseen(apps: &mut BTreeMap<AppName, AppSeen>, now_secs: i64) -> bool {
    let mut is_news = false;
    for seen in apps.values_mut() {
        let content = seen.content.clone();
        let since_secs = if seen.health == Health::Unknown { seen.since_secs } else { now_secs };
        let nothing =
            AppSeen { health: Health::Unknown, blocking: Vec::new(), workloads: BTreeMap::new(), content, since_secs };
        is_news |= *seen != nothing;
        *seen = nothing;
    }
    is_news
}

fn app(
    name: &AppName,
    desired: &Desired,
    inventory: Option<&Inventory>,
    live: &Live,
    keys: &BTreeMap<Key, SmolStr>,
    before: Option<&AppSeen>,
    now_secs: i64,
) -> AppSeen {
    let wanted = desired.apps().get(name);
    let mut health = Health::Current;
    let mut blocking = Vec::new();
    let mut workloads = BTreeMap::new();
    let applied = inventory.into_iter().flat_map(|inventory| inventory.objects.keys());
    let mut objects: Vec<&Key> = wanted.into_iter().flat_map(|app| app.objects.keys()).chain(applied).collect();
    objects.sort();
    objects.dedup();
    for key in objects {
        let found = live.get(key);
        if let (Some(name), Some(workload)) = (keys.get(key), found.and_then(|object| object.workload)) {
            workloads.insert(name.clone(), workload);
        }
        // What should no longer be there is the prune's business.
        if !wanted.is_some_and(|app| app.objects.contains_key(key)) {
            continue;
        }
        let (state, reason) = match found {
            _ if !live.knows(&key.kind) => (Health::Unknown, "its kind could not be observed"),
            Some(object) => (object.health, object.reason.as_str()),
            None if ran_once(key, inventory) => (Health::Current, ""),
            None => (Health::NotFound, "it is not there"),
        };
        health = health.max(state);
        if state != Health::Current {
            blocking.push((SmolStr::from(key.to_string()), state, reason.to_owned()));
        }
    }
    let since_secs = before.filter(|before| before.health == health).map_or(now_secs, |before| before.since_secs);
    AppSeen { health, blocking, workloads, content: content(inventory), since_secs }
}

/// A Job that was applied and is gone has run.
fn ran_once(key: &Key, inventory: Option<&Inventory>) -> bool {
    let entry = inventory.and_then(|inventory| inventory.objects.get(key));
    key.kind.is("batch", "Job") && entry.is_some_and(|entry| entry.digest.is_some())
}

/// Digest of what was applied, counts excluded.
fn content(inventory: Option<&Inventory>) -> SmolStr {
    let mut writer = DigestWriter::new();
    for (key, entry) in inventory.into_iter().flat_map(|inventory| &inventory.objects) {
        writer.part(key.to_string().as_bytes());
        writer.part(entry.content.as_deref().unwrap_or_default().as_bytes());
    }
    writer.finish().short().into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fleetwright_compiler::plan::Fill;
    use serde_json::{Value, json};

    use super::*;
    use crate::apply::desired::{DesiredApp, desired_object};
    use crate::apply::inventory::Entry;
    use crate::apply::view::Stored;
    use crate::cluster::Delta;
    use crate::observation::WorkloadSeen;

    fn deployment(observed: u64, ready: u64) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "n", "generation": 3, "uid": "u"},
            "spec": {"replicas": 5}, "status": {"observedGeneration": observed, "readyReplicas": ready},
        })
    }

    fn assess(object: &Value) -> (Health, String) {
        let ready = object["status"]["readyReplicas"] == object["spec"]["replicas"];
        if ready { (Health::Current, String::new()) } else { (Health::InProgress, "rolling out".to_owned()) }
    }

    #[test]
    fn health_is_the_worst_and_says_what_blocks() {
        let web = Key::new("apps", "Deployment", "n", "web");
        let name: AppName = ("shop".into(), "web".into());
        let objects = [
            deployment(3, 5),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}}),
        ];
        let objects = objects.iter().map(|o| desired_object(o, Fill::AsIs).expect("an object")).collect();
        let desired = Desired::new([(name.clone(), DesiredApp { objects, ..DesiredApp::default() })].into());
        let keys = [(web.clone(), "apps/Deployment/web".into())].into();
        let mut live = Live::default();
        let look = |live: &Live, before: &BTreeMap<_, _>, now| {
            apps(&desired, &Book::new(), live, &keys, before, now).remove(&name).expect("seen")
        };
        let unknown = look(&live, &BTreeMap::new(), 10);
        assert_eq!((unknown.health, unknown.blocking.len(), unknown.workloads.len()), (Health::Unknown, 2, 0));

        live.take(&Key::new("", "ConfigMap", "", "").kind, &Delta::All(vec![]), &assess);
        for (observed, ready, health, blocking, seen_ready) in [
            (3, 5, Health::NotFound, vec!["/ConfigMap/n/c"], 5),
            (3, 2, Health::NotFound, vec!["/ConfigMap/n/c", "apps/Deployment/n/web"], 2),
            // the controller has not seen this generation: nothing counts as ready
            (2, 5, Health::NotFound, vec!["/ConfigMap/n/c"], 0),
        ] {
            live.take(&web.kind, &Delta::All(vec![Arc::new(deployment(observed, ready))]), &assess);
            let seen = look(&live, &BTreeMap::new(), 10);
            let names: Vec<&str> = seen.blocking.iter().map(|(key, _, _)| key.as_str()).collect();
            assert_eq!((seen.health, names), (health, blocking));
            assert_eq!(
                seen.workloads[&SmolStr::from("apps/Deployment/web")],
                WorkloadSeen { replicas: 5, ready: seen_ready }
            );
        }
        // since when: as long as it stays the same
        let first = look(&live, &BTreeMap::new(), 10);
        let before = [(name.clone(), first)].into();
        assert_eq!(look(&live, &before, 99).since_secs, 10);
        live.take(
            &Key::new("", "ConfigMap", "", "").kind,
            &Delta::All(vec![Arc::new(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}}),
            )]),
            &assess,
        );
        assert_eq!(look(&live, &before, 99).since_secs, 99);
    }

    #[test]
    fn content_leaves_counts_out() {
        let name: AppName = ("shop".into(), "web".into());
        let with = |content: &str, replicas: u32| {
            let mut inventory = Inventory::new("f", &name);
            let entry = Entry {
                content: Some(content.into()),
                replicas: Some(replicas),
                digest: Some("d".into()),
                ..Entry::default()
            };
            inventory.objects.insert(Key::new("apps", "Deployment", "n", "web"), entry);
            let book = [(name.clone(), Stored { inventory, resource_version: None, uid: None })].into();
            apps(&Desired::default(), &book, &Live::default(), &BTreeMap::new(), &BTreeMap::new(), 0)[&name]
                .content
                .clone()
        };
        assert_eq!(with("a", 1), with("a", 2));
        assert_ne!(with("a", 1), with("b", 1));
    }
}
