//! What must hold of every division, checked on random ones, and an oracle that knows only the definition of the optimum.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy as Generate, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Candidate, Capacity, Division, Start, Strategy, divide};

fn a_candidate() -> impl Generate<Value = Candidate> {
    let claims = (0_u64..5, option::of(0_u64..15), option::of(0_u32..12), option::of(0_u32..12));
    let holdings = (0_u32..4, any::<bool>(), 0_u32..10, any::<bool>(), 0_u32..3);
    (claims, holdings).prop_map(|((weight, room, max, quota), (floor, witness, previous, vetoed, tier))| Candidate {
        weight,
        room,
        max,
        quota,
        floor,
        witness: witness && floor == 1,
        previous,
        vetoed: vetoed && previous < 7,
        tier,
    })
}

fn a_divided_strategy() -> impl Generate<Value = Strategy> {
    prop_oneof![
        Just(Strategy::StaticWeight),
        Just(Strategy::DynamicWeight),
        Just(Strategy::EstimatedWeight),
        Just(Strategy::Aggregated)
    ]
}

fn a_strategy() -> impl Generate<Value = Strategy> {
    prop_oneof![1 => Just(Strategy::Duplicated), 3 => a_divided_strategy()]
}

fn a_capacity() -> impl Generate<Value = Capacity> {
    prop_oneof![Just(Capacity::Cap), Just(Capacity::Ignore), Just(Capacity::Require)]
}

fn a_start() -> impl Generate<Value = Start> {
    prop_oneof![Just(Start::Steady), Just(Start::Anew), Just(Start::Fresh)]
}

/// Candidates on one tier, new, without vetoes and floors: the plain case.
fn plain(candidates: &mut [Candidate]) {
    for candidate in candidates {
        *candidate = Candidate { floor: 0, witness: false, previous: 0, vetoed: false, tier: 0, ..*candidate };
    }
}

/// Every way to give `total` seats within the bounds.
fn allocations(bounds: &[(u32, u32)], total: u32) -> Vec<Vec<u32>> {
    let Some(((floor, cap), rest)) = bounds.split_first() else {
        return if total == 0 { vec![vec![]] } else { vec![] };
    };
    let mut all = Vec::new();
    for first in *floor..=(*cap).min(total) {
        for mut tail in allocations(rest, total - first) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}

/// No seat that could be given is worth more than one that was given.
fn is_optimal(seats: &[u32], weights: &[u64], bounds: &[(u32, u32)]) -> bool {
    let rows = || seats.iter().zip(weights).zip(bounds);
    rows().filter(|((seats, _), (_, cap))| *seats < cap).all(|((&next, &next_weight), _)| {
        rows().filter(|((seats, _), (floor, _))| *seats > floor).all(|((&given, &given_weight), _)| {
            next_weight * (2 * u64::from(given) - 1) <= given_weight * (2 * u64::from(next) + 1)
        })
    })
}

proptest! {
    #[test]
    fn seats_and_unplaced_add_up_within_the_bounds(
        strategy in a_strategy(), capacity in a_capacity(), start in a_start(),
        replicas in 0_u32..40, candidates in vec(a_candidate(), 0..6),
    ) {
        let outcome = divide(&Division { strategy, capacity, start, replicas, candidates: &candidates });
        prop_assert_eq!(outcome.seats.len(), candidates.len());
        if strategy != Strategy::Duplicated {
            prop_assert_eq!(outcome.seats.iter().sum::<u32>() + outcome.unplaced, replicas);
            prop_assert!(outcome.refused || outcome.fits + outcome.unplaced == replicas);
        }
        for (i, (&seats, candidate)) in outcome.seats.iter().zip(&candidates).enumerate() {
            prop_assert!(candidate.max.is_none_or(|max| seats <= max));
            let grew = seats > candidate.previous;
            prop_assert!(!(grew && candidate.vetoed));
            prop_assert!(!(grew && candidate.quota.is_some_and(|quota| seats > quota)));
            prop_assert!(!(grew && capacity != Capacity::Ignore && candidate.room.is_some_and(|room| u64::from(seats) > room)));
            if seats == 0 && replicas > 0 && !outcome.refused {
                prop_assert!(outcome.reasons.iter().any(|&(of, _)| of == i), "no reason for {}: {:?}", i, outcome);
            }
        }
    }

    #[test]
    fn dividing_again_changes_nothing(
        strategy in a_strategy(), capacity in a_capacity(), start in a_start(),
        replicas in 0_u32..40, candidates in vec(a_candidate(), 0..6),
    ) {
        let first = divide(&Division { strategy, capacity, start, replicas, candidates: &candidates });
        let mut again = candidates;
        for (candidate, &seats) in again.iter_mut().zip(&first.seats) {
            candidate.previous = seats;
        }
        let second = divide(&Division { strategy, capacity, start: Start::Steady, replicas, candidates: &again });
        prop_assert_eq!(&second.seats, &first.seats);
        if strategy != Strategy::Duplicated {
            prop_assert_eq!(second.unplaced, first.unplaced);
        }
    }

    #[test]
    fn steady_removes_nothing_while_growing_and_adds_nothing_while_shrinking(
        strategy in a_divided_strategy(), capacity in a_capacity(), replicas in 0_u32..40, candidates in vec(a_candidate(), 0..6),
    ) {
        let mut candidates = candidates;
        for candidate in &mut candidates {
            // Intent that removes: max, weight 0, floors above the total.
            *candidate = Candidate { max: None, weight: candidate.weight + 1, floor: 0, witness: false, ..*candidate };
        }
        let outcome = divide(&Division { strategy, capacity, start: Start::Steady, replicas, candidates: &candidates });
        let held: u32 = candidates.iter().map(|candidate| candidate.previous).sum();
        for (&seats, candidate) in outcome.seats.iter().zip(&candidates) {
            prop_assert!(replicas < held || seats >= candidate.previous);
            prop_assert!(replicas > held || seats <= candidate.previous);
        }
    }

    #[test]
    fn one_more_replica_takes_none_away(
        capacity in prop_oneof![Just(Capacity::Cap), Just(Capacity::Ignore)],
        dynamic in any::<bool>(), replicas in 0_u32..40, candidates in vec(a_candidate(), 0..6),
    ) {
        let strategy = if dynamic { Strategy::DynamicWeight } else { Strategy::StaticWeight };
        let mut candidates = candidates;
        plain(&mut candidates);
        for candidate in &mut candidates {
            // Unknown room counts as the total, so it is no fixed cap.
            candidate.room = candidate.room.or(Some(9));
        }
        let of = |replicas| divide(&Division { strategy, capacity, start: Start::Fresh, replicas, candidates: &candidates });
        prop_assert!(of(replicas).seats.iter().zip(&of(replicas + 1).seats).all(|(fewer, more)| fewer <= more));
    }

    #[test]
    fn growing_in_steps_equals_growing_at_once(
        dynamic in any::<bool>(), from in 0_u32..20, more in 0_u32..20, candidates in vec(a_candidate(), 1..6),
    ) {
        let strategy = if dynamic { Strategy::DynamicWeight } else { Strategy::StaticWeight };
        let mut candidates = candidates;
        plain(&mut candidates);
        for candidate in &mut candidates {
            candidate.room = candidate.room.or(Some(9));
        }
        let of = |replicas, candidates: &[Candidate]| {
            divide(&Division { strategy, capacity: Capacity::Cap, start: Start::Steady, replicas, candidates }).seats
        };
        let at_once = of(from + more, &candidates);
        for replicas in from..=from + more {
            let seats = of(replicas, &candidates);
            for (candidate, seats) in candidates.iter_mut().zip(seats) {
                candidate.previous = seats;
            }
        }
        prop_assert_eq!(candidates.iter().map(|candidate| candidate.previous).collect::<Vec<_>>(), at_once);
    }

    #[test]
    fn capping_one_takes_from_no_other(
        replicas in 0_u32..40, candidates in vec(a_candidate(), 1..6), which in 0_usize..6, max in 0_u32..10,
    ) {
        let mut candidates = candidates;
        plain(&mut candidates);
        let mut capped = candidates.clone();
        let which = which % capped.len();
        capped[which].max = Some(capped[which].max.unwrap_or(max).min(max));
        let of = |candidates: &[Candidate]| {
            let (strategy, capacity, start) = (Strategy::StaticWeight, Capacity::Cap, Start::Fresh);
            divide(&Division { strategy, capacity, start, replicas, candidates }).seats
        };
        for (i, (free, capped)) in of(&candidates).into_iter().zip(of(&capped)).enumerate() {
            prop_assert!(i == which || free <= capped);
        }
    }

    #[test]
    fn is_one_of_the_optimal_allocations(
        rows in vec((1_u64..6, 0_u32..3, 0_u32..6), 1..5), above_floors in 0_u32..14,
    ) {
        let bounds: Vec<(u32, u32)> = rows.iter().map(|&(_, floor, more)| (floor, floor + more)).collect();
        let weights: Vec<u64> = rows.iter().map(|row| row.0).collect();
        let replicas = above_floors + bounds.iter().map(|(floor, _)| floor).sum::<u32>();
        let candidates: Vec<Candidate> = rows
            .iter()
            .map(|&(weight, floor, more)| Candidate {
                weight, room: Some(u64::from(floor + more)), max: None, quota: None, floor, witness: false, previous: 0, vetoed: false, tier: 0,
            })
            .collect();
        let (strategy, capacity, start) = (Strategy::StaticWeight, Capacity::Cap, Start::Steady);
        let outcome = divide(&Division { strategy, capacity, start, replicas, candidates: &candidates });
        let most: u32 = bounds.iter().map(|(_, cap)| cap).sum();
        prop_assert_eq!(outcome.unplaced, replicas.saturating_sub(most));
        let optimal: Vec<Vec<u32>> = allocations(&bounds, replicas.min(most))
            .into_iter()
            .filter(|seats| is_optimal(seats, &weights, &bounds))
            .collect();
        prop_assert!(optimal.contains(&outcome.seats), "{:?} is none of {:?}", outcome.seats, optimal);
    }
}
