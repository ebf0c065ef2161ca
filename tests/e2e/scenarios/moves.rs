//! Replicas move in steps: each is a commit, raised replicas are waited for, and nothing is lowered before.

use fleetwright_tests::kube::{Rig, until};

use super::site::{SOON, Site, deployment_path, slow_deployment};
use crate::Ending;

/// Replicas of the app, the most of them in one step, and the fewest that must be ready.
const TOTAL: u64 = 10;
const STEP: u64 = 2;
const LEAST: u64 = 9;

pub fn steps(rig: &Rig) -> Ending {
    let site = Site::new(rig, "{}")?;
    let [west, east] = rig.clusters() else { return Err("not two clusters".into()) };
    let placement = |weights: &str| {
        format!(
            "placement: {{replicas: {{strategy: StaticWeight, weights: {weights}}}, move: {{max: 20%, minAvailable: 90%, \
             deadline: 10m}}}}"
        )
    };
    // pods take a moment, so that a step that did not wait would show
    let manifest = || [slow_deployment("web", 10, "web:1", "2s")];
    site.app("web", &placement("{cluster-1: 80, cluster-2: 20}"), &manifest())?;
    let controller = site.start()?;
    site.deploy(&controller, "a web in two clusters")?;
    site.app("web", &placement("{cluster-1: 20, cluster-2: 80}"), &manifest())?;
    site.push(&controller, "the other way round")?;

    let (mut least, mut most) = (TOTAL, 0);
    until("20:80, step by step", SOON, || {
        let look = |cluster: &fleetwright_tests::kube::Cluster| {
            let seen = cluster.client().get(&deployment_path("web")).map_err(|error| error.to_string())?;
            let ready = seen["status"]["availableReplicas"].as_u64().unwrap_or(0);
            Ok::<_, String>((seen["spec"]["replicas"].as_u64().unwrap_or(0), ready))
        };
        // what leaves is looked at last, so that what moved meanwhile is counted twice rather than not at all
        let (east, west) = (look(east)?, look(west)?);
        least = least.min(east.1 + west.1);
        most = most.max(east.0);
        if (west, east) == ((2, 2), (8, 8)) { Ok(()) } else { Err(format!("{west:?} {east:?}")) }
    })?;
    println!("  at least {least} of {TOTAL} replicas were ready throughout");
    assert!(least >= LEAST, "{least}");
    let history: Vec<String> = site.fleet.commits("live")?.into_iter().rev().map(|commit| commit.subject).collect();
    assert!(most <= 8, "a step went past its target: {most}; {history:?}");

    let history = until("the move to be over", SOON, || {
        let commits = site.fleet.commits("live").map_err(|error| error.to_string())?;
        let subjects: Vec<String> = commits.into_iter().rev().map(|commit| commit.subject).collect();
        if subjects.last().is_some_and(|last| last == "Move shop/web: done") {
            Ok(subjects)
        } else {
            Err(format!("{subjects:?}"))
        }
    })?;
    let steps: Vec<&String> = history.iter().filter(|subject| subject.starts_with("Move ")).collect();
    println!("  {steps:?}");
    // six replicas, two at a time: the commit that brought the weights took the first step
    assert_eq!(steps.len() as u64, (TOTAL * 6 / 10).div_ceil(STEP), "{history:?}");
    Ok(())
}
