//! The plain path: what is pushed is there, what is changed changes, what is deleted goes, and nothing else is touched.

use std::collections::BTreeMap;

use fleetwright_tests::kube::{Cluster, Rig};
use serde_json::Value;

use super::site::{
    NAMESPACE, SOON, Site, config_map, deployment, deployment_path, manifests_of, map_path, slow_deployment, uids,
    wait_for_end, wait_for_object,
};
use crate::Ending;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/shop/deployments";
const MAPS: &str = "/api/v1/namespaces/shop/configmaps";
const PODS: &str = "/api/v1/namespaces/shop/pods";

fn image(object: &Value) -> &Value {
    &object["spec"]["template"]["spec"]["containers"][0]["image"]
}

pub fn push(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    site.app(
        "web",
        "overrides: [{target: {kind: ConfigMap}, set: {/data/value: \"${cluster.name}\"}}]",
        &[deployment("web", 2, "web:1"), config_map("settings", "all")],
    )?;
    site.app("shared", "placement: {replicas: {strategy: StaticWeight}}", &[deployment("shared", 9, "shared:1")])?;
    site.app("old", "", &[deployment("old", 1, "old:1"), config_map("old", "1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "three apps")?;
    for cluster in rig.clusters() {
        let client = cluster.client();
        assert_eq!(client.get(&deployment_path("web"))?["status"]["availableReplicas"], 2);
        assert_eq!(client.get(&deployment_path("shared"))?["spec"]["replicas"], 3);
        assert_eq!(client.get(&map_path("settings"))?["data"]["value"], cluster.name(), "the override counts");
    }
    let before = rig
        .clusters()
        .iter()
        .map(|c| Ok((c.name(), generations(c)?)))
        .collect::<Result<BTreeMap<_, _>, Box<dyn std::error::Error>>>()?;

    site.fleet.replace(&manifests_of("web"), "web:1", "web:2")?;
    site.fleet.replace(&manifests_of("web"), "replicas: 2", "replicas: 3")?;
    site.fleet.replace(
        "teams/shop/web/app.yaml",
        "/data/value: \"${cluster.name}\"",
        "/data/value: \"in ${cluster.name}\"",
    )?;
    site.fleet.remove("teams/shop/old")?;
    site.deploy(&controller, "web:2 in three copies, another override; old is over")?;
    for cluster in rig.clusters() {
        let client = cluster.client();
        let web = client.get(&deployment_path("web"))?;
        assert_eq!((image(&web).as_str(), &web["status"]["availableReplicas"]), (Some("web:2"), &3.into()));
        assert_eq!(client.get(&map_path("settings"))?["data"]["value"], format!("in {}", cluster.name()));
        wait_for_end(cluster, &deployment_path("old"))?;
        wait_for_end(cluster, &map_path("old"))?;
        // nothing else was touched: neither another app, nor what Kubernetes itself put there, nor the namespace
        let (was, is) = (&before[cluster.name()], generations(cluster)?);
        for name in ["Deployment/shared", "ConfigMap/kube-root-ca.crt", "Namespace/shop"] {
            assert_eq!(was.get(name), is.get(name), "{name} in {}", cluster.name());
        }
        assert!(is.contains_key("Deployment/shared"));
    }
    Ok(())
}

/// What tells whether an object was written: its UID and the version of what people write, by kind and name.
fn generations(cluster: &Cluster) -> Result<BTreeMap<String, String>, Box<dyn std::error::Error>> {
    let mut all = BTreeMap::new();
    for (kind, path) in [("Deployment", DEPLOYMENTS), ("ConfigMap", MAPS), ("Namespace", "/api/v1/namespaces")] {
        for object in super::site::items(cluster, path)? {
            let metadata = &object["metadata"];
            // ConfigMaps and Namespaces have no generation, and nobody writes their status here
            let version = metadata.get("generation").unwrap_or(&metadata["resourceVersion"]);
            all.insert(
                format!("{kind}/{}", metadata["name"].as_str().unwrap_or_default()),
                format!("{} {version}", metadata["uid"]),
            );
        }
    }
    Ok(all)
}

pub fn rename(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    site.app(
        "web",
        "placement: {replicas: {strategy: StaticWeight}}",
        &[deployment("web", 4, "web:1"), config_map("settings", "1")],
    )?;
    let controller = site.start()?;
    site.deploy(&controller, "web")?;
    let before = all_uids(rig)?;

    site.fleet.rename("teams/shop/web", "teams/shop/front")?;
    site.fleet.replace("teams/shop/front/app.yaml", "name: web", "name: front")?;
    site.fleet.replace("teams/shop/front/app.yaml", "namespace: shop,", "namespace: shop, previousNames: [web],")?;
    site.deploy(&controller, "web is called front")?;
    for cluster in rig.clusters() {
        for path in [deployment_path("web"), map_path("settings")] {
            wait_for_object(cluster, "the new app to own it", &path, |o| {
                o["metadata"]["labels"]["fleetwright.io/app"] == "front"
            })?;
        }
        let old = "/api/v1/namespaces/fleetwright-system/configmaps/inventory.shop.web";
        wait_for_end(cluster, old)?;
        let deleted: Vec<_> =
            cluster.requests()?.into_iter().filter(|r| r.verb == "delete" && r.namespace == NAMESPACE).collect();
        assert_eq!(deleted, [], "nothing is deleted in {}", cluster.name());
    }
    assert_eq!(before, all_uids(rig)?, "the objects and their pods are the same ones");
    Ok(())
}

fn all_uids(rig: &Rig) -> Result<Vec<Vec<String>>, Box<dyn std::error::Error>> {
    let clusters = rig.clusters().iter();
    clusters.flat_map(|cluster| [DEPLOYMENTS, MAPS, PODS].map(|path| uids(cluster, path))).collect()
}

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
";

pub fn custom_resource(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let widget = |size: u32| {
        format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: one}}\nspec: {{size: {size}}}\n")
    };
    site.app("widgets", "", &[widget(1), DEFINITION.to_owned()])?;
    let controller = site.start()?;
    site.deploy(&controller, "a kind and an object of it, in one commit")?;
    let path = "/apis/example.com/v1/namespaces/shop/widgets/one";
    for cluster in rig.clusters() {
        assert_eq!(cluster.client().get(path)?["spec"]["size"], 1);
    }
    site.fleet.replace(&manifests_of("widgets"), "size: 1", "size: 2")?;
    site.deploy(&controller, "a larger one")?;
    for cluster in rig.clusters() {
        assert_eq!(cluster.client().get(path)?["spec"]["size"], 2);
    }
    Ok(())
}

pub fn waves(rig: &Rig) -> Ending {
    let cluster = rig.clusters().first().ok_or("no cluster")?;
    let site = Site::new(rig, "{}")?;
    // one order inside an app, and one between apps
    let after_migration = deployment("web", 1, "web:1").replace(
        "metadata: {name: web}",
        "metadata: {name: web, annotations: {config.kubernetes.io/depends-on: apps/namespaces/shop/Deployment/migration}}",
    );
    site.app("database", "", &[slow_deployment("database", 1, "db:1", "4s")])?;
    site.app(
        "shop",
        "dependsOn: [database]",
        &[slow_deployment("migration", 1, "migration:1", "3s"), after_migration],
    )?;
    let controller = site.start()?;
    site.deploy(&controller, "a shop upon a database")?;
    let ready_since = |name: &str| -> Result<String, Box<dyn std::error::Error>> {
        let object = cluster.client().get(&deployment_path(name))?;
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let available = conditions.iter().find(|c| c["type"] == "Available" && c["status"] == "True");
        Ok(available
            .and_then(|c| c["lastTransitionTime"].as_str())
            .ok_or(format!("{name} is not available"))?
            .to_owned())
    };
    let created = |name: &str| -> Result<String, Box<dyn std::error::Error>> {
        let object = cluster.client().get(&deployment_path(name))?;
        Ok(object["metadata"]["creationTimestamp"].as_str().ok_or("no creationTimestamp")?.to_owned())
    };
    for (first, second) in [("database", "migration"), ("migration", "web")] {
        let (ready, made) = (ready_since(first)?, created(second)?);
        assert!(ready <= made, "{first} was available at {ready}, and {second} was made at {made}");
    }

    // what is waited for never becomes ready; a newer commit to it ends the wait
    site.fleet.replace(&manifests_of("database"), "db:1", "db:broken")?;
    site.fleet.replace(&manifests_of("shop"), "web:1", "web:2")?;
    let broken = site.push(&controller, "a broken database")?;
    controller.wait_for("the shop to wait", SOON, |status| {
        let waits =
            status.apps.iter().filter(|app| app.app == "shop").flat_map(|app| &app.clusters).flat_map(|p| &p.held);
        let waits: Vec<&str> = waits.map(|held| held.reason.as_str()).collect();
        let on_it =
            status.main.as_deref() == Some(&broken) && waits.iter().any(|w| w.contains("waits for app shop/database"));
        if on_it { Ok(()) } else { Err(format!("{waits:?}")) }
    })?;
    assert_eq!(image(&cluster.client().get(&deployment_path("web"))?), "web:1", "it waits");
    site.fleet.replace(&manifests_of("database"), "db:broken", "db:2")?;
    site.fleet.replace(&manifests_of("database"), "ready-after: 4s", "ready-after: 0s")?;
    site.deploy(&controller, "a working database")?;
    assert_eq!(image(&cluster.client().get(&deployment_path("web"))?), "web:2");
    Ok(())
}
