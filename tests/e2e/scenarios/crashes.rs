//! The controller is killed at 50 random moments of a rollout: whatever it was doing, the next one goes on from what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::time::Duration;

use fleetwright_tests::kube::{Cluster, Rig};
use fleetwright_tests::product::Controller;
use serde_json::Value;

use super::site::{Site, config_map, deployment, items, manifests_of};
use crate::Ending;

const APPS: usize = 20;
const KILLS: usize = 50;
/// Its moments come from this seed: the same every time, as far as the machine lets them.
const SEED: u64 = 20_261_130;
/// A kill falls within so long after the start: longer than a whole rollout takes.
const LONGEST: Duration = Duration::from_millis(2500);

/// What there is of one app in one cluster: five kinds.
const KINDS: [(&str, &str); 5] = [
    ("Deployment", "/apis/apps/v1/namespaces/shop/deployments"),
    ("ConfigMap", "/api/v1/namespaces/shop/configmaps"),
    ("Service", "/api/v1/namespaces/shop/services"),
    ("ServiceAccount", "/api/v1/namespaces/shop/serviceaccounts"),
    ("Role", "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles"),
];

/// SplitMix64: small, and good enough to choose moments.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

/// The five objects of an app, each with a label that says which version of the intents it is of.
pub fn manifests(name: &str, version: &str) -> Vec<String> {
    let label = |text: &str| text.replacen("{name: ", &format!("{{labels: {{version: {version}}}, name: "), 1);
    vec![
        label(&deployment(name, 1, &format!("web:{version}"))),
        label(&config_map(name, version)),
        label(&format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{app: {name}}}, ports: [{{port: 80}}]}}\n"
        )),
        label(&format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}}}\n")),
        label(&format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: {name}}}\nrules: [{{apiGroups: [\"\"], resources: [pods], verbs: [get]}}]\n"
        )),
    ]
}

/// By kind and name: UID and version, of what is ours.
fn objects(cluster: &Cluster) -> Result<BTreeMap<String, (String, String)>, Box<dyn Error>> {
    let mut all = BTreeMap::new();
    for (kind, path) in KINDS {
        for object in items(cluster, path)? {
            let metadata = &object["metadata"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            if metadata["labels"].get("fleetwright.io/app").is_some() {
                let of = (text(&metadata["uid"]), text(&metadata["labels"]["version"]));
                assert!(all.insert(format!("{kind}/{}", text(&metadata["name"])), of).is_none());
            }
        }
    }
    Ok(all)
}

/// Of all clusters together, by version.
fn versions(rig: &Rig) -> Result<BTreeMap<String, usize>, Box<dyn Error>> {
    let mut count = BTreeMap::new();
    for cluster in rig.clusters() {
        for (_, version) in objects(cluster)?.into_values() {
            *count.entry(version).or_insert(0) += 1;
        }
    }
    Ok(count)
}

pub fn kills(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let mut random = Random(SEED);
    let names: Vec<String> = (0..APPS).map(|number| format!("app-{number}")).collect();
    let write = |version: usize| -> Ending {
        for name in &names {
            let manifests = manifests(name, &format!("v{version}"));
            if version == 1 {
                site.app(name, "", &manifests)?
            } else {
                site.fleet.write(&manifests_of(name), &manifests.join("---\n"))?
            }
        }
        Ok(())
    };
    println!(
        "  seed {SEED}; objects of each version in all clusters after each kill, of {} in all",
        APPS * KINDS.len() * rig.clusters().len()
    );
    println!("  {:>4} {:>8} {:>8} {:>6}  objects", "kill", "after ms", "version", "live");
    let (mut version, mut uids) = (0, BTreeMap::new());
    let mut is_even = true;
    let (mut cut, mut idle) = (0, 0);
    for kill in 1..=KILLS {
        // the next version is pushed once the last one is everywhere: every kill falls into a rollout, or before it
        if is_even {
            version += 1;
            write(version)?;
            site.fleet.push(&format!("version {version}"))?;
        }
        let after = Duration::from_millis(random.below(u64::try_from(LONGEST.as_millis())?));
        Controller::start_and_kill(rig, &site.fleet, after)?;
        let seen = versions(rig)?;
        let newest = format!("v{version}");
        let at_newest = seen.get(&newest).copied().unwrap_or(0);
        let total = APPS * KINDS.len() * rig.clusters().len();
        is_even = at_newest == total;
        if at_newest > 0 && !is_even {
            cut += 1
        }
        if at_newest == 0 {
            idle += 1
        }
        // nothing that was there is lost or another one
        for cluster in rig.clusters() {
            let now = objects(cluster)?;
            for (name, (uid, _)) in &now {
                let known = uids.entry((cluster.name(), name.clone())).or_insert_with(|| uid.clone());
                assert_eq!(known, uid, "{name} in {} was made twice", cluster.name());
            }
            let missing: Vec<_> =
                uids.keys().filter(|(c, name)| *c == cluster.name() && !now.contains_key(name)).collect();
            assert!(missing.is_empty(), "lost: {missing:?}");
        }
        println!("  {kill:>4} {:>8} {newest:>8} {:>6}  {seen:?}", after.as_millis(), site.fleet.commits("live")?.len());
    }
    println!("  {cut} kills in the middle of applying, {idle} before anything was applied");
    assert!(cut > 0, "no kill hit a rollout: the times do not fit this machine");

    // one that is left alone brings it to its end
    if is_even {
        version += 1;
        write(version)?;
        site.fleet.push(&format!("version {version}"))?;
    }
    let main = site.fleet.commits("main")?.remove(0).id;
    let controller = site.start()?;
    controller.wait_for_current(&main, Duration::from_secs(180))?;
    let expected: BTreeSet<String> =
        KINDS.iter().flat_map(|(kind, _)| names.iter().map(move |name| format!("{kind}/{name}"))).collect();
    for cluster in rig.clusters() {
        let now = objects(cluster)?;
        assert_eq!(now.keys().cloned().collect::<BTreeSet<_>>(), expected, "nothing lost, nothing doubled");
        for (name, (uid, at)) in &now {
            assert_eq!(
                (uids.get(&(cluster.name(), name.clone())).unwrap_or(uid), at),
                (uid, &format!("v{version}")),
                "{name}"
            );
        }
        let deleted = cluster.requests()?.into_iter().filter(|r| r.verb == "delete" && r.namespace == "shop").count();
        assert_eq!(deleted, 0, "nothing was ever deleted");
        let pods = items(cluster, "/api/v1/namespaces/shop/pods")?;
        let running = pods.iter().filter(|pod| pod["metadata"].get("deletionTimestamp").is_none()).count();
        assert_eq!(running, APPS);
        // the inventories list all of it, and nothing else
        let mut listed = BTreeSet::new();
        for map in items(cluster, "/api/v1/namespaces/fleetwright-system/configmaps")? {
            let inventory: Value = serde_json::from_str(map["data"]["inventory"].as_str().unwrap_or("null"))?;
            listed.extend(inventory["objects"].as_object().into_iter().flat_map(|objects| objects.keys().cloned()));
        }
        listed.retain(|key| key.contains("/shop/"));
        assert_eq!(listed.len(), expected.len(), "{listed:?}");
    }
    // no decision was written twice, and none goes back
    let live = site.fleet.commits("live")?;
    let keys: BTreeSet<&str> = live.iter().map(|commit| commit.key.as_str()).filter(|key| !key.is_empty()).collect();
    let keyed = live.iter().filter(|commit| !commit.key.is_empty()).count();
    assert_eq!(keys.len(), keyed, "every key is there once");
    let pins = live.iter().filter(|commit| commit.cause == "Pin").count();
    assert_eq!(pins, version, "one commit for each version");
    println!(
        "  then: {} objects at v{version} in each cluster, {pins} pins, {} commits in all, each key once",
        expected.len(),
        live.len()
    );
    Ok(())
}
