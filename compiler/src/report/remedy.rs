//! What would have to change for a cluster to take an app: which field of which file, and by how much.
//!
//! For each reason the ways there are, the nearest to the app first. A file that a person cannot change (`state/`) is named with
//! the command that does. The next verdict gets its arm in `changes`, and its own way a function in the file of its idea.

mod division;
mod room;
mod selection;

use super::why::WrittenAt;
use super::why_cluster::ChangeReport;
use crate::Compiled;
use crate::base::quantity::{amount_at_least, plain_amount};
use crate::base::{AppId, ClusterId, Span};
use crate::model::{App, Cluster, PlacementField};
use crate::schedule::{Explained, Verdict, WorkloadThere};

/// What the words are made from.
pub(super) struct Remedies<'r> {
    pub compiled: &'r Compiled,
    pub id: AppId,
    pub app: &'r App,
    pub at: ClusterId,
    pub explained: &'r Explained,
    /// Where something is written.
    pub written: &'r dyn Fn(crate::base::FileId, Span) -> WrittenAt,
}

impl Remedies<'_> {
    fn cluster(&self) -> &Cluster {
        self.compiled.fleet.cluster(self.at)
    }

    fn in_cluster_file(&self, change: String) -> ChangeReport {
        let cluster = self.cluster();
        ChangeReport { change, written: Some((self.written)(cluster.file, cluster.name_span)) }
    }

    fn in_app(&self, change: String) -> ChangeReport {
        ChangeReport { change, written: Some((self.written)(self.app.file, self.app.name_span)) }
    }

    fn in_team(&self, change: String) -> ChangeReport {
        let team = self.compiled.fleet.team(self.app.team);
        ChangeReport { change, written: Some((self.written)(team.file, team.name_span)) }
    }

    /// At the layer that states a field of the placement; at the App where none does.
    fn in_layer(&self, field: PlacementField, change: String) -> ChangeReport {
        let layer = self.app.placement.layers.iter().find(|(of, _)| *of == field);
        match layer {
            Some((_, layer)) => ChangeReport { change, written: Some((self.written)(layer.file, layer.span)) },
            None => self.in_app(change),
        }
    }

    fn said(change: String) -> ChangeReport {
        ChangeReport { change, written: None }
    }

    /// The workload that leads: it speaks for the app.
    fn lead(&self) -> Option<&WorkloadThere> {
        let rank = |there: &&WorkloadThere| self.app.workloads.get(usize::from(there.workload)).map(|w| w.replicas);
        let short =
            self.explained.workloads.iter().find(|there| there.fits.is_some_and(|fits| fits < u64::from(there.least)));
        short.or_else(|| self.explained.workloads.iter().max_by_key(rank))
    }

    /// What helps against one reason.
    pub(super) fn changes(&self, verdict: &Verdict) -> Vec<ChangeReport> {
        let cluster = self.cluster();
        let name = &cluster.name;
        match verdict {
            Verdict::Mismatch(_) => self.app.placement.selector.iter().flat_map(|s| self.selects(s)).collect(),
            Verdict::Team => {
                let team = &self.compiled.fleet.team(self.app.team).name;
                vec![self.in_team(format!("let `clusters` of team {team} select {name}"))]
            }
            Verdict::NoTier => {
                let change = format!("let a group of `placement.clusters.tiers` select {name}");
                vec![self.in_layer(PlacementField::Clusters, change)]
            }
            Verdict::OtherTier(tier) => self.other_tier(tier),
            Verdict::NotWithGroup(group) => self.with_group(group),
            Verdict::TakenByGroup(group) => {
                let apps: Vec<String> = self.explained.apart.iter().map(|id| self.compiled.fleet.app_name(*id)).collect();
                let who = if apps.is_empty() { "the other app".to_owned() } else { apps.join(", ") };
                let change = format!("{who} of group {group} has to leave {name}, or the app to have another value of that label");
                vec![self.in_layer(PlacementField::AntiAffinity, change)]
            }
            Verdict::Taint(_) => self.taints(),
            Verdict::ApiNotServed(api) => vec![
                self.in_cluster_file(format!("serve {api} in {name}, and list it in `apis`")),
            ],
            Verdict::Lifecycle(lifecycle) => vec![self.lifecycle(*lifecycle)],
            Verdict::Unhealthy => vec![Self::said(format!(
                "{name} has to answer again and be cleaned of what moved away (state/outages/{name}.yaml): it is then ready by itself"
            ))],
            Verdict::Evicted => vec![Self::said(format!("the eviction from {name} has to end: `fleetwright failback {name}`"))],
            Verdict::LargerThanNode { resource, needed, largest } => self.larger(resource, *needed, *largest),
            Verdict::NoEligiblePool => self.no_pool(),
            Verdict::NoRoom { .. } => self.more_room(),
            Verdict::NoRoomForSet { part, pods, fits, resource, needed, free } => vec![self.in_cluster_file(format!(
                "make room for {} more pods of {part}: each asks for {} {resource}, and the largest piece left in {name} is {}; a set is never split",
                pods.saturating_sub(*fits),
                amount_at_least(resource, *needed),
                plain_amount(resource, *free)
            ))],
            Verdict::Bound => vec![self.bound()],
            Verdict::ObjectRule => {
                let key = self.lead().and_then(|lead| self.app.workloads.get(usize::from(lead.workload)));
                let key = key.map(|w| w.key.as_str()).unwrap_or_default();
                vec![self.in_app(format!("let `clusters` of the rule of {key} in `objects` select {name}"))]
            }
            Verdict::NoWeight => {
                let enough = self.lead().and_then(|lead| lead.share).and_then(|share| share.enough_weight);
                let with = enough.map(|w| format!("; {w} or more gives it a replica as things are")).unwrap_or_default();
                let change = format!("give {name} a weight above 0 in `placement.replicas.weights`{with}");
                vec![self.in_layer(PlacementField::Replicas, change)]
            }
            Verdict::RoundedToZero => self.rounded(),
            Verdict::NotChosen => self.not_chosen(),
            Verdict::Quota => self.quota(),
            Verdict::NotAll => self.not_all(),
            Verdict::SupposedLost => vec![Self::said(format!("{name} is supposed to be lost in this scenario"))],
        }
    }
}
