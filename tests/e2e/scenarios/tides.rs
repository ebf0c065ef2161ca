//! A tide turns by a commit, made by `fleetwright advance` as a CI job runs it on a schedule.

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fleetwright_tests::kube::{Rig, until};
use fleetwright_tests::product::{Commit, Controller, Fleet};

use super::site::{SOON, Site, deployment, deployment_path, wait_for_object};
use crate::Ending;

/// Minutes of the day, in UTC.
fn now_minutes() -> Result<(u64, u64), Box<dyn Error>> {
    let secs = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() % 86_400;
    Ok((secs / 60, secs % 60))
}

fn clock(minutes: u64) -> String {
    let minutes = minutes % 1440;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

fn turns(fleet: &Fleet) -> Result<Vec<Commit>, Box<dyn Error>> {
    Ok(fleet.commits("live")?.into_iter().filter(|commit| commit.cause == "Tide").collect())
}

pub fn tide(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let [west, east] = rig.clusters() else { return Err("not two clusters".into()) };
    site.app("chat", "placement: {replicas: {strategy: StaticWeight}}", &[deployment("chat", 10, "chat:1")])?;
    // the night begins with the next minute that leaves time for what comes before
    let (minute, second) = now_minutes()?;
    let night = minute + if second < 15 { 1 } else { 2 };
    let phases = format!(
        "[{{name: day, from: \"{}\", weights: {{cluster-1: 80, cluster-2: 20}}}}, {{name: night, from: \"{}\", weights: \
         {{cluster-1: 20, cluster-2: 80}}}}]",
        clock(night + 720),
        clock(night),
    );
    site.fleet.write(
        "policies/sun.yaml",
        &format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {{name: sun}}\nspec:\n  timeZone: UTC\n  apps: {{teams: \
             [shop]}}\n  phases: {phases}\n"
        ),
    )?;
    site.fleet.push("a chat that follows the sun")?;
    let first = site.fleet.run(&["advance"])?;
    assert_eq!(first.code, 0, "{}", first.err);
    // who applies decides nothing
    let controller = Controller::start_with(rig, &site.fleet, &["--apply-only"])?;
    let replicas = |count: u64| {
        move |o: &serde_json::Value| o["spec"]["replicas"] == count && o["status"]["availableReplicas"] == count
    };
    wait_for_object(west, "80 %", &deployment_path("chat"), replicas(8))?;
    wait_for_object(east, "20 %", &deployment_path("chat"), replicas(2))?;
    let before = turns(&site.fleet)?;

    // two jobs at a time, every second
    let runs = until("the tide to turn", Duration::from_secs(150), || {
        let pair = std::thread::scope(|scope| {
            let jobs = [(); 2].map(|()| scope.spawn(|| site.fleet.run(&["advance"])));
            jobs.map(|job| job.join().map_err(|_| "a job panicked".to_owned())?.map_err(|error| error.to_string()))
        });
        for run in &pair {
            let run = run.as_ref().map_err(Clone::clone)?;
            if run.code != 0 {
                return Err(format!("advance ended with {}: {}", run.code, run.err));
            }
        }
        let new = turns(&site.fleet).map_err(|error| error.to_string())?.len() - before.len();
        if new > 0 { Ok(pair.map(|run| run.map(|run| run.out))) } else { Err("it did not turn".to_owned()) }
    })?;
    let after = turns(&site.fleet)?;
    assert_eq!(after.len(), before.len() + 1, "of two runners, one turns it: {after:?}");
    let wrote = runs.iter().flatten().filter(|out| out.contains(" Tide ")).count();
    assert_eq!(wrote, 1, "{runs:?}");
    println!("  {}", after.first().map(|commit| commit.subject.as_str()).unwrap_or_default());

    controller.nudge()?;
    // what is ready never falls below what the move must leave ready, 80 % of ten
    let mut least = 10;
    until("20:80", SOON, || {
        let ready = [west, east].map(|cluster| {
            let seen = cluster.client().get(&deployment_path("chat")).map_err(|error| error.to_string())?;
            Ok::<_, String>((
                seen["spec"]["replicas"].as_u64(),
                seen["status"]["availableReplicas"].as_u64().unwrap_or(0),
            ))
        });
        let [west, east] = ready;
        let (west, east) = (west?, east?);
        least = least.min(west.1 + east.1);
        if (west, east) == ((Some(2), 2), (Some(8), 8)) { Ok(()) } else { Err(format!("{west:?} {east:?}")) }
    })?;
    println!("  at least {least} of 10 replicas were ready throughout");
    assert!(least >= 8, "{least}");
    // later runs add nothing
    let tip = site.fleet.commits("live")?;
    for _ in 0..3 {
        let run = site.fleet.run(&["advance"])?;
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
    }
    assert_eq!(site.fleet.commits("live")?, tip);
    Ok(())
}
