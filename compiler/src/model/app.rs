//! An app and its objects.

use std::sync::Arc;

use super::{ClusterSet, OverrideRule, Placement, Workload};
use crate::api::{IntOrPercent, Survive};
use crate::base::labels::Labels;
use crate::base::{AppId, FileId, SmolStr, Span, Spanned, TeamId};
use crate::kinds::custom::CustomKind;
use crate::kinds::replicas::Counter;
use crate::parse::{Facts, ObjKey, Template};

/// An app, with its objects.
#[derive(Clone, Debug)]
pub struct App {
    /// Its team.
    pub team: TeamId,
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// Set on its objects of namespaced kinds that name none.
    pub namespace: Option<Spanned<SmolStr>>,
    /// Its labels.
    pub labels: Labels,
    /// Its priority: higher is placed first.
    pub priority: i32,
    /// Whether its priority class asks which replicas of lower priority would have to go when it is short. Nothing goes for
    /// it until a person says so.
    pub preempts: bool,
    /// What must not leave it short: its own statement, else its team's.
    pub survive: Option<Survive>,
    /// Where it runs.
    pub placement: Placement,
    /// Its objects, ascending by key.
    pub objects: Vec<Object>,
    /// Its workloads, ascending by (kind, name, namespace).
    pub workloads: Vec<Workload>,
    /// Its images, then the overrides of the fleet, the team and the app, then enforced ones: the order of application.
    pub overrides: Vec<Arc<OverrideRule>>,
    /// Apps that must be Current in a cluster before this one is applied there, ascending. Nothing waits for itself, by
    /// whatever way.
    pub depends_on: Vec<AppId>,
    /// `prune: false`: what leaves the repository or a cluster is not deleted.
    pub keep_removed: bool,
    /// `suspend: true`. The record holds it among the suspended ones, with those that a person suspended there.
    pub suspended: bool,
    /// Never two running copies.
    pub exclusive: bool,
    /// Names it had before, as (team, app), in the order of its file. No app has one of them.
    pub previous_names: Vec<(SmolStr, SmolStr)>,
    /// What must be ready before a cluster is lowered: what its placement and its tide state, both.
    pub min_available: Option<MinAvailable>,
    /// The steps in which its replicas move; `None`: at once.
    pub steps: Option<Steps>,
    /// The same when a phase of its tide changes, where the tide states them.
    pub tide_steps: Option<Steps>,
    /// How long a cluster must not answer before the app leaves it; `None`: as the fleet says.
    pub failover_after_secs: Option<u64>,
}

impl App {
    /// The positions of the parts of the set that a workload is a part of; of any other workload its own.
    #[must_use]
    pub fn members(&self, workload: usize) -> std::ops::Range<usize> {
        let Some(own) = self.workloads.get(workload).filter(|own| own.part.is_some()) else {
            return workload..workload.saturating_add(1);
        };
        let same = |other: &&Workload| other.part.is_some() && other.object == own.object;
        let before = self.workloads.iter().take(workload).rev().take_while(same).count();
        let after = self.workloads.iter().skip(workload).take_while(same).count();
        workload.saturating_sub(before)..workload.saturating_add(after)
    }
}

/// An object of an app.
#[derive(Clone, Debug)]
pub struct Object {
    /// Group, version, kind, namespace (resolved), name.
    pub key: ObjKey,
    /// What a quota counts it as: `deployments.apps`, `services`.
    pub resource: SmolStr,
    /// Whether its kind lies in namespaces.
    pub namespaced: bool,
    /// Where it is written.
    pub file: FileId,
    /// The document in that file.
    pub doc: u16,
    /// Where the object lies in its document, for items of a List.
    pub item: Option<u32>,
    /// What was read of it without keeping its tree.
    pub facts: Facts,
    /// What a WorkloadKind teaches of its kind.
    pub custom: Option<Arc<CustomKind>>,
    /// Its text.
    pub template: Arc<Template>,
    /// Only on these of the app's clusters, where a rule says so.
    pub only: Option<ClusterSet>,
}

impl Object {
    /// Who knows where its counts stand; `None` for what has none.
    #[must_use]
    pub fn counter(&self) -> Option<Counter<'_>> {
        Counter::of(&self.key.group, &self.key.kind, self.custom.as_deref())
    }
}

/// How much of what is wanted of a workload in all clusters must be ready before one of them is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinAvailable {
    /// This part of it, in percent, 0 to 100, rounded up.
    pub percent: u32,
    /// And so many replicas, or all where fewer are wanted.
    pub count: u32,
}

impl MinAvailable {
    /// A share in percent.
    #[must_use]
    pub const fn of_percent(percent: u32) -> Self {
        Self { percent, count: 0 }
    }

    /// What both ask for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { percent: self.percent.max(other.percent), count: self.count.max(other.count) }
    }

    /// The replicas that must be ready of a workload with so many in all; never more than those.
    #[must_use]
    pub fn needed(self, total: u32) -> u32 {
        let share = (u64::from(total) * u64::from(self.percent.min(100))).div_ceil(100);
        u32::try_from(share).unwrap_or(total).max(self.count.min(total))
    }
}

/// `90%`, `3`, or where both are asked for `90% and 3`.
impl std::fmt::Display for MinAvailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.percent, self.count) {
            (0, count) if count > 0 => write!(f, "{count}"),
            (percent, 0) => write!(f, "{percent}%"),
            (percent, count) => write!(f, "{percent}% and {count}"),
        }
    }
}

impl From<IntOrPercent> for MinAvailable {
    fn from(stated: IntOrPercent) -> Self {
        match stated {
            IntOrPercent::Int(count) => Self { percent: 0, count },
            IntOrPercent::Percent(percent) => Self::of_percent(percent),
        }
    }
}

/// The steps in which replicas move from cluster to cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The largest step: a count of replicas from 1, or a share of a workload's total in percent, 1 to 100, rounded up.
    pub max: IntOrPercent,
    /// From the begin of one step to that of the next at least so long.
    pub every_secs: u64,
    /// From the begin of the first step to the end of the last at most so long; a step that is late is reported.
    pub deadline_secs: Option<u64>,
}

impl Steps {
    /// The largest step of a workload with so many replicas in all; at least 1.
    #[must_use]
    pub fn of(&self, total: u32) -> u32 {
        let most = match self.max {
            IntOrPercent::Int(count) => count,
            IntOrPercent::Percent(percent) => {
                let share = (u64::from(total) * u64::from(percent)).div_ceil(100);
                u32::try_from(share).unwrap_or(u32::MAX)
            }
        };
        most.max(1)
    }
}

impl std::fmt::Display for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.max {
            IntOrPercent::Int(count) => write!(f, "{count}"),
            IntOrPercent::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}
