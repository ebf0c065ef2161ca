//! Sets: the parts of a custom resource that runs several sorts of pods. All of them go to the same cluster, where all of their
//! pods fit beside each other, or none does.
//!
//! A set stays where it is: one that grew and no longer fits keeps what it has, and the rest is reported. Only one whose pods
//! no longer fit where they were (nodes vanished, requests grew) goes to a cluster that holds all of it.

use std::cmp::Reverse;

use super::choose::{self, Choice};
use super::{Mode, Placed, Task, seat};
use crate::api;
use crate::base::{AppId, ClusterId};
use crate::model::Share;
use crate::room::Excess;
use crate::schedule::ledger::{ClassId, Resolved};
use crate::schedule::select::Failure;
use crate::schedule::stage::Stage;
use crate::schedule::state::{Row, Weights, merged};
use crate::schedule::view::{bounds, is_static};

/// More sets than this are not counted: a cluster has room enough.
const MOST_SETS: u32 = 64;

/// What a cluster has to offer to a set; the greatest gets it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    /// Whether it holds all of a set that was displaced.
    holds: bool,
    /// Pods it has.
    previous: u64,
    /// Whether all of it fits.
    fits: bool,
    /// The earlier tier.
    tier: Reverse<u32>,
    /// Where weights are stated.
    weight: u64,
    /// Sets that fit; unknown room comes last.
    sets: u32,
    cluster: Reverse<ClusterId>,
}

/// What a set may have in a cluster.
struct Offer {
    /// Pods of each part that are there and stay.
    previous: Vec<u32>,
    /// Whether all of it may be there.
    fits: bool,
    /// How many such sets there is room for.
    sets: u32,
}

impl Offer {
    fn is_there(&self) -> bool {
        self.previous.iter().any(|n| *n > 0)
    }

    /// Pods of each part: all, or no more than are there.
    fn counts(&self, tasks: &[Task]) -> Vec<u32> {
        let kept = |(task, previous): (&Task, &u32)| if self.fits { task.wanted } else { task.wanted.min(*previous) };
        tasks.iter().zip(&self.previous).map(kept).collect()
    }
}

/// How many sets a cluster has room for beside what is booked; `None` where that is unknown, or no question.
pub(super) fn room(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId) -> Option<u32> {
    let ignored = |task: &Task| stage.view.workload(id, task.workload).policy.capacity == api::Capacity::Ignore;
    if tasks.iter().any(ignored) || !stage.ledger.is_known(cluster) {
        return None;
    }
    let needs = needs(stage, id, tasks, cluster, &vec![0; tasks.len()]);
    Some(stage.ledger.sets(cluster, &needs, MOST_SETS))
}

/// Places a set whose parts are taken out of the ledger, and books it. `choice` is where its app may be.
pub(super) fn place(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], choice: &Choice, mode: Mode) -> Vec<Placed> {
    let Some(first) = tasks.first() else { return Vec::new() };
    let copied = stage.view.workload(id, first.workload).share == Share::Everywhere;
    let frozen = choice.failure.is_some_and(|failure| failure != Failure::NoCandidates);
    let frozen = frozen || (copied && mode != Mode::Full);
    let mut offers = Vec::new();
    for cluster in choose::usable(stage, id, first.workload, choice) {
        let offer = offer(stage, id, tasks, cluster, frozen);
        if offer.fits || offer.is_there() {
            offers.push((cluster, offer));
        }
    }
    let whole = offers.iter().any(|(_, offer)| offer.fits);
    let chosen: Vec<&(ClusterId, Offer)> = if copied {
        // a copy of which a part lost its room is none any more
        offers.iter().filter(|(at, offer)| offer.fits || !is_displaced(stage, id, tasks, *at)).collect()
    } else {
        let displaced = tasks.iter().any(|task| {
            !stage.view.is_bound(id, task.workload) && task.held.iter().any(|(_, held)| held.displaced > 0)
        });
        let claim = |(cluster, offer): &(ClusterId, Offer)| claim(stage, id, first, *cluster, offer, displaced);
        offers.iter().max_by_key(|offer| claim(offer)).into_iter().collect()
    };
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); tasks.len()];
    let mut placed: Vec<u32> = vec![0; tasks.len()];
    for (cluster, offer) in chosen {
        let counts = offer.counts(tasks);
        for (at, here) in seat_all(stage, id, tasks, *cluster, &counts).into_iter().enumerate() {
            rows[at].extend(here);
            placed[at] = placed[at].saturating_add(counts[at]);
        }
        if !offer.fits {
            // Pods that may not use their pool, and have no place elsewhere, stay.
            for (at, task) in tasks.iter().enumerate() {
                let adrift = seat::adrift(stage, id, task, *cluster, counts[at]);
                let kept = seat::keep(stage, id, task, adrift, task.wanted.saturating_sub(counts[at]));
                rows[at].extend(kept);
            }
        }
    }
    let none = placed.iter().all(|n| *n == 0);
    let kept: Vec<ClusterId> = match copied {
        // as long as there is no whole one, what is left of the others stays
        true if !whole => {
            let held = tasks.iter().flat_map(|task| &task.held).map(|(cluster, _)| *cluster);
            let left = held.filter(|at| none || is_displaced(stage, id, tasks, *at));
            let seated = |at: &ClusterId| rows.iter().flatten().any(|row| row.cluster == *at);
            left.filter(|at| !seated(at)).collect()
        }
        true => Vec::new(),
        false => holds_most(stage, id, tasks).filter(|_| none).into_iter().collect(),
    };
    keep(stage, id, tasks, &kept, &mut rows);
    let parts = rows.into_iter().zip(placed);
    parts
        .map(|(rows, placed)| Placed { rows: merged(rows), placed, weights: Weights::Same, no_weight: false })
        .collect()
}

/// Whether pods of a part no longer fit in a cluster, and may go.
fn is_displaced(stage: &Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId) -> bool {
    tasks.iter().any(|task| !stage.view.is_bound(id, task.workload) && task.held(cluster).displaced > 0)
}

/// The cluster that holds most of a set that ran.
fn holds_most(stage: &Stage<'_, '_>, id: AppId, tasks: &[Task]) -> Option<ClusterId> {
    let mut held: Vec<(u64, Reverse<ClusterId>)> = Vec::new();
    let all = tasks.iter().flat_map(|task| &task.held);
    for (cluster, here) in all.filter(|(cluster, _)| ran(stage, id, tasks, *cluster)) {
        match held.iter_mut().find(|(_, known)| known.0 == *cluster) {
            Some((pods, _)) => *pods += u64::from(here.all()),
            None => held.push((u64::from(here.all()), Reverse(*cluster))),
        }
    }
    held.into_iter().max().map(|(_, cluster)| cluster.0)
}

/// What runs has no place as a whole: what ran of it in these clusters stays, whichever part.
fn keep(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], clusters: &[ClusterId], rows: &mut [Vec<Row>]) {
    for (task, rows) in tasks.iter().zip(rows).filter(|(task, _)| task.wanted > 0) {
        let stays = |row: &&Row| clusters.contains(&row.cluster) && ran(stage, id, tasks, row.cluster);
        let leaving: Vec<Row> = task.rows.iter().filter(stays).copied().collect();
        let copied = stage.view.workload(id, task.workload).share == Share::Everywhere;
        rows.extend(seat::keep(stage, id, task, leaving, if copied { u32::MAX } else { task.wanted }));
    }
}

fn claim(stage: &Stage<'_, '_>, id: AppId, first: &Task, cluster: ClusterId, offer: &Offer, displaced: bool) -> Claim {
    let workload = stage.view.workload(id, first.workload);
    let weighs = offer.fits && is_static(&workload.policy);
    Claim {
        holds: displaced && offer.fits,
        previous: offer.previous.iter().map(|n| u64::from(*n)).sum(),
        fits: offer.fits,
        tier: Reverse(stage.view.fleet.app(id).placement.overflow_tier(cluster)),
        weight: if weighs { bounds(workload, cluster).weight } else { 0 },
        sets: offer.sets,
        cluster: Reverse(cluster),
    }
}

fn offer(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId, frozen: bool) -> Offer {
    let mut previous = Vec::with_capacity(tasks.len());
    let (mut bounded, mut weightless) = (true, false);
    for task in tasks {
        // a set that a quota keeps at fewer pods is no whole one
        bounded &= task.wanted == stage.view.workload(id, task.workload).replicas;
        // where an override writes no pods, a pool must still be there that they may use
        if task.wanted > 0 && stage.view.written(id, task.workload, cluster).is_some() {
            bounded &= seat::room(stage, id, task.workload, task.wanted, cluster) != Some(0);
        }
        previous.push(task.held(cluster).stays);
        let bounds = bounds(stage.view.workload(id, task.workload), cluster);
        bounded &= bounds.max.is_none_or(|max| task.wanted <= max);
        weightless |= bounds.weight == 0;
    }
    if weightless {
        return Offer { previous: vec![0; tasks.len()], fits: false, sets: 0 };
    }
    let sets = room(stage, id, tasks, cluster);
    let may = stage.is_fresh(id, cluster) && !frozen && bounded && within_quota(stage, id, tasks, cluster);
    let fits = may && (sets.is_none() || fits_where_it_is(stage, id, tasks, cluster));
    let lacks = tasks.iter().zip(&previous).any(|(task, previous)| *previous < task.wanted);
    if !fits && lacks && !ran(stage, id, tasks, cluster) {
        previous.fill(0);
    }
    Offer { previous, fits, sets: sets.unwrap_or(0) }
}

/// Whether any of a set is recorded in a cluster: what only a pass of this schedule placed has nothing to keep.
fn ran(stage: &Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId) -> bool {
    let recorded = &stage.recorded[id.index()].workloads;
    let rows = tasks.iter().filter_map(|task| recorded.get(task.workload)).flat_map(|part| &part.rows);
    rows.into_iter().any(|row| row.cluster == cluster)
}

/// Whether all of a set fits, what of it is there already staying in its pools.
fn fits_where_it_is(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId) -> bool {
    let mut there = Vec::with_capacity(tasks.len());
    for task in tasks {
        let rows = in_place(stage, id, task, cluster, task.wanted);
        stage.book(id, task.workload, &rows);
        there.push(rows);
    }
    let counts: Vec<u32> = there.iter().map(|rows| total(rows)).collect();
    let rest = needs(stage, id, tasks, cluster, &counts);
    let fits = stage.ledger.sets(cluster, &rest, 1) > 0;
    for (task, rows) in tasks.iter().zip(&there) {
        stage.unbook(id, task.workload, rows);
    }
    fits
}

fn within_quota(stage: &Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId) -> bool {
    let set: Vec<_> = tasks
        .iter()
        .map(|task| {
            let written = stage.view.written(id, task.workload, cluster);
            (written.unwrap_or(task.wanted), stage.pod(id, task.workload, cluster))
        })
        .collect();
    let cap = tasks.first().and_then(|first| first.left.cap_of_sets(cluster, &set));
    cap.is_none_or(|sets| sets > 0)
}

/// Pods of each part that are still to be placed, by class. Parts of whose pods nothing is known need no room.
fn needs(stage: &Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId, there: &[u32]) -> Vec<(ClassId, u32)> {
    let need = |(task, there): (&Task, &u32)| {
        let class = stage.view.class(id, task.workload, cluster)?;
        let pods = stage.view.written(id, task.workload, cluster).unwrap_or(task.wanted);
        Some((class, pods.saturating_sub(*there)))
    };
    tasks.iter().zip(there).filter_map(need).collect()
}

/// Rows of a part in a cluster that stay in their pools, up to `most` pods. None where an override writes the count: that is
/// booked as one.
fn in_place(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, cluster: ClusterId, most: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let Some(class) = stage.view.class(id, task.workload, cluster) else { return rows };
    if stage.view.written(id, task.workload, cluster).is_some() {
        return rows;
    }
    let mut left = most;
    for row in task.rows.iter().filter(|row| row.cluster == cluster) {
        if let Resolved::Pool(_) = stage.ledger.resolve(class, cluster, row.pool) {
            let row = Row { replicas: row.replicas.min(left), ..*row };
            left -= row.replicas;
            rows.push(row);
        }
    }
    rows.retain(|row| row.replicas > 0);
    rows
}

/// Rows for so many pods of each part in one cluster, by part: what is there stays in its pools, the rest goes in the order
/// in which room was sought. They are booked.
fn seat_all(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], cluster: ClusterId, counts: &[u32]) -> Vec<Vec<Row>> {
    let mut rows: Vec<Vec<Row>> = Vec::with_capacity(tasks.len());
    for (task, count) in tasks.iter().zip(counts) {
        let there = in_place(stage, id, task, cluster, *count);
        stage.book(id, task.workload, &there);
        rows.push(there);
    }
    let mut set = Vec::new();
    let mut of_part = Vec::new();
    for (at, (task, count)) in tasks.iter().zip(counts).enumerate() {
        let left = count.saturating_sub(total(&rows[at]));
        let class = stage.view.class(id, task.workload, cluster).filter(|_| stage.ledger.is_known(cluster));
        match class {
            _ if left == 0 => {}
            None => rows[at].push(Row { cluster, pool: None, replicas: left }),
            Some(_) if stage.view.written(id, task.workload, cluster).is_some() => {
                rows[at] = seat::seat(stage, id, task, cluster, *count);
            }
            Some(class) => {
                set.push((class, left));
                of_part.push(at);
            }
        }
    }
    for position in stage.ledger.set_order(cluster, &set) {
        let (at, (class, mut left)) = (of_part[position], set[position]);
        for (pool, replicas) in stage.ledger.spread(class, cluster, left, Excess::Seat) {
            let row = Row { cluster, pool: stage.ledger.pool_id(class, cluster, pool), replicas };
            left = left.saturating_sub(replicas);
            stage.book(id, tasks[at].workload, &[row]);
            rows[at].push(row);
        }
        if left > 0 {
            // No pool of the cluster may run them, and room is ignored.
            rows[at].push(Row { cluster, pool: None, replicas: left });
        }
    }
    rows.into_iter().map(merged).collect()
}

fn total(rows: &[Row]) -> u32 {
    rows.iter().fold(0, |sum, row| sum.saturating_add(row.replicas))
}
