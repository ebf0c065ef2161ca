//! A cluster that is lost, and comes back.

use std::error::Error;
use std::time::{Duration, Instant};

use fleetwright_reconciler::controller::status::Status;
use fleetwright_tests::kube::{Cluster, Request, Rig, until};
use fleetwright_tests::product::{Commit, Controller, Fleet, in_short, is_current};

use super::guards::next_tick;
use super::site::{SOON, Site, config_map, deployment, deployment_path, manifests_of, map_path, wait_for_object};
use crate::Ending;

const SETTINGS: &str = "{failover: {after: 5s}}";

/// Answers change after 30 s of agreement, and turns may be ten seconds apart.
const LOST_WITHIN: Duration = Duration::from_secs(150);

fn state<'s>(status: &'s Status, cluster: &str) -> (&'s str, &'s str) {
    let found = status.clusters.iter().find(|c| c.name == cluster);
    found.map_or(("", ""), |c| (c.state.as_str(), c.answers.as_str()))
}

fn of_cause(fleet: &Fleet, cause: &str) -> Result<Vec<Commit>, Box<dyn Error>> {
    Ok(fleet.commits("live")?.into_iter().filter(|commit| commit.cause == cause).collect())
}

fn wait_for_replicas(cluster: &Cluster, count: u64) -> Ending {
    let what = format!("{count} available replicas in {}", cluster.name());
    wait_for_object(cluster, &what, &deployment_path("web"), |o| {
        o["spec"]["replicas"] == count && o["status"]["availableReplicas"] == count
    })
    .map(drop)
}

/// Deploys six replicas over three clusters, kills the last cluster's API server, and waits for the failover.
fn fail_over<'r>(site: &Site<'r>) -> Result<(Controller, Commit, &'r Cluster), Box<dyn Error>> {
    let [first, second, lost] = site.rig.clusters() else { return Err("not three clusters".into()) };
    site.app(
        "web",
        "placement: {replicas: {strategy: StaticWeight}, move: {minAvailable: 100%}}",
        &[deployment("web", 6, "web:1"), config_map("settings", "1")],
    )?;
    let controller = site.start()?;
    site.deploy(&controller, "web")?;
    let begin = Instant::now();
    lost.crash()?;
    controller.wait_for("the failover", LOST_WITHIN, |status| {
        if state(status, lost.name()).0 == "Lost" { Ok(()) } else { Err(in_short(status)) }
    })?;
    let committed = begin.elapsed();
    wait_for_replicas(first, 3)?;
    wait_for_replicas(second, 3)?;
    println!(
        "  {:.1} s after the kill: commit; {:.1} s: its replicas run elsewhere",
        committed.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
    let failovers = of_cause(&site.fleet, "Failover")?;
    let [failover] = &failovers[..] else { return Err(format!("one failover, not {failovers:?}").into()) };
    Ok((controller, failover.clone(), lost))
}

fn deleted(cluster: &Cluster) -> Result<Vec<Request>, Box<dyn Error>> {
    Ok(cluster.requests()?.into_iter().filter(|r| r.verb == "delete" && r.namespace == "shop").collect())
}

pub fn failover(rig: &Rig) -> Ending {
    let site = Site::new(rig, SETTINGS)?;
    let (controller, failover, lost) = fail_over(&site)?;
    println!("{}", indented(&site.fleet.message(&failover.id)?));
    for cluster in rig.clusters() {
        assert_eq!(deleted(cluster)?, [], "nothing is removed in {}", cluster.name());
    }
    let written = lost.requests()?.into_iter().filter(Request::is_write).count();

    lost.restart()?;
    let begin = Instant::now();
    controller.wait_for("quarantine", LOST_WITHIN, |status| {
        if state(status, lost.name()) == ("Quarantined", "Yes") { Ok(()) } else { Err(in_short(status)) }
    })?;
    println!("  {:.1} s after its return: quarantined", begin.elapsed().as_secs_f64());
    controller.wait_for("it to be ready", LOST_WITHIN, |status| {
        if state(status, lost.name()) == ("Ready", "Yes") && is_current(status) {
            Ok(())
        } else {
            Err(in_short(status))
        }
    })?;
    // when it is ready, it is clean
    for path in [deployment_path("web"), map_path("settings")] {
        assert_eq!(lost.client().find(&path)?, None, "{path}");
    }
    println!("  {:.1} s: clean, and ready by a commit", begin.elapsed().as_secs_f64());
    let since: Vec<Request> = lost.requests()?.into_iter().filter(Request::is_write).skip(written).collect();
    let other: Vec<&Request> =
        since.iter().filter(|r| r.verb != "delete" && r.namespace != "fleetwright-system").collect();
    assert!(other.is_empty(), "it takes nothing new: {other:?}");
    let subjects: Vec<String> = of_cause(&site.fleet, "Return")?.into_iter().map(|commit| commit.subject).collect();
    assert_eq!(subjects, ["Declare cluster-3 ready", "Quarantine cluster-3: it answers again"]);
    // the others keep what they took
    for cluster in rig.clusters().iter().take(2) {
        wait_for_replicas(cluster, 3)?;
        assert_eq!(deleted(cluster)?, []);
    }
    Ok(())
}

pub fn revert(rig: &Rig) -> Ending {
    let site = Site::new(rig, SETTINGS)?;
    let (controller, failover, lost) = fail_over(&site)?;
    let [first, second, ..] = rig.clusters() else { return Err("not three clusters".into()) };
    let reverted = site.fleet.revert(&failover.id)?;
    controller.nudge()?;
    controller.wait_for("the revert to be followed, and to hold", SOON, |status| {
        let holds = status.reports.iter().any(|r| r.text.contains("its failover was taken back: it holds"));
        let ready = state(status, lost.name()) == ("Ready", "No");
        if ready && holds { Ok(()) } else { Err(in_short(status)) }
    })?;
    // far longer than a failover takes to be due
    for _ in 0..12 {
        next_tick(&controller)?;
    }
    for cluster in [first, second] {
        assert_eq!(deleted(cluster)?, []);
        wait_for_replicas(cluster, 3)?;
    }
    let failovers = of_cause(&site.fleet, "Failover")?;
    assert_eq!(failovers.len(), 1, "no second failover: {failovers:?}");
    assert_eq!(failovers[0].id, failover.id);
    assert!(site.fleet.commits("live")?.iter().any(|commit| commit.id == reverted), "the revert is in the history");

    lost.restart()?;
    // two each again: the copies elsewhere go only now that its own are seen
    controller.wait_for("its share to count again", LOST_WITHIN, |status| {
        if state(status, lost.name()) == ("Ready", "Yes") && is_current(status) {
            Ok(())
        } else {
            Err(in_short(status))
        }
    })?;
    for cluster in rig.clusters() {
        wait_for_replicas(cluster, 2)?;
    }
    until("the epoch to rise", SOON, || {
        let returns = of_cause(&site.fleet, "Return").map_err(|error| error.to_string())?;
        let subjects: Vec<String> = returns.into_iter().map(|commit| commit.subject).collect();
        if subjects == ["Declare cluster-3 ready"] { Ok(()) } else { Err(format!("{subjects:?}")) }
    })?;
    Ok(())
}

/// One server hangs: the others are served as fast as before.
pub fn stopped(rig: &Rig) -> Ending {
    const ROUNDS: usize = 7;
    // nothing fails over meanwhile
    let site = Site::new(rig, "{failover: {after: 1h}}")?;
    let [others @ .., stopped] = rig.clusters() else { return Err("no cluster".into()) };
    site.app("web", "", &(0..10).map(|n| config_map(&format!("map-{n}"), "round-0")).collect::<Vec<_>>())?;
    let controller = site.start()?;
    site.deploy(&controller, "ten maps")?;
    let mut version = 0;
    let mut round = || -> Result<Duration, Box<dyn Error>> {
        let (from, to) = (format!("round-{version}\""), format!("round-{}\"", version + 1));
        version += 1;
        site.fleet.replace(&manifests_of("web"), &from, &to)?;
        site.fleet.push("another round")?;
        let begin = Instant::now();
        controller.nudge()?;
        until("the others to have it", SOON, || {
            for cluster in others {
                let seen = cluster.client().get(&map_path("map-9")).map_err(|error| error.to_string())?;
                if seen["data"]["value"] != to.trim_end_matches('"') {
                    return Err(format!("{} has {}", cluster.name(), seen["data"]["value"]));
                }
            }
            Ok(())
        })?;
        Ok(begin.elapsed())
    };
    let mut median = || -> Result<Duration, Box<dyn Error>> {
        let mut times = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>, _>>()?;
        times.sort();
        Ok(times[ROUNDS / 2])
    };
    let before = median()?;
    stopped.partition()?;
    let during = median()?;
    stopped.heal()?;
    let ratio = during.as_secs_f64() / before.as_secs_f64();
    println!(
        "  a change is applied by the others after {before:.2?}; with one server stopped {during:.2?}: ratio {ratio:.2}"
    );
    assert!(ratio < 2.0, "{ratio}");
    // and the one that was stopped catches up
    let last = site.fleet.commits("main")?.remove(0).id;
    controller.wait_for_current(&last, LOST_WITHIN)?;
    Ok(())
}

fn indented(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}
