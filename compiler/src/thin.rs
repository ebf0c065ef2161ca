//! The first thin path through the pipeline: everything everywhere. Goes as soon as the scheduler is in.

use crate::base::labels::Labels;
use crate::diag::Diagnostic;
use crate::model::Fleet;
use crate::placements::Record;
use crate::plan::{AppPlan, Fill, Plan, PlannedObject};
use crate::schedule::{AppTarget, Scenario, Seat, Target};
use crate::variants::Variants;

pub(crate) fn schedule(fleet: &Fleet, _: &Variants, _: &Record, _: &Scenario) -> Target {
    let apps = fleet.apps.iter().map(|app| {
        let clusters = app.placement.candidates.clone();
        let seats = app.workloads.iter().enumerate().flat_map(|(w, workload)| {
            clusters.iter().map(move |cluster| Seat {
                workload: w as u16,
                cluster,
                pool: None,
                replicas: workload.replicas,
                completions: workload.completions,
            })
        });
        AppTarget { seats: seats.collect(), clusters: clusters.clone(), ..AppTarget::default() }
    });
    Target { apps: apps.collect() }
}

pub(crate) fn check(_: &Fleet, _: &Variants, _: &Record, _: &Scenario, _: &Target) -> Vec<String> {
    Vec::new()
}

pub(crate) fn plan(fleet: &Fleet, _: &Variants, _: &Record, target: &Target) -> Plan {
    let mut plan = Plan::default();
    for (app, target) in fleet.apps.iter().zip(&target.apps) {
        let mut objects = Vec::new();
        for cluster in target.clusters.iter() {
            for index in 0..app.objects.len() {
                let seat = target
                    .seats
                    .iter()
                    .find(|s| app.workloads[s.workload as usize].object == index && s.cluster == cluster);
                let fill =
                    seat.map_or(Fill::AsIs, |s| Fill::Share { replicas: s.replicas, completions: s.completions });
                objects.push(PlannedObject { cluster, object: index as u32, fill });
                if let Some(ns) = &app.objects[index].key.namespace {
                    plan.namespaces.push((cluster, ns.clone(), Labels::new()));
                }
            }
        }
        plan.apps.push(AppPlan { objects, moves: Vec::new() });
    }
    plan.namespaces.sort();
    plan.namespaces.dedup();
    plan
}

pub(crate) fn deficits(_: &Fleet, _: &Target) -> Vec<Diagnostic> {
    Vec::new()
}
