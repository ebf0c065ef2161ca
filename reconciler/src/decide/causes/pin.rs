//! A newer commit of the intents goes live.
//!
//! What it brings applies at once, placements included, but for replicas that change their cluster where their app says in
//! which steps. One that does not compile leaves the live branch where it is, and so does one that a person took back there.

use fleetwright_compiler::placements::{DeciderDoc, PinDoc};
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::RepoPath;

use crate::commit::Cause;
use crate::decide::{DecideError, Intents, Proposal, Report, Urgency, View, key};

/// The newest commit of the intents, where it is not live yet.
///
/// # Errors
/// None but our own mistakes.
pub fn propose(view: &View<'_>, reports: &mut Vec<Report>) -> Result<Option<Proposal>, DecideError> {
    let situation = view.situation;
    let main = &situation.main;
    let live = situation.live.as_ref();
    if live.is_some_and(|live| live.pin == main.id) {
        return Ok(None);
    }
    if let Some(live) = live.filter(|_| !main.is_forward) {
        reports.push(Report::new(
            Urgency::Guarded,
            format!(
                "{} of the intents does not contain {}, which is live: their history was rewritten, and nothing goes \
                 back by itself. Merge or revert on the intents' branch so that it contains {} again",
                main.id.short(),
                live.pin.short(),
                live.pin.short()
            ),
        ));
        return Ok(None);
    }
    let key = key(Cause::Pin, &[&main.id.0]);
    if let Some(live) = live.filter(|live| live.has_key(&key)) {
        reports.push(Report::new(
            Urgency::Guarded,
            format!(
                "{} of the intents was live and was taken back on the live branch: {} stays live until there is a newer \
                 commit of the intents. Revert it there as well, or revert its revert on the live branch",
                main.id.short(),
                live.pin.short()
            ),
        ));
        return Ok(None);
    }
    let mut record = live.map(|live| live.record.clone()).unwrap_or_default();
    record.put_state(RepoPath::new("state/pin.yaml")?, &PinDoc { main: main.id.0.clone() });
    if live.is_none_or(|live| live.state.decider.is_none()) {
        let decider = DeciderDoc { term: situation.term(), holder: situation.identity.holder.clone() };
        record.put_state(RepoPath::new("state/decider.yaml")?, &decider);
    }
    Ok(Some(Proposal {
        cause: Cause::Pin,
        key: Some(key),
        steps: Vec::new(),
        subject: format!("Apply {} of the intents", main.id.short()),
        body: String::new(),
        intents: Intents::Newest,
        record,
        scenario: Scenario::default(),
        only: None,
        person: None,
    }))
}
