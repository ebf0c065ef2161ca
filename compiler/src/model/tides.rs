//! The phase that counts, applied to the apps of a tide.
//!
//! Which phase: at a supposed instant what its timetable says; else the one that `state/tides.yaml` records; without
//! either the App's own weights count. After this,
//! weights, digests and totals of workloads are those of the phase, so that nothing behind it knows of tides. Invariant: a
//! phase never reaches a workload that is not divided, nor a Job, whose counts cannot change.

use std::sync::Arc;

use crate::api::Strategy;
use crate::base::SmolStr;
use crate::placements::Record;
use crate::tide::{Timestamp, phase_at};

use super::{Fleet, Phase, Share, Workload, WorkloadKind};

/// Which phase of a tide counts, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Current {
    /// The tide.
    pub tide: SmolStr,
    /// Its phase; `None`: the Apps' own weights count.
    pub phase: Option<SmolStr>,
    /// Where that comes from.
    pub source: Source,
}

/// Where the phase of a tide comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The supposed instant; the phase began then.
    Instant(Timestamp),
    /// The record: what runs was decided for this phase.
    Recorded,
    /// Nothing is supposed or recorded.
    Nowhere,
}

/// Applies the phases that count to the workloads, and says which they are, by tide.
///
/// A recorded phase that the tide no longer has counts as none: the decider records another with its next tick.
pub fn settle(fleet: &mut Fleet, record: &Record, at: Option<Timestamp>) -> Vec<Current> {
    let mut currents = Vec::with_capacity(fleet.tides.len());
    for tide in fleet.tides.clone() {
        let window = at.and_then(|at| phase_at(&tide.timetable, at));
        let supposed = window.and_then(|window| tide.phases.get(window.phase));
        let recorded = record.tides.get(&tide.name).filter(|_| at.is_none());
        let recorded = recorded.and_then(|recorded| tide.phases.iter().find(|phase| phase.name == recorded.phase));
        let phase = supposed.or(recorded);
        for id in &tide.apps {
            if let (Some(phase), Some(app)) = (phase, fleet.apps.get_mut(id.index())) {
                Arc::make_mut(app).workloads.iter_mut().for_each(|workload| apply(phase, workload));
            }
        }
        currents.push(Current {
            tide: tide.name.clone(),
            phase: phase.map(|phase| phase.name.clone()),
            source: match window {
                Some(window) => Source::Instant(window.begin),
                None if recorded.is_some() => Source::Recorded,
                None => Source::Nowhere,
            },
        });
    }
    currents
}

/// Whether a tide can move a workload at all.
#[must_use]
pub fn moves(workload: &Workload) -> bool {
    workload.share == Share::Divided && workload.kind != WorkloadKind::Job
}

/// Whether the weights of a tide count for a workload.
#[must_use]
pub fn weighs(workload: &Workload) -> bool {
    moves(workload) && workload.policy.strategy == Some(Strategy::StaticWeight)
}

fn apply(phase: &Phase, workload: &mut Workload) {
    if let (Some((rules, digest)), true) = (&phase.weights, weighs(workload)) {
        workload.policy.weights = Some(rules.clone());
        workload.policy.digest = *digest;
    }
    if phase.replicas.is_some() && moves(workload) {
        workload.replicas = phase.replicas_of(workload.replicas);
        // written into manifests even where it happens to be what they say
        workload.policy.total = Some(workload.replicas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::IntOrPercent;

    #[test]
    fn shares_are_rounded_up() {
        let phase = |replicas| Phase { name: "night".into(), weights: None, replicas };
        for (replicas, stated, expected) in [
            (None, 7, 7),
            (Some(IntOrPercent::Int(3)), 7, 3),
            (Some(IntOrPercent::Percent(40)), 10, 4),
            (Some(IntOrPercent::Percent(40)), 11, 5),
            (Some(IntOrPercent::Percent(1)), 3, 1),
            (Some(IntOrPercent::Percent(0)), 3, 0),
            (Some(IntOrPercent::Percent(100)), u32::MAX, u32::MAX),
        ] {
            assert_eq!(phase(replicas).replicas_of(stated), expected, "{replicas:?} of {stated}");
        }
    }
}
