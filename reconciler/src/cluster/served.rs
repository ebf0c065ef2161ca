//! What a cluster serves: discovery, reduced to what requests need.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;

use super::GroupKind;

/// Kinds that can be listed and written, by group and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// For each kind its versions, the server's preferred one first.
    pub kinds: BTreeMap<GroupKind, Vec<ServedKind>>,
    /// Groups whose server does not answer: which kinds they have is not known now.
    pub unknown_groups: BTreeSet<SmolStr>,
}

/// A kind in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedKind {
    /// The version.
    pub version: SmolStr,
    /// The name of its resource in a path: `deployments`.
    pub plural: SmolStr,
    /// Whether its objects lie in namespaces.
    pub namespaced: bool,
    /// Whether it can be listed and watched.
    pub listable: bool,
}

impl Served {
    /// Whether a kind is served in any version.
    #[must_use]
    pub fn has(&self, kind: &GroupKind) -> bool {
        self.kinds.contains_key(kind)
    }

    /// A kind in one version, or in the preferred one.
    #[must_use]
    pub fn kind(&self, kind: &GroupKind, version: Option<&str>) -> Option<&ServedKind> {
        let versions = self.kinds.get(kind)?;
        match version {
            Some(version) => versions.iter().find(|v| v.version == version),
            None => versions.first(),
        }
    }
}
