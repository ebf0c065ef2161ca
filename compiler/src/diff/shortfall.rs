//! What could not be done for an app, with names in place of ids: the data and the one sentence of diagnostics, plans
//! and diffs.

use std::fmt;

use serde::Serialize;

use super::verdict::plain_amount;
use crate::base::{AppId, SmolStr};
use crate::model::Fleet;
use crate::schedule::{Deficit, Target};

/// A shortfall and whose it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct AppShortfall {
    /// `team/app`.
    pub app: String,
    /// What could not be done.
    #[serde(flatten)]
    pub shortfall: Shortfall,
}

/// What could not be done for an app. Amounts are quantities: CPU in cores, all else as Kubernetes writes them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(tag = "shortfall", rename_all_fields = "camelCase")]
pub enum Shortfall {
    /// Replicas that fit nowhere.
    Unplaced {
        /// The workload's key: `apps/Deployment/web`.
        workload: SmolStr,
        /// How many.
        replicas: u32,
        /// How many are wanted in all.
        wanted: u32,
        /// How many of them ran before and no longer fit where they were.
        displaced: u32,
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
        /// What the team uses already.
        used: String,
        /// What the app would add.
        more: String,
        /// The most allowed.
        hard: String,
    },
    /// `weights` match no selected cluster.
    NoWeightMatches {
        /// The workload's key.
        workload: SmolStr,
    },
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
                Self::Unplaced { workload: key(*workload), replicas: *replicas, wanted: *wanted, displaced: *displaced }
            }
            Deficit::Spread { topology_key, have, min, greedy } => {
                Self::Spread { topology_key: topology_key.clone(), have: *have, min: *min, greedy: *greedy }
            }
            Deficit::Quota { resource, used, more, hard } => Self::Quota {
                resource: resource.clone(),
                used: plain_amount(resource, *used),
                more: plain_amount(resource, *more),
                hard: plain_amount(resource, *hard),
            },
            Deficit::NoWeightMatches { workload } => Self::NoWeightMatches { workload: key(*workload) },
        }
    }

    /// All shortfalls of a target, by app.
    pub(crate) fn all(fleet: &Fleet, target: &Target) -> Vec<AppShortfall> {
        let mut all: Vec<AppShortfall> = fleet
            .app_ids()
            .zip(&target.apps)
            .flat_map(|(id, app)| {
                let of =
                    move |deficit| AppShortfall { app: fleet.app_name(id), shortfall: Self::of(fleet, id, deficit) };
                app.deficits.iter().map(of)
            })
            .collect();
        all.sort();
        all
    }

    /// Whether it is a quota that refuses.
    #[must_use]
    pub fn is_quota(&self) -> bool {
        matches!(self, Self::Quota { .. })
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unplaced { workload, replicas, wanted, displaced } => {
                write!(f, "{replicas} of {wanted} replicas of {workload} fit nowhere")?;
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
            Self::Quota { resource, used, more, hard } => {
                write!(f, "the team's quota allows {hard} {resource}: {used} are used, {more} more are asked for")
            }
            Self::NoWeightMatches { workload } => {
                write!(f, "no weight matches a selected cluster, so nothing of {workload} is placed")
            }
        }
    }
}
