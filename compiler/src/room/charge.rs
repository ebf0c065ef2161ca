//! The ledgers of a resource, and what a pod is charged in each. The [module](super) has the table and where it comes from.

/// The largest k of the ledgers every resource has: 0 (the plain sum) and 1 to 4.
pub(super) const FIXED: u64 = 4;

/// Pods booked with the same request of this resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Booked {
    pub(super) request: u64,
    pub(super) pods: i64,
}

/// What is charged of a resource in one ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ledger {
    pub(super) k: u64,
    /// By all that is booked, in units of `node × max(k, 1)` to a node.
    pub(super) charged: i128,
    /// By the pods beyond that, in the same units.
    pub(super) beyond: i128,
    /// How many of the booked requests need this ledger.
    pub(super) requests: usize,
    /// How many of those beyond them do.
    pub(super) requests_beyond: usize,
}

impl Ledger {
    /// Whether it tells of what is asked: one that only pods beyond what is booked need says nothing of what is booked.
    pub(super) fn counts(&self, asked: Asked) -> bool {
        asked.others || self.k <= FIXED || self.requests > 0
    }

    /// What is charged in it. Pods beyond what is booked count where usage by others does.
    pub(super) fn taken(&self, asked: Asked) -> i128 {
        if asked.others { self.charged + self.beyond } else { self.charged }
    }
}

/// Nodes and what else a question of room is about.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// How many nodes count.
    pub(super) nodes: u64,
    /// Whether usage by others counts, and pods beyond what is booked.
    pub(super) others: bool,
}

/// The charge of one pod in ledger `k`, in units of `node × max(k, 1)` to a node. Never decreases with the request; the
/// node size decides what one unit is.
pub(super) fn charge(k: u64, request: u64, node: u64) -> i128 {
    if k == 0 {
        return i128::from(request);
    }
    let scaled = u128::from(k + 1) * u128::from(request);
    if scaled < u128::from(node) {
        return 0;
    }
    let whole = i128::from(k) * i128::from(request);
    if request >= node {
        // Larger than a node: booked all the same, so at least the node is gone.
        return whole;
    }
    let rest = match u64::try_from(scaled) {
        Ok(scaled) => u128::from(scaled % node),
        Err(_) => scaled % u128::from(node),
    };
    // floor(scaled / node) × node
    if rest == 0 { whole } else { i128::try_from(scaled - rest).unwrap_or(i128::MAX) }
}

/// Units of a node in ledger `k`.
pub(super) fn unit(k: u64, node: u64) -> i128 {
    i128::from(k.max(1)) * i128::from(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_in_units_of_node_times_k() {
        // (ledger, request, node, charge)
        let cases = [
            (0, 5, 8, 5),
            (1, 5, 8, 8),   // 2x = 1.25: one whole node
            (1, 4, 8, 4),   // 2x = 1: an integer, x itself
            (1, 3, 8, 0),   // 2x < 1
            (2, 3, 8, 8),   // 3x = 1.125: half a node of 16 units
            (2, 5, 8, 8),   // 3x = 1.875
            (2, 6, 8, 16),  // 3x = 2.25: all of it
            (3, 2, 8, 6),   // 4x = 1: x itself
            (4, 8, 8, 32),  // a whole node in every ledger
            (1, 13, 8, 13), // larger than the node: x itself
            (2, 3, 0, 6),   // no node left
        ];
        for (k, request, node, expected) in cases {
            assert_eq!(charge(k, request, node), expected, "ledger {k}, request {request}, node {node}");
        }
    }

    #[test]
    fn charge_never_decreases_with_the_request_and_never_exceeds_its_bound() {
        for node in 1..=24 {
            for k in 1..=12 {
                let mut last = 0;
                for request in 0..=2 * node {
                    let now = charge(k, request, node);
                    assert!(now >= last, "ledger {k}, request {request}, node {node}");
                    // (k+1)x/k, the bound the shortcut in `room` relies on
                    assert!(now <= i128::from((k + 1) * request));
                    last = now;
                }
            }
        }
    }
}
