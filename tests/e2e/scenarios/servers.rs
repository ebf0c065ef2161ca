//! The clusters themselves: without these, no other scenario means anything.

use std::time::{Duration, Instant};

use fleetwright_tests::kube::{Client, Cluster, Rig};
use serde_json::{Value, json};

use crate::Ending;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WITHIN: Duration = Duration::from_secs(60);

fn pod(name: &str, image: &str, annotations: Value) -> Value {
    json!({
        "metadata": {"labels": {"app": name}, "annotations": annotations},
        "spec": {"containers": [{
            "name": "web",
            "image": image,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        }]},
    })
}

fn workload(name: &str, replicas: u32, template: Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    })
}

fn wait_for_available(cluster: &Cluster, name: &str, replicas: u64) -> Result<(), Box<dyn std::error::Error>> {
    let what = format!("{name} to have {replicas} available replicas");
    cluster.wait_for(&what, WITHIN, || {
        let seen = cluster.client().get(&format!("{DEPLOYMENTS}/{name}")).map_err(|error| error.to_string())?;
        let status = &seen["status"];
        let current = status["observedGeneration"] == seen["metadata"]["generation"];
        if current && status["availableReplicas"].as_u64() == Some(replicas) { Ok(()) } else { Err(status.to_string()) }
    })?;
    Ok(())
}

fn wait_for_pods(cluster: &Cluster, app: &str, count: usize) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let found = cluster.wait_for(&format!("{count} pods of {app}"), WITHIN, || {
        let list =
            cluster.client().get(&format!("{PODS}?labelSelector=app={app}")).map_err(|error| error.to_string())?;
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        if pods.len() == count { Ok(pods) } else { Err(format!("{} pods", pods.len())) }
    })?;
    Ok(found)
}

pub fn deployment(rig: &Rig) -> Ending {
    for cluster in rig.clusters() {
        cluster.client().create(DEPLOYMENTS, &workload("web", 50, pod("web", "web:1", json!({}))))?;
    }
    for cluster in rig.clusters() {
        wait_for_available(cluster, "web", 50)?;
        let pods = wait_for_pods(cluster, "web", 50)?;
        let on = |name: &str| pods.iter().filter(|pod| pod["spec"]["nodeName"] == name).count();
        assert_eq!(on("node-1") + on("node-2"), 50, "every pod is on a node");
        assert!(on("node-1") > 0 && on("node-2") > 0, "the scheduler uses both nodes");
    }
    // each cluster is one of its own: what goes from one stays in the others
    let [first, others @ ..] = rig.clusters() else { return Err("no cluster".into()) };
    first.client().delete(&format!("{DEPLOYMENTS}/web"))?;
    wait_for_pods(first, "web", 0)?;
    assert!(first.client().find(&format!("{DEPLOYMENTS}/web"))?.is_none());
    for cluster in others {
        wait_for_available(cluster, "web", 50)?;
        cluster.client().delete(&format!("{DEPLOYMENTS}/web"))?;
        wait_for_pods(cluster, "web", 0)?;
    }
    Ok(())
}

pub fn pods(rig: &Rig) -> Ending {
    let [cluster, ..] = rig.clusters() else { return Err("no cluster".into()) };
    let client = cluster.client();

    client.create(DEPLOYMENTS, &workload("broken", 1, pod("broken", "web:broken", json!({}))))?;
    cluster.wait_for("the image to be refused", WITHIN, || {
        let list = client.get(&format!("{PODS}?labelSelector=app=broken")).map_err(|error| error.to_string())?;
        let state = &list["items"][0]["status"]["containerStatuses"][0]["state"]["waiting"]["reason"];
        if state == "ImagePullBackOff" { Ok(()) } else { Err(list["items"][0]["status"].to_string()) }
    })?;
    // the way out of it is a working image
    client.merge(
        &format!("{DEPLOYMENTS}/broken"),
        &json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}),
    )?;
    wait_for_available(cluster, "broken", 1)?;

    let begin = Instant::now();
    let slow = json!({"rig.fleetwright.io/ready-after": "3s"});
    client.create(DEPLOYMENTS, &workload("slow", 2, pod("slow", "web:1", slow)))?;
    wait_for_available(cluster, "slow", 2)?;
    assert!(begin.elapsed() >= Duration::from_secs(3), "ready after {:?}", begin.elapsed());

    for (name, code, condition) in [("good", "0", "Complete"), ("bad", "7", "Failed")] {
        let mut template = pod(name, "job:1", json!({"rig.fleetwright.io/exit-code": code}));
        template["spec"]["restartPolicy"] = json!("Never");
        client.create(
            JOBS,
            &json!({
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": name},
                "spec": {"backoffLimit": 0, "template": template},
            }),
        )?;
        cluster.wait_for(&format!("Job {name} to be {condition}"), WITHIN, || {
            let seen = client.get(&format!("{JOBS}/{name}")).map_err(|error| error.to_string())?;
            let conditions = seen["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let met = conditions.iter().any(|c| c["type"] == condition && c["status"] == "True");
            if met { Ok(()) } else { Err(seen["status"].to_string()) }
        })?;
    }
    Ok(())
}

/// Writes a ConfigMap as one manager, and sees that another cannot change it by accident.
fn write_map(client: &Client) -> Ending {
    let path = format!("{MAPS}/kept");
    let map = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": value}});
    client.apply(&path, "one", &map("1"))?;
    client.apply(&path, "two", &map("1"))?;
    let conflict = client.apply(&path, "two", &map("2")).err().ok_or("a field of two managers was changed by one")?;
    assert_eq!(conflict.code(), Some(409), "{conflict}");
    Ok(())
}

pub fn partition(rig: &Rig) -> Ending {
    let [lost, other] = rig.clusters() else { return Err("not two clusters".into()) };
    write_map(lost.client())?;
    lost.partition()?;
    let limit = Duration::from_millis(1500);
    let begin = Instant::now();
    let error = lost.client().within(limit).get(MAPS).err().ok_or("a stopped server answered")?;
    assert_eq!(error.code(), None, "no answer is not an answer: {error}");
    assert!(begin.elapsed() >= limit, "it must hang, not refuse: {:?}", begin.elapsed());
    other.client().get(MAPS)?;
    lost.heal()?;
    assert_eq!(lost.client().get(&format!("{MAPS}/kept"))?["data"]["a"], "1");
    lost.client().create(DEPLOYMENTS, &workload("web", 3, pod("web", "web:1", json!({}))))?;
    wait_for_available(lost, "web", 3)
}

pub fn crash(rig: &Rig) -> Ending {
    let [cluster, ..] = rig.clusters() else { return Err("no cluster".into()) };
    let address = cluster.url();
    write_map(cluster.client())?;
    cluster.crash()?;
    let error = cluster.client().get(MAPS).err().ok_or("a killed server answered")?;
    assert_eq!(error.code(), None, "{error}");
    assert!(cluster.partition().is_err(), "there is nothing to stop");
    cluster.restart()?;
    assert_eq!(cluster.url(), address);
    assert_eq!(cluster.client().get(&format!("{MAPS}/kept"))?["data"]["a"], "1");
    cluster.client().create(DEPLOYMENTS, &workload("web", 3, pod("web", "web:1", json!({}))))?;
    wait_for_available(cluster, "web", 3)
}
