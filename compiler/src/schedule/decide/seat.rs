//! From replicas in clusters to rows in pools, and what a cluster has room for.

use super::Task;
use crate::api::Capacity;
use crate::base::{AppId, ClusterId};
use crate::model::Share;
use crate::room::Excess;
use crate::schedule::ledger::Resolved;
use crate::schedule::stage::Stage;
use crate::schedule::state::{Row, merged};

/// What a workload, taken out of the ledger, has room for in a cluster; `None` where that is unknown or no question.
pub(super) fn room(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    workload: usize,
    wanted: u32,
    cluster: ClusterId,
) -> Option<u64> {
    if stage.view.workload(id, workload).policy.capacity == Capacity::Ignore {
        return None;
    }
    let class = stage.view.class(id, workload, cluster)?;
    let room = stage.ledger.room(class, cluster)?;
    match stage.view.written(id, workload, cluster) {
        None => Some(room),
        // What an override writes runs whatever the share is: it fits or it does not.
        Some(written) if room >= u64::from(written) && !stage.ledger.eligible(class, cluster).is_empty() => {
            Some(u64::from(wanted))
        }
        Some(_) => Some(0),
    }
}

/// Replicas in a cluster that count as placed there: those that stay, and those that another pool of it can take.
pub(super) fn previous(stage: &Stage<'_, '_>, id: AppId, task: &Task, cluster: ClusterId, room: Option<u64>) -> u32 {
    let held = task.held(cluster);
    let adrift = held.unusable.saturating_add(held.displaced);
    if adrift == 0 || !stage.is_fresh(id, cluster) {
        return whole_or_ran(stage, id, task, cluster, held.stays);
    }
    let room =
        room.map_or(adrift, |room| u32::try_from(room.saturating_sub(u64::from(held.stays))).unwrap_or(u32::MAX));
    whole_or_ran(stage, id, task, cluster, held.stays.saturating_add(adrift.min(room)))
}

/// Of so many replicas in a cluster, those that may stay there. Copies are all replicas or those that ran: what an earlier
/// pass placed and this one had to clip is no old copy.
pub(super) fn whole_or_ran(stage: &Stage<'_, '_>, id: AppId, task: &Task, cluster: ClusterId, replicas: u32) -> u32 {
    let copied = stage.view.workload(id, task.workload).share == Share::Everywhere;
    if !copied || replicas >= task.wanted {
        return replicas;
    }
    let ran = stage.recorded[id.index()].workloads[task.workload].rows.iter().filter(|row| row.cluster == cluster);
    replicas.min(ran.fold(0, |sum, row| sum.saturating_add(row.replicas)))
}

/// Rows for replicas in one cluster: first where they were, then in booking order. They are booked.
pub(super) fn seat(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, cluster: ClusterId, replicas: u32) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let class = stage.view.class(id, task.workload, cluster).filter(|_| stage.ledger.is_known(cluster));
    let Some(class) = class.filter(|_| replicas > 0) else {
        return if replicas > 0 { vec![Row { cluster, pool: None, replicas }] } else { rows };
    };
    let old = task.rows.iter().filter(|row| row.cluster == cluster);
    let mut usable = Vec::new();
    for row in old {
        if let Resolved::Pool(pool) = stage.ledger.resolve(class, cluster, row.pool) {
            usable.push((pool, *row));
        }
    }
    if let Some(written) = stage.view.written(id, task.workload, cluster) {
        let pool = usable.first().map(|(pool, _)| *pool).or_else(|| stage.ledger.one_pool(class, cluster, written));
        let pool = pool.and_then(|pool| stage.ledger.pool_id(class, cluster, pool));
        rows.push(Row { cluster, pool, replicas });
        stage.book(id, task.workload, &rows);
        return rows;
    }
    let mut left = replicas;
    for (_, row) in usable {
        let row = Row { replicas: row.replicas.min(left), ..row };
        left -= row.replicas;
        stage.book(id, task.workload, &[row]);
        rows.push(row);
    }
    for (pool, replicas) in if left > 0 { stage.ledger.spread(class, cluster, left, Excess::Seat) } else { Vec::new() }
    {
        let row = Row { cluster, pool: stage.ledger.pool_id(class, cluster, pool), replicas };
        left = left.saturating_sub(replicas);
        stage.book(id, task.workload, &[row]);
        rows.push(row);
    }
    if left > 0 {
        // No pool of the cluster may run them, and room is ignored.
        rows.push(Row { cluster, pool: None, replicas: left });
    }
    merged(rows)
}

/// Keeps up to `replicas` of rows that should leave and have no place elsewhere. They are booked.
pub(super) fn keep(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    task: &Task,
    mut leaving: Vec<Row>,
    replicas: u32,
) -> Vec<Row> {
    leaving.sort_by_key(|row| (std::cmp::Reverse(row.replicas), *row));
    let mut left = replicas;
    let mut kept = Vec::new();
    for row in leaving {
        let row = Row { replicas: row.replicas.min(left), ..row };
        left -= row.replicas;
        kept.push(row);
    }
    let kept = merged(kept);
    stage.book(id, task.workload, &kept);
    kept
}

/// Rows of a cluster, less so many replicas that are seated there, and no more than `most` with these.
pub(super) fn beyond(task: &Task, cluster: ClusterId, seats: u32, most: Option<u32>) -> Vec<Row> {
    let mut taken = seats;
    let mut may = most.map_or(u32::MAX, |most| most.saturating_sub(seats));
    let mut beyond = Vec::new();
    for row in task.rows.iter().filter(|row| row.cluster == cluster) {
        let left = row.replicas.saturating_sub(taken).min(may);
        taken = taken.saturating_sub(row.replicas);
        may -= left;
        if left > 0 {
            beyond.push(Row { replicas: left, ..*row });
        }
    }
    beyond
}

/// Rows of a cluster that may not use their pool, less those that another pool of it took.
pub(super) fn adrift(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, cluster: ClusterId, seats: u32) -> Vec<Row> {
    let mut taken = seats.saturating_sub(task.held(cluster).stays);
    let mut adrift = Vec::new();
    for row in task.rows.iter().filter(|row| row.cluster == cluster) {
        if stage.is_unusable(id, task.workload, row) {
            let left = row.replicas.saturating_sub(taken);
            taken = taken.saturating_sub(row.replicas);
            adrift.push(Row { replicas: left, ..*row });
        }
    }
    adrift
}
