//! What would have to change for a cluster to take an app: which field of which file, and by how much.
//!
//! For each reason the ways there are, the nearest to the app first. A file that a person cannot change (`state/`) is named with
//! the command that does. The next verdict gets its arm in [`changes`].

use super::why::WrittenAt;
use super::why_cluster::{ChangeReport, misfit_text};
use crate::Compiled;
use crate::api::{Lifecycle, Strategy};
use crate::base::labels::{LabelOperator, LabelSelector};
use crate::base::{AppId, ClusterId, Span};
use crate::diff::plain_amount;
use crate::model::{App, Cluster, PlacementField, Selector, Share};
use crate::schedule::{Deficit, Explained, Misfit, Verdict, WorkloadThere};

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
                plain_amount(resource, *needed),
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

    /// Every part of the selector that the cluster fails.
    fn selects(&self, selector: &Selector) -> Vec<ChangeReport> {
        let cluster = self.cluster();
        let name = &cluster.name;
        let Selector { labels, names, exclude, providers, regions, zones } = selector;
        let in_selector = |change: String| self.in_layer(PlacementField::Clusters, change);
        let mut changes = Vec::new();
        if exclude.contains(name) {
            changes.push(in_selector(format!("take {name} out of `placement.clusters.exclude`")));
        }
        if names.as_ref().is_some_and(|names| !names.contains(name)) {
            changes.push(in_selector(format!("add {name} to `placement.clusters.names`")));
        }
        let one_of =
            [("provider", "providers", providers, &cluster.provider), ("region", "regions", regions, &cluster.region)];
        for (what, field, list, own) in one_of {
            let Some(list) = list else { continue };
            match own {
                Some(own) if list.contains(own) => {}
                Some(own) => changes.push(in_selector(format!(
                    "add {own}, the {what} of {name}, to `placement.clusters.{field}` ({})",
                    list.join(", ")
                ))),
                None => changes
                    .push(self.in_cluster_file(format!("state the `{what}` of {name}: one of {}", list.join(", ")))),
            }
        }
        if let Some(list) = zones
            && !cluster.zones.iter().any(|zone| list.contains(zone))
        {
            let own = if cluster.zones.is_empty() { "none".to_owned() } else { cluster.zones.join(", ") };
            changes.push(in_selector(format!(
                "add a zone of {name} ({own}) to `placement.clusters.zones` ({})",
                list.join(", ")
            )));
        }
        let LabelSelector { match_labels, match_expressions } = labels;
        for (key, wanted) in match_labels {
            match cluster.labels.get(key) {
                Some(own) if own == wanted => {}
                Some(own) => changes.push(self.in_cluster_file(format!(
                    "label {name} `{key}: {wanted}` (it has `{own}`), or change `placement.clusters.matchLabels`"
                ))),
                None => changes.push(self.in_cluster_file(format!(
                    "label {name} `{key}: {wanted}` (it has no such label), or change `placement.clusters.matchLabels`"
                ))),
            }
        }
        for requirement in match_expressions {
            let alone =
                LabelSelector { match_labels: Default::default(), match_expressions: vec![requirement.clone()] };
            if alone.matches(&cluster.labels) {
                continue;
            }
            let values = requirement.values.join(", ");
            let wanted = match requirement.operator {
                LabelOperator::In => format!("label {name} `{}` with one of {values}", requirement.key),
                LabelOperator::NotIn => format!("label {name} `{}` with none of {values}", requirement.key),
                LabelOperator::Exists => format!("label {name} `{}` with any value", requirement.key),
                LabelOperator::DoesNotExist => format!("take label `{}` off {name}", requirement.key),
            };
            changes.push(self.in_cluster_file(format!("{wanted}, or change `placement.clusters.matchExpressions`")));
        }
        changes
    }

    fn other_tier(&self, used: &str) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let own = self.app.placement.first_fit().into_iter().flatten().find(|tier| tier.clusters.contains(self.at));
        let own = own.map(|tier| tier.name.as_str()).unwrap_or_default();
        let change = format!(
            "list tier {own}, which {name} is in, before {used}; or tier {used} must no longer hold all replicas"
        );
        vec![self.in_layer(PlacementField::Clusters, change)]
    }

    fn with_group(&self, group: &str) -> Vec<ChangeReport> {
        let fleet = &self.compiled.fleet;
        let name = &self.cluster().name;
        let change = match self.explained.together.first() {
            Some(first) if *first == self.id => {
                let rest: Vec<String> = self.explained.together.iter().skip(1).map(|id| fleet.app_name(*id)).collect();
                format!("{name} has to be allowed for all of group {group}: {} as well", rest.join(", "))
            }
            Some(first) => {
                format!(
                    "{}, the first of group {group}, has to be placed in {name}: `why {0} {name}`",
                    fleet.app_name(*first)
                )
            }
            None => format!("the first app of group {group} has to be placed in {name}"),
        };
        vec![self.in_layer(PlacementField::Affinity, change)]
    }

    fn taints(&self) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let mut changes = Vec::new();
        for (taint, recorded) in &self.explained.taints {
            let value = if taint.value.is_empty() {
                "operator: Exists".to_owned()
            } else {
                format!("operator: Equal, value: {}", taint.value)
            };
            let toleration = format!("{{key: {}, {value}, effect: {:?}}}", taint.key, taint.effect);
            changes.push(self.in_app(format!("add the toleration {toleration} to `placement.tolerations`")));
            let remove = format!("or take the taint {taint} off {name}");
            changes.push(if *recorded {
                Self::said(format!("{remove}: it is recorded in state/taints/{name}.yaml"))
            } else {
                self.in_cluster_file(remove)
            });
        }
        changes
    }

    fn lifecycle(&self, lifecycle: Lifecycle) -> ChangeReport {
        let name = &self.cluster().name;
        if self.explained.lifecycle_is_recorded {
            Self::said(format!("`fleetwright uncordon {name}`: state/lifecycle/{name}.yaml says {lifecycle:?}"))
        } else {
            self.in_cluster_file(format!("set `lifecycle: Active` (it is {lifecycle:?})"))
        }
    }

    fn larger(&self, resource: &str, needed: i128, largest: i128) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let (needed, most) = (plain_amount(resource, needed), plain_amount(resource, largest));
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

    fn no_pool(&self) -> Vec<ChangeReport> {
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
    fn more_room(&self) -> Vec<ChangeReport> {
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
                let missing = plain_amount(&row.resource, row.request - row.largest);
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

    fn bound(&self) -> ChangeReport {
        let name = &self.cluster().name;
        let workload = self.lead().and_then(|lead| self.app.workloads.get(usize::from(lead.workload)));
        let Some(workload) = workload else { return Self::said("raise the bound".to_owned()) };
        let floor = workload.floor(self.at);
        let rules = workload.policy.weights.iter().flatten().filter(|rule| rule.clusters.contains(self.at));
        let max = rules.filter_map(|rule| rule.max).chain(workload.policy.max).min();
        let needed = if workload.share == Share::Everywhere { workload.replicas } else { floor.max(1) };
        let change = match max {
            Some(max) if max < needed => format!(
                "raise `max` for {name} from {max} to {needed} (`placement.replicas.perCluster.max`, or `max` of its weight rule)"
            ),
            Some(_) | None => format!(
                "ask for more replicas than {}, or lower `min` for {name} from {floor} (`placement.replicas.perCluster.min`, or `min` of its weight rule)",
                workload.replicas
            ),
        };
        self.in_layer(PlacementField::Replicas, change)
    }

    fn rounded(&self) -> Vec<ChangeReport> {
        let name = &self.cluster().name;
        let mut changes = Vec::new();
        let share = self.lead().and_then(|lead| lead.share);
        if let Some(share) = share {
            if let Some(weight) = share.enough_weight {
                changes.push(self.in_layer(
                    PlacementField::Replicas,
                    format!("raise the weight of {name} from {} to {weight}", share.weight),
                ));
            }
            if let Some(replicas) = share.enough_replicas {
                changes.push(self.in_layer(
                    PlacementField::Replicas,
                    format!("or ask for {replicas} replicas in all: the last of them is its first"),
                ));
            }
        }
        changes
            .push(self.in_layer(PlacementField::Replicas, format!("or give {name} a `min` of 1 in its weight rule")));
        changes
    }

    fn not_chosen(&self) -> Vec<ChangeReport> {
        let fleet = &self.compiled.fleet;
        let name = &self.cluster().name;
        let target = self.compiled.target.apps.get(self.id.index());
        let chosen: Vec<ClusterId> = target.into_iter().flat_map(|target| target.clusters.iter()).collect();
        let mut changes = Vec::new();
        for spread in &self.app.placement.spread {
            let group = spread.key.group(self.cluster());
            let mut used: Vec<_> = chosen.iter().filter_map(|id| spread.key.group(fleet.cluster(*id))).collect();
            used.sort();
            used.dedup();
            let Some(group) = group else {
                changes.push(self.in_cluster_file(format!(
                    "{name} has no {}: state it, so that `spread` can count it",
                    spread.key.as_str()
                )));
                continue;
            };
            let is_full = spread.max.is_some_and(|max| used.len() >= usize::try_from(max).unwrap_or(usize::MAX));
            if is_full && !used.contains(&group) {
                let max = spread.max.unwrap_or_default();
                let change = format!(
                    "raise `max` of the spread over {} from {max} to {}: {} {} in use",
                    spread.key.as_str(),
                    max.saturating_add(1),
                    used.join(", "),
                    if used.len() == 1 { "is" } else { "are" }
                );
                changes.push(self.in_layer(PlacementField::Spread, change));
            }
        }
        let lead = self.lead().and_then(|lead| Some((lead, self.app.workloads.get(usize::from(lead.workload))?)));
        if let Some((lead, workload)) = lead {
            let key = &workload.key;
            if workload.share == Share::Whole {
                changes.push(self.in_app(format!("{key} runs as a whole in one cluster: select {name} alone, or let it be divided (`divide: true` in `objects`)")));
            } else if workload.policy.strategy == Some(Strategy::Aggregated) {
                let held: u32 = target
                    .into_iter()
                    .flat_map(|t| &t.seats)
                    .filter(|s| s.workload == lead.workload)
                    .map(|s| s.replicas)
                    .sum();
                changes.push(self.in_layer(PlacementField::Replicas, format!(
                    "Aggregated uses the fewest clusters that hold the {held} replicas of {key}: ask for more than these hold, or raise `min` of the spread over cluster"
                )));
            }
        }
        if changes.is_empty() {
            changes.push(self.in_layer(
                PlacementField::Spread,
                format!("raise `max` of the spread, so that {name} is among the clusters that are taken"),
            ));
        }
        changes
    }

    /// What is missing for all of it, and how to do with less.
    fn not_all(&self) -> Vec<ChangeReport> {
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

    fn quota(&self) -> Vec<ChangeReport> {
        let team = self.compiled.fleet.team(self.app.team);
        let target = self.compiled.target.apps.get(self.id.index());
        let mut changes = Vec::new();
        for deficit in target.into_iter().flat_map(|target| &target.deficits) {
            let Deficit::Quota { resource, cluster, used, more, hard } = deficit else { continue };
            if cluster.is_some_and(|cluster| cluster != self.at) {
                continue;
            }
            let quota = team.quota.iter().find(|q| q.of_cluster == *cluster && q.hard.get(resource) == Some(hard));
            let wanted = used.saturating_add(*more);
            let change = format!(
                "raise {resource} of the quota of team {} from {} to {}: {} is used and {} would be added",
                team.name,
                plain_amount(resource, *hard),
                plain_amount(resource, wanted),
                plain_amount(resource, *used),
                plain_amount(resource, *more)
            );
            let span = quota.map_or(team.name_span, |quota| quota.span);
            changes.push(ChangeReport { change, written: Some((self.written)(team.file, span)) });
            changes.push(self.in_app(format!(
                "or ask for {} {resource} less",
                plain_amount(resource, wanted.saturating_sub(*hard))
            )));
        }
        changes
    }
}
