//! The decision for one app: filter, select, divide, book.
//!
//! Each workload is taken out of the ledger while it is divided, so that its own replicas count as free; the others of
//! the app stay booked until it is their turn.

mod choose;
mod copies;
mod divided;
mod seat;
mod whole;

use super::select::{Class, Failure};
use super::stage::{Held, Stage};
use super::state::{AppState, Row, Weights, WorkloadState, merged, total};
use super::view::is_daemon;
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
}

/// Where an app should run.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    /// What then runs. It is booked.
    pub state: AppState,
    /// By workload: replicas that are where they should be. Others have no place elsewhere, and stay.
    pub placed: Vec<u32>,
    /// Why no set of clusters was found.
    pub failure: Option<Failure>,
    /// Workloads whose stated weights match no cluster.
    pub no_weight: Vec<usize>,
}

/// One workload as its division sees it.
struct Task {
    workload: usize,
    /// Replicas to place; in each cluster for what is copied.
    wanted: u32,
    held: Vec<(ClusterId, Held)>,
    rows: Vec<Row>,
}

impl Task {
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

/// Decides an app whose rows are booked, and books the decision instead.
pub(super) fn decide(stage: &mut Stage<'_, '_>, id: AppId, mode: Mode) -> Decision {
    let count = stage.view.fleet.app(id).workloads.len();
    let mut tasks: Vec<Task> = (0..count).map(|workload| task(stage, id, workload, mode)).collect();
    let lead = stage.view.app(id).lead;
    let mut choice = choose::choose(stage, id, &tasks);
    let mut placed: Vec<Option<Placed>> = tasks.iter().map(|_| None).collect();
    // The fewest clusters are known only once the workload that leads is divided.
    let first = lead.filter(|_| stage.view.app(id).class == Class::Fewest);
    if let Some(lead) = first {
        let one = place(stage, id, &mut tasks[lead], &choice, mode);
        choice.narrow_to(&one.rows);
        placed[lead] = Some(one);
    }
    for (task, slot) in tasks.iter_mut().zip(&mut placed) {
        if slot.is_none() {
            *slot = Some(place(stage, id, task, &choice, mode));
        }
    }
    let state = &stage.apps[id.index()];
    let mut clusters: ClusterSet = choice.set.iter().copied().collect();
    if clusters.is_empty() && lead.is_none() {
        // Finding no candidate never clears a placement.
        clusters = state.clusters.clone();
    }
    let placed: Vec<Placed> = placed.into_iter().flatten().collect();
    Decision {
        placed: placed.iter().map(|p| p.placed).collect(),
        failure: choice.failure,
        no_weight: (0..count).filter(|w| placed[*w].no_weight).collect(),
        state: AppState {
            known: true,
            clusters,
            workloads: placed.into_iter().map(|p| WorkloadState { weights: p.weights, rows: p.rows }).collect(),
        },
    }
}

fn task(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, mode: Mode) -> Task {
    let held = stage.held(id, workload);
    let replicas = stage.view.workload(id, workload).replicas;
    let had = held.iter().fold(0_u32, |sum, (_, held)| sum.saturating_add(held.all()));
    let gone = stage.entered.get(&id).map_or(0, |entered| total(&entered.workloads[workload].rows));
    let wanted = match (mode, stage.view.workload(id, workload).share) {
        (Mode::NoIncrease, Share::Divided | Share::Whole) => replicas.min(had.max(gone)),
        (Mode::NoIncrease, Share::Everywhere) | (Mode::Full, _) => replicas,
    };
    let mut rows = stage.apps[id.index()].workloads[workload].rows.clone();
    if is_daemon(stage.view.workload(id, workload)) && mode == Mode::Full {
        let ahead = daemons_ahead(stage, id, workload, &rows);
        stage.book(id, workload, &ahead);
        rows = merged(rows.into_iter().chain(ahead).collect());
    }
    Task { workload, wanted, held, rows }
}

/// The clusters a DaemonSet would come to. It is booked in all of them while its app is decided: wherever the other
/// workloads go, it shrinks the nodes.
fn daemons_ahead(stage: &Stage<'_, '_>, id: AppId, workload: usize, rows: &[Row]) -> Vec<Row> {
    let fresh = stage.view.app(id).fresh.iter();
    let lacking = fresh.filter(|cluster| {
        stage.view.allows(id, workload, *cluster) && rows.binary_search_by_key(cluster, |row| row.cluster).is_err()
    });
    lacking.map(|cluster| Row { cluster, pool: None, replicas: 1 }).collect()
}

/// Divides a workload over the chosen clusters, and books what it gets instead of what it had.
fn place(stage: &mut Stage<'_, '_>, id: AppId, task: &mut Task, choice: &Choice, mode: Mode) -> Placed {
    stage.unbook(id, task.workload, &task.rows);
    match stage.view.workload(id, task.workload).share {
        Share::Divided => divided::place(stage, id, task, choice),
        Share::Whole => whole::place(stage, id, task, choice),
        Share::Everywhere => copies::place(stage, id, task, choice, mode),
    }
}
