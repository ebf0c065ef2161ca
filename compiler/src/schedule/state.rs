//! What runs, with dense ids: read from the lock, changed by each pass, written back by [`placed`](super::placed()).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::rooms::{ClusterPools, OTHER_POOL};
use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::model::{App, ClusterSet, Fleet};
use crate::placements::{ObservedApp, OpenMove, PlacedApp, PlacedWorkload, Record};

/// Where an app runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AppState {
    /// Whether it was placed before; false for a new app.
    pub known: bool,
    /// The tier in use, where one of several is used at a time: its position.
    pub tier: Option<u16>,
    /// The selected clusters.
    pub clusters: ClusterSet,
    /// By workload of the app.
    pub workloads: Vec<WorkloadState>,
}

impl AppState {
    /// Of an app that stays as it is recorded, whichever pools there are: replicas in one that is gone are somewhere in the
    /// cluster.
    pub fn forget_gone_pools(&mut self) {
        for workload in &mut self.workloads {
            workload.rows.iter_mut().filter(|row| row.pool == Some(NO_POOL)).for_each(|row| row.pool = None);
            workload.rows = merged(std::mem::take(&mut workload.rows));
        }
    }
}

/// Where a workload runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkloadState {
    /// How the rules it was divided by compare to today's.
    pub weights: Weights,
    /// At least one replica each, ascending by (cluster, pool), one for each of these.
    pub rows: Vec<Row>,
}

/// The rules a workload was divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Weights {
    /// It was not placed before.
    New,
    /// Today's.
    Same,
    /// Others: their digest as recorded.
    Former(SmolStr),
}

/// Replicas in a pool of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub cluster: ClusterId,
    /// `None` where only one pool is eligible, or none is known.
    pub pool: Option<PoolId>,
    pub replicas: u32,
}

/// Reads the lock. Clusters without a file are left out: lowering refuses them.
pub(super) fn read(fleet: &Fleet, record: &Record, pools: &[ClusterPools]) -> Vec<AppState> {
    let clusters = by_name(fleet);
    let new = WorkloadState { weights: Weights::New, rows: Vec::new() };
    let of = |(app, placed): (&Arc<App>, Option<&PlacedApp>)| match placed {
        Some(placed) => state_of(&clusters, app, pools, placed),
        None => AppState { workloads: vec![new.clone(); app.workloads.len()], ..AppState::default() },
    };
    fleet.apps.iter().zip(placed(fleet, record)).map(of).collect()
}

/// By app id, where it is recorded to run.
pub(super) fn placed<'a>(fleet: &Fleet, record: &'a Record) -> Vec<Option<&'a PlacedApp>> {
    of_each(fleet, &record.apps)
}

/// By app id, what was observed of it.
pub(super) fn observed<'a>(fleet: &Fleet, record: &'a Record) -> Vec<Option<&'a ObservedApp>> {
    of_each(fleet, &record.observed)
}

/// By app id, what is recorded of it. Both are in the order of their names.
fn of_each<'a, T>(fleet: &Fleet, recorded: &'a BTreeMap<(SmolStr, SmolStr), T>) -> Vec<Option<&'a T>> {
    let mut rest = recorded.iter().peekable();
    let of = |id: AppId| {
        let app = fleet.app(id);
        let key = (fleet.team(app.team).name.as_str(), app.name.as_str());
        let order = |(team, name): &(SmolStr, SmolStr)| (team.as_str(), name.as_str()).cmp(&key);
        while rest.next_if(|(other, _)| order(other) == Ordering::Less).is_some() {}
        rest.next_if(|(other, _)| order(other) == Ordering::Equal).map(|(_, placed)| placed)
    };
    fleet.app_ids().map(of).collect()
}

type ByName<'f> = FxHashMap<&'f str, ClusterId>;

fn by_name(fleet: &Fleet) -> ByName<'_> {
    fleet.cluster_ids().map(|id| (fleet.cluster(id).name.as_str(), id)).collect()
}

/// Where the moves lead that apps of these are on.
pub(super) fn targets(
    fleet: &Fleet,
    record: &Record,
    held: &BTreeSet<AppId>,
    pools: &[ClusterPools],
) -> BTreeMap<AppId, AppState> {
    let known = record.moves.iter().filter_map(|((team, app), open)| Some((fleet.app_id(team, app)?, open)));
    let held = known.filter(|(id, _)| held.contains(id));
    let clusters = by_name(fleet);
    let of = |(id, open): (AppId, &OpenMove)| {
        let mut state = state_of(&clusters, fleet.app(id), pools, &open.target);
        state.forget_gone_pools();
        (id, state)
    };
    held.map(of).collect()
}

fn state_of(named: &ByName<'_>, app: &App, pools: &[ClusterPools], placed: &PlacedApp) -> AppState {
    let workloads = workloads(named, app, pools, &placed.workloads);
    AppState {
        known: true,
        tier: tier(app, placed.tier.as_ref(), &workloads),
        clusters: placed.clusters.iter().filter_map(|name| named.get(name.as_str()).copied()).collect(),
        workloads,
    }
}

/// The tier that is recorded, or else that holds most of what runs.
fn tier(app: &App, recorded: Option<&SmolStr>, workloads: &[WorkloadState]) -> Option<u16> {
    let tiers = app.placement.first_fit()?;
    let held = |at: usize| -> u64 {
        let rows = workloads.iter().flat_map(|w| &w.rows);
        let here = rows.filter(|row| tiers.get(at).is_some_and(|tier| tier.clusters.contains(row.cluster)));
        here.map(|row| u64::from(row.replicas)).sum()
    };
    let named = recorded.and_then(|name| tiers.iter().position(|tier| tier.name == *name));
    let most = || (0..tiers.len()).filter(|at| held(*at) > 0).max_by_key(|at| (held(*at), std::cmp::Reverse(*at)));
    named.or_else(most).and_then(|at| u16::try_from(at).ok())
}

fn workloads(
    named: &ByName<'_>,
    app: &App,
    pools: &[ClusterPools],
    placed: &BTreeMap<SmolStr, PlacedWorkload>,
) -> Vec<WorkloadState> {
    let of = |workload: &crate::model::Workload| {
        let Some(placed) = placed.get(&workload.key) else {
            return WorkloadState { weights: Weights::New, rows: Vec::new() };
        };
        let weights = if placed.weights == workload.policy.digest.short() || !is_digest(&placed.weights) {
            Weights::Same
        } else {
            Weights::Former(placed.weights.clone())
        };
        let rows = placed.seats.iter().filter(|seat| seat.replicas > 0).filter_map(|seat| {
            let cluster = named.get(seat.cluster.as_str()).copied()?;
            let pool = seat.pool.as_ref().map(|name| pool_id(&pools[cluster.index()], name));
            Some(Row { cluster, pool, replicas: seat.replicas })
        });
        WorkloadState { weights, rows: merged(rows.collect()) }
    };
    app.workloads.iter().map(of).collect()
}

/// Stands for a recorded pool that is no longer there.
pub(super) const NO_POOL: PoolId = PoolId(u16::MAX);

/// The id of a pool by its name; [`NO_POOL`] where there is none of that name.
pub(super) fn pool_id(pools: &ClusterPools, name: &str) -> PoolId {
    let position = pools.specs.iter().position(|spec| spec.name == name);
    position.and_then(|p| u16::try_from(p).ok()).map_or(NO_POOL, PoolId)
}

/// The name of a pool, as [`pool_id`] reads it.
pub(super) fn pool_name(fleet: &Fleet, cluster: ClusterId, pool: PoolId) -> SmolStr {
    let stated = fleet.cluster(cluster).pools.as_deref().unwrap_or_default();
    stated.get(pool.index()).map_or(SmolStr::new_static(OTHER_POOL), |pool| pool.name.clone())
}

/// A digest in a form this version writes. Anything else is unknown, and an unknown digest never moves a replica.
fn is_digest(text: &str) -> bool {
    text.strip_prefix("b3:").is_some_and(|hex| hex.len() == 16 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Sorted, one row for each (cluster, pool), none empty.
pub(super) fn merged(mut rows: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| row.replicas > 0);
    rows.sort_unstable();
    rows.dedup_by(|later, earlier| {
        let same = (later.cluster, later.pool) == (earlier.cluster, earlier.pool);
        if same {
            earlier.replicas = earlier.replicas.saturating_add(later.replicas);
        }
        same
    });
    rows
}

/// Replicas by cluster, ascending.
pub(super) fn by_cluster(rows: &[Row]) -> Vec<(ClusterId, u32)> {
    rows.chunk_by(|a, b| a.cluster == b.cluster)
        .filter_map(|chunk| {
            let replicas = chunk.iter().fold(0_u32, |sum, row| sum.saturating_add(row.replicas));
            chunk.first().map(|row| (row.cluster, replicas))
        })
        .collect()
}

/// All replicas.
pub(super) fn total(rows: &[Row]) -> u32 {
    rows.iter().fold(0, |sum, row| sum.saturating_add(row.replicas))
}
