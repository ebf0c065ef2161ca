//! The estimate against real packings: what fits is never refused, and mixtures are not promised much more.

use proptest::prelude::*;

use super::super::*;
use super::*;

/// The most pods of `request` that go on nodes beside `booked` pods, over all packings; `None` if `booked` itself does
/// not fit. Sizes are vectors over the same resources.
fn best_packing(free: &mut Vec<[i128; 2]>, booked: &[[i128; 2]], request: [i128; 2]) -> Option<u64> {
    let Some((first, rest)) = booked.split_first() else {
        let fit =
            |node: &[i128; 2]| (0..2).filter(|r| request[*r] > 0).map(|r| node[r] / request[r]).min().unwrap_or(0);
        return u64::try_from(free.iter().map(fit).sum::<i128>()).ok();
    };
    let mut best = None;
    for at in 0..free.len() {
        // Equal nodes are one choice.
        if free[..at].contains(&free[at]) || (0..2).any(|r| free[at][r] < first[r]) {
            continue;
        }
        (0..2).for_each(|r| free[at][r] -= first[r]);
        best = best.max(best_packing(free, rest, request));
        (0..2).for_each(|r| free[at][r] += first[r]);
    }
    best
}

fn both(amounts: [i128; 2]) -> Resources {
    res(&[("cpu", amounts[0]), ("memory", amounts[1])])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_size_alone_is_exact(
        nodes in 0_u32..30,
        node in 1_i128..200,
        memory in 1_i128..200,
        request in 1_i128..60,
        memory_request in 0_i128..60,
        pods in 1_i128..40,
    ) {
        let (mut rooms, pool) = single(PoolSpec::new("p", nodes, res(&[("cpu", node), ("memory", memory), ("pods", pods)])));
        let fits = (node / request).min(memory.checked_div(memory_request).unwrap_or(pods)).min(pods);
        let expected = i128::from(nodes) * fits;
        prop_assert_eq!(i128::from(room(&mut rooms, pool, &both([request, memory_request]))), expected);
    }

    #[test]
    fn nothing_that_fits_is_refused(
        nodes in 1_usize..4,
        node in [1_i128..14, 1_i128..14],
        booked in prop::collection::vec([0_i128..14, 0_i128..14], 0..6),
        request in [1_i128..14, 0_i128..14],
    ) {
        let (mut rooms, pool) = single(PoolSpec::new("p", u32::try_from(nodes).unwrap(), both(node)));
        for pod in &booked {
            let id = rooms.request(&both(*pod));
            rooms.book(pool, id, 1);
        }
        let found = room(&mut rooms, pool, &both(request));
        match best_packing(&mut vec![node; nodes], &booked, request) {
            Some(best) => prop_assert!(found >= best, "room {found}, a packing holds {best}"),
            // Over-booked: any answer is allowed, but it must be one.
            None => prop_assert!(found <= 14 * 4),
        }
        if let Some(best) = best_packing(&mut vec![node; nodes], &[], request) {
            prop_assert!(found <= best, "never more than empty nodes hold");
        }
    }
}

/// A small generator of its own: the figures below must not move with a library.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Nodes that first-fit-decreasing needs for the pods.
fn nodes_by_first_fit(mut pods: Vec<[i128; 2]>, node: [i128; 2]) -> usize {
    pods.sort_by_key(|pod| std::cmp::Reverse(pod[0] * node[1] + pod[1] * node[0]));
    let mut free: Vec<[i128; 2]> = Vec::new();
    for pod in pods {
        let at = free.iter().position(|left| left[0] >= pod[0] && left[1] >= pod[1]).unwrap_or_else(|| {
            free.push(node);
            free.len() - 1
        });
        free[at][0] -= pod[0];
        free[at][1] -= pod[1];
    }
    free.len()
}

/// Books random pods as long as any size has room, and compares the nodes a packing needs with those there are.
/// (nodes needed, nodes there) over all runs, and the worst single run in per mille.
fn over_promise(node: [i128; 2], sizes: &[[i128; 2]], seed: u64) -> (usize, usize, usize) {
    let (mut needed, mut there, mut worst) = (0, 0, 0);
    let mut dice = Dice(seed);
    for _ in 0..40 {
        let nodes = 5 + dice.below(40);
        let (mut rooms, pool) = single(PoolSpec::new("p", u32::try_from(nodes).unwrap(), both(node)));
        // Each run has its own few sizes: fleets do.
        let chosen: Vec<[i128; 2]> = (0..1 + dice.below(5)).map(|_| sizes[dice.below(sizes.len())]).collect();
        let ids: Vec<RequestId> = chosen.iter().map(|size| rooms.request(&both(*size))).collect();
        let mut pods = Vec::new();
        while ids.iter().any(|id| rooms.room(pool, *id).unwrap().replicas > 0) {
            let at = dice.below(ids.len());
            let fits = rooms.room(pool, ids[at]).unwrap().replicas;
            let replicas = u32::try_from(fits.min(1 + dice.below(8) as u64)).unwrap();
            rooms.book(pool, ids[at], replicas);
            pods.extend((0..replicas).map(|_| chosen[at]));
        }
        assert_eq!(rooms.overdrawn(), []);
        let used = nodes_by_first_fit(pods, node);
        needed += used;
        there += nodes;
        worst = worst.max(used * 1000 / nodes);
    }
    (needed, there, worst)
}

#[test]
fn mixtures_are_not_promised_much_more_than_a_packing_holds() {
    let usual = [
        [100, 128],
        [250, 256],
        [250, 512],
        [500, 512],
        [500, 1024],
        [1000, 1024],
        [1000, 2048],
        [2000, 4096],
        [4000, 8192],
    ];
    let odd =
        [[300, 700], [700, 300], [1100, 1900], [1700, 2500], [2300, 900], [2700, 6100], [3100, 3300], [5300, 4100]];
    for (node, sizes, seed) in
        [([7910, 28_672], &usual[..], 1), ([7910, 16_000], &odd[..], 2), ([3920, 12_000], &usual[..8], 3)]
    {
        let (needed, there, worst) = over_promise(node, sizes, seed);
        println!("{node:?}: {needed} for {there}, worst {worst}");
        assert!(
            needed * 100 <= there * 110 && worst <= 1350,
            "{node:?}: {needed} nodes for {there}, worst {worst} per mille"
        );
    }
}

#[test]
fn a_sequence_packed_first_fit_is_never_refused() {
    let mut dice = Dice(7);
    for _ in 0..60 {
        let node = [i128::try_from(4 + dice.below(60)).unwrap(), i128::try_from(4 + dice.below(60)).unwrap()];
        let nodes = 1 + dice.below(12);
        let (mut rooms, pool) = single(PoolSpec::new("p", u32::try_from(nodes).unwrap(), both(node)));
        let mut free = vec![node; nodes];
        for _ in 0..120 {
            let pod = [0, 1].map(|r| {
                i128::try_from(1 + dice.below(usize::try_from(node[r]).unwrap()))
                    .unwrap()
                    .min(1 + i128::try_from(dice.below(20)).unwrap())
            });
            let id = rooms.request(&both(pod));
            if let Some(left) = free.iter_mut().find(|left| left[0] >= pod[0] && left[1] >= pod[1]) {
                assert!(rooms.room(pool, id).unwrap().replicas >= 1, "refused {pod:?} on {nodes} nodes of {node:?}");
                left[0] -= pod[0];
                left[1] -= pod[1];
                rooms.book(pool, id, 1);
            }
        }
    }
}
