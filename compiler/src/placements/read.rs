//! Reading the record.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::state::{
    AppDoc, ApprovalDoc, CapacityDoc, DeciderDoc, EstimateDoc, FenceDoc, HoldDoc, LifecycleDoc, MoveDoc, OutageDoc,
    PinDoc, TaintDoc, TideDoc,
};
use super::{StateForm, Written};
use crate::api::API_VERSION;
use crate::base::{SmolStr, Spanned};
use crate::diag::{Finding, codes};
use crate::yaml::{self, Node};

/// A document of the record.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordDoc {
    /// `placements/<team>.yaml`
    Placements(PlacementsDoc),
    /// `state/capacity/<cluster>.yaml`
    Capacity(CapacityDoc),
    /// `state/taints/<cluster>.yaml`
    Taints(Vec<Spanned<TaintDoc>>),
    /// `state/lifecycle/<cluster>.yaml`
    Lifecycle(LifecycleDoc),
    /// `state/outages/<cluster>.yaml`
    Outage(OutageDoc),
    /// `state/tides.yaml`, by tide.
    Tides(BTreeMap<SmolStr, TideDoc>),
    /// `state/suspended.yaml`: apps as `team/app`.
    Suspended(Vec<Written>),
    /// `state/estimates/<name>.yaml`
    Estimates(Vec<EstimateDoc>),
    /// `state/moves/<team>/<app>.yaml`
    Move(MoveDoc),
    /// `state/apps/<team>/<app>.yaml`
    App(AppDoc),
    /// `state/decider.yaml`
    Decider(DeciderDoc),
    /// `state/pin.yaml`
    Pin(PinDoc),
    /// `state/holds.yaml`
    Holds(Vec<HoldDoc>),
    /// `state/fences/<cluster>.yaml`
    Fence(FenceDoc),
    /// `state/approvals/<hash>.yaml`
    Approval(ApprovalDoc),
}

/// `kind: Placements`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacementsDoc {
    /// The version.
    pub api_version: Spanned<SmolStr>,
    /// `Placements`.
    pub kind: Spanned<SmolStr>,
    /// The apps of the team that the file is named after.
    pub apps: Vec<PlacedAppDoc>,
}

/// One app.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacedAppDoc {
    /// Its name.
    pub app: Written,
    /// The tier in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<SmolStr>,
    /// The selected clusters.
    pub clusters: Vec<Written>,
    /// Its workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<PlacedWorkloadDoc>,
}

/// One workload.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacedWorkloadDoc {
    /// `apps/Deployment/checkout`.
    pub workload: Written,
    /// Digest of strategy and weight rules.
    pub weights: SmolStr,
    /// Where it runs.
    #[serde(default)]
    pub seats: Vec<SeatDoc>,
    /// What it gave up for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gave_way: Vec<GaveWayDoc>,
}

/// Replicas that were given up for another app.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GaveWayDoc {
    /// `team/app`
    pub to: Written,
    /// The cluster.
    pub cluster: Written,
    /// How many.
    pub replicas: u32,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SeatDoc {
    /// The cluster.
    pub cluster: Written,
    /// The pool, where more than one was eligible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Written>,
    /// How many.
    pub replicas: u32,
    /// A Job's completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completions: Option<u32>,
    /// Fewest replicas of what an autoscaler owns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Most replicas of what an autoscaler owns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// Reads a document of the record. `form` is `None` for a file of `placements/`. `Ok(None)` is a document that a compile
/// does not look at.
///
/// # Errors
/// When the document is not of a form that this version knows.
pub fn read(node: &Node<'_>, form: Option<StateForm>) -> Result<Option<RecordDoc>, Finding> {
    let body = match form {
        None => typed::<PlacementsDoc>(node).and_then(|placements| {
            if placements.api_version.as_str() == API_VERSION && placements.kind.as_str() == "Placements" {
                return Ok(RecordDoc::Placements(placements));
            }
            let (written, wanted) = if placements.api_version.as_str() == API_VERSION {
                (&placements.kind, "Placements")
            } else {
                (&placements.api_version, API_VERSION)
            };
            let message = format!("`{}` is not known here; expected `{wanted}`", written.value);
            Err(Finding::new(codes::record::UNKNOWN_RECORD, written.span, message)
                .help("a newer fleetwright may have written it: nothing is placed on a guess"))
        }),
        Some(StateForm::Capacity) => typed(node).map(RecordDoc::Capacity),
        Some(StateForm::Taints) => typed(node).map(RecordDoc::Taints),
        Some(StateForm::Lifecycle) => typed(node).map(RecordDoc::Lifecycle),
        Some(StateForm::Outage) => typed(node).map(RecordDoc::Outage),
        Some(StateForm::Tides) => typed(node).map(RecordDoc::Tides),
        Some(StateForm::Suspended) => typed(node).map(RecordDoc::Suspended),
        Some(StateForm::Estimates) => typed(node).map(RecordDoc::Estimates),
        Some(StateForm::Move) => typed(node).map(RecordDoc::Move),
        Some(StateForm::App) => typed(node).map(RecordDoc::App),
        Some(StateForm::Decider) => typed(node).map(RecordDoc::Decider),
        Some(StateForm::Pin) => typed(node).map(RecordDoc::Pin),
        Some(StateForm::Holds) => typed(node).map(RecordDoc::Holds),
        Some(StateForm::Fence) => typed(node).map(RecordDoc::Fence),
        Some(StateForm::Approval) => typed(node).map(RecordDoc::Approval),
        Some(StateForm::NotForCompile) => return Ok(None),
        Some(StateForm::Unknown) => Err(Finding::new(
            codes::record::STATE_NOT_YET,
            node.head(),
            "this version does not know what this file of `state/` decides",
        )
        .help("use the version of fleetwright that wrote it")),
    };
    body.map(Some)
}

fn typed<T: DeserializeOwned>(node: &Node<'_>) -> Result<T, Finding> {
    yaml::decode(node).map_err(|error| {
        Finding::new(codes::record::UNKNOWN_RECORD, error.span, error.to_string())
            .help("the record is written by fleetwright; a newer version may have written this")
    })
}
