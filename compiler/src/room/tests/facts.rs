//! Single answers, each with its figures.

use super::super::*;
use super::*;

#[test]
fn pods_that_fill_nodes() {
    // (nodes, cpus per node, booked [(cpus, pods)], request in cpus, room)
    type Case = (u32, i128, &'static [(i128, u32)], i128, u64);
    let cases: &[Case] = &[
        (10, 8, &[], 5, 10),
        (10, 8, &[(5, 10)], 5, 0),
        (10, 8, &[(5, 10)], 4, 0),
        (10, 8, &[(5, 10)], 3, 10),
        (10, 8, &[(5, 10)], 2, 10),
        (10, 8, &[(5, 10)], 1, 30),
        (10, 8, &[(5, 4)], 5, 6),
        (10, 8, &[], 4, 20),
        (10, 8, &[(4, 20)], 1, 0),
        (10, 8, &[], 3, 20),
        (10, 8, &[], 8, 10),
        (10, 8, &[], 9, 0),
        (10, 8, &[(5, 12)], 1, 0),
        (0, 8, &[], 1, 0),
        (7, 17, &[], 3, 35), // five on a node: the plain sum says 39
        (7, 17, &[(3, 34)], 3, 1),
        (2, 3, &[(1, 6)], 1, 0),
    ];
    for (nodes, per_node, booked, request, expected) in cases {
        let (mut rooms, pool) = single(PoolSpec::new("general", *nodes, cpu(*per_node)));
        for (size, pods) in *booked {
            let size = rooms.request(&cpu(*size));
            rooms.book(pool, size, *pods);
        }
        let found = room(&mut rooms, pool, &cpu(*request));
        assert_eq!(found, *expected, "{nodes} nodes of {per_node}, {booked:?} booked, request {request}");
    }
}

#[test]
fn similar_requests_share_the_ledger_of_their_size() {
    // Seven pods of one CPU on a node of 7.91, whatever else they request.
    let spec = PoolSpec::new("general", 10, res(&[("cpu", 7910), ("memory", 32 * GI)]));
    let (mut rooms, pool) = single(spec);
    let small = rooms.request(&res(&[("cpu", 1000), ("memory", GI)]));
    rooms.book(pool, small, 69);
    assert_eq!(room(&mut rooms, pool, &res(&[("cpu", 1000), ("memory", 2 * GI)])), 1);
    // Smaller ones still use what is left: nine on each of nine nodes, nineteen on the tenth.
    assert_eq!(room(&mut rooms, pool, &res(&[("cpu", 100)])), 100);
}

#[test]
fn free_pod_slots_count_and_overfull_is_zero() {
    let node = res(&[("cpu", 10_000), ("memory", 20 * GI), ("pods", 110)]);
    let request = res(&[("cpu", 250), ("memory", GI / 2)]);
    for (pods, expected, cause) in [(107, 3, Cause::UsedUp), (112, 0, Cause::UsedUp)] {
        let mut spec = PoolSpec::new("general", 1, node.clone());
        spec.others = res(&[("cpu", 7900), ("memory", 17 * GI), ("pods", pods)]);
        let (mut rooms, pool) = single(spec);
        let request = rooms.request(&request);
        let found = rooms.room(pool, request).unwrap();
        assert_eq!((found.replicas, found.real), (expected, expected));
        assert_eq!(rooms.resource_name(found.limited_by.0), "pods");
        assert_eq!(found.limited_by.1, cause);
        // Usage by others limits growth only.
        assert_eq!(rooms.room_for_placed(pool, request), Some(40));
        assert_eq!(rooms.overdrawn(), []);
    }
}

#[test]
fn apps_booked_one_after_another_do_not_see_the_same_room_twice() {
    let member = || vec![PoolSpec::new("general", 1, res(&[("cpu", 3000), ("memory", 3 * GI)]))];
    let mut rooms = Rooms::new([member(), member()]);
    let request = rooms.request(&res(&[("cpu", 1000), ("memory", GI)]));
    let pools: Vec<PoolRef> = rooms.all_pools().collect();
    let mut placed = 0;
    for _ in 0..15 {
        if let Some(pool) = pools.iter().find(|pool| rooms.room(**pool, request).unwrap().replicas > 0) {
            rooms.book(*pool, request, 1);
            placed += 1;
        }
    }
    assert_eq!(placed, 6);
}

#[test]
fn what_limits() {
    let (mut rooms, pool) = single(PoolSpec::new("general", 2, res(&[("cpu", 4000), ("memory", 8 * GI)])));
    let booked = rooms.request(&res(&[("cpu", 2500), ("memory", GI)]));
    rooms.book(pool, booked, 2);
    let cases = [
        (res(&[("cpu", 4001)]), "cpu", Cause::LargerThanNode, 4001, 4000),
        (res(&[("cpu", 1000), ("memory", 9 * GI)]), "memory", Cause::LargerThanNode, 9 << 30, 8 << 30),
        (res(&[("nvidia.com/gpu", 1)]), "nvidia.com/gpu", Cause::NotOffered, 1, 0),
        (res(&[("cpu", 2500)]), "cpu", Cause::Packing, 2500, 1500),
        (res(&[("cpu", 3500)]), "cpu", Cause::UsedUp, 3500, 1500),
    ];
    for (request, resource, cause, needed, largest) in cases {
        let id = rooms.request(&request);
        let shortage = rooms.shortage(&[pool], id).unwrap();
        let expected = Shortage { pool, resource: resource.into(), cause, needed, largest };
        assert_eq!(shortage, expected, "{request:?}");
    }
    let fits = rooms.request(&res(&[("cpu", 1500)]));
    assert_eq!(rooms.shortage(&[pool], fits), None);
    assert_eq!(rooms.shortage(&[], fits), None);
}

#[test]
fn the_nearest_pool_is_reported() {
    let mut rooms = Rooms::new([vec![
        PoolSpec::new("small", 3, cpu(2)),
        PoolSpec::new("large", 1, cpu(8)),
        PoolSpec::new("larger", 1, cpu(8)),
    ]]);
    let pools: Vec<PoolRef> = rooms.all_pools().collect();
    for (pool, cpu_milli) in [(pools[1], 6000), (pools[2], 5500)] {
        let taken = rooms.request(&res(&[("cpu", cpu_milli)]));
        rooms.book(pool, taken, 1);
    }
    let four = rooms.request(&cpu(4));
    let shortage = rooms.shortage(&pools, four).unwrap();
    assert_eq!((shortage.pool, shortage.cause), (pools[2], Cause::UsedUp));
    assert_eq!((shortage.needed, shortage.largest), (4000, 2500));
    let nine = rooms.request(&cpu(9));
    let shortage = rooms.shortage(&pools, nine).unwrap();
    assert_eq!((shortage.cause, shortage.largest), (Cause::LargerThanNode, 8000));
}

#[test]
fn a_request_of_nothing_is_limited_by_pods() {
    let (mut rooms, pool) = single(PoolSpec::new("general", 3, cpu(1)));
    for nothing in [res(&[]), res(&[("cpu", 0)]), res(&[("cpu", -5), ("pods", 0)])] {
        assert_eq!(room(&mut rooms, pool, &nothing), 330);
    }
    let nothing = rooms.request(&res(&[]));
    rooms.book(pool, nothing, 329);
    assert_eq!(room(&mut rooms, pool, &cpu(1)), 1);
}

#[test]
fn unknown_is_none_and_never_zero() {
    let mut rooms = Rooms::new([vec![PoolSpec::unknown("observed"), PoolSpec::new("general", 1, cpu(2))], Vec::new()]);
    let request = rooms.request(&cpu(1));
    let pools: Vec<PoolRef> = rooms.pools(ClusterId(0)).collect();
    rooms.book(pools[0], request, 1000);
    assert_eq!(rooms.room(pools[0], request), None);
    assert_eq!(rooms.room_for_placed(pools[0], request), None);
    assert_eq!(rooms.sum_room(&untainted(pools.clone()), request), None);
    assert_eq!(rooms.sum_room(&untainted([pools[1]]), request), Some(SumRoom { replicas: 2, real: 2 }));
    assert_eq!(rooms.shortage(&pools, request), None);
    assert_eq!(rooms.nodes_needed(pools[0], request, 1), None);
    assert_eq!(rooms.free(pools[0]), None);
    assert_eq!(rooms.overdrawn(), []);
    assert_eq!(rooms.pools(ClusterId(1)).len(), 0);
    assert_eq!(rooms.pools(ClusterId(2)).len(), 0);
    // The known pool first, the rest where nobody knows.
    let spread = rooms.spread_over_pools(&untainted(pools.clone()), request, 5, Excess::Leave);
    assert_eq!(spread, Spread { seats: vec![(pools[1], 2), (pools[0], 3)], unplaced: 0 });
}

#[test]
fn overcommit_reserves_and_daemons() {
    let mut spec = PoolSpec::new("general", 4, res(&[("cpu", 8000), ("pods", 20)]));
    spec.overcommit.insert("cpu".into(), Ratio::parse("1.5").unwrap());
    spec.reserved = res(&[("cpu", 9000)]);
    spec.daemon = res(&[("cpu", 2000), ("pods", 2)]);
    let (mut rooms, pool) = single(spec);
    // Nodes of 12 - 2 = 10 CPU and 18 pods; 40 - 9 = 31 CPU.
    assert_eq!(room(&mut rooms, pool, &cpu(1)), 31);
    assert_eq!(room(&mut rooms, pool, &cpu(10)), 3);
    assert_eq!(room(&mut rooms, pool, &cpu(11)), 0);
    assert_eq!(room(&mut rooms, pool, &res(&[])), 72);
    // A DaemonSet of ours takes 4 more CPU and a slot of each node: nodes of 6 CPU.
    let mark = rooms.mark();
    let two = rooms.request(&cpu(2));
    rooms.book(pool, two, 3);
    let daemon = rooms.request(&cpu(4));
    rooms.book_daemon(pool, daemon);
    assert_eq!(room(&mut rooms, pool, &cpu(1)), 24 - 9 - 6);
    assert_eq!(room(&mut rooms, pool, &cpu(7)), 0);
    assert_eq!(room(&mut rooms, pool, &res(&[])), 68 - 3);
    rooms.undo_to(mark);
    assert_eq!(room(&mut rooms, pool, &cpu(1)), 31);
    // A node may be too small for its DaemonSets.
    let huge = rooms.request(&cpu(50));
    rooms.book_daemon(pool, huge);
    assert_eq!(room(&mut rooms, pool, &res(&[("cpu", 1)])), 0);
    rooms.unbook_daemon(pool, huge);
    assert_eq!(room(&mut rooms, pool, &cpu(1)), 31);
}

#[test]
fn virtual_nodes_come_after_the_real_ones() {
    let mut spec = PoolSpec::new("general", 2, cpu(8));
    spec.scalable_to = Some(5);
    let (mut rooms, pool) = single(spec);
    let five = rooms.request(&cpu(5));
    let found = rooms.room(pool, five).unwrap();
    assert_eq!((found.replicas, found.real), (5, 2));
    // (pods, nodes to add)
    for (pods, nodes) in [(0, 0), (1, 0), (2, 0), (3, 1), (5, 3), (9, 7)] {
        assert_eq!(rooms.nodes_needed(pool, five, pods), Some(nodes), "{pods} pods");
    }
    rooms.book(pool, five, 3);
    let found = rooms.room(pool, five).unwrap();
    assert_eq!((found.replicas, found.real), (2, 0));
    assert_eq!(rooms.virtual_nodes_in_use(pool), Some(1));
    assert_eq!(rooms.nodes_needed(pool, five, 1), Some(2));
    let nine = rooms.request(&cpu(9));
    assert_eq!(rooms.nodes_needed(pool, nine, 1), None);
    // Scaling below what exists takes nothing away.
    let mut spec = PoolSpec::new("general", 2, cpu(8));
    spec.scalable_to = Some(1);
    let (mut rooms, pool) = single(spec);
    assert_eq!(room(&mut rooms, pool, &cpu(8)), 2);
}

#[test]
fn overbooked_pools_are_listed_and_have_no_room() {
    let (mut rooms, pool) = single(PoolSpec::new("general", 2, cpu(8)));
    let five = rooms.request(&cpu(5));
    let version = rooms.version(pool);
    rooms.book(pool, five, 3);
    assert!(rooms.version(pool) > version);
    // 15 of 16 CPU, but on two nodes: half of the three nodes' worth is missing.
    let missing = |rooms: &Rooms| {
        rooms
            .overdrawn()
            .into_iter()
            .map(|over| (over.pool, over.resource.to_string(), over.missing))
            .collect::<Vec<_>>()
    };
    assert_eq!(missing(&rooms), [(pool, "cpu".to_owned(), 8000)]);
    assert_eq!(room(&mut rooms, pool, &cpu(5)), 0);
    rooms.unbook(pool, five, 1);
    assert_eq!(missing(&rooms), []);
    let gpu = rooms.request(&res(&[("nvidia.com/gpu", 2)]));
    rooms.book(pool, gpu, 3);
    assert_eq!(missing(&rooms), [(pool, "nvidia.com/gpu".to_owned(), 6)]);
    assert_eq!(rooms.virtual_nodes_in_use(pool), None);
    // It has room for nobody, and says because of what.
    let small = rooms.request(&res(&[("memory", 0)]));
    let shortage = rooms.shortage(&[pool], small).unwrap();
    assert_eq!((shortage.resource.as_str(), shortage.cause), ("nvidia.com/gpu", Cause::Overdrawn));
    assert_eq!((shortage.needed, shortage.largest), (0, 0));
    assert_eq!(rooms.nodes_needed(pool, small, 1), None);
}

#[test]
fn vanished_nodes_and_grown_requests_are_clipped_by_booking_anew() {
    // (nodes, milli-CPU of a node, request, booked, what stays)
    let cases = [
        (8, 8000, 5000, 10, 8),
        (9, 7910, 1000, 70, 63), // the plain sum still holds 70
        (9, 8000, 1500, 46, 45),
        (9, 8000, 1500, 45, 45),
        (9, 8000, 8001, 1, 0), // larger than any node, however many there are
    ];
    for (nodes, node, request, booked, stays) in cases {
        let mut spec = PoolSpec::new("general", nodes, res(&[("cpu", node)]));
        // Others moved in; that displaces nobody.
        spec.others = cpu(60);
        let (mut rooms, pool) = single(spec);
        let id = rooms.request(&res(&[("cpu", request)]));
        rooms.book(pool, id, booked);
        assert_eq!(rooms.is_overdrawn(pool), booked > stays, "{booked} of {request} on {nodes} of {node}");
        assert_eq!(rooms.overdrawn().is_empty(), booked <= stays);
        rooms.unbook(pool, id, booked);
        assert_eq!(rooms.room_for_placed(pool, id), Some(u64::from(stays)));
        rooms.book(pool, id, stays);
        assert!(!rooms.is_overdrawn(pool));
    }
}

#[test]
fn free_lists_sum_and_largest() {
    let (mut rooms, pool) = single(PoolSpec::new("general", 4, res(&[("cpu", 4000), ("pods", 10)])));
    let taken = rooms.request(&res(&[("cpu", 2500)]));
    rooms.book(pool, taken, 4);
    let free = rooms.free(pool).unwrap();
    let expected = [
        Free { resource: "cpu".into(), per_node: 4000, free: 6000, real: 6000, largest: 1500 },
        Free { resource: "pods".into(), per_node: 10, free: 36, real: 36, largest: 10 },
    ];
    assert_eq!(free, expected);
}

#[test]
fn booking_order_over_pools() {
    let gpu_node = res(&[("cpu", 8000), ("nvidia.com/gpu", 4)]);
    let mut scalable = PoolSpec::new("elastic", 1, cpu(8));
    scalable.scalable_to = Some(3);
    let mut rooms = Rooms::new([vec![
        PoolSpec::new("gpu", 9, gpu_node),
        PoolSpec::new("b-large", 3, cpu(8)),
        PoolSpec::new("a-large", 3, cpu(8)),
        scalable,
        PoolSpec::new("spot", 1, cpu(8)),
    ]]);
    let pools: Vec<PoolRef> = rooms.all_pools().collect();
    let [gpu, b_large, a_large, elastic, spot] = pools[..] else { panic!("five pools") };
    let eligible: Vec<EligiblePool> =
        pools.iter().map(|pool| EligiblePool { pool: *pool, tainted: *pool == spot }).collect();
    let web = rooms.request(&cpu(4));
    // Real nodes: elastic 2, a-large 6, b-large 6; virtual: elastic 4; then the tainted spot 2; then gpu 18.
    type Case<'a> = (u32, &'a [(PoolRef, u32)], u32);
    let cases: &[Case<'_>] = &[
        (0, &[], 0),
        (1, &[(elastic, 1)], 0),
        (9, &[(elastic, 2), (a_large, 6), (b_large, 1)], 0),
        (16, &[(elastic, 4), (a_large, 6), (b_large, 6)], 0),
        (21, &[(elastic, 6), (a_large, 6), (b_large, 6), (spot, 2), (gpu, 1)], 0),
        (40, &[(elastic, 6), (a_large, 6), (b_large, 6), (spot, 2), (gpu, 18)], 2),
    ];
    for (pods, seats, unplaced) in cases {
        let spread = rooms.spread_over_pools(&eligible, web, *pods, Excess::Leave);
        assert_eq!(spread, Spread { seats: seats.to_vec(), unplaced: *unplaced }, "{pods} pods");
    }
    assert_eq!(rooms.sum_room(&eligible, web), Some(SumRoom { replicas: 38, real: 34 }));
    // The order of the input does not matter.
    let reversed: Vec<EligiblePool> = eligible.iter().rev().copied().collect();
    let spread = |pools: &[EligiblePool]| rooms.spread_over_pools(pools, web, 21, Excess::Leave);
    assert_eq!(spread(&reversed), spread(&eligible));
    // Pods that ask for GPUs go where they are.
    let train = rooms.request(&res(&[("cpu", 1000), ("nvidia.com/gpu", 1)]));
    let spread = rooms.spread_over_pools(&eligible, train, 3, Excess::Leave);
    assert_eq!(spread, Spread { seats: vec![(gpu, 3)], unplaced: 0 });
}

#[test]
fn what_must_be_booked_in_full_goes_to_a_pool_that_could_hold_it() {
    let mut rooms = Rooms::new([vec![PoolSpec::new("a-small", 9, cpu(2)), PoolSpec::new("b-large", 1, cpu(8))]]);
    let pools: Vec<PoolRef> = rooms.all_pools().collect();
    let eligible = untainted(pools.clone());
    let four = rooms.request(&cpu(4));
    for (pods, seats) in [(2, vec![(pools[1], 2)]), (7, vec![(pools[1], 7)])] {
        let spread = rooms.spread_over_pools(&eligible, four, pods, Excess::Seat);
        assert_eq!(spread, Spread { seats, unplaced: 0 });
    }
    let nine = rooms.request(&cpu(9));
    let spread = rooms.spread_over_pools(&eligible, nine, 3, Excess::Seat);
    assert_eq!(spread, Spread { seats: vec![(pools[0], 3)], unplaced: 0 });
    let spread = rooms.spread_over_pools(&[], nine, 3, Excess::Seat);
    assert_eq!(spread, Spread { seats: vec![], unplaced: 3 });
}

#[test]
fn totals_alone() {
    // (allocatable, used, request, room, room without pods)
    let gib =
        |cpu_milli, memory_gib: i128, pods| res(&[("cpu", cpu_milli), ("memory", memory_gib * GI), ("pods", pods)]);
    let cases = [
        (gib(4000, 8, 100), gib(1000, 2, 20), res(&[("cpu", 500), ("memory", GI)]), 6, 6),
        (gib(4000, 8, 23), gib(1000, 2, 20), res(&[("cpu", 500), ("memory", GI)]), 3, 6),
        (gib(4000, 8, 20), gib(1000, 2, 21), res(&[("cpu", 500)]), 0, 6),
        (gib(4000, 8, 100), gib(5000, 2, 20), res(&[("cpu", 500)]), 0, 0),
        (gib(4000, 8, 100), gib(1000, 2, 20), res(&[("nvidia.com/gpu", 1)]), 0, 0),
        (gib(4000, 8, 100), gib(1000, 2, 20), res(&[("cpu", 0)]), 80, UNLIMITED),
        (cpu(4), cpu(1), cpu(1), 0, 3),
        (res(&[]), res(&[]), res(&[]), 0, UNLIMITED),
        (gib(i128::MAX, 8, i128::MAX), gib(-1, 0, 0), res(&[("cpu", 1)]), UNLIMITED, UNLIMITED),
    ];
    for (allocatable, used, request, room, without_pods) in cases {
        let found =
            (summary_room(&allocatable, &used, &request), summary_room_without_pods(&allocatable, &used, &request));
        assert_eq!(found, (room, without_pods), "{allocatable:?} {used:?} {request:?}");
    }
}

#[test]
fn a_reserve_of_the_cluster_is_split_exactly() {
    let mut pools = vec![
        PoolSpec::new("a", 3, cpu(8)),
        PoolSpec::new("b", 1, cpu(16)),
        PoolSpec::new("c", 2, res(&[("memory", GI)])),
        PoolSpec::unknown("d"),
    ];
    share_reserved(&mut pools, &res(&[("cpu", 1001), ("memory", 5), ("nvidia.com/gpu", 1), ("ignored", -3)]));
    let shares: Vec<(i128, i128)> =
        pools.iter().map(|pool| (pool.reserved.get("cpu"), pool.reserved.get("memory"))).collect();
    assert_eq!(shares, [(601, 0), (400, 0), (0, 5), (0, 0)]);
}

#[test]
fn ratios() {
    for (text, expected) in [
        ("1.5", Ratio::new(3, 2).map(|ratio| ratio.of(100))),
        ("2", Some(200)),
        ("0.333", Some(33)),
        ("1.50", Some(150)),
        ("10.000000001", Some(1000)),
        ("", None),
        ("1.", None),
        (".5", None),
        ("-1", None),
        ("1e3", None),
        ("1.5.2", None),
        ("99999999999999999999", None),
        ("1.0000000001", None),
    ] {
        assert_eq!(Ratio::parse(text).map(|ratio| ratio.of(100)), expected, "{text:?}");
    }
    assert_eq!(Ratio::new(1, 0), None);
}

#[test]
fn absurd_amounts_neither_wrap_nor_panic() {
    let mut spec = PoolSpec::new("general", u32::MAX, res(&[("cpu", i128::MAX), ("pods", i128::MAX), ("memory", -1)]));
    spec.scalable_to = Some(u32::MAX);
    spec.others = res(&[("cpu", i128::MAX)]);
    spec.reserved = res(&[("cpu", i128::MIN)]);
    spec.daemon = res(&[("cpu", i128::MIN), ("memory", i128::MAX)]);
    spec.overcommit.insert("cpu".into(), Ratio::new(u64::MAX, 1).unwrap());
    let (mut rooms, pool) = single(spec);
    assert_eq!(room(&mut rooms, pool, &cpu(1)), 0);
    assert_eq!(room(&mut rooms, pool, &res(&[("cpu", i128::MAX)])), 0);
    assert_eq!(room(&mut rooms, pool, &res(&[("memory", 1)])), 0);
    assert_eq!(room(&mut rooms, pool, &res(&[])), 1 << 56);
    let all = rooms.request(&res(&[("cpu", i128::MAX), ("pods", i128::MAX)]));
    let mark = rooms.mark();
    for _ in 0..100 {
        rooms.book(pool, all, u32::MAX);
    }
    assert_eq!(room(&mut rooms, pool, &res(&[])), 0);
    assert_eq!(rooms.nodes_needed(pool, all, u32::MAX), None);
    rooms.undo_to(mark);
    assert_eq!(room(&mut rooms, pool, &res(&[])), 1 << 56);
}
