//! Namespaces and kinds that a team may not use.
//!
//! By default a team may use every namespaced kind but those of `rbac.authorization.k8s.io`. `allow` adds, `deny` takes
//! away from what is allowed. A kind of which nothing says that it is namespaced was reported in lowering.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics, Place, and_more, codes};
use crate::model::{App, Fleet, Object, Team};

/// Reports each namespace and kind once for each App, where the first object names it; a namespace that comes from the
/// App is said at the App.
pub(super) fn check(fleet: &Fleet, diagnostics: &mut Diagnostics) {
    for app in &fleet.apps {
        let team = fleet.team(app.team);
        let mut namespaces: BTreeMap<&str, (Place, &Object, usize)> = BTreeMap::new();
        let mut kinds: BTreeMap<(&str, &str, &str), (Place, &Object, usize)> = BTreeMap::new();
        for object in in_order(app) {
            let namespace = object.key.namespace.as_deref();
            if let Some(namespace) = namespace.filter(|n| !team.namespaces.iter().any(|rule| rule.covers(n))) {
                let of_app = app.namespace.as_ref().filter(|n| n.value == namespace).map(|n| (app.file, n.span));
                let (file, span) =
                    of_app.unwrap_or((object.file, object.facts.namespace_span.unwrap_or(object.facts.name_span)));
                let entry = namespaces.entry(namespace).or_insert_with(|| (Place::Span(file, span), object, 0));
                entry.2 += 1;
            }
            if let Some(why) = denied(team, object) {
                let place = Place::Span(object.file, object.facts.kind_span);
                let key = (object.key.group.as_str(), object.key.kind.as_str(), why);
                kinds.entry(key).or_insert_with(|| (place, object, 0)).2 += 1;
            }
        }
        for (namespace, (place, object, count)) in namespaces {
            diagnostics.push(
                Diagnostic::new(
                    codes::rights::NAMESPACE_NOT_ALLOWED,
                    place,
                    format!(
                        "team `{}` may not use namespace `{namespace}` (for {}{})",
                        team.name,
                        object.key,
                        and_more(count)
                    ),
                )
                .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                .help(match allowed(team) {
                    names if names.is_empty() => "the team may use no namespace yet".to_owned(),
                    names => format!("it may use {}", names.join(", ")),
                }),
            );
        }
        for ((group, kind, why), (place, object, count)) in kinds {
            diagnostics.push(
                Diagnostic::new(
                    codes::rights::KIND_NOT_ALLOWED,
                    place,
                    format!(
                        "team `{}` may not use kind {kind}: {why} (`{}`{})",
                        team.name,
                        object.key.name,
                        and_more(count)
                    ),
                )
                .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                .help(match why {
                    DENIED => "`kinds.deny` in the platform's file of the team names it".to_owned(),
                    _ => {
                        format!("the platform can allow it with `kinds.allow: [{{group: \"{group}\", kind: {kind}}}]`")
                    }
                }),
            );
        }
    }
}

/// In the order they are written, so that the first is the first.
fn in_order(app: &App) -> Vec<&Object> {
    let mut objects: Vec<&Object> = app.objects.iter().collect();
    objects.sort_by_key(|o| (o.file, o.doc, o.item));
    objects
}

fn allowed(team: &Team) -> Vec<String> {
    team.namespaces
        .iter()
        .map(|rule| if rule.prefix { format!("`{}*`", rule.text) } else { format!("`{}`", rule.text) })
        .collect()
}

const DENIED: &str = "it is denied";

fn denied(team: &Team, object: &Object) -> Option<&'static str> {
    if team.denies(&object.key) {
        return Some(DENIED);
    }
    if team.allows(&object.key) {
        return None;
    }
    if !object.namespaced {
        return Some("it is cluster-scoped");
    }
    (object.key.group == "rbac.authorization.k8s.io").then_some("it grants rights")
}
