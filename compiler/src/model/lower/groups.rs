//! `affinity` and `antiAffinity`: apps of a team that share their clusters, or share none.

use super::Lowering;
use crate::api::{GroupBy, Strategy};
use crate::base::labels::Labels;
use crate::base::name::{self, NameRule};
use crate::base::{FileId, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{Replicas, Spread, TopologyKey};

/// Reports what is wrong with groups by themselves.
pub(super) fn check(
    cx: &mut Lowering<'_>,
    file: FileId,
    affinity: Option<&Spanned<GroupBy>>,
    anti_affinity: Option<&Spanned<GroupBy>>,
) {
    for GroupBy { group_by } in [affinity, anti_affinity].into_iter().flatten().map(|by| &by.value) {
        if let Err(expected) = name::check(NameRule::QualifiedName, group_by) {
            cx.error(
                codes::fields::INVALID_LABEL,
                Place::Span(file, group_by.span),
                format!("`{}` is not a valid label key: {expected}", group_by.value),
            );
        }
    }
    if let (Some(together), Some(apart)) = (affinity, anti_affinity)
        && together.value.group_by.value == apart.value.group_by.value
    {
        cx.report(
            Diagnostic::new(
                codes::placement::CONTRADICTION,
                Place::Span(file, apart.value.group_by.span),
                format!(
                    "apps grouped by `{}` cannot both share their clusters and share none",
                    apart.value.group_by.value
                ),
            )
            .related(Place::Span(file, together.value.group_by.span), "the affinity"),
        );
    }
}

/// An App that groups by a label has it; a layer for many Apps groups those that do.
pub(super) fn labelled(cx: &mut Lowering<'_>, file: FileId, by: &Spanned<GroupBy>, labels: &Labels) {
    let GroupBy { group_by } = &by.value;
    if !labels.contains_key(&group_by.value) {
        cx.report(
            Diagnostic::new(
                codes::placement::CONTRADICTION,
                Place::Span(file, group_by.span),
                format!("the App has no label `{}`, so it is in no group", group_by.value),
            )
            .help("add the label to `metadata.labels` of the App"),
        );
    }
}

/// Copies go to every cluster there is: the first of two that may share none would leave nothing to the other.
pub(super) fn bounded_copies(
    cx: &mut Lowering<'_>,
    file: FileId,
    by: &Spanned<GroupBy>,
    replicas: &Replicas,
    spread: &[Spread],
) {
    let bounded = spread.iter().any(|spread| spread.key == TopologyKey::Cluster && spread.max.is_some());
    if replicas.strategy == Some(Strategy::Duplicated) && !bounded {
        cx.report(
            Diagnostic::new(
                codes::placement::CONTRADICTION,
                Place::Span(file, by.span),
                "`antiAffinity` with strategy Duplicated, and nothing bounds the number of clusters",
            )
            .help("add `spread: [{topologyKey: cluster, max: N}]`"),
        );
    }
}
