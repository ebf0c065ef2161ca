//! Clusters that do not answer, or came back and are being cleaned. What runs there stays: a cut network must not empty
//! a cluster; the decider records a failover as a move.

use super::{Filter, never};
use crate::schedule::Verdict;

pub(super) const FILTER: Filter =
    Filter { veto: |q| (!q.conditions.healthy).then_some(Verdict::Unhealthy), release: never };
