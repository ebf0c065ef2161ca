//! A person has apps placed afresh.

use std::collections::BTreeSet;

use fleetwright_compiler::base::AppId;
use fleetwright_compiler::rebalance::{Budget, Left, Rebalance, World, rebalance as afresh};
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
/// When no app is selected, or nothing of those that are is recorded.
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
    if let Some(text) = nothing_recorded(&desk.current.fleet, &selected, &found) {
        return Err(OrderError::Guarded(format!("{text}; `fleetwright advance` records what `main` says")));
    }
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

/// The rebalance of a compile, from its target as if that had been reached. What is not recorded has no place to leave: where
/// it goes is the plan's to say.
#[must_use]
pub fn of(compiled: &Compiled, selected: &BTreeSet<AppId>, budget: Budget) -> Rebalance {
    let Compiled { fleet, variants, record, target, .. } = compiled;
    let settled = settled(fleet, record, target);
    let is_recorded = |id: &AppId| {
        let app = fleet.app(*id);
        record.apps.contains_key(&(fleet.team(app.team).name.clone(), app.name.clone()))
    };
    let (recorded, unrecorded): (BTreeSet<AppId>, BTreeSet<AppId>) = selected.iter().partition(|id| is_recorded(id));
    let mut found = afresh(&World { fleet, variants, settled: &settled }, &recorded, budget);
    found.left.extend(unrecorded.into_iter().map(|id| (id, Left::Unrecorded)));
    found.left.sort_unstable();
    found
}

/// That nothing of the selected apps is recorded, where that is so: then there is nothing to place afresh.
#[must_use]
pub fn nothing_recorded(fleet: &Fleet, selected: &BTreeSet<AppId>, found: &Rebalance) -> Option<String> {
    let unrecorded = found.left.iter().filter(|(_, why)| *why == Left::Unrecorded).count();
    if unrecorded < selected.len() {
        return None;
    }
    let which = match selected.iter().next() {
        Some(only) if selected.len() == 1 => fleet.app_name(*only),
        _ => format!("the {} apps that are selected", selected.len()),
    };
    Some(format!("placements/ says nothing of {which}, so nothing runs that could move"))
}
