//! What is booked as room of an autoscaled workload whose observed replicas count, and where the number comes from.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::Compiled;
use crate::base::{AppId, ClusterId};
use crate::schedule::{Booked, booked_as_observed};

/// What is booked of a workload in a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BookedReport {
    /// How many replicas.
    pub replicas: u32,
    /// How many were observed (`state/apps/`); none where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<u32>,
}

impl fmt::Display for BookedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { replicas, observed } = *self;
        match observed {
            None => write!(f, "{replicas} booked, its least there; nothing is observed yet"),
            Some(observed) if observed == replicas => write!(f, "{replicas} booked, as observed"),
            Some(observed) if observed > replicas => {
                write!(f, "{replicas} booked, its most there; {observed} observed")
            }
            Some(observed) => write!(f, "{replicas} booked, its least there; {observed} observed"),
        }
    }
}

/// What is booked of a workload, by cluster; empty unless observed replicas count for it.
pub(super) fn booked(compiled: &Compiled, id: AppId, workload: usize) -> BTreeMap<ClusterId, BookedReport> {
    let Compiled { fleet, record, target, .. } = compiled;
    let all = booked_as_observed(fleet, record, target, id, workload).into_iter();
    all.map(|Booked { cluster, replicas, observed }| (cluster, BookedReport { replicas, observed })).collect()
}
