//! An app that changes its team brings along what runs of it. Nothing of that is taken away, but the new team's quota is
//! asked: an increase for that team, which review shows and refuses.

use super::Deficit;
use super::stage::Stage;
use crate::base::AppId;
use crate::placements::Record;

/// Notes apps that came from another team and with which their team is over its quota.
pub(super) fn ask_quotas(stage: &mut Stage<'_, '_>, record: &Record) {
    for ((team, app), _) in record.transfers.iter().filter(|((team, _), (old, _))| team != old) {
        let Some(id) = stage.view.fleet.app_id(team, app) else { continue };
        let known = stage.deficits[id.index()].iter().any(|deficit| matches!(deficit, Deficit::Quota { .. }));
        if let Some(deficit) = exceeded(stage, id).filter(|_| !known) {
            stage.deficits[id.index()].push(deficit);
        }
    }
}

/// The first quota of its team that is exceeded and that the app uses; of those of single clusters all.
fn exceeded(stage: &mut Stage<'_, '_>, id: AppId) -> Option<Deficit> {
    let state = std::mem::take(&mut stage.apps[id.index()]);
    let brought = stage.usage_of(id, &state);
    stage.apps[id.index()] = state;
    let app = stage.view.fleet.app(id);
    let quotas = stage.view.fleet.team(app.team).quota.iter();
    let rows = quotas.zip(stage.usage.of_team(app.team)).zip(&brought).flat_map(|((quota, used), brought)| {
        quota.hard.iter().zip(used).zip(brought).map(move |row| (quota.of_cluster, row))
    });
    let over = rows.filter(|(_, (((_, hard), used), more))| **more > 0 && *used > *hard);
    Deficit::of_quotas(over.map(|(cluster, (((resource, hard), used), more))| Deficit::Quota {
        resource: resource.clone(),
        cluster,
        used: used - more,
        more: *more,
        hard: *hard,
        others: Vec::new(),
    }))
}
