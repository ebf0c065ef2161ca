//! A cluster, its pools and what it serves.

use std::collections::BTreeMap;

use crate::api::{ClusterMode, Lifecycle};
use crate::base::labels::Labels;
use crate::base::taint::Taint;
use crate::base::{FileId, Resources, SmolStr, Span};

/// A cluster as its file states it. What was observed of it is in the record.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// Who runs it.
    pub provider: Option<SmolStr>,
    /// Its region.
    pub region: Option<SmolStr>,
    /// Its zones, sorted.
    pub zones: Vec<SmolStr>,
    /// Its labels, the well-known ones filled in.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Its node pools; `None` where capacity is not stated.
    pub pools: Option<Vec<Pool>>,
    /// Factors on allocatable resources as (numerator, denominator).
    pub overcommit: BTreeMap<SmolStr, (u64, u64)>,
    /// Resources that are never booked.
    pub reserved: Resources,
    /// What it serves beyond Kubernetes' own kinds; `None`: everything.
    pub apis: Option<Vec<ServedApi>>,
    /// `${cluster.values.x}`.
    pub values: BTreeMap<SmolStr, SmolStr>,
    /// Whether it takes replicas, as its file says.
    pub lifecycle: Lifecycle,
    /// Whether the applier writes to it.
    pub mode: ClusterMode,
    /// How the reconciler reaches it; `None`: its own configuration says so.
    pub connection: Option<Connection>,
}

/// How the reconciler reaches a cluster: one of the two, and a name only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// A context of the reconciler's kubeconfig.
    pub context: Option<SmolStr>,
    /// A Secret beside the reconciler that holds a kubeconfig.
    pub secret_ref: Option<SmolStr>,
}

/// One API group version of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedApi {
    /// The group; `""` is the core group.
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
    /// Its kinds; `None`: all.
    pub kinds: Option<Vec<SmolStr>>,
}

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: SmolStr,
    /// How many nodes there are.
    pub nodes: u32,
    /// Allocatable resources of one node.
    pub allocatable: Resources,
    /// Node labels.
    pub labels: Labels,
    /// Node taints.
    pub taints: Vec<Taint>,
    /// The node count an autoscaler can grow to.
    pub scalable_to: Option<u32>,
}
