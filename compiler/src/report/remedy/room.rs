//! What makes room, in nodes and in the team's quota.

use super::Remedies;
use crate::base::quantity::{amount_at_least, plain_amount};
use crate::model::PlacementField;
use crate::report::why_cluster::{ChangeReport, misfit_text};
use crate::schedule::{Deficit, Misfit};

impl Remedies<'_> {
    pub(super) fn larger(&self, resource: &str, needed: i128, largest: i128) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let (needed, most) = (amount_at_least(resource, needed), plain_amount(resource, largest));
        let pools =
            format!("add a pool to `nodePools` whose nodes offer at least {needed} {resource} that the pod may use");
        if largest <= 0 {
            return vec![self.in_cluster_file(format!("{pools}: no node of {name} that it may use has {resource}"))];
        }
        vec![
            self.in_app(format!("lower the request of a pod from {needed} to at most {most} {resource}")),
            self.in_cluster_file(format!("or {pools}")),
        ]
    }

    pub(super) fn no_pool(&self) -> Vec<ChangeReport> {
        let Some(lead) = self.lead() else { return Vec::new() };
        let mut changes = Vec::new();
        for pool in &lead.pools {
            let Some(misfit) = &pool.misfit else { continue };
            let why = misfit_text(misfit);
            changes.push(match misfit {
                Misfit::Taint(taint) => {
                    self.in_app(format!("pool {}: {why}; tolerate `{}` in the pod template", pool.name, taint.key))
                }
                Misfit::Labels(_) => self.in_cluster_file(format!(
                    "pool {}: {why}; label the pool so in `nodePools`, or change the pod's node selection",
                    pool.name
                )),
            });
        }
        if changes.is_empty() {
            changes.push(self.in_cluster_file("add a node pool to `nodePools`: it has none".to_owned()));
        }
        changes
    }

    /// For each pool that the pods may use, how many nodes are missing.
    pub(super) fn more_room(&self) -> Vec<ChangeReport> {
        let Some(lead) = self.lead() else { return Vec::new() };
        let many = if lead.least == 1 { "a replica".to_owned() } else { format!("{} replicas", lead.least) };
        let mut changes = Vec::new();
        for pool in lead.pools.iter().filter(|pool| pool.misfit.is_none()) {
            let Some(nodes) = pool.nodes_needed.filter(|nodes| *nodes > 0) else { continue };
            let all = u64::from(pool.nodes).saturating_add(nodes);
            let change = format!("for {many}, add {nodes} to pool {} (`nodes: {}` to {all})", pool.name, pool.nodes);
            changes.push(self.in_cluster_file(change));
            let short = pool.resources.iter().filter(|row| row.largest < row.request);
            for row in short {
                let missing = amount_at_least(&row.resource, row.request - row.largest);
                changes.push(Self::said(format!(
                    "or give up {missing} {} on a node of pool {}: {} is booked there, {} used by others",
                    row.resource,
                    pool.name,
                    plain_amount(&row.resource, row.booked),
                    plain_amount(&row.resource, row.others)
                )));
            }
        }
        changes
    }

    /// What is missing for all of it, and how to do with less.
    pub(super) fn not_all(&self) -> Vec<ChangeReport> {
        let target = self.compiled.target.apps.get(self.id.index());
        let of = |deficit: &Deficit| match deficit {
            Deficit::Unplaced { workload, replicas, wanted, displaced: _ } => {
                let key = self.app.workloads.get(usize::from(*workload)).map(|w| w.key.clone()).unwrap_or_default();
                let change = format!(
                    "`capacity: Require` adds nothing unless all {wanted} replicas of {key} find a place, and {replicas} have none: make \
                     room for them, or state `capacity: Cap`"
                );
                Some(self.in_layer(PlacementField::Replicas, change))
            }
            Deficit::Spread { .. }
            | Deficit::Quota { .. }
            | Deficit::GaveWay { .. }
            | Deficit::Group { .. }
            | Deficit::NoWeightMatches { .. } => None,
        };
        let mut changes: Vec<ChangeReport> = target.into_iter().flat_map(|t| &t.deficits).filter_map(of).collect();
        changes.extend(self.more_room());
        changes
    }

    pub(super) fn quota(&self) -> Vec<ChangeReport> {
        let team = self.compiled.fleet.team(self.app.team);
        let target = self.compiled.target.apps.get(self.id.index());
        let mut changes = Vec::new();
        let deficits = target.into_iter().flat_map(|target| &target.deficits);
        for (cluster, resource, used, more, hard) in deficits.flat_map(Deficit::refusals) {
            if cluster.is_some_and(|cluster| cluster != self.at) {
                continue;
            }
            let quota = team.quota.iter().find(|q| q.of_cluster == cluster && q.hard.get(resource) == Some(&hard));
            let wanted = used.saturating_add(more);
            let change = format!(
                "raise {resource} of the quota of team {} from {} to {}: {} is used and {} would be added",
                team.name,
                plain_amount(resource, hard),
                amount_at_least(resource, wanted),
                plain_amount(resource, used),
                plain_amount(resource, more)
            );
            let span = quota.map_or(team.name_span, |quota| quota.span);
            changes.push(ChangeReport { change, written: Some((self.written)(team.file, span)) });
            changes.push(self.in_app(format!(
                "or ask for {} {resource} less",
                amount_at_least(resource, wanted.saturating_sub(hard))
            )));
        }
        changes
    }
}
