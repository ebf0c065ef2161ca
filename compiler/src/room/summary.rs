//! Room of a cluster that states nothing but totals: Karmada's general estimator.
//!
//! Totals say nothing about nodes, so this promises pods that no node can hold. It answers for clusters without pools
//! and for comparison; where pools are stated, [`Rooms`](super::Rooms) is right.

use super::spec::PODS;
use crate::base::Resources;

/// What an estimate without any limit answers, as in Karmada.
pub const UNLIMITED: u64 = i64::MAX as u64;

/// How many more pods fit: `free = allocatable − used`; as many as `pods` are free, and at most
/// `floor(free / request)` for each resource requested. `used` is what is allocated and what is being allocated. A resource
/// that `allocatable` lacks (`pods` too) is not there: 0. Nothing free, or less than nothing: 0.
///
/// Source: Karmada `pkg/estimator/client/general.go`.
#[must_use]
pub fn summary_room(allocatable: &Resources, used: &Resources, request: &Resources) -> u64 {
    // A pod takes one of `pods`, whatever the request says of it.
    let pods = share(allocatable, used, PODS, 1);
    pods.min(summary_room_without_pods(allocatable, used, request))
}

/// The same from the resources requested alone; [`UNLIMITED`] if none is.
#[must_use]
pub fn summary_room_without_pods(allocatable: &Resources, used: &Resources, request: &Resources) -> u64 {
    let requested = request.iter().filter(|(_, amount)| *amount > 0);
    requested.map(|(name, amount)| share(allocatable, used, name, amount)).min().unwrap_or(UNLIMITED)
}

/// How many whole sets of pods the totals hold: each part with its number of pods and what one of them requests.
#[must_use]
pub fn summary_sets(allocatable: &Resources, used: &Resources, parts: &[(u32, Resources)]) -> u64 {
    let mut set = Resources::default();
    let mut pods = 0_i128;
    for (replicas, request) in parts {
        set.add(request, i128::from(*replicas));
        pods += i128::from(*replicas);
    }
    set.0.insert(PODS.into(), pods);
    summary_room_without_pods(allocatable, used, &set)
}

fn share(allocatable: &Resources, used: &Resources, name: &str, amount: i128) -> u64 {
    let free = allocatable.get(name).saturating_sub(used.get(name)).max(0);
    u64::try_from(free / amount).unwrap_or(UNLIMITED).min(UNLIMITED)
}
