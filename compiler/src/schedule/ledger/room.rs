//! How much room there is for a class of pods, by cluster: remembered, and not worked out where it cannot matter.
//!
//! Bookings only ever lower the room of a cluster. So what was once its room bounds it from above until something is taken back
//! there, and whoever looks for the clusters with most room works out only those whose bound is high enough.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{ClassId, Ledger, PLENTY, SHARED};
use crate::base::ClusterId;
use crate::model::ClusterSet;

/// What is remembered of the room for a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    /// By cluster id: no more replicas fit there. [`UNSEEN`] where nothing is known; empty before anybody asks.
    bounds: Vec<u64>,
    /// By cluster id: the version at which the bound was the room; [`NEVER`] where it is only a bound.
    versions: Vec<u64>,
    /// By cluster id: the version at which it held so many replicas, perhaps more. Empty before anybody asks.
    floors: Vec<(u64, u64)>,
    /// The epoch of the ledger that this is of, and how many of its raised clusters are taken in.
    taken_in: (u64, usize),
    /// By pool, where several workloads share the class: its version, and the room then. A booking changes one pool of a
    /// cluster.
    pools: Vec<(u64, u64)>,
}

const UNSEEN: u64 = u64::MAX;
/// The capacity of the cluster is unknown.
const UNKNOWN: u64 = u64::MAX - 1;
/// No cluster is said to have more room than this.
const MOST: u64 = UNKNOWN - 1;
const NEVER: u64 = u64::MAX;

impl Remembered {
    fn room(&self, cluster: ClusterId, version: u64) -> Option<u64> {
        let at = self.versions.get(cluster.index()).copied()?;
        self.bounds.get(cluster.index()).copied().filter(|_| at == version)
    }

    fn remember(&mut self, clusters: usize, cluster: ClusterId, version: u64, bound: u64) {
        if self.bounds.is_empty() {
            (self.bounds, self.versions) = (vec![UNSEEN; clusters], vec![NEVER; clusters]);
        }
        if let (Some(at), Some(known)) = (self.versions.get_mut(cluster.index()), self.bounds.get_mut(cluster.index()))
        {
            (*at, *known) = (version, bound);
        }
    }

    fn floor(&self, cluster: ClusterId, version: u64) -> u64 {
        let known = self.floors.get(cluster.index()).filter(|(at, _)| *at == version);
        known.map_or(0, |(_, floor)| *floor)
    }

    fn remember_floor(&mut self, clusters: usize, cluster: ClusterId, version: u64, floor: u64) {
        if self.floors.is_empty() {
            self.floors = vec![(NEVER, 0); clusters];
        }
        if let Some(known) = self.floors.get_mut(cluster.index()) {
            *known = (version, floor);
        }
    }

    fn bound(&self, cluster: ClusterId) -> u64 {
        self.bounds.get(cluster.index()).copied().unwrap_or(UNSEEN)
    }
}

/// Which clusters are looked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::schedule) struct Sought<'s> {
    /// Those with less room are left out.
    pub at_least: u64,
    /// More room than this counts as this.
    pub cap: Option<u64>,
    /// What a cluster of unknown capacity counts as, if nothing caps it.
    pub unknown: u64,
    /// How many of each group.
    pub most: usize,
    /// The group of each cluster by its id; all are one where there are no groups.
    pub groups: Option<&'s [Option<u32>]>,
    /// So many groups are used at most: one that is worse than as many others is left out.
    pub most_groups: usize,
    /// Clusters that are used whatever else is: their groups are not left out.
    pub used: &'s ClusterSet,
}

impl Sought<'_> {
    /// What a bound counts as.
    fn counts(&self, bound: u64) -> u64 {
        match bound {
            UNKNOWN => self.cap.unwrap_or(self.unknown),
            bound => self.cap.map_or(bound, |cap| bound.min(cap)),
        }
    }

    fn group(&self, cluster: ClusterId) -> Option<usize> {
        let Some(groups) = self.groups else { return Some(0) };
        groups.get(cluster.index()).copied()?.and_then(|group| usize::try_from(group).ok())
    }
}

/// The clusters of a group with most room, best first: (what it counts as, cluster).
type Best = Vec<(u64, ClusterId)>;

/// What the best clusters of a group have room for, together: of the best, of the two best, and so on.
struct Totals(Vec<u128>);

impl Totals {
    fn of(best: &Best, most: usize) -> Self {
        Self(totals(best, most).collect())
    }

    /// Whether as many clusters of another group, whichever, could be these instead with more room in all. What the other's
    /// rooms count as may be more than they are. Groups that are equal both stay: which of them is taken is for whoever
    /// selects to say, and must not depend on what was asked before.
    fn are_better_than(&self, other: &Best, most: usize) -> bool {
        let Self(rooms) = self;
        rooms.len() >= other.len().min(most) && rooms.iter().zip(totals(other, most)).all(|(own, other)| *own > other)
    }
}

fn totals(best: &Best, most: usize) -> impl Iterator<Item = u128> {
    best.iter().take(most).scan(0_u128, |sum, (room, _)| {
        *sum += u128::from(*room);
        Some(*sum)
    })
}

/// So many more than are looked for are kept in sight, since bounds may turn out too high.
const SPARE: usize = 4;

impl Ledger {
    /// Replicas that still fit in a cluster; `None` where its capacity is unknown.
    pub fn room(&mut self, class: ClassId, cluster: ClusterId) -> Option<u64> {
        if !self.is_known(cluster) {
            return None;
        }
        let version = self.versions.get(cluster.index()).copied()?;
        if let Some(room) = self.classes.get(class.0 as usize)?.rooms.room(cluster, version) {
            return Some(room);
        }
        let room = self.sum_room(class, cluster)?.min(MOST);
        let clusters = self.clusters.len();
        self.classes.get_mut(class.0 as usize)?.rooms.remember(clusters, cluster, version, room);
        Some(room)
    }

    /// Whether a cluster has room for so many replicas; unknown capacity has.
    pub fn holds(&mut self, class: ClassId, cluster: ClusterId, replicas: u32) -> bool {
        let Some(version) = self.versions.get(cluster.index()).copied().filter(|_| self.is_known(cluster)) else {
            return true;
        };
        let replicas = u64::from(replicas);
        let Some(known) = self.classes.get(class.0 as usize) else { return true };
        if let Some(room) = known.rooms.room(cluster, version) {
            return room >= replicas;
        }
        if known.rooms.floor(cluster, version) >= replicas {
            return true;
        }
        let Some(floor) = self.room_up_to(class, cluster, u64::from(PLENTY).max(replicas)) else { return true };
        let clusters = self.clusters.len();
        if let Some(class) = self.classes.get_mut(class.0 as usize) {
            class.rooms.remember_floor(clusters, cluster, version, floor);
        }
        floor >= replicas
    }

    /// The room of a cluster, if it is less than `most`; pools beyond so many replicas are not looked at. `None` where it is
    /// unknown.
    fn room_up_to(&mut self, class: ClassId, cluster: ClusterId, most: u64) -> Option<u64> {
        self.eligible(class, cluster);
        let class = self.classes.get(class.0 as usize)?;
        let eligible = self.masks.get(class.mask)?.eligible.get(cluster.index())?.as_deref()?;
        let mut sum = 0_u64;
        for pool in eligible {
            if sum >= most {
                break;
            }
            sum = sum.saturating_add(self.rooms.room_up_to(pool.pool, class.request, most - sum)?);
        }
        Some(sum)
    }

    fn sum_room(&mut self, class: ClassId, cluster: ClusterId) -> Option<u64> {
        self.eligible(class, cluster);
        let class = self.classes.get_mut(class.0 as usize)?;
        let eligible = self.masks.get(class.mask)?.eligible.get(cluster.index())?.as_deref()?;
        if class.users < SHARED {
            return Some(self.rooms.sum_room(eligible, class.request)?.replicas);
        }
        if class.rooms.pools.is_empty() {
            class.rooms.pools = vec![(NEVER, 0); self.rooms.all_pools().len()];
        }
        let mut sum = 0_u64;
        for pool in eligible {
            let version = self.rooms.version(pool.pool);
            let remembered = class.rooms.pools.get_mut(pool.pool.index())?;
            if remembered.0 != version {
                *remembered = (version, self.rooms.room(pool.pool, class.request)?.replicas);
            }
            sum = sum.saturating_add(remembered.1);
        }
        Some(sum)
    }

    /// Of some clusters those with most room, by (room desc, name), as many of each group as are sought, and of as few groups
    /// as can be told: whoever uses at most `most` of them in at most `most_groups` finds every set of groups with most room
    /// among them, and of each group the earliest names.
    pub fn roomiest(&mut self, class: ClassId, among: &ClusterSet, sought: &Sought<'_>) -> ClusterSet {
        self.take_in_raises(class);
        loop {
            let (best, unseen) = self.scan(class, among, sought);
            for cluster in &unseen {
                self.bound(class, *cluster);
            }
            // each time some bounds have become rooms
            if unseen.is_empty()
                && let Some(best) = self.of_best_groups(class, best, sought)
            {
                return best;
            }
        }
    }

    /// The best of all groups that are not worse than as many others as may be used. `None` where clusters out of sight may be
    /// better.
    fn of_best_groups(&mut self, class: ClassId, mut best: Vec<Best>, sought: &Sought<'_>) -> Option<ClusterSet> {
        let used: BTreeSet<usize> = sought.used.iter().filter_map(|cluster| sought.group(cluster)).collect();
        let mut order: Vec<usize> = (0..best.len()).filter(|group| !best[*group].is_empty()).collect();
        // what looks best rules out most of the others
        order.sort_by_cached_key(|group| (Reverse(totals(&best[*group], sought.most).last()), *group));
        let mut standing: Vec<Totals> = Vec::new();
        let mut set = ClusterSet::empty();
        for group in order {
            let best = &mut best[group];
            let is_worse = |best: &Best| {
                let better = standing.iter().filter(|one| one.are_better_than(best, sought.most));
                !used.contains(&group) && better.take(sought.most_groups).count() >= sought.most_groups
            };
            if is_worse(best) {
                continue;
            }
            if !self.are_rooms(class, best, sought) {
                return None;
            }
            if !is_worse(best) {
                best.iter().take(sought.most).for_each(|(_, cluster)| set.insert(*cluster));
                standing.push(Totals::of(best, sought.most));
            }
        }
        Some(set)
    }

    /// The clusters of the highest bounds by group, and those of which no bound is known.
    fn scan(&self, class: ClassId, among: &ClusterSet, sought: &Sought<'_>) -> (Vec<Best>, Vec<ClusterId>) {
        let (mut best, mut unseen) = (Vec::<Best>::new(), Vec::new());
        let Some(class) = self.classes.get(class.0 as usize) else { return (best, unseen) };
        let kept = sought.most.saturating_add(SPARE);
        for cluster in among.iter() {
            let bound = class.rooms.bound(cluster);
            if bound == UNSEEN {
                unseen.push(cluster);
                continue;
            }
            let room = sought.counts(bound);
            let Some(group) = sought.group(cluster).filter(|_| room >= sought.at_least) else { continue };
            if best.len() <= group {
                best.resize_with(group + 1, Vec::new);
            }
            let best = &mut best[group];
            if best.len() == kept && best.last().is_some_and(|(least, _)| room <= *least) {
                continue;
            }
            // names ascend, so an equal one comes after those that are there
            let at = best.partition_point(|(other, _)| *other >= room);
            best.insert(at, (room, cluster));
            best.truncate(kept);
        }
        (best, unseen)
    }

    /// Works out the rooms of the best until they are known to be the best. False where clusters out of sight may be better.
    fn are_rooms(&mut self, class: ClassId, best: &mut Best, sought: &Sought<'_>) -> bool {
        // whatever is out of sight comes after the last in it
        let horizon = best.last().copied().filter(|_| best.len() == sought.most.saturating_add(SPARE));
        let order = |(room, cluster): &(u64, ClusterId)| (Reverse(*room), *cluster);
        loop {
            best.sort_unstable_by_key(order);
            let first = best.iter().take(sought.most).position(|(_, cluster)| !self.is_room(class, *cluster));
            let Some(at) = first else { break };
            let cluster = best[at].1;
            let room = self.room(class, cluster).unwrap_or(UNKNOWN);
            best[at].0 = sought.counts(room);
            if best[at].0 < sought.at_least {
                best.remove(at);
            }
        }
        match horizon {
            None => true,
            Some(horizon) => best.get(sought.most.saturating_sub(1)).is_some_and(|last| order(last) <= order(&horizon)),
        }
    }

    /// Whether the bound of a cluster is its room.
    fn is_room(&self, class: ClassId, cluster: ClusterId) -> bool {
        let Some(class) = self.classes.get(class.0 as usize) else { return true };
        let version = self.versions.get(cluster.index()).copied().unwrap_or(NEVER);
        class.rooms.bound(cluster) == UNKNOWN || class.rooms.room(cluster, version).is_some()
    }

    /// Finds a bound for a cluster of which none is known.
    fn bound(&mut self, class: ClassId, cluster: ClusterId) {
        let at_most = if self.is_known(cluster) { self.at_most(class, cluster) } else { None };
        let clusters = self.clusters.len();
        if let Some(class) = self.classes.get_mut(class.0 as usize) {
            class.rooms.remember(clusters, cluster, NEVER, at_most.unwrap_or(UNKNOWN));
        }
    }

    /// No more replicas fit into a cluster; `None` where that is unknown.
    fn at_most(&mut self, class: ClassId, cluster: ClusterId) -> Option<u64> {
        self.eligible(class, cluster);
        let class = self.classes.get(class.0 as usize)?;
        let eligible = self.masks.get(class.mask)?.eligible.get(cluster.index())?.as_deref()?;
        let mut bounds = eligible.iter().map(|pool| self.rooms.at_most(pool.pool, class.request));
        bounds.try_fold(0_u64, |sum, bound| Some(sum.saturating_add(bound?))).map(|sum| sum.min(MOST))
    }

    /// Forgets the bounds of clusters in which something was taken back since.
    fn take_in_raises(&mut self, class: ClassId) {
        let Some(class) = self.classes.get_mut(class.0 as usize) else { return };
        let Remembered { bounds, versions, taken_in, .. } = &mut class.rooms;
        if taken_in.0 == self.epoch {
            for cluster in self.raised.iter().skip(taken_in.1) {
                let at = cluster.index();
                if let (Some(bound), Some(version)) = (bounds.get_mut(at), versions.get_mut(at))
                    && self.versions.get(at) != Some(&*version)
                    && *bound != UNKNOWN
                {
                    (*bound, *version) = (UNSEEN, NEVER);
                }
            }
        } else {
            for ((bound, version), now) in bounds.iter_mut().zip(versions).zip(&self.versions) {
                if version != now && *bound != UNKNOWN {
                    (*bound, *version) = (UNSEEN, NEVER);
                }
            }
        }
        *taken_in = (self.epoch, self.raised.len());
    }

    /// Notes that a cluster may have more room than before.
    pub(super) fn raise(&mut self, cluster: ClusterId) {
        if self.raised.len() > self.clusters.len().saturating_mul(4) {
            self.forget_raises();
        }
        self.raised.push(cluster);
    }

    /// Every cluster may have more room than before.
    pub(super) fn forget_raises(&mut self) {
        self.raised.clear();
        self.epoch += 1;
    }
}
