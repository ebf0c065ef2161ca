//! `clusters.tiers`: ordered groups of the clusters that a placement selects.

use std::collections::BTreeMap;

use super::{Lowering, selector};
use crate::api::{Strategy, TierGroup, TierMode, TiersSpec};
use crate::base::name::NameRule;
use crate::base::{FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{ClusterSet, Tier, Tiers};

/// Reports what is wrong with tiers by themselves.
pub(super) fn check(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<TiersSpec>) {
    let TiersSpec { mode: _, groups } = &written.value;
    if groups.is_empty() {
        let message = "`groups` is empty: tiers order at least one group";
        cx.error(codes::fields::INVALID_VALUE, Place::Span(file, written.span), message);
    }
    let mut seen: BTreeMap<&SmolStr, Span> = BTreeMap::new();
    for TierGroup { name, clusters } in groups {
        cx.check_name(file, name, NameRule::Dns1123Label, "tier name");
        if let Some(first) = seen.insert(&name.value, name.span) {
            cx.report(
                Diagnostic::new(
                    codes::placement::CONTRADICTION,
                    Place::Span(file, name.span),
                    format!("two tiers are called `{}`, and `placements/` records the name", name.value),
                )
                .related(Place::Span(file, first), "the first of them"),
            );
        }
        selector::clusters(cx, file, clusters, name.span);
    }
}

/// The tiers of an app. A cluster is in the first group that selects it; `matching` are the clusters of the placement.
pub(super) fn lower(
    cx: &mut Lowering<'_>,
    file: FileId,
    written: &Spanned<TiersSpec>,
    matching: &ClusterSet,
    strategy: Option<Strategy>,
) -> Tiers {
    let TiersSpec { mode, groups } = &written.value;
    if *mode == TierMode::Overflow && strategy == Some(Strategy::Duplicated) {
        cx.report(
            Diagnostic::new(
                codes::placement::CONTRADICTION,
                Place::Span(file, written.span),
                "tiers with mode Overflow, and strategy Duplicated: nothing overflows where each cluster runs all replicas",
            )
            .help("use mode FirstFit, or a strategy that divides"),
        );
    }
    let mut left = matching.clone();
    let mut tiers = Vec::with_capacity(groups.len());
    for TierGroup { name, clusters } in groups {
        let selected = selector::set_or_all(cx, file, Some(clusters), name.span);
        let clusters = selected.and(&left);
        left = left.without(&clusters);
        tiers.push(Tier { name: name.value.clone(), clusters });
    }
    Tiers { mode: *mode, groups: tiers }
}

/// The clusters of all tiers.
pub(super) fn union(tiers: &Tiers) -> ClusterSet {
    tiers.groups.iter().fold(ClusterSet::empty(), |all, tier| all.or(&tier.clusters))
}
