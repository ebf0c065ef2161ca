//! A set cluster by cluster, where the keys cross and the exact answer is NP-hard.

use std::cmp::Reverse;

use super::keep::Occupied;
use super::problem::{Cluster, Problem};
use super::{Class, Failure};

/// Adds clusters (most missing groups first, then holders, lower tiers, most room, name), never breaking a `max`; then exchanges
/// clusters one for one, once, where that leaves fewer groups missing or fewer replicas unplaced.
pub(super) fn search(problem: &Problem) -> Result<Vec<usize>, Failure> {
    let mut set = Set { problem, members: Vec::new() };
    set.add_all();
    if set.shortfall() > (0, 0) {
        set.exchange();
        set.add_all();
    }
    let (missing, _) = set.shortfall();
    if missing > 0 || set.members.is_empty() {
        return Err(Failure::SpreadNotFound);
    }
    problem.lack_of_room(problem.room(&set.members)).map_or(Ok(set.members), Err)
}

struct Set<'a> {
    problem: &'a Problem,
    members: Vec<usize>,
}

impl Set<'_> {
    fn add_all(&mut self) {
        let mut occupied = Occupied::new(self.problem, &self.members);
        let mut outside: Vec<usize> =
            (0..self.problem.clusters.len()).filter(|member| !self.members.contains(member)).collect();
        loop {
            outside.retain(|&member| occupied.admits(member));
            let held = |member: usize| self.problem.clusters.get(member).is_some_and(|cluster| cluster.held);
            let suffices = self.problem.class == Class::Fewest && self.shortfall() == (0, 0);
            let best = outside.iter().copied().filter(|&member| !suffices || held(member)).max_by_key(|&member| {
                (occupied.gain(member), self.problem.clusters.get(member).map(rank), Reverse(member))
            });
            let Some(best) = best else { return };
            occupied.add(best);
            self.members.push(best);
            outside.retain(|&member| member != best);
        }
    }

    /// Groups missing, replicas without room.
    fn shortfall(&self) -> (u64, u128) {
        let missing = Occupied::new(self.problem, &self.members).missing();
        (missing, u128::from(self.problem.wanted).saturating_sub(self.problem.room(&self.members)))
    }

    /// One pass: each member gives way to the cluster that leaves the smallest shortfall, if that is smaller than now.
    fn exchange(&mut self) {
        let mut least = self.shortfall();
        for slot in 0..self.members.len() {
            let others: Vec<usize> =
                self.members.iter().enumerate().filter(|&(i, _)| i != slot).map(|(_, &member)| member).collect();
            let occupied = Occupied::new(self.problem, &others);
            let room = self.problem.room(&others);
            let best = (0..self.problem.clusters.len())
                .filter(|member| !self.members.contains(member) && occupied.admits(*member))
                .map(|member| {
                    let unplaced = u128::from(self.problem.wanted).saturating_sub(room + self.problem.room(&[member]));
                    ((occupied.missing() - occupied.gain(member), unplaced), member)
                })
                .min();
            if let (Some((after, member)), Some(place)) = (best, self.members.get_mut(slot))
                && after < least
            {
                (*place, least) = (member, after);
            }
        }
    }
}

/// The greater, the earlier it is added.
fn rank(cluster: &Cluster) -> (bool, bool, u32, Reverse<u32>, u64) {
    (cluster.pinned, cluster.held, cluster.kept, Reverse(cluster.tier), cluster.room)
}
