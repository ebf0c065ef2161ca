//! Clusters that a scenario supposes to be lost (`what-if --lose`).

use super::{Filter, Question, Release};
use crate::schedule::Verdict;

pub(super) const FILTER: Filter = Filter {
    veto: |q| q.conditions.supposed_lost.then_some(Verdict::SupposedLost),
    release: |q: &Question<'_>| q.conditions.supposed_lost.then_some(Release::Gone),
};
