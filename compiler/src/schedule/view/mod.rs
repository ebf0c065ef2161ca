//! What scheduling knows of an app beyond its intent: where it may go, which pods it runs, which workload leads.
//!
//! Invariant: none of it depends on what runs. What filters say is found out once for all apps that are alike in what filters
//! look at; an app adds its own candidates.

mod app;
mod bounds;
mod recorded;
mod topology;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::conditions::{Conditions, conditions};
use super::filter::{self, Question, Release, Served};
use super::groups::{Groups, in_turn};
use super::ledger::{ClassId, Ledger};
use super::state::{AppState, observed, placed};
use super::{InFull, Scenario, Verdict};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId};
use crate::kinds::pod::PodFacts;
use crate::model::{ClusterSet, Fleet, TopologyKey, Workload};
use crate::placements::{ObservedApp, PlacedApp, Record};
use crate::variants::Variants;

pub(super) use crate::model::{bounds, is_static};
use app::{Alike, AppView, Pods};
pub(super) use bounds::is_daemon;
use topology::{in_a_group, topologies};

/// The fleet with what follows from fleet, variants and scenario alone, whatever runs.
#[derive(Clone)]
pub(super) struct View<'a> {
    pub fleet: &'a Fleet,
    pub variants: &'a Variants,
    record: &'a Record,
    /// By app id: what is recorded of it.
    placed: Vec<Option<&'a PlacedApp>>,
    /// By app id: what was observed of it.
    observed: Vec<Option<&'a ObservedApp>>,
    conditions: Vec<Conditions>,
    evicted: BTreeSet<(AppId, ClusterId)>,
    /// Apps whose recorded placement stays as it is.
    held: BTreeSet<AppId>,
    /// Of those, apps that are on a move in steps, with what of it they take room for.
    moving: BTreeMap<AppId, AppState>,
    apps: Vec<AppView>,
    /// By number of traits: clusters that no filter but that of the placement makes placed replicas leave.
    calm: Vec<ClusterSet>,
    /// Apps by (priority desc, team, app).
    pub order: Vec<AppId>,
    /// Apps that share their clusters.
    pub together: Groups,
    /// Apps that share none.
    pub apart: Groups,
    topologies: BTreeMap<TopologyKey, Vec<Option<u32>>>,
    /// Clusters that are supposed lost beyond the scenario.
    lost: ClusterSet,
}

impl<'a> View<'a> {
    /// Asks every filter about every app and cluster, and names the classes of pods.
    pub fn new(
        fleet: &'a Fleet,
        variants: &'a Variants,
        record: &'a Record,
        scenario: &Scenario,
        ledger: &mut Ledger,
    ) -> Self {
        let conditions = conditions(fleet, record, scenario);
        let mut served = Served::new(fleet);
        let evicted: BTreeSet<(AppId, ClusterId)> = scenario
            .evict
            .iter()
            .filter_map(|(team, app, cluster)| Some((fleet.app_id(team, app)?, fleet.cluster_id(cluster)?)))
            .collect();
        let topologies = topologies(fleet);
        let with_key: BTreeMap<&TopologyKey, ClusterSet> =
            topologies.iter().map(|(key, groups)| (key, in_a_group(fleet, groups))).collect();
        let (held, moving) = (BTreeSet::new(), BTreeMap::new());
        let mut known = Alike::default();
        let apps = fleet
            .app_ids()
            .map(|id| {
                let leaves: ClusterSet = evicted
                    .range((id, ClusterId(0))..=(id, ClusterId(u16::MAX)))
                    .map(|(_, cluster)| *cluster)
                    .collect();
                let needs = served.needs(fleet.app(id));
                let (app, variants) = (fleet.app(id), &variants.apps[id.index()]);
                let mut view = AppView::new(fleet, app, variants, &conditions, (needs, leaves), &mut known, ledger);
                // What is in no group of a key that the app spreads over gets nothing new.
                for has in app.placement.spread.iter().filter_map(|spread| with_key.get(&spread.key)) {
                    if !view.fresh.is_within(has) {
                        view.fresh = view.fresh.and(has);
                    }
                }
                view
            })
            .collect();
        let order = in_turn(fleet);
        let together = Groups::new(fleet, &order, |placement| placement.affinity.as_ref());
        let apart = Groups::new(fleet, &order, |placement| placement.anti_affinity.as_ref());
        Self {
            fleet,
            variants,
            record,
            placed: placed(fleet, record),
            observed: observed(fleet, record),
            conditions,
            evicted,
            held,
            moving,
            apps,
            calm: known.calm,
            order,
            together,
            apart,
            topologies,
            lost: ClusterSet::empty(),
        }
    }

    /// Supposes clusters lost, and no others, beyond those of the scenario.
    pub fn suppose_lost(&mut self, lost: &ClusterSet) {
        for (set, is_lost) in [(std::mem::take(&mut self.lost), false), (lost.clone(), true)] {
            for cluster in set.iter() {
                self.conditions[cluster.index()].supposed_lost = is_lost;
            }
        }
        self.lost.clone_from(lost);
    }

    /// The clusters that may take new replicas of an app.
    pub fn fresh(&self, id: AppId) -> Cow<'_, ClusterSet> {
        let fresh = &self.app(id).fresh;
        if self.lost.is_empty() { Cow::Borrowed(fresh) } else { Cow::Owned(fresh.without(&self.lost)) }
    }

    /// Whether a cluster may take new replicas of an app.
    pub fn is_fresh(&self, id: AppId, cluster: ClusterId) -> bool {
        self.app(id).fresh.contains(cluster) && !self.lost.contains(cluster)
    }

    /// With apps that stay as they are recorded, and where those of them lead that are on a move in steps.
    pub fn holding(self, held: BTreeSet<AppId>, moving: BTreeMap<AppId, AppState>) -> Self {
        Self { held, moving, ..self }
    }

    /// The group of a cluster by a key that some app spreads over, numbered in name order; `None` where it has no value.
    pub fn group(&self, key: &TopologyKey, cluster: ClusterId) -> Option<u32> {
        self.groups(key).get(cluster.index()).copied()?
    }

    /// The same by cluster id.
    pub fn groups(&self, key: &TopologyKey) -> &[Option<u32>] {
        self.topologies.get(key).map_or(&[], Vec::as_slice)
    }

    /// What is known of an app.
    pub fn app(&self, id: AppId) -> &AppView {
        &self.apps[id.index()]
    }

    /// A workload of an app.
    pub fn workload(&self, id: AppId, workload: usize) -> &'a Workload {
        &self.fleet.app(id).workloads[workload]
    }

    fn question(&self, id: AppId, cluster: ClusterId) -> Question<'_> {
        Question {
            fleet: self.fleet,
            app: self.fleet.app(id),
            needs: &self.app(id).needs,
            cluster,
            conditions: &self.conditions[cluster.index()],
            evicted: self.evicted.contains(&(id, cluster)),
        }
    }

    /// Whether the placement of an app stays as it is recorded: a person froze it, or it is on a move in steps.
    pub fn is_held(&self, id: AppId) -> bool {
        self.held.contains(&id)
    }

    /// Where the move in steps leads that an app is on.
    pub fn leads_to(&self, id: AppId) -> Option<&AppState> {
        self.moving.get(&id)
    }

    /// Why no new replica of an app may come.
    pub fn veto(&self, id: AppId, cluster: ClusterId) -> Option<Verdict> {
        filter::veto(&self.question(id, cluster))
    }

    /// Everything that keeps new replicas of an app away.
    pub fn vetoes(&self, id: AppId, cluster: ClusterId) -> Vec<Verdict> {
        filter::vetoes(&self.question(id, cluster))
    }

    /// What one pod of a workload is in a cluster; `None` where it could not be read.
    pub fn pod(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<&'a PodFacts> {
        self.variants.apps.get(id.index())?.of(cluster).workloads.get(workload)?.pod.as_deref()
    }

    /// Whether placed replicas of a workload leave a cluster.
    pub fn release(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<Release> {
        let app = self.releases_app(id, cluster);
        let excluded = (!self.allows(id, workload, cluster)).then_some(Release::Moves);
        app.max(excluded.filter(|_| !self.is_held(id)))
    }

    /// Whether placed objects of an app leave a cluster.
    pub fn releases_app(&self, id: AppId, cluster: ClusterId) -> Option<Release> {
        let at_home = self.fleet.app(id).placement.candidates.contains(cluster);
        if at_home && self.calm[self.app(id).alike].contains(cluster) && !self.lost.contains(cluster) {
            return None;
        }
        filter::release(&self.question(id, cluster)).filter(|_| !self.is_held(id))
    }

    /// Whether nothing makes placed objects of an app leave any of these clusters.
    pub fn releases_none(&self, id: AppId, clusters: &ClusterSet) -> bool {
        let calm = &self.calm[self.app(id).alike];
        let at_home = clusters.is_within(&self.fleet.app(id).placement.candidates);
        (at_home && clusters.is_within(calm) && self.lost.is_empty())
            || clusters.iter().all(|cluster| self.releases_app(id, cluster).is_none())
    }

    /// Whether the rule of a workload allows a cluster.
    pub fn allows(&self, id: AppId, workload: usize, cluster: ClusterId) -> bool {
        let app = self.fleet.app(id);
        app.objects[app.workloads[workload].object].only.as_ref().is_none_or(|only| only.contains(cluster))
    }

    /// The class of a workload's pods in a cluster; `None` where its pod could not be read.
    pub fn class(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<ClassId> {
        match &self.app(id).workloads[workload].pods {
            Pods::Uniform(class) => *class,
            Pods::ByVariant(classes) => classes[self.variants.apps[id.index()].index_of(cluster)],
        }
    }

    /// The class of a workload's pods, where it is the same in every cluster and no override writes replicas.
    pub fn uniform_class(&self, id: AppId, workload: usize) -> Option<ClassId> {
        let view = &self.app(id).workloads[workload];
        match view.pods {
            Pods::Uniform(class) => class.filter(|_| !view.is_written),
            Pods::ByVariant(_) => None,
        }
    }

    /// The replicas that an override writes in a cluster. Where an autoscaler owns them, none are written.
    pub fn written(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<u32> {
        if !self.app(id).workloads[workload].is_written || self.workload(id, workload).autoscaled.is_some() {
            return None;
        }
        self.variants.apps[id.index()].of(cluster).workloads[workload].replicas
    }

    /// Whether a workload never moves by itself.
    pub fn is_bound(&self, id: AppId, workload: usize) -> bool {
        self.app(id).workloads[workload].bound
    }

    /// Whether the replicas of a workload in a cluster are booked in full, whatever fits: room is ignored, data keeps
    /// them there, it never runs in two clusters, a person wrote the number, or froze the app.
    pub fn books_in_full(&self, id: AppId, workload: usize, cluster: ClusterId) -> bool {
        self.in_full(id, workload, cluster).is_some()
    }

    /// The same, and why.
    pub fn in_full(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<InFull> {
        let whys = [
            (self.leads_to(id).is_some(), InFull::Moving),
            (self.is_held(id), InFull::Suspended),
            (self.workload(id, workload).policy.capacity == Capacity::Ignore, InFull::Ignored),
            (self.is_bound(id, workload), InFull::Bound),
            (self.fleet.app(id).exclusive, InFull::Exclusive),
            (self.written(id, workload, cluster).is_some(), InFull::Written),
        ];
        whys.into_iter().find_map(|(is, why)| is.then_some(why))
    }
}
