//! Selecting the clusters of an app: for the workload that leads, under the spread constraints.

use std::collections::{BTreeMap, BTreeSet};

use super::{Task, contenders, seat, sets};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Share};
use crate::schedule::select::{Candidate, Class, Constraint, Failure, Need, select_grouped};
use crate::schedule::stage::Stage;
use crate::schedule::state::{Row, Weights};
use crate::schedule::view::{bounds, is_daemon};

/// The set an app may use.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Ascending.
    pub set: Vec<ClusterId>,
    /// Those that stand for the groups a `min` requires.
    pub witnesses: Vec<ClusterId>,
    /// Why nothing may be added to the set.
    pub failure: Option<Failure>,
    /// Those of the set where workloads that do not lead run: they are not stopped because the one that leads goes
    /// elsewhere.
    occupied: ClusterSet,
}

impl Choice {
    /// Whether no workload must leave because the one that leads goes elsewhere.
    fn keeps_occupied(&self) -> bool {
        self.keeps(&self.occupied)
    }

    /// Whether all of these are in the set.
    fn keeps(&self, clusters: &ClusterSet) -> bool {
        clusters.iter().all(|cluster| self.set.binary_search(&cluster).is_ok())
    }

    /// Leaves the clusters that a workload uses, if it uses any.
    pub fn narrow_to(&mut self, rows: &[Row]) {
        let used: ClusterSet = rows.iter().map(|row| row.cluster).collect();
        if self.set.iter().any(|cluster| used.contains(*cluster)) {
            self.set.retain(|cluster| used.contains(*cluster) || self.occupied.contains(*cluster));
        }
    }
}

/// A cluster that may be selected.
struct Choosable {
    cluster: ClusterId,
    /// Whether the workload that leads may use it.
    leads: bool,
    /// Whether it is in the set the record holds.
    held: bool,
    /// Whether another workload runs there.
    occupied: bool,
    /// Whether that never moves by itself.
    bound: bool,
    candidate: Candidate,
}

impl Choosable {
    /// As held by the workload that leads, where another one runs.
    fn taken_where_occupied(mut self) -> Self {
        if self.occupied {
            self.candidate.held = true;
            self.candidate.kept = self.candidate.kept.max(1);
        }
        self
    }
}

/// Selects the clusters of an app. Nothing stays unbooked.
pub(super) fn choose(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task]) -> Choice {
    let lead = stage.view.app(id).lead;
    let members = lead.map(|lead| stage.view.fleet.app(id).members(lead)).unwrap_or_default();
    for member in members.clone() {
        stage.take_out(id, member, &tasks[member].rows);
    }
    let options = options(stage, id, tasks, lead);
    for member in members {
        stage.put_in(id, member, &tasks[member].rows);
    }
    let app = stage.view.fleet.app(id);
    let policy = lead.map(|lead| &stage.view.workload(id, lead).policy);
    let need = Need {
        replicas: lead.map_or(0, |lead| tasks[lead].wanted),
        per_cluster_min: policy.map_or(0, |p| p.min),
        class: stage.view.app(id).class,
        all_or_nothing: policy.is_some_and(|p| p.capacity == Capacity::Require),
        fresh: false,
    };
    let anew = lead.is_some_and(|lead| matches!(stage.apps[id.index()].workloads[lead].weights, Weights::Former(_)));
    if app.placement.spread.is_empty() && need.per_cluster_min == 0 {
        let mut choice = unconstrained(&options, &need, anew);
        add_for_others(stage, id, &options, &mut choice);
        return choice;
    }
    let choose = |options: &[Choosable]| {
        let mut choice = constrained(stage, id, options, &need, anew);
        add_for_others(stage, id, options, &mut choice);
        choice
    };
    let choice = choose(&options);
    if choice.keeps_occupied() {
        return choice;
    }
    // The workload that leads took the groups in which another one runs: these are taken before it chooses, if it has a place
    // beside them, or if what runs there is bound to it.
    let wanted = u64::from(need.replicas);
    let rooms: BTreeMap<ClusterId, u64> =
        options.iter().filter(|o| o.leads).map(|o| (o.cluster, o.candidate.room.unwrap_or(wanted))).collect();
    let mut taken: Vec<Choosable> = options.into_iter().map(Choosable::taken_where_occupied).collect();
    let beside = choose(&taken);
    let bound: ClusterSet = taken.iter().filter(|option| option.bound).map(|option| option.cluster).collect();
    if !choice.keeps(&bound) {
        if beside.keeps(&bound) {
            return beside;
        }
        leave_groups_of(stage, id, &bound, &mut taken);
        return choose(&taken);
    }
    let room = |choice: &Choice| {
        let rooms = choice.set.iter().filter_map(|cluster| rooms.get(cluster)).copied();
        if need.class == Class::Duplicated { rooms.max().unwrap_or(0) } else { rooms.fold(0, u64::saturating_add) }
    };
    let suffices = beside.failure.is_none() && room(&beside) >= wanted.min(room(&choice));
    if beside.keeps_occupied() && suffices { beside } else { choice }
}

/// Leaves of the options those in the groups of some clusters, for each constraint that allows no further group beside these.
fn leave_groups_of(stage: &Stage<'_, '_>, id: AppId, clusters: &ClusterSet, options: &mut Vec<Choosable>) {
    for spread in &stage.view.fleet.app(id).placement.spread {
        let taken: BTreeSet<_> = clusters.iter().map(|cluster| stage.view.group(&spread.key, cluster)).collect();
        if spread.max.is_some_and(|max| taken.len() >= usize::try_from(max).unwrap_or(usize::MAX)) {
            options.retain(|option| taken.contains(&stage.view.group(&spread.key, option.cluster)));
        }
    }
}

/// Clusters that may take new replicas of some workload, or hold some that stay; ascending.
fn options(stage: &mut Stage<'_, '_>, id: AppId, tasks: &[Task], lead: Option<usize>) -> Vec<Choosable> {
    let (view, app) = (stage.view, stage.view.fleet.app(id));
    let holders = tasks.iter().flat_map(|task| &task.held).filter(|(_, held)| held.stays > 0).map(|(c, _)| *c);
    let holders: ClusterSet = holders.collect();
    let fresh = stage.fresh(id);
    let clusters = match contenders::contenders(stage, id, tasks, &fresh) {
        Some(contenders) => contenders.or(&holders),
        None => fresh.or(&holders),
    };
    let mut options = Vec::with_capacity(clusters.len());
    let selected = stage.apps[id.index()].clusters.clone();
    for cluster in clusters.iter() {
        let usable = |workload: usize| {
            view.allows(id, workload, cluster) && bounds(view.workload(id, workload), cluster).weight > 0
        };
        let leads = lead.is_none_or(usable);
        if !leads && !(0..app.workloads.len()).any(usable) {
            continue;
        }
        let mut candidate =
            Candidate { room: None, held: false, kept: 0, pinned: false, weight: 1, tier: 0, groups: Vec::new() };
        candidate.held = selected.contains(cluster);
        if let Some(lead) = lead.filter(|_| leads) {
            for_lead(stage, id, tasks, lead, (cluster, fresh.contains(cluster)), &mut candidate);
            // What stayed outside of the set for want of a place, and may stay now, is as good as any of the set.
            candidate.held |= candidate.kept > 0;
        }
        let held = candidate.held || candidate.kept > 0;
        let others = tasks.iter().filter(|task| Some(task.workload) != lead && task.held(cluster).stays > 0);
        let (occupied, bound) =
            others.fold((false, false), |(_, bound), task| (true, bound || view.is_bound(id, task.workload)));
        options.push(Choosable { cluster, leads, held, occupied, bound, candidate });
    }
    options
}

fn for_lead(
    stage: &mut Stage<'_, '_>,
    id: AppId,
    tasks: &[Task],
    lead: usize,
    (cluster, is_fresh): (ClusterId, bool),
    candidate: &mut Candidate,
) {
    let task = &tasks[lead];
    let workload = stage.view.workload(id, lead);
    let bounds = bounds(workload, cluster);
    let room = if workload.part.is_some() {
        let members = stage.view.fleet.app(id).members(lead);
        let sets = sets::room(stage, id, &tasks[members], cluster);
        sets.map(|sets| u64::from(sets).saturating_mul(u64::from(task.wanted)))
    } else {
        seat::room(stage, id, lead, task.wanted, cluster)
    };
    let room = task.shared_room(cluster, room);
    let cap = |stage: &Stage<'_, '_>| task.left.cap(cluster, stage.pod(id, task.workload, cluster)).map(u64::from);
    let quota = if task.left.is_empty() { None } else { cap(stage) };
    let kept = seat::previous(stage, id, task, cluster, room).min(bounds.max.unwrap_or(u32::MAX));
    // Where an estimator sees nothing, nothing is divided to.
    let nothing = stage.view.is_estimated(id, task.workload) && {
        let pools = stage.usable_pools(id, task.workload, cluster);
        stage.view.estimate(id, task.workload, cluster, |pool| pools.contains(pool)) == Some(0)
    };
    let room = if is_fresh && !nothing {
        [room, bounds.max.map(u64::from), quota].into_iter().flatten().min()
    } else {
        Some(0)
    };
    candidate.room = room.map(|room| room.max(u64::from(kept)));
    candidate.kept = kept;
    candidate.pinned = stage.view.is_bound(id, task.workload) && kept > 0;
    candidate.weight = bounds.weight;
    candidate.tier = stage.view.fleet.app(id).placement.overflow_tier(cluster);
}

/// Without constraints: what runs is kept if its room suffices; else every cluster that can take a replica.
fn unconstrained(options: &[Choosable], need: &Need, anew: bool) -> Choice {
    let wanted = u64::from(need.replicas);
    let room = |option: &Choosable| option.candidate.room.unwrap_or(wanted);
    let leading = || options.iter().filter(|option| option.leads);
    let clusters = |chosen: &mut dyn Iterator<Item = &Choosable>| chosen.map(|option| option.cluster).collect();
    let enough = if need.class == Class::Duplicated { wanted } else { wanted.min(1) };
    // A cluster of the set stays in it: other workloads may run there.
    let able = |option: &&Choosable| room(option) >= enough || option.held;
    let held = || leading().filter(|option| option.held);
    // Of several tiers the lower fill first, whichever hold what runs.
    let tiers = leading().map(|option| option.candidate.tier).max().unwrap_or(0) > 0;
    let suffices = need.class == Class::Widest
        && !anew
        && !tiers
        && held().next().is_some()
        && held().map(room).fold(0, u64::saturating_add) >= wanted;
    let set: Vec<ClusterId> = if suffices { clusters(&mut held()) } else { clusters(&mut leading().filter(able)) };
    let failure = (set.is_empty() && need.replicas > 0).then_some(Failure::NoCandidates);
    Choice { set, failure, ..Choice::default() }
}

fn constrained(stage: &Stage<'_, '_>, id: AppId, options: &[Choosable], need: &Need, anew: bool) -> Choice {
    let spread = &stage.view.fleet.app(id).placement.spread;
    let constraints: Vec<Constraint> =
        spread.iter().map(|spread| Constraint { min: spread.min, max: spread.max }).collect();
    let (mut leading, mut candidates) = (Vec::with_capacity(options.len()), Vec::with_capacity(options.len()));
    for option in options.iter().filter(|option| option.leads) {
        leading.push(option.cluster);
        candidates.push(Candidate { groups: Vec::new(), ..option.candidate });
    }
    let keys: Vec<&[Option<u32>]> = spread.iter().map(|spread| stage.view.groups(&spread.key)).collect();
    let group = |constraint: usize, at: usize| {
        let cluster = leading.get(at).copied()?;
        keys.get(constraint)?.get(cluster.index()).copied()?
    };
    let mut selection = select_grouped(&candidates, &group, &constraints, need);
    if anew && need.class == Class::Widest && selection.failure.is_none() {
        // Changed weights may name clusters outside of the set; they join it where the constraints allow.
        let wider = select_grouped(&candidates, &group, &constraints, &Need { fresh: true, ..*need });
        if wider.failure.is_none() && selection.chosen.iter().all(|at| wider.chosen.contains(at)) {
            selection = wider;
        }
    }
    let clusters =
        |positions: &[usize]| positions.iter().filter_map(|at| leading.get(*at)).copied().collect::<Vec<_>>();
    let (set, witnesses) = (clusters(&selection.chosen), clusters(&selection.witnesses));
    Choice { set, witnesses, failure: selection.failure, ..Choice::default() }
}

/// Adds the clusters that only other workloads may use, and those where others run, as far as the constraints allow.
fn add_for_others(stage: &Stage<'_, '_>, id: AppId, options: &[Choosable], choice: &mut Choice) {
    let spread = &stage.view.fleet.app(id).placement.spread;
    let failed = choice.failure.is_some_and(|failure| failure != Failure::NoCandidates);
    choice.occupied = options.iter().filter(|option| option.occupied).map(|option| option.cluster).collect();
    for option in options.iter().filter(|option| option.occupied || (!option.leads && (option.held || !failed))) {
        let fits = spread.iter().all(|spread| {
            let mut groups: Vec<_> = choice.set.iter().map(|c| stage.view.group(&spread.key, *c)).collect();
            groups.push(stage.view.group(&spread.key, option.cluster));
            groups.sort_unstable();
            groups.dedup();
            spread.max.is_none_or(|max| groups.len() <= usize::try_from(max).unwrap_or(usize::MAX))
                && groups.iter().all(Option::is_some)
        });
        if fits && let Err(at) = choice.set.binary_search(&option.cluster) {
            choice.set.insert(at, option.cluster);
        }
    }
}

/// The clusters of a choice that a workload may use.
pub(super) fn usable(stage: &Stage<'_, '_>, id: AppId, workload: usize, choice: &Choice) -> Vec<ClusterId> {
    choice.set.iter().copied().filter(|cluster| stage.view.allows(id, workload, *cluster)).collect()
}

/// The clusters in which a workload must have replicas, so that it reaches the groups that a spread requires.
///
/// Where it runs already stands first: the witnesses of the choice were chosen for the workload that leads, and another
/// one that has reached as many groups elsewhere in the set is not moved to them.
pub(super) fn witnesses(stage: &Stage<'_, '_>, id: AppId, task: &Task, choice: &Choice) -> Vec<ClusterId> {
    let workload = stage.view.workload(id, task.workload);
    if workload.share != Share::Divided || is_daemon(workload) || choice.witnesses.is_empty() {
        return Vec::new();
    }
    let spread = &stage.view.fleet.app(id).placement.spread;
    let mut reached: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); spread.len()];
    let mut own = Vec::new();
    let stays = |cluster: &ClusterId| task.held(*cluster).stays > 0 && bounds(workload, *cluster).weight > 0;
    for cluster in choice.set.iter().copied().filter(stays) {
        let mut helps = false;
        for (constraint, reached) in spread.iter().zip(&mut reached) {
            let lacking = reached.len() < usize::try_from(constraint.min).unwrap_or(usize::MAX);
            let group = stage.view.group(&constraint.key, cluster).filter(|_| lacking);
            helps |= group.is_some_and(|group| reached.insert(group));
        }
        if helps {
            own.push(cluster);
        }
    }
    let reaches_all = spread
        .iter()
        .zip(&reached)
        .all(|(constraint, reached)| reached.len() >= usize::try_from(constraint.min).unwrap_or(usize::MAX));
    let witnesses = if reaches_all { own } else { choice.witnesses.clone() };
    let enough = usize::try_from(task.wanted).unwrap_or(usize::MAX) >= witnesses.len();
    if enough { witnesses } else { Vec::new() }
}
