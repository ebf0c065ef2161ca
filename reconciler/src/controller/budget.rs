//! The budget of deletions over all clusters together: what each may delete alone can be too much in sum.
//!
//! It is judged on what the last turns found, so it stops what is left of a deletion that began; the budget of each cluster
//! stops the whole of one there.

use std::collections::BTreeMap;

use fleetwright_compiler::base::SmolStr;

use super::turn::Turn;
use super::wanted::Wanted;
use crate::apply::budget::deletion_hash;
use crate::apply::view::FleetStop;

/// The stop, where one is needed.
#[must_use]
pub fn over_all(wanted: &Wanted, turns: &BTreeMap<SmolStr, Turn>, now_secs: i64) -> Option<FleetStop> {
    let doomed = turns.values().filter_map(|turn| Some((turn.seen.uid.as_deref()?, &turn.doomed)));
    let doomed: Vec<_> = doomed.flat_map(|(uid, keys)| keys.iter().map(move |key| (uid, key))).collect();
    let all = turns.values().map(|turn| turn.applied_objects).sum();
    let allowed = wanted.budget().allows(all);
    if doomed.len() <= allowed {
        return None;
    }
    let hash = deletion_hash(doomed.iter().copied());
    (!wanted.approvals().has(&hash, now_secs)).then_some(FleetStop { hash, objects: doomed.len(), allowed })
}
