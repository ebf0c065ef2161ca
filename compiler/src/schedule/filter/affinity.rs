//! The selector of the app, and the clusters its team may use.

use super::{Filter, Question, Release};
use crate::schedule::Verdict;

pub(super) const FILTER: Filter = Filter { veto, release };

fn veto(q: &Question<'_>) -> Option<Verdict> {
    if q.app.placement.candidates.contains(q.cluster) {
        return None;
    }
    let selector = q.app.placement.selector.as_ref();
    let mismatch = selector.and_then(|s| s.mismatch(q.fleet.cluster(q.cluster)));
    let may_use = q.fleet.team(q.app.team).clusters.contains(q.cluster);
    Some(mismatch.map_or(if may_use { Verdict::NoTier } else { Verdict::Team }, Verdict::Mismatch))
}

/// A cluster that the team may no longer use is left at once: whatever an App says, a team never reaches it.
fn release(q: &Question<'_>) -> Option<Release> {
    if q.app.placement.candidates.contains(q.cluster) {
        None
    } else if q.fleet.team(q.app.team).clusters.contains(q.cluster) {
        Some(Release::Moves)
    } else {
        Some(Release::Gone)
    }
}
