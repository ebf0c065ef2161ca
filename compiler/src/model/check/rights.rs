//! Namespaces and kinds that a team may not use.
//!
//! By default a team may use every namespaced kind but those of `rbac.authorization.k8s.io`. `allow` adds, `deny` takes
//! away from what is allowed.

use crate::base::{FileId, SmolStr, Span};
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::{Fleet, Object, Team};
use std::collections::BTreeSet;

/// Reports each namespace and kind once for each place.
pub(super) fn check(fleet: &Fleet, diagnostics: &mut Diagnostics) {
    let mut said: BTreeSet<(FileId, Span, &str)> = BTreeSet::new();
    for app in &fleet.apps {
        let team = fleet.team(app.team);
        for object in &app.objects {
            let namespace = object.key.namespace.as_deref();
            if let Some(namespace) = namespace.filter(|n| !team.namespaces.iter().any(|rule| rule.covers(n)))
                && said.insert((object.file, object.facts.namespace_span, "namespace"))
            {
                let place = Place::Span(object.file, object.facts.namespace_span);
                diagnostics.push(
                    Diagnostic::new(
                        codes::rights::NAMESPACE_NOT_ALLOWED,
                        place,
                        format!("team `{}` may not use namespace `{namespace}` (for {})", team.name, object.key),
                    )
                    .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                    .help(match namespaces(team) {
                        names if names.is_empty() => "the team may use no namespace yet".to_owned(),
                        names => format!("it may use {}", names.join(", ")),
                    }),
                );
            }
            if let Some(why) = denied(team, object)
                && said.insert((object.file, object.facts.kind_span, "kind"))
            {
                diagnostics.push(
                    Diagnostic::new(
                        codes::rights::KIND_NOT_ALLOWED,
                        Place::Span(object.file, object.facts.kind_span),
                        format!("team `{}` may not use kind {}: {why}", team.name, object.key.kind),
                    )
                    .related(Place::Span(team.file, team.name_span), "the platform's file of the team")
                    .help(format!(
                        "the platform can allow it with `kinds.allow: [{{group: \"{}\", kind: {}}}]`",
                        object.key.group, object.key.kind
                    )),
                );
            }
        }
    }
}

fn namespaces(team: &Team) -> Vec<String> {
    team.namespaces
        .iter()
        .map(|rule| if rule.prefix { format!("`{}*`", rule.text) } else { format!("`{}`", rule.text) })
        .collect()
}

fn denied(team: &Team, object: &Object) -> Option<&'static str> {
    let covers = |(group, kind): &(SmolStr, SmolStr)| {
        (group == "*" || *group == object.key.group) && (kind == "*" || *kind == object.key.kind)
    };
    if team.deny.iter().any(covers) {
        return Some("it is denied");
    }
    if team.allow.iter().any(covers) {
        return None;
    }
    if !object.namespaced {
        return Some("it is cluster-scoped");
    }
    (object.key.group == "rbac.authorization.k8s.io").then_some("it grants rights")
}
