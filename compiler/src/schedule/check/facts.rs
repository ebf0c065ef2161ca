//! Target and record side by side, by workload and cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{Capacity, Lifecycle, Strategy};
use crate::base::taint::{Taint, TaintEffect, first_untolerated};
use crate::base::{AppId, ClusterId, PoolId, SmolStr};
use crate::kinds::native;
use crate::kinds::pod::{NodeFacts, PodFacts, fits_node};
use crate::model::{App, Cluster, ClusterSet, Fleet, Object, Share, Workload};
use crate::placements::{OutageState, PlacedApp, Record};
use crate::schedule::rooms::{ClusterPools, pools};
use crate::schedule::target::{AppTarget, Seat};
use crate::schedule::{Scenario, Target};
use crate::variants::Variants;

use super::{groups, tiers};

/// What is checked, and against what.
pub(super) struct Inputs<'a> {
    pub fleet: &'a Fleet,
    pub variants: &'a Variants,
    pub target: &'a Target,
    pub pools: Vec<ClusterPools>,
    record: &'a Record,
    scenario: &'a Scenario,
    taints: Vec<Vec<Taint>>,
    /// Apps that share their clusters, and apps that share none: by app its group, in the order of scheduling.
    pub groups: groups::Groups,
    /// Custom kinds some cluster may lack, with where a definition may be.
    definitions: BTreeMap<(&'a str, &'a str), ClusterSet>,
    restricted: bool,
    /// Apps on a move in steps.
    pub moving: BTreeSet<AppId>,
}

/// An app with its seats before and after.
pub(super) struct AppFacts<'a> {
    pub id: AppId,
    pub app: &'a App,
    pub target: &'a AppTarget,
    pub placed: Option<&'a PlacedApp>,
    /// A person froze its placement, or it is on a move in steps: it stays as it is recorded.
    pub held: bool,
    pub workloads: Vec<WorkloadFacts<'a>>,
}

/// A workload with its seats before and after.
pub(super) struct WorkloadFacts<'a> {
    pub workload: &'a Workload,
    /// Recorded, and in a cluster that exists.
    pub before: BTreeMap<ClusterId, u32>,
    /// Of the target.
    pub after: BTreeMap<ClusterId, u32>,
    /// Of those, where its pods may use the pool, in clusters they need not leave.
    pub proper: BTreeMap<ClusterId, u32>,
    pub seats: Vec<&'a Seat>,
    /// Recorded under other rules.
    pub former_rules: bool,
    /// Not recorded.
    pub new: bool,
}

/// What a cluster is to a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// New replicas may come.
    Open,
    /// Placed ones stay.
    Closed,
    /// Placed ones leave because of its state, once they have a place; what is bound to its data stays.
    Evicting,
    /// Placed ones leave because intent says so, once they have a place.
    Leaving,
    /// Nothing may be there.
    Forbidden,
}

impl<'a> Inputs<'a> {
    pub fn new(
        fleet: &'a Fleet,
        variants: &'a Variants,
        record: &'a Record,
        scenario: &'a Scenario,
        target: &'a Target,
    ) -> Self {
        let taints_of = |cluster: &Cluster| {
            let recorded = record.clusters.get(&cluster.name).map(|o| o.taints.as_slice()).unwrap_or_default();
            cluster
                .taints
                .iter()
                .chain(recorded)
                .filter(|t| t.effect != TaintEffect::PreferNoSchedule)
                .cloned()
                .collect()
        };
        let restricted = fleet.clusters.iter().any(|cluster| cluster.apis.is_some());
        let mut definitions: BTreeMap<(&str, &str), ClusterSet> = BTreeMap::new();
        if restricted {
            for app in &fleet.apps {
                for object in &app.objects {
                    let Some(kind) = &object.facts.defines else { continue };
                    let at = definitions.entry((&kind.group, &kind.kind)).or_default();
                    let goes = app.placement.candidates.iter().filter(|c| reaches(object, *c)).collect();
                    *at = at.or(&goes);
                }
            }
        }
        Self {
            fleet,
            variants,
            target,
            pools: pools(fleet, record),
            record,
            scenario,
            moving: crate::schedule::moving(fleet, variants, record, scenario),
            taints: fleet.clusters.iter().map(|cluster| taints_of(cluster)).collect(),
            groups: groups::Groups::new(fleet),
            definitions,
            restricted,
        }
    }

    /// What the record has of an app.
    pub fn placed(&self, id: AppId) -> Option<&PlacedApp> {
        let app = self.fleet.app(id);
        self.record.apps.get(&(self.fleet.team(app.team).name.clone(), app.name.clone()))
    }

    /// What a cluster is to an app.
    pub fn standing(&self, app: &App, id: ClusterId) -> Standing {
        let cluster = self.fleet.cluster(id);
        let observed = self.record.clusters.get(&cluster.name);
        let lifecycle = observed.and_then(|o| o.lifecycle).map_or(cluster.lifecycle, |l| l.max(cluster.lifecycle));
        let may_use = self.fleet.team(app.team).clusters.contains(id);
        if !may_use || lifecycle == Lifecycle::Retired || self.scenario.lose.contains(&cluster.name) {
            return Standing::Forbidden;
        }
        let taints = &self.taints[id.index()];
        let untolerated = |effect: Option<TaintEffect>| {
            let relevant = taints.iter().filter(|taint| effect.is_none_or(|effect| taint.effect == effect));
            first_untolerated(relevant, &app.placement.tolerations).is_some()
        };
        if !app.placement.candidates.contains(id) {
            return Standing::Leaving;
        }
        if self.is_evicted(app, cluster)
            || lifecycle == Lifecycle::Draining
            || untolerated(Some(TaintEffect::NoExecute))
        {
            return Standing::Evicting;
        }
        let silent = matches!(observed.and_then(|o| o.outage), Some(OutageState::Lost | OutageState::Quarantined));
        if lifecycle != Lifecycle::Active || silent || untolerated(None) || !self.serves(app, id) {
            return Standing::Closed;
        }
        Standing::Open
    }

    /// Where the move in steps leads that an app is on, for one workload.
    pub fn leads_to(&self, facts: &AppFacts<'_>, workload: &WorkloadFacts<'_>) -> Option<BTreeMap<ClusterId, u32>> {
        if !self.moving.contains(&facts.id) {
            return None;
        }
        let team = &self.fleet.team(facts.app.team).name;
        let open = self.record.moves.get(&(team.clone(), facts.app.name.clone()))?;
        let mut end = BTreeMap::new();
        for seat in open.target.workloads.get(&workload.workload.key).map(|w| w.seats.as_slice()).unwrap_or_default() {
            if let Some(cluster) = self.fleet.cluster_id(&seat.cluster) {
                add(&mut end, cluster, seat.replicas);
            }
        }
        Some(end)
    }

    /// What a cluster is to an app, with the tier in use and its groups minded.
    pub fn standing_in_scope(&self, facts: &AppFacts<'_>, id: ClusterId) -> Standing {
        let standing = self.standing(facts.app, id);
        let stays = tiers::is_in_use(facts, id) && groups::stays(self, facts.id, id);
        if stays { standing } else { standing.max(Standing::Leaving) }
    }

    fn is_evicted(&self, app: &App, cluster: &Cluster) -> bool {
        let team = &self.fleet.team(app.team).name;
        !self.scenario.evict.is_empty()
            && self.scenario.evict.contains(&(team.clone(), app.name.clone(), cluster.name.clone()))
    }

    /// What a cluster is to a workload.
    pub fn standing_of(&self, facts: &AppFacts<'_>, workload: &Workload, id: ClusterId) -> Standing {
        let standing = self.standing_in_itself(facts, workload, id);
        if tiers::is_in_use(facts, id) { standing } else { standing.max(Standing::Leaving) }
    }

    /// What a cluster is to a workload, whichever tier is in use.
    pub fn standing_in_itself(&self, facts: &AppFacts<'_>, workload: &Workload, id: ClusterId) -> Standing {
        let app = match self.standing(facts.app, id) {
            Standing::Evicting if self.is_bound(facts, workload) => Standing::Closed,
            other => other,
        };
        let app = if groups::stays(self, facts.id, id) { app } else { app.max(Standing::Leaving) };
        let may = reaches(&facts.app.objects[workload.object], id) && weight(workload, id) > 0;
        if may { app } else { app.max(Standing::Leaving) }
    }

    /// Whether the pods of a workload, or of another part of its set, mount claims.
    pub fn is_bound(&self, facts: &AppFacts<'_>, workload: &Workload) -> bool {
        let of_object = facts.app.workloads.iter().enumerate().filter(|(_, w)| w.object == workload.object);
        let variants = &self.variants.apps[facts.id.index()].variants;
        let pod_of = |index: usize| variants.iter().filter_map(move |v| v.workloads.get(index)?.pod.as_ref());
        of_object.flat_map(|(index, _)| pod_of(index)).any(|pod| !pod.pvc_claims.is_empty())
    }

    fn serves(&self, app: &App, id: ClusterId) -> bool {
        if !self.restricted {
            return true;
        }
        let cluster = self.fleet.cluster(id);
        app.objects.iter().filter(|object| reaches(object, id)).all(|object| {
            let key = &object.key;
            let listed = cluster.apis.as_ref().is_none_or(|apis| {
                apis.iter()
                    .filter(|api| api.group == key.group && api.version == key.version)
                    .any(|api| api.kinds.as_ref().is_none_or(|kinds| kinds.contains(&key.kind)))
            });
            let defined = self.definitions.get(&(key.group.as_str(), key.kind.as_str()));
            listed
                || native::lookup(&key.group, &key.version, &key.kind).is_some()
                || defined.is_some_and(|clusters| clusters.contains(id))
        })
    }

    /// What the pods of a workload ask for in a cluster.
    pub fn pod(&self, facts: &AppFacts<'_>, workload: usize, id: ClusterId) -> Option<&'a PodFacts> {
        self.variants.apps[facts.id.index()].of(id).workloads[workload].pod.as_deref()
    }

    /// The number that an override writes for a workload in a cluster.
    pub fn written(&self, facts: &AppFacts<'_>, workload: usize, id: ClusterId) -> Option<u32> {
        if facts.app.workloads[workload].autoscaled.is_some() {
            return None;
        }
        self.variants.apps[facts.id.index()].of(id).workloads[workload].replicas
    }

    /// The positions of the pools of a cluster that a pod may use.
    pub fn usable_pools(&self, pod: &PodFacts, id: ClusterId) -> Vec<u16> {
        let may = |node: &NodeFacts| fits_node(pod, node).is_ok_and(|fit| fit.fits());
        PoolId::every().zip(&self.pools[id.index()].nodes).filter(|(_, node)| may(node)).map(|(at, _)| at.0).collect()
    }

    /// `team/app: workload`, for messages.
    pub fn name(&self, facts: &AppFacts<'_>, workload: &Workload) -> String {
        format!("{}: {}", self.fleet.app_name(facts.id), workload.key)
    }

    /// The name of a cluster.
    pub fn cluster(&self, id: ClusterId) -> &SmolStr {
        &self.fleet.cluster(id).name
    }
}

impl<'a> AppFacts<'a> {
    /// Sorts the seats of an app.
    ///
    /// # Errors
    /// A seat that names no place, or two that name the same.
    pub fn new(inputs: &Inputs<'a>, id: AppId) -> Result<Self, String> {
        let (fleet, target) = (inputs.fleet, &inputs.target.apps[id.index()]);
        let app: &'a App = &fleet.apps[id.index()];
        let wrong = |what: String| Err(format!("{}: {what}", fleet.app_name(id)));
        let mut places = BTreeSet::new();
        for seat in &target.seats {
            let known = usize::from(seat.workload) < app.workloads.len() && seat.cluster.index() < fleet.clusters.len();
            if !known || seat.replicas == 0 || !places.insert((seat.workload, seat.cluster, seat.pool)) {
                return wrong(format!("a seat that is empty, doubled or nowhere: {seat:?}"));
            }
            let pools = &inputs.pools[seat.cluster.index()].specs;
            if seat.pool.is_some_and(|pool| pool.index() >= pools.len()) {
                return wrong(format!(
                    "a seat in a pool that cluster {} lacks: {seat:?}",
                    fleet.cluster(seat.cluster).name
                ));
            }
        }
        let covers = |cluster: &ClusterId| inputs.variants.apps[id.index()].covers(*cluster);
        if let Some(cluster) = target.seats.iter().map(|seat| seat.cluster).find(|cluster| !covers(cluster)) {
            return wrong(format!(
                "a seat in cluster {}, whose overrides were not applied",
                fleet.cluster(cluster).name
            ));
        }
        if !target.seats.is_sorted() {
            return wrong("seats out of order".to_owned());
        }
        if target.clusters.iter().any(|cluster| cluster.index() >= fleet.clusters.len()) {
            return wrong("a selected cluster that does not exist".to_owned());
        }
        let key = (fleet.team(app.team).name.clone(), app.name.clone());
        let placed = inputs.record.apps.get(&key);
        let held = inputs.record.suspended.contains(&key)
            || inputs.moving.contains(&id)
            || inputs.scenario.as_recorded && placed.is_some();
        let mut facts = Self { id, app, target, placed, held, workloads: Vec::with_capacity(app.workloads.len()) };
        for (index, workload) in app.workloads.iter().enumerate() {
            let workload = facts.workload(inputs, index, workload);
            facts.workloads.push(workload);
        }
        Ok(facts)
    }

    fn workload(&self, inputs: &Inputs<'a>, index: usize, workload: &'a Workload) -> WorkloadFacts<'a> {
        let recorded = self.placed.and_then(|placed| placed.workloads.get(&workload.key));
        let mut before: BTreeMap<ClusterId, u32> = BTreeMap::new();
        for seat in recorded.map(|w| w.seats.as_slice()).unwrap_or_default() {
            if let Some(cluster) = inputs.fleet.cluster_id(&seat.cluster).filter(|_| seat.replicas > 0) {
                add(&mut before, cluster, seat.replicas);
            }
        }
        let mut after: BTreeMap<ClusterId, u32> = BTreeMap::new();
        let mut proper: BTreeMap<ClusterId, u32> = BTreeMap::new();
        let seats: Vec<&Seat> = self.target.seats.iter().filter(|seat| usize::from(seat.workload) == index).collect();
        for seat in &seats {
            add(&mut after, seat.cluster, seat.replicas);
            let stays = inputs.standing_of(self, workload, seat.cluster) <= Standing::Closed;
            let selected = self.target.clusters.contains(seat.cluster);
            if stays && selected && self.uses_its_pool(inputs, index, seat) {
                add(&mut proper, seat.cluster, seat.replicas);
            }
        }
        let former_rules = recorded.is_some_and(|w| w.weights != workload.policy.digest.short());
        WorkloadFacts { workload, before, after, proper, seats, former_rules, new: recorded.is_none() }
    }

    /// Whether the pods may use the pool of a seat. DaemonSets are in no pool, unknown pools take everything, and pools
    /// are no question where room is ignored.
    fn uses_its_pool(&self, inputs: &Inputs<'a>, workload: usize, seat: &Seat) -> bool {
        let w = &self.app.workloads[workload];
        let free = w.kind.is_per_node() || w.policy.capacity == Capacity::Ignore;
        if free || !inputs.pools[seat.cluster.index()].known {
            return true;
        }
        let Some(pod) = inputs.pod(self, workload, seat.cluster) else { return true };
        let usable = inputs.usable_pools(pod, seat.cluster);
        seat.pool.map_or(!usable.is_empty(), |pool| usable.contains(&pool.0))
    }
}

impl WorkloadFacts<'_> {
    /// Whether it is placed one on each node.
    pub fn is_daemon(&self) -> bool {
        self.workload.kind.is_per_node()
    }

    /// Replicas wanted: in all, or in each cluster for what is copied.
    pub fn wanted(&self) -> u32 {
        self.workload.replicas
    }

    /// Whether all replicas run in each cluster.
    pub fn is_copied(&self) -> bool {
        self.workload.share == Share::Everywhere
    }
}

fn add(map: &mut BTreeMap<ClusterId, u32>, cluster: ClusterId, replicas: u32) {
    let sum = map.entry(cluster).or_default();
    *sum = sum.saturating_add(replicas);
}

/// All replicas.
pub(super) fn sum(map: &BTreeMap<ClusterId, u32>) -> u64 {
    map.values().map(|n| u64::from(*n)).sum()
}

fn reaches(object: &Object, cluster: ClusterId) -> bool {
    object.only.as_ref().is_none_or(|only| only.contains(cluster))
}

fn rules(workload: &Workload, cluster: ClusterId) -> Option<Vec<&crate::model::WeightRule>> {
    let by_weight = workload.share != Share::Everywhere
        && workload.policy.strategy.is_none_or(|strategy| strategy == Strategy::StaticWeight);
    let rules = workload.policy.weights.as_ref().filter(|_| by_weight)?;
    Some(rules.iter().filter(|rule| rule.clusters.contains(cluster)).collect())
}

/// The largest weight of the rules that match; 1 without rules.
pub(super) fn weight(workload: &Workload, cluster: ClusterId) -> u32 {
    rules(workload, cluster).map_or(1, |rules| rules.iter().map(|rule| rule.weight).max().unwrap_or(0))
}

/// Fewest and most replicas in a cluster.
pub(super) fn limits(workload: &Workload, cluster: ClusterId) -> (u32, u32) {
    let (mut least, mut most) = (workload.policy.min, workload.policy.max.unwrap_or(u32::MAX));
    for rule in rules(workload, cluster).unwrap_or_default() {
        least = least.max(rule.min.unwrap_or(0));
        most = most.min(rule.max.unwrap_or(u32::MAX));
    }
    (least, most)
}
