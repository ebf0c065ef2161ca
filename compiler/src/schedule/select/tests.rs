//! Facts: which clusters are selected, and why none.

use super::{Candidate, Class, Constraint, Failure, Need, Selection, select};

const ANY: Constraint = Constraint { min: 1, max: None };

fn at_least(min: u32) -> Constraint {
    Constraint { min, max: None }
}

fn at_most(max: u32) -> Constraint {
    Constraint { min: 1, max: Some(max) }
}

/// Clusters by (region, room), for the keys region and cluster.
fn regions(clusters: &[(u32, u64)]) -> Vec<Candidate> {
    let candidate = |(i, &(region, room)): (usize, &(u32, u64))| Candidate {
        room: Some(room),
        held: false,
        kept: 0,
        pinned: false,
        weight: 1,
        tier: 0,
        groups: vec![Some(region), Some(i as u32)],
    };
    clusters.iter().enumerate().map(candidate).collect()
}

fn holding(mut candidates: Vec<Candidate>, kept: &[u32]) -> Vec<Candidate> {
    for (candidate, &kept) in candidates.iter_mut().zip(kept) {
        (candidate.kept, candidate.held) = (kept, kept > 0);
    }
    candidates
}

fn need(class: Class, replicas: u32) -> Need {
    Need { replicas, per_cluster_min: 0, class, all_or_nothing: false, fresh: false }
}

fn run(candidates: &[Candidate], constraints: [Constraint; 2], class: Class, replicas: u32) -> Selection {
    select(candidates, &constraints, &need(class, replicas))
}

fn chosen(candidates: &[Candidate], constraints: [Constraint; 2], class: Class, replicas: u32) -> Vec<usize> {
    let selection = run(candidates, constraints, class, replicas);
    assert_eq!(selection.failure, None);
    selection.chosen
}

#[test]
fn greedy_is_not_good_enough() {
    let fleet = regions(&[(0, 10), (0, 1), (1, 7), (1, 7)]);
    assert_eq!(chosen(&fleet, [at_most(1), at_most(2)], Class::Widest, 12), [2, 3]);
    assert_eq!(chosen(&fleet, [at_most(1), at_most(2)], Class::Fewest, 12), [2, 3]);
    assert_eq!(chosen(&fleet, [at_most(1), at_most(2)], Class::Fewest, 9), [0]);
}

#[test]
fn without_limits_all_or_as_few_as_it_takes() {
    let fleet = regions(&[(0, 5), (0, 3), (1, 9)]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Widest, 2), [0, 1, 2]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Fewest, 2), [2]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Fewest, 10), [0, 2]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Fewest, 99), [0, 1, 2], "the rest is unplaced");
    assert_eq!(chosen(&fleet, [ANY, at_least(3)], Class::Fewest, 3), [0, 1, 2]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Duplicated, 4), [0, 2], "room for all replicas each");
}

#[test]
fn names_break_ties() {
    let fleet = regions(&[(0, 4), (0, 4), (1, 4), (1, 4)]);
    assert_eq!(chosen(&fleet, [at_most(1), at_most(2)], Class::Widest, 2), [0, 1]);
    assert_eq!(chosen(&fleet, [at_least(2), at_most(2)], Class::Widest, 2), [0, 2]);
    assert_eq!(chosen(&fleet, [ANY, at_most(1)], Class::Widest, 2), [0]);
}

#[test]
fn too_few_groups_or_replicas() {
    // A region whose only cluster is tainted has no candidate at all.
    let west = regions(&[(1, 9), (1, 9)]);
    let failure = run(&west, [at_least(2), ANY], Class::Widest, 4).failure;
    assert_eq!(failure, Some(Failure::TooFewGroups { constraint: 0, have: 1, min: 2 }));
    let failure = run(&west, [at_most(1), Constraint { min: 3, max: Some(4) }], Class::Widest, 4).failure;
    assert_eq!(failure, Some(Failure::TooFewGroups { constraint: 1, have: 2, min: 3 }));
    let failure = run(&west, [ANY, at_least(2)], Class::Widest, 1).failure;
    assert_eq!(failure, Some(Failure::TooFewReplicas { constraint: 1, replicas: 1, min: 2 }));
    assert_eq!(chosen(&west, [ANY, at_least(2)], Class::Duplicated, 1), [0, 1]);
    assert_eq!(run(&[], [ANY, ANY], Class::Widest, 1).failure, Some(Failure::NoCandidates));
    // One region at most, but no region has three clusters.
    let fleet = regions(&[(0, 9), (0, 9), (1, 9)]);
    let failure = run(&fleet, [at_most(1), at_least(3)], Class::Widest, 4).failure;
    assert_eq!(failure, Some(Failure::NoFeasibleSet));
    // A full cluster holds no replica, so its region does not count.
    let full = regions(&[(0, 9), (1, 0)]);
    let failure = run(&full, [at_least(2), ANY], Class::Widest, 4).failure;
    assert_eq!(failure, Some(Failure::TooFewGroups { constraint: 0, have: 1, min: 2 }));
}

#[test]
fn a_failure_withdraws_nothing() {
    // Region 2 went down: 3 + 3 stay.
    let fleet = holding(regions(&[(0, 9), (1, 9)]), &[3, 3]);
    let selection = run(&fleet, [at_least(3), ANY], Class::Widest, 9);
    assert_eq!(selection.failure, Some(Failure::TooFewGroups { constraint: 0, have: 2, min: 3 }));
    assert_eq!((selection.chosen, selection.witnesses), (vec![0, 1], vec![]));
    // As if new, too; and a holder that lacks the key stays; a lowered max empties, of the keys that it has.
    let mut three = holding(regions(&[(0, 9), (1, 9), (1, 9)]), &[3, 2, 4]);
    three[0].groups[0] = None;
    let fresh = Need { fresh: true, ..need(Class::Widest, 9) };
    assert_eq!(select(&three, &[at_least(3), ANY], &fresh).chosen, [0, 1, 2]);
    assert_eq!(select(&three, &[at_least(3), at_most(2)], &fresh).chosen, [1, 2]);
    assert_eq!(select(&three, &[at_least(3), at_most(1)], &fresh).chosen, [2]);
    three[1].held = false;
    assert_eq!(select(&three, &[at_least(3), at_most(2)], &fresh).chosen, [0, 2]);
}

#[test]
fn what_suffices_is_kept() {
    let fleet = holding(regions(&[(0, 9), (0, 20), (1, 9), (1, 30)]), &[4, 0, 2, 0]);
    assert_eq!(chosen(&fleet, [at_least(2), at_most(3)], Class::Widest, 18), [0, 2]);
    assert_eq!(chosen(&fleet, [at_least(2), at_most(3)], Class::Widest, 19), [0, 2, 3]);
    assert_eq!(chosen(&fleet, [at_least(2), ANY], Class::Fewest, 19), [0, 2, 3]);
    assert_eq!(chosen(&fleet, [at_least(2), at_most(3)], Class::Duplicated, 2), [0, 2, 3], "add-ons extend");
    let fresh = Need { fresh: true, ..need(Class::Widest, 18) };
    assert_eq!(select(&fleet, &[at_least(2), at_most(3)], &fresh).chosen, [0, 1, 3]);
    // A member of the set that got no replica is still a member.
    let mut idle = fleet.clone();
    idle[1].held = true;
    assert_eq!(chosen(&idle, [at_least(2), at_most(3)], Class::Widest, 18), [0, 1, 2]);
}

#[test]
fn room_for_all_outranks_staying_and_staying_outranks_room() {
    let fleet = holding(regions(&[(0, 3), (1, 9), (1, 8)]), &[3, 0, 0]);
    assert_eq!(chosen(&fleet, [ANY, at_most(2)], Class::Widest, 12), [0, 1]);
    assert_eq!(chosen(&fleet, [ANY, at_most(2)], Class::Widest, 13), [1, 2]);
    let mut pinned = holding(fleet, &[3, 0, 4]);
    pinned[0].pinned = true;
    assert_eq!(chosen(&pinned, [at_most(1), ANY], Class::Widest, 3), [0]);
}

#[test]
fn a_lowered_max_empties_the_smallest_groups() {
    let fleet = holding(regions(&[(0, 9), (0, 9), (1, 9), (2, 9)]), &[3, 3, 5, 4]);
    assert_eq!(chosen(&fleet, [at_most(2), ANY], Class::Widest, 15), [0, 1, 2]);
    assert_eq!(chosen(&fleet, [at_most(1), ANY], Class::Widest, 15), [0, 1]);
    assert_eq!(chosen(&fleet, [ANY, at_most(2)], Class::Widest, 15), [2, 3]);
    assert_eq!(chosen(&fleet, [at_most(2), at_most(2)], Class::Widest, 15), [0, 1]);
}

#[test]
fn witnesses_stand_for_required_groups() {
    let mut fleet = regions(&[(0, 9), (0, 5), (1, 3), (1, 2), (2, 1)]);
    assert!(run(&fleet, [ANY, ANY], Class::Widest, 9).witnesses.is_empty());
    assert_eq!(run(&fleet, [at_least(2), ANY], Class::Widest, 9).witnesses, [0, 2]);
    assert_eq!(run(&fleet, [at_least(2), at_least(4)], Class::Widest, 9).witnesses, [0, 1, 2, 3]);
    assert_eq!(run(&fleet, [at_least(3), at_least(2)], Class::Widest, 9).witnesses, [0, 2, 4]);
    assert!(run(&fleet, [at_least(2), ANY], Class::Duplicated, 1).witnesses.is_empty());
    fleet[3].weight = 7;
    assert_eq!(run(&fleet, [at_least(2), ANY], Class::Widest, 9).witnesses, [0, 3]);
    fleet[4].kept = 1;
    assert_eq!(run(&fleet, [at_least(2), ANY], Class::Widest, 9).witnesses, [3, 4]);
}

#[test]
fn a_minimum_per_cluster_bounds_their_number() {
    let fleet = regions(&[(0, 9), (0, 2), (1, 8), (1, 7)]);
    let of = |replicas, class| select(&fleet, &[ANY, ANY], &Need { per_cluster_min: 3, ..need(class, replicas) });
    assert_eq!(of(12, Class::Widest).chosen, [0, 2, 3], "a floor of 3 does not fit into 2");
    assert_eq!(of(8, Class::Widest).chosen, [0, 2]);
    assert_eq!(of(2, Class::Widest).chosen, [0]);
    assert_eq!(of(2, Class::Duplicated).chosen, [0, 1, 2, 3]);
}

#[test]
fn nothing_to_place_needs_neither_room_nor_groups() {
    let fleet = regions(&[(0, 0), (1, 0)]);
    assert_eq!(chosen(&fleet, [at_least(3), ANY], Class::Widest, 0), [0, 1]);
    assert_eq!(chosen(&fleet, [at_least(3), at_most(1)], Class::Fewest, 0), [0]);
    let held = holding(regions(&[(0, 0), (1, 0)]), &[0, 2]);
    assert_eq!(chosen(&held, [ANY, ANY], Class::Widest, 0), [1]);
}

#[test]
fn unknown_room_counts_as_all() {
    let mut fleet = regions(&[(0, 3), (0, 0)]);
    fleet[1].room = None;
    assert_eq!(chosen(&fleet, [ANY, at_most(1)], Class::Widest, 8), [1]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Duplicated, 8), [1]);
}

#[test]
fn lower_tiers_fill_first() {
    let mut fleet = regions(&[(0, 2), (0, 3), (1, 90), (1, 50)]);
    (fleet[2].tier, fleet[3].tier) = (1, 1);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Widest, 5), [0, 1]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Fewest, 3), [1]);
    assert_eq!(chosen(&fleet, [ANY, ANY], Class::Fewest, 6), [0, 1, 2]);
    assert_eq!(chosen(&fleet, [ANY, at_most(2)], Class::Widest, 6), [1, 2]);
    assert_eq!(chosen(&fleet, [ANY, at_most(1)], Class::Widest, 6), [2]);
    assert_eq!(chosen(&fleet, [at_least(2), ANY], Class::Fewest, 2), [0, 1, 2]);
}

#[test]
fn all_or_nothing_moves_nothing_when_short_of_room() {
    let all = |replicas| Need { all_or_nothing: true, ..need(Class::Fewest, replicas) };
    let new = select(&regions(&[(0, 5), (0, 3), (1, 1)]), &[ANY, ANY], &all(10));
    assert_eq!((new.chosen, new.failure), (vec![], Some(Failure::TooLittleRoom { room: 9 })));
    // 17 would fit without the holder, 20 nowhere.
    let fleet = holding(regions(&[(0, 3), (1, 9), (1, 8)]), &[3, 0, 0]);
    assert_eq!(select(&fleet, &[ANY, at_most(2)], &all(17)).chosen, [1, 2]);
    let short = select(&fleet, &[ANY, at_most(2)], &all(20));
    assert_eq!((short.chosen, short.failure), (vec![0], Some(Failure::TooLittleRoom { room: 17 })));
}

/// Clusters by (provider, region, room), for the keys provider, region and cluster.
fn crossing(rows: &[(u32, u32, u64)]) -> Vec<Candidate> {
    let mut fleet = regions(&rows.iter().map(|&(_, region, room)| (region, room)).collect::<Vec<_>>());
    for (candidate, row) in fleet.iter_mut().zip(rows) {
        candidate.groups.insert(0, Some(row.0));
    }
    fleet
}

#[test]
fn crossing_keys_are_exact_in_a_small_fleet() {
    let fleet = crossing(&[(0, 0, 9), (0, 1, 8), (1, 0, 3), (1, 1, 2)]);
    let run = |constraints: [Constraint; 3], class, replicas| select(&fleet, &constraints, &need(class, replicas));
    let both = run([at_least(2), at_least(2), at_most(2)], Class::Widest, 4);
    assert_eq!((both.chosen, both.witnesses, both.failure), (vec![0, 3], vec![0, 3], None));
    assert_eq!(run([at_most(1), at_least(2), ANY], Class::Fewest, 4).chosen, [0, 1]);
    assert_eq!(run([at_most(1), at_most(1), ANY], Class::Widest, 4).chosen, [0]);
    let never = run([at_most(1), at_most(1), at_least(2)], Class::Widest, 4);
    assert_eq!(never.failure, Some(Failure::NoFeasibleSet));
}

#[test]
fn crossing_keys_are_searched_greedily_in_a_large_one() {
    let rows: Vec<(u32, u32, u64)> = (0..40).map(|i| (i / 10, i % 10, u64::from(1 + i * 7 % 11))).collect();
    let fleet = crossing(&rows);
    let run = |constraints: [Constraint; 3], class, replicas| select(&fleet, &constraints, &need(class, replicas));
    let groups = |set: &[usize], key: usize| {
        set.iter().filter_map(|&i| fleet[i].groups[key]).collect::<std::collections::BTreeSet<u32>>().len()
    };
    let spread = run([at_least(3), at_least(8), at_most(9)], Class::Widest, 30);
    assert_eq!((spread.failure, spread.chosen.len()), (None, 9));
    assert!(groups(&spread.chosen, 0) >= 3 && groups(&spread.chosen, 1) >= 8);
    assert!(groups(&spread.witnesses, 0) >= 3 && groups(&spread.witnesses, 1) >= 8);
    let bounded = run([at_most(2), at_most(2), ANY], Class::Widest, 30);
    assert_eq!((bounded.failure, bounded.chosen.len()), (None, 4));
    let never = run([at_most(1), at_most(1), at_least(2)], Class::Widest, 4);
    assert_eq!(never.failure, Some(Failure::SpreadNotFound), "not found, never impossible");
}

#[test]
fn a_thousand_clusters_in_two_hundred_regions() {
    let room = |i: u64| 1 + (i * 7_919 + i / 5 * 31) % 101;
    let rows: Vec<(u32, u64)> = (0..1_000).map(|i| ((i / 5) as u32, room(i))).collect();
    let fleet = regions(&rows);
    // Three regions, twelve of their fifteen clusters: tried one by one.
    let mut totals: Vec<Vec<u64>> = Vec::new();
    for region in rows.chunks(5) {
        let mut rooms: Vec<u64> = region.iter().map(|row| row.1).collect();
        rooms.sort_unstable();
        totals.push(rooms);
    }
    let mut most = 0;
    for a in 0..totals.len() {
        for b in 0..a {
            for c in 0..b {
                let all: u64 = [a, b, c].iter().flat_map(|&region| &totals[region]).sum();
                if all <= most {
                    continue;
                }
                let mut rooms: Vec<u64> = [a, b, c].iter().flat_map(|&region| totals[region].clone()).collect();
                rooms.sort_unstable();
                most = most.max(rooms[3..].iter().sum());
            }
        }
    }
    for class in [Class::Widest, Class::Fewest] {
        let set = chosen(&fleet, [Constraint { min: 2, max: Some(3) }, at_most(12)], class, 5_000);
        assert_eq!((set.len(), set.iter().filter_map(|&i| fleet[i].room).sum::<u64>()), (12, most), "{class:?}");
    }
}
