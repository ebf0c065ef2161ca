//! A person accepts that others give way to an app.

use std::collections::BTreeSet;

use fleetwright_compiler::base::SmolStr;

use super::moved::moves_text;
use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::planned::write_placements;
use crate::decide::{Proposal, key};

/// Accepts what the plan proposes for an app: its victims are lowered, and it is placed.
///
/// # Errors
/// When there is no such app, or nothing is proposed for it.
pub fn preempt(desk: &Desk<'_>, app: &str) -> Result<Proposal, OrderError> {
    let (team, name) = desk.app(app)?;
    let fleet = &desk.current.fleet;
    let id = fleet.app_id(&team, &name);
    let mut proposals = desk.current.preemptions.iter().filter(|of| Some(of.app) == id);
    let Some(found) = proposals.next() else {
        return Err(OrderError::Guarded(format!(
            "nothing is proposed for App {team}/{name}: it is placed, its priority class does not say \
             `preemptionPolicy: PreemptLowerPriority`, or no replicas of lower priority would help"
        )));
    };
    let mut placed = desk.current.record.apps.clone();
    placed.extend(found.placed.clone());
    let mut record = desk.live.record.clone();
    write_placements(&mut record, desk.current, &placed)?;
    let only: BTreeSet<(SmolStr, SmolStr)> = found.placed.keys().cloned().collect();
    let key = key(Cause::Preempt, &[&team, &name, &desk.now()]);
    let proposal = desk.proposal(Cause::Preempt, key, format!("Preempt for {team}/{name}"), record);
    let body = moves_text(&desk.current.record.apps, &found.placed);
    Ok(Proposal { body, only: Some(only), ..proposal })
}
