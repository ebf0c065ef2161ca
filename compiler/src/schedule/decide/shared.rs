//! Room for apps that share their clusters: the first of them goes where there is room for all.

use std::collections::BTreeMap;

use super::{Task, seat};
use crate::base::{AppId, ClusterId};
use crate::model::Share;
use crate::schedule::stage::Stage;
use crate::schedule::view::bounds;

/// By cluster, for the workload that leads the first app of a group: as many of its replicas as leave room for the others,
/// each with the same share of its own. Empty for every other app, and where no set of clusters has room for all: then the
/// first is not kept waiting for the others.
pub(super) fn rooms(stage: &mut Stage<'_, '_>, id: AppId, task: &Task) -> BTreeMap<ClusterId, u64> {
    if !leads(stage, id) || task.wanted == 0 {
        return BTreeMap::new();
    }
    stage.take_out(id, task.workload, &task.rows);
    let mut rooms = BTreeMap::new();
    let workload = stage.view.workload(id, task.workload);
    let usable =
        |cluster: &ClusterId| stage.view.allows(id, task.workload, *cluster) && bounds(workload, *cluster).weight > 0;
    let clusters: Vec<ClusterId> = stage.fresh(id).iter().filter(usable).collect();
    for cluster in clusters {
        if let Some(own) = seat::room(stage, id, task.workload, task.wanted, cluster) {
            rooms.insert(cluster, room(stage, id, task, cluster, own));
        }
    }
    stage.put_in(id, task.workload, &task.rows);
    let enough = match workload.share {
        Share::Divided => rooms.values().fold(0, |sum: u64, room| sum.saturating_add(*room)),
        Share::Whole | Share::Everywhere => rooms.values().copied().max().unwrap_or(0),
    };
    if enough >= u64::from(task.wanted) { rooms } else { BTreeMap::new() }
}

/// Whether an app is the first of those that share its clusters.
pub(super) fn leads(stage: &Stage<'_, '_>, id: AppId) -> bool {
    stage.view.together.of(id).is_some_and(|group| group.members.first() == Some(&id))
}

fn room(stage: &mut Stage<'_, '_>, id: AppId, task: &Task, cluster: ClusterId, own_room: u64) -> u64 {
    let Some(group) = stage.view.together.of(id) else { return own_room };
    let most = u32::try_from(own_room).unwrap_or(u32::MAX);
    let least = stage.most_beside(&group.members, cluster, task.wanted, most, Some((id, task.workload)));
    // More than all of it is no question of the group.
    if least == task.wanted { own_room } else { u64::from(least) }
}
