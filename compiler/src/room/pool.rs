//! One pool: its nodes, and a ledger for each resource.

use smol_str::SmolStr;

use super::charge::Asked;
use super::ledger::{Cause, Lane, MAX_ROOM};
use super::rooms::{Request, ResourceId};
use crate::base::ClusterId;

/// One pool.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) name: SmolStr,
    pub(super) cluster: ClusterId,
    pub(super) nodes: u64,
    /// Real and virtual nodes.
    pub(super) all_nodes: u64,
    pub(super) known: bool,
    pub(super) lanes: Vec<(ResourceId, Lane)>,
    /// From resource to lane, [`NO_LANE`] or short where there is none.
    pub(super) slots: Vec<u32>,
    /// The first resource by name of which more is booked than all nodes hold, usage by others not counted. Then there
    /// is room for nobody: the next pod to start would take the place of one that is promised it.
    pub(super) overdrawn: Option<ResourceId>,
    pub(super) version: u64,
}

const NO_LANE: u32 = u32::MAX;

impl Pool {
    pub(super) fn asked(&self, nodes: u64, others: bool) -> Asked {
        Asked { nodes, others }
    }

    pub(super) fn lane(&self, resource: ResourceId) -> Option<&Lane> {
        let slot = self.slots.get(resource.0 as usize)?;
        self.lanes.get(*slot as usize).map(|(_, lane)| lane)
    }

    /// The ledgers of a resource. One that no node offers gets them when it is first booked, so that it is reported as
    /// overdrawn.
    pub(super) fn lane_mut(&mut self, resource: ResourceId) -> &mut Lane {
        if self.lane(resource).is_none() {
            self.add_lane(resource, Lane::new(0, 0, 0, 0));
        }
        &mut self.lanes[self.slots[resource.0 as usize] as usize].1
    }

    pub(super) fn add_lane(&mut self, resource: ResourceId, lane: Lane) {
        let at = resource.0 as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, NO_LANE);
        }
        self.slots[at] = u32::try_from(self.lanes.len()).unwrap_or(NO_LANE);
        self.lanes.push((resource, lane));
    }

    pub(super) fn room(&self, request: &Request, asked: Asked) -> Option<(u64, (ResourceId, Cause))> {
        self.room_below(request, asked, MAX_ROOM)
    }

    /// The same, but `most` where there is more room than that.
    pub(super) fn room_below(&self, request: &Request, asked: Asked, most: u64) -> Option<(u64, (ResourceId, Cause))> {
        if !self.known {
            return None;
        }
        let first = request.amounts.first()?.0;
        let mut room = (most, (first, Cause::UsedUp));
        let mut too_large = None;
        for (resource, amount) in &request.amounts {
            let lane = match self.lane(*resource) {
                Some(lane) if lane.is_offered() => lane,
                _ => return Some((0, (*resource, Cause::NotOffered))),
            };
            if *amount > lane.node() {
                too_large.get_or_insert((*resource, Cause::LargerThanNode));
            }
            if let Some((replicas, cause)) = lane.room(*amount, asked, room.0) {
                room = (replicas, (*resource, cause));
            }
        }
        if let Some(why) = too_large {
            return Some((0, why));
        }
        match self.overdrawn {
            Some(resource) if room.0 > 0 => Some((0, (resource, Cause::Overdrawn))),
            _ => Some(room),
        }
    }
}
