//! Layers of `placement`: App, PlacementPolicy, Team, Fleet. Each field comes whole from the most specific layer that
//! sets it; tolerations add up.

use std::collections::BTreeSet;

use super::moves::{self, Moves};
use super::{Docs, Lowering, fleet, groups, replicas, selector, tiers};
use crate::api::{
    DefaultsSpec, GroupBy, MoveSpec, PlacementClusters, PlacementPolicySpec, PlacementSpec, ReplicasSpec, SpreadSpec,
};
use crate::base::labels::Labels;
use crate::base::name::{self, NameRule};
use crate::base::taint::Toleration;
use crate::base::{FileId, SmolStr, Spanned, TeamId};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{ClusterSet, Layer, LayerKind, Placement, PlacementField, Rank, Spread, Team, TopologyKey};

/// One layer that applies to an app.
pub(super) struct LayerSpec<'a> {
    pub(super) kind: LayerKind,
    pub(super) name: SmolStr,
    pub(super) file: FileId,
    /// Whether the team itself wrote it.
    of_team: bool,
    spec: &'a PlacementSpec,
}

/// A placement policy, ready to be matched.
pub(super) struct Policy<'a> {
    file: FileId,
    /// Only apps of this team, for a policy in a team's folder.
    team: Option<TeamId>,
    name: &'a Spanned<SmolStr>,
    apps: selector::Apps,
    precedence: i32,
    spec: &'a PlacementSpec,
    used: bool,
}

/// Resolves all placement policies.
pub(super) fn policies<'a>(cx: &mut Lowering<'_>, docs: &Docs<'a>, known: &selector::KnownApps) -> Vec<Policy<'a>> {
    let unique = super::unique(cx, &docs.placement_policies, "PlacementPolicy", |o| &o.metadata.name);
    unique
        .into_iter()
        .map(|(file, object)| {
            let PlacementPolicySpec { apps, precedence, placement } = &object.spec;
            cx.check_name(file, &object.metadata.name, NameRule::Dns1123Subdomain, "policy name");
            check(cx, file, placement);
            let team = super::team::owner(cx, file);
            let mut apps = selector::apps(cx, file, team, apps);
            apps.check_names(cx, team, known);
            Policy {
                file,
                team,
                name: &object.metadata.name,
                apps,
                precedence: *precedence,
                spec: placement,
                used: false,
            }
        })
        .collect()
}

/// Reports policies that selected no app.
pub(super) fn unused(cx: &mut Lowering<'_>, policies: &[Policy<'_>]) {
    for policy in policies.iter().filter(|p| !p.used) {
        policy.apps.selects_nothing(cx, &format!("PlacementPolicy `{}`", policy.name.value));
    }
}

/// The layers of an app, most specific first.
pub(super) fn layers<'a>(
    docs: &Docs<'a>,
    policies: &mut [Policy<'a>],
    team: (TeamId, &str, FileId),
    app: (&str, &Labels, FileId, Option<&'a PlacementSpec>),
) -> Vec<LayerSpec<'a>> {
    let (team_id, team_name, team_file) = team;
    let (app_name, labels, app_file, app_spec) = app;
    let mut layers = Vec::new();
    let mut push = |kind, name: &str, file, of_team, spec: Option<&'a PlacementSpec>| {
        if let Some(spec) = spec {
            layers.push(LayerSpec { kind, name: name.into(), file, of_team, spec });
        }
    };
    push(LayerKind::App, app_name, app_file, true, app_spec);
    let mut matching: Vec<_> = policies
        .iter_mut()
        .filter(|p| p.team.is_none_or(|t| t == team_id))
        .filter_map(|p| p.apps.matches(team_name, app_name, labels).map(|specificity| (specificity, p)))
        .collect();
    matching.sort_by_key(|(specificity, policy)| Rank::new(policy.precedence, *specificity, &policy.name.value));
    for (_, policy) in matching {
        policy.used = true;
        push(LayerKind::Policy, &policy.name.value, policy.file, policy.team.is_some(), Some(policy.spec));
    }
    let team_doc = docs.teams.iter().find(|(file, o)| *file == team_file && o.metadata.name.as_str() == team_name);
    push(LayerKind::Team, team_name, team_file, false, team_doc.and_then(|(_, o)| o.spec.placement.as_ref()));
    if let Some((file, spec, name)) = fleet::home(docs) {
        let defaults = spec.defaults.as_ref();
        push(LayerKind::Fleet, name, file, false, defaults.and_then(|d| d.placement.as_ref()));
    }
    layers
}

/// A field and the layer that it comes from.
type Stated<'a, T> = Option<(&'a LayerSpec<'a>, &'a Spanned<T>)>;

/// Reports what is wrong with a placement by itself, whether it ever takes effect or not.
pub(super) fn check(cx: &mut Lowering<'_>, file: FileId, spec: &PlacementSpec) {
    let PlacementSpec { clusters, tolerations, spread, replicas, affinity, anti_affinity, move_ } = spec;
    groups::check(cx, file, affinity.as_ref(), anti_affinity.as_ref());
    if let Some(clusters) = clusters {
        selector::clusters(cx, file, &clusters.value.selector(), clusters.span);
        clusters.value.tiers.iter().for_each(|tiers| tiers::check(cx, file, tiers));
    }
    add_tolerations(cx, file, tolerations, &mut Vec::new());
    if let Some(spread) = spread {
        self::spread(cx, file, &spread.value);
    }
    if let Some(replicas) = replicas {
        replicas::lower(cx, file, &replicas.value);
    }
    if let Some(move_) = move_ {
        moves::lower(cx, file, move_);
    }
}

/// Merges the layers of an app.
pub(super) fn resolve(
    cx: &mut Lowering<'_>,
    docs: &Docs<'_>,
    layers: &[LayerSpec<'_>],
    team: &Team,
    (app_file, labels): (FileId, &Labels),
) -> Resolved {
    let team_clusters = &team.clusters;
    let mut from = Vec::new();
    let mut tolerations: Vec<Toleration> = Vec::new();
    let mut clusters: Stated<'_, PlacementClusters> = None;
    let mut spread: Stated<'_, Vec<Spanned<SpreadSpec>>> = None;
    let mut replicas: Stated<'_, ReplicasSpec> = None;
    let mut affinity: Stated<'_, GroupBy> = None;
    let mut anti_affinity: Stated<'_, GroupBy> = None;
    let mut move_: Stated<'_, MoveSpec> = None;
    for layer in layers {
        let PlacementSpec {
            clusters: layer_clusters,
            tolerations: layer_tolerations,
            spread: layer_spread,
            replicas: layer_replicas,
            affinity: layer_affinity,
            anti_affinity: layer_anti,
            move_: layer_move,
        } = layer.spec;
        let mut note = |field, span| {
            from.push((field, Layer { kind: layer.kind, name: layer.name.clone(), file: layer.file, span }));
        };
        let stated = [
            ("clusters", clusters.map(|(l, _)| l), layer_clusters.as_ref().map(|c| c.span)),
            ("spread", spread.map(|(l, _)| l), layer_spread.as_ref().map(|s| s.span)),
            ("replicas", replicas.map(|(l, _)| l), layer_replicas.as_ref().map(|r| r.span)),
            ("affinity", affinity.map(|(l, _)| l), layer_affinity.as_ref().map(|a| a.span)),
            ("antiAffinity", anti_affinity.map(|(l, _)| l), layer_anti.as_ref().map(|a| a.span)),
            ("move", move_.map(|(l, _)| l), layer_move.as_ref().map(|m| m.span)),
        ];
        for (field, winner, span) in stated {
            if let Some(span) = span {
                cx.shadows.note(layer, field, span, winner);
            }
        }
        if let (None, Some(c)) = (&clusters, layer_clusters) {
            note(PlacementField::Clusters, c.span);
            clusters = Some((layer, c));
        }
        if let (None, Some(s)) = (&spread, layer_spread) {
            note(PlacementField::Spread, s.span);
            spread = Some((layer, s));
        }
        if let (None, Some(r)) = (&replicas, layer_replicas) {
            note(PlacementField::Replicas, r.span);
            replicas = Some((layer, r));
        }
        if let (None, Some(a)) = (&affinity, layer_affinity) {
            note(PlacementField::Affinity, a.span);
            affinity = Some((layer, a));
        }
        if let (None, Some(a)) = (&anti_affinity, layer_anti) {
            note(PlacementField::AntiAffinity, a.span);
            anti_affinity = Some((layer, a));
        }
        if let (None, Some(m)) = (&move_, layer_move) {
            note(PlacementField::Move, m.span);
            move_ = Some((layer, m));
        }
        if let Some(first) = layer_tolerations.first() {
            note(PlacementField::Tolerations, first.span);
        }
        add_tolerations(cx, layer.file, layer_tolerations, &mut tolerations);
    }
    if let Some((file, spec, _)) = fleet::home(docs)
        && let Some(DefaultsSpec { placement: _, tolerations: defaults }) = &spec.defaults
    {
        add_tolerations(cx, file, defaults, &mut tolerations);
    }
    let before = cx.said;
    let selector = clusters.map(|(layer, c)| selector::clusters(cx, layer.file, &c.value.selector(), c.span));
    let matching = selector.as_ref().map_or_else(|| ClusterSet::all(cx.clusters.len()), |s| selector::set(cx, s));
    let tiers = clusters.and_then(|(layer, c)| {
        let strategy = replicas.and_then(|(_, r)| r.value.strategy.as_ref()).map(|s| s.value);
        Some(tiers::lower(cx, layer.file, c.value.tiers.as_ref()?, &matching, strategy))
    });
    let in_tiers = tiers.as_ref().map_or_else(|| matching.clone(), tiers::union);
    let candidates = in_tiers.and(team_clusters);
    if let (Some((layer, c)), Some(s)) = (clusters, &selector) {
        // what the platform says for many teams is narrowed by each team's clusters; a team knows its own
        if layer.of_team {
            named_but_not_allowed(cx, layer.file, c.value.names.as_deref().unwrap_or_default(), team);
        }
        if matching.and(team_clusters).is_empty() && cx.said.errors == before.errors && !team_clusters.is_empty() {
            selector::none_matches(cx, Place::Span(layer.file, c.span), s, team_clusters);
        }
    }
    let spread = spread.map(|(layer, s)| self::spread(cx, layer.file, &s.value)).unwrap_or_default();
    let total = replicas.and_then(|(layer, r)| {
        let total = r.value.total.as_ref()?;
        Some(Total { place: Place::Span(layer.file, total.span), of_app: layer.kind == LayerKind::App })
    });
    let replicas = match replicas {
        Some((layer, r)) => replicas::lower(cx, layer.file, &r.value),
        None => replicas::lower(cx, app_file, &ReplicasSpec::default()),
    };
    from.sort_by_key(|(field, layer)| (*field, layer.kind));
    let mut key = |(layer, by): (&LayerSpec<'_>, &Spanned<GroupBy>)| {
        if layer.kind == LayerKind::App {
            groups::labelled(cx, layer.file, by, labels);
        }
        by.value.group_by.value.clone()
    };
    let keys = [affinity, anti_affinity].map(|stated| stated.map(&mut key));
    if let Some((layer, by)) = anti_affinity {
        groups::bounded_copies(cx, layer.file, by, &replicas, &spread);
    }
    let [affinity, anti_affinity] = keys;
    let placement =
        Placement { candidates, selector, tiers, affinity, anti_affinity, layers: from, tolerations, spread, replicas };
    let moves = move_.map(|(layer, m)| moves::lower(cx, layer.file, m)).unwrap_or_default();
    Resolved { placement, total, moves }
}

/// What the layers of an app come to.
pub(super) struct Resolved {
    pub(super) placement: Placement,
    pub(super) total: Option<Total>,
    /// How its replicas move.
    pub(super) moves: Moves,
}

/// Where the `total` of an app is written.
pub(super) struct Total {
    pub(super) place: Place,
    /// Whether the App itself states it.
    pub(super) of_app: bool,
}

fn add_tolerations(cx: &mut Lowering<'_>, file: FileId, from: &[Spanned<Toleration>], to: &mut Vec<Toleration>) {
    let mut known: BTreeSet<Toleration> = to.iter().cloned().collect();
    for toleration in from {
        if let Err(error) = toleration.validate() {
            cx.error(codes::fields::INVALID_TOLERATION, Place::Span(file, toleration.span), error.message);
        }
        if known.insert(toleration.value.clone()) {
            to.push(toleration.value.clone());
        }
    }
}

/// A cluster that the team names and may not use is said at the name, not as an empty selection.
fn named_but_not_allowed(cx: &mut Lowering<'_>, file: FileId, names: &[Spanned<SmolStr>], team: &Team) {
    for name in names {
        let id = cx.clusters.binary_search_by(|c| c.name.cmp(&name.value));
        let id = id.ok().and_then(|i| u16::try_from(i).ok()).map(crate::base::ClusterId);
        if id.is_some_and(|id| !team.clusters.contains(id)) {
            cx.report(
                Diagnostic::new(
                    codes::rights::CLUSTER_NOT_ALLOWED,
                    Place::Span(file, name.span),
                    format!("team `{}` may not use cluster `{}`", team.name, name.value),
                )
                .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                .help("the platform's file of the team lists the clusters it may use"),
            );
        }
    }
}

fn spread(cx: &mut Lowering<'_>, file: FileId, written: &[Spanned<SpreadSpec>]) -> Vec<Spread> {
    let mut spread: Vec<Spread> = Vec::new();
    let mut keys: BTreeSet<TopologyKey> = BTreeSet::new();
    for spec in written {
        let SpreadSpec { topology_key, min, max } = &spec.value;
        let key = match topology_key.as_str() {
            "cluster" => TopologyKey::Cluster,
            "region" => TopologyKey::Region,
            "zone" => TopologyKey::Zone,
            "provider" => TopologyKey::Provider,
            label => {
                if let Err(expected) = name::check(NameRule::QualifiedName, label) {
                    cx.error(
                        codes::fields::INVALID_VALUE,
                        Place::Span(file, topology_key.span),
                        format!("`{label}` is none of cluster, region, zone, provider, and no label key: {expected}"),
                    );
                    continue;
                }
                TopologyKey::Label(label.into())
            }
        };
        if !keys.insert(key.clone()) {
            cx.error(
                codes::placement::DUPLICATE_SPREAD,
                Place::Span(file, topology_key.span),
                format!("`{}` is constrained twice", key.as_str()),
            );
            continue;
        }
        let (least, most) = (min.map_or(1, |m| m.value), max.map(|m| m.value));
        if let Some(bad) = max.filter(|m| m.value < least || m.value == 0) {
            cx.error(
                codes::placement::CONTRADICTION,
                Place::Span(file, bad.span),
                format!("`max: {}` must be at least 1 and at least `min: {least}`", bad.value),
            );
        }
        spread.push(Spread { key, min: least, max: most });
    }
    spread
}
