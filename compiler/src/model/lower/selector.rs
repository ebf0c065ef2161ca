//! Cluster and app selectors.

use super::Lowering;
use crate::api::{self, ClusterSelector};
use crate::base::labels::{LabelRequirement, LabelSelector, Labels};
use crate::base::name::nearest;
use crate::base::{ClusterId, FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{AppSelector, Cluster, ClusterSet, Selector};
use crate::source::FileClass;
use std::collections::BTreeMap;

/// Resolves a cluster selector; `span` is where it stands, for what has no place of its own.
pub(super) fn clusters(cx: &mut Lowering<'_>, file: FileId, written: &ClusterSelector, span: Span) -> Selector {
    let ClusterSelector { match_labels, match_expressions, names, exclude, providers, regions, zones } = written;
    if names.as_ref().is_some_and(Vec::is_empty) {
        cx.report(
            Diagnostic::new(codes::fields::EMPTY_NAMES, Place::Span(file, span), "`names: []` selects no cluster")
                .help("leave `names` out to inherit, or write `{}` for all clusters"),
        );
    }
    for name in names.iter().flatten().chain(exclude) {
        known_cluster(cx, file, name);
    }
    for (what, list, value) in [
        ("provider", providers, (|c| c.provider.iter().collect()) as fn(&Cluster) -> Vec<&SmolStr>),
        ("region", regions, |c| c.region.iter().collect()),
        ("zone", zones, |c| c.zones.iter().collect()),
    ] {
        for wanted in list.iter().flatten() {
            known_topology(cx, file, what, wanted, value);
        }
    }
    let plain = |list: &Option<Vec<Spanned<SmolStr>>>| {
        list.as_ref().map(|l| l.iter().map(|s| s.value.clone()).collect::<Vec<_>>())
    };
    Selector {
        labels: labels(cx, file, match_labels, match_expressions, span),
        names: plain(names),
        exclude: exclude.iter().map(|s| s.value.clone()).collect(),
        providers: plain(providers),
        regions: plain(regions),
        zones: plain(zones),
    }
}

/// The clusters that a selector matches.
pub(super) fn set(cx: &Lowering<'_>, selector: &Selector) -> ClusterSet {
    let ids = (0_u16..).map(ClusterId);
    ids.zip(&cx.clusters).filter(|(_, c)| selector.matches(c)).map(|(id, _)| id).collect()
}

/// The clusters that an optional selector matches: absent is all.
pub(super) fn set_or_all(
    cx: &mut Lowering<'_>,
    file: FileId,
    written: Option<&ClusterSelector>,
    span: Span,
) -> ClusterSet {
    match written {
        None => ClusterSet::all(cx.clusters.len()),
        Some(written) => {
            let selector = clusters(cx, file, written, span);
            set(cx, &selector)
        }
    }
}

fn known_cluster(cx: &mut Lowering<'_>, file: FileId, name: &Spanned<SmolStr>) {
    if cx.clusters.iter().any(|c| c.name == name.value) || cx.broken(FileClass::Cluster) {
        return;
    }
    let near = nearest(&name.value, cx.clusters.iter().map(|c| c.name.as_str())).map(str::to_owned);
    let mut diagnostic = Diagnostic::new(
        codes::references::UNKNOWN_CLUSTER,
        Place::Span(file, name.span),
        format!("there is no cluster `{}`", name.value),
    );
    diagnostic.help = near.map(|near| format!("did you mean `{near}`?"));
    cx.report(diagnostic);
}

fn known_topology(
    cx: &mut Lowering<'_>,
    file: FileId,
    what: &str,
    wanted: &Spanned<SmolStr>,
    values: fn(&Cluster) -> Vec<&SmolStr>,
) {
    let known: Vec<&SmolStr> = cx.clusters.iter().flat_map(|c| values(c)).collect();
    if known.iter().any(|k| **k == wanted.value) || cx.broken(FileClass::Cluster) {
        return;
    }
    let near = nearest(&wanted.value, known.iter().map(|k| k.as_str())).map(str::to_owned);
    let mut diagnostic = Diagnostic::new(
        codes::references::UNKNOWN_TOPOLOGY,
        Place::Span(file, wanted.span),
        format!("no cluster has the {what} `{}`", wanted.value),
    );
    diagnostic.help = near.map(|near| format!("did you mean `{near}`?"));
    cx.report(diagnostic);
}

/// Labels and expressions as one selector; what Kubernetes would refuse is reported.
pub(super) fn labels(
    cx: &mut Lowering<'_>,
    file: FileId,
    match_labels: &BTreeMap<SmolStr, SmolStr>,
    match_expressions: &[Spanned<LabelRequirement>],
    span: Span,
) -> LabelSelector {
    for expression in match_expressions {
        let one = LabelSelector { match_labels: Labels::new(), match_expressions: vec![expression.value.clone()] };
        if let Err(error) = one.validate() {
            cx.error(codes::fields::INVALID_LABEL, Place::Span(file, expression.span), error.message);
        }
    }
    let selector = LabelSelector { match_labels: match_labels.clone(), match_expressions: Vec::new() };
    if let Err(error) = selector.validate() {
        cx.error(codes::fields::INVALID_LABEL, Place::Span(file, span), error.to_string());
    }
    LabelSelector { match_expressions: match_expressions.iter().map(|e| e.value.clone()).collect(), ..selector }
}

/// Resolves an app selector.
pub(super) fn apps(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<api::AppSelector>) -> AppSelector {
    let api::AppSelector { match_labels, match_expressions, names, teams } = &written.value;
    if names.as_ref().is_some_and(Vec::is_empty) {
        cx.report(
            Diagnostic::new(codes::fields::EMPTY_NAMES, Place::Span(file, written.span), "`names: []` selects no app")
                .help("write `{}` for all apps"),
        );
    }
    for team in teams.iter().flatten() {
        if cx.teams.iter().any(|t| t.name == team.value) || cx.broken(FileClass::Team) {
            continue;
        }
        let near = nearest(&team.value, cx.teams.iter().map(|t| t.name.as_str())).map(str::to_owned);
        let mut diagnostic = Diagnostic::new(
            codes::references::UNKNOWN_TEAM,
            Place::Span(file, team.span),
            format!("there is no team `{}`", team.value),
        );
        diagnostic.help = near.map(|near| format!("did you mean `{near}`?"));
        cx.report(diagnostic);
    }
    let plain = |list: &Option<Vec<Spanned<SmolStr>>>| {
        list.as_ref().map(|l| l.iter().map(|s| s.value.clone()).collect::<Vec<_>>())
    };
    AppSelector {
        labels: labels(cx, file, match_labels, match_expressions, written.span),
        names: plain(names),
        teams: plain(teams),
    }
}
