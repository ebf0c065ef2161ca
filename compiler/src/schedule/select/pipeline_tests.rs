//! Selection and division together: what is selected and divided once is selected and divided alike again.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy as Generate, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Candidate, Class, Constraint, Failure, Need, Selection, select};
use crate::divide::{self, Capacity, Division, Outcome, Start, Strategy};

/// A cluster with the replicas it runs.
#[derive(Debug, Clone)]
struct Cluster {
    region: u32,
    room: Option<u64>,
    weight: u64,
    vetoed: bool,
    held: bool,
    running: u32,
}

#[derive(Debug, Clone, Copy)]
struct Policy {
    strategy: Strategy,
    capacity: Capacity,
    constraints: [Constraint; 2],
}

impl Policy {
    fn class(&self) -> Class {
        match self.strategy {
            Strategy::Duplicated => Class::Duplicated,
            Strategy::StaticWeight | Strategy::DynamicWeight | Strategy::EstimatedWeight => Class::Widest,
            Strategy::Aggregated => Class::Fewest,
        }
    }

    /// What the scheduler does with one App. A rebalance that would place fewer replicas than there would be without it is none.
    fn schedule(&self, fleet: &[Cluster], replicas: u32, start: Start) -> (Selection, Outcome) {
        let (selection, outcome) = self.once(fleet, replicas, start);
        if start == Start::Fresh && (selection.failure.is_some() || outcome.unplaced > 0) {
            let steady = self.once(fleet, replicas, Start::Steady);
            if selection.failure.is_some() || steady.1.unplaced < outcome.unplaced {
                return steady;
            }
        }
        (selection, outcome)
    }

    fn once(&self, fleet: &[Cluster], replicas: u32, start: Start) -> (Selection, Outcome) {
        let division = Division { strategy: self.strategy, capacity: self.capacity, start, replicas, candidates: &[] };
        let member = |cluster: &Cluster| divide::Candidate {
            weight: cluster.weight,
            room: cluster.room,
            max: None,
            quota: None,
            floor: 0,
            witness: false,
            previous: cluster.running,
            vetoed: cluster.vetoed,
            tier: 0,
        };
        let candidate = |(i, cluster): (usize, &Cluster)| Candidate {
            room: Some(u64::from(divide::most_replicas(&division, &member(cluster)))),
            held: cluster.held,
            kept: cluster.running,
            pinned: false,
            weight: cluster.weight,
            tier: 0,
            groups: vec![Some(cluster.region), Some(i as u32)],
        };
        let candidates: Vec<Candidate> = fleet.iter().enumerate().map(candidate).collect();
        let need = Need {
            replicas,
            per_cluster_min: 0,
            class: self.class(),
            all_or_nothing: self.capacity == Capacity::Require,
            fresh: start == Start::Fresh,
        };
        let selection = select(&candidates, &self.constraints, &need);
        let frozen = selection.failure.is_some();
        let members: Vec<divide::Candidate> = selection
            .chosen
            .iter()
            .map(|&i| divide::Candidate {
                witness: selection.witnesses.contains(&i),
                vetoed: fleet[i].vetoed || frozen,
                ..member(&fleet[i])
            })
            .collect();
        let start = if frozen { Start::Steady } else { start };
        let outcome = divide::divide(&Division { start, candidates: &members, ..division });
        (selection, outcome)
    }
}

fn apply(fleet: &mut [Cluster], selection: &Selection, outcome: &Outcome) {
    for cluster in fleet.iter_mut() {
        (cluster.held, cluster.running) = (false, 0);
    }
    for (&i, &seats) in selection.chosen.iter().zip(&outcome.seats) {
        (fleet[i].held, fleet[i].running) = (true, seats);
    }
}

fn a_cluster() -> impl Generate<Value = Cluster> {
    (0_u32..3, option::weighted(0.9, 0_u64..12), 1_u64..5, 0_u32..5, 0_u32..4).prop_map(
        |(region, room, weight, veto, running)| Cluster {
            region,
            room,
            weight,
            vetoed: veto == 0,
            held: running > 0,
            running,
        },
    )
}

fn a_policy() -> impl Generate<Value = Policy> {
    let constraint = || (0_u32..4, option::of(1_u32..5)).prop_map(|(min, max)| Constraint { min, max });
    let strategy = prop_oneof![
        1 => Just(Strategy::Duplicated),
        2 => Just(Strategy::StaticWeight),
        2 => Just(Strategy::DynamicWeight),
        2 => Just(Strategy::Aggregated)
    ];
    let capacity = prop_oneof![3 => Just(Capacity::Cap), 1 => Just(Capacity::Ignore), 3 => Just(Capacity::Require)];
    (strategy, capacity, constraint(), constraint()).prop_map(|(strategy, capacity, region, cluster)| Policy {
        strategy,
        capacity,
        constraints: [region, cluster],
    })
}

proptest! {
    #[test]
    fn scheduling_again_changes_nothing(
        fleet in vec(a_cluster(), 0..7), policy in a_policy(), replicas in 0_u32..25, anew in any::<bool>(), fresh in any::<bool>(),
    ) {
        let mut fleet = fleet;
        let start = if fresh { Start::Fresh } else if anew { Start::Anew } else { Start::Steady };
        let (selection, outcome) = policy.schedule(&fleet, replicas, start);
        apply(&mut fleet, &selection, &outcome);
        let once: Vec<u32> = fleet.iter().map(|cluster| cluster.running).collect();
        let (selection, outcome) = policy.schedule(&fleet, replicas, Start::Steady);
        apply(&mut fleet, &selection, &outcome);
        prop_assert_eq!(fleet.iter().map(|cluster| cluster.running).collect::<Vec<_>>(), once);
    }

    #[test]
    fn spread_holds_after_division(
        fleet in vec(a_cluster(), 0..7), policy in a_policy(), replicas in 1_u32..25, fresh in any::<bool>(),
    ) {
        let start = if fresh { Start::Fresh } else { Start::Steady };
        let (selection, outcome) = policy.schedule(&fleet, replicas, start);
        if selection.failure.is_none() && !outcome.refused {
            let seated: Vec<usize> =
                selection.chosen.iter().zip(&outcome.seats).filter(|(_, seats)| **seats > 0).map(|(&i, _)| i).collect();
            let regions: BTreeSet<u32> = seated.iter().map(|&i| fleet[i].region).collect();
            for (count, constraint) in [regions.len(), seated.len()].into_iter().zip(policy.constraints) {
                prop_assert!(count >= constraint.min as usize, "{:?} {:?}", selection, outcome);
                prop_assert!(constraint.max.is_none_or(|max| count <= max as usize), "{:?} {:?}", selection, outcome);
            }
        }
        if selection.failure == Some(Failure::NoCandidates) {
            prop_assert!(fleet.iter().all(|cluster| cluster.running == 0) || policy.strategy == Strategy::Duplicated || fresh);
        }
    }

    #[test]
    fn no_replica_is_lost_while_the_total_does_not_shrink(
        fleet in vec(a_cluster(), 0..7), policy in a_policy(), more in 0_u32..12,
    ) {
        let mut fleet = fleet;
        let (selection, outcome) = policy.schedule(&fleet, 6, Start::Fresh);
        apply(&mut fleet, &selection, &outcome);
        let before: Vec<u32> = fleet.iter().map(|cluster| cluster.running).collect();
        let (selection, outcome) = policy.schedule(&fleet, 6 + more, Start::Steady);
        apply(&mut fleet, &selection, &outcome);
        let running = |counts: &[u32]| counts.iter().sum::<u32>();
        let after: Vec<u32> = fleet.iter().map(|cluster| cluster.running).collect();
        prop_assert!(running(&after) >= running(&before), "{:?} then {:?}", before, after);
    }
}
