//! What stands in the way of harm: namespaces of others, deletion budgets, observed clusters, protected branches.

use std::time::Duration;

use fleetwright_tests::kube::{Cluster, Request, Rig, until};
use fleetwright_tests::product::{Controller, in_short};
use serde_json::json;

use super::owners::create_namespace;
use super::site::{
    SOON, Site, config_map, deployment, deployment_path, items, manifests_of, map_path, uids, wait_for_end,
    wait_for_object,
};
use crate::Ending;

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

pub fn namespace(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let cluster = site.first()?;
    create_namespace(cluster)?;
    let foreign =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreign"}, "data": {"value": "1"}});
    cluster.client().create(MAPS, &foreign)?;
    let before = cluster.client().get("/api/v1/namespaces/shop")?["metadata"]["uid"].clone();
    site.app("web", "", &[deployment("web", 1, "web:1"), config_map("settings", "1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "web, in a namespace that was there before")?;

    // the app goes, then the team as a whole
    site.fleet.remove("teams/shop/web")?;
    site.push(&controller, "web is over")?;
    wait_for_end(cluster, &deployment_path("web"))?;
    wait_for_end(cluster, &map_path("settings"))?;
    site.fleet.remove("teams/shop.yaml")?;
    let last = site.push(&controller, "the team is over")?;
    controller.wait_for("the last commit to be applied", SOON, |status| {
        let applied = status.clusters.iter().all(|cluster| cluster.applied == status.live);
        if status.main.as_deref() == Some(&last) && applied { Ok(()) } else { Err(in_short(status)) }
    })?;
    for _ in 0..3 {
        next_tick(&controller)?;
    }
    let seen = cluster.client().get("/api/v1/namespaces/shop")?;
    assert_eq!((&seen["metadata"]["uid"], &seen["status"]["phase"]), (&before, &"Active".into()));
    assert!(cluster.client().find(&map_path("foreign"))?.is_some());
    let asked: Vec<Request> =
        cluster.requests()?.into_iter().filter(|r| r.verb == "delete" && r.resource == "namespaces").collect();
    assert_eq!(asked, [], "not even asked for");
    Ok(())
}

/// The hash that held objects ask an approval of, and how many they are.
fn asked_for(controller: &Controller) -> Result<(String, usize), Box<dyn std::error::Error>> {
    Ok(controller.wait_for("the budget to ask", SOON, |status| {
        let held = status.apps.iter().flat_map(|app| &app.clusters).flat_map(|p| &p.held);
        let asking: Vec<&str> = held
            .filter_map(|h| h.reason.split("fleetwright approve ").nth(1))
            .map(|rest| rest.trim_end_matches('`'))
            .collect();
        match asking.first() {
            Some(hash) => Ok(((*hash).to_owned(), asking.len())),
            None => Err(in_short(status)),
        }
    })?)
}

pub fn budget(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let cluster = site.first()?;
    let all: Vec<String> = (0..120).map(|number| config_map(&format!("map-{number}"), "1")).collect();
    site.app("maps", "", &all)?;
    let controller = site.start()?;
    site.deploy(&controller, "120 objects")?;
    let before = uids(cluster, MAPS)?;
    assert_eq!(before.len(), 121, "with Kubernetes' own");

    // a mistake: one is left, and it changes
    site.app("maps", "", &[config_map("map-0", "2")])?;
    site.push(&controller, "a mistake")?;
    let (hash, objects) = asked_for(&controller)?;
    assert_eq!(objects, 119);
    wait_for_object(cluster, "what is wanted to be applied", &map_path("map-0"), |o| o["data"]["value"] == "2")?;
    for _ in 0..3 {
        next_tick(&controller)?;
    }
    assert_eq!(uids(cluster, MAPS)?, before, "nothing is deleted");
    assert_eq!(deletions(cluster)?, 0);
    // the approval of another set lets nothing go
    let other = format!("b3:{}", "0".repeat(64));
    assert_eq!(site.fleet.run(&["approve", &other])?.code, 0);
    for _ in 0..3 {
        next_tick(&controller)?;
    }
    assert_eq!(uids(cluster, MAPS)?.len(), 121);

    let approved = site.fleet.run(&["approve", &hash])?;
    assert_eq!(approved.code, 0, "{}", approved.err);
    controller.nudge()?;
    cluster.wait_for("119 objects to go", SOON, || {
        let left = items(cluster, MAPS).map_err(|e| e.to_string())?.len();
        if left == 2 { Ok(()) } else { Err(format!("{left} are left")) }
    })?;
    assert_eq!(deletions(cluster)?, 119);
    assert!(cluster.client().find(&map_path("map-0"))?.is_some());
    Ok(())
}

fn deletions(cluster: &Cluster) -> Result<usize, Box<dyn std::error::Error>> {
    Ok(cluster
        .requests()?
        .iter()
        .filter(|r| r.verb == "delete" && r.resource == "configmaps" && r.namespace == "shop")
        .count())
}

/// Waits until the controller looked at the repository once more, and its clusters took a turn since.
pub fn next_tick(controller: &Controller) -> Ending {
    let ticks = || controller.metric("fleetwright_ticks_total");
    let before = ticks()?;
    controller.nudge()?;
    until("the next tick", SOON, || {
        let now = ticks()?;
        if now > before { Ok(()) } else { Err(format!("{now} ticks")) }
    })?;
    Ok(())
}

pub fn observe(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let [observed, other] = rig.clusters() else { return Err("not two clusters".into()) };
    site.cluster(observed.name(), "{mode: Observe}")?;
    // something of the app is there already, and is not touched either
    create_namespace(observed)?;
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"value": "1"}});
    observed.client().create(MAPS, &map)?;
    let elsewhere =
        config_map("elsewhere", "1").replace("{name: elsewhere}", "{name: elsewhere, namespace: shop-more}");
    site.app("web", "", &[deployment("web", 2, "web:1"), config_map("settings", "1"), elsewhere])?;
    let controller = site.start()?;
    site.push(&controller, "web")?;
    wait_for_object(other, "the other cluster to run it", &deployment_path("web"), |o| {
        o["status"]["availableReplicas"] == 2
    })?;
    // it asks what would happen, and writes nothing
    until("a dry run", SOON, || {
        let asked = observed.requests().map_err(|e| e.to_string())?;
        let dry = asked.iter().filter(|r| r.uri.contains("dryRun=All")).count();
        if dry > 0 { Ok(()) } else { Err(format!("{} requests", asked.len())) }
    })?;
    let mut would = Vec::new();
    until("the log to say what would be done", SOON, || {
        let log = controller.log();
        let lines = log.iter().map(|line| &line["fields"]).filter(|fields| fields["cluster"] == observed.name());
        let lines = lines.filter(|fields| fields["did"].as_str().is_some_and(|did| did.starts_with("would")));
        would = lines.filter_map(|fields| fields["object"].as_str().map(str::to_owned)).collect();
        would.sort();
        // also what has no namespace yet
        let all = [
            "/ConfigMap/shop-more/elsewhere",
            "/ConfigMap/shop/settings",
            "/Namespace//shop",
            "/Namespace//shop-more",
            "apps/Deployment/shop/web",
        ];
        if would == all { Ok(()) } else { Err(format!("{would:?}")) }
    })?;
    for _ in 0..3 {
        next_tick(&controller)?;
    }
    let written: Vec<Request> = observed.requests()?.into_iter().filter(Request::is_write).collect();
    assert_eq!(written, []);
    assert_eq!(observed.client().get(&map_path("settings"))?["metadata"].get("labels"), None);
    println!("  would be applied: {}", would.join(", "));

    site.cluster(observed.name(), "{mode: Apply}")?;
    site.deploy(&controller, "apply it")?;
    assert_eq!(observed.client().get(&map_path("settings"))?["metadata"]["labels"]["fleetwright.io/app"], "web");
    Ok(())
}

/// The bot never pushes to `main`; and where it may not push to `live` either, nothing is applied and nothing fails over.
pub fn protected(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{failover: {after: 5s}}")?;
    let [first, second, lost] = rig.clusters() else { return Err("not three clusters".into()) };
    site.app("web", "placement: {replicas: {strategy: StaticWeight}}", &[deployment("web", 6, "web:1")])?;
    let controller = site.start()?;
    site.deploy(&controller, "web")?;
    let live = site.fleet.commits("live")?;
    let main = site.fleet.commits("main")?;

    site.fleet.freeze(&["live"])?;
    site.fleet.replace(&manifests_of("web"), "web:1", "web:2")?;
    site.push(&controller, "an image that cannot go live")?;
    let alert = |what: &str| {
        controller.wait_for(what, SOON, |status| {
            let text = status.reports.iter().find(|report| report.text.contains("frozen"));
            text.map(|report| (report.urgency.to_string(), report.text.clone())).ok_or_else(|| in_short(status))
        })
    };
    let (urgency, text) = alert("the alert")?;
    println!("  {urgency}: {text}");
    assert_eq!(urgency, "Wrong");
    assert!(text.contains("Nothing new is applied and nothing fails over"), "{text}");
    lost.crash()?;
    controller.wait_for("the lost cluster to be seen", SOON, |status| {
        let seen = status.clusters.iter().find(|cluster| cluster.name == lost.name());
        if seen.is_some_and(|cluster| cluster.answers == "No") { Ok(()) } else { Err(in_short(status)) }
    })?;
    // more than long enough for a failover
    until("ticks after it is due", SOON, {
        let end = std::time::Instant::now() + Duration::from_secs(8);
        move || if std::time::Instant::now() >= end { Ok(()) } else { Err("time passes".to_owned()) }
    })?;
    next_tick(&controller)?;
    alert("the alert to stand")?;
    for cluster in [first, second] {
        let web = cluster.client().get(&deployment_path("web"))?;
        assert_eq!(web["spec"]["replicas"], 2, "nothing fails over");
        assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["image"], "web:1", "nothing new is applied");
    }
    assert_eq!(site.fleet.commits("live")?, live);
    let refused = site.fleet.refused()?;
    assert!(!refused.is_empty() && refused.iter().all(|push| push.starts_with("live ")), "{refused:?}");

    // once it may push again, all of it goes on
    site.fleet.freeze(&[])?;
    controller.nudge()?;
    for cluster in [first, second] {
        wait_for_object(cluster, "the failover and the new image", &deployment_path("web"), |o| {
            o["status"]["availableReplicas"] == 3 && o["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"
        })?;
    }
    assert!(site.fleet.refused()?.iter().all(|push| push.starts_with("live ")), "never to main");
    assert_eq!(site.fleet.commits("main")?.len(), main.len() + 1);
    assert!(controller.status()?.reports.iter().all(|report| !report.text.contains("frozen")));
    Ok(())
}
