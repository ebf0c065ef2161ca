//! What later stages ask of a manifest without reading its text again.

use crate::base::labels::Labels;
use crate::base::{SmolStr, Span};
use crate::kinds::replicas::{Counts, WorkloadKind};

/// Facts about a manifest.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// `metadata.labels`, for rules and targets.
    pub labels: Labels,
    /// The kind of workload it is.
    pub workload: Option<WorkloadKind>,
    /// Its counts, for a workload.
    pub counts: Counts,
    /// Whether it is a Secret that holds data in the clear.
    pub plaintext_secret: bool,
    /// Whether it says `fleetwright.io/substitute: enabled`.
    pub substitute: bool,
    /// The kind that a CustomResourceDefinition defines.
    pub defines: Option<Defined>,
    /// What a HorizontalPodAutoscaler scales.
    pub autoscaler: Option<Autoscaler>,
    /// Where the name is written.
    pub name_span: Span,
    /// Where the kind is written.
    pub kind_span: Span,
    /// Where the namespace is written; `None` where the manifest states none.
    pub namespace_span: Option<Span>,
}

/// What a HorizontalPodAutoscaler (`autoscaling`, any version) scales, in its own namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    /// The API group of its target.
    pub group: SmolStr,
    /// The kind of its target.
    pub kind: SmolStr,
    /// The name of its target.
    pub name: SmolStr,
    /// `spec.minReplicas`; absent means 1.
    pub min: u32,
    /// `spec.maxReplicas`.
    pub max: u32,
}

/// A custom kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// Its API group.
    pub group: SmolStr,
    /// Its name.
    pub kind: SmolStr,
    /// Its name in the paths of the API (`widgets`).
    pub plural: SmolStr,
    /// Whether its objects lie in namespaces.
    pub namespaced: bool,
}
