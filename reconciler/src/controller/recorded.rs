//! What the live branch records, compiled, and nothing that would follow from it.
//!
//! Where a record asks for other placements than it has, because somebody changed it by hand or took a decision back, what is
//! recorded counts; an app of which nothing is recorded is wanted nowhere and gone from nowhere. What follows is the decider's to
//! write down first.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::moves::is_there;
use fleetwright_compiler::placements::PlacedApp;
use fleetwright_compiler::schedule::{self, Scenario};
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Compiled, Session, compile};

use super::wanted::{WantedError, app_name};
use crate::apply::inventory::AppName;
use crate::decide::{DecideError, refusal_text, write_placements};
use crate::ports::CommitId;
use crate::record_files::RecordFiles;
use crate::seen::SeenLive;

/// What is recorded.
pub(super) struct Recorded {
    pub compiled: Compiled,
    /// Apps of the fleet that have no block in `placements/`. One that is placed nowhere has one.
    pub unrecorded: BTreeSet<AppName>,
}

impl Recorded {
    /// Compiles what the live commit `tip` records.
    ///
    /// # Errors
    /// When it cannot be read, or does not compile.
    pub fn read(session: &Session, live: &SeenLive, tip: &CommitId) -> Result<Self, WantedError> {
        let compiled = compile_with(session, live, &live.record, &Scenario::default(), tip)?;
        let fleet = &compiled.fleet;
        let names = fleet.app_ids().map(|id| app_name(fleet, id));
        let unrecorded: BTreeSet<AppName> = names.filter(|name| !compiled.record.apps.contains_key(name)).collect();
        let target = schedule::placed(fleet, &compiled.target);
        let is_settled = |(name, now): (&AppName, &PlacedApp)| {
            target.get(name).is_none_or(|target| is_there(now, target) && now.clusters == target.clusters)
        };
        if unrecorded.is_empty() && compiled.record.apps.iter().all(is_settled) {
            return Ok(Self { compiled, unrecorded });
        }
        let mut record = live.record.clone();
        if !unrecorded.is_empty() {
            let nowhere = PlacedApp { place: None, tier: None, clusters: Vec::new(), workloads: BTreeMap::new() };
            let mut placed = compiled.record.apps.clone();
            placed.extend(unrecorded.iter().map(|name| (name.clone(), nowhere.clone())));
            write_placements(&mut record, &compiled, &placed)?;
        }
        let as_recorded = Scenario { as_recorded: true, ..Scenario::default() };
        Ok(Self { compiled: compile_with(session, live, &record, &as_recorded, tip)?, unrecorded })
    }
}

fn compile_with(
    session: &Session,
    live: &SeenLive,
    record: &RecordFiles,
    scenario: &Scenario,
    tip: &CommitId,
) -> Result<Compiled, WantedError> {
    let record = record.tree();
    let overlay = Overlay::with_record(&*live.pinned, &record);
    match compile(session, &overlay, scenario) {
        Ok(compiled) => Ok(compiled),
        Err(CompileError::Refused(refusal)) => {
            Err(WantedError::Refused { commit: tip.clone(), text: refusal_text(&overlay, &refusal) })
        }
        Err(CompileError::Files(error)) => Err(DecideError::from(error).into()),
        Err(CompileError::Bug(violations)) => Err(DecideError::Bug(violations).into()),
    }
}
