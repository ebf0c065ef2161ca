//! The target as a lock.

use std::collections::BTreeMap;

use super::deficit::Deficit;
use super::state::pool_name;
use super::target::{AppTarget, Target};
use crate::base::{AppId, SmolStr, workload_numbers};
use crate::model::Fleet;
use crate::placements::{GaveWay, PlacedApp, PlacedSeat, PlacedWorkload};

/// The target as the record would hold it, by (team, app): scheduling again with it changes nothing.
#[must_use]
pub fn placed(fleet: &Fleet, target: &Target) -> BTreeMap<(SmolStr, SmolStr), PlacedApp> {
    let apps = fleet.app_ids().zip(&target.apps);
    apps.map(|(id, target)| {
        let app = fleet.app(id);
        ((fleet.team(app.team).name.clone(), app.name.clone()), placed_app(fleet, id, target))
    })
    .collect()
}

fn placed_app(fleet: &Fleet, id: AppId, target: &AppTarget) -> PlacedApp {
    let name = |cluster| fleet.cluster(cluster).name.clone();
    let mut workloads: BTreeMap<SmolStr, PlacedWorkload> = BTreeMap::new();
    for (index, workload) in workload_numbers().zip(&fleet.app(id).workloads) {
        let former = target.former_weights.iter().find(|(w, _)| *w == index).map(|(_, digest)| digest.clone());
        let seats = target.seats.iter().filter(|seat| seat.workload == index).map(|seat| PlacedSeat {
            cluster: name(seat.cluster),
            pool: seat.pool.map(|pool| pool_name(fleet, seat.cluster, pool)),
            replicas: seat.replicas,
            completions: seat.completions,
            bounds: seat.bounds,
        });
        let mut seats: Vec<PlacedSeat> = seats.collect();
        seats.sort();
        let weights = former.unwrap_or_else(|| workload.policy.digest.short().into());
        let gave_way = target.deficits.iter().filter_map(|deficit| match deficit {
            Deficit::GaveWay { workload, to, cluster, replicas } if *workload == index => {
                let to = fleet.app(*to);
                let to = (fleet.team(to.team).name.clone(), to.name.clone());
                Some(GaveWay { to, cluster: name(*cluster), replicas: *replicas })
            }
            _ => None,
        });
        let mut gave_way: Vec<GaveWay> = gave_way.collect();
        gave_way.sort();
        workloads.insert(workload.key.clone(), PlacedWorkload { weights, seats, gave_way });
    }
    let tiers = fleet.app(id).placement.first_fit();
    let tier = tiers.zip(target.tier).and_then(|(tiers, at)| tiers.get(usize::from(at))).map(|tier| tier.name.clone());
    PlacedApp { place: None, tier, clusters: target.clusters.iter().map(name).collect(), workloads }
}
