//! Facts: what a division must answer, and why not more.

use super::{Candidate, Capacity, Division, Outcome, Reason, Start, Strategy, divide};

const NEW: Candidate = Candidate {
    weight: 1,
    room: None,
    max: None,
    quota: None,
    floor: 0,
    witness: false,
    previous: 0,
    vetoed: false,
    tier: 0,
};

fn weights(weights: &[u64]) -> Vec<Candidate> {
    weights.iter().map(|&weight| Candidate { weight, ..NEW }).collect()
}

fn rooms(rooms: &[u64]) -> Vec<Candidate> {
    rooms.iter().map(|&room| Candidate { room: Some(room), ..NEW }).collect()
}

/// Room is what is free, beside the own replicas in `previous`.
fn placed(previous: &[u32], free: &[u64]) -> Vec<Candidate> {
    let candidate =
        |(&previous, &free): (&u32, &u64)| Candidate { previous, room: Some(free + u64::from(previous)), ..NEW };
    previous.iter().zip(free).map(candidate).collect()
}

fn run(strategy: Strategy, start: Start, replicas: u32, candidates: &[Candidate]) -> Outcome {
    let capacity = match strategy {
        Strategy::Duplicated | Strategy::StaticWeight => Capacity::Cap,
        Strategy::DynamicWeight | Strategy::EstimatedWeight | Strategy::Aggregated => Capacity::Require,
    };
    divide(&Division { strategy, capacity, start, replicas, candidates })
}

fn seats(strategy: Strategy, replicas: u32, candidates: &[Candidate]) -> Vec<u32> {
    let outcome = run(strategy, Start::Steady, replicas, candidates);
    assert_eq!((outcome.unplaced, outcome.refused), (0, false), "{outcome:?}");
    outcome.seats
}

#[test]
fn static_weights() {
    #[rustfmt::skip]
    let facts: &[(&[u64], u32, &[u32])] = &[
        (&[3, 2, 1], 12, &[6, 4, 2]),
        (&[1, 1, 1], 12, &[4, 4, 4]),
        (&[1, 1, 1], 5, &[2, 2, 1]),
        (&[2, 1], 3, &[2, 1]),
        (&[17, 11, 6], 5, &[2, 2, 1]),
        (&[17, 11, 6], 6, &[3, 2, 1]),
        (&[2, 1], 0, &[0, 0]),
        (&[2, 0], 3, &[3, 0]),
    ];
    for (weights_of, replicas, expected) in facts {
        assert_eq!(seats(Strategy::StaticWeight, *replicas, &weights(weights_of)), *expected, "{weights_of:?}");
    }
}

#[test]
fn room_as_weight_is_not_clamped_to_the_total() {
    assert_eq!(seats(Strategy::DynamicWeight, 12, &rooms(&[18, 12, 6])), [6, 4, 2]);
    assert_eq!(seats(Strategy::DynamicWeight, 12, &rooms(&[20, 12, 6])), [6, 4, 2]);
    assert_eq!(seats(Strategy::DynamicWeight, 12, &rooms(&[6, 12, 6])), [3, 6, 3]);
    assert_eq!(seats(Strategy::DynamicWeight, 12, &rooms(&[6, 8, 10])), [3, 4, 5]);
    let unknown = [NEW, Candidate { room: Some(4), ..NEW }];
    assert_eq!(seats(Strategy::DynamicWeight, 12, &unknown), [9, 3], "unknown room counts as 12");
}

#[test]
fn aggregated_takes_the_fewest_clusters() {
    assert_eq!(seats(Strategy::Aggregated, 12, &rooms(&[12, 6, 6])), [12, 0, 0]);
    assert_eq!(seats(Strategy::Aggregated, 12, &rooms(&[6, 6, 6])), [6, 6, 0]);
    assert_eq!(seats(Strategy::Aggregated, 12, &rooms(&[6, 8, 10])), [0, 5, 7]);
    assert_eq!(seats(Strategy::Aggregated, 7, &rooms(&[5, 3, 1])), [4, 3, 0]);
    let bounded = [Candidate { max: Some(2), ..rooms(&[100])[0] }, rooms(&[9])[0], rooms(&[9])[0]];
    assert_eq!(seats(Strategy::Aggregated, 9, &bounded), [0, 9, 0], "room above max is no room");
    let witness = [rooms(&[12])[0], Candidate { witness: true, ..rooms(&[6])[0] }];
    assert_eq!(seats(Strategy::Aggregated, 4, &witness), [0, 4], "the witness is a holder, and suffices");
    assert_eq!(seats(Strategy::Aggregated, 8, &witness), [5, 3]);
}

#[test]
fn require_refuses_and_says_what_fits() {
    let new = run(Strategy::Aggregated, Start::Steady, 10, &rooms(&[5, 3, 1]));
    assert_eq!((new.seats, new.unplaced, new.fits, new.refused), (vec![0, 0, 0], 10, 9, true));
    let full = [(0, Reason::Full { room: 5 }), (1, Reason::Full { room: 3 }), (2, Reason::Full { room: 1 })];
    assert_eq!(new.reasons, full);
    let grown = run(Strategy::DynamicWeight, Start::Steady, 24, &placed(&[2, 4, 6], &[1, 1, 1]));
    assert_eq!((grown.seats, grown.unplaced, grown.fits, grown.refused), (vec![2, 4, 6], 12, 15, true));
    let none = run(Strategy::DynamicWeight, Start::Steady, 3, &[]);
    assert_eq!((none.seats, none.unplaced, none.refused), (vec![], 3, true));
}

#[test]
fn ignore_looks_at_max_but_not_at_room() {
    let candidates = [Candidate { max: Some(2), ..rooms(&[0])[0] }, rooms(&[0])[0]];
    let division = Division {
        strategy: Strategy::StaticWeight,
        capacity: Capacity::Ignore,
        start: Start::Steady,
        replicas: 8,
        candidates: &candidates,
    };
    assert_eq!(divide(&division).seats, [2, 6]);
}

#[test]
fn steady_growth_adds_and_moves_nothing() {
    assert_eq!(seats(Strategy::DynamicWeight, 24, &placed(&[2, 4, 6], &[10, 10, 10])), [7, 8, 9]);
    assert_eq!(seats(Strategy::DynamicWeight, 12, &placed(&[6, 0], &[3, 3])), [9, 3]);
    assert_eq!(seats(Strategy::Aggregated, 24, &placed(&[4, 8, 0], &[6, 6, 20])), [10, 14, 0]);
    assert_eq!(seats(Strategy::Aggregated, 24, &placed(&[4, 0, 0], &[4, 8, 12])), [7, 7, 10]);
    // The cluster that came back stays empty until something is added.
    let weighted = [Candidate { previous: 6, ..NEW }, NEW, Candidate { previous: 6, ..NEW }];
    assert_eq!(seats(Strategy::StaticWeight, 12, &weighted), [6, 0, 6]);
    assert_eq!(seats(Strategy::StaticWeight, 14, &weighted), [6, 2, 6]);
    assert_eq!(run(Strategy::StaticWeight, Start::Fresh, 12, &weighted).seats, [4, 4, 4]);
}

#[test]
fn steady_shrink_removes_and_adds_nothing() {
    let weighted = [Candidate { previous: 8, ..NEW }, Candidate { previous: 40, ..NEW }];
    assert_eq!(seats(Strategy::StaticWeight, 16, &weighted), [8, 8]);
    assert_eq!(seats(Strategy::StaticWeight, 10, &weighted), [5, 5]);
    assert_eq!(seats(Strategy::DynamicWeight, 6, &placed(&[2, 4, 6], &[1, 1, 1])), [1, 2, 3]);
    assert_eq!(seats(Strategy::Aggregated, 8, &placed(&[4, 8], &[100, 100])), [0, 8]);
    assert_eq!(seats(Strategy::Aggregated, 6, &placed(&[4, 8], &[100, 100])), [0, 6]);
    let mut needed = placed(&[4, 8], &[100, 100]);
    needed[0].witness = true;
    assert_eq!(seats(Strategy::Aggregated, 8, &needed), [1, 7]);
    assert_eq!(seats(Strategy::Aggregated, 0, &placed(&[4, 8], &[1, 1])), [0, 0]);
}

#[test]
fn fresh_and_anew() {
    assert_eq!(seats(Strategy::DynamicWeight, 12, &placed(&[12, 0], &[0, 12])), [12, 0]);
    assert_eq!(run(Strategy::DynamicWeight, Start::Fresh, 12, &placed(&[12, 0], &[0, 12])).seats, [6, 6]);
    assert_eq!(run(Strategy::DynamicWeight, Start::Anew, 12, &placed(&[12, 0], &[0, 12])).seats, [6, 6]);
    // A cordoned cluster keeps what the new weights leave it and gains nothing.
    let mut turned = [Candidate { weight: 20, previous: 8, ..NEW }, Candidate { weight: 80, previous: 2, ..NEW }];
    turned[1].vetoed = true;
    assert_eq!(run(Strategy::StaticWeight, Start::Anew, 10, &turned).seats, [8, 2]);
    turned[1].vetoed = false;
    assert_eq!(run(Strategy::StaticWeight, Start::Anew, 10, &turned).seats, [2, 8]);
    turned[0].vetoed = true;
    assert_eq!(run(Strategy::StaticWeight, Start::Anew, 10, &turned).seats, [2, 8]);
    // Overdrawn: 8 run where 5 fit. Rebalancing stops none of them.
    let overdrawn = [Candidate { room: Some(5), previous: 8, ..NEW }];
    assert_eq!(run(Strategy::StaticWeight, Start::Fresh, 8, &overdrawn).seats, [8]);
}

#[test]
fn floors_and_caps() {
    let two = |room: u64| {
        [
            Candidate { floor: 1, max: Some(1), ..NEW },
            Candidate { weight: 10, floor: 1, max: Some(7), room: Some(room), ..NEW },
        ]
    };
    assert_eq!(seats(Strategy::StaticWeight, 8, &two(7)), [1, 7]);
    let short = run(Strategy::StaticWeight, Start::Steady, 8, &two(5));
    assert_eq!((short.seats, short.unplaced, short.fits), (vec![1, 5], 2, 6));
    assert_eq!(short.reasons, [(0, Reason::AtMax { max: 1 }), (1, Reason::Full { room: 5 })]);

    let floors = [Candidate { weight: 9, floor: 1, ..NEW }, Candidate { floor: 1, ..NEW }];
    assert_eq!(seats(Strategy::StaticWeight, 10, &floors), [9, 1]);

    let quota = [Candidate { quota: Some(3), previous: 5, ..NEW }, NEW];
    assert_eq!(seats(Strategy::StaticWeight, 5, &quota), [5, 0], "quota removes nothing");
    assert_eq!(seats(Strategy::StaticWeight, 7, &quota), [5, 2]);
    let max = [Candidate { max: Some(3), previous: 5, ..NEW }, NEW];
    assert_eq!(seats(Strategy::StaticWeight, 5, &max), [3, 2], "max does");
}

#[test]
fn floors_that_do_not_fit_leave_clusters_out() {
    let candidates = [Candidate { floor: 3, room: Some(2), ..NEW }, Candidate { floor: 3, room: Some(9), ..NEW }];
    let outcome = run(Strategy::StaticWeight, Start::Steady, 4, &candidates);
    assert_eq!(outcome.seats, [0, 4]);
    assert_eq!(outcome.reasons, [(0, Reason::FloorAboveCap { floor: 3, cap: 2 })]);

    let holder = [Candidate { previous: 2, ..candidates[0] }, candidates[1]];
    assert_eq!(seats(Strategy::StaticWeight, 6, &holder), [2, 4], "what runs is not stopped for a floor");

    let three =
        |witness| [3, 2, 1].map(|weight| Candidate { weight, floor: 2, witness: witness && weight == 1, ..NEW });
    let outcome = run(Strategy::StaticWeight, Start::Steady, 5, &three(false));
    assert_eq!((outcome.seats, outcome.reasons), (vec![3, 2, 0], vec![(2, Reason::FloorsAboveTotal { floor: 2 })]));
    let outcome = run(Strategy::StaticWeight, Start::Steady, 5, &three(true));
    assert_eq!((outcome.seats, outcome.reasons), (vec![3, 0, 2], vec![(1, Reason::FloorsAboveTotal { floor: 2 })]));
}

#[test]
fn who_gets_nothing_is_told_why() {
    let rounded = run(Strategy::StaticWeight, Start::Steady, 2, &weights(&[3, 1, 1]));
    assert_eq!((rounded.seats, rounded.reasons), (vec![1, 1, 0], vec![(2, Reason::Rounding)]));
    let drained = run(Strategy::StaticWeight, Start::Anew, 2, &[Candidate { weight: 0, previous: 2, ..NEW }, NEW]);
    assert_eq!((drained.seats, drained.reasons), (vec![0, 2], vec![(0, Reason::Drained)]));
    let nobody = run(Strategy::StaticWeight, Start::Steady, 2, &weights(&[0, 0]));
    assert_eq!((nobody.seats, nobody.unplaced), (vec![0, 0], 2));
    let fewest = run(Strategy::Aggregated, Start::Steady, 2, &rooms(&[5, 9]));
    assert_eq!((fewest.seats, fewest.reasons), (vec![0, 2], vec![(0, Reason::NotNeeded)]));
    assert!(Reason::Drained.leaves_out() && !Reason::NotNeeded.leaves_out());
}

#[test]
fn no_new_replica_where_a_veto_holds() {
    let unready = [
        Candidate { previous: 3, vetoed: true, room: Some(20), ..NEW },
        Candidate { previous: 3, room: Some(23), ..NEW },
        Candidate { vetoed: true, room: Some(9), ..NEW },
    ];
    let outcome = run(Strategy::DynamicWeight, Start::Steady, 10, &unready);
    assert_eq!((outcome.seats, outcome.reasons), (vec![3, 7, 0], vec![(0, Reason::Vetoed), (2, Reason::Vetoed)]));
    assert_eq!(run(Strategy::DynamicWeight, Start::Steady, 6, &unready).seats, [3, 3, 0]);
}

#[test]
fn duplicated() {
    assert_eq!(run(Strategy::Duplicated, Start::Steady, 2, &[]).unplaced, 2);
    let candidates = [
        NEW,
        Candidate { room: Some(2), ..NEW },
        Candidate { room: Some(2), previous: 2, ..NEW },
        Candidate { vetoed: true, previous: 3, ..NEW },
        Candidate { vetoed: true, ..NEW },
    ];
    let outcome = run(Strategy::Duplicated, Start::Steady, 3, &candidates);
    assert_eq!((outcome.seats, outcome.unplaced), (vec![3, 0, 2, 3, 0], 1));
    let short = Reason::TotalAboveCap { cap: 2 };
    assert_eq!(outcome.reasons, [(1, short), (2, short), (4, Reason::Vetoed)]);
    assert_eq!(run(Strategy::Duplicated, Start::Steady, 1, &candidates).seats, [1, 1, 1, 1, 0]);
    assert_eq!(run(Strategy::Duplicated, Start::Steady, 0, &candidates).seats, [0; 5]);
}

#[test]
fn tiers_overflow_in_order_and_contract_in_reverse() {
    let tiered = |previous: [u32; 2], rooms: [u64; 2]| {
        [0, 1].map(|i| Candidate { previous: previous[i], room: Some(rooms[i]), tier: i as u32, ..NEW })
    };
    let dynamic = |replicas, previous, rooms| {
        run(Strategy::DynamicWeight, Start::Steady, replicas, &tiered(previous, rooms)).seats
    };
    assert_eq!(dynamic(5, [0, 0], [2, 10]), [2, 3]);
    assert_eq!(dynamic(5, [0, 0], [10, 10]), [5, 0]);
    assert_eq!(dynamic(8, [3, 0], [5, 10]), [5, 3]);
    assert_eq!(dynamic(8, [3, 5], [9, 10]), [3, 5]);
    assert_eq!(dynamic(9, [3, 5], [9, 10]), [4, 5]);
    assert_eq!(dynamic(6, [3, 5], [9, 10]), [3, 3]);
    assert_eq!(dynamic(2, [3, 5], [9, 10]), [2, 0]);
    assert!(run(Strategy::DynamicWeight, Start::Steady, 10, &tiered([0, 0], [2, 2])).refused);
    let idle = run(Strategy::StaticWeight, Start::Steady, 5, &tiered([0, 0], [10, 10]));
    assert_eq!(idle.reasons, [(1, Reason::NotNeeded)]);
}
