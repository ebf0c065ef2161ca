//! Fields and objects that somebody else wrote: changed by hand, held by another manager, owned by an autoscaler, running
//! before.

use std::error::Error;

use fleetwright_tests::kube::{Cluster, Rig};
use fleetwright_tests::product::in_short;
use serde_json::{Value, json};

use super::site::{
    NAMESPACE, SOON, Site, config_map, deployment, deployment_path, manifests_of, map_path, uids, wait_for_end,
    wait_for_object,
};
use crate::Ending;

/// What is held of an app, in all clusters.
fn held(status: &fleetwright_reconciler::controller::status::Status, app: &str) -> Vec<String> {
    let placements = status.apps.iter().filter(|a| a.app == app).flat_map(|a| &a.clusters);
    placements.flat_map(|p| &p.held).map(|held| format!("{}: {}", held.object, held.reason)).collect()
}

pub fn drift(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let cluster = site.first()?;
    let client = cluster.client();
    site.app("web", "", &[deployment("web", 2, "web:1"), config_map("settings", "1"), config_map("other", "1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "web")?;

    client.merge(&map_path("settings"), &json!({"data": {"value": "by hand", "more": "by hand"}}))?;
    client.merge(&deployment_path("web"), &json!({"spec": {"replicas": 5}}))?;
    client.delete(&map_path("other"))?;
    wait_for_object(cluster, "the value to be put right", &map_path("settings"), |o| o["data"]["value"] == "1")?;
    wait_for_object(cluster, "the replicas to be put right", &deployment_path("web"), |o| o["spec"]["replicas"] == 2)?;
    wait_for_object(cluster, "what was deleted to be there", &map_path("other"), |o| o["data"]["value"] == "1")?;
    // a field that nobody stated in the repository is not ours
    assert_eq!(client.get(&map_path("settings"))?["data"]["more"], "by hand");

    site.settings("{drift: Report}")?;
    site.deploy(&controller, "drift is reported only")?;
    client.merge(&map_path("settings"), &json!({"data": {"value": "by hand"}}))?;
    let said = controller.wait_for("the drift to be reported", SOON, |status| {
        let held = held(status, "web");
        if held.is_empty() { Err("nothing is held".to_owned()) } else { Ok(held) }
    })?;
    assert_eq!(
        said,
        ["/ConfigMap/shop/settings: changed in the cluster; not corrected, because drift is reported only"]
    );
    assert_eq!(client.get(&map_path("settings"))?["data"]["value"], "by hand");
    // what the repository says anew of a field that somebody else has by now is a conflict
    site.fleet.replace(
        &manifests_of("web"),
        "{name: settings}\ndata: {value: \"1\"}",
        "{name: settings}\ndata: {value: \"2\"}",
    )?;
    site.push(&controller, "another value")?;
    controller.wait_for("the conflict to be reported", SOON, |status| {
        let held = held(status, "web");
        if held.iter().any(|held| held.contains("other managers hold .data.value")) {
            Ok(())
        } else {
            Err(format!("{held:?}"))
        }
    })?;
    assert_eq!(client.get(&map_path("settings"))?["data"]["value"], "by hand");

    // where drift is put right, so is this, even when nobody looked between the change by hand and the commit
    controller.stop(SOON)?;
    site.settings("{drift: Correct}")?;
    site.fleet.replace(&manifests_of("web"), "web:1", "web:2")?;
    client.merge(
        &deployment_path("web"),
        &json!({"spec": {"template": {"spec": {"containers": [{
            "name": "web", "image": "web:by-hand", "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        }]}}}}),
    )?;
    let main = site.fleet.push("another image")?;
    let controller = site.start()?;
    controller.wait_for_current(&main, SOON)?;
    assert_eq!(client.get(&map_path("settings"))?["data"]["value"], "2");
    assert_eq!(client.get(&deployment_path("web"))?["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");
    Ok(())
}

pub fn conflict(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let cluster = site.first()?;
    let client = cluster.client();
    site.app("web", "", &[config_map("settings", "1"), config_map("free", "1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "web")?;
    // another manager applies the same value: the field is of both
    let theirs =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"value": "1"}});
    client.apply(&map_path("settings"), "other", &theirs)?;
    site.fleet.replace(&manifests_of("web"), "value: \"1\"", "value: \"2\"")?;
    site.push(&controller, "both maps change")?;
    let said = controller.wait_for("the conflict to be reported", SOON, |status| {
        let held = held(status, "web");
        if held.iter().any(|h| h.contains("other")) { Ok(held) } else { Err(format!("{held:?}")) }
    })?;
    println!("  {}", said.join("; "));
    assert!(
        said.len() == 1 && said[0].starts_with("/ConfigMap/shop/settings: ") && said[0].contains(".data.value"),
        "{said:?}"
    );
    wait_for_object(cluster, "the map without conflict", &map_path("free"), |o| o["data"]["value"] == "2")?;
    assert_eq!(client.get(&map_path("settings"))?["data"]["value"], "1", "it is not forced");

    // the object may say so
    site.fleet.replace(
        &manifests_of("web"),
        "{name: settings}",
        "{name: settings, annotations: {fleetwright.io/conflicts: Force}}",
    )?;
    site.deploy(&controller, "force")?;
    assert_eq!(client.get(&map_path("settings"))?["data"]["value"], "2");
    Ok(())
}

pub fn autoscaled(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let cluster = site.first()?;
    let client = cluster.client();
    let autoscaler = |name: &str| {
        format!(
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: {name}}}\nspec:\n  scaleTargetRef: \
             {{apiVersion: apps/v1, kind: Deployment, name: {name}}}\n  minReplicas: 2\n  maxReplicas: 10\n  metrics: [{{type: \
             Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]\n"
        )
    };
    // one has its autoscaler from the beginning, one gets it later; they find no metrics here, so that the apps as a whole are
    // not Current
    site.app("web", "", &[deployment("web", 2, "web:1"), autoscaler("web")])?;
    site.app("late", "", &[deployment("late", 4, "web:1")])?;
    let controller = site.start()?;
    let applied = |main: &str| {
        controller.wait_for("it to be applied", SOON, |status| {
            let everywhere = status.clusters.iter().all(|c| c.applied == status.live && c.applied.is_some());
            if status.main.as_deref() == Some(main) && everywhere { Ok(()) } else { Err(in_short(status)) }
        })
    };
    applied(&site.push(&controller, "web with an autoscaler, and late without")?)?;
    // before the autoscaler looked for the first time
    assert_eq!(client.get(&deployment_path("web"))?["spec"]["replicas"], 2);
    assert_eq!(client.get(&deployment_path("late"))?["spec"]["replicas"], 4);
    site.app("late", "", &[deployment("late", 4, "web:2"), autoscaler("late")])?;
    let main = site.push(&controller, "late gets its autoscaler")?;
    let mut least = u64::MAX;
    cluster.wait_for("late to have it", SOON, || {
        let late = client.get(&deployment_path("late")).map_err(|error| error.to_string())?;
        least = least.min(late["spec"]["replicas"].as_u64().unwrap_or(0));
        let free = !managers_of_replicas(&late).contains(&"fleetwright");
        if free { Ok(()) } else { Err(format!("{:?}", managers_of_replicas(&late))) }
    })?;
    applied(&main)?;
    assert_eq!((least, &client.get(&deployment_path("late"))?["spec"]["replicas"]), (4, &4.into()));
    // the autoscaler scales, through the subresource as it does
    client.merge(&format!("{}/scale", deployment_path("web")), &json!({"spec": {"replicas": 5}}))?;
    site.fleet.replace(&manifests_of("web"), "web:1", "web:2")?;
    site.push(&controller, "another image")?;
    let seen = wait_for_object(cluster, "the image", &deployment_path("web"), |o| {
        o["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"
    })?;
    assert_eq!(seen["spec"]["replicas"], 5, "the autoscaler's replicas stay");
    let owners: Vec<&str> = managers_of_replicas(&seen);
    assert!(!owners.contains(&"fleetwright"), "{owners:?}");
    // and a change by hand is the autoscaler's affair as well
    client.merge(&format!("{}/scale", deployment_path("web")), &json!({"spec": {"replicas": 7}}))?;
    site.fleet.replace(&manifests_of("web"), "web:2", "web:3")?;
    site.push(&controller, "a third image")?;
    let seen = wait_for_object(cluster, "the image", &deployment_path("web"), |o| {
        o["spec"]["template"]["spec"]["containers"][0]["image"] == "web:3"
    })?;
    assert_eq!(seen["spec"]["replicas"], 7);
    Ok(())
}

fn managers_of_replicas(object: &Value) -> Vec<&str> {
    let entries = object["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    let holds = entries.iter().filter(|entry| entry["fieldsV1"]["f:spec"].get("f:replicas").is_some());
    holds.filter_map(|entry| entry["manager"].as_str()).collect()
}

pub fn adoption(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{adopt: {managers: [kubectl, kubectl-client-side-apply]}}")?;
    let cluster = site.first()?;
    // it ran before, put there with kubectl: a ConfigMap with a value that the repository does not have
    create_namespace(cluster)?;
    let pods = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let template = json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"rig.fleetwright.io/ready-after": "0s"}},
        "spec": {"containers": [{"name": "web", "image": "web:1", "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}]},
    });
    let web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    });
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"value": "1", "old": "1"}});
    cluster.client().apply(&deployment_path("web"), "kubectl", &web)?;
    cluster.client().apply(&map_path("settings"), "kubectl", &map)?;
    wait_for_object(cluster, "three replicas", &deployment_path("web"), |o| o["status"]["availableReplicas"] == 3)?;
    let before =
        (uids(cluster, &pods)?, cluster.client().get(&deployment_path("web"))?["metadata"]["generation"].clone());

    site.app("web", "", &[deployment("web", 3, "web:1"), config_map("settings", "1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "what ran before is ours")?;
    let seen = wait_for_object(cluster, "it to be ours", &deployment_path("web"), |o| {
        o["metadata"]["labels"]["fleetwright.io/app"] == "web"
    })?;
    assert_eq!(before, (uids(cluster, &pods)?, seen["metadata"]["generation"].clone()), "no pod restarts");
    wait_for_object(cluster, "a value that is not in the repository to go", &map_path("settings"), |o| {
        o["data"] == json!({"value": "1"})
    })?;
    // from now on it is as if it had always been: what is deleted in the repository goes
    site.fleet.remove("teams/shop/web")?;
    site.push(&controller, "and over")?;
    wait_for_end(cluster, &deployment_path("web"))
}

/// The namespace of the team, for what was there before the fleet.
pub fn create_namespace(cluster: &Cluster) -> Result<(), Box<dyn Error>> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    cluster.client().create("/api/v1/namespaces", &namespace)?;
    let account = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default");
    wait_for_object(cluster, "its service account", &account, |o| !o.is_null()).map(drop)
}
