//! Override rules: of policies and of Apps, in the order of application.
//!
//! Order: the App's `images`; policies of the fleet, then of the team, each by precedence, then name, then position; the
//! App's own; enforced policies. Later wins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Docs, Lowering, selector, team};
use crate::api::{ImageSpec, OverrideImage, OverridePolicySpec, OverrideSpec, OverrideTarget};
use crate::base::labels::Labels;
use crate::base::name::{NameRule, check};
use crate::base::{FileId, Path, SmolStr, Span, Spanned, TeamId};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{ClusterSet, Object, OverrideRule, RuleLayer, Target};
use crate::overrides::{Containers, ImageRule, ListEdit, Operation, json_patch};

/// An override policy, ready to be matched.
pub(super) struct Policy<'a> {
    team: Option<TeamId>,
    name: &'a Spanned<SmolStr>,
    apps: selector::Apps,
    precedence: i32,
    layer: RuleLayer,
    rules: Vec<Rule>,
    selected: bool,
}

/// A rule, and whether it met an object of any app.
struct Rule {
    rule: Arc<OverrideRule>,
    used: bool,
}

/// Resolves all override policies.
pub(super) fn policies<'a>(cx: &mut Lowering<'_>, docs: &Docs<'a>, known: &selector::KnownApps) -> Vec<Policy<'a>> {
    let unique = super::unique(cx, &docs.override_policies, "OverridePolicy", |o| &o.metadata.name);
    let mut policies: Vec<Policy<'a>> = unique
        .into_iter()
        .map(|(file, object)| {
            let OverridePolicySpec { apps, precedence, enforced, overrides } = &object.spec;
            let name = &object.metadata.name;
            cx.check_name(file, name, NameRule::Dns1123Subdomain, "policy name");
            let team = team::owner(cx, file);
            let enforced = enforced.as_ref().filter(|e| e.value);
            let layer = match (team, enforced) {
                (None, None) => RuleLayer::Fleet,
                (None, Some(_)) => RuleLayer::Enforced,
                (Some(_), None) => RuleLayer::Team,
                (Some(_), Some(flag)) => {
                    cx.report(
                        Diagnostic::new(
                            codes::rights::TEAM_POLICY_REACH,
                            Place::Span(file, flag.span),
                            "a policy in a team's folder cannot be enforced",
                        )
                        .help("remove `enforced`, or let the platform add it to policies/"),
                    );
                    RuleLayer::Team
                }
            };
            let rules = overrides
                .iter()
                .map(|spec| Rule { rule: Arc::new(rule(cx, file, &name.value, layer, spec)), used: false })
                .collect();
            let mut apps = selector::apps(cx, file, team, apps);
            apps.check_names(cx, team, known);
            Policy { team, name, apps, precedence: *precedence, layer, rules, selected: false }
        })
        .collect();
    policies.sort_by(|a, b| (a.layer, a.precedence, &a.name.value).cmp(&(b.layer, b.precedence, &b.name.value)));
    policies
}

/// Reports policies that select no app, and rules whose target is in no app.
pub(super) fn unused(cx: &mut Lowering<'_>, policies: &[Policy<'_>]) {
    for policy in policies {
        if !policy.selected {
            policy.apps.selects_nothing(cx, &format!("OverridePolicy `{}`", policy.name.value));
            continue;
        }
        for rule in policy.rules.iter().filter(|r| !r.used) {
            if !cx.unread.objects() {
                target_nothing(cx, &rule.rule, "the apps that the policy selects");
            }
        }
    }
}

fn target_nothing(cx: &mut Lowering<'_>, rule: &OverrideRule, whose: &str) {
    cx.report(
        Diagnostic::new(
            codes::overrides::TARGET_MATCHES_NOTHING,
            Place::Span(rule.file, rule.target_span),
            format!("this target matches no object of {whose}"),
        )
        .help("compare kind, name and labels with the manifests"),
    );
}

/// The rules that apply to an app, in order. Rules that met none of its objects are left out.
pub(super) fn of_app(
    cx: &mut Lowering<'_>,
    policies: &mut [Policy<'_>],
    (team_id, team_name): (TeamId, &str),
    (app, labels, file): (&SmolStr, &Labels, FileId),
    images: &[Spanned<ImageSpec>],
    own: &[Spanned<OverrideSpec>],
    objects: &[Object],
) -> Vec<Arc<OverrideRule>> {
    let mut rules: Vec<Arc<OverrideRule>> = Vec::new();
    if let Some(first) = images.first() {
        rules.push(Arc::new(app_images(cx, app, file, first.span, images)));
    }
    let meets = |rule: &OverrideRule| objects.iter().any(|o| rule.target.matches(o));
    let mut later = Vec::new();
    for policy in policies.iter_mut().filter(|p| p.team.is_none_or(|t| t == team_id)) {
        if policy.apps.matches(team_name, app, labels).is_none() {
            continue;
        }
        policy.selected = true;
        for rule in policy.rules.iter_mut().filter(|r| meets(&r.rule)) {
            rule.used = true;
            let to = if policy.layer == RuleLayer::Enforced { &mut later } else { &mut rules };
            to.push(Arc::clone(&rule.rule));
        }
    }
    for spec in own {
        let rule = rule(cx, file, app, RuleLayer::App, spec);
        if meets(&rule) {
            rules.push(Arc::new(rule));
        } else if !cx.unread.objects_of(team_name) {
            target_nothing(cx, &rule, "the app");
        }
    }
    rules.extend(later);
    rules
}

/// `spec.images` as a rule over all objects and clusters.
fn app_images(
    cx: &Lowering<'_>,
    app: &SmolStr,
    file: FileId,
    span: Span,
    images: &[Spanned<ImageSpec>],
) -> OverrideRule {
    let rules = images
        .iter()
        .map(|image| {
            let ImageSpec { name, new_name, new_tag, digest } = &image.value;
            image_rule(name, new_name, new_tag, digest)
        })
        .collect();
    OverrideRule {
        layer: RuleLayer::Images,
        name: app.clone(),
        file,
        span,
        target_span: span,
        target: Target::default(),
        clusters: ClusterSet::all(cx.clusters.len()),
        operations: vec![(Operation::Images { rules, new_registry: None }, span)],
        images: images.iter().map(|image| image.value.name.clone()).collect(),
    }
}

fn image_rule(
    name: &SmolStr,
    new_name: &Option<SmolStr>,
    new_tag: &Option<SmolStr>,
    digest: &Option<SmolStr>,
) -> ImageRule {
    let text = |t: &Option<SmolStr>| t.as_ref().map(SmolStr::to_string);
    ImageRule { name: name.clone(), new_name: text(new_name), new_tag: text(new_tag), digest: text(digest) }
}

/// Resolves one rule.
fn rule(
    cx: &mut Lowering<'_>,
    file: FileId,
    name: &SmolStr,
    layer: RuleLayer,
    spec: &Spanned<OverrideSpec>,
) -> OverrideRule {
    let OverrideSpec {
        target,
        clusters,
        patch,
        set,
        remove,
        json_patch,
        images,
        env,
        args,
        command,
        labels,
        annotations,
    } = &spec.value;
    let mut operations = Vec::new();
    let container = target.as_ref().and_then(|t| t.value.container.as_ref()).map(|c| c.value.as_str());
    let containers = || Containers::from_target(container);
    if let Some(patch) = patch {
        operations.push((Operation::Patch(patch.value.clone()), patch.span));
    }
    for (pointer, value) in set {
        if let Some(path) = self::pointer(cx, file, pointer) {
            operations.push((Operation::Set { pointer: path, value: value.value.clone() }, pointer.span));
        }
    }
    for pointer in remove {
        if let Some(path) = self::pointer(cx, file, pointer) {
            operations.push((Operation::Remove(path), pointer.span));
        }
    }
    if let Some(first) = json_patch.first() {
        let values: Vec<serde_json::Value> = json_patch.iter().map(|v| v.value.clone()).collect();
        match json_patch::parse(&values) {
            Ok(steps) => operations.push((Operation::JsonPatch(steps), first.span)),
            Err(error) => {
                let span = json_patch.get(error.index).map_or(first.span, |v| v.span);
                cx.error(codes::overrides::OVERRIDE_FAILED, Place::Span(file, span), error.to_string());
            }
        }
    }
    self::images(cx, file, images, &mut operations);
    if let Some((first, _)) = env.first_key_value() {
        let set = env.iter().filter_map(|(k, v)| v.as_ref().map(|v| (k.value.clone(), v.to_string()))).collect();
        let remove: BTreeSet<SmolStr> = env.iter().filter(|(_, v)| v.is_none()).map(|(k, _)| k.value.clone()).collect();
        operations.push((Operation::Env { containers: containers(), set, remove }, first.span));
    }
    let list = |l: &Spanned<Vec<SmolStr>>| ListEdit::Set(l.value.iter().map(SmolStr::to_string).collect());
    if let Some(args) = args {
        operations.push((Operation::Args { containers: containers(), edit: list(args) }, args.span));
    }
    if let Some(command) = command {
        operations.push((Operation::Command { containers: containers(), edit: list(command) }, command.span));
    }
    if let Some((first, _)) = labels.first_key_value() {
        operations.push((Operation::Labels(texts(labels)), first.span));
        metadata(cx, file, labels, true);
    }
    if let Some((first, _)) = annotations.first_key_value() {
        operations.push((Operation::Annotations(texts(annotations)), first.span));
        metadata(cx, file, annotations, false);
    }
    let unreadable = !(remove.is_empty() && set.is_empty() && json_patch.is_empty() && images.is_empty());
    if operations.is_empty() && !unreadable {
        cx.report(
            Diagnostic::new(
                codes::overrides::EMPTY_OVERRIDE,
                Place::Span(file, spec.span),
                "this override does nothing",
            )
            .help("add patch, set, remove, jsonPatch, images, env, args, command, labels or annotations"),
        );
    }
    operations.retain(|(operation, span)| match operation.variables() {
        Ok(_) => true,
        Err(error) => {
            cx.error(codes::overrides::UNKNOWN_VARIABLE, Place::Span(file, *span), error.to_string());
            false
        }
    });
    let target_span = target.as_ref().map_or(spec.span, |t| t.span);
    let clusters_span = clusters.as_ref().map_or(spec.span, |c| c.span);
    OverrideRule {
        images: images.iter().filter_map(|image| image.value.name.clone()).collect(),
        layer,
        name: name.clone(),
        file,
        span: spec.span,
        target_span,
        target: target.as_ref().map(|t| self::target(&t.value)).unwrap_or_default(),
        clusters: selector::set_or_all(cx, file, clusters.as_ref().map(|c| &c.value), clusters_span),
        operations,
    }
}

fn target(written: &OverrideTarget) -> Target {
    let OverrideTarget { group, kind, name, namespace, labels, container: _ } = written; // container: see above
    Target {
        group: group.clone(),
        kind: kind.as_ref().map(|k| k.value.clone()),
        name: name.as_ref().map(|n| n.value.clone()),
        namespace: namespace.clone(),
        labels: labels.clone(),
    }
}

fn pointer(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<SmolStr>) -> Option<Path> {
    match Path::parse(&written.value) {
        Ok(path) => Some(path),
        Err(error) => {
            let message = format!("`{}` is no JSON pointer: {error}", written.value);
            cx.error(codes::overrides::NO_SUCH_PATH, Place::Span(file, written.span), message);
            None
        }
    }
}

/// Named images become one operation; each `newRegistry` without a name is one for all images, after them.
fn images(
    cx: &mut Lowering<'_>,
    file: FileId,
    images: &[Spanned<OverrideImage>],
    operations: &mut Vec<(Operation, Span)>,
) {
    let mut rules = Vec::new();
    let mut registry: Option<&Spanned<OverrideImage>> = None;
    for image in images {
        let OverrideImage { name, new_name, new_registry, new_tag, digest } = &image.value;
        match (name, new_registry) {
            (Some(name), None) => rules.push(image_rule(&name.value, new_name, new_tag, digest)),
            (None, Some(_)) if new_name.is_none() && new_tag.is_none() && digest.is_none() && registry.is_none() => {
                registry = Some(image);
            }
            _ => cx.report(
                Diagnostic::new(
                    codes::placement::CONTRADICTION,
                    Place::Span(file, image.span),
                    "an entry is either `name` with newName, newTag or digest, or one `newRegistry` alone for all images",
                )
                .help("split it into two entries"),
            ),
        }
    }
    if let Some(first) = images.first().filter(|_| !rules.is_empty() || registry.is_some()) {
        let new_registry = registry.and_then(|r| r.value.new_registry.as_ref()).map(SmolStr::to_string);
        operations.push((Operation::Images { rules, new_registry }, first.span));
    }
}

fn texts(map: &BTreeMap<Spanned<SmolStr>, Option<SmolStr>>) -> BTreeMap<SmolStr, Option<String>> {
    map.iter().map(|(k, v)| (k.value.clone(), v.as_ref().map(SmolStr::to_string))).collect()
}

/// Keys and values that Kubernetes refuses, and keys that are ours.
fn metadata(cx: &mut Lowering<'_>, file: FileId, map: &BTreeMap<Spanned<SmolStr>, Option<SmolStr>>, labels: bool) {
    for (key, value) in map {
        let place = Place::Span(file, key.span);
        if labels && matches!(key.as_str(), "fleetwright.io/team" | "fleetwright.io/app") {
            let message = format!("label `{}` is set by fleetwright", key.value);
            cx.error(codes::overrides::RESERVED_METADATA, place.clone(), message);
        }
        let value_rule = value.as_ref().filter(|v| labels && !v.contains("${")).map(|v| (NameRule::LabelValue, v));
        for (rule, text) in [(NameRule::QualifiedName, &key.value)].into_iter().chain(value_rule) {
            if let Err(expected) = check(rule, text) {
                let message = format!("`{text}` is not a valid label or annotation: {expected}");
                cx.error(codes::fields::INVALID_LABEL, place.clone(), message);
            }
        }
    }
}
