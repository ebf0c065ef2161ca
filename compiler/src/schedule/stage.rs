//! What a pass works on: the ledger, what runs, and what each app could not get.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::Release;
use super::ledger::{ClassId, Ledger, Resolved};
use super::quota::{self, AppUsage, Counted, Left, Pods, Usage};
use super::scope::{self, Scope};
use super::state::{AppState, Row, by_cluster, pool_name};
use super::view::{View, is_daemon};
use super::{Deficit, Displaced, beyond, view};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId, SmolStr};
use crate::kinds::pod::PodFacts;
use crate::model::{App, ClusterSet, Fleet, Object, Share};
use crate::room::PoolRef;
use crate::variants::Variants;

/// The stage of a schedule.
pub(super) struct Stage<'v, 'a> {
    pub view: &'v View<'a>,
    pub ledger: Ledger,
    /// By app id. Outside of an app's own turn its rows are booked.
    pub apps: Vec<AppState>,
    /// By app id: what narrows its clusters, as it was when it was looked at last.
    pub scopes: Vec<Scope>,
    /// By the first app of a group that shares its clusters and is not together: where it gathers.
    pub homes: BTreeMap<AppId, ClusterSet>,
    /// Where it cannot, by the same: the first found no place there. Of this pass.
    pub unfit: Vec<(AppId, ClusterSet)>,
    /// By app id, what the record has: what a pass placed and a later one takes back has nothing to keep.
    pub recorded: Vec<AppState>,
    /// Usage of the teams' quotas.
    pub usage: Usage,
    /// What the first phase of this pass took away, by app: the app as it entered the pass.
    pub entered: BTreeMap<AppId, AppState>,
    /// Replicas that no longer fit where they were, by app, workload and cluster. Of this pass.
    pub displaced: BTreeMap<(AppId, usize, ClusterId), u32>,
    /// The same, of all passes.
    pub displaced_in_all: BTreeMap<(AppId, usize), u32>,
    /// Each time that replicas were displaced, of all passes.
    pub displacements: Vec<Displaced>,
    /// By app id.
    pub deficits: Vec<Vec<Deficit>>,
    /// Whether everything that runs is booked, as it is between two passes.
    pub is_booked: bool,
}

/// What a stage begins with, and leaves behind.
#[derive(Clone, Default)]
pub(super) struct Stand {
    pub ledger: Ledger,
    /// By app id, as the next four.
    pub apps: Vec<AppState>,
    pub recorded: Vec<AppState>,
    pub scopes: Vec<Scope>,
    pub deficits: Vec<Vec<Deficit>>,
    pub usage: Usage,
}

impl Stand {
    /// Of what is recorded: nothing is booked yet.
    pub fn new(view: &View<'_>, ledger: Ledger, apps: Vec<AppState>) -> Self {
        let deficits = vec![Vec::new(); apps.len()];
        let (scopes, usage) = (scope::wide_open(view), Usage::new(view.fleet));
        Self { ledger, recorded: apps.clone(), apps, scopes, deficits, usage }
    }
}

/// Replicas of a workload in a cluster, by whether they stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// They stay.
    pub stays: u32,
    /// They leave the cluster once they have a place elsewhere.
    pub moves: u32,
    /// They may not use the pool they are in.
    pub unusable: u32,
    /// They no longer fit into the pool they were in, and are not booked.
    pub displaced: u32,
}

impl Held {
    /// All that ran when the pass began.
    pub fn all(self) -> u32 {
        self.stays.saturating_add(self.moves).saturating_add(self.unusable).saturating_add(self.displaced)
    }
}

/// One booking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Booking {
    pub class: ClassId,
    pub pool: PoolRef,
    pub replicas: u32,
}

impl<'v, 'a> Stage<'v, 'a> {
    /// A stage on which nothing happened yet.
    pub fn new(view: &'v View<'a>, stand: Stand) -> Self {
        let Stand { ledger, apps, recorded, scopes, deficits, usage } = stand;
        Self {
            view,
            ledger,
            apps,
            scopes,
            homes: BTreeMap::new(),
            unfit: Vec::new(),
            recorded,
            usage,
            entered: BTreeMap::new(),
            displaced: BTreeMap::new(),
            displaced_in_all: BTreeMap::new(),
            displacements: Vec::new(),
            deficits,
            is_booked: false,
        }
    }

    /// What it leaves behind.
    pub fn into_stand(self) -> Stand {
        let Self { ledger, apps, recorded, scopes, deficits, usage, .. } = self;
        Stand { ledger, apps, recorded, scopes, deficits, usage }
    }
}

impl Stage<'_, '_> {
    /// What the rows of one cluster of a workload book. Nothing where capacity is unknown or the pods may not use it.
    pub fn bookings(&mut self, id: AppId, workload: usize, rows: &[Row]) -> Vec<Booking> {
        let mut bookings = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let Some(class) = self.view.class(id, workload, row.cluster) else { continue };
            let Resolved::Pool(pool) = self.ledger.resolve(class, row.cluster, row.pool) else { continue };
            let replicas = match self.view.written(id, workload, row.cluster) {
                None => row.replicas,
                // The number is written once, whatever the rows are.
                Some(written) if index == 0 => written,
                Some(_) => 0,
            };
            bookings.push(Booking { class, pool, replicas });
        }
        bookings
    }

    /// Books rows of a workload.
    pub fn book(&mut self, id: AppId, workload: usize, rows: &[Row]) {
        self.change(id, workload, rows, Ledger::book, Ledger::book_daemon);
    }

    /// Takes bookings of a workload back.
    pub fn unbook(&mut self, id: AppId, workload: usize, rows: &[Row]) {
        self.change(id, workload, rows, Ledger::unbook, Ledger::unbook_daemon);
    }

    fn change(
        &mut self,
        id: AppId,
        workload: usize,
        rows: &[Row],
        replicas: fn(&mut Ledger, ClassId, PoolRef, u32),
        daemon: fn(&mut Ledger, ClassId, ClusterId),
    ) {
        for rows in rows.chunk_by(|a, b| a.cluster == b.cluster) {
            if is_daemon(self.view.workload(id, workload)) {
                let Some(cluster) = rows.first().map(|row| row.cluster) else { continue };
                if let Some(class) = self.view.class(id, workload, cluster) {
                    daemon(&mut self.ledger, class, cluster);
                }
                continue;
            }
            for booking in self.bookings(id, workload, rows) {
                replicas(&mut self.ledger, booking.class, booking.pool, booking.replicas);
            }
        }
    }

    /// Books one state of an app instead of another.
    pub fn rebook(&mut self, id: AppId, from: &AppState, to: &AppState) {
        for (workload, (from, to)) in from.workloads.iter().zip(&to.workloads).enumerate() {
            if from.rows != to.rows {
                self.take_out(id, workload, &from.rows);
                self.put_in(id, workload, &to.rows);
            }
        }
    }

    /// Books all rows of a workload, and counts what its autoscaler runs beyond them.
    pub fn put_in(&mut self, id: AppId, workload: usize, rows: &[Row]) {
        self.book(id, workload, rows);
        self.count_beyond(id, workload, rows);
    }

    /// Takes all rows of a workload out of the ledger, and what its autoscaler runs beyond them.
    pub fn take_out(&mut self, id: AppId, workload: usize, rows: &[Row]) {
        self.unbook(id, workload, rows);
        for Booking { class, pool, replicas } in self.beyond(id, workload, rows) {
            self.ledger.discount_beyond(class, pool, replicas);
        }
    }

    /// Counts what the autoscaler of a workload runs beyond its rows, which are booked.
    pub fn count_beyond(&mut self, id: AppId, workload: usize, rows: &[Row]) {
        for Booking { class, pool, replicas } in self.beyond(id, workload, rows) {
            self.ledger.count_beyond(class, pool, replicas);
        }
    }

    fn beyond(&mut self, id: AppId, workload: usize, rows: &[Row]) -> Vec<Booking> {
        let (view, w) = (self.view, self.view.workload(id, workload));
        let class = |cluster| view.class(id, workload, cluster);
        beyond::bookings(&mut self.ledger, w, class, |cluster| view.observed(id, workload, cluster), rows)
    }

    /// What a workload holds, by cluster ascending.
    pub fn held(&mut self, id: AppId, workload: usize) -> Vec<(ClusterId, Held)> {
        let rows = std::mem::take(&mut self.apps[id.index()].workloads[workload].rows);
        let mut held: Vec<(ClusterId, Held)> = Vec::new();
        for row in &rows {
            if held.last().is_none_or(|(cluster, _)| *cluster != row.cluster) {
                held.push((row.cluster, Held::default()));
            }
            let leaves = self.leaves(id, workload, row.cluster);
            let unusable = !leaves && self.is_unusable(id, workload, row);
            let Some((_, held)) = held.last_mut() else { continue };
            let slot = match (leaves, unusable) {
                (true, _) => &mut held.moves,
                (false, true) => &mut held.unusable,
                (false, false) => &mut held.stays,
            };
            *slot = slot.saturating_add(row.replicas);
        }
        self.apps[id.index()].workloads[workload].rows = rows;
        let displaced = self.displaced.range((id, workload, ClusterId(0))..=(id, workload, ClusterId(u16::MAX)));
        for ((_, _, cluster), replicas) in displaced {
            match held.binary_search_by_key(cluster, |(c, _)| *c) {
                Ok(at) => held[at].1.displaced = *replicas,
                Err(at) => held.insert(at, (*cluster, Held { displaced: *replicas, ..Held::default() })),
            }
        }
        held
    }

    /// Whether placed replicas leave a cluster: released, or its weight is 0. What is bound to its data never moves because
    /// of the state of a cluster.
    pub fn leaves(&self, id: AppId, workload: usize, cluster: ClusterId) -> bool {
        let w = self.view.workload(id, workload);
        let scoped = (!self.scope(id).keeps(cluster)).then_some(Release::Moves);
        let released = match self.view.release(id, workload, cluster).max(scoped) {
            Some(Release::Evicted) => !self.view.is_bound(id, workload),
            Some(Release::Moves | Release::Gone) => true,
            None => false,
        };
        released || view::bounds(w, cluster).weight == 0
    }

    /// Whether the pods of a row may not use its pool. No question where room is ignored.
    pub fn is_unusable(&mut self, id: AppId, workload: usize, row: &Row) -> bool {
        let w = self.view.workload(id, workload);
        if is_daemon(w) || w.policy.capacity == Capacity::Ignore {
            return false;
        }
        let Some(class) = self.view.class(id, workload, row.cluster) else { return false };
        self.ledger.resolve(class, row.cluster, row.pool) == Resolved::Unusable
    }

    /// What an app asks of its team's quotas.
    pub fn usage_of(&mut self, id: AppId, state: &AppState) -> AppUsage {
        let (fleet, variants) = (self.view.fleet, self.view.variants);
        let app = fleet.app(id);
        if fleet.team(app.team).quota.is_empty() {
            return AppUsage::new();
        }
        let mut counts = Vec::new();
        for (workload, rows) in state.workloads.iter().enumerate() {
            let here = by_cluster(&rows.rows);
            let w = self.view.workload(id, workload);
            if let Some(autoscaled) = w.autoscaled {
                let seats: Vec<u32> = here.iter().map(|(_, replicas)| *replicas).collect();
                let bounds = autoscaled.bounds(&seats, w.share == Share::Everywhere);
                let stated = |cluster| variants.apps[id.index()].of(cluster).workloads[workload].bounds;
                let counted = |((cluster, _), of): (&(ClusterId, u32), (u32, u32))| {
                    (workload, *cluster, autoscaled.counted(stated(*cluster).unwrap_or(of)))
                };
                counts.extend(here.iter().zip(bounds).map(counted));
                continue;
            }
            for (cluster, replicas) in here {
                let count = if is_daemon(self.view.workload(id, workload)) {
                    let class = self.view.class(id, workload, cluster);
                    class.and_then(|class| self.ledger.nodes(class, cluster)).unwrap_or(1)
                } else {
                    self.view.written(id, workload, cluster).unwrap_or(replicas)
                };
                counts.push((workload, cluster, count));
            }
        }
        let pods = counts.iter().map(|(workload, cluster, count)| {
            let variant = variants.apps[id.index()].of(*cluster);
            Pods { cluster: *cluster, count: *count, facts: variant.workloads[*workload].pod.as_deref() }
        });
        let mut usage = quota::usage(fleet, app, pods);
        if quota::counts_objects(&fleet.team(app.team).quota) {
            add_objects(fleet, variants, id, state, &mut usage);
        }
        usage
    }

    /// The part of that which its objects ask for, and not its pods.
    pub fn usage_of_objects(&self, id: AppId, state: &AppState) -> AppUsage {
        let (fleet, variants) = (self.view.fleet, self.view.variants);
        let mut usage = quota::usage(fleet, fleet.app(id), std::iter::empty());
        add_objects(fleet, variants, id, state, &mut usage);
        usage
    }

    /// What the quotas of single clusters leave to a workload, when `state` is what its app has without it.
    pub fn left_to(&mut self, id: AppId, workload: usize, state: &AppState) -> Left {
        let app = self.view.fleet.app(id);
        let quotas = &self.view.fleet.team(app.team).quota;
        if quotas.iter().all(|quota| quota.of_cluster.is_none()) {
            return Left::default();
        }
        let entered = self.entered.get(&id).unwrap_or(&self.apps[id.index()]).clone();
        let (counted, without) = (self.usage_of(id, &entered), self.usage_of(id, state));
        let of_team = self.usage.of_team(app.team).iter().zip(counted.iter().zip(&without));
        let used: Vec<Vec<i128>> = of_team
            .map(|(all, (counted, without))| {
                all.iter()
                    .zip(counted.iter().zip(without))
                    .map(|(all, (counted, without))| all - counted + without)
                    .collect()
            })
            .collect();
        let each = self.view.workload(id, workload).autoscaled.map_or(1, |autoscaled| autoscaled.counted_for_each());
        Left::new(quotas, &used, each)
    }

    /// The names of the pools that a workload may use in a cluster, where it is divided by what an estimator says.
    pub fn usable_pools(&mut self, id: AppId, workload: usize, cluster: ClusterId) -> BTreeSet<SmolStr> {
        let class = self.view.class(id, workload, cluster).filter(|_| self.view.is_estimated(id, workload));
        let Some(class) = class else { return BTreeSet::new() };
        let pools: Vec<PoolRef> = self.ledger.eligible(class, cluster).iter().map(|eligible| eligible.pool).collect();
        let ids = pools.into_iter().filter_map(|pool| self.ledger.id(cluster, pool));
        ids.map(|pool| pool_name(self.view.fleet, cluster, pool)).collect()
    }

    /// What one pod of a workload counts by in a cluster.
    pub fn pod(&self, id: AppId, workload: usize, cluster: ClusterId) -> Option<&PodFacts> {
        self.view.variants.apps[id.index()].of(cluster).workloads[workload].pod.as_deref()
    }
}

/// Adds what the objects of an app count to what its pods use.
pub(super) fn add_objects(fleet: &Fleet, variants: &Variants, id: AppId, state: &AppState, usage: &mut AppUsage) {
    let (app, of) = (fleet.app(id), &variants.apps[id.index()]);
    let objects = objects_of(app, state).map(|(cluster, index)| {
        let counted = &of.of(cluster).counted;
        let at = counted.binary_search_by_key(&index, |(object, _)| *object).ok();
        let beside = at.and_then(|at| counted.get(at)).map(|(_, counts)| counts);
        Counted { cluster, resource: &app.objects[index].resource, beside }
    });
    quota::add_objects(fleet, app, usage, objects);
}

/// The objects that an app has in clusters, as quotas count them: workloads where they run, everything else where any of
/// them does; where none has replicas, all of it in every selected cluster.
fn objects_of<'a>(app: &'a App, state: &'a AppState) -> impl Iterator<Item = (ClusterId, usize)> {
    let none_runs = state.workloads.iter().all(|workload| workload.rows.is_empty());
    let idle = none_runs && app.workloads.iter().all(|workload| workload.replicas == 0);
    let runs =
        |workload: usize, cluster: ClusterId| state.workloads[workload].rows.iter().any(|row| row.cluster == cluster);
    let used: ClusterSet = state.workloads.iter().flat_map(|w| &w.rows).map(|row| row.cluster).collect();
    let present = if idle { state.clusters.clone() } else { used };
    let clusters: Vec<ClusterId> = present.iter().collect();
    clusters.into_iter().flat_map(move |cluster| {
        let there = move |(index, object): &(usize, &Object)| {
            let allowed = object.only.as_ref().is_none_or(|only| only.contains(cluster));
            // a set has several
            let members = || app.workloads.iter().enumerate().filter(|(_, w)| w.object == *index);
            // What has replicas, or had some before its total became 0, is where those are.
            let wanted =
                members().any(|(at, w)| w.replicas > 0 || state.workloads.get(at).is_some_and(|w| !w.rows.is_empty()));
            if wanted { members().any(|(workload, _)| runs(workload, cluster)) } else { allowed }
        };
        app.objects.iter().enumerate().filter(there).map(move |(index, _)| (cluster, index))
    })
}
