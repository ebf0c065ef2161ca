//! The largest piece left on one node, for messages. The ledgers bound what fits; a message wants a figure that a person
//! can find on the nodes.

use std::collections::BTreeMap;

/// The most that is left on one of `nodes` nodes of size `node` after the pods were packed tightly: larger pods first,
/// each on the fullest node that still holds it. `booked` yields (request, pods), larger requests first. Pods that fit
/// nowhere are passed over.
pub(super) fn largest_piece(nodes: u64, node: u64, booked: impl Iterator<Item = (u64, u64)>) -> u64 {
    // How many nodes have how much left.
    let mut left: BTreeMap<u64, u64> = BTreeMap::from([(node, nodes)]);
    left.retain(|_, nodes| *nodes > 0);
    for (request, mut pods) in booked.filter(|(request, _)| *request > 0) {
        while pods > 0 {
            let Some((level, nodes)) = left.range(request..).next().map(|(level, nodes)| (*level, *nodes)) else {
                break;
            };
            let per_node = level / request;
            let filled = nodes.min(pods / per_node);
            let rest = if filled < nodes { pods % per_node } else { 0 };
            left.remove(&level);
            let begun = u64::from(rest > 0);
            let levels = [
                (level - per_node * request, filled),
                (level - rest * request, begun),
                (level, nodes - filled - begun),
            ];
            for (level, nodes) in levels.into_iter().filter(|(_, nodes)| *nodes > 0) {
                *left.entry(level).or_insert(0) += nodes;
            }
            pods -= filled * per_node + rest;
        }
    }
    left.last_key_value().map_or(0, |(level, _)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tight_packing() {
        // (nodes, node, pods larger first, the largest piece)
        type Case = (u64, u64, &'static [(u64, u64)], u64);
        let cases: &[Case] = &[
            (0, 8, &[], 0),
            (3, 8, &[], 8),
            (3, 8, &[(5, 1)], 8),
            (3, 8, &[(5, 3)], 3),
            (3, 8, &[(5, 3), (3, 2)], 3),
            (3, 8, &[(5, 3), (3, 3)], 0),
            (3, 8, &[(3, 5)], 5),         // two, two and one
            (3, 8, &[(5, 4), (2, 1)], 3), // one of 5 fits nowhere
            (2, 8, &[(9, 4), (8, 1)], 8),
            (1000, 8, &[(3, 1_000_000)], 2),
        ];
        for (nodes, node, pods, expected) in cases {
            assert_eq!(largest_piece(*nodes, *node, pods.iter().copied()), *expected, "{nodes} of {node}, {pods:?}");
        }
    }
}
