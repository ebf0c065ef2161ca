//! Webster and the rules around it, against enumeration.

use fleetwright_compiler::divide::{Candidate, Capacity, Division, Party, Start, Strategy as Rule, divide, webster};
use fleetwright_tests::oracle;
use proptest::prelude::*;

use crate::cases;

fn party() -> impl Strategy<Value = oracle::webster::Party> {
    let cap = prop_oneof![3 => 0_u32..12, 1 => Just(u32::MAX)];
    let room = prop_oneof![Just(None), (0_u64..3).prop_map(Some)];
    (0_u64..6, 0_u32..4, cap, room).prop_map(|(weight, floor, cap, room)| oracle::webster::Party {
        weight,
        floor,
        cap: cap.max(floor),
        room,
    })
}

proptest! {
    #![proptest_config(cases(200, 100_000))]

    #[test]
    fn webster_is_the_one_division_that_is_right(
        seats in 0_u32..14,
        parties in proptest::collection::vec(party(), 1..5),
    ) {
        let right = oracle::webster::divide(seats, &parties);
        let mut given: Vec<Party> = parties
            .iter()
            .map(|p| Party { weight: p.weight, seats: p.floor, cap: p.cap, room: p.room })
            .collect();
        let left = webster(seats, &mut given);
        let division: Vec<u32> = given.iter().map(|party| party.seats).collect();
        let placed: u32 = division.iter().sum::<u32>() - parties.iter().map(|p| p.floor).sum::<u32>();
        prop_assert_eq!(Some(division), right);
        prop_assert_eq!(left, seats - placed);
    }

    /// New replicas by static weights: floors are met, room caps, the rest is Webster's.
    #[test]
    fn static_weights_are_webster_with_floors_and_caps(
        replicas in 1_u32..14,
        clusters in proptest::collection::vec((1_u64..6, 0_u64..9, 0_u32..3), 1..5),
    ) {
        let candidates: Vec<Candidate> = clusters
            .iter()
            .map(|&(weight, room, floor)| Candidate {
                weight,
                room: Some(room),
                max: None,
                quota: None,
                floor,
                witness: false,
                previous: 0,
                vetoed: false,
                tier: 0,
            })
            .collect();
        let outcome = divide(&Division {
            strategy: Rule::StaticWeight,
            capacity: Capacity::Cap,
            start: Start::Steady,
            replicas,
            candidates: &candidates,
        });
        let placed: u32 = outcome.seats.iter().sum();
        prop_assert_eq!(placed + outcome.unplaced, replicas);
        // Where every floor can be met, the answer is the oracle's.
        let floors: u32 = clusters.iter().map(|&(_, _, floor)| floor).sum();
        if floors <= replicas && clusters.iter().all(|&(_, room, floor)| u64::from(floor) <= room) {
            let parties: Vec<oracle::webster::Party> = clusters
                .iter()
                .map(|&(weight, room, floor)| oracle::webster::Party {
                    weight,
                    floor,
                    cap: u32::try_from(room).unwrap_or(u32::MAX),
                    room: Some(room),
                })
                .collect();
            prop_assert_eq!(Some(outcome.seats), oracle::webster::divide(replicas - floors, &parties));
        }
    }
}
