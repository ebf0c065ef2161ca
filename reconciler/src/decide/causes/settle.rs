//! What is recorded asks for other placements than are recorded: somebody edited `state/`, or room came back for what was
//! short.

use fleetwright_compiler::schedule::Scenario;

use crate::commit::Cause;
use crate::decide::{Intents, Proposal, View};

/// The placements that follow from what is live.
#[must_use]
pub fn propose(view: &View<'_>) -> Option<Proposal> {
    let live = view.situation.live.as_ref()?;
    // One that does not compile was reported.
    view.current?;
    Some(Proposal {
        cause: Cause::Settle,
        key: None,
        steps: Vec::new(),
        subject: "Place what the record asks for".to_owned(),
        body: String::new(),
        intents: Intents::Live,
        record: live.record.clone(),
        scenario: Scenario::default(),
        only: None,
        person: None,
    })
}
