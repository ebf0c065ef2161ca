//! A person declares a cluster lost, or ready again.

use fleetwright_compiler::placements::{OutageDoc, OutageState};

use super::{Desk, OrderError};
use crate::commit::Cause;
use crate::decide::causes::failover::{declared, evicting, movable};
use crate::decide::causes::returning::declare_ready;
use crate::decide::{Proposal, key};

/// Declares a cluster lost: its apps go where they find a place, whatever they tolerate. `again`: although a failover of
/// this epoch was taken back.
///
/// # Errors
/// When there is no such cluster, it is lost already, or its failover was taken back and nobody said `again`.
pub fn failover(desk: &Desk<'_>, cluster: &str, again: bool) -> Result<Proposal, OrderError> {
    let name = &desk.cluster(cluster)?.name;
    let state = &desk.live.state;
    let epoch = state.epoch(name);
    let lost = state.outages.get(name).filter(|outage| outage.state == OutageState::Lost);
    let leaving: std::collections::BTreeSet<_> = movable(desk.current, name).map(|(app, _)| app).collect();
    if lost.is_some() && leaving.is_empty() {
        return Err(OrderError::Guarded(format!(
            "cluster {name} is declared lost, and nothing that can move is left there"
        )));
    }
    let first = declared(name, epoch);
    let (number, now) = (epoch.to_string(), desk.now());
    let is_used = desk.live.has_key(&first);
    let is_ready = state.outages.get(name).is_none_or(|outage| outage.state == OutageState::Ready);
    if is_used && is_ready && !again {
        return Err(OrderError::Guarded(format!(
            "cluster {name} failed over in this epoch ({epoch}) before, and that was taken back; `fleetwright failover \
             {name} --again` does it all the same"
        )));
    }
    let key = if is_used { key(Cause::Failover, &[name, &number, "again", &now]) } else { first };
    let outage = OutageDoc {
        state: OutageState::Lost,
        epoch: Some(epoch),
        since: lost.and_then(|lost| lost.since.clone()).or(Some(now)),
        by: Some(desk.person.name.as_str().into()),
    };
    let text = (key, format!("Fail over from {name}: {} says so", desk.person.name), format!("Epoch {epoch}."));
    let proposal = evicting(desk.live, name, &outage, leaving, text)?;
    Ok(Proposal { person: Some(desk.person.clone()), ..proposal })
}

/// Declares a cluster ready that was declared lost. Nothing moves back by itself.
///
/// # Errors
/// When there is no such cluster, or it is not declared lost.
pub fn failback(desk: &Desk<'_>, cluster: &str) -> Result<Proposal, OrderError> {
    let name = &desk.cluster(cluster)?.name;
    let outage = desk.live.state.outages.get(name).filter(|outage| outage.state != OutageState::Ready);
    let Some(outage) = outage else {
        return Err(OrderError::Guarded(format!(
            "cluster {name} is not declared lost, so there is nothing to take back"
        )));
    };
    let body = format!("{} says so. Nothing moves back by itself.", desk.person.name);
    let proposal = declare_ready(desk.live, name, outage.epoch.unwrap_or(0), &body)?;
    Ok(Proposal { person: Some(desk.person.clone()), ..proposal })
}
