//! Whole sets of pods: how many of them fit, each with all of its parts.
//!
//! Found by halving: `k` sets are booked for trial, part by part, and taken back. The parts go in the order (fewest pools
//! they may use, least room alone, as given), so that what is hard to place is placed first.

use super::rooms::{RequestId, Rooms};
use super::spread::{EligiblePool, Excess};

/// Pods of one kind within a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPart {
    /// The pools that they may use.
    pub pools: Vec<EligiblePool>,
    /// What one of them requests.
    pub request: RequestId,
    /// How many of them a set has.
    pub replicas: u32,
}

impl Rooms {
    /// How many whole sets fit, at most `most`. Pools of unknown capacity take whatever is asked. Nothing stays booked.
    #[must_use]
    pub fn max_sets(&mut self, parts: &[SetPart], most: u32) -> u32 {
        let order: Vec<&SetPart> = self.set_order(parts).into_iter().filter_map(|at| parts.get(at)).collect();
        let (mut fits, mut most) = (0, most);
        while fits < most {
            let middle = most - (most - fits) / 2;
            if self.holds_sets(&order, middle) {
                fits = middle;
            } else {
                most = middle - 1;
            }
        }
        fits
    }

    /// The order in which the parts of a set are booked, as positions; parts without pods are left out.
    #[must_use]
    pub fn set_order(&self, parts: &[SetPart]) -> Vec<usize> {
        let with_pods = parts.iter().enumerate().filter(|(_, part)| part.replicas > 0);
        let mut order: Vec<(usize, u64, usize)> = with_pods
            .map(|(at, part)| {
                let room = self.sum_room(&part.pools, part.request).map_or(u64::MAX, |room| room.replicas);
                (part.pools.len(), room / u64::from(part.replicas), at)
            })
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, _, at)| at).collect()
    }

    fn holds_sets(&mut self, parts: &[&SetPart], sets: u32) -> bool {
        let mark = self.mark();
        let holds = parts.iter().all(|part| {
            let Some(replicas) = part.replicas.checked_mul(sets) else { return false };
            let spread = self.spread_over_pools(&part.pools, part.request, replicas, Excess::Leave);
            for (pool, replicas) in &spread.seats {
                self.book(*pool, part.request, *replicas);
            }
            spread.unplaced == 0
        });
        self.undo_to(mark);
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{ClusterId, Resources};
    use crate::room::PoolSpec;

    fn amounts(cpu: i128, gpu: i128) -> Resources {
        Resources([("cpu".into(), cpu), ("gpu".into(), gpu)].into_iter().filter(|(_, n)| *n > 0).collect())
    }

    /// CPU, GPU and number of pods of each part; sets that fit, of nine.
    type Fact = (&'static [(i128, i128, u32)], u32);

    #[test]
    fn only_whole_sets_count() {
        // two nodes of 6 CPU, one of 8 CPU with 2 GPU
        let specs = vec![PoolSpec::new("web", 2, amounts(6, 0)), PoolSpec::new("gpu", 1, amounts(8, 2))];
        let facts: [Fact; 6] = [
            (&[(3, 0, 2), (2, 0, 1)], 2),
            (&[(1, 1, 1), (1, 0, 3)], 2),
            (&[(1, 1, 3)], 0),
            (&[(7, 0, 1)], 1),
            (&[(1, 0, 0)], 9),
            (&[], 9),
        ];
        for (parts, expected) in facts {
            let mut rooms = Rooms::new([specs.clone()]);
            let pools: Vec<EligiblePool> =
                rooms.pools(ClusterId(0)).map(|pool| EligiblePool { pool, tainted: false }).collect();
            let parts: Vec<SetPart> = parts
                .iter()
                .map(|(cpu, gpu, replicas)| SetPart {
                    pools: pools.clone(),
                    request: rooms.request(&amounts(*cpu, *gpu)),
                    replicas: *replicas,
                })
                .collect();
            let before = rooms.free(pools[0].pool);
            assert_eq!(rooms.max_sets(&parts, 9), expected, "{parts:?}");
            assert_eq!(rooms.free(pools[0].pool), before, "nothing stays booked");
        }
    }
}
