//! Apps that are evicted from a cluster: it is lost to them, or a toleration has run out.

use super::{Filter, Question, Release};
use crate::schedule::Verdict;

pub(super) const FILTER: Filter = Filter {
    veto: |q| q.evicted.then_some(Verdict::Evicted),
    release: |q: &Question<'_>| q.evicted.then_some(Release::Evicted),
};
