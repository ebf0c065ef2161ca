//! The words for a verdict: one line of diagnostics, plans, `why` and diffs.

use crate::api::Lifecycle;
use crate::base::quantity::plain_pair;
use crate::schedule::Verdict;

/// Why a cluster gets nothing, without its name.
#[must_use]
pub fn verdict_text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Mismatch(mismatch) => mismatch.to_string(),
        Verdict::Team => "not among the team's clusters".to_owned(),
        Verdict::NoTier => "in no tier".to_owned(),
        Verdict::OtherTier(tier) => format!("tier {tier} is in use"),
        Verdict::NotWithGroup(group) => format!("group {group} is not there"),
        Verdict::TakenByGroup(group) => format!("group {group} is there"),
        Verdict::Taint(taint) => format!("taint {taint}"),
        Verdict::ApiNotServed(api) => format!("{api} not served"),
        Verdict::Lifecycle(lifecycle) => match lifecycle {
            Lifecycle::Active => "takes no new replicas".to_owned(),
            Lifecycle::Cordoned => "cordoned".to_owned(),
            Lifecycle::Draining => "draining".to_owned(),
            Lifecycle::Retired => "retired".to_owned(),
        },
        Verdict::Unhealthy => "not ready".to_owned(),
        Verdict::Evicted => "evicted".to_owned(),
        Verdict::LargerThanNode { resource, needed, largest } => {
            let (needed, largest) = plain_pair(resource, *needed, *largest);
            format!("larger than any node: need {needed} {resource}, largest node {largest}")
        }
        Verdict::NoEligiblePool => "no pool's nodes may run it".to_owned(),
        // a pod asks for one of `pods`: more of them are the copies that must fit together
        Verdict::NoRoom { resource, needed, free } if resource == "pods" && *needed > 1 => {
            format!("no room for all of it: {needed} replicas have to fit, {free} do")
        }
        Verdict::NoRoom { resource, needed, free } => {
            let (needed, free) = plain_pair(resource, *needed, *free);
            format!("no room: need {needed} {resource}, largest free {free}")
        }
        Verdict::NoRoomForSet { part, pods, fits, resource, needed, free } => {
            let (needed, free) = plain_pair(resource, *needed, *free);
            format!(
                "no whole set fits: {fits} of {pods} {part}, the next needs {needed} {resource}, largest free {free}"
            )
        }
        Verdict::Bound => "a bound leaves no place".to_owned(),
        Verdict::NoWeight => "no weight".to_owned(),
        Verdict::ObjectRule => "kept out by a rule of `objects`".to_owned(),
        Verdict::RoundedToZero => "share rounds to zero".to_owned(),
        Verdict::NotChosen => "not chosen".to_owned(),
        Verdict::Quota => "over quota".to_owned(),
        Verdict::NotAll => "not all replicas fit".to_owned(),
        Verdict::SupposedLost => "supposed lost".to_owned(),
    }
}
