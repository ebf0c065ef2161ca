//! What a schedule tells of pools that hold less than what ran or must run in them, and of what was given up for others.
//!
//! Read at the end, like verdicts: what still runs is asked of the state, what ran of the record.

use std::collections::BTreeMap;

use super::deficit::Deficit;
use super::ledger::Resolved;
use super::stage::Stage;
use super::state::by_cluster;
use super::target::{BelowWeight, Displaced, Growing, InFull, Overdrawn};
use super::view::{bounds, is_daemon, is_static};
use crate::api::Capacity;
use crate::base::{AppId, ClusterId, PoolId};
use crate::divide::{self, Candidate, Division, Start, Strategy, divide};
use crate::model::Share;
use crate::room::PoolRef;

impl Stage<'_, '_> {
    /// Replicas that ran and were displaced, by (app, workload, cluster, pool): what only an earlier pass had placed never ran.
    pub fn what_was_displaced(&self) -> Vec<Displaced> {
        let mut all: BTreeMap<(AppId, u16, ClusterId, Option<PoolId>), Displaced> = BTreeMap::new();
        for one in &self.displacements {
            let key = (one.app, one.workload, one.cluster, one.pool);
            match all.get_mut(&key) {
                Some(known) => known.replicas = known.replicas.saturating_add(one.replicas),
                None => {
                    all.insert(key, one.clone());
                }
            }
        }
        let ran = |one: &Displaced| {
            let workload = self.recorded[one.app.index()].workloads.get(usize::from(one.workload));
            let rows = workload.into_iter().flat_map(|w| &w.rows).filter(|row| row.cluster == one.cluster);
            rows.fold(0_u32, |sum, row| sum.saturating_add(row.replicas))
        };
        let clamped = all.into_values().map(|one| Displaced { replicas: one.replicas.min(ran(&one)), ..one });
        clamped.filter(|one| one.replicas > 0).collect()
    }

    /// Pools in which more is booked than their nodes hold, with what is booked there whatever fits.
    pub fn what_is_overdrawn(&mut self) -> Vec<Overdrawn> {
        let mut pools: BTreeMap<PoolRef, Overdrawn> = BTreeMap::new();
        for pool in self.ledger.overdrawn() {
            let cluster = self.ledger.cluster_of(pool);
            let Some(id) = self.ledger.id(cluster, pool) else { continue };
            let short = self.ledger.overdraft(pool);
            pools.insert(pool, Overdrawn { cluster, pool: id, short, by: Vec::new() });
        }
        if pools.is_empty() {
            return Vec::new();
        }
        for id in self.view.fleet.app_ids() {
            for workload in 0..self.view.fleet.app(id).workloads.len() {
                if is_daemon(self.view.workload(id, workload)) {
                    continue;
                }
                let rows = self.apps[id.index()].workloads[workload].rows.clone();
                for row in rows {
                    let Some(class) = self.view.class(id, workload, row.cluster) else { continue };
                    let Resolved::Pool(pool) = self.ledger.resolve(class, row.cluster, row.pool) else { continue };
                    let why = self.view.in_full(id, workload, row.cluster);
                    if let (Some(pool), Some(why)) = (pools.get_mut(&pool), why) {
                        let replicas = self.view.written(id, workload, row.cluster).unwrap_or(row.replicas);
                        pool.by.push((id, u16::try_from(workload).unwrap_or(u16::MAX), replicas, why));
                    }
                }
            }
        }
        let mut found: Vec<Overdrawn> = pools.into_values().collect();
        found.sort();
        found
    }

    /// Full clusters with less than what stated weights ask for.
    pub fn what_is_below_weight(&mut self) -> Vec<BelowWeight> {
        let mut found = Vec::new();
        for id in self.view.fleet.app_ids().filter(|id| !self.view.is_held(*id)) {
            for workload in 0..self.view.fleet.app(id).workloads.len() {
                self.below_weight(id, workload, &mut found);
            }
        }
        found
    }

    fn below_weight(&mut self, id: AppId, workload: usize, found: &mut Vec<BelowWeight>) {
        let w = self.view.workload(id, workload);
        let weighs = w.share == Share::Divided && is_static(&w.policy) && w.policy.weights.is_some();
        let tiers = self.view.fleet.app(id).placement.tiers.is_some();
        if !weighs || tiers || w.policy.capacity == Capacity::Ignore || w.replicas == 0 || w.autoscaled.is_some() {
            return;
        }
        let rows = by_cluster(&self.apps[id.index()].workloads[workload].rows);
        let set: Vec<ClusterId> = self.apps[id.index()].clusters.iter().collect();
        let open = |c: &ClusterId| self.is_fresh(id, *c) && self.view.allows(id, workload, *c);
        let set: Vec<ClusterId> = set.into_iter().filter(open).collect();
        let mut full = Vec::new();
        for cluster in &set {
            let class = self.view.class(id, workload, *cluster);
            if class.and_then(|class| self.ledger.room(class, *cluster)) == Some(0) {
                full.push(*cluster);
            }
        }
        if full.is_empty() {
            return;
        }
        let candidate = |cluster: &ClusterId| {
            let bounds = bounds(w, *cluster);
            Candidate {
                weight: bounds.weight,
                room: None,
                max: bounds.max,
                quota: None,
                floor: bounds.min,
                witness: false,
                previous: 0,
                vetoed: false,
                tier: 0,
            }
        };
        let candidates: Vec<Candidate> = set.iter().map(candidate).collect();
        let asked = divide(&Division {
            strategy: Strategy::StaticWeight,
            capacity: divide::Capacity::Ignore,
            start: Start::Anew,
            replicas: w.replicas,
            candidates: &candidates,
        });
        for (cluster, asked) in set.iter().zip(asked.seats).filter(|(cluster, _)| full.contains(cluster)) {
            let held = rows.binary_search_by_key(cluster, |(c, _)| *c);
            let replicas = held.ok().and_then(|at| rows.get(at)).map_or(0, |(_, replicas)| *replicas);
            if replicas < asked {
                let workload = u16::try_from(workload).unwrap_or(u16::MAX);
                found.push(BelowWeight { app: id, workload, cluster: *cluster, replicas, asked });
            }
        }
    }

    /// Pools that need more nodes than exist, as far as they may grow.
    pub fn what_must_grow(&self) -> Vec<Growing> {
        let needs = self.ledger.nodes_to_add().into_iter().filter_map(|(pool, nodes)| {
            let cluster = self.ledger.cluster_of(pool);
            Some(Growing { cluster, pool: self.ledger.id(cluster, pool)?, nodes })
        });
        let mut found: Vec<Growing> = needs.collect();
        found.sort();
        found
    }

    /// What an app gave up for others, as far as it is short of that and they are still where it was. Only to one that asks
    /// for it and comes before it does anything give way, whatever is recorded.
    pub fn what_gave_way(&self, id: AppId, deficits: &[Deficit]) -> Vec<Deficit> {
        let fleet = self.view.fleet;
        let mut found = Vec::new();
        for deficit in deficits {
            let Deficit::Unplaced { workload, replicas, .. } = deficit else { continue };
            let Some(of) = fleet.app(id).workloads.get(usize::from(*workload)) else { continue };
            let mut left = *replicas;
            for gave in self.view.gave_way(id, &of.key) {
                let to = fleet.app_id(&gave.to.0, &gave.to.1);
                let (Some(to), Some(cluster)) = (to, fleet.cluster_id(&gave.cluster)) else { continue };
                let replicas = gave.replicas.min(left);
                let (one, other) = (fleet.app(id), fleet.app(to));
                let may_ask = other.preempts && other.priority > one.priority;
                if replicas > 0 && may_ask && self.used(to).contains(cluster) {
                    left -= replicas;
                    found.push(Deficit::GaveWay { workload: *workload, to, cluster, replicas });
                }
            }
        }
        found
    }
}

impl InFull {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Moving => "it is on a move in steps",
            Self::Suspended => "it is suspended",
            Self::Ignored => "`capacity: Ignore`",
            Self::Bound => "its data lies there",
            Self::Exclusive => "it is exclusive",
            Self::Written => "an override states the number",
        }
    }
}
