//! Which workloads no policy counts.

use crate::model::Workload;

/// Whether a workload is placed one on each node, outside of every count.
pub(in crate::schedule) fn is_daemon(workload: &Workload) -> bool {
    workload.kind.is_per_node()
}
