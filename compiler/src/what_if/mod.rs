//! What would run if something were otherwise: clusters lost, other replicas, other weights.
//!
//! Everything starts from the target of a compile as if it had been reached, so that only what the supposition itself does
//! is seen. A supposition is scheduled and checked like any other: nothing here decides.
//!
//! Invariants: pure; the fleet and the record of the compile stay as they are; losses and apps in one total order. A new
//! supposition is a field of [`Changes`] or a variant of [`Loss`].

mod changes;
mod survival;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use crate::base::{AppId, ClusterId, SmolStr};
use crate::model::{App, ClusterSet, Fleet, Share, Workload};
use crate::placements::Record;
use crate::schedule::{AppTarget, Deficit, Scenario, Target, check, placed, schedule};
use crate::variants::Variants;

pub use changes::{ChangeError, Changes, changed, without_pools};
pub use survival::{Lapse, survival};

/// Something that is supposed lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// One cluster.
    Cluster(SmolStr),
    /// All clusters of a region.
    Region(SmolStr),
}

impl Loss {
    /// Its clusters; none where no cluster is called so, or lies there.
    #[must_use]
    pub fn clusters(&self, fleet: &Fleet) -> ClusterSet {
        match self {
            Self::Cluster(name) => fleet.cluster_id(name).into_iter().collect(),
            Self::Region(region) => {
                fleet.cluster_ids().filter(|id| fleet.cluster(*id).region.as_ref() == Some(region)).collect()
            }
        }
    }

    /// Each cluster of a set.
    pub fn each_cluster<'f>(fleet: &'f Fleet, of: &'f ClusterSet) -> impl Iterator<Item = Self> + 'f {
        of.iter().map(|id| Self::Cluster(fleet.cluster(id).name.clone()))
    }

    /// Each region that a set touches, by name.
    #[must_use]
    pub fn each_region(fleet: &Fleet, of: &ClusterSet) -> BTreeSet<Self> {
        of.iter().filter_map(|id| fleet.cluster(id).region.clone()).map(Self::Region).collect()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(name) => write!(f, "cluster {name}"),
            Self::Region(name) => write!(f, "region {name}"),
        }
    }
}

/// A world to suppose things in: a fleet, and its target as what runs.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The fleet, with the changes that are supposed.
    pub fleet: &'a Fleet,
    /// Its objects after overrides.
    pub variants: &'a Variants,
    /// What runs; see [`settled`].
    pub settled: &'a Record,
}

/// The record with a target in place of what runs.
#[must_use]
pub fn settled(fleet: &Fleet, record: &Record, target: &Target) -> Record {
    Record { apps: placed(fleet, target), ..record.clone() }
}

/// What would run with all of these lost at once.
///
/// # Errors
/// Our bug: the schedule breaks its own rules.
pub fn without(world: &World<'_>, losses: &[Loss]) -> Result<Target, Vec<String>> {
    let lost = losses.iter().flat_map(|loss| loss.clusters(world.fleet).iter().collect::<Vec<_>>());
    let lose = lost.map(|id| world.fleet.cluster(id).name.clone()).collect();
    let scenario = Scenario { lose, ..Scenario::default() };
    let target = schedule(world.fleet, world.variants, world.settled, &scenario);
    let violations = check::check(world.fleet, world.variants, world.settled, &scenario, &target);
    if violations.is_empty() { Ok(target) } else { Err(violations) }
}

/// The clusters in which a target runs anything.
#[must_use]
pub fn in_use(target: &Target) -> ClusterSet {
    target.apps.iter().fold(ClusterSet::default(), |all, app| all.or(&used_by(app)))
}

/// The clusters in which an app runs anything: those of its seats; of an app without seats all that are selected.
#[must_use]
pub fn used_by(app: &AppTarget) -> ClusterSet {
    if app.seats.is_empty() { app.clusters.clone() } else { app.seats.iter().map(|seat| seat.cluster).collect() }
}

/// What an app lacks in one target and did not lack in another.
#[must_use]
pub fn new_deficits(before: &AppTarget, after: &AppTarget) -> Vec<Deficit> {
    let known: Vec<Deficit> = before.deficits.iter().map(Deficit::bare).collect();
    after.deficits.iter().filter(|deficit| !known.contains(&deficit.bare())).cloned().collect()
}

/// Whether an app ran somewhere and runs nowhere.
#[must_use]
pub fn is_gone(before: &AppTarget, after: &AppTarget) -> bool {
    !used_by(before).is_empty() && used_by(after).is_empty()
}

/// Replicas of an app that are wanted and run nowhere, for whatever reason: no room, a quota, a spread that cannot be met. Of
/// copies, those that are reported as missing.
#[must_use]
pub fn missing(app: &App, target: &AppTarget) -> u64 {
    let of = |(number, workload): (u16, &Workload)| {
        let reported = target.deficits.iter().find_map(|deficit| match deficit {
            Deficit::Unplaced { workload, replicas, .. } if *workload == number => Some(u64::from(*replicas)),
            _ => None,
        });
        match workload.share {
            Share::Everywhere => reported.unwrap_or(0),
            Share::Divided | Share::Whole => {
                let seats = target.seats.iter().filter(|seat| seat.workload == number);
                u64::from(workload.replicas).saturating_sub(seats.map(|seat| u64::from(seat.replicas)).sum())
            }
        }
    };
    (0..=u16::MAX).zip(&app.workloads).map(of).sum()
}

/// A floor that does not hold: fewer replicas in a cluster than its `min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrokenFloor {
    /// The app.
    pub app: AppId,
    /// Which of its workloads.
    pub workload: u16,
    /// Where.
    pub cluster: ClusterId,
    /// Replicas there.
    pub replicas: u32,
    /// The floor.
    pub min: u32,
}

/// Floors of divided workloads that do not hold, ascending.
#[must_use]
pub fn broken_floors(fleet: &Fleet, target: &Target) -> Vec<BrokenFloor> {
    let mut broken = Vec::new();
    for (id, app) in fleet.app_ids().zip(&target.apps) {
        for seats in app.seats.chunk_by(|a, b| (a.workload, a.cluster) == (b.workload, b.cluster)) {
            let Some(first) = seats.first() else { continue };
            let Some(workload) = fleet.app(id).workloads.get(usize::from(first.workload)) else { continue };
            let replicas = seats.iter().fold(0_u32, |sum, seat| sum.saturating_add(seat.replicas));
            let min = workload.floor(first.cluster).min(workload.replicas);
            if replicas < min {
                let (workload, cluster) = (first.workload, first.cluster);
                broken.push(BrokenFloor { app: id, workload, cluster, replicas, min });
            }
        }
    }
    broken
}
