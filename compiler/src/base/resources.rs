//! Amounts of compute resources as integers.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::name::{NameRule, check, nearest};

/// Kubernetes' own resources that have one name. Besides them there are `hugepages-<size>` and, of nodes,
/// `attachable-volumes-<plugin>`; every other name has a domain.
const OWN: [&str; 5] = ["cpu", "memory", "ephemeral-storage", "pods", "storage"];

/// A text that names no resource.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ResourceNameError {
    /// No domain, and none of Kubernetes' own.
    #[error("expected {}, hugepages-<size>, or a name with a domain such as nvidia.com/gpu", OWN.join(", "))]
    Unknown {
        /// The one of Kubernetes' own that is most like it.
        nearest: Option<&'static str>,
    },
    /// Not of the form `domain/name`.
    #[error("expected {0}")]
    Form(String),
}

/// Checks the name of a resource of a node, a cluster or a quota: a misspelt one would count nothing.
///
/// # Errors
/// When Kubernetes has no such resource and no vendor can have one.
pub fn check_resource_name(name: &str) -> Result<(), ResourceNameError> {
    check(NameRule::QualifiedName, name).map_err(ResourceNameError::Form)?;
    let of_family = ["hugepages-", "attachable-volumes-"].iter().any(|family| name.starts_with(family));
    if name.contains('/') || of_family || OWN.contains(&name) {
        return Ok(());
    }
    Err(ResourceNameError::Unknown {
        nearest: nearest(name, OWN).and_then(|near| OWN.into_iter().find(|own| *own == near)),
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_resources() {
        for name in [
            "cpu",
            "memory",
            "ephemeral-storage",
            "pods",
            "storage",
            "hugepages-2Mi",
            "attachable-volumes-csi-x",
            "nvidia.com/gpu",
            "example.com/x",
        ] {
            assert_eq!(check_resource_name(name), Ok(()), "{name}");
        }
        for (name, near) in [
            ("CPU", Some("cpu")),
            ("cpuz", Some("cpu")),
            ("memmory", Some("memory")),
            ("gpu", Some("cpu")),
            ("banana", None),
        ] {
            assert_eq!(check_resource_name(name), Err(ResourceNameError::Unknown { nearest: near }), "{name}");
        }
        for name in ["", "nvidia.com/", "a/b/c", "Nvidia.com/gpu"] {
            assert!(matches!(check_resource_name(name), Err(ResourceNameError::Form(_))), "{name}");
        }
    }
}
