//! `teams/<name>.yaml`.

use std::sync::Arc;

use super::{Docs, Lowering, selector};
use crate::api::{self, KindsSpec, NamespaceSpec, QuotaScope, QuotaSpec, TeamSpec};
use crate::base::name::{NameRule, check, nearest};
use crate::base::{FileId, SmolStr, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::kinds::counted;
use crate::model::{ClusterSet, NamespaceRule, Quota, ServiceAccount, Team};
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
        service_account_name,
        placement: _, // placement.rs
        survive,
        owners,
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
        let labels = super::policy::plain_labels(cx, file, labels, spec.span);
        match (name, prefix) {
            (Some(name), None) => {
                cx.check_name(file, name, NameRule::Dns1123Label, "namespace");
                rules.push(NamespaceRule { text: name.value.clone(), prefix: false, labels });
            }
            (None, Some(prefix)) => {
                // whether any namespace can begin so: one more letter makes the shortest
                let shortest = prefix.clone().map(|text| SmolStr::new(format!("{text}a")));
                if let Err(expected) = check(NameRule::Dns1123Label, &shortest.value) {
                    cx.error(
                        codes::fields::INVALID_NAME,
                        Place::Span(file, prefix.span),
                        format!("no namespace begins with `{}`: {expected}", prefix.value),
                    );
                }
                rules.push(NamespaceRule { text: prefix.value.clone(), prefix: true, labels });
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
        quota: quota.iter().flat_map(|q| self::quota(cx, file, &q.value, q.span)).collect(),
        allow,
        deny,
        priority_classes: priority_class_names.iter().map(|class| class.value.clone()).collect(),
        service_account: service_account_name.as_ref().and_then(|name| service_account(cx, file, name)),
        survive: survive.as_ref().map(|survive| survive.value),
        owners: self::owners(cx, file, owners.as_ref().map(|owners| owners.value.as_slice()).unwrap_or_default()),
    }
}

/// A service account, written as `namespace/name`: without its namespace it would be another one in each.
fn service_account(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<SmolStr>) -> Option<ServiceAccount> {
    let Some((namespace, name)) = written.value.split_once('/') else {
        let message = format!("`{}` names no service account: expected `namespace/name`", written.value);
        cx.error(codes::fields::INVALID_NAME, Place::Span(file, written.span), message);
        return None;
    };
    let part = |text: &str| written.clone().map(|_| SmolStr::new(text));
    cx.check_name(file, &part(namespace), NameRule::Dns1123Label, "namespace of a service account");
    cx.check_name(file, &part(name), NameRule::Dns1123Subdomain, "name of a service account");
    Some(ServiceAccount { namespace: namespace.into(), name: name.into() })
}

fn owners(cx: &mut Lowering<'_>, file: FileId, written: &[Spanned<SmolStr>]) -> Vec<SmolStr> {
    for owner in written.iter().filter(|owner| owner.value.trim().is_empty()) {
        let message = "an owner is empty: expected a group, a channel or an address";
        cx.error(codes::fields::INVALID_VALUE, Place::Span(file, owner.span), message);
    }
    written.iter().map(|owner| owner.value.clone()).collect()
}

/// What a quota counts.
const SUPPORTED: &str = "supported: requests.<resource>, limits.<resource>, cpu, memory, pods, count/<plural>.<group>, services, \
                         services.loadbalancers, services.nodeports, persistentvolumeclaims, requests.storage, and the last \
                         two of a class, as in <class>.storageclass.storage.k8s.io/requests.storage";

/// Names in a ResourceQuota that people write, for hints.
const QUOTA_NAMES: [&str; 14] = [
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
    "requests.storage",
    "persistentvolumeclaims",
    "services.loadbalancers",
    "services.nodeports",
];

/// A quota: one for all its clusters, or one for each of them.
fn quota(cx: &mut Lowering<'_>, file: FileId, written: &QuotaSpec, span: crate::base::Span) -> Vec<Quota> {
    let QuotaSpec { hard, clusters, scope } = written;
    let mut amounts = std::collections::BTreeMap::new();
    for (name, quantity) in hard {
        if let Some(resource) = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits."))
            && !resource.is_empty()
            && !counted::is_counted(name)
        {
            cx.check_resource(file, name, resource);
        }
        let Some(unit) = counted::unit(name) else {
            let message = format!("a quota on `{}` counts nothing: there is no such resource", name.value);
            let help = match nearest(name, QUOTA_NAMES.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => SUPPORTED.to_owned(),
            };
            let place = Place::Span(file, name.span);
            cx.report(Diagnostic::new(codes::fields::INVALID_NAME, place, message).help(help));
            continue;
        };
        if quantity.is_negative() {
            cx.error(
                codes::fields::INVALID_VALUE,
                Place::Span(file, quantity.span),
                format!("`{}` is negative; a quota is at least 0", name.value),
            );
        }
        let counted = cx.counted(file, unit, quantity);
        amounts.insert(name.value.clone(), counted.max(0));
    }
    let clusters = selector::set_or_all(cx, file, clusters.as_ref(), span);
    match scope.as_ref().map(|scope| scope.value) {
        None | Some(QuotaScope::Total) => vec![Quota { span, hard: amounts, clusters, of_cluster: None }],
        Some(QuotaScope::PerCluster) => clusters
            .iter()
            .map(|cluster| Quota {
                span,
                hard: amounts.clone(),
                clusters: [cluster].into_iter().collect(),
                of_cluster: Some(cluster),
            })
            .collect(),
    }
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
