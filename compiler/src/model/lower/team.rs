//! `teams/<name>.yaml`.

use std::sync::Arc;

use super::{Docs, Lowering, selector};
use crate::api::{self, KindsSpec, NamespaceSpec, QuotaSpec, TeamSpec};
use crate::base::name::{NameRule, nearest};
use crate::base::quantity::amount;
use crate::base::{FileId, SmolStr};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{ClusterSet, NamespaceRule, Quota, Team};
use crate::source::FileClass;

/// The teams, ascending by name.
pub(super) fn teams(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> Vec<Arc<Team>> {
    let unique = super::unique(cx, &docs.teams, "Team", |o| &o.metadata.name);
    unique.into_iter().map(|(file, object)| Arc::new(team(cx, file, object))).collect()
}

fn team(cx: &mut Lowering<'_>, file: FileId, object: &api::Object<TeamSpec>) -> Team {
    let TeamSpec {
        namespaces,
        clusters,
        quota,
        kinds,
        priority_class_names,
        service_account_name: _, // not yet
        placement: _,            // placement.rs
        survive: _,              // not yet
        owners: _,               // not yet
    } = &object.spec;
    let name = &object.metadata.name;
    cx.check_name(file, name, NameRule::Dns1123Label, "team name");
    super::policy::labels(cx, file, &object.metadata);
    for class in priority_class_names {
        super::policy::known_class(cx, file, class);
    }
    let mut rules = Vec::new();
    for spec in namespaces {
        let NamespaceSpec { name, prefix, labels } = &spec.value;
        match (name, prefix) {
            (Some(name), None) => {
                cx.check_name(file, name, NameRule::Dns1123Label, "namespace");
                rules.push(NamespaceRule { text: name.value.clone(), prefix: false, labels: labels.clone() });
            }
            (None, Some(prefix)) => {
                rules.push(NamespaceRule { text: prefix.value.clone(), prefix: true, labels: labels.clone() });
            }
            _ => cx.error(
                codes::placement::CONTRADICTION,
                Place::Span(file, spec.span),
                "a namespace rule states either `name` or `prefix`",
            ),
        }
    }
    let (allow, deny) = kinds.as_ref().map_or_else(Default::default, |k| {
        let KindsSpec { allow, deny } = &k.value;
        let pairs = |list: &[api::GroupKind]| -> Vec<(SmolStr, SmolStr)> {
            list.iter().map(|api::GroupKind { group, kind }| (group.clone(), kind.clone())).collect()
        };
        (pairs(allow), pairs(deny))
    });
    let span = clusters.as_ref().map_or(name.span, |c| c.span);
    let before = cx.said;
    let selector = clusters.as_ref().map(|c| selector::clusters(cx, file, &c.value, span));
    let may_use = selector.as_ref().map_or_else(|| ClusterSet::all(cx.clusters.len()), |s| selector::set(cx, s));
    if let Some(selector) = selector.filter(|_| may_use.is_empty() && cx.said.errors == before.errors) {
        let none = ClusterSet::all(cx.clusters.len());
        selector::none_matches(cx, Place::Span(file, span), &selector, &none);
    }
    Team {
        name: name.value.clone(),
        file,
        name_span: name.span,
        namespaces: rules,
        clusters: may_use,
        quota: quota.iter().map(|q| self::quota(cx, file, &q.value, q.span)).collect(),
        allow,
        deny,
        priority_classes: priority_class_names.iter().map(|class| class.value.clone()).collect(),
    }
}

/// Names in a ResourceQuota that people write, for hints.
const QUOTA_NAMES: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "pods",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// Whether Kubernetes knows a resource of a ResourceQuota that is no amount of what pods use: numbers of objects, and
/// storage by class.
fn counts_objects(name: &str) -> bool {
    const OBJECTS: [&str; 8] = [
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    ];
    OBJECTS.contains(&name) || name.starts_with("count/") || name.contains(".storageclass.storage.k8s.io/")
}

fn quota(cx: &mut Lowering<'_>, file: FileId, written: &QuotaSpec, span: crate::base::Span) -> Quota {
    let QuotaSpec { hard, clusters, scope: _ } = written; // scope: Total, or refused as not yet
    let mut amounts = std::collections::BTreeMap::new();
    for (name, quantity) in hard {
        let unit = match name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")) {
            Some(resource) if !resource.is_empty() => {
                cx.check_resource(file, name, resource);
                resource
            }
            // Kubernetes reads `cpu` and `memory` in a ResourceQuota as requests
            _ if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage" | "pods") => name.as_str(),
            _ if !counts_objects(name) => {
                let message = format!("a quota on `{}` counts nothing: there is no such resource", name.value);
                let mut diagnostic =
                    Diagnostic::new(codes::fields::INVALID_NAME, Place::Span(file, name.span), message);
                diagnostic.help = Some(match nearest(name, QUOTA_NAMES.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "supported: requests.<resource>, limits.<resource>, cpu, memory, pods".to_owned(),
                });
                cx.report(diagnostic);
                continue;
            }
            _ => {
                cx.report(
                    Diagnostic::new(
                        codes::fields::NOT_YET,
                        Place::Span(file, name.span),
                        format!("a quota on `{}` is not supported yet", name.value),
                    )
                    .help("supported: requests.<resource>, limits.<resource>, cpu, memory, pods"),
                );
                continue;
            }
        };
        if quantity.is_negative() {
            cx.error(
                codes::fields::INVALID_VALUE,
                Place::Span(file, quantity.span),
                format!("`{}` is negative; a quota is at least 0", name.value),
            );
        }
        amounts.insert(name.value.clone(), amount(unit, &quantity.value).max(0));
    }
    Quota { span, hard: amounts, clusters: selector::set_or_all(cx, file, clusters.as_ref(), span) }
}

/// The team whose folder a file lies in; a folder of no team is reported once.
pub(super) fn owner(cx: &Lowering<'_>, file: FileId) -> Option<crate::base::TeamId> {
    let name = cx.path(file).components().nth(1)?;
    let index = cx.teams.binary_search_by(|t| t.name.as_str().cmp(name)).ok()?;
    u32::try_from(index).ok().map(crate::base::TeamId)
}

/// Reports folders below `teams/` that belong to no team.
pub(super) fn folders_without_team(cx: &mut Lowering<'_>) {
    let mut seen: Option<String> = None;
    let files = cx.files;
    for (index, file) in (0_u32..).zip(files) {
        if file.class != FileClass::TeamFolder {
            continue;
        }
        let Some(folder) = file.path.components().nth(1) else { continue };
        if seen.as_deref() == Some(folder) {
            continue;
        }
        seen = Some(folder.to_owned());
        if owner(cx, FileId(index)).is_none() {
            cx.unread.folder(folder);
        }
        if owner(cx, FileId(index)).is_none() && !cx.unread.teams {
            let near = nearest(folder, cx.teams.iter().map(|t| t.name.as_str())).map(str::to_owned);
            cx.report(
                Diagnostic::new(
                    codes::layout::NO_TEAM,
                    Place::Path(format!("teams/{folder}")),
                    format!("the folder teams/{folder}/ belongs to no team"),
                )
                .help(match near {
                    Some(near) => format!("rename it to teams/{near}/, or add teams/{folder}.yaml"),
                    None => format!("add teams/{folder}.yaml with `kind: Team` and `name: {folder}`"),
                }),
            );
        }
    }
}
