//! What could not be done for an app, with names in place of ids: the data and the one sentence of diagnostics, plans
//! and diffs.

use std::fmt;

use serde::Serialize;

use super::copies::{Ground, NAMED, ShortCopy, copies_text};
use crate::Compiled;
use crate::base::quantity::{amount_at_least, plain_amount};
use crate::base::{AppId, SmolStr};
use crate::model::{Fleet, Share};
use crate::schedule::{Deficit, RefusedThere};
use crate::variants::unstated;
use crate::what_if::Lapse;

/// A shortfall and whose it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct AppShortfall {
    /// `team/app`.
    pub app: String,
    /// What could not be done.
    #[serde(flatten)]
    pub shortfall: Shortfall,
}

/// What could not be done for an app. Amounts are quantities for people: CPU in cores, memory and storage in Gi at the most, of no
/// more than three decimals; what is missing is rounded up, all else down.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(tag = "shortfall", rename_all_fields = "camelCase")]
pub enum Shortfall {
    /// Replicas that fit nowhere.
    Unplaced {
        /// The workload's key: `apps/Deployment/web`.
        workload: SmolStr,
        /// How many; of copies the sum over the clusters that have some of them.
        replicas: u32,
        /// How many are wanted in all, or in each cluster.
        wanted: u32,
        /// How many of them ran before and no longer fit where they were.
        displaced: u32,
        /// Whether every selected cluster shall have all of them.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        each: bool,
        /// Of copies: the clusters that have too few, by name.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        copies: Vec<ShortCopy>,
    },
    /// A spread constraint that cannot be met.
    Spread {
        /// Which.
        topology_key: SmolStr,
        /// Groups that could hold a replica.
        have: u32,
        /// Groups that are wanted.
        min: u32,
        /// Whether a solution may exist all the same.
        greedy: bool,
    },
    /// The team's quota refuses the increase.
    Quota {
        /// The resource, as the quota names it.
        resource: SmolStr,
        /// The cluster, where the quota holds for each by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        cluster: Option<SmolStr>,
        /// What the team uses already.
        used: String,
        /// What the app would add.
        more: String,
        /// The most allowed.
        hard: String,
        /// Other clusters whose own quota refuses it as well, by name.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        others: Vec<QuotaThere>,
    },
    /// What it gave up by an accepted preemption, and is still short of.
    GaveWay {
        /// The workload's key.
        workload: SmolStr,
        /// For which app: `team/app`.
        to: String,
        /// The cluster.
        cluster: SmolStr,
        /// How many replicas.
        replicas: u32,
    },
    /// It is where its group does not allow it, and has no place elsewhere.
    Group {
        /// `key=value`
        group: SmolStr,
        /// Whether the apps of the group share no cluster, in place of all.
        anti: bool,
        /// In how many clusters.
        clusters: u32,
    },
    /// `weights` match no selected cluster.
    NoWeightMatches {
        /// The workload's key.
        workload: SmolStr,
    },
    /// Its pods do not state what the team's quota counts, so they count as nothing.
    Unstated {
        /// The workload's key.
        workload: SmolStr,
        /// By resource: `requests.cpu (container `main`)`.
        resources: Vec<String>,
    },
    /// `survive` does not hold.
    Survival {
        /// `cluster eu-a`, `region eu`.
        lost: String,
        /// What it would lack then; empty where it would be nowhere.
        lacks: Vec<Shortfall>,
    },
}

/// What the quota of one cluster refuses, as amounts for people.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaThere {
    /// The cluster.
    pub cluster: SmolStr,
    /// The resource, as the quota names it.
    pub resource: SmolStr,
    /// What the team uses there already.
    pub used: String,
    /// What the app would add.
    pub more: String,
    /// The most allowed.
    pub hard: String,
}

impl QuotaThere {
    fn of(fleet: &Fleet, there: &RefusedThere) -> Self {
        let RefusedThere { cluster, resource, used, more, hard } = there;
        Self {
            cluster: fleet.cluster(*cluster).name.clone(),
            resource: resource.clone(),
            used: plain_amount(resource, *used),
            more: amount_at_least(resource, *more),
            hard: plain_amount(resource, *hard),
        }
    }
}

/// What a person's change may not break.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Guard {
    /// The team's quota.
    Quota,
    /// What the team's quota counts must be stated.
    Unstated,
    /// `survive`.
    Survival,
}

impl Shortfall {
    /// A deficit of an app, in names.
    #[must_use]
    pub fn of(fleet: &Fleet, app: AppId, deficit: &Deficit) -> Self {
        let key = |workload: u16| {
            fleet.app(app).workloads.get(usize::from(workload)).map(|w| w.key.clone()).unwrap_or_default()
        };
        match deficit {
            Deficit::Unplaced { workload, replicas, wanted, displaced } => {
                let share = fleet.app(app).workloads.get(usize::from(*workload)).map(|w| w.share);
                Self::Unplaced {
                    workload: key(*workload),
                    replicas: *replicas,
                    wanted: *wanted,
                    displaced: *displaced,
                    each: share == Some(Share::Everywhere),
                    copies: Vec::new(),
                }
            }
            Deficit::Spread { topology_key, have, min, greedy } => {
                Self::Spread { topology_key: topology_key.clone(), have: *have, min: *min, greedy: *greedy }
            }
            Deficit::Quota { resource, cluster, used, more, hard, others } => Self::Quota {
                resource: resource.clone(),
                cluster: cluster.map(|cluster| fleet.cluster(cluster).name.clone()),
                used: plain_amount(resource, *used),
                more: amount_at_least(resource, *more),
                hard: plain_amount(resource, *hard),
                others: others.iter().map(|there| QuotaThere::of(fleet, there)).collect(),
            },
            Deficit::GaveWay { workload, to, cluster, replicas } => Self::GaveWay {
                workload: key(*workload),
                to: fleet.app_name(*to),
                cluster: fleet.cluster(*cluster).name.clone(),
                replicas: *replicas,
            },
            Deficit::Group { group, anti, clusters } => {
                Self::Group { group: group.clone(), anti: *anti, clusters: *clusters }
            }
            Deficit::NoWeightMatches { workload } => Self::NoWeightMatches { workload: key(*workload) },
        }
    }

    /// The same, and of copies which clusters lack them.
    #[must_use]
    pub fn in_detail(ground: &Ground<'_>, app: AppId, deficit: &Deficit) -> Self {
        let mut shortfall = Self::of(ground.fleet(), app, deficit);
        if let (Self::Unplaced { copies, .. }, Deficit::Unplaced { workload, .. }) = (&mut shortfall, deficit) {
            *copies = ground.short_copies(app, *workload);
        }
        shortfall
    }

    /// Without figures that change with what others run: what two results are compared by.
    #[must_use]
    pub fn bare(&self) -> Self {
        let mut bare = self.clone();
        match &mut bare {
            Self::Unplaced { copies, .. } => copies.clear(),
            Self::Quota { others, .. } => others.clear(),
            _ => {}
        }
        bare
    }

    /// The same, told for a cluster first, where the quota of that cluster is among those that refuse it.
    #[must_use]
    pub fn seen_from(mut self, at: &str) -> Self {
        if let Self::Quota { resource, cluster: Some(cluster), used, more, hard, others } = &mut self
            && let Some(there) = others.iter_mut().find(|there| there.cluster == at)
        {
            std::mem::swap(cluster, &mut there.cluster);
            std::mem::swap(resource, &mut there.resource);
            std::mem::swap(used, &mut there.used);
            std::mem::swap(more, &mut there.more);
            std::mem::swap(hard, &mut there.hard);
            others.sort();
        }
        self
    }

    /// A loss that is not survived, in names.
    #[must_use]
    pub fn of_lapse(fleet: &Fleet, lapse: &Lapse) -> Self {
        let lacks = lapse.lacks.iter().map(|deficit| Self::of(fleet, lapse.app, deficit)).collect();
        Self::Survival { lost: lapse.loss.to_string(), lacks }
    }

    /// All shortfalls of a compile, by app.
    pub(crate) fn all(compiled: &Compiled) -> Vec<AppShortfall> {
        let fleet = &compiled.fleet;
        let ground = &Ground::of(compiled);
        let of = |id: AppId, shortfall| AppShortfall { app: fleet.app_name(id), shortfall };
        let deficits = fleet
            .app_ids()
            .zip(&compiled.target.apps)
            .flat_map(|(id, app)| app.deficits.iter().map(move |deficit| of(id, Self::in_detail(ground, id, deficit))));
        let lapses = compiled.lapses.iter().map(|lapse| of(lapse.app, Self::of_lapse(fleet, lapse)));
        let workloads = fleet.app_ids().flat_map(|id| {
            fleet.app(id).workloads.iter().enumerate().filter_map(move |(index, workload)| {
                let resources = unstated(fleet, &compiled.variants, id, index);
                let shortfall = Self::Unstated { workload: workload.key.clone(), resources };
                matches!(&shortfall, Self::Unstated { resources, .. } if !resources.is_empty())
                    .then(|| of(id, shortfall))
            })
        });
        let mut all: Vec<AppShortfall> = deficits.chain(lapses).chain(workloads).collect();
        all.sort();
        all
    }

    /// Whether it is replicas that fit nowhere.
    #[must_use]
    pub fn is_unplaced(&self) -> bool {
        matches!(self, Self::Unplaced { .. })
    }

    /// Whether a person's change may not cause it: a quota that refuses, or a loss that is not survived. Two of these are
    /// told apart by their kind alone.
    #[must_use]
    pub fn guard(&self) -> Option<Guard> {
        match self {
            Self::Quota { .. } => Some(Guard::Quota),
            Self::Unstated { .. } => Some(Guard::Unstated),
            Self::Survival { .. } => Some(Guard::Survival),
            Self::Unplaced { .. }
            | Self::Spread { .. }
            | Self::GaveWay { .. }
            | Self::Group { .. }
            | Self::NoWeightMatches { .. } => None,
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unplaced { workload, replicas, wanted, displaced, each, copies } => {
                let many = |n: u32| if n == 1 { "1 replica".to_owned() } else { format!("{n} replicas") };
                match (each, copies.as_slice()) {
                    (false, _) => write!(f, "{replicas} of {wanted} replicas of {workload} fit nowhere")?,
                    (true, []) => {
                        let wanted = many(*wanted);
                        write!(f, "{workload} wants {wanted} in every selected cluster and lacks {replicas} in all")?;
                    }
                    (true, copies) => {
                        write!(f, "{workload} wants {} in every selected cluster", many(*wanted))?;
                        copies_text(f, copies)?;
                    }
                }
                if *displaced > 0 {
                    write!(f, "; {displaced} of them ran before and no longer fit where they were")?;
                }
                Ok(())
            }
            Self::Spread { topology_key, have, min, greedy } => {
                if have < min {
                    write!(f, "the spread over {topology_key} wants {min} groups, and {have} can hold a replica")?;
                } else {
                    write!(
                        f,
                        "the spread over {topology_key} wants {min} groups, and the other constraints exclude every such set"
                    )?;
                }
                if *greedy {
                    f.write_str("; the keys cross, so a solution may exist that was not found")?;
                }
                Ok(())
            }
            Self::Quota { resource, cluster, used, more, hard, others } => {
                let cluster = cluster.as_ref().map(|cluster| format!(" in cluster {cluster}")).unwrap_or_default();
                write!(
                    f,
                    "the team's quota{cluster} allows {hard} {resource}: {used} are used, {more} more are asked for"
                )?;
                if others.is_empty() {
                    return Ok(());
                }
                let (shown, rest) = others.split_at(others.len().min(NAMED));
                let names: Vec<&str> = shown.iter().map(|there| there.cluster.as_str()).collect();
                let names = names.join(", ");
                match (others.len(), rest.len()) {
                    (1, _) => write!(f, "; the quota of cluster {names} refuses it as well"),
                    (_, 0) => write!(f, "; the quotas of clusters {names} refuse it as well"),
                    (_, rest) => write!(f, "; the quotas of clusters {names} and {rest} more refuse it as well"),
                }
            }
            Self::GaveWay { workload, to, cluster, replicas } => {
                write!(f, "{replicas} replicas of {workload} were displaced in {cluster} by a preemption of {to}")
            }
            Self::Group { group, anti: false, clusters } => {
                write!(f, "group {group} shares its clusters, and in {clusters} the others are not")
            }
            Self::Group { group, anti: true, clusters } => {
                write!(f, "group {group} shares no cluster, and in {clusters} another is")
            }
            Self::NoWeightMatches { workload } => {
                write!(f, "no weight matches a selected cluster, so nothing of {workload} is placed")
            }
            Self::Unstated { workload, resources } => {
                write!(f, "{workload} does not state what the team's quota counts: {}", resources.join(", "))
            }
            Self::Survival { lost, lacks } if lacks.is_empty() => write!(f, "without {lost} it would be nowhere"),
            Self::Survival { lost, lacks } => {
                write!(f, "without {lost}: ")?;
                lacks.iter().enumerate().try_for_each(|(at, lack)| {
                    if at > 0 {
                        f.write_str("; ")?;
                    }
                    write!(f, "{lack}")
                })
            }
        }
    }
}
