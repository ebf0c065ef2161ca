//! A Cluster file from a running cluster, and what a controller makes of it.

use fleetwright_tests::kube::Rig;
use serde_json::{Value, json};

use super::site::{SOON, Site, deployment};
use crate::Ending;

/// A node of a pool, as a cloud provider's controllers leave it.
fn node(name: &str, cpu: &str, labels: &Value, taints: &Value, cordoned: bool) -> Value {
    let mut labels = labels.clone();
    labels["kubernetes.io/hostname"] = name.into();
    labels["kubernetes.io/os"] = "linux".into();
    labels["topology.kubernetes.io/region"] = "europe-west1".into();
    let room = json!({"cpu": cpu, "memory": "16Gi", "pods": "110"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": format!("gce://project/europe-west1-b/{name}"), "taints": taints, "unschedulable": cordoned},
        "status": {"capacity": room, "allocatable": room},
    })
}

pub fn live(rig: &Rig) -> Ending {
    let [cluster] = rig.clusters() else { return Err("not one cluster".into()) };
    let site = Site::new(rig, "{}")?;
    site.fleet.push("a fleet")?;
    site.fleet.remove(&format!("clusters/{}.yaml", cluster.name()))?;
    let web = |zone: &str| json!({"cloud.google.com/gke-nodepool": "web", "topology.kubernetes.io/zone": zone});
    let gpu = json!({"cloud.google.com/gke-nodepool": "gpu", "accelerator": "v100"});
    let tainted = json!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]);
    for node in [
        node("web-1", "8", &web("b"), &json!([]), false),
        node("web-2", "7500m", &web("c"), &json!([]), false),
        node("web-3", "8", &web("c"), &json!([]), true),
        node("gpu-1", "16", &gpu, &tainted, false),
    ] {
        cluster.client().create("/api/v1/nodes", &node)?;
    }
    cluster.wait_for("five Ready nodes", SOON, || {
        let nodes = cluster.client().get("/api/v1/nodes").map_err(|error| error.to_string())?;
        let is_ready = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
            conditions.iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
        };
        let ready = nodes["items"].as_array().into_iter().flatten().filter(is_ready).count();
        if ready == 5 { Ok(()) } else { Err(format!("{ready} are Ready")) }
    })?;

    let kubeconfig = rig.kubeconfig().display().to_string();
    let words = ["import", "live", "--kubeconfig", &kubeconfig, "--context", cluster.name()];
    let ran = site.fleet.run_here(&words)?;
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("the fleet compiles"), "{}", ran.err);
    assert!(ran.out.contains("pool web: web-3: cordoned: not counted"), "{}", ran.out);
    // never over a file that is there
    let again = site.fleet.run_here(&words)?;
    assert_eq!(again.code, 4, "{}", again.err);

    site.app("web", "placement: {replicas: {strategy: StaticWeight}}", &[deployment("web", 2, "web:1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "an imported cluster")?;
    let path = format!("state/capacity/{}.yaml", cluster.name());
    let mut recorded = String::new();
    controller.wait_for("its capacity to be recorded", SOON, |status| {
        recorded = site.fleet.file("live", &path).ok_or_else(|| format!("{status:?}"))?;
        Ok(())
    })?;
    println!("{recorded}");
    let written = site.fleet.file("main", &format!("clusters/{}.yaml", cluster.name())).ok_or("no Cluster file")?;
    println!("{written}");
    // every node is in the pool that it was read into; none is left to `other`
    for (pool, nodes) in [("general", 1), ("gpu", 1), ("web", 2)] {
        for text in [&written, &recorded] {
            assert!(text.contains(&format!("name: {pool}\n")), "{pool}: {text}");
            let after = text.split(&format!("name: {pool}\n")).nth(1).unwrap_or_default();
            assert!(after.trim_start().starts_with(&format!("nodes: {nodes}\n")), "{pool}: {text}");
        }
    }
    assert!(!recorded.contains("name: other"), "{recorded}");
    assert!(written.contains("provider: gcp\n  region: europe-west1\n"), "{written}");
    Ok(())
}
