//! Team quotas: what a team asks for, and whether an increase still fits.
//!
//! Checked on increases alone, for each app as a whole, in the order of the second phase. Each replica of the target
//! counts once; an override of replicas counts as written.

use crate::base::{ClusterId, SmolStr, TeamId};
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

    /// The first quota that the app would exceed by asking for more than it did. Asking for less is never refused, even
    /// where the quota is exceeded.
    #[must_use]
    pub fn refuses(&self, fleet: &Fleet, app: &App, before: &AppUsage, now: &AppUsage) -> Option<Deficit> {
        let team = self.0.get(app.team.index())?;
        let quotas = fleet.team(app.team).quota.iter().zip(team).zip(before.iter().zip(now));
        for ((quota, used), (before, now)) in quotas {
            for (((resource, hard), used), (before, now)) in quota.hard.iter().zip(used).zip(before.iter().zip(now)) {
                let more = now - before;
                if more > 0 && used + more > *hard {
                    return Some(Deficit::Quota { resource: resource.clone(), used: *used, more, hard: *hard });
                }
            }
        }
        None
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

/// What one pod counts, by the names of a Kubernetes ResourceQuota: a bare resource is its requests.
#[must_use]
pub fn amount(resource: &SmolStr, facts: Option<&PodFacts>) -> i128 {
    if resource == "pods" {
        return 1;
    }
    let Some(facts) = facts else { return 0 };
    match (resource.strip_prefix("limits."), resource.strip_prefix("requests.")) {
        (Some(resource), _) => facts.limits.get(resource),
        (None, Some(resource)) => facts.requests.get(resource),
        (None, None) => facts.requests.get(resource),
    }
}
