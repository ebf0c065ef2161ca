//! The words for a cause.

use std::fmt;

use super::cause::{Forced, Why};
use crate::api::{Capacity, Strategy};
use crate::base::SmolStr;

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |n: &Option<u32>| n.map_or_else(|| "none".to_owned(), |n| n.to_string());
        match self {
            Self::AppAdded => f.write_str("new app"),
            Self::AppRemoved => f.write_str("app removed"),
            Self::WorkloadAdded => f.write_str("new workload"),
            Self::WorkloadRemoved => f.write_str("workload removed"),
            Self::Total { before, after } => write!(f, "total {before} -> {after}"),
            Self::Completions { before, after } => write!(f, "completions {} -> {}", number(before), number(after)),
            Self::Strategy { before, after } => {
                write!(f, "strategy {} -> {}", strategy_name(*before), strategy_name(*after))
            }
            Self::Weights => f.write_str("weights changed"),
            Self::PerCluster => f.write_str("bounds for each cluster changed"),
            Self::Capacity { before, after } => {
                write!(f, "capacity {} -> {}", capacity_name(*before), capacity_name(*after))
            }
            Self::Clusters { added, removed } => {
                f.write_str("allowed clusters changed:")?;
                signed(f, '+', added)?;
                signed(f, '-', removed)
            }
            Self::Spread => f.write_str("spread changed"),
            Self::Tiers => f.write_str("tiers changed"),
            Self::Groups => f.write_str("groups changed"),
            Self::Tolerations => f.write_str("tolerations changed"),
            Self::Requests => f.write_str("requests changed"),
            Self::NodeSelection => f.write_str("node selector or affinity changed"),
            Self::Priority => f.write_str("priority changed"),
            Self::Override => f.write_str("an override of replicas changed"),
            Self::Record => f.write_str("the record of what runs changed"),
            Self::Cluster { edit } => edit.fmt(f),
            Self::Verdict { verdict } => f.write_str(verdict),
            Self::Shortfall { shortfall } => shortfall.fmt(f),
            Self::Move { reason } => f.write_str(reason),
            Self::Forced { by: Forced::Room } => f.write_str("room that it lacked and other apps gave back"),
            Self::Forced { by: Forced::Quota } => {
                f.write_str("quota that it lacked and other apps of the team gave back")
            }
            Self::Forced { by: Forced::Group } => f.write_str("clusters that its group kept it out of"),
            Self::Others => f.write_str("what other apps took or gave back"),
        }
    }
}

/// Up to five names and how many more.
fn signed(f: &mut fmt::Formatter<'_>, sign: char, names: &[SmolStr]) -> fmt::Result {
    const LISTED: usize = 5;
    names.iter().take(LISTED).try_for_each(|name| write!(f, " {sign}{name}"))?;
    match names.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => write!(f, " {sign}{more} more"),
    }
}

fn strategy_name(strategy: Option<Strategy>) -> &'static str {
    match strategy {
        None => "not stated",
        Some(Strategy::Duplicated) => "Duplicated",
        Some(Strategy::StaticWeight) => "StaticWeight",
        Some(Strategy::DynamicWeight) => "DynamicWeight",
        Some(Strategy::Aggregated) => "Aggregated",
    }
}

fn capacity_name(capacity: Capacity) -> &'static str {
    match capacity {
        Capacity::Cap => "Cap",
        Capacity::Ignore => "Ignore",
        Capacity::Require => "Require",
    }
}
