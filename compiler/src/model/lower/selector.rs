//! Cluster and app selectors.

use super::Lowering;
use crate::api::{self, ClusterSelector};
use crate::base::labels::{LabelRequirement, LabelSelector, Labels};
use crate::base::name::nearest;
use crate::base::{ClusterId, FileId, SmolStr, Span, Spanned, TeamId};
use crate::diag::{Diagnostic, Place, codes, listed};
use crate::model::{AppSelector, Cluster, ClusterSet, Selector, Specificity};
use std::collections::{BTreeMap, BTreeSet};

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
    let ids = ClusterId::every();
    ids.zip(&cx.clusters).filter(|(_, c)| selector.matches(c)).map(|(id, _)| id).collect()
}

/// The clusters that an optional selector matches: absent is all. One that matches none is remarked on.
pub(super) fn set_or_all(
    cx: &mut Lowering<'_>,
    file: FileId,
    written: Option<&ClusterSelector>,
    span: Span,
) -> ClusterSet {
    let Some(written) = written else { return ClusterSet::all(cx.clusters.len()) };
    let before = cx.said;
    let selector = clusters(cx, file, written, span);
    let found = set(cx, &selector);
    if found.is_empty() && cx.said == before && !cx.clusters.is_empty() && !cx.unread.clusters {
        let message = format!("this selects no cluster: {}", mismatches(cx, &selector, None));
        cx.error(codes::references::SELECTS_NOTHING, Place::Span(file, span), message);
    }
    found
}

/// Reports that no cluster is a candidate, with the reason of each. `allowed` are those that the team may use.
pub(super) fn none_matches(cx: &mut Lowering<'_>, place: Place, selector: &Selector, allowed: &ClusterSet) {
    if cx.clusters.is_empty() || cx.unread.clusters {
        return;
    }
    let why = mismatches(cx, selector, Some(allowed));
    cx.report(
        Diagnostic::new(codes::placement::NO_CLUSTER_MATCHES, place, why)
            .help("all parts of a selector must hold, and `exclude` always wins"),
    );
}

/// `0/5 clusters: 1 excluded (eu-a), 4 label mismatch (eu-b, eu-c, eu-d and 1 more)`.
fn mismatches(cx: &Lowering<'_>, selector: &Selector, allowed: Option<&ClusterSet>) -> String {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (id, cluster) in ClusterId::every().zip(&cx.clusters) {
        let reason = match selector.mismatch(cluster) {
            Some(mismatch) => mismatch.to_string(),
            None if allowed.is_some_and(|a| !a.contains(id)) => "not for the team".to_owned(),
            None => continue,
        };
        by_reason.entry(reason).or_default().push(&cluster.name);
    }
    let reasons: Vec<String> = by_reason
        .iter()
        .map(|(reason, names)| format!("{} {reason} ({})", names.len(), listed(names, names.len())))
        .collect();
    format!("0/{} clusters: {}", cx.clusters.len(), reasons.join(", "))
}

fn known_cluster(cx: &mut Lowering<'_>, file: FileId, name: &Spanned<SmolStr>) {
    if cx.clusters.binary_search_by(|c| c.name.cmp(&name.value)).is_ok() || cx.unread.clusters {
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
    if known.iter().any(|k| **k == wanted.value) || cx.unread.clusters {
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

/// The apps there are, for names in selectors.
#[derive(Default)]
pub(super) struct KnownApps {
    by_team: BTreeSet<(SmolStr, SmolStr)>,
    by_app: BTreeMap<SmolStr, Vec<SmolStr>>,
}

impl KnownApps {
    /// Adds an app.
    pub(super) fn add(&mut self, team: &SmolStr, app: &SmolStr) {
        self.by_team.insert((team.clone(), app.clone()));
        self.by_app.entry(app.clone()).or_default().push(team.clone());
    }
}

/// A resolved app selector.
pub(super) struct Apps {
    selector: AppSelector,
    names: Option<Vec<Spanned<SmolStr>>>,
    file: FileId,
    span: Span,
    /// Whether something is wrong with it: then it is no wonder that it selects nothing.
    pub(super) unsound: bool,
}

/// Resolves an app selector. `own` is the team whose folder it lies in: it reaches no other.
pub(super) fn apps(
    cx: &mut Lowering<'_>,
    file: FileId,
    own: Option<TeamId>,
    written: &Spanned<api::AppSelector>,
) -> Apps {
    let api::AppSelector { match_labels, match_expressions, names, teams } = &written.value;
    let before = cx.said;
    if names.as_ref().is_some_and(Vec::is_empty) {
        cx.report(
            Diagnostic::new(codes::fields::EMPTY_NAMES, Place::Span(file, written.span), "`names: []` selects no app")
                .help("write `{}` for all apps"),
        );
    }
    let named_team = |name: &SmolStr| name.split_once('/').map(|(team, _)| SmolStr::new(team));
    if let Some(own) = own.map(|id| cx.teams[id.index()].name.clone()) {
        let of_teams = teams.iter().flatten().map(|t| (t.span, t.value.clone()));
        let of_names = names.iter().flatten().filter_map(|n| named_team(n).map(|team| (n.span, team)));
        for (span, other) in of_teams.chain(of_names).filter(|(_, team)| *team != own) {
            cx.report(
                Diagnostic::new(
                    codes::rights::TEAM_POLICY_REACH,
                    Place::Span(file, span),
                    format!("a policy in this folder reaches only apps of team `{own}`, not of `{other}`"),
                )
                .help("remove it, or let the platform add the policy to policies/"),
            );
        }
    }
    for team in teams.iter().flatten().filter(|_| own.is_none()) {
        if cx.teams.iter().any(|t| t.name == team.value) || cx.unread.teams {
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
    Apps {
        selector: AppSelector {
            labels: labels(cx, file, match_labels, match_expressions, written.span),
            names: plain(names),
            teams: plain(teams),
        },
        names: names.clone(),
        file,
        span: written.span,
        unsound: cx.said != before,
    }
}

impl Apps {
    /// Reports names of apps that are not there. `own` is the team that the policy does not reach beyond.
    pub(super) fn check_names(&mut self, cx: &mut Lowering<'_>, own: Option<TeamId>, known: &KnownApps) {
        if cx.unread.apps() || self.unsound {
            return;
        }
        let own = own.map(|id| cx.teams[id.index()].name.clone());
        let reached = |team: &SmolStr| own.as_ref().is_none_or(|own| own == team);
        for name in self.names.iter().flatten() {
            let found = match name.split_once('/') {
                Some((team, app)) => known.by_team.contains(&(team.into(), app.into())),
                None => known.by_app.get(&name.value).is_some_and(|teams| teams.iter().any(reached)),
            };
            if found {
                continue;
            }
            let near = if name.contains('/') {
                let full: Vec<String> = known.by_team.iter().map(|(team, app)| format!("{team}/{app}")).collect();
                nearest(&name.value, full.iter().map(String::as_str)).map(str::to_owned)
            } else {
                let apps = known.by_app.iter().filter(|(_, teams)| teams.iter().any(reached));
                nearest(&name.value, apps.map(|(app, _)| app.as_str())).map(str::to_owned)
            };
            let message = format!("there is no app `{}`", name.value);
            let mut diagnostic =
                Diagnostic::new(codes::references::UNKNOWN_APP, Place::Span(self.file, name.span), message);
            diagnostic.help = near.map(|near| format!("did you mean `{near}`?"));
            self.unsound = true;
            cx.report(diagnostic);
        }
    }

    /// Reports a policy that selected no app, unless that follows from something else.
    pub(super) fn selects_nothing(&self, cx: &mut Lowering<'_>, what: &str) {
        if !self.unsound && !cx.unread.apps() {
            let message = format!("{what} selects no app");
            cx.error(codes::references::SELECTS_NOTHING, Place::Span(self.file, self.span), message);
        }
    }

    /// Whether an app is selected, and how specifically.
    pub(super) fn matches(&self, team: &str, app: &str, labels: &Labels) -> Option<Specificity> {
        self.selector.matches(team, app, labels)
    }
}
