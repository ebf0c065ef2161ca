//! The first phase, for all apps and free of order: what has nothing left to keep is released, the rest is booked where
//! the record has it. Only where a pool is overdrawn are bookings made in the order of the second phase, and clipped:
//! what is clipped is displaced.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::room::{Excess, PoolRef};
use crate::schedule::Displaced;
use crate::schedule::filter::Release;
use crate::schedule::ledger::{ClassId, Resolved};
use crate::schedule::quota::{AppUsage, Usage};
use crate::schedule::stage::Stage;
use crate::schedule::state::{AppState, NO_POOL, Row, merged};
use crate::schedule::view::is_daemon;

/// Books all that runs and stays.
pub(super) fn book_the_record(stage: &mut Stage<'_, '_>) {
    stage.displaced.clear();
    stage.entered.clear();
    count_usage(stage);
    let ids: Vec<AppId> = stage.view.fleet.app_ids().collect();
    for id in &ids {
        give_up(stage, *id);
        give_up_daemons(stage, *id);
    }
    if stage.is_booked && stage.entered.is_empty() && stands(stage, &ids) {
        return;
    }
    stage.ledger.clear();
    let daemon = |stage: &Stage<'_, '_>, id: AppId, workload: usize| is_daemon(stage.view.workload(id, workload));
    for_each_workload(stage, &ids, |stage, id, workload, rows| {
        if daemon(stage, id, workload) {
            stage.book(id, workload, rows);
        }
    });
    let order = stage.view.order.clone();
    for_each_workload(stage, &order, |stage, id, workload, rows| {
        if !daemon(stage, id, workload) {
            book_where_recorded(stage, id, workload, rows);
        }
    });
    for_each_workload(stage, &order, |stage, id, workload, rows| {
        if !daemon(stage, id, workload) {
            settle_open_rows(stage, id, workload, rows);
        }
    });
    for pool in stage.ledger.overdrawn() {
        clip(stage, pool);
    }
    // What is booked in full never displaces others: it comes last, and may leave its pool overdrawn.
    for_each_workload(stage, &ids, |stage, id, workload, rows| {
        if !daemon(stage, id, workload) {
            for row in with_what_comes(stage, id, workload, rows).chunk_by(|a, b| a.cluster == b.cluster) {
                if stage.view.books_in_full(id, workload, row[0].cluster) {
                    stage.book(id, workload, row);
                }
            }
        }
    });
    // What autoscalers run beyond that leaves less for what comes, and takes nothing from what is there.
    for_each_workload(stage, &ids, |stage, id, workload, rows| {
        if stage.view.books_observed(id, workload) {
            let rows = with_what_comes(stage, id, workload, rows);
            stage.count_beyond(id, workload, &rows);
        }
    });
}

/// Whether booking the record would come to what is booked already: every row has its pool, and no pool is overdrawn.
fn stands(stage: &mut Stage<'_, '_>, ids: &[AppId]) -> bool {
    if !stage.ledger.overdrawn().is_empty() {
        return false;
    }
    let mut stand = true;
    for_each_workload(stage, ids, |stage, id, workload, rows| {
        if stand && !stage.view.is_held(id) && !is_daemon(stage.view.workload(id, workload)) {
            stand = rows.iter().all(|row| pool_today(stage, id, workload, row) == Some(row.pool));
        }
    });
    stand
}

/// The pool of a row as today's rule names it; `None` where one must be found.
fn pool_today(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, row: &Row) -> Option<Option<PoolId>> {
    let Some(class) = stage.view.class(id, workload, row.cluster) else { return Some(row.pool) };
    match stage.ledger.resolve(class, row.cluster, row.pool) {
        Resolved::Pool(pool) => Some(stage.ledger.pool_id(class, row.cluster, pool)),
        Resolved::Unknown => Some(None),
        Resolved::Unusable => Some(row.pool.filter(|pool| *pool != NO_POOL)),
        Resolved::Open => None,
    }
}

/// The same for some apps, where all of them are booked already: what has nothing left to keep is taken back.
pub(super) fn give_up_in_place(stage: &mut Stage<'_, '_>, some: &[AppId]) {
    stage.displaced.clear();
    stage.entered.clear();
    for id in some {
        let before = stage.apps[id.index()].clone();
        give_up(stage, *id);
        give_up_daemons(stage, *id);
        let after = std::mem::replace(&mut stage.apps[id.index()], before.clone());
        stage.rebook(*id, &before, &after);
        stage.apps[id.index()] = after;
    }
}

/// The rows of a workload, and of one on a move in steps also those that it still is to get: nobody takes their room.
fn with_what_comes<'r>(stage: &Stage<'_, '_>, id: AppId, workload: usize, rows: &'r [Row]) -> Cow<'r, [Row]> {
    let Some(target) = stage.view.leads_to(id).and_then(|target| target.workloads.get(workload)) else {
        return Cow::Borrowed(rows);
    };
    let mut all: BTreeMap<(ClusterId, Option<PoolId>), u32> = BTreeMap::new();
    for row in rows.iter().chain(&target.rows) {
        let replicas = all.entry((row.cluster, row.pool)).or_default();
        *replicas = row.replicas.max(*replicas);
    }
    all.into_iter().map(|((cluster, pool), replicas)| Row { cluster, pool, replicas }).collect()
}

fn for_each_workload<'v, 'a>(
    stage: &mut Stage<'v, 'a>,
    ids: &[AppId],
    mut each: impl FnMut(&mut Stage<'v, 'a>, AppId, usize, &mut Vec<Row>),
) {
    for id in ids {
        for workload in 0..stage.view.fleet.app(*id).workloads.len() {
            let mut rows = std::mem::take(&mut stage.apps[id.index()].workloads[workload].rows);
            each(stage, *id, workload, &mut rows);
            stage.apps[id.index()].workloads[workload].rows = rows;
        }
    }
}

fn count_usage(stage: &mut Stage<'_, '_>) {
    stage.usage = Usage::new(stage.view.fleet);
    for id in stage.view.fleet.app_ids() {
        let state = std::mem::take(&mut stage.apps[id.index()]);
        let now = usage(stage, id, &state);
        let none = now.iter().map(|quota| vec![0; quota.len()]).collect();
        stage.usage.replace(stage.view.fleet.app(id), &none, &now);
        stage.apps[id.index()] = state;
    }
}

/// What an app asks of its team's quotas. Of one on a move in steps, what it keeps until its next step counts in room and not
/// in quota; in the quota of a single cluster, and of objects, what is there and what is to come counts.
fn usage(stage: &mut Stage<'_, '_>, id: AppId, state: &AppState) -> AppUsage {
    let Some(target) = stage.view.leads_to(id).cloned() else { return stage.usage_of(id, state) };
    let mut both = state.clone();
    for (workload, rows) in both.workloads.iter_mut().enumerate() {
        rows.rows = with_what_comes(stage, id, workload, &rows.rows).into_owned();
    }
    let (end, all) = (stage.usage_of(id, &target), stage.usage_of(id, &both));
    // what is made for pods counts with these
    let (objects_at_end, objects) = (stage.usage_of_objects(id, &target), stage.usage_of_objects(id, &both));
    let mut counts = Vec::with_capacity(all.len());
    for (at, quota) in stage.view.fleet.team(stage.view.fleet.app(id).team).quota.iter().enumerate() {
        let count = |resource: usize| {
            let of = |usage: &AppUsage| usage.get(at).and_then(|row| row.get(resource)).copied().unwrap_or(0);
            if quota.of_cluster.is_some() { of(&all) } else { of(&end) - of(&objects_at_end) + of(&objects) }
        };
        counts.push((0..quota.hard.len()).map(count).collect());
    }
    counts
}

/// Takes an app out of clusters where it has nothing left to keep.
fn give_up(stage: &mut Stage<'_, '_>, id: AppId) {
    let state = &stage.apps[id.index()];
    let recorded = &stage.recorded[id.index()];
    let ran = |cluster: ClusterId| {
        let mut rows = recorded.workloads.iter().flat_map(|w| &w.rows);
        recorded.clusters.contains(cluster) || rows.any(|row| row.cluster == cluster)
    };
    // What an earlier pass placed where a tier or a group no longer allows it never ran.
    let gone = |cluster: ClusterId| {
        stage.view.releases_app(id, cluster) == Some(Release::Gone)
            || (!stage.scope(id).keeps(cluster) && !ran(cluster))
    };
    let rows = state.workloads.iter().flat_map(|w| &w.rows).map(|row| row.cluster);
    let leaving: Vec<ClusterId> = state.clusters.iter().chain(rows).filter(|c| gone(*c)).collect();
    if leaving.is_empty() {
        return;
    }
    remember(stage, id);
    let state = &mut stage.apps[id.index()];
    leaving.iter().for_each(|cluster| state.clusters.remove(*cluster));
    for workload in &mut state.workloads {
        workload.rows.retain(|row| !leaving.contains(&row.cluster));
    }
}

/// Takes DaemonSets out of clusters that they leave, if they stay in others: they wait for no place elsewhere, so what they took
/// of the nodes displaces nobody.
fn give_up_daemons(stage: &mut Stage<'_, '_>, id: AppId) {
    if stage.view.is_held(id) {
        return;
    }
    for workload in 0..stage.view.fleet.app(id).workloads.len() {
        if !is_daemon(stage.view.workload(id, workload)) {
            continue;
        }
        let rows = &stage.apps[id.index()].workloads[workload].rows;
        let stay: Vec<Row> = rows.iter().filter(|row| !stage.leaves(id, workload, row.cluster)).copied().collect();
        if !stay.is_empty() && stay.len() < rows.len() {
            remember(stage, id);
            stage.apps[id.index()].workloads[workload].rows = stay;
        }
    }
}

/// Keeps the app as it entered the pass.
fn remember(stage: &mut Stage<'_, '_>, id: AppId) {
    let state = &stage.apps[id.index()];
    stage.entered.entry(id).or_insert_with(|| state.clone());
}

/// Books the rows whose pool is known, and names the pool as today's rule has it.
fn book_where_recorded(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, rows: &mut Vec<Row>) {
    if stage.view.is_held(id) {
        // Its rows stay as they are recorded, and are booked in full at the end.
        return;
    }
    for row in rows.iter_mut() {
        row.pool = pool_today(stage, id, workload, row).unwrap_or(row.pool);
    }
    *rows = merged(std::mem::take(rows));
    for rows in rows.chunk_by(|a, b| a.cluster == b.cluster) {
        if !stage.view.books_in_full(id, workload, rows[0].cluster) {
            stage.book(id, workload, rows);
        }
    }
}

/// Finds pools for rows whose cluster had one eligible pool when they were recorded and has several now, or whose pool is
/// no longer there. Replicas that were booked before them stay where they are.
fn settle_open_rows(stage: &mut Stage<'_, '_>, id: AppId, workload: usize, rows: &mut Vec<Row>) {
    if stage.view.is_held(id) {
        return;
    }
    let mut settled = Vec::new();
    let mut displaced = false;
    let entered = rows.clone();
    rows.retain(|row| {
        let Some(class) = stage.view.class(id, workload, row.cluster) else { return true };
        if stage.ledger.resolve(class, row.cluster, row.pool) != Resolved::Open {
            return true;
        }
        let in_full = stage.view.books_in_full(id, workload, row.cluster);
        let pools = match stage.view.written(id, workload, row.cluster) {
            Some(written) => stage.ledger.one_pool(class, row.cluster, written).map(|p| (p, row.replicas)),
            None => None,
        };
        let excess = if in_full { Excess::Seat } else { Excess::Leave };
        let pools =
            pools.map_or_else(|| stage.ledger.spread(class, row.cluster, row.replicas, excess), |one| vec![one]);
        let seated = pools.iter().fold(0_u32, |sum, (_, replicas)| sum.saturating_add(*replicas));
        let missing = row.replicas.saturating_sub(seated);
        displaced |= missing > 0;
        displace(stage, (id, workload, row.cluster), missing);
        note(stage, (id, workload, row.cluster), None, missing, &[]);
        for (pool, replicas) in pools {
            let row = Row { pool: stage.ledger.pool_id(class, row.cluster, pool), replicas, ..*row };
            if !in_full {
                stage.book(id, workload, &[row]);
            }
            settled.push(row);
        }
        false
    });
    if *rows != entered {
        if displaced && !stage.entered.contains_key(&id) {
            let mut app = stage.apps[id.index()].clone();
            app.workloads[workload].rows = entered;
            stage.entered.insert(id, app);
        }
        rows.append(&mut settled);
        *rows = merged(std::mem::take(rows));
    }
}

/// Notes replicas that are booked nowhere any more.
fn displace(stage: &mut Stage<'_, '_>, at: (AppId, usize, ClusterId), replicas: u32) {
    if replicas > 0 {
        let here = stage.displaced.entry(at).or_default();
        *here = here.saturating_add(replicas);
        let all = stage.displaced_in_all.entry((at.0, at.1)).or_default();
        *all = all.saturating_add(replicas);
    }
}

/// Keeps what was displaced for the report.
fn note(
    stage: &mut Stage<'_, '_>,
    (app, workload, cluster): (AppId, usize, ClusterId),
    pool: Option<PoolId>,
    replicas: u32,
    short: &[(SmolStr, i128)],
) {
    if replicas > 0 {
        let workload = u16::try_from(workload).unwrap_or(u16::MAX);
        stage.displacements.push(Displaced { app, workload, cluster, pool, replicas, short: short.to_vec() });
    }
}

/// Replicas booked in one pool.
struct InPool {
    id: AppId,
    workload: usize,
    cluster: ClusterId,
    row: usize,
    class: ClassId,
    replicas: u32,
    leaves: bool,
}

/// Books a pool anew in the order of the second phase, each row only as far as it fits. Replicas that leave anyway come
/// last.
fn clip(stage: &mut Stage<'_, '_>, pool: PoolRef) {
    let mut inside: Vec<InPool> = Vec::new();
    let order = stage.view.order.clone();
    for_each_workload(stage, &order, |stage, id, workload, rows| {
        if is_daemon(stage.view.workload(id, workload)) {
            return;
        }
        for (index, row) in rows.iter().enumerate() {
            // a number that an override writes is booked once for all rows, and in full
            let written = stage.view.written(id, workload, row.cluster).is_some();
            if written || stage.view.books_in_full(id, workload, row.cluster) {
                continue;
            }
            for booking in stage.bookings(id, workload, std::slice::from_ref(row)) {
                if booking.pool == pool {
                    let scoped = !stage.scope(id).keeps(row.cluster);
                    let leaves = scoped || stage.view.release(id, workload, row.cluster).is_some();
                    let (cluster, class, replicas) = (row.cluster, booking.class, booking.replicas);
                    inside.push(InPool { id, workload, cluster, row: index, class, replicas, leaves });
                }
            }
        }
    });
    let short = stage.ledger.overdraft(pool);
    for booked in &inside {
        stage.ledger.unbook(booked.class, pool, booked.replicas);
    }
    inside.sort_by_key(|booked| booked.leaves);
    let mut lost: BTreeMap<(AppId, usize), Vec<usize>> = BTreeMap::new();
    for booked in &inside {
        let room = stage.ledger.room_for_placed(booked.class, pool);
        let fits = u32::try_from(room).unwrap_or(u32::MAX).min(booked.replicas);
        stage.ledger.book(booked.class, pool, fits);
        let missing = booked.replicas - fits;
        if missing > 0 {
            remember(stage, booked.id);
            displace(stage, (booked.id, booked.workload, booked.cluster), missing);
            let at = stage.ledger.id(booked.cluster, pool);
            note(stage, (booked.id, booked.workload, booked.cluster), at, missing, &short);
            stage.apps[booked.id.index()].workloads[booked.workload].rows[booked.row].replicas = fits;
            lost.entry((booked.id, booked.workload)).or_default().push(booked.row);
        }
    }
    for (id, workload) in lost.into_keys() {
        stage.apps[id.index()].workloads[workload].rows.retain(|row| row.replicas > 0);
    }
}
