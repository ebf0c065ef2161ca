//! Taints of the cluster, of its file and recorded ones, against the tolerations of the app (Kubernetes' rule for nodes).
//!
//! A toleration with seconds tolerates here: the decider records the eviction when they have passed.

use super::{Filter, Question, Release};
use crate::base::taint::{TaintEffect, first_untolerated};
use crate::schedule::Verdict;

pub(super) const FILTER: Filter = Filter { veto, release };

/// Of several, one that makes replicas leave is named first.
fn veto(q: &Question<'_>) -> Option<Verdict> {
    let taints = &q.conditions.taints;
    let leaving = taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute);
    let found = first_untolerated(leaving, &q.app.placement.tolerations)
        .or_else(|| first_untolerated(taints, &q.app.placement.tolerations));
    found.map(|taint| Verdict::Taint(taint.to_string().into()))
}

fn release(q: &Question<'_>) -> Option<Release> {
    let leaving = q.conditions.taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute);
    first_untolerated(leaving, &q.app.placement.tolerations).map(|_| Release::Evicted)
}
