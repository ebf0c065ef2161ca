//! What the record says of an app beside where it runs.

use super::View;
use crate::api::{AutoscaledRoom, Strategy};
use crate::base::{AppId, ClusterId, SmolStr};
use crate::placements::{Estimates, GaveWay};
use crate::schedule::Seat;
use crate::schedule::state::pool_name;

impl<'a> View<'a> {
    /// Gives seats of a workload the completions and bounds that are recorded of them: those of a move between two steps
    /// follow from no total.
    pub fn recorded_counts(&self, id: AppId, workload: usize, seats: &mut [Seat]) {
        let placed = self.placed[id.index()].and_then(|placed| placed.workloads.get(&self.workload(id, workload).key));
        for seat in seats {
            let pool = seat.pool.map(|pool| pool_name(self.fleet, seat.cluster, pool));
            let cluster = &self.fleet.cluster(seat.cluster).name;
            let recorded = placed.into_iter().flat_map(|placed| &placed.seats);
            if let Some(row) = recorded.into_iter().find(|row| row.cluster == *cluster && row.pool == pool) {
                (seat.completions, seat.bounds) = (row.completions, row.bounds);
            }
        }
    }

    /// How many replicas of a workload were seen in a cluster, as its autoscaler wants them; `None` where nothing was.
    pub fn observed(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<u32> {
        self.observed[id.index()]?
            .get(&self.workload(id, workload).key)?
            .get(&self.fleet.cluster(cluster).name)?
            .replicas
    }

    /// Whether more than its seats are booked of a workload as soon as more are seen.
    pub fn books_observed(&self, id: AppId, workload: usize) -> bool {
        self.workload(id, workload).autoscaled.is_some_and(|of| of.policy.room == AutoscaledRoom::Observed)
    }

    /// Whether a workload is divided by what an estimator says.
    pub fn is_estimated(&self, id: AppId, workload: usize) -> bool {
        self.estimates(id, workload).is_some()
    }

    fn estimates(&self, id: AppId, workload: usize) -> Option<&'a Estimates> {
        let policy = &self.workload(id, workload).policy;
        let by = policy.weigh_by.as_ref().filter(|_| policy.strategy == Some(Strategy::DynamicWeight))?;
        self.record.estimates.get(by)
    }

    /// What an estimator says of a cluster: for the cluster, and for the pools that the workload may use. `None` where the
    /// workload is not divided by one.
    pub fn estimate(
        &self,
        id: AppId,
        workload: usize,
        cluster: ClusterId,
        uses: impl Fn(&SmolStr) -> bool,
    ) -> Option<u64> {
        let estimates = self.estimates(id, workload)?;
        let key = (self.fleet.team(self.fleet.app(id).team).name.clone(), self.fleet.cluster(cluster).name.clone());
        let rows = estimates.get(&key).into_iter().flatten();
        let counts = rows.filter(|(pool, _)| pool.as_ref().is_none_or(&uses));
        Some(counts.fold(0, |sum, (_, room)| sum.saturating_add(*room)))
    }

    /// What a workload gave up for others, as the record has it.
    pub fn gave_way(&self, id: AppId, workload: &SmolStr) -> &'a [GaveWay] {
        self.placed[id.index()].and_then(|placed| placed.workloads.get(workload)).map_or(&[], |w| w.gave_way.as_slice())
    }
}
