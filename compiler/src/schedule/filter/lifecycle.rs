//! The lifecycle of the cluster: the stricter of its file and `state/lifecycle/`.

use super::{Filter, Question, Release};
use crate::api::Lifecycle;
use crate::schedule::Verdict;

pub(super) const FILTER: Filter = Filter { veto, release };

fn veto(q: &Question<'_>) -> Option<Verdict> {
    match q.conditions.lifecycle {
        Lifecycle::Active => None,
        Lifecycle::Cordoned | Lifecycle::Draining | Lifecycle::Retired => {
            Some(Verdict::Lifecycle(q.conditions.lifecycle))
        }
    }
}

fn release(q: &Question<'_>) -> Option<Release> {
    match q.conditions.lifecycle {
        Lifecycle::Active | Lifecycle::Cordoned => None,
        Lifecycle::Draining => Some(Release::Evicted),
        Lifecycle::Retired => Some(Release::Gone),
    }
}
