//! Amounts of compute resources as integers.

use std::collections::BTreeMap;

use smol_str::SmolStr;

/// Amounts by resource name, in the unit of that resource: `cpu` in milli, memory, storage and hugepages in bytes,
/// everything else in whole units (`pods`, `nvidia.com/gpu`). A name that is absent amounts to 0. Fractions below the
/// unit are rounded up, as Kubernetes does.
///
/// `i128` because a ledger multiplies amounts by node counts and subtracts: products stay below 2^97.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Resources(pub BTreeMap<SmolStr, i128>);

impl Resources {
    /// The amount of one resource, 0 when absent.
    #[must_use]
    pub fn get(&self, name: &str) -> i128 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Adds `times` × `other`, resource by resource.
    pub fn add(&mut self, other: &Self, times: i128) {
        for (name, amount) in &other.0 {
            *self.0.entry(name.clone()).or_insert(0) += amount * times;
        }
    }

    /// Raises each amount to at least that of `other`.
    pub fn raise_to(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let mine = self.0.entry(name.clone()).or_insert(*amount);
            *mine = (*mine).max(*amount);
        }
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.values().all(|amount| *amount == 0)
    }

    /// The non-zero amounts in name order.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, i128)> {
        self.0.iter().map(|(name, amount)| (name, *amount)).filter(|(_, amount)| *amount != 0)
    }
}
