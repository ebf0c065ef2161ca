//! What becomes of the apps that the loss of clusters displaces, without scheduling all others again.
//!
//! A fleet that is settled stays as it is but for: apps that are in a lost cluster; those that are short of something, and are
//! asked again in every pass; and those that share clusters with one of these, or shun each other. Only they take turns; the
//! bookings of all others stand. The answer is that of a schedule from scratch, or there is none: where something happens that
//! could displace still others (a pool is overdrawn that was not, or more is put into one that is), the caller schedules all
//! of it.
//!
//! Invariant: after every question things are again as they were before it.

use std::collections::{BTreeMap, BTreeSet};

use super::stage::{Stage, Stand};
use super::state::AppState;
use super::view::View;
use super::{Deficit, MAX_PASSES, Scenario, phases, settle};
use crate::base::AppId;
use crate::model::{ClusterSet, Fleet};
use crate::placements::Record;
use crate::room::PoolRef;
use crate::variants::Variants;

/// A fleet at rest, to lose clusters of.
#[derive(Clone)]
pub struct AtRest<'a> {
    view: View<'a>,
    /// All is booked, and `apps` is what is recorded.
    stand: Stand,
    /// Apps that take a turn in every pass.
    open: Vec<AppId>,
    /// Pools that hold more than fits: what is booked in full.
    overdrawn: BTreeSet<PoolRef>,
}

impl std::fmt::Debug for AtRest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtRest").field("open", &self.open).field("overdrawn", &self.overdrawn).finish_non_exhaustive()
    }
}

/// How an app fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What it lacks.
    pub deficits: Vec<Deficit>,
    /// Where it runs: the clusters of its replicas; without any, those that are selected.
    pub used: ClusterSet,
}

impl<'a> AtRest<'a> {
    /// Of a record that holds its own target. `None` where it does not, and where it is not told by the apps alone which of
    /// them change.
    #[must_use]
    pub fn new(fleet: &'a Fleet, variants: &'a Variants, record: &'a Record) -> Option<Self> {
        // What is on a move in steps, or came from another team, is asked about with all others.
        if !record.moves.is_empty() || record.transfers.iter().any(|((team, _), (old, _))| team != old) {
            return None;
        }
        let (view, ledger, apps) = super::begin(fleet, variants, record, &Scenario::default());
        let mut stage = Stage::new(&view, Stand::new(&view, ledger, apps));
        let open = settle(&mut stage)?;
        let rests = stage.apps == stage.recorded
            && stage.entered.is_empty()
            && stage.displaced_in_all.is_empty()
            && stage.homes.is_empty();
        let stand = stage.into_stand();
        let overdrawn = stand.ledger.overdrawn().into_iter().collect();
        rests.then_some(Self { view, stand, open, overdrawn })
    }

    /// How the apps fare that may change when clusters are lost, at least all that are in them; all others fare as before.
    /// `None` where that cannot be told without the others.
    pub fn lose(&mut self, lost: &ClusterSet) -> Option<BTreeMap<AppId, Outcome>> {
        let concerned = self.concerned(lost);
        self.view.suppose_lost(lost);
        let (apps, deficits) = (&self.stand.apps, &self.stand.deficits);
        let before: Vec<(AppState, Vec<Deficit>)> =
            concerned.iter().map(|id| (apps[id.index()].clone(), deficits[id.index()].clone())).collect();
        let usage = self.stand.usage.clone();
        let mut stage = Stage::new(&self.view, std::mem::take(&mut self.stand));
        let outcomes = rerun(&mut stage, &concerned, &self.overdrawn);
        for (id, (state, deficits)) in concerned.iter().zip(before) {
            let now = std::mem::replace(&mut stage.apps[id.index()], state.clone());
            stage.rebook(*id, &now, &state);
            stage.deficits[id.index()] = deficits;
        }
        concerned.iter().for_each(|id| stage.look_around(*id));
        self.stand = Stand { usage, ..stage.into_stand() };
        self.view.suppose_lost(&ClusterSet::empty());
        outcomes
    }

    /// Apps that may change, in the order of their turns.
    fn concerned(&self, lost: &ClusterSet) -> Vec<AppId> {
        let is_there = |state: &AppState| {
            let mut rows = state.workloads.iter().flat_map(|workload| &workload.rows);
            !state.clusters.and(lost).is_empty() || rows.any(|row| lost.contains(row.cluster))
        };
        let there = self.view.fleet.app_ids().filter(|id| is_there(&self.stand.apps[id.index()]));
        let mut concerned: BTreeSet<AppId> = there.chain(self.open.iter().copied()).collect();
        let mut found: Vec<AppId> = concerned.iter().copied().collect();
        while let Some(id) = found.pop() {
            let groups = [self.view.together.of(id), self.view.apart.of(id)];
            let members = groups.into_iter().flatten().flat_map(|group| &group.members);
            found.extend(members.filter(|member| concerned.insert(**member)));
        }
        self.view.order.iter().copied().filter(|id| concerned.contains(id)).collect()
    }
}

/// Passes over some apps until one changes nothing.
fn rerun(
    stage: &mut Stage<'_, '_>,
    concerned: &[AppId],
    overdrawn: &BTreeSet<PoolRef>,
) -> Option<BTreeMap<AppId, Outcome>> {
    for _ in 0..MAX_PASSES {
        let states = |stage: &Stage<'_, '_>| -> Vec<AppState> {
            concerned.iter().map(|id| stage.apps[id.index()].clone()).collect()
        };
        let before = states(stage);
        phases::pass_over(stage, concerned);
        if disturbs_others(stage, concerned, overdrawn) {
            return None;
        }
        if states(stage) == before {
            return Some(concerned.iter().map(|id| (*id, outcome(stage, *id))).collect());
        }
    }
    None
}

/// Whether a pool is overdrawn that was not, or more is in one that is.
fn disturbs_others(stage: &mut Stage<'_, '_>, concerned: &[AppId], before: &BTreeSet<PoolRef>) -> bool {
    let now: BTreeSet<PoolRef> = stage.ledger.overdrawn().into_iter().collect();
    if !now.is_subset(before) {
        return true;
    }
    concerned.iter().filter(|_| !now.is_empty()).any(|id| {
        (0..stage.apps[id.index()].workloads.len()).any(|workload| {
            let rows = stage.apps[id.index()].workloads[workload].rows.clone();
            let had = stage.recorded[id.index()].workloads[workload].rows.clone();
            let more = rows.iter().filter(|row| {
                let here = had.iter().find(|had| (had.cluster, had.pool) == (row.cluster, row.pool));
                here.is_none_or(|had| had.replicas < row.replicas)
                    && !stage.view.books_in_full(*id, workload, row.cluster)
            });
            let more: Vec<_> = more.copied().collect();
            stage.bookings(*id, workload, &more).iter().any(|booking| now.contains(&booking.pool))
        })
    })
}

fn outcome(stage: &mut Stage<'_, '_>, id: AppId) -> Outcome {
    stage.look_around(id);
    let mut deficits = stage.deficits[id.index()].clone();
    deficits.extend(stage.broken_groups(id));
    deficits.extend(stage.what_gave_way(id, &deficits));
    deficits.sort();
    let state = &stage.apps[id.index()];
    let rows: ClusterSet = state.workloads.iter().flat_map(|w| &w.rows).map(|row| row.cluster).collect();
    Outcome { deficits, used: if rows.is_empty() { state.clusters.clone() } else { rows } }
}
