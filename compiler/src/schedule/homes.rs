//! Where a group that shares its clusters gathers, when its members are not together: the label is new, a selector changed, or
//! one of them is new where others run.
//!
//! What counts is how many replicas of the whole group move, not who comes first: the first of the group goes to the others
//! where that is the smaller move. Replicas that are bound to their data count before all others. Of equal moves that which
//! leaves the first where it is, then the first by name. A place counts only where all of the group may be and fits; where
//! there is none the first stays, and the others come as far as they find a place with it.
//!
//! Invariants: a group that is together has no home, so nothing of this is asked of it; where a group gathers depends on what
//! runs and on room alone, and what has gathered is the smallest move afterwards, too.

use std::collections::BTreeSet;

use super::ledger::ClassId;
use super::stage::Stage;
use super::view::{bounds, is_daemon};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId};
use crate::model::{ClusterSet, Share, TopologyKey};

/// More single clusters than this are not looked at.
const MOST_PLACES: usize = 256;

/// Replicas that leave their cluster: those that are bound to it, then all.
type Moved = (u64, u64);

impl Stage<'_, '_> {
    /// Finds out where the groups gather that are not together.
    pub fn settle_homes(&mut self) {
        self.unfit.clear();
        for leader in self.view.together.leaders() {
            self.settle_home(leader);
        }
    }

    /// The same for the groups that some apps are the first of.
    pub fn settle_homes_of(&mut self, some: &[AppId]) {
        self.unfit.clear();
        for id in some {
            self.settle_home(*id);
        }
    }

    /// The same for the group that an app is the first of; of any other app nothing changes.
    pub fn settle_home(&mut self, id: AppId) -> Option<ClusterSet> {
        let group = self.view.together.of(id).filter(|group| group.members.first() == Some(&id))?;
        let home = self.home(id, &group.members);
        match &home {
            Some(home) => self.homes.insert(id, home.clone()),
            None => self.homes.remove(&id),
        };
        home
    }

    /// Where a group gathers; `None` where it is together, and where no place holds all of it.
    fn home(&mut self, leader: AppId, members: &[AppId]) -> Option<ClusterSet> {
        let used: Vec<ClusterSet> = members.iter().map(|member| self.used(*member)).collect();
        let own = self.apps[leader.index()].clusters.clone();
        let together = !own.is_empty() && used.iter().all(|used| used.without(&own).is_empty());
        let runs = used.iter().any(|used| !used.is_empty());
        if together || !runs || self.view.is_held(leader) {
            return None;
        }
        let mut places: Vec<(Moved, bool, ClusterSet)> = Vec::new();
        for place in self.places(leader, members, &used) {
            if !self.unfit.contains(&(leader, place.clone())) {
                places.push((self.moved(members, &place), place != own, place));
            }
        }
        places.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| a.2.iter().cmp(b.2.iter())));
        places.dedup();
        let suits = |place: &ClusterSet| self.holds_group(leader, members, &used, place);
        places.into_iter().map(|(_, _, place)| place).find(suits)
    }

    /// Sets of clusters that all of a group may use: those of each member, every single one, and where the first may be in
    /// several, as many of those that hold most.
    fn places(&self, leader: AppId, members: &[AppId], used: &[ClusterSet]) -> Vec<ClusterSet> {
        let candidates = members.iter().map(|member| self.view.fleet.app(*member).placement.candidates.clone());
        let common = candidates.reduce(|a, b| a.and(&b)).unwrap_or_default();
        let mut places = vec![self.apps[leader.index()].clusters.and(&common)];
        places.extend(used.iter().map(|used| used.and(&common)));
        let mut single: Vec<(u64, ClusterId)> = common.iter().map(|c| (self.held_in(members, c), c)).collect();
        single.sort_by_key(|(held, cluster)| (std::cmp::Reverse(*held), *cluster));
        let spread = &self.view.fleet.app(leader).placement.spread;
        let most = spread.iter().filter(|spread| spread.key == TopologyKey::Cluster).filter_map(|spread| spread.max);
        if let Some(most) = most.min().and_then(|most| usize::try_from(most).ok()) {
            let holders = single.iter().filter(|(held, _)| *held > 0).take(most);
            places.push(holders.map(|(_, cluster)| *cluster).collect());
        }
        places.extend(single.iter().take(MOST_PLACES).map(|(_, cluster)| [*cluster].into_iter().collect()));
        places.retain(|place| !place.is_empty());
        places
    }

    /// Replicas of a group in a cluster.
    fn held_in(&self, members: &[AppId], cluster: ClusterId) -> u64 {
        let rows = members.iter().flat_map(|member| &self.apps[member.index()].workloads).flat_map(|w| &w.rows);
        rows.filter(|row| row.cluster == cluster).map(|row| u64::from(row.replicas)).sum()
    }

    /// Replicas of a group outside of a place.
    fn moved(&self, members: &[AppId], place: &ClusterSet) -> Moved {
        let (mut bound, mut all) = (0_u64, 0_u64);
        for member in members {
            for (workload, state) in self.apps[member.index()].workloads.iter().enumerate() {
                let outside = state.rows.iter().filter(|row| !place.contains(row.cluster));
                let replicas: u64 = outside.map(|row| u64::from(row.replicas)).sum();
                all = all.saturating_add(replicas);
                if self.view.is_held(*member) || self.view.is_bound(*member, workload) {
                    bound = bound.saturating_add(replicas);
                }
            }
        }
        (bound, all)
    }

    /// Whether all of a group may be in a place, under its constraints, and fits.
    fn holds_group(&mut self, leader: AppId, members: &[AppId], used: &[ClusterSet], place: &ClusterSet) -> bool {
        let own = &self.apps[leader.index()];
        let runs = self.used(leader);
        let stays = own.clusters == *place;
        // The first is in all of the place: it is not made wider around replicas that stay where they are.
        let wider = !runs.is_empty() && runs.without(place).is_empty() && !place.without(&runs).is_empty();
        let divides = |workload: &crate::model::Workload| match workload.share {
            Share::Everywhere => true,
            Share::Divided => usize::try_from(workload.replicas).is_ok_and(|n| n >= place.len()),
            Share::Whole => false,
        };
        let lead = self.view.app(leader).lead.map(|lead| self.view.workload(leader, lead));
        if !stays && place.len() > 1 && (wider || !lead.is_none_or(divides)) {
            return false;
        }
        members
            .iter()
            .zip(used)
            .all(|(member, used)| self.may_use(*member, used, place) && self.spreads(*member, place, *member == leader))
            && self.fits_group(leader, members, place)
    }

    /// Whether an app may be in a place: it is there, or a cluster of it takes it.
    fn may_use(&self, id: AppId, used: &ClusterSet, place: &ClusterSet) -> bool {
        let there = !used.is_empty()
            && used.without(place).is_empty()
            && used.iter().all(|cluster| self.view.releases_app(id, cluster).is_none());
        let apart = self.apart(id);
        let admits = |cluster: &ClusterId| apart.as_ref().is_none_or(|apart| apart.admits.contains(*cluster));
        let open: Vec<ClusterId> = place.and(&self.view.fresh(id)).iter().filter(admits).collect();
        let workloads = self.view.fleet.app(id).workloads.iter().enumerate();
        let mut counted = workloads.filter(|(_, w)| w.replicas > 0 && !is_daemon(w));
        let allowed = |(workload, w): (usize, &crate::model::Workload)| {
            let usable = |c: &&ClusterId| self.view.allows(id, workload, **c) && bounds(w, **c).weight > 0;
            let most = open.iter().filter(usable).map(|c| bounds(w, *c).max);
            most.reduce(|a, b| a.zip(b).map(|(a, b)| a.saturating_add(b))).is_some_and(|most| {
                let least = if w.share == Share::Divided { w.replicas } else { 1 };
                most.is_none_or(|most| most >= least)
            })
        };
        there || (!open.is_empty() && counted.all(allowed))
    }

    /// Whether a place has the groups that the spread of an app asks for; of the first of a group, that it has no more.
    fn spreads(&self, id: AppId, place: &ClusterSet, first: bool) -> bool {
        let app = self.view.fleet.app(id);
        app.placement.spread.iter().all(|spread| {
            let groups: BTreeSet<u32> = place.iter().filter_map(|c| self.view.group(&spread.key, c)).collect();
            let groups = u32::try_from(groups.len()).unwrap_or(u32::MAX);
            let asks = app.workloads.iter().any(|w| w.share != Share::Whole && w.replicas >= spread.min);
            (!asks || groups >= spread.min) && !(first && spread.max.is_some_and(|max| groups > max))
        })
    }

    /// Whether all of a group fits into a place: into one cluster whole, into several by the same share of each member.
    fn fits_group(&mut self, leader: AppId, members: &[AppId], place: &ClusterSet) -> bool {
        let clusters: Vec<ClusterId> = place.iter().collect();
        if let [one] = clusters.as_slice() {
            return self.fits_part(members, *one, (1, 1), None);
        }
        let Some(lead) = self.view.app(leader).lead else { return true };
        let wanted = self.view.workload(leader, lead).replicas;
        let parts = clusters.iter().map(|cluster| u64::from(self.most_beside(members, *cluster, wanted, wanted, None)));
        parts.fold(0, u64::saturating_add) >= u64::from(wanted)
    }

    /// The most replicas of `wanted`, up to `most`, so that a cluster has room for the same share of all of a group.
    pub fn most_beside(
        &mut self,
        members: &[AppId],
        cluster: ClusterId,
        wanted: u32,
        most: u32,
        unbooked: Option<(AppId, usize)>,
    ) -> u32 {
        let (mut least, mut most) = (0, most.min(wanted));
        while least < most {
            let middle = most - (most - least) / 2;
            if self.fits_part(members, cluster, (middle, wanted), unbooked) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }

    /// Whether a cluster has room for a share of every workload of a group, what is there already included. What is not
    /// divided counts in full. `unbooked` is a workload whose replicas are taken out of the ledger.
    fn fits_part(
        &mut self,
        members: &[AppId],
        cluster: ClusterId,
        (part, of): (u32, u32),
        unbooked: Option<(AppId, usize)>,
    ) -> bool {
        if !self.ledger.is_known(cluster) {
            return true;
        }
        let mut needs: Vec<(ClassId, u32)> = Vec::new();
        let all = members.iter().flat_map(|member| {
            (0..self.view.fleet.app(*member).workloads.len()).map(move |workload| (*member, workload))
        });
        for (member, workload) in all {
            let w = self.view.workload(member, workload);
            let usable = self.view.allows(member, workload, cluster) && bounds(w, cluster).weight > 0;
            if is_daemon(w) || w.policy.capacity == Capacity::Ignore || !usable {
                continue;
            }
            let Some(class) = self.view.class(member, workload, cluster) else { continue };
            let share = (u64::from(w.replicas) * u64::from(part)).div_ceil(u64::from(of.max(1)));
            let wanted = match (self.view.written(member, workload, cluster), w.share) {
                (Some(written), _) => written,
                (None, Share::Divided) => u32::try_from(share).unwrap_or(u32::MAX),
                (None, Share::Whole | Share::Everywhere) => w.replicas,
            };
            let rows = self.apps[member.index()].workloads[workload].rows.iter().filter(|row| row.cluster == cluster);
            let booked = unbooked != Some((member, workload));
            let held = rows.filter(|_| booked).fold(0_u32, |sum, row| sum.saturating_add(row.replicas));
            needs.push((class, wanted.saturating_sub(held)));
        }
        self.ledger.fits_together(cluster, &needs)
    }
}
