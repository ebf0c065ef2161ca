//! What would become of a proposal: the schedule with the victims lowered is the proof of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Market, Victim, Wanted};
use crate::base::{AppId, ClusterId, SmolStr};
use crate::model::Fleet;
use crate::placements::{GaveWay, PlacedApp, Record};
use crate::schedule::placed::placed;
use crate::schedule::state::pool_name;
use crate::schedule::{Deficit, Scenario, Target, check, schedule};

impl Market<'_, '_> {
    /// Where the app and its victims run with the victims lowered; `None` where the app is still short, or anybody loses
    /// more than what is proposed.
    pub(super) fn accepted(
        &self,
        wanted: &Wanted,
        cluster: ClusterId,
        victims: &[Victim],
    ) -> Option<BTreeMap<(SmolStr, SmolStr), PlacedApp>> {
        let (fleet, variants) = (self.view.fleet, self.view.variants);
        let mut record = self.settled.clone();
        for victim in victims {
            lower(fleet, &mut record, wanted.app, cluster, victim);
        }
        let scenario = Scenario::default();
        let target = schedule(fleet, variants, &record, &scenario);
        if !check::check(fleet, variants, &record, &scenario, &target).is_empty() {
            return None;
        }
        let of_app = target.apps.get(wanted.app.index())?;
        let short = |deficit: &Deficit| {
            let missing = |of: u16| wanted.missing.iter().any(|(workload, _)| *workload == of);
            matches!(deficit, Deficit::Unplaced { workload, .. } if missing(*workload))
        };
        if of_app.deficits.iter().any(short) {
            return None;
        }
        let unchanged = fleet.app_ids().filter(|other| *other != wanted.app).all(|other| {
            let counts = |target: &Target| {
                let mut counts: BTreeMap<(u16, ClusterId), u64> = BTreeMap::new();
                for seat in target.apps.get(other.index()).map(|app| app.seats.as_slice()).unwrap_or_default() {
                    *counts.entry((seat.workload, seat.cluster)).or_default() += u64::from(seat.replicas);
                }
                counts
            };
            let after = counts(&target);
            counts(self.target).into_iter().all(|((workload, at), before)| {
                let gives = victims.iter().filter(|v| (v.app, v.workload, cluster) == (other, workload, at));
                let gives: u64 = gives.map(|victim| u64::from(victim.replicas)).sum();
                after.get(&(workload, at)).copied().unwrap_or(0).saturating_add(gives) >= before
            })
        });
        let concerned: BTreeSet<AppId> = victims.iter().map(|victim| victim.app).chain([wanted.app]).collect();
        let mut after = placed(fleet, &target);
        after.retain(|key, _| concerned.iter().any(|of| key_of(fleet, *of) == *key));
        unchanged.then_some(after)
    }
}

fn key_of(fleet: &Fleet, id: AppId) -> (SmolStr, SmolStr) {
    let app = fleet.app(id);
    (fleet.team(app.team).name.clone(), app.name.clone())
}

/// Takes a victim's replicas out of the record, and notes for whom.
fn lower(fleet: &Fleet, record: &mut Record, to: AppId, cluster: ClusterId, victim: &Victim) {
    let key = fleet.app(victim.app).workloads.get(usize::from(victim.workload)).map(|workload| &workload.key);
    let app = record.apps.get_mut(&key_of(fleet, victim.app));
    let Some(workload) = app.zip(key).and_then(|(app, key)| app.workloads.get_mut(key)) else { return };
    let pool = victim.pool.map(|pool| pool_name(fleet, cluster, pool));
    let name = &fleet.cluster(cluster).name;
    for seat in workload.seats.iter_mut().filter(|seat| seat.cluster == *name && seat.pool == pool) {
        seat.replicas = seat.replicas.saturating_sub(victim.replicas);
    }
    workload.seats.retain(|seat| seat.replicas > 0);
    let to = key_of(fleet, to);
    match workload.gave_way.iter_mut().find(|known| known.to == to && known.cluster == *name) {
        Some(known) => known.replicas = known.replicas.saturating_add(victim.replicas),
        None => workload.gave_way.push(GaveWay { to, cluster: name.clone(), replicas: victim.replicas }),
    }
}
