//! A person has apps placed afresh.

use std::collections::BTreeSet;

use fleetwright_compiler::base::AppId;
use fleetwright_compiler::rebalance::{Budget, Rebalance, World, rebalance as afresh};
use fleetwright_compiler::what_if::settled;
use fleetwright_compiler::{Compiled, model::Fleet};

use super::moved::moves_text;
use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::planned::write_placements;
use crate::decide::{DecideError, Proposal, key, stepped};

/// Places apps afresh, as far as the budget goes. Where nothing moves, the proposal changes nothing.
///
/// # Errors
/// When no app is selected.
pub fn rebalance(
    desk: &Desk<'_>,
    select: &dyn Fn(&Fleet) -> BTreeSet<AppId>,
    budget: Budget,
) -> Result<(Proposal, Rebalance), OrderError> {
    let selected = select(&desk.current.fleet);
    if selected.is_empty() {
        return Err(OrderError::Wrong("no App of what is live is selected".to_owned()));
    }
    let found = of(desk.current, &selected, budget);
    let mut placed = desk.current.record.apps.clone();
    placed.extend(found.placed.clone());
    let mut record = desk.live.record.clone();
    write_placements(&mut record, desk.current, &placed)?;
    // What was on a move goes from where it is; what that raised is waited for all the same.
    for name in found.placed.keys() {
        record.remove(&stepped::path(desk.current.record.recorded_name(name)).map_err(DecideError::from)?);
    }
    let apps = found.placed.len();
    let subject = match found.placed.keys().next() {
        Some((team, app)) if apps == 1 => format!("Rebalance {team}/{app}"),
        _ => format!("Rebalance {apps} apps"),
    };
    let key = key(Cause::Rebalance, &[&subject, &desk.now()]);
    let moves = moves_text(&desk.current.record.apps, &found.placed);
    let body = format!("{} of {} replicas move.\n\n{moves}", found.moved, found.running);
    let proposal = desk.proposal(Cause::Rebalance, key, subject, record);
    Ok((Proposal { body, only: Some(found.placed.keys().cloned().collect()), ..proposal }, found))
}

/// The rebalance of a compile, from its target as if that had been reached.
#[must_use]
pub fn of(compiled: &Compiled, selected: &BTreeSet<AppId>, budget: Budget) -> Rebalance {
    let Compiled { fleet, variants, record, target, .. } = compiled;
    let settled = settled(fleet, record, target);
    afresh(&World { fleet, variants, settled: &settled }, selected, budget)
}
