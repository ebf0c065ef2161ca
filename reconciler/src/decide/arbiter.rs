//! The only place that sees more than one cause: which of several proposals comes first.
//!
//! Failover > return > lifecycle > tide > pin > move > capacity > observed > settle: what keeps things running before what changes them, and
//! what people merged before what only tidies up. One commit at a time, so that the next is decided on what it left.

use super::causes::{capacity, failover, moves, observed, pin, returning, settle, tide};
use super::{DecideError, Live, Planned, Proposal, Report, Urgency, View};
use crate::commit::Cause;
use crate::instant;

/// All proposals, the first to be taken first.
pub(super) fn ranked(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Vec<Proposal>, DecideError> {
    let mut proposals = Vec::new();
    proposals.extend(failover::propose(view, reports)?);
    proposals.extend(returning::propose(view, reports)?);
    proposals.extend(tide::propose(view, reports)?);
    proposals.extend(pin::propose(view, reports)?);
    proposals.extend(moves::propose(view, reports)?);
    proposals.extend(capacity::propose(view, reports)?);
    proposals.extend(observed::propose(view, reports)?);
    proposals.extend(settle::propose(view));
    proposals.sort_by_key(|proposal| rank(proposal.cause));
    Ok(proposals)
}

/// Whether a person told to leave this decision alone for now.
pub(super) fn is_on_hold(view: &View<'_>, planned: &Planned, reports: &mut Vec<Report>) -> bool {
    let Some(live) = &view.situation.live else { return false };
    if planned.cause == Cause::Settle && was_taken_back(live, &planned.key) {
        let text = format!("`{}` was taken back: it holds until something else is decided", planned.subject());
        reports.push(Report::new(Urgency::Waits, text));
        return true;
    }
    let holds = live.state.holds.as_slice();
    // An instant that cannot be read never passes.
    let is_over = |until: &str| instant::parse(until).is_some_and(|until| until <= view.situation.now_secs);
    let Some(hold) = holds.iter().find(|hold| hold.key == planned.key && !is_over(&hold.until)) else { return false };
    let reason = hold.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let text = format!("`{}` is held until {} by {}{reason}", planned.subject(), hold.until, hold.by);
    reports.push(Report::new(Urgency::Waits, text));
    true
}

/// Whether the last decision was this one: nobody but a person can have changed what it left.
fn was_taken_back(live: &Live<'_>, key: &str) -> bool {
    let decided = live.history.iter().filter_map(|commit| commit.trailers.as_ref());
    decided
        .filter(|trailers| trailers.cause != Cause::Undo)
        .map(|trailers| &trailers.key)
        .next()
        .is_some_and(|k| k == key)
}

fn rank(cause: Cause) -> u8 {
    match cause {
        Cause::Promote
        | Cause::Undo
        | Cause::Suspend
        | Cause::Resume
        | Cause::Approve
        | Cause::Rebalance
        | Cause::Preempt => 0,
        Cause::Failover => 1,
        Cause::Return => 2,
        Cause::Lifecycle => 3,
        Cause::Tide => 4,
        Cause::Pin => 5,
        Cause::Move => 6,
        Cause::Capacity => 7,
        Cause::Observed => 8,
        Cause::Settle => 9,
    }
}
