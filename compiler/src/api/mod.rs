//! The user-visible kinds, one file each. Their doc comments become the JSON Schemas in `schemas/`.
//!
//! Invariants: `apiVersion: fleetwright.io/v1alpha1`; camelCase fields, PascalCase enum values; every struct denies unknown
//! fields; no `flatten`, `untagged` or `tag`, because those buffer and lose spans; every field is used by lowering, or
//! stands in the table of [`not_yet`] and is refused.
//! The next kind goes into a file of its own, a variant of [`Intent`] and a line of [`KINDS`].

mod app;
mod calendar;
mod cluster;
mod fleet;
pub mod not_yet;
mod overrides;
mod placement;
mod policy;
mod priority_class;
pub mod schema;
mod selector;
mod team;
mod tide;
mod values;
mod workload_kind;

pub use app::{
    AppSpec, FailBack, FailoverSpec, HelmSource, ImageSpec, KustomizeSource, ObjectMatch, ObjectRule, PreserveRule,
    SourceSpec, Survive, VariantSpec,
};
pub use calendar::{CalendarDate, CalendarSpec, HolidaySpec, WorkingDaySpec};
pub use cluster::{ApiGroupSpec, ClusterMode, ClusterSpec, ConnectionSpec, Lifecycle, NodePoolSpec};
pub use fleet::{
    AdoptSpec, BranchesSpec, Budget, DecryptionSpec, DefaultsSpec, Drift, FleetFailoverSpec, FleetSpec, LimitsSpec,
    Plaintext, PurgeMode, SecretsSpec,
};
pub use overrides::{EnvValue, OverrideImage, OverrideSpec, OverrideTarget};
pub use placement::{
    AutoscaledReplicas, AutoscaledRoom, Capacity, GroupBy, MoveSpec, MoveWait, PerCluster, PlacementClusters,
    PlacementSpec, QuotaCount, ReplicasSpec, SpreadSpec, Strategy, TierGroup, TierMode, TiersSpec, WeightRule,
};
pub use policy::{OverridePolicySpec, PlacementPolicySpec};
pub use priority_class::{PreemptionPolicy, PriorityClass};
pub use selector::{AppSelector, ClusterSelector};
pub use team::{GroupKind, KindsSpec, NamespaceSpec, QuotaScope, QuotaSpec, TeamSpec};
pub use tide::{AppTide, PhaseSpec, TideDay, TideSpec, TimeOfDay};
pub use values::{Duration, IntOrPercent, Weights};
pub use workload_kind::{ComponentSpec, DependencySpec, DerivedComponents, HealthSpec, WorkloadKindSpec};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::{SmolStr, Spanned};

/// The one API version.
pub const API_VERSION: &str = "fleetwright.io/v1alpha1";
/// The group of [`API_VERSION`]: a document with another version of it is an intent that cannot be read, not a manifest.
pub const API_GROUP: &str = "fleetwright.io";

/// Names and labels of an object.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Metadata {
    /// The name: a DNS-1123 subdomain, unique for its kind (for an App: within its team).
    pub name: Spanned<SmolStr>,
    /// Labels that selectors match.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Spanned<SmolStr>, Spanned<SmolStr>>,
    /// Notes for people and tools; nothing here changes what fleetwright does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<SmolStr, SmolStr>,
}

/// One document of a fleet repository.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Object<S> {
    /// `fleetwright.io/v1alpha1`.
    pub api_version: Spanned<SmolStr>,
    /// The kind.
    pub kind: Spanned<SmolStr>,
    /// Names and labels.
    pub metadata: Metadata,
    /// What is wanted.
    pub spec: S,
}

/// A decoded document of the fleet's own API.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// `kind: Fleet`
    Fleet(Object<FleetSpec>),
    /// `kind: Cluster`
    Cluster(Object<ClusterSpec>),
    /// `kind: Team`
    Team(Object<TeamSpec>),
    /// `kind: App`
    App(Object<AppSpec>),
    /// `kind: PlacementPolicy`
    PlacementPolicy(Object<PlacementPolicySpec>),
    /// `kind: OverridePolicy`
    OverridePolicy(Object<OverridePolicySpec>),
    /// `kind: Tide`
    Tide(Object<TideSpec>),
    /// `kind: Calendar`
    Calendar(Object<CalendarSpec>),
    /// `kind: WorkloadKind`
    WorkloadKind(Object<WorkloadKindSpec>),
    /// `kind: PriorityClass` of `scheduling.k8s.io/v1`
    PriorityClass(PriorityClass),
}

impl Intent {
    /// The kind as written in YAML.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fleet(_) => "Fleet",
            Self::Cluster(_) => "Cluster",
            Self::Team(_) => "Team",
            Self::App(_) => "App",
            Self::PlacementPolicy(_) => "PlacementPolicy",
            Self::OverridePolicy(_) => "OverridePolicy",
            Self::Tide(_) => "Tide",
            Self::Calendar(_) => "Calendar",
            Self::WorkloadKind(_) => "WorkloadKind",
            Self::PriorityClass(_) => "PriorityClass",
        }
    }

    /// Its name and where that is written.
    #[must_use]
    pub fn name(&self) -> &Spanned<SmolStr> {
        match self {
            Self::Fleet(o) => &o.metadata.name,
            Self::Cluster(o) => &o.metadata.name,
            Self::Team(o) => &o.metadata.name,
            Self::App(o) => &o.metadata.name,
            Self::PlacementPolicy(o) => &o.metadata.name,
            Self::OverridePolicy(o) => &o.metadata.name,
            Self::Tide(o) => &o.metadata.name,
            Self::Calendar(o) => &o.metadata.name,
            Self::WorkloadKind(o) => &o.metadata.name,
            Self::PriorityClass(o) => &o.metadata.name,
        }
    }
}

/// The kinds that can be decoded, in the order of the documentation.
pub const KINDS: &[&str] = &[
    "Fleet",
    "Cluster",
    "Team",
    "App",
    "PlacementPolicy",
    "OverridePolicy",
    "Tide",
    "Calendar",
    "WorkloadKind",
    "PriorityClass",
];
