//! What narrows the clusters of an app beyond its filters, and depends on what runs: the tier in use, and the
//! groups that it shares clusters with, or shares none with.
//!
//! A filter looks at the app and the cluster alone, so its answer holds for a whole schedule; a scope is asked for again
//! whenever an app is looked at. Outside of its scope an app gets nothing new, and what runs there leaves once it has a place.
//! The next thing that narrows is a field of [`Scope`] and a line in each of its functions.

use super::groups::Group;
use super::stage::Stage;
use super::view::View;
use super::{Deficit, Verdict};
use crate::base::{AppId, ClusterId};
use crate::model::ClusterSet;

/// The scope of an app. `None` in a field is no narrowing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// The clusters of the tier in use.
    tier: Option<ClusterSet>,
    /// Where an app that shares its clusters with others may be.
    together: Option<Limits>,
    /// Where an app that shares no cluster with others may be.
    apart: Option<Limits>,
    /// Nothing new comes to any cluster: what a quota refuses.
    closed: bool,
}

/// Clusters of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Where new replicas may come.
    pub admits: ClusterSet,
    /// Where placed ones stay.
    keeps: ClusterSet,
}

impl Scope {
    /// Whether new replicas may come.
    pub fn admits(&self, cluster: ClusterId) -> bool {
        let Self { tier, together, apart, closed } = self;
        let groups = together.iter().chain(apart);
        !closed
            && tier.as_ref().is_none_or(|tier| tier.contains(cluster))
            && groups.into_iter().all(|g| g.admits.contains(cluster))
    }

    /// Whether placed replicas stay.
    pub fn keeps(&self, cluster: ClusterId) -> bool {
        let Self { tier, together, apart, closed: _ } = self;
        let groups = together.iter().chain(apart);
        tier.as_ref().is_none_or(|tier| tier.contains(cluster)) && groups.into_iter().all(|g| g.keeps.contains(cluster))
    }
}

impl Stage<'_, '_> {
    /// Finds out the scope of an app as things are now.
    pub fn look_around(&mut self, id: AppId) {
        let (tier, together, apart) = (self.tier(id), self.together(id), self.apart(id));
        self.scopes[id.index()] = Scope { tier, together, apart, closed: false };
    }

    /// Keeps everything new of an app away, until it looks around again.
    pub fn close(&mut self, id: AppId) {
        self.scopes[id.index()].closed = true;
    }

    fn tier(&self, id: AppId) -> Option<ClusterSet> {
        let tiers = self.view.fleet.app(id).placement.first_fit()?;
        let at = self.apps[id.index()].tier?;
        tiers.get(usize::from(at)).map(|tier| tier.clusters.clone())
    }

    /// The first of a group goes where all of it may be, or where the group gathers; the others go where the first is.
    fn together(&self, id: AppId) -> Option<Limits> {
        let group = self.view.together.of(id)?;
        let leader = *group.members.first()?;
        let home = self.homes.get(&leader);
        if leader != id {
            let own = &self.apps[leader.index()].clusters;
            let gathered = |home: &&ClusterSet| !own.is_empty() && own.without(home).is_empty();
            let set = home.filter(|home| !gathered(home)).unwrap_or(own).clone();
            // Without a place for the first, what runs stays.
            let all = || ClusterSet::all(self.view.fleet.clusters.len());
            return Some(Limits { keeps: if set.is_empty() { all() } else { set.clone() }, admits: set });
        }
        let common = |of: &dyn Fn(AppId) -> ClusterSet| {
            let sets = group.members.iter().map(|member| of(*member));
            let common = sets.reduce(|a, b| a.and(&b)).unwrap_or_default();
            home.map_or_else(|| common.clone(), |home| common.and(home))
        };
        Some(Limits {
            admits: common(&|member| self.view.fresh(member).into_owned()),
            keeps: common(&|member| self.view.fleet.app(member).placement.candidates.clone()),
        })
    }

    /// Nothing new comes where another of the group is; where two are, the later leaves.
    pub fn apart(&self, id: AppId) -> Option<Limits> {
        let group = self.view.apart.of(id)?;
        let (mut taken, mut earlier) = (ClusterSet::empty(), ClusterSet::empty());
        let mut before = true;
        for member in &group.members {
            if *member == id {
                before = false;
                continue;
            }
            let used = self.used(*member);
            taken = taken.or(&used);
            if before {
                earlier = earlier.or(&used);
            }
        }
        let all = ClusterSet::all(self.view.fleet.clusters.len());
        Some(Limits { admits: all.without(&taken), keeps: all.without(&earlier) })
    }

    /// Where an app is.
    pub fn used(&self, id: AppId) -> ClusterSet {
        let state = &self.apps[id.index()];
        if self.view.fleet.app(id).workloads.iter().all(|workload| workload.replicas == 0) {
            return state.clusters.clone();
        }
        state.workloads.iter().flat_map(|w| &w.rows).map(|row| row.cluster).collect()
    }

    /// The groups of an app whose rule does not hold: in how many clusters it is that it should not be in.
    pub fn broken_groups(&self, id: AppId) -> Vec<Deficit> {
        let used = self.used(id);
        let of = |limits: Option<&Limits>, group: Option<&Group>, anti: bool| {
            let outside = used.without(&limits?.keeps).len();
            let clusters = u32::try_from(outside).unwrap_or(u32::MAX);
            (outside > 0).then(|| Deficit::Group {
                group: group.map(|g| g.name.clone()).unwrap_or_default(),
                anti,
                clusters,
            })
        };
        let scope = self.scope(id);
        let together = of(scope.together.as_ref(), self.view.together.of(id), false);
        let apart = of(scope.apart.as_ref(), self.view.apart.of(id), true);
        together.into_iter().chain(apart).collect()
    }

    /// The scope of an app, as it was when it was looked at last.
    pub fn scope(&self, id: AppId) -> &Scope {
        &self.scopes[id.index()]
    }

    /// Whether anything narrows an app.
    pub fn is_narrowed(&self, id: AppId) -> bool {
        *self.scope(id) != Scope::default()
    }

    /// Whether new replicas of an app may come to a cluster.
    pub fn is_fresh(&self, id: AppId, cluster: ClusterId) -> bool {
        self.view.is_fresh(id, cluster) && self.scope(id).admits(cluster)
    }

    /// The clusters that new replicas of an app may come to.
    pub fn fresh(&self, id: AppId) -> ClusterSet {
        let fresh = self.view.fresh(id);
        if !self.is_narrowed(id) {
            return fresh.into_owned();
        }
        fresh.iter().filter(|cluster| self.scope(id).admits(*cluster)).collect()
    }

    /// Why an app gets nothing new in a cluster that no filter vetoes.
    pub fn out_of_scope(&self, id: AppId, cluster: ClusterId) -> Option<Verdict> {
        let scope = self.scope(id);
        if scope.admits(cluster) && scope.keeps(cluster) {
            return None;
        }
        let outside = |limits: &Option<Limits>| {
            limits.as_ref().is_some_and(|limits| !limits.admits.contains(cluster) || !limits.keeps.contains(cluster))
        };
        if outside(&scope.together) {
            return self.view.together.of(id).map(|group| Verdict::NotWithGroup(group.name.clone()));
        }
        if outside(&scope.apart) {
            return self.view.apart.of(id).map(|group| Verdict::TakenByGroup(group.name.clone()));
        }
        let tiers = self.view.fleet.app(id).placement.first_fit()?;
        let tier = self.apps[id.index()].tier.and_then(|at| tiers.get(usize::from(at)))?;
        Some(Verdict::OtherTier(tier.name.clone()))
    }
}

/// No app is narrowed.
pub(super) fn wide_open(view: &View<'_>) -> Vec<Scope> {
    vec![Scope::default(); view.fleet.apps.len()]
}
