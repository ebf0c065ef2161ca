//! Selection under spread constraints, against all subsets, where the keys nest.

use fleetwright_compiler::schedule::select::{Candidate, Class, Constraint, Need, select};
use fleetwright_tests::oracle;
use proptest::prelude::*;

use crate::cases;

/// Clusters with room, each in a zone of a region: zone `z` lies in region `z / 2`.
fn clusters() -> impl Strategy<Value = Vec<(u64, u32)>> {
    proptest::collection::vec((0_u64..12, 0_u32..6), 1..8)
}

fn constraint() -> impl Strategy<Value = Constraint> {
    (1_u32..4, proptest::option::of(0_u32..3))
        .prop_map(|(min, more)| Constraint { min, max: more.map(|more| min + more) })
}

proptest! {
    #![proptest_config(cases(300, 100_000))]

    #[test]
    fn selection_places_as_much_as_any_set_does(
        clusters in clusters(),
        region in constraint(),
        zone in constraint(),
        cluster in constraint(),
        replicas in 1_u32..20,
        fewest in any::<bool>(),
    ) {
        let groups = |position: usize, zone: u32| {
            vec![Some(zone / 2), Some(zone), u32::try_from(position).ok()]
        };
        let candidates: Vec<Candidate> = clusters
            .iter()
            .enumerate()
            .map(|(position, &(room, zone))| Candidate {
                room: Some(room),
                held: false,
                kept: 0,
                pinned: false,
                weight: 1,
                tier: 0,
                groups: groups(position, zone),
            })
            .collect();
        let constraints = [region, zone, cluster];
        let class = if fewest { Class::Fewest } else { Class::Widest };
        let need = Need { replicas, per_cluster_min: 0, class, fresh: false, all_or_nothing: false };
        let selection = select(&candidates, &constraints, &need);

        let slow: Vec<oracle::spread::Cluster> = candidates
            .iter()
            .map(|c| oracle::spread::Cluster { room: c.room.unwrap_or(0), groups: c.groups.clone() })
            .collect();
        let wanted: Vec<oracle::spread::Constraint> =
            constraints.iter().map(|c| oracle::spread::Constraint { min: c.min, max: c.max }).collect();
        let best = oracle::spread::most_placed(&slow, &wanted, u64::from(replicas));
        match best {
            None => prop_assert!(selection.failure.is_some(), "no set is allowed, and {:?} was chosen", selection),
            Some(best) => {
                prop_assert_eq!(selection.failure, None);
                let room: u64 = selection.chosen.iter().filter_map(|&at| clusters.get(at)).map(|&(room, _)| room).sum();
                prop_assert_eq!(room.min(u64::from(replicas)), best, "{:?}", selection);
                for (at, constraint) in constraints.iter().enumerate() {
                    let of = |position: &usize| candidates.get(*position).and_then(|c| c.groups.get(at).copied().flatten());
                    let mut used: Vec<Option<u32>> = selection.chosen.iter().map(of).collect();
                    used.sort_unstable();
                    used.dedup();
                    let used = u32::try_from(used.len()).unwrap_or(u32::MAX);
                    prop_assert!(used >= constraint.min, "{:?}", selection);
                    prop_assert!(constraint.max.is_none_or(|max| used <= max), "{:?}", selection);
                }
            }
        }
    }
}
