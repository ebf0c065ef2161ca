//! What should run where: a pure function of the fleet, its variants and the record.
//!
//! A *pass* books the record, releases what must leave and gives each open app its turn (`phases`); passes are repeated
//! until one changes nothing. A turn filters, selects, divides and books (`filter`, `select`, `decide`).
//!
//! Invariants: total orders everywhere, the last tie-break is the name; integers only; the target scheduled again changes
//! nothing; finding no candidate never clears a placement; `check` verifies every schedule independently.
//! The next filter goes into `filter`, with a [`Verdict`]; the next strategy into `divide`; the next reason why replicas
//! leave into `filter` (a release) and into `phases::open`.

mod beyond;
pub mod check;
mod conditions;
mod decide;
mod deficit;
mod explain;
mod filter;
#[cfg(test)]
pub(crate) mod fixture;
mod full;
mod groups;
mod headroom;
mod held;
mod homes;
mod ledger;
mod losses;
mod phases;
mod placed;
mod preempt;
pub mod quota;
mod rooms;
mod scope;
pub mod select;
mod stage;
mod state;
mod target;
#[cfg(test)]
mod tests;
mod transfers;
mod verdict;
mod view;

pub use beyond::{Booked, booked_as_observed};
pub use deficit::{Deficit, RefusedThere};
pub use explain::{Arithmetic, Explained, Misfit, PoolThere, QuotaUse, ShareThere, WorkloadThere, explain};
pub(crate) use groups::leaders;
pub use headroom::{Beside, Headroom, headroom};
pub use held::{intent, moving};
pub use losses::{AtRest, Outcome};
pub use placed::placed;
pub use preempt::{Preemption, Victim, preemptions};
pub use target::{AppTarget, BelowWeight, Displaced, Growing, InFull, Overdrawn, Seat, Target, Verdict};

use std::collections::BTreeSet;

use crate::base::{AppId, SmolStr};
use crate::model::Fleet;
use crate::placements::Record;
use crate::tide::Timestamp;
use crate::variants::Variants;

use ledger::Ledger;
use stage::{Stage, Stand};
use state::AppState;
use view::View;

/// What a compile supposes besides what is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// Clusters supposed to be lost.
    pub lose: BTreeSet<SmolStr>,
    /// Apps that leave a cluster, as (team, app, cluster): they go where they find a place, and what finds none, or is
    /// bound to its data, stays.
    pub evict: BTreeSet<(SmolStr, SmolStr, SmolStr)>,
    /// The instant whose phases of tides count; `None`: those of the record.
    pub instant: Option<Timestamp>,
    /// Whether everything that is recorded stays exactly as it is: what a record says, and nothing that follows from it.
    pub as_recorded: bool,
}

/// More passes than any fleet needs: after the first, an app changes only for more replicas than it had.
const MAX_PASSES: usize = 64;

/// Decides what should run where.
#[must_use]
pub fn schedule(fleet: &Fleet, variants: &Variants, record: &Record, scenario: &Scenario) -> Target {
    let (view, ledger, apps) = begin(fleet, variants, record, scenario);
    let mut stage = Stage::new(&view, Stand::new(&view, ledger, apps));
    let settled = settle(&mut stage).is_some();
    transfers::ask_quotas(&mut stage, record);
    Target { settled, ..target::target(&mut stage) }
}

/// What scheduling knows and begins with: nothing is booked yet.
fn begin<'a>(
    fleet: &'a Fleet,
    variants: &'a Variants,
    record: &'a Record,
    scenario: &Scenario,
) -> (View<'a>, Ledger, Vec<AppState>) {
    let pools = rooms::pools(fleet, record);
    let mut apps = state::read(fleet, record, &pools);
    let held = held::held(fleet, variants, record, scenario);
    for id in &held {
        apps[id.index()].forget_gone_pools();
    }
    let moving = state::targets(fleet, record, &moving(fleet, variants, record, scenario), &pools);
    let mut ledger = Ledger::new(pools);
    let view = View::new(fleet, variants, record, scenario, &mut ledger).holding(held, moving);
    (view, ledger, apps)
}

/// Passes until one changes nothing: the apps that took a turn in it. `None` where none does.
fn settle(stage: &mut Stage<'_, '_>) -> Option<Vec<AppId>> {
    // the first begins with what is recorded
    let mut before = None;
    for _ in 0..MAX_PASSES {
        let open = phases::pass(stage);
        if stage.apps == *before.as_ref().unwrap_or(&stage.recorded) {
            return Some(open);
        }
        before = Some(stage.apps.clone());
    }
    None
}
