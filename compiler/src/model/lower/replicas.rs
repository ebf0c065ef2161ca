//! `replicas` of a placement: strategy, weights, bounds, and what is booked of autoscaled workloads.

use super::{Lowering, selector};
use crate::api::{AutoscaledReplicas, AutoscaledRoom, Capacity, PerCluster, QuotaCount, ReplicasSpec, Strategy};
use crate::base::name::NameRule;
use crate::base::{DigestWriter, FileId, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{AutoscaledPolicy, Replicas, WeightRule};

/// `weighBy` of who weighs by the room that there is.
const AVAILABLE: &str = "Available";

/// Lowers a `replicas` block.
pub(super) fn lower(cx: &mut Lowering<'_>, file: FileId, written: &ReplicasSpec) -> Replicas {
    let ReplicasSpec { strategy, total, weights, weigh_by, capacity, per_cluster, autoscaled } = written;
    let strategy_value = strategy.as_ref().map(|s| s.value);
    if let Some(weigh_by) = weigh_by {
        if weigh_by.as_str() != AVAILABLE {
            cx.check_name(file, weigh_by, NameRule::Dns1123Subdomain, "estimator");
        }
        if strategy_value.is_some_and(|s| s != Strategy::DynamicWeight) {
            cx.error(
                codes::placement::CONTRADICTION,
                Place::Span(file, weigh_by.span),
                "`weighBy` belongs to strategy DynamicWeight",
            );
        }
    }
    let mut digest = DigestWriter::new();
    digest.part(strategy_value.map_or("", strategy_text).as_bytes());
    let rules = weights.as_ref().map(|weights| {
        if let (Some(s), Some(first)) = (strategy_value.filter(|s| *s != Strategy::StaticWeight), weights.0.first()) {
            cx.report(
                Diagnostic::new(
                    codes::placement::CONTRADICTION,
                    Place::Span(file, first.span),
                    format!("`weights` with strategy {}", strategy_text(s)),
                )
                .help("weights belong to strategy StaticWeight"),
            );
        }
        weights.0.iter().map(|rule| weight_rule(cx, file, rule, &mut digest)).collect::<Vec<_>>()
    });
    if let Some(weigh_by) = weigh_by {
        digest.part(weigh_by.as_bytes());
    }
    let PerCluster { min, max } = per_cluster.as_ref().map(|p| p.value).unwrap_or_default();
    let least = min.map_or(0, |m| m.value);
    if let Some(bad) = max.filter(|m| m.value < least) {
        cx.error(
            codes::placement::CONTRADICTION,
            Place::Span(file, bad.span),
            format!("`max: {}` is below `min: {least}`", bad.value),
        );
    }
    Replicas {
        strategy: strategy_value,
        total: total.as_ref().map(|t| t.value),
        weights: rules,
        weigh_by: weigh_by.as_ref().map(|name| name.value.clone()).filter(|name| name != AVAILABLE),
        capacity: capacity.as_ref().map_or_else(|| default_capacity(strategy_value), |c| c.value),
        min: least,
        max: max.map(|m| m.value),
        autoscaled: autoscaled_policy(autoscaled.as_ref().map(|a| a.value).unwrap_or_default()),
        digest: digest.finish(),
    }
}

/// The fewest replicas are booked as room and the most counted for quota, unless stated otherwise.
fn autoscaled_policy(written: AutoscaledReplicas) -> AutoscaledPolicy {
    let AutoscaledReplicas { room, quota } = written;
    AutoscaledPolicy {
        room: room.unwrap_or(AutoscaledRoom::Min),
        counts_max: match quota {
            None | Some(QuotaCount::Max) => true,
            Some(QuotaCount::Min) => false,
        },
    }
}

fn weight_rule(
    cx: &mut Lowering<'_>,
    file: FileId,
    rule: &Spanned<crate::api::WeightRule>,
    digest: &mut DigestWriter,
) -> WeightRule {
    let crate::api::WeightRule { clusters, weight, min, max } = &rule.value;
    // the text of the selector, not the clusters it matches today: a new cluster must not look like an edit
    digest.part(&serde_json::to_vec(clusters).unwrap_or_default());
    for number in [Some(weight.value), min.map(|m| m.value), max.map(|m| m.value)] {
        digest.number(number.map_or(u64::MAX, u64::from));
    }
    if let (Some(least), Some(most)) = (min, max)
        && most.value < least.value
    {
        cx.error(
            codes::placement::CONTRADICTION,
            Place::Span(file, most.span),
            format!("`max: {}` is below `min: {}`", most.value, least.value),
        );
    }
    WeightRule {
        clusters: selector::set_or_all(cx, file, clusters.as_ref(), rule.span),
        weight: weight.value,
        min: min.map(|m| m.value),
        max: max.map(|m| m.value),
    }
}

fn strategy_text(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Duplicated => "Duplicated",
        Strategy::StaticWeight => "StaticWeight",
        Strategy::DynamicWeight => "DynamicWeight",
        Strategy::Aggregated => "Aggregated",
    }
}

/// Cap for StaticWeight, Require for the strategies that look at room; Duplicated needs room for all replicas anyway.
fn default_capacity(strategy: Option<Strategy>) -> Capacity {
    match strategy {
        Some(Strategy::DynamicWeight | Strategy::Aggregated | Strategy::Duplicated) => Capacity::Require,
        Some(Strategy::StaticWeight) | None => Capacity::Cap,
    }
}
