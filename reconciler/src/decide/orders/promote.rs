//! Another decider takes over.

use fleetwright_compiler::placements::DeciderDoc;
use fleetwright_compiler::source::RepoPath;

use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::{Identity, Proposal, key};

/// Makes `holder` the decider, in a higher term: the one before stops at its next push.
///
/// # Errors
/// When the name is none, or it is the decider.
pub fn promote(desk: &Desk<'_>, holder: &str) -> Result<Proposal, OrderError> {
    Identity::check_holder(holder).map_err(|expected| OrderError::Wrong(expected.to_owned()))?;
    let before = desk.live.state.decider.as_ref();
    if before.is_some_and(|decider| decider.holder == holder) {
        return Err(OrderError::Guarded(format!("`{holder}` decides this repository already")));
    }
    let term = before.map_or(0, |decider| decider.term).saturating_add(1);
    let mut record = desk.live.record.clone();
    record.put_state(RepoPath::new("state/decider.yaml")?, &DeciderDoc { term, holder: holder.into() });
    let key = key(Cause::Promote, &[holder, &term.to_string()]);
    Ok(desk.proposal(Cause::Promote, key, format!("Promote {holder} to decider, term {term}"), record))
}
