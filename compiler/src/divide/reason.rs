//! Why a cluster got what it got.

/// Why a cluster got nothing, or no more than it has. Numbers are replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A veto (cordoned, unhealthy, tainted, ...) keeps new replicas away; what runs there stays.
    Vetoed,
    /// Its weight is 0: the cluster is drained.
    Drained,
    /// Its floor (`perCluster.min`, a rule's `min`, a required group) is more than it can take.
    FloorAboveCap { floor: u32, cap: u32 },
    /// The floors together are more than there are replicas; the lowest-ranked clusters go without.
    FloorsAboveTotal { floor: u32 },
    /// A copy of all replicas does not fit (Duplicated).
    TotalAboveCap { cap: u32 },
    /// Holds its `max`.
    AtMax { max: u32 },
    /// Holds what the per-cluster quota allows.
    AtQuota { quota: u32 },
    /// Holds what fits.
    Full { room: u64 },
    /// Too light for a whole replica at this total.
    Rounding,
    /// Others suffice: Aggregated takes as few clusters as possible, tiers overflow in order.
    NotNeeded,
}

impl Reason {
    /// Whether the cluster was left out before anything was divided.
    #[must_use]
    pub fn leaves_out(self) -> bool {
        match self {
            Self::Vetoed
            | Self::Drained
            | Self::FloorAboveCap { .. }
            | Self::FloorsAboveTotal { .. }
            | Self::TotalAboveCap { .. } => true,
            Self::AtMax { .. } | Self::AtQuota { .. } | Self::Full { .. } | Self::Rounding | Self::NotNeeded => false,
        }
    }
}
