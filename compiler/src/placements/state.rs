//! The files of `state/`, as written: one struct each, in the order in which their fields are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{OutageState, PlacedAppDoc, Written};
use crate::api::Lifecycle;
use crate::base::quantity::Quantity;
use crate::base::taint::TaintEffect;
use crate::base::{SmolStr, Spanned};

/// `state/capacity/<cluster>.yaml`: observed capacity.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CapacityDoc {
    /// Of the namespace `kube-system`: the cluster's identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<SmolStr>,
    /// Its pools.
    pub pools: Vec<PoolDoc>,
}

/// One observed pool.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PoolDoc {
    /// Its name.
    pub name: Written,
    /// How many nodes.
    pub nodes: u32,
    /// Allocatable resources of one node.
    pub allocatable: BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>,
    /// What others use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OwnerDoc>,
}

/// What one owner uses of a pool.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OwnerDoc {
    /// `apps/DaemonSet/kube-system/proxy`.
    pub owner: SmolStr,
    /// The sum of its requests.
    pub requests: BTreeMap<Spanned<SmolStr>, Spanned<Quantity>>,
}

/// An item of `state/taints/<cluster>.yaml`: an observed or decided taint.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TaintDoc {
    /// The key.
    pub key: SmolStr,
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<SmolStr>,
    /// The effect.
    pub effect: TaintEffect,
    /// Since when (RFC 3339): the decider counts `tolerationSeconds` from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<SmolStr>,
}

/// An item of `state/estimates/<name>.yaml`: what somebody else says there is room for. It weighs, and does not bound:
/// what fits is what node pools have room for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EstimateDoc {
    /// The team whose apps it is for.
    pub team: Written,
    /// The cluster.
    pub cluster: Written,
    /// The pool; absent: the cluster as a whole. Only pools that an app may use count for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<SmolStr>,
    /// How many replicas; those that run included.
    pub room: u64,
}

/// `state/lifecycle/<cluster>.yaml`: a decided lifecycle.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LifecycleDoc {
    /// The lifecycle.
    pub lifecycle: Lifecycle,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SmolStr>,
}

/// `state/outages/<cluster>.yaml`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OutageDoc {
    /// Whether it answers.
    pub state: OutageState,
    /// How often it was declared Ready again. Rises in the commit that declares Ready, and nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Since when (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<SmolStr>,
    /// The person who declared it; absent where the decider did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SmolStr>,
}

/// `state/decider.yaml`: who decides.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DeciderDoc {
    /// Rises whenever another decider takes over; a lower one stops.
    pub term: u64,
    /// Its name.
    pub holder: SmolStr,
}

/// `state/pin.yaml`: the commit of the intents that is live.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PinDoc {
    /// Its id, as 40 hexadecimal digits.
    pub main: SmolStr,
}

/// An entry of `state/tides.yaml`, by the name of the tide: the phase that the live commit was decided for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TideDoc {
    /// The phase.
    pub phase: SmolStr,
    /// When the phase began (RFC 3339): a reverted step holds until the next window.
    pub window: SmolStr,
}

/// An item of `state/holds.yaml`: a decision that is not to be taken for a while.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HoldDoc {
    /// The key of the decision.
    pub key: SmolStr,
    /// Until when (RFC 3339).
    pub until: SmolStr,
    /// Who said so.
    pub by: SmolStr,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
}

/// `state/fences/<cluster>.yaml`: somebody made sure that nothing runs there any more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FenceDoc {
    /// The cluster's identity, as in its capacity.
    pub uid: SmolStr,
    /// The outage it is about.
    pub epoch: u64,
    /// Who.
    pub by: SmolStr,
}

/// `state/approvals/<hash>.yaml`: what a budget asked for was approved.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ApprovalDoc {
    /// The hash of what is approved.
    pub hash: SmolStr,
    /// Who approved it.
    pub by: SmolStr,
    /// Until when it holds (RFC 3339).
    pub expires: SmolStr,
    /// The commit that used it; added by the decider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<SmolStr>,
}

/// `state/apps/<team>/<app>.yaml`: what was observed of an app.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AppDoc {
    /// By workload (`apps/Deployment/checkout`, as in `placements/`) and cluster.
    pub observed: BTreeMap<Written, BTreeMap<Written, ObservedDoc>>,
}

/// What was observed of a workload in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ObservedDoc {
    /// How many replicas its autoscaler asked for: `spec.replicas` as its API server has it. Booked as room where
    /// `replicas.autoscaled.room` is Observed, within the cluster's share of the autoscaler's bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// Whether a Job ran to its end there. It is read, and nothing follows from it yet: a finished Job keeps its seats and
    /// its room until its App no longer has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<bool>,
}

/// `state/moves/<team>/<app>.yaml`: a move that is made in steps.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MoveDoc {
    /// Why it was begun.
    pub cause: MoveCauseDoc,
    /// Digest of what the target follows from.
    pub intent: SmolStr,
    /// The step it is in.
    pub step: MoveStepDoc,
    /// Where it leads, as the block of the app in `placements/` will be.
    pub target: PlacedAppDoc,
}

/// Why a move was begun.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MoveCauseDoc {
    /// `Tide`, `Pin` and so on, as in the trailers of the commit that began it.
    pub kind: SmolStr,
    /// The key of that commit.
    pub key: SmolStr,
    /// When that was (RFC 3339): the deadline counts from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<SmolStr>,
}

/// A step of a move.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MoveStepDoc {
    /// Which, from 1; 0 while there is no room for the first.
    pub number: u32,
    /// When it was begun (RFC 3339): the pause between steps counts from it.
    pub since: SmolStr,
    /// When the whole move should be done (RFC 3339): what is not Current then is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<SmolStr>,
}
