//! What holds for every sequence of bookings.

use proptest::prelude::*;

use super::super::*;
use super::*;

#[derive(Clone, Debug)]
enum Op {
    Book(usize, usize, u32),
    Beyond(usize, usize, u32),
    Unbook(usize),
    Daemon(usize, usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0_usize..3, 0_usize..6, 0_u32..9).prop_map(|(pool, request, pods)| Op::Book(pool, request, pods)),
        2 => (0_usize..3, 0_usize..6, 0_u32..9).prop_map(|(pool, request, pods)| Op::Beyond(pool, request, pods)),
        2 => (0_usize..50).prop_map(Op::Unbook),
        1 => (0_usize..3, 0_usize..6).prop_map(|(pool, request)| Op::Daemon(pool, request)),
    ]
}

fn fleet(nodes: [u32; 3], seed: [i128; 6]) -> (Rooms, Vec<RequestId>) {
    let node = res(&[("cpu", 97), ("memory", 120), ("pods", 30)]);
    let mut elastic = PoolSpec::new("elastic", nodes[1], node.clone());
    elastic.scalable_to = Some(nodes[1] + 2);
    elastic.others = res(&[("cpu", 50), ("pods", 3)]);
    let gpu = res(&[("cpu", 60), ("memory", 60), ("example.com/gpu", 4)]);
    let mut rooms = Rooms::new([
        vec![PoolSpec::new("general", nodes[0], node), elastic],
        vec![PoolSpec::new("gpu", nodes[2], gpu)],
    ]);
    let requests = [
        res(&[("cpu", seed[0])]),
        res(&[("cpu", seed[1]), ("memory", seed[2])]),
        res(&[("memory", seed[3])]),
        res(&[("cpu", seed[4]), ("example.com/gpu", 1)]),
        res(&[("cpu", seed[5]), ("memory", 3)]),
        res(&[]),
    ];
    let requests = requests.iter().map(|request| rooms.request(request)).collect();
    (rooms, requests)
}

type State = (Vec<Option<Room>>, Vec<Option<u64>>, Vec<Option<Vec<Free>>>, Vec<Overdraft>);

/// Everything that can be asked about the bookings.
fn state(rooms: &Rooms, requests: &[RequestId]) -> State {
    let pairs: Vec<(PoolRef, RequestId)> =
        rooms.all_pools().flat_map(|pool| requests.iter().map(move |request| (pool, *request))).collect();
    let offered = |free: Vec<Free>| free.into_iter().filter(|free| free.per_node > 0 || free.free != 0).collect();
    (
        pairs.iter().map(|(pool, request)| rooms.room(*pool, *request)).collect(),
        pairs.iter().map(|(pool, request)| rooms.room_for_placed(*pool, *request)).collect(),
        rooms.all_pools().map(|pool| rooms.free(pool).map(offered)).collect(),
        rooms.overdrawn(),
    )
}

/// Applies the operations; what was booked is what `Unbook` may take back.
fn run(rooms: &mut Rooms, requests: &[RequestId], ops: &[Op]) {
    let pools: Vec<PoolRef> = rooms.all_pools().collect();
    let mut booked: Vec<(PoolRef, RequestId, u32, bool)> = Vec::new();
    for op in ops {
        match op {
            Op::Book(pool, request, pods) => {
                rooms.book(pools[*pool], requests[*request], *pods);
                booked.push((pools[*pool], requests[*request], *pods, false));
            }
            Op::Beyond(pool, request, pods) => {
                rooms.count_beyond(pools[*pool], requests[*request], *pods);
                booked.push((pools[*pool], requests[*request], *pods, true));
            }
            Op::Unbook(at) if !booked.is_empty() => {
                let (pool, request, pods, beyond) = booked.swap_remove(at % booked.len());
                if beyond {
                    rooms.discount_beyond(pool, request, pods);
                } else {
                    rooms.unbook(pool, request, pods);
                }
            }
            Op::Unbook(_) => {}
            Op::Daemon(pool, request) => rooms.book_daemon(pools[*pool], requests[*request]),
        }
    }
}

fn sizes() -> impl Strategy<Value = [i128; 6]> {
    [1_i128..110, 1_i128..70, 1_i128..130, 1_i128..40, 1_i128..25, 1_i128..12]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn undo_restores_exactly(
        nodes in [0_u32..9, 0_u32..9, 0_u32..9],
        sizes in sizes(),
        before in prop::collection::vec(op(), 0..20),
        after in prop::collection::vec(op(), 0..20),
    ) {
        let (mut rooms, requests) = fleet(nodes, sizes);
        let empty = state(&rooms, &requests);
        let start = rooms.mark();
        run(&mut rooms, &requests, &before);
        let (middle, mark) = (state(&rooms, &requests), rooms.mark());
        let versions: Vec<u64> = rooms.all_pools().map(|pool| rooms.version(pool)).collect();
        run(&mut rooms, &requests, &after);
        rooms.undo_to(mark);
        prop_assert_eq!(state(&rooms, &requests), middle);
        for (pool, version) in rooms.all_pools().zip(versions) {
            prop_assert!(rooms.version(pool) >= version);
        }
        rooms.undo_to(start);
        prop_assert_eq!(state(&rooms, &requests), empty);
    }

    #[test]
    fn all_bookings_at_once_are_taken_back_exactly(
        nodes in [0_u32..9, 0_u32..9, 0_u32..9],
        sizes in sizes(),
        ops in prop::collection::vec(op(), 0..20),
    ) {
        let (mut rooms, requests) = fleet(nodes, sizes);
        let empty = state(&rooms, &requests);
        run(&mut rooms, &requests, &ops);
        for (pool, request) in rooms.all_pools().flat_map(|pool| requests.iter().map(move |r| (pool, *r))) {
            let room = rooms.room(pool, request).unwrap().replicas;
            for replicas in [1, 2, room, room + 1] {
                prop_assert_eq!(rooms.room_up_to(pool, request, replicas), Some(room.min(replicas)));
            }
            prop_assert!(rooms.at_most(pool, request).unwrap() >= room);
        }
        let booked = rooms.clone();
        rooms.unbook_all();
        prop_assert_eq!(state(&rooms, &requests), empty);
        for (pool, request) in rooms.all_pools().flat_map(|pool| requests.iter().map(move |r| (pool, *r))) {
            // what was remembered of it is not taken for the room of now
            let same = rooms.room(pool, request) == booked.room(pool, request);
            prop_assert!(same || rooms.version(pool) > booked.version(pool));
        }
    }

    #[test]
    fn the_order_of_bookings_and_of_questions_does_not_matter(
        nodes in [0_u32..9, 0_u32..9, 0_u32..9],
        sizes in sizes(),
        ops in prop::collection::vec(op(), 0..20),
    ) {
        let ops: Vec<Op> = ops.into_iter().filter(|op| !matches!(op, Op::Unbook(_))).collect();
        let (mut forth, requests) = fleet(nodes, sizes);
        run(&mut forth, &requests, &ops);
        let (mut back, _) = fleet(nodes, sizes);
        // A request nobody asked about on the other side.
        let other = back.request(&res(&[("cpu", 13), ("other", 1)]));
        for pool in back.all_pools() {
            prop_assert_eq!(back.room(pool, other).map(|room| room.replicas), Some(0));
        }
        let reversed: Vec<Op> = ops.into_iter().rev().collect();
        run(&mut back, &requests, &reversed);
        prop_assert_eq!(state(&forth, &requests), state(&back, &requests));
    }

    #[test]
    fn booking_gives_room_to_nobody_and_takes_its_own(
        nodes in [0_u32..9, 0_u32..9, 0_u32..9],
        sizes in sizes(),
        ops in prop::collection::vec(op(), 0..20),
        pool in 0_usize..3,
        request in 0_usize..6,
        pods in 1_u32..12,
    ) {
        let (mut rooms, requests) = fleet(nodes, sizes);
        run(&mut rooms, &requests, &ops);
        let pool = rooms.all_pools().nth(pool).unwrap();
        let replicas = |rooms: &Rooms| {
            requests.iter().map(|request| rooms.room(pool, *request).unwrap()).map(|room| (room.replicas, room.real)).collect::<Vec<_>>()
        };
        let before = replicas(&rooms);
        rooms.book(pool, requests[request], pods);
        let after = replicas(&rooms);
        for (before, after) in before.iter().zip(&after) {
            prop_assert!(after.0 <= before.0 && after.1 <= before.1 && after.1 <= after.0);
        }
        prop_assert_eq!(after[request].0, before[request].0.saturating_sub(u64::from(pods)));
        prop_assert_eq!(after[request].1, before[request].1.saturating_sub(u64::from(pods)));
    }

    #[test]
    fn pods_beyond_what_is_booked_take_room_for_more_and_none_of_what_is_booked(
        nodes in [0_u32..9, 0_u32..9, 0_u32..9],
        sizes in sizes(),
        ops in prop::collection::vec(op(), 0..20),
        pool in 0_usize..3,
        request in 0_usize..6,
        pods in 1_u32..12,
    ) {
        let (mut before, requests) = fleet(nodes, sizes);
        run(&mut before, &requests, &ops);
        let pool = before.all_pools().nth(pool).unwrap();
        let (mut beyond, mut booked) = (before.clone(), before.clone());
        beyond.count_beyond(pool, requests[request], pods);
        booked.book(pool, requests[request], pods);
        prop_assert_eq!(before.overdrawn(), beyond.overdrawn());
        for request in &requests {
            prop_assert_eq!(before.room_for_placed(pool, *request), beyond.room_for_placed(pool, *request));
            if !booked.is_overdrawn(pool) {
                prop_assert_eq!(booked.room(pool, *request), beyond.room(pool, *request));
            }
        }
        if !booked.is_overdrawn(pool) {
            prop_assert_eq!(booked.free(pool), beyond.free(pool));
        }
        beyond.discount_beyond(pool, requests[request], pods);
        prop_assert_eq!(state(&before, &requests), state(&beyond, &requests));
    }

    #[test]
    fn nodes_needed_are_enough_and_one_less_is_not(
        nodes in 0_u32..6,
        node in 1_i128..40,
        booked in prop::collection::vec((1_i128..40, 1_u32..5), 0..5),
        request in 1_i128..40,
        pods in 1_u32..30,
    ) {
        let pool_of = |nodes: u32| {
            let (mut rooms, pool) = single(PoolSpec::new("p", nodes, res(&[("cpu", node)])));
            for (size, pods) in &booked {
                let id = rooms.request(&res(&[("cpu", *size)]));
                rooms.book(pool, id, *pods);
            }
            let id = rooms.request(&res(&[("cpu", request)]));
            (rooms, pool, id)
        };
        let (rooms, pool, id) = pool_of(nodes);
        match rooms.nodes_needed(pool, id, pods) {
            None => prop_assert!(request > node || booked.iter().any(|(size, _)| *size > node)),
            Some(more) => {
                let enough = nodes + u32::try_from(more).unwrap();
                let (rooms, pool, id) = pool_of(enough);
                prop_assert!(rooms.room(pool, id).unwrap().replicas >= u64::from(pods));
                if more > 0 {
                    let (rooms, pool, id) = pool_of(enough - 1);
                    prop_assert!(rooms.room(pool, id).unwrap().replicas < u64::from(pods));
                }
            }
        }
    }

    #[test]
    fn a_spread_books_what_the_rooms_say(
        nodes in [0_u32..9, 0_u32..9, 0_u32..9],
        sizes in sizes(),
        ops in prop::collection::vec(op(), 0..12),
        tainted in [any::<bool>(), any::<bool>(), any::<bool>()],
        request in 0_usize..6,
        pods in 0_u32..300,
    ) {
        let (mut rooms, requests) = fleet(nodes, sizes);
        run(&mut rooms, &requests, &ops);
        let request = requests[request];
        let pools: Vec<EligiblePool> =
            rooms.all_pools().zip(tainted).map(|(pool, tainted)| EligiblePool { pool, tainted }).collect();
        let sum = rooms.sum_room(&pools, request).unwrap().replicas;
        let spread = rooms.spread_over_pools(&pools, request, pods, Excess::Leave);
        let seated: u32 = spread.seats.iter().map(|(_, seats)| seats).sum();
        prop_assert_eq!(seated + spread.unplaced, pods);
        prop_assert_eq!(u64::from(seated), sum.min(u64::from(pods)));
        for (pool, seats) in &spread.seats {
            prop_assert!(*seats > 0 && u64::from(*seats) <= rooms.room(*pool, request).unwrap().replicas);
        }
    }
}
