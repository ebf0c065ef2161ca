//! The only place that sees more than one cause: which of several proposals comes first.
//!
//! Failover > return > lifecycle > tide > pin > capacity > settle: what keeps things running before what changes them, and
//! what people merged before what only tidies up. One commit at a time, so that the next is decided on what it left.

use super::causes::{pin, settle};
use super::{DecideError, Proposal, Report, View};
use crate::commit::Cause;

/// All proposals, the first to be taken first.
pub(super) fn ranked(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Vec<Proposal>, DecideError> {
    let mut proposals = Vec::new();
    proposals.extend(pin::propose(view, reports)?);
    proposals.extend(settle::propose(view));
    proposals.sort_by_key(|proposal| rank(proposal.cause));
    Ok(proposals)
}

fn rank(cause: Cause) -> u8 {
    match cause {
        Cause::Promote | Cause::Undo | Cause::Suspend | Cause::Approve => 0,
        Cause::Failover => 1,
        Cause::Return => 2,
        Cause::Lifecycle => 3,
        Cause::Tide => 4,
        Cause::Pin => 5,
        Cause::Capacity => 6,
        Cause::Settle => 7,
    }
}
