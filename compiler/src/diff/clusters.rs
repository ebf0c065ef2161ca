//! What differs in the clusters themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::Compiled;
use crate::api::Lifecycle;
use crate::base::SmolStr;
use crate::model::Cluster;
use crate::placements::{Observed, OutageState};

/// A cluster that came, went, or is not what it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClusterDiff {
    /// Its name.
    pub cluster: SmolStr,
    /// What differs.
    pub edits: Vec<ClusterEdit>,
}

/// What differs in a cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "edit", rename_all_fields = "camelCase")]
pub enum ClusterEdit {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// The lifecycle that counts: the stricter of file and record.
    Lifecycle {
        /// What it was.
        before: Lifecycle,
        /// What it is.
        after: Lifecycle,
    },
    /// Whether it answers.
    Outage {
        /// What it was.
        before: OutageState,
        /// What it is.
        after: OutageState,
    },
    /// A new taint: `key=value:effect`.
    TaintAdded {
        /// The taint.
        taint: String,
    },
    /// A taint that is gone.
    TaintRemoved {
        /// The taint.
        taint: String,
    },
    /// Labels, provider, region or zones.
    Labels,
    /// Node pools, reserves or overcommit, as stated or as observed.
    Capacity,
    /// The APIs it serves.
    Apis,
    /// The values that overrides use.
    Values,
}

/// All clusters that differ, by name.
pub(super) fn cluster_diffs(base: &Compiled, head: &Compiled) -> Vec<ClusterDiff> {
    let names: BTreeSet<&SmolStr> = base.fleet.clusters.iter().chain(&head.fleet.clusters).map(|c| &c.name).collect();
    let diffs = names.into_iter().map(|name| {
        let edits = match (Facts::of(base, name), Facts::of(head, name)) {
            (None, None) => Vec::new(),
            (None, Some(_)) => vec![ClusterEdit::Added],
            (Some(_), None) => vec![ClusterEdit::Removed],
            (Some(before), Some(after)) => before.edits(&after),
        };
        ClusterDiff { cluster: name.clone(), edits }
    });
    diffs.filter(|diff| !diff.edits.is_empty()).collect()
}

/// A cluster as its file and the record state it together.
struct Facts<'c> {
    cluster: &'c Cluster,
    observed: Option<&'c Observed>,
}

impl<'c> Facts<'c> {
    fn of(compiled: &'c Compiled, name: &SmolStr) -> Option<Self> {
        let id = compiled.fleet.cluster_id(name)?;
        Some(Self { cluster: compiled.fleet.cluster(id), observed: compiled.record.clusters.get(name) })
    }

    fn edits(&self, after: &Self) -> Vec<ClusterEdit> {
        let mut edits = Vec::new();
        if self.lifecycle() != after.lifecycle() {
            edits.push(ClusterEdit::Lifecycle { before: self.lifecycle(), after: after.lifecycle() });
        }
        if self.outage() != after.outage() {
            edits.push(ClusterEdit::Outage { before: self.outage(), after: after.outage() });
        }
        let (had, has) = (self.taints(), after.taints());
        edits.extend(has.difference(&had).map(|taint| ClusterEdit::TaintAdded { taint: taint.clone() }));
        edits.extend(had.difference(&has).map(|taint| ClusterEdit::TaintRemoved { taint: taint.clone() }));
        let (a, b) = (self.cluster, after.cluster);
        if (&a.labels, &a.provider, &a.region, &a.zones) != (&b.labels, &b.provider, &b.region, &b.zones) {
            edits.push(ClusterEdit::Labels);
        }
        let observed = |facts: &Self| facts.observed.and_then(|o| o.capacity.clone());
        if (&a.pools, &a.overcommit, &a.reserved) != (&b.pools, &b.overcommit, &b.reserved)
            || observed(self) != observed(after)
        {
            edits.push(ClusterEdit::Capacity);
        }
        if a.apis != b.apis {
            edits.push(ClusterEdit::Apis);
        }
        if a.values != b.values {
            edits.push(ClusterEdit::Values);
        }
        edits
    }

    fn lifecycle(&self) -> Lifecycle {
        let observed = self.observed.and_then(|o| o.lifecycle).unwrap_or(Lifecycle::Active);
        self.cluster.lifecycle.max(observed)
    }

    fn outage(&self) -> OutageState {
        self.observed.and_then(|o| o.outage).unwrap_or(OutageState::Ready)
    }

    fn taints(&self) -> BTreeSet<String> {
        let observed = self.observed.into_iter().flat_map(|o| &o.taints);
        self.cluster.taints.iter().chain(observed).map(ToString::to_string).collect()
    }
}

impl ClusterEdit {
    /// Whether it can make a cluster take more replicas (`grows`), or else fewer.
    pub(super) fn explains(&self, grows: bool) -> bool {
        // a NoSchedule taint vetoes, a PreferNoSchedule does not
        let vetoes = |taint: &str| !taint.ends_with(":PreferNoSchedule");
        match self {
            Self::Added => grows,
            Self::Removed => !grows,
            Self::Lifecycle { before, after } => (after < before) == grows,
            Self::Outage { after, .. } => (*after == OutageState::Ready) == grows,
            Self::TaintAdded { taint } => !grows && vetoes(taint),
            Self::TaintRemoved { taint } => grows && vetoes(taint),
            Self::Labels | Self::Capacity | Self::Apis => true,
            Self::Values => false,
        }
    }
}

/// The edits by cluster.
pub(super) fn by_name(diffs: &[ClusterDiff]) -> BTreeMap<&SmolStr, &[ClusterEdit]> {
    diffs.iter().map(|diff| (&diff.cluster, diff.edits.as_slice())).collect()
}

impl fmt::Display for ClusterEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added => f.write_str("new cluster"),
            Self::Removed => f.write_str("cluster removed"),
            Self::Lifecycle { before, after } => {
                write!(f, "lifecycle {} -> {}", lifecycle_name(*before), lifecycle_name(*after))
            }
            Self::Outage { before, after } => write!(f, "{} -> {}", outage_name(*before), outage_name(*after)),
            Self::TaintAdded { taint } => write!(f, "new taint {taint}"),
            Self::TaintRemoved { taint } => write!(f, "taint {taint} removed"),
            Self::Labels => f.write_str("labels, provider, region or zones changed"),
            Self::Capacity => f.write_str("capacity changed"),
            Self::Apis => f.write_str("served APIs changed"),
            Self::Values => f.write_str("values changed"),
        }
    }
}

fn lifecycle_name(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Active => "Active",
        Lifecycle::Cordoned => "Cordoned",
        Lifecycle::Draining => "Draining",
        Lifecycle::Retired => "Retired",
    }
}

fn outage_name(outage: OutageState) -> &'static str {
    match outage {
        OutageState::Ready => "Ready",
        OutageState::Lost => "Lost",
        OutageState::Quarantined => "Quarantined",
    }
}
