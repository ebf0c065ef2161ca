//! Cluster selectors with the reason why a cluster does not match.

use std::fmt;

use super::Cluster;
use crate::base::SmolStr;
use crate::base::labels::LabelSelector;

/// A resolved cluster selector: all stated parts must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// Labels and expressions.
    pub labels: LabelSelector,
    /// Only these.
    pub names: Option<Vec<SmolStr>>,
    /// Never these.
    pub exclude: Vec<SmolStr>,
    /// Only of these providers.
    pub providers: Option<Vec<SmolStr>>,
    /// Only in these regions.
    pub regions: Option<Vec<SmolStr>>,
    /// Only with one of these zones.
    pub zones: Option<Vec<SmolStr>>,
}

/// The first part of a selector that a cluster fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mismatch {
    /// Named in `exclude`.
    Excluded,
    /// Not named in `names`.
    NotNamed,
    /// Labels or expressions do not hold.
    Labels,
    /// Another provider.
    Provider,
    /// Another region.
    Region,
    /// None of the zones.
    Zone,
}

impl Selector {
    /// Why a cluster does not match; `None` where it does.
    #[must_use]
    pub fn mismatch(&self, cluster: &Cluster) -> Option<Mismatch> {
        let has = |list: &[SmolStr], value: &Option<SmolStr>| value.as_ref().is_some_and(|v| list.contains(v));
        if self.exclude.contains(&cluster.name) {
            return Some(Mismatch::Excluded);
        }
        if self.names.as_ref().is_some_and(|names| !names.contains(&cluster.name)) {
            return Some(Mismatch::NotNamed);
        }
        if self.providers.as_ref().is_some_and(|list| !has(list, &cluster.provider)) {
            return Some(Mismatch::Provider);
        }
        if self.regions.as_ref().is_some_and(|list| !has(list, &cluster.region)) {
            return Some(Mismatch::Region);
        }
        if self.zones.as_ref().is_some_and(|list| !cluster.zones.iter().any(|z| list.contains(z))) {
            return Some(Mismatch::Zone);
        }
        (!self.labels.matches(&cluster.labels)).then_some(Mismatch::Labels)
    }

    /// Whether a cluster matches.
    #[must_use]
    pub fn matches(&self, cluster: &Cluster) -> bool {
        self.mismatch(cluster).is_none()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Excluded => "excluded",
            Self::NotNamed => "not in names",
            Self::Labels => "label mismatch",
            Self::Provider => "other provider",
            Self::Region => "other region",
            Self::Zone => "other zone",
        })
    }
}
