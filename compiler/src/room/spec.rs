//! What is stated about a pool.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::base::Resources;

/// Pods a node takes when its pool does not say: the kubelet's default `maxPods`.
pub const DEFAULT_PODS_PER_NODE: i128 = 110;

/// The name of the resource every pod takes one of.
pub(super) const PODS: &str = "pods";

/// Whether a resource is one that devices or operators provide, such as `nvidia.com/gpu`: a qualified name outside
/// `kubernetes.io`, as Kubernetes' `IsExtendedResourceName` has it.
pub(super) fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

/// An exact ratio, such as an overcommit of `1.5`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// One to one.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`; `None` when the denominator is 0.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        (denominator != 0).then_some(Self { numerator, denominator })
    }

    /// Reads a plain decimal: digits, optionally a point and at most nine further digits (`2`, `1.5`, `0.75`). `None`
    /// for anything else, signs and exponents included.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return None;
        }
        let denominator = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
        let whole: u64 = whole.parse().ok()?;
        let fraction: u64 = fraction.parse().ok()?;
        Self::new(whole.checked_mul(denominator)?.checked_add(fraction)?, denominator)
    }

    /// `amount × ratio`, rounded down; the largest amount where that is too large.
    pub(super) fn of(self, amount: i128) -> i128 {
        amount.saturating_mul(i128::from(self.numerator)) / i128::from(self.denominator)
    }
}

/// A node pool of a cluster as the estimate sees it.
///
/// `free = allocatable × overcommit − reserved − others − booked`, over the nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PoolSpec {
    /// Unique in its cluster.
    pub name: SmolStr,
    /// Nodes that exist.
    pub nodes: u32,
    /// What one node offers. `pods` is [`DEFAULT_PODS_PER_NODE`] where absent; any other resource that is absent is
    /// not offered, and a pod that requests it has no room.
    pub allocatable_per_node: Resources,
    /// The node count an autoscaler may reach; nodes beyond `nodes` are virtual. Less than `nodes` changes nothing.
    pub scalable_to: Option<u32>,
    /// Per resource; absent is one to one.
    pub overcommit: BTreeMap<SmolStr, Ratio>,
    /// Kept free, of the whole pool. A reserve of the whole cluster is split by [`share_reserved`].
    pub reserved: Resources,
    /// Used by pods that are not booked here, on the whole pool; `pods` included.
    pub others: Resources,
    /// Requested on every node by DaemonSets that are not booked with [`Rooms::book_daemon`](super::Rooms::book_daemon);
    /// `pods` included.
    pub daemon: Resources,
    /// Whether the capacity is known. If not, every room of this pool is `None`.
    pub known: bool,
}

impl PoolSpec {
    /// A pool of `nodes` nodes that each offer `allocatable_per_node`, nothing used.
    #[must_use]
    pub fn new(name: impl Into<SmolStr>, nodes: u32, allocatable_per_node: Resources) -> Self {
        Self {
            name: name.into(),
            nodes,
            allocatable_per_node,
            scalable_to: None,
            overcommit: BTreeMap::new(),
            reserved: Resources::default(),
            others: Resources::default(),
            daemon: Resources::default(),
            known: true,
        }
    }

    /// A pool of which nothing is known but the name; also what stands for a cluster that states no pools.
    #[must_use]
    pub fn unknown(name: impl Into<SmolStr>) -> Self {
        Self { known: false, ..Self::new(name, 0, Resources::default()) }
    }

    /// What one node offers after overcommit, before DaemonSets. With the default for `pods`.
    pub(super) fn node_size(&self, resource: &str) -> i128 {
        let stated = self.allocatable_per_node.0.get(resource).copied();
        let amount = stated.unwrap_or(if resource == PODS { DEFAULT_PODS_PER_NODE } else { 0 });
        self.overcommit.get(resource).copied().unwrap_or(Ratio::ONE).of(amount.max(0))
    }
}

/// Splits a reserve of a whole cluster over its known pools in proportion to what each offers, and adds it to their
/// `reserved`. Rounded down; the few units left go one each to the first pools that offer the resource. A resource no
/// pool offers is dropped.
pub fn share_reserved(pools: &mut [PoolSpec], reserved: &Resources) {
    for (resource, amount) in reserved.iter().filter(|(_, amount)| *amount > 0) {
        let offered = |pool: &PoolSpec| {
            if pool.known { pool.node_size(resource).saturating_mul(i128::from(pool.nodes)) } else { 0 }
        };
        let total = pools.iter().map(offered).fold(0_i128, i128::saturating_add);
        if total == 0 {
            continue;
        }
        let mut left = amount;
        let mut shares: Vec<i128> = Vec::with_capacity(pools.len());
        for pool in pools.iter() {
            let share = proportion(amount, offered(pool), total);
            left -= share;
            shares.push(share);
        }
        for (pool, mut share) in pools.iter_mut().zip(shares) {
            if left > 0 && offered(pool) > 0 {
                share += 1;
                left -= 1;
            }
            if share > 0 {
                pool.reserved.add(&Resources(BTreeMap::from([(resource.clone(), share)])), 1);
            }
        }
    }
}

/// `floor(amount × part / total)` for `0 <= part <= total`.
fn proportion(amount: i128, part: i128, total: i128) -> i128 {
    if let Some(product) = amount.checked_mul(part) {
        return product / total;
    }
    // The amounts are far beyond any cluster: precision no longer matters, staying within the amount does.
    (amount / total).saturating_mul(part).min(amount)
}
