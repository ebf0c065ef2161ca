//! What scheduling knows of an app beyond its intent: where it may go, which pods it runs, which workload leads.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::conditions::{Conditions, conditions};
use super::filter::{self, Need, Question, Release, Served, Traits};
use super::groups::Groups;
use super::ledger::{ClassId, Ledger};
use super::select::Class;
use super::state::{AppState, pool_name};
use super::{InFull, Seat, Verdict};
use crate::api::{Capacity, Strategy};
use crate::base::{AppId, ClusterId, SmolStr};
use crate::kinds::pod::PodFacts;
use crate::model::{App, ClusterSet, Fleet, Replicas, Share, TopologyKey, Workload};
use crate::placements::{Estimates, GaveWay, Record};
use crate::variants::{AppVariants, Variants};

use super::Scenario;

/// The fleet with what follows from fleet, variants and scenario alone, whatever runs.
#[derive(Clone)]
pub(super) struct View<'a> {
    pub fleet: &'a Fleet,
    pub variants: &'a Variants,
    record: &'a Record,
    conditions: Vec<Conditions>,
    evicted: BTreeSet<(AppId, ClusterId)>,
    /// Apps whose recorded placement stays as it is.
    held: BTreeSet<AppId>,
    /// Of those, apps that are on a move in steps, with what of it they take room for.
    moving: BTreeMap<AppId, AppState>,
    apps: Vec<AppView>,
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

/// What is known of one app.
#[derive(Clone)]
pub(super) struct AppView {
    needs: Vec<Need>,
    /// The number of its traits: apps of one number pass the same filters, but for their placement.
    pub alike: usize,
    /// Clusters that may take new replicas, but for those supposed lost.
    fresh: ClusterSet,
    /// Which set of clusters it wants.
    pub class: Class,
    /// The workload that clusters are selected for: the largest; `None` where nothing is to be placed.
    pub lead: Option<usize>,
    workloads: Vec<WorkloadView>,
}

/// What is known of one workload.
#[derive(Clone)]
struct WorkloadView {
    /// By variant.
    pods: Vec<Option<ClassId>>,
    /// Whether an override writes its replicas in some variant.
    is_written: bool,
    /// Whether it mounts claims: its data keeps it where it is.
    bound: bool,
}

/// The bounds of a workload in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// 0 where nothing may run.
    pub weight: u64,
    /// Fewest replicas.
    pub min: u32,
    /// Most replicas.
    pub max: Option<u32>,
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
        let mut shared = Passing::default();
        let apps = fleet
            .app_ids()
            .map(|id| {
                let leaves: ClusterSet = evicted
                    .range((id, ClusterId(0))..=(id, ClusterId(u16::MAX)))
                    .map(|(_, cluster)| *cluster)
                    .collect();
                let needs = served.needs(fleet.app(id));
                let mut app = app_view(fleet, id, variants, &conditions, needs, leaves, &mut shared, ledger);
                // What is in no group of a key that the app spreads over gets nothing new.
                let keys = fleet.app(id).placement.spread.iter().filter_map(|spread| with_key.get(&spread.key));
                app.fresh = keys.fold(app.fresh, |fresh, with_key| fresh.and(with_key));
                app
            })
            .collect();
        let mut order: Vec<AppId> = fleet.app_ids().collect();
        order.sort_by_key(|id| (Reverse(fleet.app(*id).priority), *id));
        let together = Groups::new(fleet, &order, |placement| placement.affinity.as_ref());
        let apart = Groups::new(fleet, &order, |placement| placement.anti_affinity.as_ref());
        Self {
            fleet,
            variants,
            record,
            conditions,
            evicted,
            held,
            moving,
            apps,
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

    /// Gives seats of a workload the completions and bounds that are recorded of them: those of a move between two steps
    /// follow from no total.
    pub fn recorded_counts(&self, id: AppId, workload: usize, seats: &mut [Seat]) {
        let app = self.fleet.app(id);
        let key = (self.fleet.team(app.team).name.clone(), app.name.clone());
        let placed =
            self.record.apps.get(&key).and_then(|placed| placed.workloads.get(&self.workload(id, workload).key));
        for seat in seats {
            let pool = seat.pool.map(|pool| pool_name(self.fleet, seat.cluster, pool));
            let cluster = &self.fleet.cluster(seat.cluster).name;
            let recorded = placed.into_iter().flat_map(|placed| &placed.seats);
            if let Some(row) = recorded.into_iter().find(|row| row.cluster == *cluster && row.pool == pool) {
                (seat.completions, seat.bounds) = (row.completions, row.bounds);
            }
        }
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
        filter::release(&self.question(id, cluster)).filter(|_| !self.is_held(id))
    }

    /// Whether the rule of a workload allows a cluster.
    pub fn allows(&self, id: AppId, workload: usize, cluster: ClusterId) -> bool {
        let app = self.fleet.app(id);
        app.objects[app.workloads[workload].object].only.as_ref().is_none_or(|only| only.contains(cluster))
    }

    /// The class of a workload's pods in a cluster; `None` where its pod could not be read.
    pub fn class(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<ClassId> {
        let variant = self.variants.apps[id.index()].index_of(cluster);
        self.app(id).workloads[workload].pods[variant]
    }

    /// The class of a workload's pods, where it is the same in every cluster and no override writes replicas.
    pub fn uniform_class(&self, id: AppId, workload: usize) -> Option<ClassId> {
        let view = &self.app(id).workloads[workload];
        let first = view.pods.first().copied()?;
        first.filter(|_| !view.is_written && view.pods.iter().all(|class| *class == first))
    }

    /// The replicas that an override writes in a cluster. Where an autoscaler owns them, none are written.
    pub fn written(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<u32> {
        if !self.app(id).workloads[workload].is_written || self.workload(id, workload).autoscaled.is_some() {
            return None;
        }
        self.variants.apps[id.index()].of(cluster).workloads[workload].replicas
    }

    /// Whether a workload is divided by what an estimator says.
    pub fn is_estimated(&self, id: AppId, workload: usize) -> bool {
        self.estimates(id, workload).is_some()
    }

    fn estimates(&self, id: AppId, workload: usize) -> Option<&'a Estimates> {
        let policy = &self.workload(id, workload).policy;
        let by = policy.weigh_by.as_ref().filter(|_| policy.strategy == Some(Strategy::DynamicWeight))?;
        self.record.estimates.get(by)
    }

    /// What an estimator says of a cluster: for the cluster, and for the pools that the workload may use. `None` where the
    /// workload is not divided by one.
    pub fn estimate(
        &self,
        id: AppId,
        workload: usize,
        cluster: ClusterId,
        uses: impl Fn(&SmolStr) -> bool,
    ) -> Option<u64> {
        let estimates = self.estimates(id, workload)?;
        let key = (self.fleet.team(self.fleet.app(id).team).name.clone(), self.fleet.cluster(cluster).name.clone());
        let rows = estimates.get(&key).into_iter().flatten();
        let counts = rows.filter(|(pool, _)| pool.as_ref().is_none_or(&uses));
        Some(counts.fold(0, |sum, (_, room)| sum.saturating_add(*room)))
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

    /// What a workload gave up for others, as the record has it.
    pub fn gave_way(&self, id: AppId, workload: &SmolStr) -> &'a [GaveWay] {
        let app = self.fleet.app(id);
        let placed = self.record.apps.get(&(self.fleet.team(app.team).name.clone(), app.name.clone()));
        placed.and_then(|placed| placed.workloads.get(workload)).map_or(&[], |w| w.gave_way.as_slice())
    }
}

/// Whether a workload is placed one on each node, outside of every count.
pub(super) fn is_daemon(workload: &Workload) -> bool {
    workload.kind.is_per_node()
}

/// Weight and bounds of a cluster: the largest weight of the matching rules, the strictest bounds. Copies have no weight.
pub(super) fn bounds(workload: &Workload, cluster: ClusterId) -> Bounds {
    let policy = &workload.policy;
    let weighs = is_static(policy) && workload.share != Share::Everywhere;
    let mut bounds = Bounds { weight: 1, min: policy.min, max: policy.max };
    let Some(rules) = policy.weights.as_ref().filter(|_| weighs) else { return bounds };
    bounds.weight = 0;
    for rule in rules.iter().filter(|rule| rule.clusters.contains(cluster)) {
        bounds.weight = bounds.weight.max(u64::from(rule.weight));
        bounds.min = bounds.min.max(rule.min.unwrap_or(0));
        bounds.max = [bounds.max, rule.max].into_iter().flatten().min();
    }
    bounds
}

/// Whether replicas are divided by stated weights. A strategy is not stated only where one cluster is selected.
pub(super) fn is_static(policy: &Replicas) -> bool {
    matches!(policy.strategy, None | Some(Strategy::StaticWeight))
}

fn topologies(fleet: &Fleet) -> BTreeMap<TopologyKey, Vec<Option<u32>>> {
    let spreads = fleet.apps.iter().flat_map(|app| &app.placement.spread);
    let keys: BTreeSet<&TopologyKey> = spreads.map(|spread| &spread.key).collect();
    let numbered = |key: &TopologyKey| {
        let groups: Vec<_> = fleet.clusters.iter().map(|cluster| key.group(cluster)).collect();
        let names: BTreeSet<_> = groups.iter().flatten().collect();
        let numbers: BTreeMap<_, u32> = names.into_iter().zip(0..).collect();
        groups.iter().map(|group| numbers.get(group.as_ref()?).copied()).collect()
    };
    keys.into_iter().map(|key| (key.clone(), numbered(key))).collect()
}

/// The clusters that have a value of a key, of which `groups` are the groups by cluster.
fn in_a_group(fleet: &Fleet, groups: &[Option<u32>]) -> ClusterSet {
    fleet.cluster_ids().zip(groups).filter(|(_, group)| group.is_some()).map(|(cluster, _)| cluster).collect()
}

/// Clusters that pass every filter but that of the placement, once for all apps that are alike.
#[derive(Default)]
struct Passing<'f> {
    numbers: FxHashMap<Traits<'f>, usize>,
    sets: Vec<ClusterSet>,
}

#[expect(clippy::too_many_arguments, reason = "everything that is known before a schedule begins meets here")]
fn app_view<'f>(
    fleet: &'f Fleet,
    id: AppId,
    variants: &Variants,
    conditions: &[Conditions],
    needs: Vec<Need>,
    evicted: ClusterSet,
    passing: &mut Passing<'f>,
    ledger: &mut Ledger,
) -> AppView {
    let (app, variants) = (fleet.app(id), &variants.apps[id.index()]);
    let Passing { numbers, sets } = passing;
    let traits = Traits { tolerations: &app.placement.tolerations, needs: needs.clone(), evicted };
    let alike = match numbers.get(&traits) {
        Some(alike) => *alike,
        None => {
            let passes = |cluster: &ClusterId| {
                let (conditions, evicted) = (&conditions[cluster.index()], traits.evicted.contains(*cluster));
                let question = Question { fleet, app, needs: &needs, cluster: *cluster, conditions, evicted };
                filter::passes_all_but_affinity(&question)
            };
            sets.push(fleet.cluster_ids().filter(passes).collect());
            numbers.insert(traits, sets.len() - 1);
            sets.len() - 1
        }
    };
    let fresh = app.placement.candidates.and(&sets[alike]);
    let view = |workload: usize| {
        let (mut bound, mut is_written) = (false, false);
        // Most variants differ in something else than their pods.
        let mut last: Option<(&PodFacts, ClassId)> = None;
        let pods = variants.variants.iter().map(|variant| {
            is_written |= variant.workloads[workload].replicas.is_some();
            let pod = variant.workloads[workload].pod.as_deref()?;
            bound |= !pod.pvc_claims.is_empty();
            let class = match last {
                Some((known, class)) if std::ptr::eq(known, pod) || known == pod => class,
                _ => ledger.class(pod),
            };
            last = Some((pod, class));
            Some(class)
        });
        let pods = pods.collect();
        WorkloadView { pods, is_written, bound }
    };
    let mut workloads: Vec<WorkloadView> = (0..app.workloads.len()).map(view).collect();
    // data of one part keeps the whole set
    for at in 0..workloads.len() {
        workloads[at].bound = app.members(at).any(|member| workloads[member].bound);
    }
    let lead = lead(app, variants);
    AppView { needs, alike, fresh, class: class(app, lead), lead, workloads }
}

/// Divided workloads lead before copied ones; then the largest total × share of a node's worth.
fn lead(app: &App, variants: &AppVariants) -> Option<usize> {
    let placed = app.workloads.iter().enumerate().filter(|(_, w)| w.replicas > 0 && !is_daemon(w));
    placed
        .max_by_key(|(index, workload)| {
            let rank = match workload.share {
                Share::Divided => 2,
                Share::Whole => 1,
                Share::Everywhere => 0,
            };
            let pod = variants.variants.first().and_then(|v| v.workloads[*index].pod.as_ref());
            let share = pod.map_or(1, |pod| dominant_share(&pod.requests));
            (rank, share.saturating_mul(i128::from(workload.replicas)), workload.replicas, Reverse(*index))
        })
        .map(|(index, _)| index)
}

/// How much of a node of common proportions (1 CPU to 4 GiB; one of anything else is as much as 8 CPU) a pod takes.
fn dominant_share(requests: &crate::base::Resources) -> i128 {
    let shares = requests.iter().map(|(name, amount)| match name.as_str() {
        "cpu" => amount,
        "memory" | "ephemeral-storage" => amount >> 22,
        "pods" => 1,
        _ if name.starts_with("hugepages-") => amount >> 22,
        _ => amount.saturating_mul(8000),
    });
    shares.max().unwrap_or(1).max(1)
}

fn class(app: &App, lead: Option<usize>) -> Class {
    let lead = lead.and_then(|lead| app.workloads.get(lead));
    let divided = app.workloads.iter().any(|w| w.share == Share::Divided);
    match lead {
        Some(lead) if lead.share == Share::Everywhere && !divided => Class::Duplicated,
        Some(lead) if lead.share == Share::Divided && lead.policy.strategy == Some(Strategy::Aggregated) => {
            Class::Fewest
        }
        Some(_) => Class::Widest,
        // Nothing has replicas: copies go everywhere, an app of zero replicas stays where it is.
        None if divided || app.workloads.iter().any(|w| w.share == Share::Whole) => Class::Widest,
        None => Class::Duplicated,
    }
}
