//! The scenarios. A new one is a function of a [`Rig`] in a file here, and a line in [`ALL`].

mod crashes;
mod deploying;
mod guards;
mod importing;
mod moves;
mod outages;
mod owners;
mod servers;
mod site;
mod speed;
mod tides;

use fleetwright_tests::kube::Rig;

use crate::Ending;

/// Something that must hold on real clusters.
pub struct Scenario {
    /// What `--only` takes.
    pub name: &'static str,
    /// What it shows, for `--list`.
    pub shows: &'static str,
    /// How many clusters it gets.
    pub clusters: usize,
    /// How many nodes each cluster has, of 110 pods.
    pub nodes: usize,
    /// The scenario itself.
    pub run: fn(&Rig) -> Ending,
}

const fn scenario(
    name: &'static str,
    shows: &'static str,
    clusters: usize,
    nodes: usize,
    run: fn(&Rig) -> Ending,
) -> Scenario {
    Scenario { name, shows, clusters, nodes, run }
}

/// All of them, in the order in which they run: what the others build on comes first.
pub const ALL: &[Scenario] = &[
    scenario("deployment", "50 pods become available and go, on each cluster", 3, 2, servers::deployment),
    scenario("pods", "slow starts, broken images and Jobs end as they do on real nodes", 1, 1, servers::pods),
    scenario("partition", "a server that stops answering comes back with its data", 2, 1, servers::partition),
    scenario("crash", "a server that is killed comes back with its data on the same address", 1, 1, servers::crash),
    scenario(
        "push",
        "what is pushed is live and Current; changes, overrides, and a deleted app",
        3,
        1,
        deploying::push,
    ),
    scenario("rename", "an app gets another name, and nothing is deleted", 3, 1, deploying::rename),
    scenario(
        "custom-resource",
        "a CustomResourceDefinition and an object of it in one commit",
        1,
        1,
        deploying::custom_resource,
    ),
    scenario(
        "waves",
        "what depends on something waits for its health, and a newer commit ends the wait",
        1,
        1,
        deploying::waves,
    ),
    scenario(
        "import",
        "a running cluster's nodes become pools, and a controller finds them there",
        1,
        1,
        importing::live,
    ),
    scenario("drift", "changes by hand are put right, or reported", 1, 1, owners::drift),
    scenario("conflict", "a field of another manager is reported, and not forced", 1, 1, owners::conflict),
    scenario("autoscaled", "replicas that an autoscaler owns are never written", 1, 1, owners::autoscaled),
    scenario("adoption", "what ran before is taken over without a restart", 1, 1, owners::adoption),
    scenario("namespace", "a namespace that was there before is never deleted", 1, 1, guards::namespace),
    scenario("budget", "119 of 120 objects vanish only after an approval", 1, 1, guards::budget),
    scenario("observe", "an observed cluster is asked, and nothing is written", 2, 1, guards::observe),
    scenario(
        "protected",
        "main is never pushed to; without live, nothing is applied and nothing fails over",
        3,
        1,
        guards::protected,
    ),
    scenario("tide", "80:20 becomes 20:80 by a commit of advance, and of two runners one makes it", 2, 1, tides::tide),
    scenario("steps", "80:20 becomes 20:80 in three steps, and what is raised is waited for", 2, 1, moves::steps),
    scenario(
        "failover",
        "a lost cluster's replicas run elsewhere; it comes back, is cleaned and ready",
        3,
        1,
        outages::failover,
    ),
    scenario("revert", "a reverted failover holds, and the healthy copies stay", 3, 1, outages::revert),
    scenario("stopped", "one server hangs, and the others are served as fast as before", 3, 1, outages::stopped),
    scenario(
        "kills",
        "the controller is killed 50 times in a rollout: nothing lost, nothing doubled",
        3,
        1,
        crashes::kills,
    ),
    scenario("quiet", "ten ticks of a converged fleet: no write, no commit, few requests", 3, 1, speed::quiet),
    scenario("throughput", "a hundred apps of five objects, next to kubectl", 1, 3, speed::throughput),
    scenario("together", "a hundred apps of five objects on three servers at a time", 3, 2, speed::together),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, scenario) in ALL.iter().enumerate() {
            assert!(ALL[..index].iter().all(|other| other.name != scenario.name), "{}", scenario.name);
        }
    }
}
