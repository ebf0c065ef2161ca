//! The phase that counts, applied to the apps of a tide.
//!
//! Which phase: at a supposed instant what its timetable says, otherwise what `state/tides.yaml` says; neither: the App's
//! own weights. After this, weights, digests and totals of workloads are those of the phase, so that nothing behind it knows of
//! tides. Invariant: a phase never reaches a workload that is not divided, nor a Job, whose counts cannot change.

use std::sync::Arc;

use crate::api::Strategy;
use crate::base::SmolStr;
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::placements::{Record, TidePhase};
use crate::tide::{Timestamp, Window, phase_at};

use super::{Fleet, Phase, Share, Tide, Workload, WorkloadKind};

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
    /// `state/tides.yaml`.
    Recorded,
    /// Nothing is recorded, or a phase that the tide does not have any more.
    Nowhere,
}

/// Applies the phases that count to the workloads, and says which they are, by tide.
pub fn settle(
    fleet: &mut Fleet,
    record: &Record,
    at: Option<Timestamp>,
    diagnostics: &mut Diagnostics,
) -> Vec<Current> {
    let mut currents = Vec::with_capacity(fleet.tides.len());
    for tide in fleet.tides.clone() {
        let (index, source) = current(&tide, record, at, diagnostics);
        let phase = index.and_then(|index| tide.phases.get(index));
        for id in &tide.apps {
            if let (Some(phase), Some(app)) = (phase, fleet.apps.get_mut(id.index())) {
                Arc::make_mut(app).workloads.iter_mut().for_each(|workload| apply(phase, workload));
            }
        }
        currents.push(Current { tide: tide.name.clone(), phase: phase.map(|phase| phase.name.clone()), source });
    }
    currents
}

fn current(
    tide: &Tide,
    record: &Record,
    at: Option<Timestamp>,
    diagnostics: &mut Diagnostics,
) -> (Option<usize>, Source) {
    if let Some(at) = at {
        return match phase_at(&tide.timetable, at) {
            Some(Window { phase, begin }) => (Some(phase), Source::Instant(begin)),
            None => (None, Source::Nowhere),
        };
    }
    let Some(TidePhase { phase: recorded, .. }) = record.tides.get(&tide.name) else { return (None, Source::Nowhere) };
    let index = tide.phases.iter().position(|phase| phase.name == *recorded);
    if index.is_none() {
        diagnostics.push(
            Diagnostic::new(
                codes::tides::RECORDED_PHASE_GONE,
                Place::Span(tide.file, tide.name_span),
                format!("phase `{recorded}` of Tide `{}` is recorded, and the tide has none of that name", tide.name),
            )
            .help("until the next phase is recorded, the Apps' own weights count"),
        );
    }
    (index, index.map_or(Source::Nowhere, |_| Source::Recorded))
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

/// A workload as it is without a phase, and in every phase of a tide.
#[must_use]
pub fn in_every_phase(tide: Option<&Tide>, workload: &Workload) -> Vec<Workload> {
    let stated = workload.stated.as_deref().unwrap_or(workload);
    let phases = tide.into_iter().flat_map(|tide| &tide.phases).map(|phase| {
        let mut then = stated.clone();
        apply(phase, &mut then);
        then
    });
    std::iter::once(stated.clone()).chain(phases).collect()
}

fn apply(phase: &Phase, workload: &mut Workload) {
    if !moves(workload) {
        return;
    }
    workload.stated = Some(Box::new(workload.clone()));
    if let (Some((rules, digest)), true) = (&phase.weights, weighs(workload)) {
        workload.policy.weights = Some(rules.clone());
        workload.policy.digest = *digest;
    }
    if phase.replicas.is_some() {
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
