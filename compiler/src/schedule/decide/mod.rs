//! The decision for one app: filter, select, divide, book.
//!
//! Each workload is taken out of the ledger while it is divided, so that its own replicas count as free; the others of
//! the app stay booked until it is their turn.

mod choose;
mod contenders;
mod copies;
mod divided;
mod seat;
mod sets;
mod shared;
mod whole;

use std::collections::BTreeMap;

use super::Deficit;
use super::quota::Left;
use super::select::{Class, Failure};
use super::stage::{Held, Stage};
use super::state::{AppState, Row, Weights, WorkloadState, merged, total};
use super::view::{bounds, is_daemon};
use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Share};

use choose::Choice;

/// Whether an app may ask for more than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It may.
    Full,
    /// Its quota is used up: as many replicas as it had when the pass began, and not one more.
    NoIncrease,
    /// As few, and what leaves is gone: nothing new comes to any cluster.
    NothingNew,
}

/// Where an app should run.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    /// What then runs. It is booked.
    pub state: AppState,
    /// By workload: replicas that are where they should be. Others have no place elsewhere, and stay.
    pub placed: Vec<u32>,
    /// Whether all that is wanted is where it should be, and every constraint holds.
    pub complete: bool,
    /// Why no set of clusters was found.
    pub failure: Option<Failure>,
    /// Workloads whose stated weights match no cluster.
    pub no_weight: Vec<usize>,
    /// What quotas of single clusters refused.
    pub refused_there: Vec<Deficit>,
}

/// One workload as its division sees it.
struct Task {
    workload: usize,
    /// Replicas to place; in each cluster for what is copied.
    wanted: u32,
    held: Vec<(ClusterId, Held)>,
    rows: Vec<Row>,
    /// What quotas of single clusters leave to it.
    left: Left,
    /// By cluster, what room it may take so that apps that share its clusters have some, too.
    shared: BTreeMap<ClusterId, u64>,
}

impl Task {
    /// Room in a cluster, less what is left to apps that share it.
    fn shared_room(&self, cluster: ClusterId, room: Option<u64>) -> Option<u64> {
        [room, self.shared.get(&cluster).copied()].into_iter().flatten().min()
    }

    fn held(&self, cluster: ClusterId) -> Held {
        self.held.binary_search_by_key(&cluster, |(c, _)| *c).map_or(Held::default(), |at| self.held[at].1)
    }
}

/// What a workload got.
struct Placed {
    rows: Vec<Row>,
    /// Replicas that are where they should be.
    placed: u32,
    weights: Weights,
    no_weight: bool,
}

/// Decides an app whose rows are booked, and books the decision instead. The first of a group leaves room for the others,
/// unless less of it could be placed then.
pub(super) fn decide(stage: &mut Stage<'_, '_>, id: AppId, mode: Mode) -> Decision {
    if mode == Mode::NothingNew {
        stage.close(id);
    }
    let sharing = attempt(stage, id, mode, true);
    if sharing.complete || !shared::leads(stage, id) {
        return sharing;
    }
    let before = stage.apps[id.index()].clone();
    stage.rebook(id, &sharing.state, &before);
    let alone = attempt(stage, id, mode, false);
    let placed = |decision: &Decision| decision.placed.iter().map(|n| u64::from(*n)).sum::<u64>();
    if placed(&alone) > placed(&sharing) {
        return alone;
    }
    stage.rebook(id, &alone.state, &sharing.state);
    sharing
}

fn attempt(stage: &mut Stage<'_, '_>, id: AppId, mode: Mode, shares: bool) -> Decision {
    let count = stage.view.fleet.app(id).workloads.len();
    let mut tasks: Vec<Task> = (0..count).map(|workload| task(stage, id, workload, mode)).collect();
    let lead = stage.view.app(id).lead;
    let mut so_far = stage.apps[id.index()].clone();
    if let Some(lead) = lead {
        tasks[lead].left = left(stage, id, &mut so_far, lead);
        if shares {
            tasks[lead].shared = shared::rooms(stage, id, &tasks[lead]);
        }
    }
    let mut choice = choose::choose(stage, id, &tasks);
    if mode != Mode::Full && lead.is_none() {
        // Without replicas the clusters themselves are the increase.
        choice.set.retain(|cluster| so_far.clusters.contains(*cluster));
    }
    let mut placed: Vec<Option<Placed>> = tasks.iter().map(|_| None).collect();
    // The fewest clusters are known only once the workload that leads is divided.
    let first = lead.filter(|_| stage.view.app(id).class == Class::Fewest);
    if let Some(lead) = first {
        let one = place(stage, id, &mut tasks[lead], &choice, mode);
        choice.narrow_to(&one.rows);
        so_far.workloads[lead].rows.clone_from(&one.rows);
        placed[lead] = Some(one);
    }
    for workload in 0..count {
        let members = stage.view.fleet.app(id).members(workload);
        if placed[workload].is_some() {
            continue;
        }
        if stage.view.workload(id, workload).part.is_some() {
            let parts = place_set(stage, id, &mut tasks[members], &mut so_far, &choice, mode);
            for (at, one) in (workload..).zip(parts) {
                so_far.workloads[at].rows.clone_from(&one.rows);
                placed[at] = Some(one);
            }
            continue;
        }
        let task = &mut tasks[workload];
        task.left = left(stage, id, &mut so_far, workload);
        let one = place(stage, id, task, &choice, mode);
        so_far.workloads[workload].rows.clone_from(&one.rows);
        placed[workload] = Some(one);
    }
    let state = &stage.apps[id.index()];
    let mut clusters: ClusterSet = choice.set.iter().copied().collect();
    if clusters.is_empty() && lead.is_none() {
        // Finding no candidate never clears a placement.
        clusters = state.clusters.clone();
    }
    let placed: Vec<Placed> = placed.into_iter().flatten().collect();
    if mode != Mode::Full {
        // A cluster that it was not in and gets nothing of it is none of its: objects that need no replica would come there.
        let rows: ClusterSet = placed.iter().flat_map(|placed| &placed.rows).map(|row| row.cluster).collect();
        clusters = clusters.and(&state.clusters.or(&rows));
    }
    let refused: Vec<Deficit> =
        tasks.iter().zip(&placed).filter_map(|(task, p)| refused_there(stage, id, task, p)).collect();
    let whole = |(task, placed): (&Task, &Placed)| {
        let workload = stage.view.workload(id, task.workload);
        is_daemon(workload) || placed.placed >= task.wanted
    };
    Decision {
        complete: choice.failure.is_none() && !choice.set.is_empty() && tasks.iter().zip(&placed).all(whole),
        placed: placed.iter().map(|p| p.placed).collect(),
        failure: choice.failure,
        no_weight: (0..count).filter(|w| placed[*w].no_weight).collect(),
        refused_there: refused,
        state: AppState {
            known: true,
            tier: stage.apps[id.index()].tier,
            clusters,
            workloads: placed.into_iter().map(|p| WorkloadState { weights: p.weights, rows: p.rows }).collect(),
        },
    }
}

/// What quotas of single clusters leave to a workload, whose rows are taken out of `so_far`.
fn left(stage: &mut Stage<'_, '_>, id: AppId, so_far: &mut AppState, workload: usize) -> Left {
    let rows = std::mem::take(&mut so_far.workloads[workload].rows);
    let left = stage.left_to(id, workload, so_far);
    so_far.workloads[workload].rows = rows;
    left
}

/// The quotas of clusters that keep replicas of a workload from being placed there, though they have room for them.
fn refused_there(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, placed: &Placed) -> Option<Deficit> {
    if task.left.is_empty() {
        return None;
    }
    let share = stage.view.workload(id, task.workload).share;
    let mut refusals = Vec::new();
    for cluster in stage.fresh(id).iter().filter(|cluster| stage.view.allows(id, task.workload, *cluster)) {
        let held = total_in(&placed.rows, cluster);
        let missing = match share {
            Share::Everywhere => task.wanted.saturating_sub(held),
            Share::Divided | Share::Whole => task.wanted.saturating_sub(placed.placed),
        };
        let least = if share == Share::Divided { 1 } else { missing };
        let bounds = bounds(stage.view.workload(id, task.workload), cluster);
        let allowed = bounds.weight > 0 && bounds.max.is_none_or(|max| max >= held.saturating_add(least));
        let pod = stage.pod(id, task.workload, cluster);
        let capped = task.left.cap(cluster, pod).is_some_and(|cap| cap < held.saturating_add(least));
        if missing == 0 || !allowed || !capped {
            continue;
        }
        let refusal = task.left.refusal(cluster, pod, held, missing);
        let room = seat::room(stage, id, task.workload, task.wanted, cluster);
        refusals.extend(refusal.filter(|_| room.is_none_or(|room| room >= u64::from(least))));
    }
    Deficit::of_quotas(refusals)
}

fn total_in(rows: &[Row], cluster: ClusterId) -> u32 {
    rows.iter().filter(|row| row.cluster == cluster).fold(0, |sum, row| sum.saturating_add(row.replicas))
}

fn task(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, mode: Mode) -> Task {
    let held = stage.held(id, workload);
    let replicas = stage.view.workload(id, workload).replicas;
    let had = held.iter().fold(0_u32, |sum, (_, held)| sum.saturating_add(held.all()));
    let gone = stage.entered.get(&id).map_or(0, |entered| total(&entered.workloads[workload].rows));
    let wanted = match (mode, stage.view.workload(id, workload).share) {
        (Mode::NoIncrease | Mode::NothingNew, Share::Divided | Share::Whole) => replicas.min(had.max(gone)),
        (Mode::NoIncrease | Mode::NothingNew, Share::Everywhere) | (Mode::Full, _) => replicas,
    };
    let mut rows = stage.apps[id.index()].workloads[workload].rows.clone();
    if is_daemon(stage.view.workload(id, workload)) && mode == Mode::Full {
        let ahead = daemons_ahead(stage, id, workload, &rows);
        stage.book(id, workload, &ahead);
        rows = merged(rows.into_iter().chain(ahead).collect());
    }
    Task { workload, wanted, held, rows, left: Left::default(), shared: BTreeMap::new() }
}

/// The clusters a DaemonSet would come to. It is booked in all of them while its app is decided: wherever the other
/// workloads go, it shrinks the nodes.
fn daemons_ahead(stage: &Stage<'_, '_>, id: AppId, workload: usize, rows: &[Row]) -> Vec<Row> {
    let fresh = stage.fresh(id);
    let lacking = fresh.iter().filter(|cluster| {
        stage.view.allows(id, workload, *cluster) && rows.binary_search_by_key(cluster, |row| row.cluster).is_err()
    });
    lacking.map(|cluster| Row { cluster, pool: None, replicas: 1 }).collect()
}

/// Places the parts of a set, and books what they get instead of what they had.
fn place_set(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    tasks: &mut [Task],
    so_far: &mut AppState,
    choice: &Choice,
    mode: Mode,
) -> Vec<Placed> {
    for task in tasks.iter() {
        so_far.workloads[task.workload].rows.clear();
    }
    for task in tasks.iter_mut() {
        task.left = left(stage, id, so_far, task.workload);
        stage.unbook(id, task.workload, &task.rows);
    }
    sets::place(stage, id, tasks, choice, mode)
}

/// Divides a workload over the chosen clusters, and books what it gets instead of what it had.
fn place(stage: &mut Stage<'_, '_>, id: AppId, task: &mut Task, choice: &Choice, mode: Mode) -> Placed {
    stage.take_out(id, task.workload, &task.rows);
    let placed = match stage.view.workload(id, task.workload).share {
        Share::Divided => divided::place(stage, id, task, choice),
        Share::Whole => whole::place(stage, id, task, choice),
        Share::Everywhere => copies::place(stage, id, task, choice, mode),
    };
    stage.count_beyond(id, task.workload, &placed.rows);
    placed
}
