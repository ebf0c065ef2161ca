//! No cluster is lowered blindly: before replicas go here, enough of them must be seen ready elsewhere.
//!
//! Invariant: what was not seen counts as zero ready.

use std::collections::BTreeMap;

use super::live::LiveObject;
use crate::cluster::Key;

/// What must stay ready of one workload, and what is, outside this cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// Ready replicas of the current generation in other clusters; 0 for those that do not answer.
    pub ready_elsewhere: u32,
    /// At least so many must be ready in all: `minAvailable` of what the fleet wants.
    pub needed: u32,
}

/// Floors of the workloads of a cluster. One that is not here has nothing ready elsewhere, and is needed as a whole.
pub type Floors = BTreeMap<Key, Floor>;

/// Whether a workload may go from what runs to `replicas`; else how many would be ready, and how many must be.
///
/// # Errors
/// (ready afterwards, needed).
pub fn may_lower(floor: Option<&Floor>, live: &LiveObject, replicas: u32) -> Result<(), (u32, u32)> {
    let ready_here = live.ready_at_most;
    let stays = ready_here.min(replicas);
    // Pods that are not ready are the first to go, so nothing that serves is lost.
    if stays == ready_here {
        return Ok(());
    }
    let floor = floor.copied().unwrap_or(Floor { ready_elsewhere: 0, needed: ready_here });
    let ready_after = floor.ready_elsewhere.saturating_add(stays);
    if ready_after >= floor.needed { Ok(()) } else { Err((ready_after, floor.needed)) }
}

/// `share_percent` of a total, rounded up.
#[must_use]
pub fn share_of(total: u32, share_percent: u32) -> u32 {
    let needed = (u64::from(total) * u64::from(share_percent)).div_ceil(100);
    u32::try_from(needed).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::health::Health;

    #[test]
    fn lowering_needs_ready_replicas_elsewhere() {
        let key = Key::new("apps", "Deployment", "n", "web");
        let live = |ready: u32| {
            let object = json!({"spec": {"replicas": 10}, "status": {"readyReplicas": ready}});
            LiveObject::of(&key, &object, &|_| (Health::Current, String::new()))
        };
        let floor = |ready_elsewhere, needed| Some(Floor { ready_elsewhere, needed });
        for (floor, ready, to, expected) in [
            // the receiver is ready: 80 % of 10 stay
            (floor(8, 8), 10, 0, Ok(())),
            (floor(7, 8), 10, 0, Err((7, 8))),
            (floor(4, 8), 10, 4, Ok(())),
            // nothing is ready here: nothing is lost
            (floor(0, 8), 0, 0, Ok(())),
            (floor(0, 8), 3, 3, Ok(())),
            (floor(0, 8), 3, 2, Err((2, 8))),
            // not seen elsewhere
            (None, 10, 0, Err((0, 10))),
            // a smaller total
            (floor(0, 4), 10, 5, Ok(())),
        ] {
            assert_eq!(may_lower(floor.as_ref(), &live(ready), to), expected, "{floor:?} {ready} -> {to}");
        }
    }

    #[test]
    fn shares_round_up() {
        for (total, percent, needed) in [(10, 80, 8), (3, 80, 3), (1, 1, 1), (0, 80, 0), (u32::MAX, 100, u32::MAX)] {
            assert_eq!(share_of(total, percent), needed);
        }
    }
}
