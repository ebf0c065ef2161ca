//! Team quotas: what a team asks for, and whether an increase still fits.
//!
//! Checked on increases alone, for each app as a whole, in the order of the second phase. Each replica of the target
//! counts once; an override of replicas counts as written. What a quota of one cluster leaves there caps the division, so
//! that the rest goes elsewhere.

use std::collections::BTreeMap;

use crate::base::{ClusterId, Resources, SmolStr, TeamId};
use crate::kinds::counted;
use crate::kinds::pod::PodFacts;
use crate::model::{App, Fleet, Quota};

use super::Deficit;

/// Pods of one kind in a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Pods<'a> {
    /// Where they run.
    pub cluster: ClusterId,
    /// How many.
    pub count: u32,
    /// What each asks for; `None` where nothing is known of it.
    pub facts: Option<&'a PodFacts>,
}

/// Usage by team, quota of the team, and resource of the quota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage(Vec<Vec<Vec<i128>>>);

/// Usage of one app, by quota of its team and resource, in the unit of the resource.
pub type AppUsage = Vec<Vec<i128>>;

impl Usage {
    /// Nothing is used.
    #[must_use]
    pub fn new(fleet: &Fleet) -> Self {
        let of = |quota: &Quota| vec![0; quota.hard.len()];
        Self(fleet.teams.iter().map(|team| team.quota.iter().map(of).collect()).collect())
    }

    /// What the apps of a team use, by quota and resource.
    #[must_use]
    pub fn of_team(&self, team: TeamId) -> &[Vec<i128>] {
        self.0.get(team.index()).map_or(&[], Vec::as_slice)
    }

    /// Replaces what an app used by what it uses now.
    pub fn replace(&mut self, app: &App, before: &AppUsage, now: &AppUsage) {
        let Some(team) = self.0.get_mut(app.team.index()) else { return };
        for (quota, (before, now)) in team.iter_mut().zip(before.iter().zip(now)) {
            for (used, (before, now)) in quota.iter_mut().zip(before.iter().zip(now)) {
                *used += now - before;
            }
        }
    }

    /// The first quota that the app would exceed, and of those of single clusters all, by asking for more than it did. Asking
    /// for less is never refused, even where the quota is exceeded.
    #[must_use]
    pub fn refuses(&self, fleet: &Fleet, app: &App, before: &AppUsage, now: &AppUsage) -> Option<Deficit> {
        let team = self.0.get(app.team.index())?;
        let quotas = fleet.team(app.team).quota.iter().zip(team).zip(before.iter().zip(now));
        let rows = quotas.flat_map(|((quota, used), (before, now))| {
            let rows = quota.hard.iter().zip(used).zip(before.iter().zip(now));
            rows.map(move |(((resource, hard), used), (before, now))| (quota, resource, *hard, *used, now - before))
        });
        let refused = rows.filter(|(_, _, hard, used, more)| *more > 0 && used + more > *hard);
        Deficit::of_quotas(refused.map(|(quota, resource, hard, used, more)| Deficit::Quota {
            resource: resource.clone(),
            cluster: quota.of_cluster,
            used,
            more,
            hard,
            others: Vec::new(),
        }))
    }
}

/// What an app asks for. Empty where its team has no quota.
#[must_use]
pub fn usage<'a>(fleet: &Fleet, app: &App, pods: impl Iterator<Item = Pods<'a>>) -> AppUsage {
    let quotas = &fleet.team(app.team).quota;
    let mut usage: AppUsage = quotas.iter().map(|quota| vec![0; quota.hard.len()]).collect();
    if quotas.is_empty() {
        return usage;
    }
    for Pods { cluster, count, facts } in pods {
        for (quota, used) in quotas.iter().zip(&mut usage).filter(|(quota, _)| quota.clusters.contains(cluster)) {
            for (resource, used) in quota.hard.keys().zip(used) {
                *used += amount(resource, facts).saturating_mul(i128::from(count));
            }
        }
    }
    usage
}

/// An object that an app has in a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// Where it is.
    pub cluster: ClusterId,
    /// Its plural name, with the group where there is one.
    pub resource: &'a SmolStr,
    /// What it counts beside itself.
    pub beside: Option<&'a Resources>,
}

/// Adds the objects that an app has in clusters.
pub fn add_objects<'a>(fleet: &Fleet, app: &App, usage: &mut AppUsage, objects: impl Iterator<Item = Counted<'a>>) {
    for Counted { cluster, resource, beside } in objects {
        let here = fleet.team(app.team).quota.iter().zip(&mut *usage).filter(|(q, _)| q.clusters.contains(cluster));
        for (quota, used) in here {
            for (name, used) in quota.hard.keys().zip(used) {
                *used += match counted::objects(name) {
                    Some(counted) => i128::from(counted == resource),
                    None => beside.map_or(0, |beside| beside.get(name)),
                };
            }
        }
    }
}

/// Whether any quota of a team counts objects, or what they ask for.
#[must_use]
pub fn counts_objects(quotas: &[Quota]) -> bool {
    quotas.iter().flat_map(|quota| quota.hard.keys()).any(|name| counted::is_of_objects(name))
}

/// A quota of one cluster: what is left of each resource, and the most allowed.
type Pot = (ClusterId, BTreeMap<SmolStr, (i128, i128)>);

/// What the quotas of single clusters leave to one workload, everything else taken into account.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// By cluster ascending, then quota.
    pots: Vec<Pot>,
    /// Pods that are counted for each replica that is placed.
    each: u32,
}

impl Left {
    /// `used` is what the team's apps ask for without the workload; `each` is how many pods count for a replica.
    #[must_use]
    pub fn new(quotas: &[Quota], used: &[Vec<i128>], each: u32) -> Self {
        let pots = quotas.iter().zip(used).filter_map(|(quota, used)| {
            let left = |((name, hard), used): ((&SmolStr, &i128), &i128)| (name.clone(), (hard - used, *hard));
            Some((quota.of_cluster?, quota.hard.iter().zip(used).map(left).collect()))
        });
        let mut pots: Vec<_> = pots.collect();
        pots.sort_by_key(|(cluster, _)| *cluster);
        Self { pots, each }
    }

    /// Whether no quota holds for single clusters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pots.is_empty()
    }

    fn of(&self, cluster: ClusterId) -> &[Pot] {
        let from = self.pots.partition_point(|(at, _)| *at < cluster);
        let to = self.pots.partition_point(|(at, _)| *at <= cluster);
        self.pots.get(from..to).unwrap_or_default()
    }

    /// The most replicas of such pods in a cluster; `None` where no quota of the cluster counts them.
    #[must_use]
    pub fn cap(&self, cluster: ClusterId, pod: Option<&PodFacts>) -> Option<u32> {
        self.cap_of_sets(cluster, &[(1, pod)])
    }

    /// The same for sets of pods, each part with its number of pods.
    #[must_use]
    pub fn cap_of_sets(&self, cluster: ClusterId, set: &[(u32, Option<&PodFacts>)]) -> Option<u32> {
        self.tightest(cluster, set).map(|(cap, ..)| cap)
    }

    /// What more replicas in a cluster are refused by: the resource, what is used with `held` replicas, and the most.
    #[must_use]
    pub fn refusal(&self, cluster: ClusterId, pod: Option<&PodFacts>, held: u32, missing: u32) -> Option<Deficit> {
        let (_, resource, each, left, hard) = self.tightest(cluster, &[(1, pod)])?;
        let used = hard - left + each.saturating_mul(i128::from(held));
        let more = each.saturating_mul(i128::from(missing));
        let refused = more > 0 && used.saturating_add(more) > hard;
        refused.then(|| Deficit::Quota { resource, cluster: Some(cluster), used, more, hard, others: Vec::new() })
    }

    fn tightest(
        &self,
        cluster: ClusterId,
        set: &[(u32, Option<&PodFacts>)],
    ) -> Option<(u32, SmolStr, i128, i128, i128)> {
        let rows = self.of(cluster).iter().flat_map(|(_, left)| left);
        let caps = rows.filter_map(|(name, (left, hard))| {
            let pods = set.iter().map(|(pods, facts)| amount(name, *facts).saturating_mul(i128::from(*pods)));
            let each = pods.sum::<i128>().saturating_mul(i128::from(self.each));
            let cap = u32::try_from(left.checked_div(each).filter(|_| each > 0)?.max(0)).unwrap_or(u32::MAX);
            Some((cap, name.clone(), each, *left, *hard))
        });
        caps.min_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)))
    }
}

/// What one pod counts, by the names of a Kubernetes ResourceQuota: a bare resource is its requests.
#[must_use]
pub fn amount(resource: &SmolStr, facts: Option<&PodFacts>) -> i128 {
    if resource == "pods" || resource == "count/pods" {
        return 1;
    }
    let Some(facts) = facts else { return 0 };
    if counted::is_of_objects(resource) {
        // of objects, those that are made for each pod
        return facts.claims.get(counted::objects(resource).unwrap_or(resource));
    }
    match (resource.strip_prefix("limits."), resource.strip_prefix("requests.")) {
        (Some(resource), _) => facts.limits.get(resource),
        (None, Some(resource)) => facts.requests.get(resource),
        (None, None) => facts.requests.get(resource),
    }
}
