//! What nodes hold, by placing pod after pod on them.

/// Equal nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// How many.
    pub count: u32,
    /// Thousandths of CPU that each offers.
    pub cpu_milli: u32,
}

/// How many more pods of `cpu_milli` thousandths of CPU fit beside `placed` ones, each a size and how many; none where
/// those do not fit themselves. Pods are moved around freely, the large ones placed first on the first node that has room:
/// that finds a place for all there is one for, if all are of one size, or if each size divides the next and the node.
#[must_use]
pub fn room(nodes: Nodes, placed: &[(u32, u32)], cpu_milli: u32) -> u32 {
    let fits = |more: u32| {
        let mut pods: Vec<u32> = placed.iter().flat_map(|(size, n)| (0..*n).map(|_| *size)).collect();
        pods.extend((0..more).map(|_| cpu_milli));
        pods.sort_unstable_by(|a, b| b.cmp(a));
        let mut free = vec![nodes.cpu_milli; usize::try_from(nodes.count).unwrap_or(usize::MAX)];
        pods.into_iter().all(|pod| match free.iter_mut().find(|free| **free >= pod) {
            Some(node) => {
                *node -= pod;
                true
            }
            None => false,
        })
    };
    let most = nodes.count * (nodes.cpu_milli / cpu_milli.max(1));
    (0..=most).rev().find(|more| fits(*more)).unwrap_or(0)
}

/// Whether such pods fit on the nodes together.
#[must_use]
pub fn holds(nodes: Nodes, placed: &[(u32, u32)]) -> bool {
    match placed.split_first() {
        Some(((size, n), rest)) => room(nodes, rest, *size) >= *n,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_do_not_lie_on_two_nodes() {
        let nodes = Nodes { count: 2, cpu_milli: 4000 };
        assert_eq!(room(nodes, &[], 3000), 2);
        assert_eq!(room(nodes, &[(3000, 2)], 3000), 0);
        assert_eq!(room(nodes, &[(1000, 3)], 2000), 2);
        assert_eq!(room(nodes, &[(1000, 1), (2000, 1)], 4000), 1);
        assert_eq!(room(nodes, &[(4000, 3)], 1000), 0, "more than they hold");
        assert!(holds(nodes, &[(4000, 1), (2000, 1), (1000, 2)]));
        assert!(!holds(nodes, &[(4000, 1), (2000, 1), (1000, 3)]));
        assert!(holds(nodes, &[]));
    }
}
