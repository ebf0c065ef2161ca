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
    /// Where the name is written.
    pub name_span: Span,
    /// Where the kind is written.
    pub kind_span: Span,
    /// Where the namespace is written; `None` where the manifest states none.
    pub namespace_span: Option<Span>,
}

/// A custom kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// Its API group.
    pub group: SmolStr,
    /// Its name.
    pub kind: SmolStr,
    /// Whether its objects lie in namespaces.
    pub namespaced: bool,
}
