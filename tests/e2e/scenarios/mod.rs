//! The scenarios. A new one is a function of a [`Rig`] in a file here, and a line in [`ALL`].

mod servers;

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
