//! What it costs: requests while nothing changes, and time, processor time and requests of a deployment, next to kubectl's.
//!
//! The numbers mean something for a release build only: `cargo build --release`. What is asserted holds for any build.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fleetwright_tests::kube::{Cluster, Request, Rig, until};
use fleetwright_tests::product::{Controller, Cpu, in_short};
use serde_json::json;

use super::crashes::manifests;
use super::guards::next_tick;
use super::site::{SOON, Site, manifests_of, wait_for_object};
use crate::Ending;

/// Of all clusters, in order.
type Counts = Vec<usize>;

fn counts(rig: &Rig, counts: impl Fn(&Request) -> bool) -> Result<Counts, Box<dyn Error>> {
    rig.clusters().iter().map(|c| Ok(c.requests()?.iter().filter(|r| counts(r)).count())).collect()
}

/// Verb and resource of requests, with how many of each.
fn by_kind<'r>(requests: impl IntoIterator<Item = &'r Request>) -> String {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for request in requests {
        let what = if request.resource.is_empty() {
            request.uri.split('?').next().unwrap_or_default()
        } else {
            &request.resource
        };
        *count.entry(format!("{} {what}", request.verb)).or_default() += 1;
    }
    let parts: Vec<String> = count.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn ticks(controller: &Controller) -> Result<f64, String> {
    controller.metric("fleetwright_ticks_total")
}

pub fn quiet(rig: &Rig) -> Ending {
    const TICKS: f64 = 10.0;
    let site = Site::new(rig, "{}")?;
    for number in 0..10 {
        site.app(&format!("app-{number}"), "", &manifests(&format!("app-{number}"), "v1"))?;
    }
    let controller = site.start()?;
    site.deploy(&controller, "ten apps")?;
    // what was observed of the clusters is written down once, and whatever moved has come to rest
    let rest = || -> Result<(usize, Counts), String> {
        let commits = site.fleet.commits("live").map_err(|error| error.to_string())?.len();
        Ok((commits, counts(rig, Request::is_write).map_err(|error| error.to_string())?))
    };
    let (mut last, mut since) = (rest()?, Instant::now());
    until("it to come to rest", SOON, || {
        let now = rest()?;
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() > Duration::from_secs(15) { Ok(()) } else { Err(format!("{last:?}")) }
    })?;
    let (before, requests, begun) = (rest()?, counts(rig, |_| true)?, ticks(&controller)?);
    let (cpu, begin) = (controller.cpu()?, Instant::now());
    until("ten ticks", SOON, || {
        let now = ticks(&controller)?;
        if now >= begun + TICKS { Ok(()) } else { Err(format!("{} ticks", now - begun)) }
    })?;
    let (secs, ticked, used) = (begin.elapsed().as_secs_f64(), ticks(&controller)? - begun, controller.cpu()?);
    assert_eq!(rest()?, before, "no writes and no commits");
    let all: Vec<Request> = rig
        .clusters()
        .iter()
        .zip(&requests)
        .map(|(c, skip)| Ok(c.requests()?.split_off(*skip)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?
        .concat();
    let clusters = rig.clusters().len() as f64;
    println!(
        "  {ticked} ticks in {secs:.1} s: no write, no commit; {:.2} requests for each tick and cluster ({}); {:.3} CPU s for each tick, of which git {:.3}",
        all.len() as f64 / ticked / clusters,
        by_kind(&all),
        (used.own_secs + used.children_secs - cpu.own_secs - cpu.children_secs) / ticked,
        (used.children_secs - cpu.children_secs) / ticked,
    );
    assert!((all.len() as f64) < 2.0 * ticked * clusters, "requests do not grow with objects");
    Ok(())
}

const APPS: usize = 100;
const OBJECTS: usize = APPS * 5;
const NAMES: fn(usize) -> String = |number| format!("app-{number}");

/// What an exercise took.
struct Cost {
    /// Until every object is stored.
    stored_secs: f64,
    /// Until all is over, bookkeeping included.
    secs: f64,
    cpu_secs: f64,
    requests: usize,
    writes: usize,
}

fn show(who: &str, what: &str, objects: usize, cost: &Cost) {
    println!(
        "  {who:<12} {what:<18} stored {:>6.2} s, over {:>6.2} s, {:>6.2} CPU s, {:>5} requests ({:.2} for each object), {} writes",
        cost.stored_secs,
        cost.secs,
        cost.cpu_secs,
        cost.requests,
        cost.requests as f64 / objects as f64,
        cost.writes,
    );
}

/// Runs kubectl on files, without the validation that costs it most in older versions; its requests are those of its user agent.
fn kubectl(rig: &Rig, cluster: &Cluster, files: &Path) -> Result<Cost, Box<dyn Error>> {
    let is_its = |r: &Request| r.agent == "kubectl";
    let before = requests_of(cluster, is_its)?;
    let cpu = Cpu::of_this()?;
    let begin = Instant::now();
    let output = Command::new("kubectl")
        .args([
            "apply",
            "--server-side",
            "--validate=false",
            "--namespace",
            "direct",
            "--context",
            cluster.name(),
            "--filename",
        ])
        .arg(files)
        .env("KUBECONFIG", rig.kubeconfig())
        .env("HOME", rig.folder())
        .output()?;
    let secs = begin.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("kubectl: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let after = requests_of(cluster, is_its)?;
    Ok(Cost {
        stored_secs: secs,
        secs,
        cpu_secs: Cpu::of_this()?.children_secs - cpu.children_secs,
        requests: after.0 - before.0,
        writes: after.1 - before.1,
    })
}

fn requests_of(cluster: &Cluster, is: impl Fn(&Request) -> bool) -> Result<(usize, usize), Box<dyn Error>> {
    let requests = cluster.requests()?;
    let its: Vec<&Request> = requests.iter().filter(|r| is(r)).collect();
    Ok((its.len(), its.iter().filter(|r| r.is_write()).count()))
}

/// Whether the first cluster's Deployments, which are applied last, are all there; or one is of a version.
fn deployments(cluster: &Cluster, count: u64) -> Result<(), String> {
    let list = cluster.client().get("/apis/apps/v1/namespaces/shop/deployments?limit=1").map_err(|e| e.to_string())?;
    let here = list["items"].as_array().map_or(0, Vec::len) as u64;
    let all = here + list["metadata"]["remainingItemCount"].as_u64().unwrap_or(0);
    if all == count { Ok(()) } else { Err(format!("{all} Deployments")) }
}

fn version(cluster: &Cluster, app: usize, version: &str) -> Result<(), String> {
    let found = cluster.client().get(&super::site::deployment_path(&NAMES(app))).map_err(|e| e.to_string())?;
    let is = &found["metadata"]["labels"]["version"];
    if is == version { Ok(()) } else { Err(is.to_string()) }
}

/// Pushes, and waits until it is stored, and then until it is applied in all clusters.
fn deploy(
    site: &Site<'_>,
    controller: &Controller,
    message: &str,
    stored: impl Fn(&Cluster) -> Result<(), String>,
) -> Result<Cost, Box<dyn Error>> {
    let is_its = |r: &Request| r.agent != "kubectl";
    let before = requests_of_all(site.rig, is_its)?;
    let cpu = controller.cpu()?;
    // from the moment that the push is over: what Git itself takes is not ours
    let main = site.fleet.push(message)?;
    let begin = Instant::now();
    controller.nudge()?;
    until("it to be stored", Duration::from_secs(180), || site.rig.clusters().iter().try_for_each(&stored))?;
    let stored_secs = begin.elapsed().as_secs_f64();
    controller.wait_for("it to be applied", Duration::from_secs(180), |status| {
        let applied = status.main.as_deref() == Some(&main)
            && status.live.is_some()
            && status.clusters.iter().all(|c| c.applied == status.live);
        if applied { Ok(()) } else { Err(in_short(status)) }
    })?;
    let secs = begin.elapsed().as_secs_f64();
    let used = controller.cpu()?;
    let after = requests_of_all(site.rig, is_its)?;
    let cpu_secs = used.own_secs + used.children_secs - cpu.own_secs - cpu.children_secs;
    Ok(Cost { stored_secs, secs, cpu_secs, requests: after.0 - before.0, writes: after.1 - before.1 })
}

fn requests_of_all(rig: &Rig, is: impl Fn(&Request) -> bool + Copy) -> Result<(usize, usize), Box<dyn Error>> {
    let each = rig.clusters().iter().map(|c| requests_of(c, is)).collect::<Result<Vec<_>, _>>()?;
    Ok(each.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}

pub fn throughput(rig: &Rig) -> Ending {
    let build = if cfg!(debug_assertions) { "a debug build: the times mean nothing" } else { "a release build" };
    println!("  {APPS} apps of five objects, {build}");
    let cluster = rig.clusters().first().ok_or("no cluster")?;
    let files = rig.folder().join("direct");
    let write_files = |version: &str, count: usize| -> std::io::Result<()> {
        std::fs::create_dir_all(&files)?;
        for number in 0..count {
            std::fs::write(
                files.join(format!("{}.yaml", NAMES(number))),
                manifests(&NAMES(number), version).join("---\n"),
            )?;
        }
        Ok(())
    };
    let theirs = if Command::new("kubectl").args(["version", "--client"]).output().is_ok_and(|o| o.status.success()) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "direct"}});
        cluster.client().create("/api/v1/namespaces", &namespace)?;
        wait_for_object(cluster, "its service account", "/api/v1/namespaces/direct/serviceaccounts/default", |o| {
            !o.is_null()
        })?;
        write_files("v1", APPS)?;
        let new = kubectl(rig, cluster, &files)?;
        write_files("v2", APPS / 10)?;
        let some = kubectl(rig, cluster, &files)?;
        let none = kubectl(rig, cluster, &files)?;
        // 500 objects and their pods must not slow down what comes next
        cluster.client().delete("/api/v1/namespaces/direct")?;
        cluster.wait_for("the namespace to go", Duration::from_secs(180), || {
            let found = cluster.client().find("/api/v1/namespaces/direct").map_err(|error| error.to_string())?;
            found.map_or(Ok(()), |namespace| Err(namespace["status"].to_string()))
        })?;
        Some([new, some, none])
    } else {
        println!("  NOT COMPARED: there is no kubectl on this machine");
        None
    };

    let site = Site::new(rig, "{}")?;
    // a first commit: what follows is no start
    site.app("first", "", &manifests("first", "v1"))?;
    let controller = site.start()?;
    site.deploy(&controller, "a first app")?;
    for number in 0..APPS {
        site.app(&NAMES(number), "", &manifests(&NAMES(number), "v1"))?;
    }
    let new = deploy(&site, &controller, "a hundred apps", |c| deployments(c, 101))?;
    let main = site.fleet.commits("main")?.remove(0).id;
    controller.wait_for_current(&main, Duration::from_secs(180))?;
    next_tick(&controller)?;
    for number in 0..APPS / 10 {
        site.fleet.write(&manifests_of(&NAMES(number)), &manifests(&NAMES(number), "v2").join("---\n"))?;
    }
    let before = cluster.requests()?.len();
    let some = deploy(&site, &controller, "ten apps change", |c| (0..10).try_for_each(|app| version(c, app, "v2")))?;
    let written: Vec<Request> = cluster.requests()?.split_off(before).into_iter().filter(Request::is_write).collect();
    let of_objects = written.iter().filter(|r| r.namespace == "shop").count();
    let main = site.fleet.commits("main")?.remove(0).id;
    controller.wait_for_current(&main, Duration::from_secs(180))?;
    site.fleet.write("README.md", "Nothing that is deployed.\n")?;
    let none = deploy(&site, &controller, "nothing that is deployed changes", |_| Ok(()))?;
    let whole = "all 500 are new";
    let part = "10 % change";
    for (index, (what, ours)) in [(whole, &new), (part, &some), ("nothing changes", &none)].into_iter().enumerate() {
        if let Some(theirs) = theirs.as_ref().and_then(|all| all.get(index)) {
            show("kubectl", what, OBJECTS, theirs);
        }
        show("fleetwright", what, OBJECTS, ours);
    }
    println!("  of the {} writes of the change, {of_objects} are objects: {}", written.len(), by_kind(&written));
    assert_eq!(of_objects, OBJECTS / 10, "only what changed is written");
    assert!(none.writes <= 1, "{} writes for nothing", none.writes);
    assert!(none.requests < 20, "no request per object: {}", none.requests);
    if let (Some([theirs, ..]), false) = (&theirs, cfg!(debug_assertions)) {
        assert!(new.stored_secs <= theirs.secs, "{:.2} s, kubectl {:.2} s", new.stored_secs, theirs.secs);
        assert!(some.stored_secs < 1.0, "{:.2} s", some.stored_secs);
    }
    Ok(())
}

/// Three servers at a time: each does its own work, and the controller does not do one after the other.
pub fn together(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    for cluster in rig.clusters().iter().skip(1) {
        site.cluster(cluster.name(), "{mode: Suspended}")?;
    }
    site.app("first", "", &manifests("first", "v1"))?;
    let controller = site.start()?;
    site.push(&controller, "a first app")?;
    wait_for_object(site.first()?, "the first app", &super::site::deployment_path("first"), |o| !o.is_null())?;
    for cluster in rig.clusters().iter().skip(1) {
        site.cluster(cluster.name(), "{}")?;
    }
    for number in 0..APPS {
        site.app(&NAMES(number), "", &manifests(&NAMES(number), "v1"))?;
    }
    let all = deploy(&site, &controller, "a hundred apps in three clusters", |c| deployments(c, 101))?;
    show("fleetwright", "all 1500 are new", OBJECTS * 3, &all);
    let main = site.fleet.commits("main")?.remove(0).id;
    controller.wait_for_current(&main, Duration::from_secs(300))?;
    for number in 0..APPS / 10 {
        site.fleet.write(&manifests_of(&NAMES(number)), &manifests(&NAMES(number), "v2").join("---\n"))?;
    }
    let some = deploy(&site, &controller, "ten apps change", |c| (0..10).try_for_each(|app| version(c, app, "v2")))?;
    show("fleetwright", "10 % change", OBJECTS * 3, &some);
    Ok(())
}
