//! What a plan says runs where, and what that leaves for others: counted from the numbers of the fleet and the plan alone.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::report::{PlanReport, plan};
use fleetwright_compiler::{CompileError, Compiled};
use fleetwright_tests::fleet::FleetBuilder;
use fleetwright_tests::oracle::placement::Site;
use fleetwright_tests::oracle::room::room;
use proptest::prelude::*;

use crate::crowded_fleet::{CrowdedFleet, Wish};
use crate::{compile_fresh, tree};

/// The clusters that are selected for an app.
pub fn selected(compiled: &Compiled, app: usize) -> BTreeSet<usize> {
    let name = format!("a{app}");
    let found = compiled.fleet.apps.iter().zip(&compiled.target.apps).find(|(app, _)| app.name == name);
    found.map(|(_, target)| target.clusters.iter().map(|cluster| cluster.index()).collect()).unwrap_or_default()
}

/// Replicas of an app's workload, by cluster and pool; a pool is named where more than one may be used.
type ByCluster = BTreeMap<usize, BTreeMap<Option<usize>, u32>>;

/// Where everything runs, by app and workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seats(BTreeMap<(usize, usize), ByCluster>);

/// A compile, or the rejection of a case whose fleet is refused.
pub fn compiled(fleet: &FleetBuilder) -> Result<Compiled, TestCaseError> {
    compile_fresh(&tree(fleet)).map_err(|error| match error {
        CompileError::Refused(refusal) => TestCaseError::reject(format!("{:?}", refusal.diagnostics)),
        error => TestCaseError::fail(error.to_string()),
    })
}

/// The number in a name such as `c3`, `p0` or `t1/a2`.
pub fn number(name: &str) -> usize {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.rsplit_once('/').map_or(digits, |(_, last)| last.trim_start_matches('a'));
    digits.parse().unwrap_or_else(|_| panic!("{name} is no name of these fleets"))
}

impl Seats {
    pub fn of(report: &PlanReport) -> Self {
        let mut seats = Self::default();
        for app in &report.apps {
            for workload in &app.workloads {
                // apps/Deployment/w<workload>-<app>
                let (name, _) = workload.workload.rsplit_once('-').expect("a name of these fleets");
                let at = seats.0.entry((number(&app.app), number(name))).or_default();
                for seat in &workload.seats {
                    let pools = at.entry(number(&seat.cluster)).or_default();
                    if seat.pools.is_empty() {
                        pools.insert(None, seat.replicas);
                    }
                    pools.extend(seat.pools.iter().map(|(pool, replicas)| (Some(number(pool)), *replicas)));
                }
            }
        }
        seats
    }

    pub fn read(compiled: &Compiled) -> Self {
        Self::of(&plan(compiled))
    }

    /// Replicas of a workload by cluster; none are 0.
    pub fn by_cluster(&self, app: usize, workload: usize) -> BTreeMap<usize, u32> {
        let clusters = self.0.get(&(app, workload)).into_iter().flatten();
        clusters.map(|(cluster, pools)| (*cluster, pools.values().sum())).filter(|(_, n)| *n > 0).collect()
    }

    pub fn total(&self, app: usize, workload: usize) -> u32 {
        self.by_cluster(app, workload).values().sum()
    }

    /// Clusters that an app runs in.
    pub fn clusters(&self, app: usize) -> BTreeSet<usize> {
        (0..2).flat_map(|workload| self.by_cluster(app, workload).into_keys()).collect()
    }

    /// What runs in a pool, as sizes and how many. `of` says whose.
    pub fn in_pool(
        &self,
        fleet: &CrowdedFleet,
        at: (usize, usize),
        of: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<(u32, u32)> {
        let mut inside = Vec::new();
        for ((app, workload), clusters) in self.0.iter().filter(|((app, workload), _)| of(*app, *workload)) {
            for (pool, replicas) in clusters.get(&at.0).into_iter().flatten() {
                let wish = fleet.wishes.get(*app).expect("an app of the fleet");
                let usable = usable_pools(fleet, wish, at.0).unwrap_or_default();
                // what has no place elsewhere may lie where its pods cannot run
                let lies = match (pool, usable.as_slice()) {
                    (Some(pool), usable) => usable.contains(pool).then_some(*pool),
                    (None, [only]) => Some(*only),
                    (None, _) => None,
                };
                if lies == Some(at.1) {
                    inside.push((fleet.cpu_milli(*app, *workload), *replicas));
                }
            }
        }
        inside
    }

    /// What a team asks for in a cluster, in all if `None`: thousandths of CPU, pods, and Deployments. `of` says which apps count.
    pub fn asked(&self, fleet: &CrowdedFleet, cluster: Option<usize>, of: &dyn Fn(usize, usize) -> bool) -> [u32; 3] {
        let mut asked = [0; 3];
        for ((app, workload), clusters) in self.0.iter().filter(|((app, workload), _)| of(*app, *workload)) {
            for (_, pools) in clusters.iter().filter(|(at, _)| cluster.is_none_or(|c| c == **at)) {
                let replicas: u32 = pools.values().sum();
                asked[0] += fleet.cpu_milli(*app, *workload) * replicas;
                asked[1] += replicas;
                // also one of no replicas
                asked[2] += 1;
            }
        }
        asked
    }
}

/// Pools of a cluster that an app's pods may use; `None` where its capacity is unknown.
pub fn usable_pools(fleet: &CrowdedFleet, wish: &Wish, cluster: usize) -> Option<Vec<usize>> {
    let pools = fleet.sites.get(cluster)?.pools.as_ref()?;
    Some((0..pools.len()).filter(|at| pools.get(*at).is_some_and(|pool| pool.gpu || !wish.gpu)).collect())
}

/// A turn of one workload: what the others have is not touched.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    pub fleet: &'a CrowdedFleet,
    pub seats: &'a Seats,
    /// Which app and workload.
    pub who: (usize, usize),
    /// Whose replicas are placed already.
    pub placed: &'a dyn Fn(usize, usize) -> bool,
    /// Clusters that its group does not keep it out of.
    pub open: &'a dyn Fn(usize) -> bool,
}

impl Turn<'_> {
    pub fn wish(&self) -> &Wish {
        self.fleet.wishes.get(self.who.0).expect("an app of the fleet")
    }

    pub fn wanted(&self) -> u32 {
        self.wish().workloads.get(self.who.1).map_or(0, |(replicas, _)| *replicas)
    }

    /// Replicas that fit in a cluster beside those that are placed; `None` where that is unknown, or no question.
    pub fn room(&self, cluster: usize) -> Option<u32> {
        if self.wish().capacity() == "Ignore" {
            return None;
        }
        let pools = usable_pools(self.fleet, self.wish(), cluster)?;
        let cpu_milli = self.fleet.cpu_milli(self.who.0, self.who.1);
        let of = |pool: &usize| {
            let nodes = self.fleet.sites.get(cluster)?.pools.as_ref()?.get(*pool)?.nodes();
            Some(room(nodes, &self.seats.in_pool(self.fleet, (cluster, *pool), self.placed), cpu_milli))
        };
        Some(pools.iter().filter_map(of).sum())
    }

    /// The clusters as the oracle wants them. `keeps` is what the workload has and nothing takes away.
    pub fn sites(&self, keeps: &dyn Fn(usize) -> u32) -> Vec<Site> {
        let wish = self.wish();
        let (min, max) = wish.per_cluster.unwrap_or((0, u32::MAX));
        let cpu_milli = self.fleet.cpu_milli(self.who.0, self.who.1);
        let of = |cluster: usize| {
            let room = self.room(cluster).unwrap_or(self.wanted());
            let quota = self.fleet.limits.cpus_each.filter(|_| wish.team == 0).map_or(u32::MAX, |most| {
                let [used, ..] = self.seats.asked(self.fleet, Some(cluster), &|app, workload| {
                    (self.placed)(app, workload) && self.fleet.wishes.get(app).is_some_and(|wish| wish.team == 0)
                });
                (most * 1000).saturating_sub(used) / cpu_milli
            });
            let comes = self.fleet.may_come(wish, cluster) && (self.open)(cluster);
            let most = if comes { room.min(max).min(quota) } else { 0 };
            Site { most, least: min, keeps: keeps(cluster), groups: self.fleet.groups(wish, cluster) }
        };
        (0..self.fleet.sites.len()).map(of).collect()
    }
}
